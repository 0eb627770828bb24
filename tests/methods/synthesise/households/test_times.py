"""The time of a person's rows."""

import numpy as np
import pytest

from sfumato.draws import Draws, units
from sfumato.methods.synthesise.bounded import Bound, Bounding
from sfumato.methods.synthesise.coding import Coded
from sfumato.methods.synthesise.households.earlier import PLACE, SIZE, of_last
from sfumato.methods.synthesise.households.original import Original
from sfumato.methods.synthesise.households.times import latest, rising
from sfumato.methods.synthesise.sequence import Target
from tests.methods.synthesise.households.panel import BOOK, NAMES, visits
from tests.methods.synthesise.small import synthesis

FRAME = visits(30)


def persons(frame=FRAME, given=()):
    step = synthesis([n for n in NAMES if n not in given], given, plain=frozenset({"day"}))
    ids = frame["id"].to_numpy().astype(np.uint64)
    return Original(step, frame, BOOK, Draws(bytes(16)), units(frame["pid"]), ids, time="day", stays=bool(given))


def test_each_later_row_needs_another_time():
    """Days of the last row are whole and end with the data; so many rows before it there are as many less."""
    end = FRAME["day"].max()
    assert latest(persons(), np.array([0, 1, 5]))["day"].tolist() == [end, end - 1, end - 5]


def test_a_time_that_stays_true_has_no_end():
    assert latest(persons(given=("day",)), np.array([0, 1])) == {}


@pytest.mark.parametrize("bounding", [None, Bounding((Bound("born", upper=True),), (0.0, 9.0), 10)])
def test_a_time_is_never_below_that_of_the_row_before(bounding):
    """Nor the same; where other columns bound it, too, as far as there is room."""
    own = persons()
    last = {of_last("day"): Coded(np.array([0, 1]), np.zeros(2))}
    target = rising(Target("day", ("sex",), own.step.fit("day"), bounding=bounding), own, last)
    before = () if bounding is None else bounding.bounds
    assert target.bounding.bounds == (*before, Bound(of_last("day"), strict=bounding is None))
    other = Target("bili", (), own.step.fit("bili"))
    assert target.bounding.turn == (() if bounding is None else (SIZE, PLACE))
    assert rising(other, own, last) is other


def test_after_a_row_without_a_time_there_is_none():
    frame = FRAME.with_columns(day=FRAME["day"].scatter([0, 1], [-1, None]))
    own = persons(frame)
    assert own.codings["day"].special == (-1, None)
    last = {of_last("day"): Coded(np.array([0, 1, 2]), np.zeros(3))}
    forced = rising(Target("day", (), own.step.fit("day")), own, last).forced
    assert [(rule.state, rule.original.tolist()) for rule in forced] == [
        (1, [False, True, False]),
        (2, [False, False, True]),
    ]
    assert forced[1].applies(last).tolist() == [False, False, True]
