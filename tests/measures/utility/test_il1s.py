import numpy as np
import polars as pl
import pytest

from sfumato.data.codebook import Codebook
from sfumato.data.pair import Pair
from sfumato.measures.utility.il1s import findings, il1s


def test_by_hand():
    """Changes 1, 1, 2 over √2 · 1 in the first column; 10 over √2 · 10 in one cell of the second."""
    x = np.array([[1.0, 10.0], [2.0, 20.0], [3.0, 30.0]])
    z = np.array([[2.0, 10.0], [1.0, 20.0], [1.0, 40.0]])
    result = il1s(x, z)
    assert result.total == pytest.approx(5 / np.sqrt(2))
    assert result.mean == pytest.approx(5 / np.sqrt(2) / 6)


def test_missing_cells_take_no_part():
    x, z = np.array([[1.0], [2.0], [3.0], [np.nan]]), np.array([[2.0], [np.nan], [3.0], [7.0]])
    assert il1s(x, z).mean == pytest.approx(1 / np.sqrt(2) / 2)


def test_a_column_without_spread_is_left_out_and_said():
    x, z = np.array([[1.0, 5.0], [3.0, 5.0]]), np.array([[1.0, 5.0], [4.0, 9.0]])
    assert il1s(x, z).mean == pytest.approx(0.25)
    frames = [pl.DataFrame(t, schema=["a", "b"], orient="row") for t in (x, z)]
    found = findings(Pair(*frames, Codebook(), ("a", "b"), aligned=True))
    assert found.of("il1s").value == pytest.approx(0.25)
    assert "left out" in found.notes[0]


def test_nothing_to_measure_is_said():
    frame = pl.DataFrame({"a": [1.0, 1.0]})
    found = findings(Pair(frame, frame, Codebook(), ("a",), aligned=True))
    assert found.of("il1s").value is None
    assert len(found.notes) == 2
    assert findings(Pair(frame, frame, Codebook(), ("a",))).lines == ()
