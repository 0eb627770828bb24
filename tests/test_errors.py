from sfumato.errors import PlanError, Problem


def test_the_text_of_a_plan_error_has_one_line_for_each_problem():
    error = PlanError([Problem("k must be at least 3", 12, ("steps", 2), "step 3 (centroids)"), "there is no file"])
    assert str(error).splitlines() == [
        "2 problems in the plan:",
        "  - line 12: step 3 (centroids): k must be at least 3",
        "  - there is no file",
    ]


def test_a_bare_sentence_is_a_problem_of_the_whole_plan():
    assert PlanError(["there is no file"]).problems == (Problem("there is no file", None, ()),)
