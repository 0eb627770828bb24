"""Coefficients side by side: every side is drawn where it lies, in its own shape."""

from __future__ import annotations

import xml.etree.ElementTree as ET

from sfumato.render.beside import Line, beside

AGE = Line("age", 0.5, (1.0, 0.0, 2.0), (0.5, -0.5, 1.5), (1.5, -0.5, 3.5))


def marks(svg):
    """Middles of dots, squares and diamonds, from above."""
    root = ET.fromstring(svg)
    dots = [float(e.get("cx")) for e in root.iter("circle")]
    squares = [float(e.get("x")) + float(e.get("width")) / 2 for e in root.iter("rect")]
    four = [e.get("points").split() for e in root.iter("polygon")]
    diamonds = [float(corners[1].split(",")[0]) for corners in four if len(corners) == 4]
    return dots, squares, diamonds


def test_each_fit_has_its_shape_where_its_estimate_lies():
    (dot,), (square,), (diamond,) = marks(beside([AGE], "p"))
    assert square < dot < diamond
    assert abs((dot - square) - (diamond - dot)) < 0.02  # 0.5 to either side


def test_estimates_are_in_standard_errors_of_the_original_fit():
    tenfold = Line("pay", 5.0, (10.0, 0.0, 20.0), (5.0, -5.0, 15.0), (15.0, -5.0, 35.0))
    dots, squares, diamonds = marks(beside([AGE, tenfold], "p"))
    assert len({*dots}) == len({*squares}) == len({*diamonds}) == 1


def test_an_interval_without_a_bound_has_an_arrow_and_a_side_that_is_not_there_has_nothing():
    svg = beside([Line("age", 1.0, (1.0, -1.0, 3.0), None, (2.0, None, 4.0))], "p")
    dots, squares, _ = marks(svg)
    assert (len(dots), len(squares)) == (1, 0)
    assert [len(e.get("points").split()) for e in ET.fromstring(svg).iter("polygon")].count(3) == 1


def test_ends_far_out_do_not_make_the_others_small():
    svg = beside([Line("age", 1.0, (1.0, -1.0, 3.0), (1.0, -1.0, 3.0), (1.0, -500.0, 500.0))], "p")
    lines = [(float(e.get("x1")), float(e.get("x2"))) for e in ET.fromstring(svg).iter("line")]
    wide = max(b - a for a, b in lines)
    assert sum(b - a > 0.9 * wide for a, b in lines) >= 4  # axis, original, released, corrected
    assert [len(e.get("points").split()) for e in ET.fromstring(svg).iter("polygon")].count(3) == 2


def test_of_very_many_those_are_drawn_that_moved_most():
    lines = [Line(f"c{i}", 1.0, (0.0, -2.0, 2.0), (float(i), i - 2.0, i + 2.0), None) for i in range(40)]
    told = [e.text for e in ET.fromstring(beside(lines, "p")).iter("text")]
    assert [one for one in told if one.startswith("c")] == [f"c{i}" for i in range(10, 40)]


def test_nothing_to_draw_is_an_empty_picture_with_its_axis():
    assert "<svg" in beside([], "p")
