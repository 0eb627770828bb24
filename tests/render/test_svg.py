"""From matplotlib's SVG to one that stands inside a page."""

from __future__ import annotations

import xml.etree.ElementTree as ET

from sfumato.render import svg


def small() -> str:
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    with svg.settings():
        figure = Figure(figsize=(2, 2))
        FigureCanvasSVG(figure)
        figure.subplots().plot([1.23456789, 2], [3, 4], color=svg.RELEASED, marker="o")
        return svg.to_svg(figure, name="n", title="A <title>", description="Words")


def test_it_has_no_fixed_size_no_document_type_and_no_name_space():
    text = small()
    assert text.startswith('<svg viewBox="0 0 144 144"')
    assert "xmlns" not in text
    assert "DOCTYPE" not in text


def test_title_and_description_are_tied_to_it():
    root = ET.fromstring(small())
    assert root.get("aria-labelledby") == "n-t n-d"
    assert [(child.get("id"), child.text) for child in root[:2]] == [("n-t", "A <title>"), ("n-d", "Words")]


def test_colours_are_variables_with_a_fallback():
    assert "var(--released, #0a6aa1)" in small()


def test_coordinates_have_two_decimals():
    for element in ET.fromstring(small()).iter():
        for name in ("x", "y", "d"):
            for number in element.get(name, "").split():
                assert len(number.partition(".")[2]) <= 2


def test_settings_do_not_outlive_their_block():
    import matplotlib

    before = dict(matplotlib.rcParams)
    small()
    assert dict(matplotlib.rcParams) == before
