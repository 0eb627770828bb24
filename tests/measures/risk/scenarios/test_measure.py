import numpy as np
import polars as pl
import pytest

from sfumato.data.codebook import Codebook, Variable
from sfumato.measures.intruding import SCENARIOS, Intruding, Knowledge
from sfumato.measures.known import Known
from sfumato.measures.risk.scenarios.measure import MEASURE, NO_CONTROL, NO_KEY, NOT_THERE, SAMPLED, TOO_MANY, findings

BOOK = Codebook(
    {
        "id": Variable(role="record"),
        "sex": Variable(kind="categorical"),
        "town": Variable(kind="categorical"),
        "pay": Variable(kind="continuous"),
    }
)
KEYS = ("sex", "town", "pay")


def table(n, seed, first=0):
    rng = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "id": np.arange(first, first + n),
            "sex": rng.choice(["f", "m"], n),
            "town": rng.choice(["Leeds", "York", "Hull"], n),
            "pay": rng.normal(50, 10, n).round(1),
        }
    )


PEOPLE, OTHERS = table(300, 1), table(200, 2, 1000)
RELEASED = PEOPLE.with_columns(pay=pl.col("pay") + pl.Series(np.random.default_rng(3).normal(0, 2, 300)))
KNOWN = Known(PEOPLE, RELEASED, BOOK, KEYS, control=OTHERS, record="id")


def test_every_scenario_has_its_lines_beside_what_unprotected_data_give():
    found = findings(KNOWN, Intruding(SCENARIOS))
    assert {f.attack for f in found} == set(SCENARIOS)
    line = found.of("match_correct", attack="neighbour", group="nearest")
    assert line.value < line.baseline
    assert line.baseline == PEOPLE.drop("id").n_unique() / 300
    assert {f.at for f in found if f.measure != "match_correct"} == {0.9}
    assert {f.attack for f in found.select("match_on_control")} == {"cross_match", "trawl"}


def test_poor_data_protect():
    sharp = findings(KNOWN, Intruding()).of("match_correct", group="nearest").value
    dull = Intruding(knows={"neighbour": Knowledge(error={"pay": 20.0, "town": 0.5})})
    assert findings(KNOWN, dull).of("match_correct", group="nearest").value < sharp
    few = Intruding(knows={"neighbour": Knowledge(keys=("sex",))})
    line = findings(KNOWN, few).of("match_correct", group="nearest")
    assert line.value == pytest.approx(2 / 300)
    assert line.baseline == pytest.approx(2 / 300)


def test_what_cannot_be_compared_is_told():
    intruding = Intruding(("neighbour", "claim"), knows={"claim": Knowledge(("shoe",))})
    found = findings(KNOWN, Intruding(knows={"neighbour": Knowledge(("sex", "shoe"))}))
    assert NOT_THERE.format(scenario="neighbour", columns="shoe") in found.notes
    assert NO_KEY.format(scenario="claim") in findings(KNOWN, intruding).notes


def test_a_cross_match_without_a_control_says_so():
    alone = Known(PEOPLE, RELEASED, BOOK, KEYS, record="id")
    found = findings(alone, Intruding(("cross_match",)))
    assert NO_CONTROL in found.notes
    assert not found.select("match_on_control")
    neighbour = findings(alone, Intruding())
    assert found.of("match_claims").value == neighbour.of("match_claims").value


def test_so_many_pairs_that_fewer_people_are_attacked():
    many = table(1500, 4)
    found = findings(Known(many, many, BOOK, KEYS, record="id", pairs=1000), Intruding())
    assert SAMPLED in found.notes
    assert found.of("match_correct", group="nearest").value == pytest.approx(
        many.drop("id").n_unique() / 1500, abs=0.02
    )


def test_rows_that_are_nobodys_are_not_linked():
    assert not findings(Known(PEOPLE, RELEASED, BOOK, KEYS, aligned=False), Intruding())


def test_the_headline_tells_of_the_neighbour_and_no_value():
    found = findings(KNOWN, Intruding())
    said = MEASURE.say(found, 1.0)
    assert said is not None
    assert said.startswith("Somebody who knows a person's keys")
    assert MEASURE.say(findings(KNOWN, Intruding(("claim",))), 1.0) is None


def test_more_keys_than_records_are_linked_by_stop_that_intruder_alone():
    names = [f"q{i}" for i in range(31)]
    wide = pl.DataFrame(np.random.default_rng(5).integers(0, 3, (40, 31)), schema=names)
    few = Knowledge(keys=tuple(names[:30]))
    found = findings(
        Known(wide, wide, Codebook(), tuple(names)), Intruding(("neighbour", "claim"), knows={"claim": few})
    )
    assert {f.attack for f in found} == {"claim"}
    assert found.notes == (TOO_MANY.format(scenario="neighbour", many=31, most=30),)
