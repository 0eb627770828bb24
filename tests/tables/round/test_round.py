"""Rounding: all rounded tables tried, an independent solver, draws over many secrets, and what is refused."""

import itertools

import numpy as np
import polars as pl
import pytest
from scipy.optimize import LinearConstraint, milp

import sfumato as sf
from sfumato.data.codebook import Codebook
from sfumato.data.hierarchy import Hierarchy
from sfumato.engines.polars import PolarsDataset
from sfumato.errors import DataError
from sfumato.tables.bounds.bound import bounds
from sfumato.tables.possible import Barnardised
from sfumato.tables.table import Table
from sfumato.tables.zeros import with_zeros


def build(frame, *by, **options):
    return sf.tables.build(PolarsDataset(frame, Codebook()), *by, **options)


def grid(counts, **columns):
    """A table of two variables with all totals."""
    counts = np.asarray(counts)
    full = np.zeros((counts.shape[0] + 1, counts.shape[1] + 1))
    full[1:, 1:] = counts
    full[0, 1:], full[1:, 0], full[0, 0] = counts.sum(0), counts.sum(1), counts.sum()
    rows = ["Total", *(f"r{i}" for i in range(counts.shape[0]))]
    cols = ["Total", *(f"c{i}" for i in range(counts.shape[1]))]
    places = list(itertools.product(rows, cols))
    frame = {"row": [r for r, _ in places], "col": [c for _, c in places], "count": full.ravel().tolist()}
    return Table.of(pl.DataFrame(frame | columns))


def inner(table):
    return {row[:-1]: row[-1] for row in table.cells.rows()}


def by_count(table, runs):
    """What became of all cells of one count, in all runs."""
    cells = {}
    for cell, true in inner(table).items():
        cells.setdefault(true, []).append(cell)
    return {true: np.array([run[cell] for run in runs for cell in same]) for true, same in cells.items()}


def cheapest(counts, base):
    """The least sum of changes over all tables of neighbouring multiples, tried one by one."""
    best = np.inf
    beside = [sorted({c // base * base, -(-c // base) * base}) for c in counts.ravel()]
    for values in itertools.product(*beside):
        table = np.array(values).reshape(counts.shape)
        cost = 0
        for true, now in ((counts, table), *((counts.sum(k), table.sum(k)) for k in (0, 1, None))):
            off = np.abs(now - true)
            cost = cost + off.sum() if np.all(off < base) and np.all((true % base > 0) | (off == 0)) else np.inf
        best = min(best, cost)
    return best


def test_controlled_rounding_is_the_best_of_all():
    rng = np.random.default_rng(1)
    for _ in range(12):
        counts = rng.integers(0, 9, (3, 3))
        done = sf.tables.round(grid(counts), 3, "controlled")
        assert (done.total_change, done.optimal, done.additive) == (cheapest(counts, 3), True, True)


def test_controlled_rounding_of_three_dimensions_against_another_solver():
    rng = np.random.default_rng(2)
    counts = rng.integers(0, 12, (3, 3, 3))
    frame = pl.DataFrame(
        [(f"{a}", f"{b}", f"{c}") for a, b, c in np.ndindex(3, 3, 3)], schema=["a", "b", "c"], orient="row"
    )
    records = frame.with_columns(n=pl.Series(counts.ravel()))
    table = build(records, ["a", "b", "c"], count="n")
    done = sf.tables.round(table, 5, "controlled", steps=0)
    # independent: whole numbers for the finest cells, the others are their sums
    places = list(np.ndindex(4, 4, 4))
    sums = np.array(
        [[float(all(p in (0, q + 1) for p, q in zip(t, f, strict=True))) for f in np.ndindex(3, 3, 3)] for t in places]
    )
    true = sums @ counts.ravel()
    low, rest = true // 5, true % 5
    cost = 5 - 2 * rest
    within = LinearConstraint(5 * sums, 5 * low, 5 * (low + (rest > 0)))
    # cost of each total: cost (sum of multiples - low)
    found = milp(cost @ sums, constraints=within, integrality=np.ones(27))
    assert done.total_change == pytest.approx(found.fun - cost @ low + rest.sum())


def test_random_rounding_is_right_on_average_and_keeps_multiples():
    """Every cell has a draw of its own, so that cells of one count stand for as many runs."""
    table = grid(np.tile([[1, 2], [3, 10]], (5, 5)))
    runs = [inner(sf.tables.round(table, 5, "random", secret=i.to_bytes(16, "big")).table) for i in range(20)]
    for true, values in by_count(table, runs).items():
        assert set(values) <= {true // 5 * 5, -(-true // 5) * 5}
        # five standard deviations of a mean whose spread is 2.5 at most
        assert abs(values.mean() - true) < 5 * 2.5 / np.sqrt(len(values))


def test_barnardisation_has_its_probabilities():
    table = grid(np.tile([[1, 0], [4, 7]], (5, 5)))
    runs = [
        inner(sf.tables.round(table, method="barnardise", keep=0.6, secret=i.to_bytes(16, "big")).table)
        for i in range(20)
    ]
    for true, values in by_count(table, runs).items():
        steps = values - true
        if true == 0:
            assert not steps.any()
            continue
        for step, share in ((-1, 0.2), (0, 0.6), (1, 0.2)):
            assert abs(np.mean(steps == step) - share) < 5 * np.sqrt(0.25 / len(steps))


def test_a_cell_is_rounded_alike_in_every_table():
    rng = np.random.default_rng(3)
    people = pl.DataFrame(
        {"sex": rng.choice(["f", "m"], 90), "town": rng.choice(["a", "b", "c"], 90), "ill": rng.choice(["y", "n"], 90)}
    )
    one = build(people, ["town", "sex"])
    two = build(people, ["ill", "sex", "town"])
    for method in ("random", "barnardise"):
        first, second = (sf.tables.round(t, 3, method, secret=b"k" * 16).table.cells for t in (one, two))
        both = first.join(second.filter(ill="Total"), on=["town", "sex"])
        assert both.height == 12
        assert both["count"].to_list() == both["count_right"].to_list()


def test_the_example_of_barnardisation_comes_back():
    # Figure 2 of the seed: the second row's unique stays 1, its total becomes 0
    rows = [[0, 3, 0, 1], [0, 1, 0, 0], [4, 1, 0, 2], [1, 0, 7, 1]]
    table = grid(rows)
    cells = table.cells.with_columns(
        count=pl.when((pl.col("row") == "r1") & (pl.col("col") == "Total")).then(0.0).otherwise("count")
    )
    found = bounds(Table.of(cells), changed=Barnardised()).cells.filter(row="r1")
    assert found["lower"].to_list() == found["upper"].to_list() == [0, 1, 0, 0]


def test_empty_cells_are_listed_as_zeros():
    people = pl.DataFrame({"sex": ["f", "f", "m"], "ill": ["y", "n", "n"]})
    table = build(people, ["sex", "ill"])
    assert len(table) == 8
    done = sf.tables.round(table, 3, "conventional")
    assert len(done.table) == done.cells == 9
    assert done.table.cells.filter(sex="m", ill="y")["count"].to_list() == [0]
    assert len(with_zeros(table).table) == 9


def test_totals_that_are_sums_of_changed_cells():
    table = grid([[1, 2], [3, 10]])
    done = sf.tables.round(table, 5, "conventional", totals="summed")
    got = inner(done.table)
    assert done.additive
    assert got[("Total", "Total")] == sum(v for (r, c), v in got.items() if "Total" not in (r, c))


def test_every_value_is_within_what_is_said_of_it():
    rng = np.random.default_rng(5)
    table = grid(rng.integers(0, 30, (4, 5)))
    for method in ("conventional", "random", "controlled", "barnardise"):
        done = sf.tables.round(table, 4, method, secret=bytes(16))
        low, high = done.possible.interval(done.table.values)
        assert np.all((low <= table.values) & (table.values <= high))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"base": 1}, "2 or more"),
        ({"method": "up"}, "no method"),
        ({"method": "random", "steps": 1}, "Steps"),
        ({"method": "barnardise", "keep": 2}, "between 0 and 1"),
    ],
)
def test_what_is_refused(options, said):
    with pytest.raises(DataError, match=said):
        sf.tables.round(grid([[1, 2], [3, 4]]), **options)


def test_tables_that_are_refused():
    good = grid([[1, 2], [3, 4]])
    with pytest.raises(DataError, match="lacks the values"):
        sf.tables.round(good.with_columns(count=[None, *good.cells["count"].to_list()[1:]]))
    with pytest.raises(DataError, match="fractions"):
        sf.tables.round(good.with_columns(count=good.values / 2))
    with pytest.raises(DataError, match="not additive"):
        sf.tables.round(good.with_columns(count=good.values + np.arange(9)))


@pytest.mark.parametrize("name", ["r_Titanic", "r_HairEyeColor", "r_UCBAdmissions"])
def test_real_tables(name, shared_data):
    frame = pl.read_csv(shared_data / "tables" / f"{name}.csv")
    count = frame.columns[-1]
    table = build(frame, frame.columns[:-1], count=count)
    done = sf.tables.round(table, 5, "controlled")
    assert (done.additive, done.optimal) == (True, True)
    assert done.largest_change < 5


BRANCHES = Hierarchy((("a1", "A"), ("b1", "B"), ("b2", "B")))
"""The code A has one part, so that its cells are two lines of the table and one cell of the equations."""
PARTS = {"Total": (0, 1, 2), "A": (0,), "a1": (0,), "B": (1, 2), "b1": (1,), "b2": (2,)}
SIDES = {"Total": (0, 1), "x": (0,), "y": (1,)}
LINES = np.array(
    [
        [float(i in rows and j in cols) for i in range(3) for j in range(2)]
        for rows in PARTS.values()
        for cols in SIDES.values()
    ]
)
"""Which of six finest cells each of the 18 lines of such a table is the sum of."""


def branched(counts):
    """A table of lines for 3 × 2 counts, `Total` and branches among them."""
    names = list(itertools.product(PARTS, SIDES))
    frame = {"code": [a for a, _ in names], "side": [b for _, b in names], "count": LINES @ counts}
    return Table.of(pl.DataFrame(frame), hierarchies={"code": BRANCHES})


@pytest.mark.parametrize(("base", "steps"), [(3, 0), (10, 0), (5, 1)])
def test_controlled_rounding_is_the_best_over_all_lines_of_the_file(base, steps):
    rng = np.random.default_rng(base)
    for _ in range(10):
        counts = rng.integers(1, 30, 6)
        done = sf.tables.round(branched(counts), base, "controlled", steps=steps)
        true = LINES @ counts
        beside = [np.arange(c // base - steps, -(-c // base) + steps + 1).clip(0) * base for c in counts]
        now = np.array(list(itertools.product(*map(np.unique, beside)))) @ LINES.T
        low, high = (true // base - steps).clip(0) * base, (-(-true // base) + steps) * base
        best = np.abs(now - true)[np.all((now >= low) & (now <= high), axis=1)].sum(axis=1).min()
        assert (done.total_change, done.optimal) == (best, True)
