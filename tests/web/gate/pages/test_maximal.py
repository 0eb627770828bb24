"""Maximal releases, and what somebody can recover."""

from tests.gate.conftest import table

LOOK = "/pages/maximal/look"


def test_the_form_has_the_variables_of_the_codebook(come):
    page = come("aud").see("/pages/maximal")
    assert page.heading == "Maximal releases"
    assert 'value="region"' in page.text
    assert 'value="name"' not in page.text


def test_tables_are_drawn_and_listed(come, world):
    world.gate.ask("ann", "ward", table("sex"))
    before = world.gate.head()
    page = come("aud").send(LOOK, dataset="ward", policy="research", who="ann", variable=["sex", "region"])
    assert "<svg" in page.text
    assert page.text.count("<tr>") == 4  # the head, two singles and the pair
    assert "known" in page.words
    assert "could be given" in page.words
    assert world.gate.head() == before


def test_more_than_five_are_searched_and_not_drawn(come):
    page = come("eve").send(
        LOOK, dataset="ward", policy="research", who="ann", variable=["sex", "region", "hiv", "age"]
    )
    assert "maximal release" in page.words


def test_what_is_wrong_is_told(come):
    eve = come("eve")
    assert "Choose at least one variable" in eve.send(LOOK, dataset="ward", policy="research", who="ann").words
    assert "Choose a data set" in eve.send(LOOK, dataset="other", policy="research", who="ann", variable="sex").words
    assert "no policy" in eve.send(LOOK, dataset="ward", policy="other", who="ann", variable="sex").words


def test_what_somebody_recovers_is_for_stewards(come, world):
    world.gate.ask("ann", "ward", table("sex"))
    sent = {"dataset": "ward", "who": "ann"}
    assert "Confidential" in come("eve").send("/pages/maximal/recover", **sent).words
    assert come("aud").client.post("/pages/maximal/recover", data=sent).status_code == 403
