"""Controlled tabular adjustment: the seed's figure, all tables tried, another solver's relaxation, what is refused."""

import itertools

import numpy as np
import polars as pl
import pytest

import sfumato as sf
from sfumato.errors import DataError
from sfumato.tables.equations import equations
from tests.tables.round.test_round import LINES, PARTS, SIDES, branched, build, grid, inner

FIGURE_2 = [[0, 3, 0, 1], [0, 1, 0, 0], [4, 1, 0, 2], [1, 0, 7, 1]]
FIGURE_6 = [[0, 4, 0, 0], [0, 0, 0, 1], [4, 1, 0, 2], [1, 0, 7, 1]]


def figure():
    """Figure 2 of the seed with its one unsafe cell; margins stay."""
    table = grid(FIGURE_2)
    margin = (pl.col("row") == "Total") | (pl.col("col") == "Total")
    unique = (pl.col("row") == "r1") & (pl.col("col") == "c1")
    letter = pl.when(unique).then(pl.lit("u")).when(margin).then(pl.lit("z")).otherwise(pl.lit("s"))
    return table.with_columns(status=table.cells.select(letter).to_series())


def test_the_figure_of_the_seed():
    done = sf.tables.adjust(figure(), cost="unity", zeros=True)
    printed = np.abs(np.array(FIGURE_6) - np.array(FIGURE_2)).sum()
    assert (done.cost, done.optimal) == (printed, True)
    before, after = inner(figure().with_columns(status=["s"] * 25)), inner(done.table)
    assert after[("r1", "c1")] != 1
    assert all(after[k] == v for *k, v, _ in figure().cells.rows() for k in [tuple(k)] if "Total" in k)
    assert len(before) == len(after)


def test_an_impossible_figure_names_the_cell():
    with pytest.raises(DataError, match="row=r1, col=c1.*--zeros"):
        sf.tables.adjust(figure(), cost="unity")


STEPS = np.array(list(itertools.product((-2, -1, 0, 1, 2), repeat=6)))


def test_nothing_cheaper_exists_among_all_tables():
    rng = np.random.default_rng(4)
    sums = np.array([whole(one) for one in np.eye(6, dtype=int).reshape(6, 2, 3)])
    for _ in range(6):
        counts = rng.integers(1, 6, (2, 3))
        judged = sf.tables.judge(grid(counts), "n(3)")
        letters = np.array(judged.cells["status"].to_list())
        done = sf.tables.adjust(judged, cost="unity")
        now = (counts.ravel() + STEPS) @ sums  # every table that is at most two off in each cell
        change = np.abs(now - judged.values)
        may = (counts.ravel() + STEPS >= 0).all(axis=1) & (change[:, letters == "u"] >= 1).all(axis=1)
        best = change[may].sum(axis=1).min()
        assert (done.cost, done.total_change, done.optimal) == (best, best, True)


def whole(counts):
    """All cells of a table of two variables, totals first."""
    full = np.zeros((counts.shape[0] + 1, counts.shape[1] + 1))
    full[1:, 1:], full[0, 1:], full[1:, 0], full[0, 0] = counts, counts.sum(0), counts.sum(1), counts.sum()
    return full.ravel()


def magnitudes():
    rng = np.random.default_rng(6)
    n = 110
    firms = pl.DataFrame(
        {
            "act": rng.choice(list("abcdef"), n),
            "geo": rng.choice(list("uvwxyz"), n),
            "turnover": np.round(rng.lognormal(3, 1.6, n), 1),
        }
    )
    return sf.tables.judge(build(firms, ["act", "geo"], "turnover"), ["n(3)", "p(10)"])


@pytest.mark.parametrize("method", ["exact", "fixed"])
def test_unsafe_sums_move_by_their_level_and_the_table_adds_up(method):
    judged = magnitudes()
    assert (judged.cells["status"] == "u").sum() >= 3
    done = sf.tables.adjust(judged, method=method, seconds=10)
    both = judged.cells.join(done.table.cells, on=["act", "geo"], suffix="_now")
    change = both["turnover_now"] - both["turnover"]
    near = 1e-6
    unsafe = both.with_columns(change=change).filter(status="u")
    far = (pl.col("change") >= pl.col("upper_level") - near) | (pl.col("change") <= -pl.col("lower_level") + near)
    assert unsafe.select(far.all()).item()
    assert done.table.cells.columns == ["act", "geo", "turnover"]
    sums = done.table.cells.filter((pl.col("act") != "Total") & (pl.col("geo") != "Total"))["turnover"].sum()
    assert done.table.cells.filter(act="Total", geo="Total")["turnover"].item() == pytest.approx(sums)


def test_fixed_directions_are_never_cheaper():
    exact, fixed = (sf.tables.adjust(magnitudes(), method=m, seconds=10) for m in ("exact", "fixed"))
    assert exact.optimal
    assert fixed.cost >= exact.cost * (1 - 1e-6)


def test_nothing_unsafe_is_nothing_changed():
    done = sf.tables.adjust(sf.tables.judge(grid([[9, 8], [7, 6]]), "n(3)"))
    assert (done.changed, done.cost) == (0, 0)
    assert "no unsafe cell" in done.notes[0]


def test_what_is_refused():
    with pytest.raises(DataError, match="no statuses"):
        sf.tables.adjust(grid([[1, 2], [3, 4]]))
    judged = sf.tables.judge(grid([[1, 2], [3, 4]]), "n(3)")
    with pytest.raises(DataError, match="lacks the values"):
        sf.tables.adjust(judged.with_columns(count=[None] * 9))
    with pytest.raises(DataError, match="number of contributors"):
        sf.tables.adjust(judged, cost="count")


def test_costs_are_of_the_lines_of_the_file():
    """The code A has one part: whoever gets the file sees two values that moved."""
    rng = np.random.default_rng(9)
    names = list(itertools.product(PARTS, SIDES))
    for cost in ("unity", "value", "root", "count"):
        for _ in range(3):
            counts = rng.integers(1, 6, 6)
            table = branched(counts)
            judged = sf.tables.judge(table.with_columns(contributors=table.values), "n(3)")
            letters = np.array(judged.cells["status"].to_list())
            done = sf.tables.adjust(judged, cost=cost)
            true = judged.values
            order = [names.index(row) for row in judged.cells.select("code", "side").rows()]
            change = np.abs(STEPS @ LINES[order].T)  # every table that is at most two off in each finest cell
            may = (counts + STEPS >= 0).all(axis=1) & (change[:, letters == "u"] >= 1).all(axis=1)
            price = {"unity": np.ones(18), "value": true, "root": np.sqrt(true), "count": true}[cost]
            assert done.optimal
            assert done.cost == pytest.approx((change[may] @ price).min())
            # what is said is what the file shows
            assert done.cost == pytest.approx(np.abs(done.table.values - true) @ price)


def decimals_of(values):
    return max(len(f"{value!r}".partition(".")[2].rstrip("0")) for value in values.tolist())


@pytest.mark.parametrize("method", ["exact", "fixed"])
def test_adjusted_sums_have_the_decimals_of_the_input(method):
    rng = np.random.default_rng(12)
    for size in ((3, 4), (3, 3, 3)):
        codes = [[f"{n}{i}" for i in range(k)] for n, k in zip("abc", size, strict=False)]
        firms = pl.DataFrame(
            [(*row, round(float(rng.exponential(30)), 1)) for row in itertools.product(*codes) for _ in range(3)],
            schema=[*"abc"[: len(size)], "value"],
            orient="row",
        )
        judged = sf.tables.judge(build(firms, [*"abc"[: len(size)]], "value"), "p(10)")
        done = sf.tables.adjust(judged, method=method)
        assert (judged.cells["status"] == "u").any()
        assert decimals_of(done.table.values) <= 1
        equations(done.table)
        unsafe = judged.cells.filter(status="u")
        after = unsafe.join(done.table.cells, on=[*judged.variables], suffix="_after")
        up, down = after["value_after"] - after["value"], after["value"] - after["value_after"]
        assert ((up >= after["upper_level"] - 1e-9) | (down >= after["lower_level"] - 1e-9)).all()
