import polars as pl
import pytest
import sfumato as sf
from sfumato.data.codebook import Codebook, Variable
from sfumato.errors import PlanError
from sfumato.measures.registry import measures
from sfumato.testing import laws
from sfumato_rounding.round_to import RoundTo

STEP = RoundTo(columns=["x", "n"], base=5)


@pytest.mark.parametrize("law", laws(STEP), ids=str)
def test_the_method_is_lawful(law):
    law()


@pytest.mark.parametrize("law", laws(measures()["values_left"]), ids=str)
def test_the_measure_is_lawful(law):
    law()


def protected():
    people = pl.DataFrame({"id": [1, 2, 3, 4], "pay": [101.0, 149.0, 152.0, -9.0]})
    plan = sf.Plan(
        variables={"id": {"role": "record"}, "pay": {"kind": "continuous", "missing": [-9]}},
        steps=[{"do": "round_to", "columns": ["pay"], "base": 50}],
    )
    return sf.protect(plan, people, secret=bytes(range(16)))


def test_values_become_multiples_and_missing_codes_stay():
    assert sorted(protected().frame["pay"]) == [-9, 100, 150, 150]


def test_what_is_left_is_measured_and_said():
    release = protected()
    assert release.report.findings.of("values_left", variable="pay").value == pytest.approx(2 / 3)
    assert release.disclosure.sentences() == ("pay: rounded to multiples of 50.",)


def test_categories_are_refused_before_data_are_touched():
    book = Codebook({"sex": Variable(kind="categorical")})
    with pytest.raises(PlanError, match="averages numbers"):
        sf.Plan(steps=[RoundTo(columns=["sex"], base=2)]).check(book)
