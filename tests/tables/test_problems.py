"""Cells by number with their own equations: the same pattern as the table they are of, and a plain attacker agrees."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
import scipy.sparse as sp

import sfumato as sf
from sfumato.data.files.jj import Problem
from sfumato.errors import DataError
from sfumato.tables.equations import NotAdditive, equations
from sfumato.tables.problems import problem_of, table_of
from sfumato.tables.table import Table
from tests.ends import Ends


@pytest.fixture(scope="module")
def judged():
    rng = np.random.default_rng(1)
    rows = pl.DataFrame({"a": rng.integers(0, 6, 120), "b": rng.integers(0, 5, 120), "x": rng.lognormal(2, 1.5, 120)})
    rows = rows.with_columns(pl.col("a", "b").cast(pl.String), pl.col("x").round(1))
    return sf.tables.judge(sf.tables.build(sf.read(rows), ["a", "b"], "x"), ["n(3)", "p(10)"])


@pytest.fixture(scope="module")
def problem(judged):
    """The cells of a table by number; a cell that stands in several lines is one."""
    merged = equations(judged)
    none = np.zeros(merged.system.size)
    low, high = (merged.gather([judged.column(f"{end}_level")], "max") for end in ("lower", "upper"))
    unsafe = merged.gather([(judged.cells["status"] == "u").to_numpy()], "any") > 0
    status = tuple("u" if one else "s" for one in unsafe)
    value = merged.system.value
    return Problem(value, np.abs(value), status, none, none + np.inf, low, high, none, merged.system.matrix)


def attacked(problem, hidden):
    """Ends of every hidden cell by plain programs over the equations and bounds of the file."""
    place = np.flatnonzero(hidden)
    matrix = problem.matrix.toarray().astype(float)
    right = -matrix @ np.where(hidden, 0.0, problem.value)
    ends = Ends(matrix[:, place], right, problem.lower[place], problem.upper[place])
    for at, cell in enumerate(place):
        yield cell, *ends.of(at)


@pytest.mark.parametrize("method", ["optimal", "flow", "elimination"])
def test_numbered_cells_are_protected_and_a_plain_attacker_agrees(problem, method):
    done = sf.tables.protect(table_of(problem), method=method)
    assert done.ok
    assert not any("no totals" in note for note in done.notes)
    hidden = done.table.cells["status"].is_in(["u", "x"]).to_numpy()
    for cell, low, high in attacked(problem, hidden):
        if problem.status[cell] == "u":
            slack = 1e-6 * problem.value.max()
            assert low <= problem.value[cell] - problem.lower_level[cell] + slack
            assert high >= problem.value[cell] + problem.upper_level[cell] - slack


def test_the_optimum_is_that_of_the_table_of_codes(judged, problem):
    """Each cell of this table stands in one line, so that costs are the same."""
    of_codes = sf.tables.protect(judged, method="optimal", reader="outsider")
    assert of_codes.suppression.optimal
    assert sf.tables.protect(table_of(problem), method="optimal").secondary_value == of_codes.secondary_value


def test_bounds_of_single_cells_are_what_attackers_know():
    """a + b = 10; everybody knows that b is 4 to 6, so that a is 4 to 6 too."""
    zero = np.zeros(3)
    row = sp.csr_array(np.array([[-1, 1, 1]]))
    one = Problem(
        np.array([10.0, 5, 5]), np.ones(3), ("s", "u", "x"), np.array([0, 0, 4.0]), np.array([np.inf, np.inf, 6]),
        zero, zero, zero, row,
    )  # fmt: skip
    done = sf.tables.protect(table_of(one))
    assert done.table.cells.select("lower", "upper").rows()[1:] == [(4.0, 6.0), (4.0, 6.0)]
    wanted = replace(one, upper_level=np.array([0, 2.0, 0]))
    done = sf.tables.protect(table_of(wanted))  # it can only be one more, unless the total is hidden too
    assert done.judged.cells["status"].to_list() == ["x", "u", "x"]
    assert done.ok
    wide = replace(one, sliding_level=np.array([0, 2.0, 0]))
    assert sf.tables.protect(table_of(wide)).judged.cells["status"].to_list() == ["s", "u", "x"]
    too_wide = replace(one, sliding_level=np.array([0, 2.1, 0]))
    assert sf.tables.protect(table_of(too_wide)).judged.cells["status"].to_list() == ["x", "u", "x"]


def test_it_is_a_problem_again(problem):
    again = problem_of(table_of(problem))
    for name in ("value", "cost", "lower", "upper", "lower_level", "upper_level", "sliding_level"):
        assert np.array_equal(getattr(again, name), getattr(problem, name)), name
    assert again.status == problem.status


def test_equations_of_many_totals_merge_nothing_that_differs():
    """a + b = c + d, with d empty: b is not c."""
    value, zero = np.array([2.0, 3, 5, 0]), np.zeros(4)
    row = sp.csr_array(np.array([[1, 1, -1, -1]]))
    one = Problem(value, np.ones(4), ("u", "s", "s", "z"), zero, zero + np.inf, zero, zero, zero, row)
    merged = equations(table_of(one))
    assert merged.system.size == 3
    assert np.abs(merged.system.matrix).sum() == 3
    turned = replace(one, matrix=sp.csr_array(np.array([[-1, -1, 1, 1]])))
    assert equations(table_of(turned)).system.size == 3


def test_sums_that_do_not_hold_are_named_by_a_cell():
    zero = np.zeros(3)
    row = sp.csr_array(np.array([[-1, 1, 1]]))
    one = Problem(np.array([9.0, 5, 5]), np.ones(3), ("s", "u", "s"), zero, zero + np.inf, zero, zero, zero, row)
    with pytest.raises(NotAdditive, match="cell=0"):
        sf.tables.protect(table_of(one))
    assert sf.tables.protect(table_of(one), tolerance=1).ok


def test_they_have_nothing_in_common_with_tables_of_codes(judged, problem):
    with pytest.raises(DataError, match="by itself"):
        sf.tables.audit([table_of(problem), judged])
    with pytest.raises(DataError, match="all the cells"):
        Table(table_of(problem).axes, table_of(problem).cells[1:], "value", sums=problem.matrix)
