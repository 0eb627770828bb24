import numpy as np
import polars as pl
import pytest

from sfumato.data.pair import Pair
from sfumato.data.traces import Traces
from sfumato.engines.polars import PolarsDataset
from sfumato.measures.risk.linkage import MEASURE as LINKAGE
from sfumato.measures.risk.linkage_units import units_found, units_not_looked_for
from sfumato.measures.risk.uniques import MEASURE as UNIQUES
from sfumato.measures.subject import Classes, Outsider, Subject
from sfumato.plan.limits import Limit
from tests.measures.homes import BOOK, HOMES


def pair(age, frame=HOMES):
    return Pair(frame, frame.with_columns(age=pl.Series(age)), BOOK, ("age",), aligned=True)


def found(age, frame=HOMES, attack="household"):
    return units_found(pair(age, frame), Outsider("keys", ("sex",), ("age",)), attack, "home")


def test_all_are_found_where_ages_leave_exactly():
    line = found(HOMES["age"])
    assert (line.value, line.baseline, line.interval) == (1.0, 1.0, None)


def test_equal_homes_share():
    """With one age for all, homes 1 and 2 look alike; of six people in homes of two or more only two are found."""
    line = found(np.full(8, 40.0))
    assert line.value == pytest.approx((4 * 0.5 + 2) / 6)
    assert line.baseline == 1.0


def test_persons_count_once_and_households_by_their_people():
    frame = pl.DataFrame(
        {"home": [1, 1, 1, 2, 2, 3, 3], "sex": ["f"] * 7, "age": [10.0, 40.0, 42.0, 30.0, 31.0, 30.5, 30.5]}
    )
    released = [10.0, 40.0, 42.0, 30.5, 30.5, 30.0, 31.0]  # homes 2 and 3 are mistaken for each other
    assert found(released, frame).value == pytest.approx(3 / 7)
    assert found(released, frame, "person").value == pytest.approx(1 / 3)


def test_nobody_lives_with_others():
    assert found(HOMES["age"][-2:], HOMES[-2:]) is None


def test_noise_on_a_public_file(shared_data):
    """About .37 of the people with a share of .1, .15 with .5 (notes on units); intervals of 400 households."""
    frame = pl.read_csv(shared_data / "sdcmicro" / "testdata.csv")
    frame = frame.select(home="ori_hid", sex="sex", age=pl.col("age").cast(pl.Float64))
    x, draw = frame["age"].to_numpy(), np.random.default_rng(7).normal(size=frame.height)
    for share, expected in ((0.1, 0.37), (0.5, 0.15)):
        line = found(x + draw * x.std() * np.sqrt(share), frame)
        assert line.interval is not None
        assert line.value == pytest.approx(expected, abs=0.07)


def subject(frame=HOMES, released=None):
    after = PolarsDataset(
        frame if released is None else released, BOOK.only((frame if released is None else released).columns)
    )
    return Subject(
        after,
        given=PolarsDataset(HOMES, BOOK),
        pair=Pair(HOMES, after.frame, BOOK, ("age",), aligned=True),
        classes=(Classes("keys", ("sex",)),),
        traces=Traces(masked=("age",), keys=("sex", "age")),
    )


@pytest.mark.parametrize("measure", [UNIQUES, LINKAGE])
def test_only_where_the_id_leaves(measure):
    attacks = {f.attack for f in measure.compute(subject())}
    assert "household" in attacks
    assert "household" not in {f.attack for f in measure.compute(subject(released=HOMES.drop("home")))}


def test_limits_without_an_attack_bind_households():
    lines = [f for f in UNIQUES.compute(subject()) if f.measure == "uniques_sample"]
    assert [f.attack for f in lines] == [None, "household"]
    bound = {limit.attack: [f.attack for f in lines if limit.binds(f)] for limit in map(limited, (None, "household"))}
    assert bound == {None: [None, "household"], "household": ["household"]}


def limited(attack):
    return Limit(measure="uniques_sample", at_most=0.1, attack=attack)


def test_a_sample_of_rows_tells_nothing_and_no_limit_is_met():
    told = units_not_looked_for(subject())
    (line,) = told
    assert (line.group, line.attack, line.value) == ("keys", "household", None)
    assert not Limit(measure="linkage_nearest", at_most=0.5).holds(line)
    assert told.notes
