"""What a confirmed chance is remembered by: which combinations cannot be, whatever their order."""

import polars as pl
import pytest

from sfumato.gate.dependences.found import digests
from sfumato.gate.reading import records_of


def never(gap, order=1, labels="abcd"):
    """Two columns of which one combination is empty."""
    rows = [(x, y) for x in labels for y in "pqrs" if (x, y) != gap for _ in range(60)]
    return pl.DataFrame(rows[::order], schema=["A", "B"], orient="row")


def together(shift):
    rows = [(str(a), str(b), str((a + b + shift) % 3)) for a in range(3) for b in range(3) for _ in range(40)]
    return pl.DataFrame(rows, schema=["A", "B", "C"], orient="row")


def found_in(frame):
    return digests(records_of(frame).found)


def test_another_empty_combination_is_another_finding():
    one, other = found_in(never(("a", "p"))), found_in(never(("b", "p")))
    assert list(one) == list(other) == [("A", "B")]
    assert one != other


def test_the_order_of_rows_and_columns_is_no_matter():
    frame = never(("a", "p"))
    assert found_in(frame) == found_in(never(("a", "p"), order=-1)) == found_in(frame.select("B", "A"))


@pytest.mark.parametrize("shift", [1, 2])
def test_another_arrangement_of_what_two_tell_is_another_finding(shift):
    one, other = found_in(together(0)), found_in(together(shift))
    assert list(one) == list(other) == [("A", "B", "C")]
    assert one != other
