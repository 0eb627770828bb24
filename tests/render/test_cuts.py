"""A histogram with cut points: bars by their counts, lines where bands begin, nothing that a page's policy forbids."""

import xml.etree.ElementTree as ET

from sfumato.render.cuts import histogram_with_cuts

BARS = [(0.0, 10.0, 40), (10.0, 20.0, None), (20.0, 30.0, 0), (30.0, 40.0, 20)]


def drawn(points):
    return ET.fromstring(histogram_with_cuts(BARS, points, "p", "<age>"))


def test_bars_are_as_high_as_their_counts():
    tall = [float(bar.get("height")) for bar in drawn([]).iter("rect")]
    assert len(tall) == 3  # the empty one is none
    assert tall[0] == 2 * tall[2]
    assert 0 < tall[1] < tall[2]


def test_lines_stand_where_bands_begin():
    root = drawn([10, 20, 99])
    lines = [float(line.get("x1")) for line in root.iter("line") if line.get("stroke-dasharray")]
    bars = [float(bar.get("x")) for bar in root.iter("rect")]
    assert abs(lines[0] - bars[1]) < 1
    assert lines == sorted(lines)
    assert lines[2] <= 420  # one beyond all bars is drawn at their edge
    assert [text.text for text in root.iter("text")][:2] == ["10", "20"]


def test_numbers_that_would_lie_on_each_other_are_left_out():
    texts = [text.text for text in drawn([10, 10.1, 10.2]).iter("text")]
    assert texts[0] == "10"
    assert "10.1" not in texts


def test_no_style_and_all_escaped():
    svg = histogram_with_cuts(BARS, [10], "p", "<age>")
    assert "style=" not in svg
    assert "<age>" not in svg
