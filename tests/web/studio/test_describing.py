"""The variables as the plan takes them."""

import pytest

from sfumato.errors import PlanError
from sfumato.web.problems import Problem
from sfumato.web.studio.describing import described, gaps_of, place_of, refuse_identifiers, sketch_of
from tests.web.studio.entered import PLAN, entered

SEVERAL = """sfumato: 1
tables:
  people:
    file: FILE
    variables:
      ill: {role: outcome, kind: categorical}
"""


@pytest.fixture(scope="module")
def studio(tmp_path_factory):
    with entered(tmp_path_factory.mktemp("describing")) as (made, _):
        _ = made.opened.draft
        yield made


@pytest.fixture(autouse=True)
def _as_it_was(studio):
    studio.planned.change("*", lambda _: PLAN)


def by_name(studio):
    return {one.name: one for one in described(studio)}


def test_the_plan_has_its_word_and_guesses_their_reason(studio):
    found = by_name(studio)
    assert list(found) == ["id", "sex", "age", "income", "ill"]
    assert found["ill"].variable.role == "sensitive"
    studio.planned.change("*", lambda text: text.replace("ill: {role: sensitive", "ill: {role: outcome"))
    assert (by_name(studio)["ill"].variable.role, by_name(studio)["ill"].reason) == ("outcome", "as the plan says")


def test_names_are_there_before_the_guesses(studio, monkeypatch):
    monkeypatch.setattr(type(studio.opened), "drafted", False)
    assert [(one.name, one.reason) for one in described(studio, wait=False)][:2] == [("id", ""), ("sex", "")]


@pytest.mark.parametrize("file", ["people.csv", "others.csv"])
def test_of_several_tables_the_one_is_described_whose_file_is_open(studio, file):
    studio.planned.change("*", lambda _: SEVERAL.replace("FILE", file))
    assert len(described(studio)) == 5
    if file == "people.csv":
        assert by_name(studio)["ill"].variable.role == "outcome"
        assert place_of(studio) == ("tables", "people", "variables")
    else:
        assert by_name(studio)["ill"].reason != "as the plan says"
        with pytest.raises(PlanError, match="none of theirs"):
            place_of(studio)


def test_pictures_are_worked_out_once_for_each_way_a_variable_is_taken(studio):
    one = by_name(studio)["age"]
    assert sketch_of(studio, one) is sketch_of(studio, one)
    assert sketch_of(studio, one, everything=True) is not sketch_of(studio, one)
    assert gaps_of(studio, one) is None


def test_identifiers_are_named_and_never_shown(studio):
    refuse_identifiers(studio, ["sex", "age", "nobody"])
    studio.planned.change("*", lambda text: text.replace("sex: {role: key", "sex: {role: identifier"))
    with pytest.raises(Problem) as raised:
        refuse_identifiers(studio, ["age", "sex"])
    assert raised.value.status == 422
    assert "'sex'" in raised.value.detail
    assert "'age'" not in raised.value.detail
