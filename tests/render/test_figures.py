"""Figures of pictures: a table for each panel, no point of a scatter by itself."""

from __future__ import annotations

import pytest

from sfumato.render.figures import figures_of
from sfumato.render.plots import draw
from sfumato.report.picture import Coefficients, Distribution, Risky, Scatter
from tests.render import reports


@pytest.mark.few(3)
@pytest.mark.parametrize("at", range(len(reports.PICTURES)), ids=reports.PICTURES)
def test_every_panel_has_a_table_of_its_figures(at):
    picture = reports.pictures()[at]
    tables = figures_of(picture)
    assert len(tables) == len(draw(picture, "p"))
    for table in tables:
        assert table.rows
        assert {len(row) for row in table.rows} == {len(table.head)}


def test_points_are_counted_in_bands_with_means_of_five_or_more():
    before = tuple((0.5, float(y)) for y in range(5))  # their mean is 2
    after = (*((0.5, 10.0) for _ in range(4)), (8.0, 100.0), (0.0, 10.0))
    (table,) = figures_of(Scatter("x", "y", after, before, ()))
    assert table.head == ("x", "points, original", "points, released", "mean of y, original", "mean of y, released")
    assert table.rows[0] == ("0 to 1", "5", "5", "2", "10")
    assert table.rows[-1] == ("7 to 8", "0", "1", "–", "–")
    assert sum(int(row[1]) for row in table.rows) == len(before)
    assert sum(int(row[2]) for row in table.rows) == len(after)


def test_a_published_scatter_tells_of_released_points_alone():
    (table,) = figures_of(Scatter("x", "y", ((0.0, 1.0),), (), ()))
    assert table.head == ("x", "points, released", "mean of y, released")
    assert table.rows == (("0 to 0", "1", "–"),)


def test_records_at_risk_are_counted_beside_the_others():
    points = tuple((float(i), 0.0) for i in range(8))
    one, two = figures_of(Risky("x", "y", safe=points, risk1=((7.0, 1.0), (7.0, 2.0)), risk2=((7.0, 2.0),)))
    assert one.rows[-1][1:] == ("2", "1")
    assert two.rows[-1][1:] == ("1", "3")


def test_coefficients_stand_original_before_released():
    (table,) = figures_of(Coefficients(("age",), ((2.0, 0.04, 3.96),), ((-1.5, -3.0, 0.0),), {}))
    assert table.rows == (("age", "2", "0.04 to 3.96", "−1.5", "−3 to 0"),)


def test_bars_are_told_by_their_ends():
    (table,) = figures_of(Distribution("age", (-10.0, 0.0, 2.5), (1200.0, 3.0), (0.0, 7.0)))
    assert table.rows == (("−10 to 0", "1,200", "0"), ("0 to 2.5", "3", "7"))
