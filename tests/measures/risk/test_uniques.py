import polars as pl
import pytest
from hypothesis import given

import sfumato as sf
from sfumato.measures.measuring import Measuring
from sfumato.measures.risk.uniques import (
    MEASURE,
    uniques_population_pitman,
    uniques_population_snb,
    uniques_population_zayatz,
    uniques_sample,
)
from sfumato.measures.subject import Classes, Subject
from tests.measures.tables import BY, keyed, records, sizes, table

ESTIMATES = (uniques_population_zayatz, uniques_population_pitman, uniques_population_snb)


@pytest.mark.slow
@given(records)
def test_as_counted_record_by_record(rows):
    alone = sum(n == 1 for n in sizes(rows).values())
    assert uniques_sample(table(rows), BY) == pytest.approx(alone / len(keyed(rows)))
    assert all(estimate(table(rows), BY, 1.0) == alone for estimate in ESTIMATES)


@pytest.mark.parametrize(
    ("fraction", "expected"),
    [(0.2, (53946.2336, 50766.8712, 48177.6684)), (0.5, (26056.9185, 26295.4004, 25759.7544))],
)
def test_adult(shared_data, fraction, expected):
    """Computed independently from the formulas, to the digits given."""
    data = sf.read(pl.read_csv(shared_data / "adult" / "adult.csv", separator=";"))
    found = [estimate(data, data.columns, fraction) for estimate in ESTIMATES]
    assert found == pytest.approx(expected, abs=6e-5)
    assert uniques_sample(data, data.columns) == pytest.approx(15512 / 30162)


def test_the_population_only_where_the_fraction_is_known():
    subject = Subject(table([(1, "x", None), (1, "y", None)]), classes=(Classes("keys", BY),))
    assert [f.measure for f in MEASURE.compute(subject)] == ["uniques_sample"]
    known = Subject(subject.after, classes=subject.classes, how=Measuring(fraction=0.5))
    assert [f.value for f in MEASURE.compute(known)][1:] == [4.0, 4.0, 4.0]


def test_a_model_that_does_not_fit_has_no_value():
    rows = [(1, "x", None)] * 3 + [(2, "y", None)]
    subject = Subject(table(rows), classes=(Classes("keys", BY),), how=Measuring(fraction=0.5))
    found = MEASURE.compute(subject)
    assert found.of("uniques_population_snb").value is None
    assert any("uniques_population_snb" in note for note in found.notes)
