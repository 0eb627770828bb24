"""What hangs on a custodian's word: fewer people are found if nobody knows a column."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from sfumato.data.codebook import Codebook
from sfumato.data.profile import profile
from sfumato.plan.wishes import Wishes
from sfumato.tuning.asking import what_hangs_on

pytestmark = pytest.mark.usefixtures("one_draw")

RNG = np.random.default_rng(3)
N = 300
FRAME = pl.DataFrame(
    {
        "sex": RNG.choice(["f", "m"], N),
        "age": RNG.integers(18, 90, N),
        "fare": np.round(RNG.lognormal(3, 1, N), 2),
        "q1": RNG.choice(["a", "b"], N),
        "q2": RNG.choice(["a", "b", "c"], N),
        "town": RNG.choice([f"t{i}" for i in range(9)], N),
        "kids": RNG.integers(0, 12, N),
    }
)
GUESSES = profile(FRAME, Codebook())


def asked(wishes=Wishes()):  # noqa: B008  frozen
    return what_hangs_on(FRAME, Codebook(), GUESSES, wishes)


def test_at_most_five_columns_are_asked_of_those_on_which_most_hangs_first():
    found = asked()
    assert len(found) == 5
    assert [each.then for each in found] == sorted(each.then for each in found)
    assert len({each.now for each in found}) == 1
    assert found[0].then < found[0].now


def test_nothing_is_asked_of_what_was_said():
    assert not {"fare", "age"} & {each.column for each in asked(Wishes(keys=("fare",), leave_out=("age",)))}


def test_a_file_that_is_too_small_tells_nothing():
    assert what_hangs_on(FRAME.head(12), Codebook(), GUESSES, Wishes()) == ()
