"""Small cells, by which stage shows them; soundness is in `tests/gate/test_soundness.py`."""

from itertools import combinations

import polars as pl
import pytest

from sfumato.gate.case import Case
from sfumato.gate.criteria import interval
from sfumato.gate.margin import Margin, Node
from sfumato.gate.policy import Interval
from sfumato.gate.reading import records_of
from sfumato.gate.stages.exact import Joint
from tests.parts import needs
from tests.real_data import real_data


def check(records, tables, count, width, effort=interval.EFFORT):
    case = Case.of(records, [Margin.of(Node(name) for name in own) for own in tables])
    found = interval.check(case, Interval(count=count, width=width), Joint(case), effort=effort)
    return found.holds, found.stage


SQUARE = records_of(pl.DataFrame({"A": [1, 1, 2, 2], "B": [1, 2, 1, 2], "n": [2, 30, 30, 40]}), count="n")


@pytest.mark.parametrize(
    ("tables", "count", "width", "expected"),
    [
        ("A", 2, 4, (True, "cover")),
        ("A B", 2, 4, (True, "cover")),  # the 2 lies in [0, 32]
        ("A B", 2, 32, (True, "cover")),
        ("A B", 2, 33, (False, "cover")),
        ("AB", 2, 4, (False, "released")),
        ("AB", 1, 4, (True, "cover")),  # there is no 1
    ],
)
def test_a_square(tables, count, width, expected):
    assert check(SQUARE, tables.split(), count, width) == expected


@pytest.mark.slow
@needs("data")
def test_margins_that_hang_together_in_rings_need_more_than_closed_bounds():
    records = records_of(pl.read_csv(real_data() / "tables" / "rochdale.csv"), count="n")
    pairs = [a + b for a, b in combinations("abcdefgh", 2)]
    holds, stage = check(records, pairs, 4, 5, effort=100 * interval.EFFORT)
    assert holds
    assert stage in ("exchange", "exact")
