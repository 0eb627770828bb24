"""Patterns against brute force, an independent audit, published figures, and themselves."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.errors import DataError
from sfumato.kernels.tabular.goals import Insider
from sfumato.tables.suppress.choose import METHODS, suppress
from sfumato.tables.suppress.exact import suppress_exact
from sfumato.tables.suppress.flow import suppress_flow
from sfumato.tables.suppress.problem import prepare
from tests.tables.suppress.auditing import attack, shortfalls, weak
from tests.tables.suppress.small import Small, flat, grid, of_file, table

TREE = {"a1": "a", "a2": "a", "a3": "a", "b1": "b", "b2": "b", "a": "Total", "b": "Total"}
OTHER = {"a1": "x", "a2": "y", "a3": "x", "b1": "y", "b2": "x", "x": "Total", "y": "Total"}
METHOD = ["auto", "optimal", "flow", "elimination"]


def free(small: Small) -> dict[str, np.ndarray]:
    """Nothing is negative, and that is all that is known."""
    n = len(small.value)
    return {"lower": np.zeros(n), "upper": np.full(n, np.inf)}


def levels(level: np.ndarray, exact: bool) -> dict[str, np.ndarray]:
    """Levels both ways, or none."""
    return {} if exact else {"lower_level": level, "upper_level": level}


def drawn(kind: str, seed: int) -> tuple[Small, np.ndarray, np.ndarray]:
    """A random small table: 2-D, 3-D, hierarchical or linked; primary cells and levels."""
    rng = np.random.default_rng(seed)
    codes = {
        "2d": ["rs", "uvw"],
        "3d": ["rs", "uv", "pq"],
        "tree": [list(TREE)[:5], "uv"],
        "linked": [list(TREE)[:5], "uv"],
    }
    trees = {"tree": [TREE], "linked": [TREE, OTHER]}
    names = [list(c) for c in codes[kind]]
    parents = [trees.get(kind, flat(names[0])) if i == 0 else flat(n) for i, n in enumerate(names)]
    records, values = [], []
    for place in np.ndindex(*(len(n) for n in names)):
        for _ in range(int(rng.integers(0, 4))):
            records.append(tuple(n[i] for n, i in zip(names, place, strict=True)))
            values.append(float(rng.integers(1, 60)))
    if not records:
        records, values = [tuple(n[0] for n in names)], [5.0]
    small = table(records, values, parents)
    primary, level = small.p_percent(20, 2)
    return small, primary, level


def brute(
    small: Small, primary: np.ndarray, bounds: dict[str, np.ndarray], wanted: dict[str, np.ndarray]
) -> float | None:
    """The least cost over all patterns; None where none is safe."""
    others = np.flatnonzero(~primary)
    patterns = [c for k in range(len(others) + 1) for c in combinations(others.tolist(), k)]
    for pattern in sorted(patterns, key=lambda c: float(small.cost[list(c)].sum())):
        hidden = primary.copy()
        hidden[list(pattern)] = True
        if next(shortfalls(small.matrix, small.value, primary, hidden, **bounds, **wanted), None) is None:
            return float(small.cost[list(pattern)].sum())
    return None


MORE = pytest.mark.nightly(of="tests/tables/suppress/test_suppress.py::test_optimum_is_that_of_all_patterns[2-False]")
SMALL = [(seed, exact) for exact in (True, False) for seed in range(4)]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("seed", "exact"), [pytest.param(*one, marks=MORE if one == (3, False) else ()) for one in SMALL]
)
def test_optimum_is_that_of_all_patterns(seed: int, exact: bool) -> None:
    rng = np.random.default_rng(seed)
    small, primary, level = grid(rng, (2, 3), share=0.35)
    if not primary.any():
        primary[0] = True
        level[0] = small.value[0] * 0.1
    bounds, wanted = free(small), levels(level, exact)
    found = suppress(small, primary, method="optimal", cost=small.cost, **bounds, **wanted)
    best = brute(small, primary, bounds, wanted)
    assert best is not None
    assert found.optimal
    assert not len(found.unprotected)
    assert small.cost[found.secondary].sum() == pytest.approx(best)
    assert found.bound == pytest.approx(best)


@pytest.mark.slow
@pytest.mark.parametrize("method", METHOD)
@settings(max_examples=25, deadline=None)
@given(st.sampled_from(["2d", "3d", "tree", "linked"]), st.integers(0, 10**6), st.booleans())
def test_every_pattern_is_safe_or_says_which_cells_are_not(method: str, kind: str, seed: int, exact: bool) -> None:
    small, primary, level = drawn(kind, seed)
    bounds, wanted = free(small), levels(level, exact)
    found = suppress(small, primary, method=method, cost=small.cost, **bounds, **wanted)  # type: ignore[arg-type]
    assert not np.any(found.secondary & primary)
    short = weak(small.matrix, small.value, primary, primary | found.secondary, **bounds, **wanted)
    assert set(short) <= set(found.unprotected.tolist())
    all_hidden = np.ones(len(primary), dtype=bool)
    assert weak(small.matrix, small.value, primary, all_hidden, **bounds, **wanted) == found.unprotected.tolist()
    assert len(found.reason) == len(found.unprotected)


@pytest.mark.slow
@settings(max_examples=15, deadline=None)
@given(st.sampled_from(["2d", "3d", "tree", "linked"]), st.integers(0, 10**6), st.booleans())
def test_the_optimum_costs_no_more_than_others_and_stands_on_its_bound(kind: str, seed: int, exact: bool) -> None:
    small, primary, level = drawn(kind, seed)
    problem = prepare(small, primary, cost=small.cost, **free(small), **levels(level, exact))
    best, quick = suppress_exact(problem), suppress_flow(problem)
    assert best.optimal
    assert best.gap == 0
    assert small.cost[best.secondary].sum() <= small.cost[quick.secondary].sum() + 1e-6
    assert best.bound == pytest.approx(small.cost[best.secondary].sum())


@pytest.mark.slow
@settings(max_examples=20, deadline=None)
@given(st.sampled_from(["2d", "tree"]), st.integers(0, 10**6), st.booleans())
def test_whoever_knows_some_cells_finds_no_other(kind: str, seed: int, exact: bool) -> None:
    """Each knows two primary cells; of the others either the levels hold against them, or none is determined."""
    small, primary, level = drawn(kind, seed)
    bounds, wanted = free(small), levels(level, False)
    cells = np.flatnonzero(primary)
    sets = [cells[i : i + 2] for i in range(0, len(cells), 2)]
    insiders = [Insider(int(c), known, exact) for known in sets for c in np.setdiff1d(cells, known)]
    for method in METHODS:
        found = suppress(small, primary, method=method, cost=small.cost, insiders=insiders, **bounds, **wanted)
        hidden = primary | found.secondary
        for known in sets:
            asked = {} if exact else wanted
            short = weak(small.matrix, small.value, primary, hidden, known=known.tolist(), **bounds, **asked)
            assert set(short) <= set(found.unprotected.tolist())


def test_a_cell_whose_insider_sees_through_everything_is_told() -> None:
    small = table([("a",), ("b",), ("c",)], [3.0, 5.0, 9.0], [flat(["a", "b", "c"])])
    primary = np.array([name == ("a",) for name in small.name])
    others = np.flatnonzero(~primary)
    who = Insider(int(np.flatnonzero(primary)[0]), others, exact=True)
    for method in METHODS:
        found = suppress(small, primary, method=method, cost=small.cost, insiders=[who], **free(small))
        assert found.unprotected.tolist() == np.flatnonzero(primary).tolist()
        assert found.reason == ("insider",)
        assert found.secondary.any()  # outsiders it is protected against


def test_a_sum_of_cells_that_stands_in_no_table_costs_nothing_and_is_kept() -> None:
    """The union of two primary cells of a row: its level asks for more than theirs, so a third is hidden."""
    matrix = sp.csr_array([[1, 1, 1, 1, -1, 0], [1, 1, 0, 0, 0, -1]])
    system = SimpleNamespace(matrix=matrix, value=np.array([2.0, 3, 9, 7, 21, 5]))
    primary = np.array([True, True, False, False, False, True])
    cost = np.array([2.0, 3, 9, 7, 21, 0])
    level = np.array([1.0, 1, 0, 0, 0, 4])
    bounds = {"lower": np.zeros(6), "upper": np.full(6, np.inf)}
    for method in METHODS:
        found = suppress(system, primary, method=method, cost=cost, lower_level=level, upper_level=level, **bounds)
        assert found.secondary.tolist() == [False, False, False, True, False, False]


def test_figure_four_of_the_seed_is_the_kind_of_pattern_found() -> None:
    """Its unique in the second row: three more cells hidden, margins published, interval [0, 1]."""
    counts = np.array([[0, 3, 0, 1], [0, 1, 0, 0], [4, 1, 0, 2], [1, 0, 7, 1]])
    records = [(f"r{i}", f"c{j}") for i, j in np.ndindex(4, 4) for _ in range(max(1, counts[i, j]))]
    values = [float(counts[i, j] > 0) for i, j in np.ndindex(4, 4) for _ in range(max(1, counts[i, j]))]
    small = table(records, values, [flat([f"r{i}" for i in range(4)]), flat([f"c{i}" for i in range(4)])])
    primary = np.array([name == ("r1", "c1") for name in small.name])
    margin = np.array(["Total" in name for name in small.name])
    found = suppress(small, primary, method="optimal", cost=np.ones(len(primary)), forbidden=margin, **free(small))
    assert found.optimal
    assert found.secondary.sum() == 3
    ends = attack(small.matrix, small.value, primary | found.secondary, **free(small))(int(np.flatnonzero(primary)[0]))
    assert ends[1] - ends[0] >= 1 - 1e-9


def test_linked_tables_are_protected_together() -> None:
    """sdcTable issue 136: regions of two counties, and of a small and a big group; one by one the pattern is unsafe."""
    number = dict(zip("ABIJKLMN", [2, 2, 8, 8, 3, 3, 3, 7], strict=True))
    county = {**dict.fromkeys("ABIJ", "ABIJ"), **dict.fromkeys("KLMN", "KLMN"), "ABIJ": "Total", "KLMN": "Total"}
    group = {**dict.fromkeys("ABIJKN", "small"), **dict.fromkeys("LM", "BIG"), "small": "Total", "BIG": "Total"}
    records = [(r,) for r, n in number.items() for _ in range(n)]
    small = table(records, [1.0] * len(records), [[county, group]])
    primary = small.value < 4
    for method in ("optimal", "flow"):
        found = suppress(small, primary, method=method, cost=small.cost, **free(small))
        assert weak(small.matrix, small.value, primary, primary | found.secondary, **free(small)) == []


@pytest.mark.slow
def test_published_optimum(shared_data: Path) -> None:
    """`insee2`, p% of 10 and fewer than 3: notes on methods, 35 cells of value 921,712 (copies of a cell counted)."""
    small = of_file(shared_data / "tables" / "insee_indiv_dt.csv", ["A10>A21>A88", "NUTS1>NUTS2"], "TURNOVER")
    primary, level = small.p_percent()
    found = suppress(small, primary, method="auto", cost=small.cost, **free(small), **levels(level, False))
    assert found.optimal
    assert round(float(small.cost[found.secondary].sum())) == 921_712
    assert (
        weak(small.matrix, small.value, primary, primary | found.secondary, **free(small), **levels(level, False)) == []
    )


@pytest.mark.nightly(of="tests/tables/suppress/test_suppress.py::test_published_optimum")
def test_published_optimum_in_three_dimensions(shared_data: Path) -> None:
    """`synth_S`: exact disclosure costs 164,439 at least, p% levels between 169,889 and 196,362."""
    small = of_file(shared_data / "tables" / "synth_S.csv", ["act1>act", "geo1>geo", "size"], "turnover")
    primary, level = small.p_percent()
    found = suppress(small, primary, method="optimal", cost=small.cost, **free(small))
    assert found.optimal
    assert round(float(small.cost[found.secondary].sum())) == 164_439
    wide = suppress(small, primary, method="auto", cost=small.cost, **free(small), **levels(level, False))
    assert 169_889 <= float(small.cost[wide.secondary].sum()) <= 196_362
    assert wide.bound is not None
    assert 0 < wide.bound <= 196_362


@pytest.mark.parametrize("method", METHOD)
def test_it_gives_the_same_again_and_whatever_the_unit(method: str) -> None:
    small, primary, level = grid(np.random.default_rng(5), (8, 8))
    first = suppress(small, primary, method=method, cost=small.cost, **free(small), **levels(level, False))  # type: ignore[arg-type]
    again = suppress(small, primary, method=method, cost=small.cost, **free(small), **levels(level, False))  # type: ignore[arg-type]
    thousands = Small(
        small.matrix, small.value * 1024, small.count, small.largest, small.second, small.cost, small.name
    )
    scaled = suppress(
        thousands, primary, method=method, cost=small.cost * 1024, **free(small), **levels(level * 1024, False)
    )  # type: ignore[arg-type]
    assert np.array_equal(first.secondary, again.secondary)
    assert small.cost[first.secondary].sum() == pytest.approx(small.cost[scaled.secondary].sum())


def test_forbidden_preferred_and_forced_cells() -> None:
    small, primary, level = grid(np.random.default_rng(5), (6, 6), share=0.15)
    asked = {**free(small), **levels(level, False)}
    plain = suppress(small, primary, method="optimal", cost=small.cost, **asked)
    out = suppress(small, primary, method="optimal", cost=small.cost, forbidden=plain.secondary, **asked)
    assert not np.any(out.secondary & plain.secondary)
    other = suppress(small, primary, method="optimal", cost=small.cost, preferred=out.secondary, **asked)
    assert np.all(other.secondary <= out.secondary)
    forced = np.zeros(len(primary), dtype=bool)
    forced[np.flatnonzero(~primary & ~plain.secondary)[0]] = True
    with_it = suppress(small, primary, method="optimal", cost=small.cost, forced=forced, **asked)
    assert with_it.secondary[forced].all()
    assert with_it.optimal


def test_sliding_levels() -> None:
    small, primary, level = grid(np.random.default_rng(2), (5, 5), share=0.15)
    for method in ("optimal", "flow"):
        found = suppress(small, primary, method=method, cost=small.cost, sliding_level=5 * level, **free(small))
        hidden = primary | found.secondary
        assert weak(small.matrix, small.value, primary, hidden, sliding_level=5 * level, **free(small)) == []


def test_what_cannot_be_protected_is_said_without_data() -> None:
    small = table([("a",), ("b",), ("c",)], [3.0, 5.0, 9.0], [flat(["a", "b", "c"])])
    primary = np.array([name == ("a",) for name in small.name])
    closed = free(small)
    closed["lower"] = closed["upper"] = small.value.copy()
    found = suppress(small, primary, cost=small.cost, **closed)
    assert found.unprotected.tolist() == np.flatnonzero(primary).tolist()
    assert found.reason == ("bounds",)
    assert found.note is not None
    assert not any(character.isdigit() for character in found.note)
    out = suppress(small, primary, cost=small.cost, forbidden=~primary, **free(small))
    assert out.reason == ("forbidden",)
    assert not out.secondary.any()


@pytest.mark.parametrize("method", METHODS)
def test_nothing_to_protect(method: str) -> None:
    small, primary, _ = grid(np.random.default_rng(1), (3, 3))
    found = suppress(small, np.zeros_like(primary), method=method, cost=small.cost, **free(small))  # type: ignore[arg-type]
    assert not found.secondary.any()
    assert found.optimal
    assert found.gap == 0


@pytest.mark.slow
def test_out_of_time_the_pattern_is_safe_all_the_same() -> None:
    small, primary, level = grid(np.random.default_rng(1), (12, 12))
    for seconds in (0.0, 0.2):
        for method in ("optimal", "flow"):
            asked = {**free(small), **levels(level, False)}
            found = suppress(small, primary, method=method, cost=small.cost, seconds=seconds, **asked)
            assert weak(small.matrix, small.value, primary, primary | found.secondary, **asked) == []
            assert found.optimal or found.gap is None or 0 < found.gap <= 1


def test_bad_input() -> None:
    small, primary, _ = grid(np.random.default_rng(1), (3, 3))
    with pytest.raises(DataError, match="no method 'best'"):
        suppress(small, primary, method="best", cost=small.cost, **free(small))  # type: ignore[arg-type]
    with pytest.raises(DataError, match="differ in number"):
        suppress(small, primary[1:], cost=small.cost, **free(small))
    with pytest.raises(DataError, match="cost"):
        suppress(small, primary, cost=-small.cost, **free(small))


@pytest.mark.parametrize("method", METHOD)
def test_every_method_tells_which_cells_forbidden_ones_give_away(method: str) -> None:
    small = table([("a",), ("b",), ("c",)], [3.0, 5.0, 9.0], [flat(["a", "b", "c"])])
    primary = np.array([name == ("a",) for name in small.name])
    out = suppress(small, primary, method=method, cost=small.cost, forbidden=~primary, **free(small))  # type: ignore[arg-type]
    assert out.unprotected.tolist() == np.flatnonzero(primary).tolist()
    assert out.reason == ("forbidden",)
