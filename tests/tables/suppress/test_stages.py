"""Stages: none is dearer than the one before it, what they leave is safe, and their work is the same everywhere."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.tables.suppress import stages
from sfumato.tables.suppress.choose import Method, suppress
from sfumato.tables.suppress.repair import LEFT
from tests.tables.suppress.auditing import weak
from tests.tables.suppress.small import Small, grid
from tests.tables.suppress.test_suppress import drawn, free, levels


def spent(small: Small, secondary: np.ndarray) -> float:
    return float(small.cost[secondary].sum())


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(st.sampled_from(["2d", "3d", "tree", "linked"]), st.integers(0, 10**6), st.booleans())
def test_each_stage_is_safe_and_no_dearer_than_the_one_before_it(kind: str, seed: int, exact: bool) -> None:
    small, primary, level = drawn(kind, seed)
    asked = {**free(small), **levels(level, exact)}
    found = suppress(small, primary, cost=small.cost, **asked)
    mended = suppress(small, primary, method="elimination", cost=small.cost, **asked)
    assert spent(small, found.secondary) <= spent(small, mended.secondary) * (1 + 1e-6)
    after = [stage for stage in found.stages if stage.name != "elimination"]
    for stage in after:
        short = weak(small.matrix, small.value, primary, primary | stage.secondary, **asked)
        assert set(short) <= set(found.unprotected.tolist())
    costs = [spent(small, stage.secondary) for stage in after]
    assert all(now <= before * (1 + 1e-6) for before, now in pairwise(costs))


@pytest.mark.slow
def test_small_tables_are_proved_optimal() -> None:
    for seed in range(4):
        small, primary, level = grid(np.random.default_rng(seed), (8, 8), share=0.15)
        asked = {**free(small), **levels(level, False)}
        one, two = (suppress(small, primary, method=m, cost=small.cost, **asked) for m in ("auto", "optimal"))  # type: ignore[arg-type]
        assert one.optimal
        assert two.optimal
        assert spent(small, one.secondary) == pytest.approx(spent(small, two.secondary))


@pytest.mark.slow
def test_the_work_is_the_same_each_time_and_more_of_it_is_no_dearer() -> None:
    small, primary, level = grid(np.random.default_rng(3), (6, 6, 6))
    asked = {**free(small), **levels(level, False)}
    found = [suppress(small, primary, cost=small.cost, work=work, **asked) for work in (0.02, 0.02, 0.2)]
    little, again, more = found
    assert [stage.work for stage in little.stages] == [stage.work for stage in again.stages]
    np.testing.assert_array_equal(little.secondary, again.secondary)
    assert sum(stage.work for stage in little.stages) < sum(stage.work for stage in more.stages)
    assert spent(small, more.secondary) <= spent(small, little.secondary)


def test_where_the_work_does_not_suffice_a_note_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    small, primary, _ = grid(np.random.default_rng(3), (6, 6))
    asked = {**free(small), **levels(small.value * primary * 0.9, False)}
    monkeypatch.setattr(stages, "MENDING", 1)
    for way in ({"work": 1.0}, {"seconds": 0.0}):
        found = suppress(small, primary, cost=small.cost, **way, **asked)  # type: ignore[arg-type]
        assert found.note == LEFT
        assert not found.optimal
        assert [stage.name for stage in found.stages] == ["elimination", "flows"]
        assert weak(small.matrix, small.value, primary, primary | found.secondary, **free(small)) == []


@pytest.mark.parametrize("work", [1e-6, 2e-5, 1e-4, 3e-4, 1e-3])
@pytest.mark.parametrize("method", ["auto", "optimal", "flow", "elimination"])
def test_a_search_that_is_stopped_anywhere_claims_nothing_wrong(work: float, method: Method) -> None:
    small, primary, level = grid(np.random.default_rng(3), (5, 5))
    best = suppress(small, primary, method="optimal", cost=small.cost, **free(small), **levels(level, False))
    found = suppress(small, primary, method=method, cost=small.cost, work=work, **free(small), **levels(level, False))
    assert found.unprotected.tolist() == best.unprotected.tolist() == []
    short = weak(small.matrix, small.value, primary, primary | found.secondary, **free(small), **levels(level, False))
    assert not short or not found.enough  # what is left open is told
    assert best.bound is not None
    if found.bound is not None:
        assert found.bound <= best.bound * (1 + 1e-6)


def test_where_the_work_ends_what_may_go_either_way_is_not_told_to_be_lost() -> None:
    """Counts of 1 can only rise: for these goals both ways are looked at."""
    small, primary, _ = grid(np.random.default_rng(3), (6, 6))
    lower = np.where(primary, small.value, 0.0)
    asked = {"lower": lower, "upper": np.full(len(lower), np.inf), "cost": small.cost}
    whole = suppress(small, primary, **asked)
    assert whole.enough
    for work in (1e-6, 1e-5, 1e-4):
        found = suppress(small, primary, work=work, **asked)
        assert set(found.unprotected.tolist()) <= set(whole.unprotected.tolist())
        assert found.enough or found.note
