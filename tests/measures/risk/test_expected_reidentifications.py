import polars as pl
import pytest
from hypothesis import given

import sfumato as sf
from sfumato.data.codebook import Codebook, Variable
from sfumato.measures.risk.expected_reidentifications import (
    MEASURE,
    expected_reidentifications,
    expected_reidentifications_household,
)
from sfumato.measures.subject import Classes, Subject
from tests.measures.tables import BY, keyed, records, sizes, table

FIVE = ["urbrur", "roof", "walls", "water", "sex"]


@given(records)
def test_without_weights_it_is_the_number_of_classes(rows):
    assert expected_reidentifications(table(rows), BY) == pytest.approx(len(sizes(rows)))


@pytest.mark.slow
@given(records)
def test_through_households_record_by_record(rows):
    """The sensitive value is the household; a record without one is alone, and one without any key found by nobody."""
    size = sizes(rows)
    expected = 0.0
    for row in rows:
        missed = 1.0
        for other in keyed(rows if row[2] is not None else [row]):
            if other[2] == row[2]:
                missed *= 1 - 1 / size[other[:2]]
        expected += 1 - missed
    assert expected_reidentifications_household(table(rows), BY, "ill") == pytest.approx(expected)


def read(shared_data, file, weight, **roles):
    book = {weight: Variable(role="weight", kind="continuous")} | {n: Variable(role=r) for n, r in roles.items()}
    return sf.read(
        pl.read_csv(shared_data / "sdcmicro" / f"{file}.csv", infer_schema_length=None), codebook=Codebook(book)
    )


def test_published_sums(shared_data):
    """The posterior means' sums of the notes; the field's approximation of them lies within 0.1%."""
    data = read(shared_data, "testdata", "sampling_weight", ori_hid="household")
    assert expected_reidentifications(data, FIVE) == pytest.approx(1.526397, abs=5e-7)
    assert expected_reidentifications(data, FIVE) == pytest.approx(1.52720448852391, rel=1e-3)
    assert expected_reidentifications_household(data, FIVE, "ori_hid") == pytest.approx(7.17702857125284, rel=1e-3)
    free = read(shared_data, "free1", "WEIGHT")
    assert expected_reidentifications(free, ["SEX", "MARSTAT", "EDUC1", "ETNI"]) == pytest.approx(3.391950, abs=5e-7)
    toy = read(shared_data, "francdat", "w")
    keys = ["Key1", "Key2", "Key3", "Key4"]
    assert expected_reidentifications(toy, keys) == pytest.approx(0.966526045199967, rel=1e-9)


def test_roles_say_what_is_weight_and_household(shared_data):
    data = read(shared_data, "testdata", "sampling_weight", ori_hid="household")
    found = MEASURE.compute(Subject(data, given=data, classes=(Classes("keys", tuple(FIVE)),)))
    assert [f.measure for f in found] == ["expected_reidentifications", "expected_reidentifications_household"]
    assert all(f.value == pytest.approx(f.baseline) for f in found)
    assert "sampling_weight" in found.notes[0]


def test_without_a_household_there_is_one_line():
    found = MEASURE.compute(Subject(table([(1, "x", None)]), classes=(Classes("keys", BY),)))
    assert [(f.measure, f.value) for f in found] == [("expected_reidentifications", 1.0)]


def test_the_household_may_be_a_key():
    data = sf.read(pl.DataFrame({"home": [1, 1, 2]}))
    assert expected_reidentifications_household(data, ["home"], "home") == pytest.approx(0.75 * 2 + 1)
    assert expected_reidentifications_household(data, [], "home") is None
