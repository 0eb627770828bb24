import polars as pl
import pytest

import sfumato as sf
from sfumato.data.finding import Finding, Findings
from sfumato.measures.utility.cells import MEASURE
from tests.measures.utility.lost import lost, lost_in_batches, told, with_ids

FIGURES = ("cells_deleted", "cells_filled")
N = 20
PEOPLE = with_ids(
    x=[None if i % 5 == 0 else i / 2 for i in range(N)],  # four gaps
    y=[float(i % 7) for i in range(N)],
    town=["a"] * 18 + ["b"] * 2,
)
ROLES = {"x": {"role": "key", "kind": "continuous"}, "town": {"role": "key", "kind": "categorical"}}
IMPUTE = {"do": "impute", "columns": ["x"], "method": "median"}
SWAP = {"do": "swap", "columns": ["x", "y"], "random": True}
TAKE_OUT = {"do": "suppress_cells", "keys": ["town"], "k": 3}  # both who live in b, of 20
"""Four of 20 cells of x are filled in; two of 20 towns are taken out; and of 60 cells in all."""


def of(deleted=None, filled=None):
    """The lines of three columns, where nothing else was deleted or filled in."""
    lines = {(figure, n): 0.0 for figure in FIGURES for n in (None, "x", "y", "town")}
    for figure, counts in zip(FIGURES, (deleted or {}, filled or {}), strict=True):
        lines |= {(figure, n): count / N for n, count in counts.items()}
        lines[figure, None] = sum(counts.values()) / (3 * N)
    return lines


CASES = {
    "nothing": ([], of()),
    "impute": ([IMPUTE], of(filled={"x": 4})),
    "suppress": ([TAKE_OUT], of(deleted={"town": 2})),
    "exchange": ([SWAP], of()),
    "impute, then exchange": ([IMPUTE, SWAP], of(filled={"x": 4})),
    "exchange, then impute": ([SWAP, IMPUTE], of(filled={"x": 4})),
    "taken out and filled in again": (
        [TAKE_OUT, {"do": "impute", "columns": ["town"], "method": "mode"}],
        of(),
    ),
    "shuffle": ([{"do": "shuffle", "columns": ["x"]}], of()),
    "noise": ([{"do": "noise", "columns": ["x", "y"], "sd": 1}], of()),
    "noise on what was filled in": (
        [{"do": "noise", "columns": ["x"], "sd": 1, "missing": "mean"}],
        of(filled={"x": 4}),
    ),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("where", ["memory", "batches"])
def test_by_hand(case, where):
    steps, expected = CASES[case]
    if where == "memory":
        found = lost(steps, PEOPLE, **ROLES)
    else:
        found = lost_in_batches(steps, PEOPLE, ["cells"], **ROLES)
    values = {key: value for key, (value, _) in told(found, *FIGURES).items()}
    assert values == pytest.approx(expected)


def test_gaps_that_a_draw_moved_are_not_counted_and_what_happened_around_it_is():
    """Synthetic values have gaps elsewhere than the original's; four towns of 60 were taken out before."""
    n = 60
    frame = with_ids(
        x=[None if i % 4 == 0 else i / 2 for i in range(n)],
        y=[float(i % 7) for i in range(n)],
        town=["a"] * (n - 4) + ["b"] * 4,
    )
    draw = {"do": "synthesise", "columns": ["x"], "copies": 1, "where": "y >= 0"}
    take_out = {**TAKE_OUT, "k": 5}
    found = lost([take_out, draw], frame, **ROLES)
    assert told(found, *FIGURES) == {
        ("cells_deleted", None): (pytest.approx(4 / 180), None),
        ("cells_deleted", "x"): (0.0, None),
        ("cells_deleted", "y"): (0.0, None),
        ("cells_deleted", "town"): (pytest.approx(4 / 60), None),
        **{("cells_filled", n): (0.0, None) for n in (None, "x", "y", "town")},
    }


def test_cells_of_records_that_left_are_no_part():
    """Of 18 people of town a no town is taken out; who lives in b is left out afterwards."""
    steps = [IMPUTE, {"do": "suppress_strata", "by": ["town"], "min_count": 3, "max_suppressed": 0.2}]
    found = lost(steps, PEOPLE, **ROLES)
    assert found.of("cells_filled", variable="x").value == pytest.approx(4 / 18)  # 0, 5, 10, 15


def test_two_tables_are_compared_row_by_row():
    read = pl.DataFrame({"id": [1, 2, 3, 4], "a": [1, None, 3, 4], "b": ["x", None, None, "y"]})
    after = pl.DataFrame({"id": [4, 3, 2, 1], "a": [None, 3, 2, 1], "b": ["y", None, None, "x"]})
    found = sf.compare(read, after, record="id")
    assert told(found, *FIGURES) == {
        ("cells_deleted", None): (1 / 8, None),
        ("cells_deleted", "a"): (1 / 4, None),
        ("cells_deleted", "b"): (0.0, None),
        ("cells_filled", None): (1 / 8, None),
        ("cells_filled", "a"): (1 / 4, None),
        ("cells_filled", "b"): (0.0, None),
    }
    same = sf.compare(read.drop("id"), after.sort("id").drop("id"), align="row-order")
    assert told(same, *FIGURES) == told(found, *FIGURES)
    assert told(sf.compare(read.drop("id"), after.drop("id")), *FIGURES) == {}


def say(*lines):
    return MEASURE.say(Findings(lines), 1.0)


def test_words():
    deleted, filled = Finding("cells_deleted", value=0.0), Finding("cells_filled", value=0.0)
    assert say() is None
    assert say(deleted, filled) == "No cell deleted or filled in."
    some = (Finding("cells_filled", value=0.02), Finding("cells_filled", variable="age", value=0.2))
    assert say(deleted, *some) == "None deleted; 2% of the cells filled in (most of `age`: 20%)."
