"""Whatever a small table holds, a draft of it is a plan, or is refused in words."""

from __future__ import annotations

import contextlib
import datetime

import numpy as np
import polars as pl
import pytest

from sfumato.data.codebook import Codebook
from sfumato.data.profile import profile
from sfumato.errors import SfumatoError
from sfumato.plan.by_groups import exchange_of
from sfumato.plan.draft import head
from sfumato.plan.plan import Plan
from sfumato.plan.wishes import PURPOSES, Wishes
from tests.drafted import drafted as tried
from tests.reasons import REASON

NAMES = ("age", "sex", "id", "hid", "weight", "income", "born", "town", "x1", "postcode", "name", "q 1", "lat", "score")
BY_KEYS = "tests/plan/test_draft_any.py::test_a_draft_by_keys_of_any_table_is_a_plan"
HERE = "tests/plan/test_draft_any.py::test_a_draft_of_any_table_is_tried"


def column(rng: np.random.Generator, n: int) -> list[object]:
    """Values of one of many kinds, some of them missing."""
    step = float(rng.choice([0.001, 0.01, 0.03, 0.1, 1.0, 2.5, 1000.0]))
    low = float(rng.choice([-5.0, 0.0, 0.19, 1e6]))
    kinds = {
        "fractions": lambda: np.round(low + step * rng.integers(0, 54, n), 3).tolist(),
        "few": lambda: rng.integers(0, int(rng.integers(1, 15)), n).tolist(),
        "many": lambda: rng.normal(low, step, n).tolist(),
        "skewed": lambda: np.exp(rng.normal(0, 3, n)).tolist(),
        "constant": lambda: [low] * n,
        "words": lambda: [f"w{i}" for i in rng.integers(0, int(rng.integers(1, 40)), n)],
        "numbers in words": lambda: [str(i) for i in rng.integers(0, 9, n)],
        "yes": lambda: (rng.random(n) < 0.3).tolist(),
        "dates": lambda: [datetime.date(1950, 1, 1) + datetime.timedelta(int(d)) for d in rng.integers(0, 20_000, n)],
        "running": lambda: list(range(n)),
        "nothing": lambda: [None] * n,
    }
    values = list(kinds[str(rng.choice(list(kinds)))]())
    gaps = float(rng.choice([0.0, 0.1, 0.9]))
    return [None if gap < gaps else value for gap, value in zip(rng.random(n), values, strict=True)]


def table(seed: int) -> pl.DataFrame:
    """One to six columns of up to sixty records."""
    rng = np.random.default_rng(seed)
    n, wide = int(rng.integers(1, 61)), int(rng.integers(1, 7))
    return pl.DataFrame(
        {name: column(rng, n) for name in rng.choice(NAMES, wide, replace=False).tolist()}, strict=False
    )


def drafted(seed: int) -> Plan | None:
    frame = table(seed)
    try:
        chosen = exchange_of(frame, profile(frame, Codebook()))
        return Plan.from_yaml("\n".join([*head("any"), *chosen.lines(5, "scientific-use")]))
    except SfumatoError:
        return None


def test_a_draft_of_any_table_is_a_plan() -> None:
    plans = [drafted(seed) for seed in range(100)]
    assert sum(plan is not None for plan in plans) > 90


@pytest.mark.parametrize(
    "first", [0, *(pytest.param(i, marks=pytest.mark.nightly(of=f"{HERE}[0]")) for i in (1, 2, 3))]
)
def test_a_draft_of_any_table_is_tried(first: int, one_draw: None) -> None:
    """A few by day, and two thousand in the end: with trials, which run and measure it."""
    many = 12 if first == 0 else 663
    for seed in range(10_000 * first, 10_000 * first + many):
        with contextlib.suppress(SfumatoError):
            told = tried(table(seed))
            assert bool(Plan.from_yaml(told.text).limits) == (told.because is None)


def by_keys(seed: int) -> Plan | None:
    """A draft by keys: some columns are known, or some are unknown, and one or another has a role besides."""
    rng, frame = np.random.default_rng(seed), table(seed)
    names = rng.permutation(frame.columns).tolist()
    some = tuple(names[: int(rng.integers(1, 1 + len(names)))])
    left = names[len(some) :]
    wishes = Wishes(
        purpose=PURPOSES[int(rng.integers(2))],
        keys=some if rng.random() < 0.7 else (),
        unknown=() if rng.random() < 0.7 else (f"{names[-1][0]}*",),
        because=REASON if rng.random() < 0.5 else None,
        sensitive=tuple(names[:1]) if rng.random() < 0.3 else (),
        record=left[0] if left and rng.random() < 0.3 else None,
    )
    try:
        return Plan.from_yaml(tried(frame, wishes=wishes).text)
    except SfumatoError:
        return None


@pytest.mark.parametrize(
    "first", [0, *(pytest.param(i, marks=pytest.mark.nightly(of=f"{BY_KEYS}[0]")) for i in (1, 2, 3))]
)
def test_a_draft_by_keys_of_any_table_is_a_plan(first: int) -> None:
    """Some of what is drawn contradicts itself (a sensitive id, a reason for nothing), and is refused."""
    many = 40 if first == 0 else 655
    plans = [by_keys(seed) for seed in range(10_000 * first, 10_000 * first + many)]
    assert sum(plan is not None for plan in plans) > 0.6 * many


def test_bands_of_fractions_are_cut_where_powers_of_ten_are_no_doubles() -> None:
    """Widths such as 0.00999… lie below the power of ten that their logarithm is rounded to."""
    values = [0.19 + 0.01 * i for i in range(54)]
    frame = pl.DataFrame({"age": [values[i % 54] for i in range(540)], "sex": ["f", "m"] * 270})
    assert Plan.from_yaml(tried(frame, wishes=Wishes(keys=("age", "sex"))).text).steps
