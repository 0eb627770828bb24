import pytest

from sfumato.data.codebook import Codebook, Variable
from sfumato.errors import PlanError
from sfumato.plan.knows import Knows, knowledge, knows_problems
from sfumato.plan.plan import Plan

BOOK = Codebook({"age": Variable(kind="integer"), "sex": Variable(kind="categorical"), "born": Variable(kind="date")})
PLAN = """
sfumato: 1
variables: {age: {role: key, kind: integer}, sex: {role: key}}
knows:
  neighbour: {keys: [age, sex], error: {age: 2}}
  claim: {error: {sex: 0.1}}
"""


def test_it_is_read_and_written():
    plan = Plan.from_yaml(PLAN)
    assert plan.knows["neighbour"] == Knows(keys=("age", "sex"), error={"age": 2.0})
    assert Plan.from_yaml(plan.to_yaml()) == plan
    assert plan.digest != Plan.from_yaml(PLAN.replace("age: 2", "age: 3")).digest
    assert "knows" not in Plan().to_yaml()


def test_measures_take_it_as_it_is():
    told = knowledge(Plan.from_yaml(PLAN).knows)
    assert told["neighbour"].keys == ("age", "sex")
    assert told["claim"].error == {"sex": 0.1}


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ("{burglar: {keys: [age]}}", "knows"),
        ("{neighbour: {keys: []}}", "keys"),
        ("{neighbour: {error: {age: -1}}}", "at least 0"),
        ("{neighbour: {errors: {age: 1}}}", "errors"),
        ("{neighbour: {error: {age: .inf}}}", "finite"),
    ],
)
def test_what_cannot_be_is_refused_when_it_is_read(given, says):
    with pytest.raises(PlanError, match=says):
        Plan.from_yaml(f"sfumato: 1\nknows: {given}\n")


@pytest.mark.parametrize(
    ("knows", "says"),
    [
        (Knows(keys=["shoe"]), "'shoe', which is no column"),
        (Knows(keys=["name"]), "'name', which is not released"),
        (Knows(keys=["age"], error={"sex": 0.1}), "'sex', which is not among its `keys`"),
        (Knows(error={"sex": 2}), "'sex', a category"),
    ],
)
def test_what_does_not_go_with_the_data_is_a_problem(knows, says):
    (problem,) = knows_problems(knows, BOOK, {"name", *BOOK})
    assert says in problem


def test_numbers_and_dates_may_be_off_by_anything():
    assert not list(knows_problems(Knows(error={"age": 12, "born": 400}), BOOK, ()))


def test_a_plan_tells_it_with_its_other_problems():
    plan = Plan.from_yaml(PLAN.replace("keys: [age, sex]", "keys: [age, shoe]"))
    with pytest.raises(PlanError, match="knows, neighbour.*shoe"):
        plan.check(BOOK.without("born"))


def test_each_of_several_tables_has_its_own():
    plan = Plan(tables={"people": {"file": "people.csv", "knows": {"claim": {"keys": ["age"]}}}})
    assert plan.table("people").knows["claim"].keys == ("age",)
    assert Plan.from_yaml(plan.to_yaml()) == plan
    with pytest.raises(ValueError, match="stands in the table"):
        Plan(tables={"people": {"file": "people.csv"}}, knows={"claim": {"keys": ["age"]}})
