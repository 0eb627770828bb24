"""Intervals of hidden cells: against plain programs, against enumeration, and the figures of the literature."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.kernels.tabular.attacker import Contradiction, Intervals, Need, intervals, inwards
from tests.ends import Ends
from tests.kernels.tabular.small_tables import Built, build


def plain(built: Built, hidden: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Intervals by programs over all cells, published ones fixed: no presolve."""
    none = np.zeros(built.matrix.shape[0])
    ends = Ends(built.matrix, none, np.where(hidden, 0, built.value), np.where(hidden, np.inf, built.value))
    low, high = built.value.copy(), built.value.copy()
    for cell in np.flatnonzero(hidden):
        low[cell], high[cell] = ends.of(cell)
    return low, high


def figure(hidden: list[tuple[str, str]]) -> tuple[Built, np.ndarray]:
    """Table of Figure 2 of the seed, with some cells hidden; zeros are published, and take part."""
    counts = np.array([[0, 3, 0, 1], [0, 1, 0, 0], [4, 1, 0, 2], [1, 0, 7, 1]])
    rows, columns = zip(*product("abcd", "wxyz"), strict=True)
    built = build([rows, columns], counts.ravel())
    mask = np.zeros(len(built.value), bool)
    mask[[built.at(*cell) for cell in hidden]] = True
    return built, mask


def test_figure_3_as_printed_gives_the_suppressed_one_away() -> None:
    # 21 - 4 - 7 - 9 = 1: the hidden total of row b; its other cells are published zeros
    built, hidden = figure([("b", "x"), ("b", "Total"), ("Total", "x"), ("Total", "z")])
    found = intervals(built.matrix, np.where(hidden, np.nan, built.value), hidden)
    cell = built.at("b", "x")
    assert (found.low[cell], found.high[cell]) == (1, 1)


def test_figure_4_leaves_it_between_nothing_and_one() -> None:
    built, hidden = figure([("a", "x"), ("a", "z"), ("b", "x"), ("b", "z")])
    found = intervals(built.matrix, np.where(hidden, np.nan, built.value), hidden)
    cell = built.at("b", "x")
    assert (found.low[cell], found.high[cell]) == (0, 1)


@st.composite
def tables(draw: st.DrawFn) -> tuple[Built, np.ndarray]:
    seed = draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    dimensions = draw(st.integers(2, 3))
    trees = [{"a1": "a", "a2": "a", "a": "Total", "b": "Total", "c": "Total"}, {}, {}]
    levels = [["a1", "a2", "b", "c"], ["u", "v", "w"], ["x", "y"]]
    cells = list(product(*levels[:dimensions]))
    kept = [cell for cell in cells if rng.random() < 0.85] or cells
    value = rng.integers(1, 9, len(kept)) * draw(st.sampled_from([1, 0.7, 1e6]))
    built = build(list(zip(*kept, strict=True)), value, trees[:dimensions])
    return built, rng.random(len(built.value)) < draw(st.sampled_from([0.1, 0.4, 0.7]))


@pytest.mark.slow
@given(tables())
@settings(max_examples=60)
def test_intervals_are_those_of_plain_programs(case: tuple[Built, np.ndarray]) -> None:
    built, hidden = case
    low, high = plain(built, hidden)
    found = intervals(built.matrix, np.where(hidden, np.nan, built.value), hidden)
    scale = built.value.max()
    np.testing.assert_allclose(found.low / scale, low / scale, atol=2e-7)
    np.testing.assert_allclose(found.high / scale, high / scale, atol=2e-7)


@pytest.mark.slow
@given(tables(), st.floats(0.05, 2))
@settings(max_examples=60)
def test_a_need_is_judged_as_by_the_whole_interval(case: tuple[Built, np.ndarray], share: float) -> None:
    built, hidden = case
    level = share * built.value
    low, high = plain(built, hidden)
    need = Need(level, level, 2.5 * level)
    found = intervals(built.matrix, built.value, hidden, need=need)
    slack = 1e-6 * built.value.max()

    def short(low: np.ndarray, high: np.ndarray) -> np.ndarray:
        down, up, width = built.value - low < level, high - built.value < level, high - low < 2.5 * level
        return (down | up | width) & hidden

    assert (found.low >= low - slack).all() or short(found.low, found.high).any()
    clear = np.ones(len(hidden), bool)  # a tie of computed numbers decides nothing
    for gap in (built.value - low - level, high - built.value - level, high - low - 2.5 * level):
        clear &= ~(np.abs(gap) < 1e-5 * built.value.max())
    np.testing.assert_array_equal(short(found.low, found.high)[clear], short(low, high)[clear])


def within(cell: tuple[str, ...], code: tuple[str, ...]) -> bool:
    """Whether an inner cell counts in a cell or total."""
    return all(k in ("Total", x) for k, x in zip(code, cell, strict=True))


@pytest.mark.slow
def test_whole_numbers_by_enumeration() -> None:
    rng, inner, compared = np.random.default_rng(5), [(r, c) for r in "abc" for c in "xyz"], 0
    for _ in range(40):
        counts = rng.integers(0, 4, (3, 3))
        built = build([[*"aaabbbccc"], [*"xyz" * 3]], counts.ravel())
        hidden = rng.random(len(built.value)) < 0.4
        found = inwards(intervals(built.matrix, built.value, hidden), hidden)
        fixed = {built.codes[i]: built.value[i] for i in np.flatnonzero(~hidden)}
        free = [i for i, cell in enumerate(inner) if cell not in fixed]
        if len(free) > 4:
            continue
        values = np.tile([fixed.get(cell, 0.0) for cell in inner], (13 ** len(free), 1))
        values[:, free] = list(product(range(13), repeat=len(free)))
        sums = [
            [all(k in ("Total", x) for k, x in zip(code, cell, strict=True)) for cell in inner] for code in built.codes
        ]
        tables = values @ np.array(sums, dtype=float).T
        seen = tables[np.all(np.abs(tables - built.value)[:, ~hidden] < 0.5, axis=1)]
        if len(seen) and np.max(seen) < 12:
            np.testing.assert_array_equal(found.low, np.min(seen, axis=0))
            np.testing.assert_array_equal(found.high, np.max(seen, axis=0))
            compared += 1
    assert compared > 5


def test_what_nobody_bounds_is_open() -> None:
    found = intervals(sp.csr_array([[1, 1, -1]]), np.array([3.0, np.nan, np.nan]), np.array([False, True, True]))
    assert found.low.tolist() == [3, 0, 3]
    assert np.isposinf(found.high[1:]).all()


def test_prior_bounds_narrow() -> None:
    matrix, hidden = sp.csr_array([[1, 1, -1]]), np.array([True, True, False])
    found = intervals(matrix, np.array([np.nan, np.nan, 10.0]), hidden, np.array([4.0, 1.0, 0.0]), np.inf)
    assert found.low.tolist() == [4, 1, 10]
    assert found.high.tolist() == [9, 6, 10]


def test_sums_that_no_table_has_are_refused() -> None:
    matrix, hidden = sp.csr_array([[1, 1, -1]]), np.array([False, True, False])
    with pytest.raises(Contradiction, match="contradict"):
        intervals(matrix, np.array([12.0, np.nan, 10.0]), hidden)


def test_rounded_sums_are_taken_with_a_tolerance() -> None:
    matrix, hidden = sp.csr_array([[1, 1, 0, -1], [1, 1, 1, 0]]), np.array([True, True, False, False])
    values = np.array([np.nan, np.nan, -5.5, 5.0])
    with pytest.raises(Contradiction):
        intervals(matrix, values, hidden)
    found = intervals(matrix, values, hidden, tolerance=0.5)
    assert found.high[0] == pytest.approx(5.5)


@given(tables(), st.integers(0, 2**32 - 1))
@settings(max_examples=20)
def test_the_order_of_rows_changes_nothing(case: tuple[Built, np.ndarray], seed: int) -> None:
    built, hidden = case
    rows = np.random.default_rng(seed).permutation(built.matrix.shape[0])
    one = intervals(built.matrix, np.where(hidden, np.nan, built.value), hidden)
    other = intervals(sp.csr_array(built.matrix[rows]), np.where(hidden, np.nan, built.value), hidden)
    np.testing.assert_allclose(one.low, other.low, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(one.high, other.high, rtol=1e-6, atol=1e-6)


def test_nothing_hidden_is_nothing_to_find() -> None:
    found = intervals(sp.csr_array([[1, -1]]), np.array([1.0, 1.0]), np.zeros(2, bool))
    assert isinstance(found, Intervals)
    assert found.programs == 0


@pytest.mark.filterwarnings("error")
def test_cells_without_any_bound_are_bounded_by_their_equations_alone():
    """Of a + b = 3 and a + b + c = 5 with nothing known beforehand c alone is told."""
    hidden, value = np.array([1, 1, 1, 0, 0]) > 0, np.array([np.nan, np.nan, np.nan, 3.0, 5.0])
    matrix = sp.csr_array([[1.0, 1, 0, -1, 0], [1.0, 1, 1, 0, -1]])
    found = intervals(matrix, value, hidden, -np.inf, np.inf)
    assert found.low[:3].tolist() == [-np.inf, -np.inf, 2.0]
    assert found.high[:3].tolist() == [np.inf, np.inf, 2.0]
