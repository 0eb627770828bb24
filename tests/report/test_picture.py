"""What of a picture may be published."""

from __future__ import annotations

import pytest

from sfumato.report.picture import Box, Boxes, Cell, Coefficients, Distribution, RiskCurves, Risky, Scatter, Strata


def test_published_bins_are_merged_to_ten_and_rounded_to_tens():
    histogram = Distribution("a", (0, 1, 2, 3, 4, 5), (4, 7, 26, 3, 2), (5, 6, 20, 8, 3))
    public = histogram.external()
    assert public == Distribution("a", (0, 2, 5), (10, 30), (11, 31))
    assert public.external() == public


@pytest.mark.parametrize("counts", [(0, 0, 0, 30), (30, 0, 0, 0), (10, 9, 10, 9), (3, 3, 3, 3), (12, 1, 1, 1)])
def test_every_published_bin_has_ten_records_behind_it(counts):
    edges = tuple(range(len(counts) + 1))
    public = Distribution("a", edges, counts, counts).external()
    for left, right in zip(public.edges, public.edges[1:], strict=False):
        assert sum(counts[left:right]) >= 10
    assert (public.edges[0], public.edges[-1]) == (0, len(counts))


def test_a_tiny_table_has_no_published_histogram():
    assert Distribution("a", (0, 1), (9,), (9,)).external() is None


def test_a_published_scatter_keeps_all_but_the_original_points():
    cells = (Cell(0, 1, 0, 1, 2),)
    assert Scatter("x", "y", ((1, 2),), ((3, 4),), cells).external() == Scatter("x", "y", ((1, 2),), (), cells)


def test_risky_records_and_strata_have_no_public_form():
    assert Risky("x", "y", (), (), ()).external() is None
    assert Strata(("a",), (("a=1", 3),)).external() is None


def test_boxes_are_rounded_and_need_enough_records():
    box = Box("trees", (0.12345, 0.2, 0.3, 0.4, 0.5), (0.5, 0.6, 0.7, 0.8, 0.98765))
    public = Boxes((box,), enough=True).external()
    assert public.boxes[0].before[0] == 0.123
    assert public.boxes[0].after[-1] == 0.988
    assert Boxes((box,), enough=False).external() is None


def test_curves_are_rounded_to_three_digits():
    curves = RiskCurves((0.01,), (0.0426487,), (0.05,), (0.0089785,), 0.01, 0.05)
    assert curves.external() == RiskCurves((0.01,), (0.0426,), (0.05,), (0.00898,), 0.01, 0.05)


def test_coefficients_go_by_their_public_names_with_two_decimals():
    both = ((1.2345, 0.0, 2.0), (3.0, 2.0, 4.0))
    coefficients = Coefficients(("g[T.x]", "h[T.y]"), both, both, {"g[T.x]": "g, category 2 of 2", "h[T.y]": None})
    public = coefficients.external()
    assert (public.labels, public.before) == (("g, category 2 of 2",), ((1.23, 0.0, 2.0),))
    assert public.external() == public
    assert Coefficients(("h",), both[:1], both[:1], {"h": None}).external() is None
