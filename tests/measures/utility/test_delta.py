import numpy as np
import polars as pl
import pytest

from sfumato.data.codebook import Codebook
from sfumato.data.pair import Pair
from sfumato.measures.utility.delta import delta, findings


def test_by_hand():
    """Squared changes 0, 1, 4 (mean 5/3); the original's variance is 1."""
    assert delta(np.array([1.0, 2.0, 3.0]), np.array([1.0, 3.0, 1.0])) == pytest.approx(5 / 3)


def test_closed_forms():
    """The mean in place of every value gives (n − 1)/n; the values in reverse order 2(1 − r)(n − 1)/n with r = −1."""
    x = np.arange(10.0)
    assert delta(x, x) == 0
    assert delta(x, np.full(10, x.mean())) == pytest.approx(0.9)
    assert delta(x, x[::-1]) == pytest.approx(4 * 0.9)


def test_cells_with_both_values_count():
    x, z = np.array([1.0, 2.0, 3.0, np.nan, 50.0]), np.array([1.0, 3.0, 1.0, 9.0, np.nan])
    assert delta(x, z) == pytest.approx(5 / 3)


@pytest.mark.parametrize("x", [[], [1.0], [2.0, 2.0], [np.nan, 1.0]])
def test_no_spread_has_no_delta(x):
    assert delta(np.array(x), np.array(x)) is None


def test_findings_are_one_line_for_each_column():
    before = pl.DataFrame({"a": [1.0, 2.0, 3.0], "b": [5.0, 5.0, 5.0]})
    after = pl.DataFrame({"a": [1.0, 3.0, 1.0], "b": [5.0, 5.0, 6.0]})
    found = findings(Pair(before, after, Codebook(), ("a", "b"), aligned=True))
    assert [(f.measure, f.variable) for f in found] == [("delta", "a"), ("delta", "b")]
    assert found[0].value == pytest.approx(5 / 3)
    assert found[1].value is None
    assert "'b' does not vary" in found.notes[0]


def test_tables_that_are_not_joined_have_none():
    frame = pl.DataFrame({"a": [1.0, 2.0]})
    found = findings(Pair(frame, frame, Codebook(), ("a",)))
    assert len(found) == 0
    assert "not joined" in found.notes[0]
