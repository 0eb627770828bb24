"""`sf.gate.decide` as others call it."""

import polars as pl
import pytest

import sfumato as sf
from sfumato.errors import DataError

DATA = sf.read(pl.DataFrame({"A": [1, 1, 2, 2], "B": [1, 2, 1, 2], "n": [2, 3, 3, 0]}))


def test_the_same_as_the_command():
    assert sf.gate.decide(DATA, known=["A"], ask="B", interval=(2, 4), count="n").decision == "refused"
    assert sf.gate.decide(DATA, ask="B", interval=(2, 4), count="n").decision == "granted"
    assert sf.gate.decide(DATA, ask="B", count="n").decision == "refused"  # (4, 10)
    levels = {"A": {"all": {"1": "x", "2": "x"}}}
    assert sf.gate.decide(DATA, ask="A@all", interval=(2, 4), count="n", levels=levels).joint_cells == 1


@pytest.mark.parametrize(
    "wrong",
    [
        {"ask": "Q"},
        {"ask": "A@q"},
        {"ask": "A", "known": ["Q"]},
        {"ask": "A", "count": "m"},
        {"ask": "A", "attribution": {"Q": "positive"}},
        {"ask": "A", "attribution": {"A": "positive", "B": "any"}},
        {"ask": "A", "never": [{"A": "1", "B": "1"}], "count": "n"},
        {"ask": "A", "levels": {"A": {"top": {"1": "x"}}}},
    ],
)
def test_what_there_is_not(wrong):
    with pytest.raises(DataError):
        sf.gate.decide(DATA, **wrong)


@pytest.mark.parametrize("interval", [(4, 4), (0, 4), (-1, 3)])
def test_a_width_that_hides_nothing(interval):
    with pytest.raises(DataError, match="interval|width|count|greater|1"):
        sf.gate.decide(DATA, ask="A", interval=interval)
