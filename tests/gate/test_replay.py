"""Events without a server; see also `tests/golden/test_gate.py`."""

import polars as pl
import pytest

import sfumato as sf
from sfumato.errors import DataError
from sfumato.gate.events import parsed_events
from sfumato.gate.policy import Policy
from sfumato.gate.replay import replay

DATA = sf.read(pl.DataFrame({"A": [1, 1, 2, 2], "B": [1, 2, 1, 2], "n": [2, 3, 3, 0]}))
LAX, STRICT = (Policy(interval={"count": count, "width": 6}) for count in (2, 3))


def test_each_principal_has_the_policy_of_its_own():
    lines = ["user ann lax", "user bob strict", "ask ann A", "ask bob A", "share ann bob"]
    done = replay(DATA, {"lax": LAX, "strict": STRICT, "public": STRICT}, parsed_events(lines), count="n")
    assert done.decisions == ("granted", "granted", "granted", "refused", "refused")
    assert done.narrow == 0


def test_cells_that_are_narrow_in_the_end_are_counted_once_for_each_knowledge():
    """What is public may be too much for who comes later with a stricter policy: it is told."""
    lines = ["ask public A", "user ann strict", "user bob strict"]
    done = replay(DATA, {"strict": STRICT, "public": LAX}, parsed_events(lines), count="n")
    assert done.decisions == ("granted",) * 3
    assert done.narrow == 1  # three people of A


@pytest.mark.parametrize(
    ("line", "match"),
    [
        ("ask ann Q", "line 2.*no variable"),
        ("ask ann A@q", "line 2.*no level"),
        ("ask ann A v2", "line 2.*no version"),
        ("ask bob A", "line 2.*nobody"),
        ("user ann lax", "line 2.*given once"),
        ("user bob none", "line 2.*no policy"),
        ("version v1 x.csv", "line 2.*already"),
        ("version v2 none.csv", "line 2"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(line, match, tmp_path):
    with pytest.raises(DataError, match=match):
        replay(DATA, {"lax": LAX}, parsed_events(["user ann lax", line]), count="n", folder=tmp_path)


def test_unknown_names_in_what_stands_beside():
    for wrong in ({"record": "id"}, {"count": "m"}):
        with pytest.raises(DataError):
            replay(DATA, {"lax": LAX}, (), **wrong)
    with pytest.raises(DataError, match="attribution"):
        replay(DATA, {"x": Policy(attribution={"variables": ["Q"]})}, (), count="n")
