from sfumato.data.codebook import Codebook, Variable
from sfumato.methods.checks import role_problems, strata_problems

BOOK = Codebook(
    {
        "id": Variable(role="record"),
        "home": Variable(role="household"),
        "name": Variable(role="identifier"),
        "w": Variable(role="weight", kind="continuous"),
        "sex": Variable(role="key", kind="categorical"),
        "bmi": Variable(role="key", kind="continuous"),
    }
)


def test_ids_names_and_weights_are_not_changed():
    problems = role_problems(BOOK, ["id", "home", "name", "w", "sex", "bmi", "nobody"])
    assert [p.split("'")[1] for p in problems] == ["id", "home", "name", "w"]


def test_strata_need_categories():
    assert strata_problems(BOOK, ["sex", "nobody"]) == []
    problems = strata_problems(BOOK, ["id", "home", "name", "bmi"])
    assert ["role" in problem for problem in problems] == [True, True, True, False]
    assert "recode" in problems[3]
