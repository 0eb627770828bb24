"""Policies: in words, tried, put in force."""

from sfumato.gate.policy import Policy
from sfumato.web.gate.pages.policies import in_words, written
from tests.gate.conftest import table

TRY, SET = "/pages/policies/try", "/pages/policies/set"


def test_policies_are_told_in_words(come):
    page = come("aud").see("/pages/policies")
    assert page.heading == "Policies"
    assert "groups of 1 to 2 people cannot be told closer than 4" in page.words
    assert "Dry run" not in page.words
    assert "Dry run" in come("eve").see("/pages/policies").words


def test_a_dry_run_sets_nothing(come, world):
    world.gate.ask("ann", "ward", table("sex"))
    before = world.gate.head()
    page = come("eve").send(TRY, name="research", text="interval: {count: 200, width: 400}\n")
    assert "decisions would have been others" in page.words
    assert world.gate.head() == before


def test_a_policy_is_put_in_force(come, world):
    page = come("eve").send(SET, name="research", text="interval: {count: 3, width: 9}\nrequests_per_day: 5\n")
    assert "research is in force" in page.words
    assert world.gate.policies()["research"] == Policy(interval={"count": 3, "width": 9}, requests_per_day=5)


def test_what_is_wrong_is_told(come):
    eve = come("eve")
    assert "width" in eve.send(TRY, name="research", text="interval: {count: 3, width: 3}").words
    assert "not" in eve.send(TRY, name="research", text="nothing: 1").words
    assert 'role="alert"' in eve.send(TRY, name="research", text="- a\n- b").text
    assert 'role="alert"' in eve.send(TRY, name="research", text="{").text
    assert 'role="alert"' in eve.send(TRY, name="", text="preset: research").text
    assert "it refused everything that was new" in eve.send(TRY, name="research", text="simulatable: true").words


def test_every_criterion_has_words_and_is_written_as_it_is_read():
    policy = Policy(
        interval={"count": 4, "width": 10}, attribution={"variables": ("hiv",), "rule": "any"}, dominance=("p(10)",),
        sap={"known": 2, "at_most": 0.1}, noise={"mu_at_most": 3}, perturbed={"variance": 9},
        public={"share": 0.5, "grants": 3}, grants_per_day=1, requests_per_day=2,
    )  # fmt: skip
    assert len(in_words(policy)) == 9
    from sfumato.data.yaml import load_yaml

    assert Policy.model_validate(load_yaml(written(policy))[0]) == policy
