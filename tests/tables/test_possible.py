"""What published counts can have been: by going through every true count and every way to publish it."""

from __future__ import annotations

import numpy as np
import pytest

from sfumato.errors import DataError
from sfumato.tables.possible import Barnardised, Rounded


def published(true: int, base: int, method: str, steps: int) -> set[int]:
    down, rest = true - true % base, true % base
    if method == "conventional":
        return {down} if rest * 2 < base else {down + base} if rest * 2 > base else {down, down + base}
    beside = {down} if rest == 0 else {down, down + base}
    return {max(0, m + j * base) for m in beside for j in range(-steps, steps + 1)}


@pytest.mark.parametrize(
    ("base", "method", "steps"),
    [
        (3, "random", 0),
        (5, "random", 0),
        (5, "controlled", 0),
        (5, "controlled", 1),
        (3, "controlled", 2),
        (5, "conventional", 0),
        (4, "conventional", 0),
        (10, "conventional", 0),
    ],
)
def test_rounded(base: int, method: str, steps: int) -> None:
    ways: dict[int, list[int]] = {}
    for true in range(20 * base):
        for shown in published(true, base, method, steps):
            ways.setdefault(shown, []).append(true)
    shown = np.arange(0, 10 * base, base)
    low, high = Rounded(base, method, steps).interval(shown.astype(float))
    for value, least, most in zip(shown.tolist(), low, high, strict=True):
        assert least <= min(ways[value])
        assert most >= max(ways[value])
        if not steps:  # with steps the interval is the one that the Handbook gives
            assert (least, most) == (min(ways[value]), max(ways[value]))


def test_barnardised() -> None:
    ways: dict[int, list[int]] = {}
    for true in range(20):
        for shown in {true} if true == 0 else {true - 1, true, true + 1}:
            ways.setdefault(shown, []).append(true)
    low, high = Barnardised().interval(np.arange(10.0))
    assert low.tolist() == [min(ways[v]) for v in range(10)]
    assert high.tolist() == [max(ways[v]) for v in range(10)]


def test_what_is_refused() -> None:
    with pytest.raises(DataError, match="multiples"):
        Rounded(5).interval(np.array([5.0, 7.0]))
    with pytest.raises(DataError, match="base"):
        Rounded(1)
    with pytest.raises(DataError, match="steps"):
        Rounded(5, steps=1)
