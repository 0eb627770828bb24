"""Small pictures: presentation attributes alone, which the policy of a page lets through."""

import xml.etree.ElementTree as ET

from sfumato.render.drawing import INK, Drawing, shortened


def drawn():
    drawing = Drawing(100, 50, "one", "A title <b>", "A description & more")
    drawing.text(1, 2, "x < y", size=10, bold=True)
    drawing.line(0, 0, 10, 10, dash="2 3")
    drawing.rectangle(0, 0, -4, 5, colour=INK, round=2)
    drawing.circle(5, 5, 2)
    drawing.path("M 0 0 L 10 0", arrow=True)
    return drawing.to_svg()


def test_it_is_well_formed_and_says_what_it_is():
    root = ET.fromstring(drawn())
    assert root.attrib["role"] == "img"
    told = {element.attrib["id"]: element.text for element in root if element.tag in ("title", "desc")}
    assert told == {"one-t": "A title <b>", "one-d": "A description & more"}
    assert root.attrib["aria-labelledby"].split() == list(told)


def test_nothing_has_a_style_and_colours_are_variables_with_a_fallback():
    for element in ET.fromstring(drawn()).iter():
        assert "style" not in element.attrib
        for name in ("fill", "stroke"):
            assert element.attrib.get(name, "none") == "none" or element.attrib[name].startswith("var(--")


def test_an_arrow_ends_where_its_line_ends():
    root = ET.fromstring(drawn())
    head = root.find("polygon").attrib["points"].split()
    assert head[0] == "10,0"
    assert all(float(corner.split(",")[0]) < 10 for corner in head[1:])


def test_a_width_is_never_below_nothing():
    assert ET.fromstring(drawn()).find("rect").attrib["width"] == "0"


def test_long_labels_are_cut():
    assert shortened("abcdef", 1000) == "abcdef"
    assert shortened("abcdef" * 10, 60).endswith("…")
