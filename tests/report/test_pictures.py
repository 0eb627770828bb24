"""What is drawn, and what of it may be published."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest

from sfumato.data.codebook import Codebook, Variable
from sfumato.data.finding import Finding, Findings
from sfumato.data.pair import Pair
from sfumato.measures.measuring import Measuring
from sfumato.report import pictures
from sfumato.report.picture import MAX_POINTS
from sfumato.report.pictures import (
    Boxes,
    Distribution,
    Hidden,
    RiskCurves,
    Risky,
    Scatter,
    Strata,
    draw_pictures,
)


def pair_of(x: np.ndarray, z: np.ndarray, **extra: object) -> Pair:
    before, after = ({"a": t[:, 0], "b": t[:, 1]} | extra for t in (x, z))
    book = Codebook({"a": Variable(kind="continuous", unit="years"), "b": Variable(kind="continuous")})
    return Pair(pl.DataFrame(before), pl.DataFrame(after), book, ("a", "b"), tuple(extra), aligned=True)


def numbered(pair: Pair, ids: np.ndarray) -> Pair:
    before, after = (t.with_columns(id=ids) for t in (pair.before, pair.after))
    return replace(pair, before=before, after=after, record="id")


def cloud(n: int, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 2))
    return x, x + rng.normal(scale=0.1, size=(n, 2))


def only(found: tuple[pictures.Picture, ...], kind: type) -> pictures.Picture:
    return next(p for p in found if isinstance(p, kind))


@pytest.fixture(scope="module")
def drawn() -> tuple[pictures.Picture, ...]:
    x, z = cloud(5_000)
    return draw_pictures(numbered(pair_of(x, z, g=np.where(x[:, 0] > 2, "few", "many")), np.arange(5_000)))


def test_a_scatter_holds_two_thousand_of_the_points(drawn):
    scatter = only(drawn, Scatter)
    x, z = cloud(5_000)
    assert len(scatter.after) == len(scatter.before) == MAX_POINTS
    assert set(scatter.after) <= set(map(tuple, z.tolist()))
    assert set(scatter.before) <= set(map(tuple, x.tolist()))
    assert (scatter.x, scatter.y) == ("a (years)", "b")


def test_points_are_chosen_across_the_table_and_not_by_place_or_size(drawn):
    _, z = cloud(5_000)
    shown = np.array(only(drawn, Scatter).after)
    # 2,000 of 5,000 by chance: the mean of the chosen lies within 4 standard errors of the mean of all.
    assert np.all(np.abs(shown.mean(axis=0) - z.mean(axis=0)) < 4 * z.std(axis=0) / np.sqrt(MAX_POINTS))
    first = set(map(tuple, z[:MAX_POINTS].tolist()))
    assert 600 < len(first & set(map(tuple, shown.tolist()))) < 1_000


@pytest.mark.slow
def test_row_order_changes_no_picture(drawn):
    x, z = cloud(5_000)
    order = np.random.default_rng(2).permutation(len(x))
    again = draw_pictures(numbered(pair_of(x[order], z[order], g=np.where(x[order, 0] > 2, "few", "many")), order))
    for one, two in zip(drawn, again, strict=True):
        if isinstance(one, RiskCurves):
            assert np.allclose(one.risk1, two.risk1, rtol=1e-9)
        elif isinstance(one, Boxes):
            for a, b in zip(one.boxes, two.boxes, strict=True):
                assert np.allclose([a.before, a.after], [b.before, b.after], rtol=1e-9)
        else:
            assert one == two


@pytest.mark.slow
def test_which_released_points_are_shown_tells_nothing_of_the_original():
    x, z = cloud(5_000)
    one, two = (only(draw_pictures(pair_of(t, z)), Scatter) for t in (x, x[::-1] * 3 + 1))
    assert one.before != two.before
    assert one.after == two.after


def test_equal_points_are_drawn_once_and_minus_zero_is_zero():
    x = np.array([[0.0, 1.0], [-0.0, 1.0], [2.0, 3.0]])
    assert only(draw_pictures(pair_of(x, x)), Scatter).after == ((0.0, 1.0), (2.0, 3.0))


def test_missing_values_are_not_drawn():
    x = np.array([[0.0, 1.0], [np.nan, 1.0], [2.0, 3.0]])
    found = draw_pictures(pair_of(x, x))
    assert len(only(found, Scatter).after) == 2
    assert sum(only(found, Distribution).before) == 2


def clumps() -> tuple[np.ndarray, np.ndarray]:
    """Original: 9 records at (1, 1), 10 at (5, 5), 81 at (9, 9). The release covers 0 to 10 evenly."""
    x = np.repeat([[1.0, 1.0], [5.1, 5.1], [9.1, 9.1]], [9, 10, 81], axis=0)
    z = np.repeat(np.linspace(0, 10, 100)[:, None], 2, axis=1)
    return x, z


def test_cells_hold_ten_records_or_are_left_out():
    cells = only(draw_pictures(pair_of(*clumps())), Scatter).cells
    assert [(c.left <= 5.1 < c.right, c.left <= 9.1 < c.right) for c in cells] == [(True, False), (False, True)]
    assert [c.shade for c in cells] == [3, 3]  # 10% and 81% of the records


def test_published_density_hangs_on_cell_counts_alone():
    x, z = clumps()
    one, two = (only(draw_pictures(pair_of(t, z)), Scatter) for t in (x, x + 0.05))
    assert one.before != two.before
    assert one.external() == two.external()
    assert one.external().before == ()


def test_an_original_outlier_moves_no_axis_of_a_published_picture():
    x, z = cloud(500)
    far = np.vstack([x[:-1], [[48_151.6, -1_623.4]]])
    for one, two in zip(draw_pictures(pair_of(x, z)), draw_pictures(pair_of(far, z)), strict=True):
        if isinstance(one, Distribution):
            assert one.edges == two.edges
            assert max(one.edges) < 10
        if isinstance(one, Scatter):
            assert all(-10 < c.left < c.right < 10 and -10 < c.low < c.high < 10 for c in two.cells)
    shown = [p.external() for p in draw_pictures(pair_of(far, z))]
    assert "48151" not in repr(shown)
    assert "1623" not in repr(shown)


def test_bins_have_round_ends_around_the_released_values():
    edges = pictures._edges(np.array([0.3, 97.2, np.nan]), 10)
    assert edges.tolist() == [0, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100]
    assert pictures._edges(np.array([5.0]), 10)[[0, -1]].tolist() == [2, 8]
    assert np.all(np.diff(pictures._edges(np.array([1e9, 1e9 + 1]), 10)) > 0)
    assert len(pictures._edges(np.array([np.nan]), 10)) > 1


@pytest.mark.parametrize(("n", "published"), [(199, False), (200, True)])
def test_boxes_are_five_quantiles_published_when_ten_records_lie_beyond(n, published):
    scores = SimpleNamespace(before=np.linspace(0, 1, n), after=np.linspace(0.5, 1, n), note=None)
    boxes = pictures._boxes({"trees": scores})
    assert boxes.boxes[0].before == pytest.approx((0.05, 0.25, 0.5, 0.75, 0.95))
    assert boxes.boxes[0].after == pytest.approx((0.525, 0.625, 0.75, 0.875, 0.975))
    assert (boxes.external() is not None) == published


def comparison() -> SimpleNamespace:
    def fit(estimate: list[float], se: list[float]) -> SimpleNamespace:
        e, s = np.array(estimate), np.array(se)
        return SimpleNamespace(estimate=e, se=s, low=e - 1.96 * s, high=e + 1.96 * s)

    labels = ("Intercept", "C(g)[T.many]", "a")
    return SimpleNamespace(labels=labels, before=fit([1, 4, 3], [1, 2, 0.5]), after=fit([1, 5, 2.8], [1, 2, 0.5]))


def test_coefficients_stand_in_standard_errors_of_the_original_fit():
    x, z = cloud(100)
    pair = pair_of(x, z, g=["few"] * 20 + ["many"] * 80)
    found = pictures._coefficients(pair, comparison())
    assert found.labels == ("C(g)[T.many]", "a")
    assert found.before == (pytest.approx((2, 0.04, 3.96)), pytest.approx((6, 4.04, 7.96)))
    # The distance of the points is the standardised difference: |5 − 4|/2 and |2.8 − 3|/0.5.
    assert [after[0] - before[0] for before, after in zip(found.before, found.after, strict=True)] == pytest.approx(
        [0.5, -0.4]
    )
    assert found.external().labels == ("g, category 2 of 2", "a")


def test_coefficients_of_rare_categories_are_not_published():
    x, z = cloud(100)
    pair = pair_of(x, z, g=["few"] * 9 + ["many"] * 91)
    found = pictures._coefficients(pair, comparison())
    assert found.external().labels == ("a",)
    assert found.public["Intercept"] is None


def test_risk_curves_pass_through_the_findings():
    from sfumato.measures.risk import mahalanobis

    x, z = cloud(400)
    pair = pair_of(x, z)
    curves = only(draw_pictures(pair, Measuring(w1=0.1, w2=0.2)), RiskCurves)
    risk1, risk2 = mahalanobis.findings(pair, w1=0.1, w2=0.2)
    assert curves.risk1[curves.w1.index(0.1)] == risk1.value > 0
    assert curves.risk2[curves.w2.index(0.2)] == risk2.value
    assert all(float(f"{r:.3g}") == r for r in curves.external().risk1)


def test_risky_records_are_marked_for_the_custodian_only():
    x = np.random.default_rng(3).normal(size=(60, 2))
    z = x[::-1].copy()
    z[[7, 52]] = x[[7, 52]]
    found = only(draw_pictures(pair_of(x, z)), Risky)
    assert tuple(x[7].tolist()) in found.risk1
    assert set(found.risk2) <= set(found.risk1)
    assert len(found.safe) + len(found.risk1) == 60
    assert found.external() is None


def test_strata_are_listed_smallest_first_for_the_custodian_only(drawn):
    strata = only(drawn, Strata)
    assert [label for label, _ in strata.rows] == ["g=few", "g=many"]
    assert sum(size for _, size in strata.rows) == 5_000
    assert strata.external() is None


def test_tables_that_are_not_joined_have_no_risk_pictures():
    x, z = cloud(50)
    pair = pair_of(x, z)
    loose = Pair(pair.before, pair.after.head(30), pair.codebook, pair.columns)
    kinds = {type(p) for p in draw_pictures(loose)}
    assert kinds == {Scatter, Distribution, Boxes}


def test_one_column_is_drawn_without_a_scatter():
    x, z = cloud(50)
    whole = pair_of(x, z)
    pair = Pair(whole.before, whole.after, whole.codebook, ("a",), aligned=True)
    assert {type(p) for p in draw_pictures(pair)} == {RiskCurves, Distribution, Boxes}


def test_many_columns_give_three_scatters():
    x = np.random.default_rng(4).normal(size=(40, 5))
    frame = pl.DataFrame(x, schema=list("abcde"))
    book = Codebook({n: Variable(kind="continuous") for n in "abcde"})
    found = draw_pictures(Pair(frame, frame, book, tuple("abcde")))
    assert sum(isinstance(p, Scatter) for p in found) == 3


def test_the_h_rank_is_drawn_for_each_attacker_and_published_for_the_whole_file_only():
    lines = tuple(
        Finding("h_rank", None, group, t, attack, 0.0123456 * (t + 1), None, 0.001)
        for group in ("all", "decile 1", "worst")
        for t in (0, 1)
        for attack in ("nearest", "predicted", "worst")
    )
    x, z = cloud(200)
    picture = only(draw_pictures(pair_of(x, z), findings=Findings(lines)), Hidden)
    assert [name for name, _ in picture.attackers] == ["nearest", "predicted"]
    assert picture.attackers[0][1] == (0.0123456, 0.0246912)
    assert [name for name, _ in picture.groups] == ["decile 1", "worst"]
    assert picture.external().groups == ()
    assert picture.external().attackers[0][1] == (0.0123, 0.0247)
    assert not any(isinstance(p, Hidden) for p in draw_pictures(pair_of(x, z)))
