"""What hangs together in the data, on the page of data sets and in the queue."""

import pytest

from tests.gate.injected import NEVER, TELLS, TOGETHER, injected

SENT = {"dataset": "ward", "column": ["age", "sex"], "reason": "too few patients"}


@pytest.fixture(autouse=True)
def found(monkeypatch):
    return injected(monkeypatch, lambda _: (TOGETHER, NEVER, TELLS))


def test_the_verdict_comes_first_and_then_the_table(come):
    page = come("eve").see("/pages/datasets")
    assert "3 dependences were found; they count as known to everybody" in page.words
    assert page.words.index("3 dependences") < page.words.index("age and sex together tell region")
    assert page.words.index("together tell region") < page.words.index("region tells sex")
    for word in ("Combinations that never occur", "One tells another", "Two tell a third", "42", "80"):
        assert word in page.words
    assert page.text.count('hx-post="/pages/datasets/chance"') == 2  # arithmetic is no chance


def test_auditors_see_it_and_propose_nothing(come):
    page = come("aud").see("/pages/datasets")
    assert "3 dependences were found" in page.words
    assert "Propose: by chance" not in page.text
    assert come("aud").client.post("/pages/datasets/chance", data=SENT).status_code == 403


def test_analysts_see_nothing_of_it(come):
    come("eve").send("/pages/datasets/chance", **SENT)
    ann = come("ann")
    for path in ("/pages/datasets", "/pages/table?dataset=ward", "/pages/analysis?dataset=ward"):
        words = ann.see(path).words
        for word in ("dependence was", "dependences", "by chance", "hangs together", "too few patients"):
            assert word not in words
    for path in ("/pages/datasets/chance", "/pages/datasets/withdraw"):
        assert ann.client.post(path, data=SENT).status_code == 403


def test_a_proposal_is_confirmed_in_the_queue_by_another(come, world):
    eve, dan = come("eve"), come("dan")
    told = eve.send("/pages/datasets/chance", **SENT)
    assert "until a second steward confirms it" in told.words
    assert "chance is proposed" in told.words
    [one] = world.gate.exceptions()
    queue = eve.see("/pages/queue")
    for words in ("By chance: age, sex", "too few patients", "this dependence would let see more"):
        assert words in queue.words
    assert "Confirm: by chance" not in queue.text
    assert "second steward" in eve.send("/pages/queue/confirm", id=one.id).words
    assert "Confirm: by chance" in dan.see("/pages/queue").text
    assert "these columns hang together by chance" in dan.send("/pages/queue/confirm", id=one.id).words
    page = eve.see("/pages/datasets")
    assert "2 count as known to everybody, 1 by chance" in page.words
    assert "by chance, confirmed: age, sex" in eve.see("/pages/ledger").words
    told = eve.send("/pages/datasets/withdraw", **SENT)
    assert "It counts as known to everybody" in told.words
    assert "3 dependences were found; they count" in told.words


def test_what_is_wrong_is_told_beside_the_form(come):
    assert "arithmetic" in come("eve").send("/pages/datasets/chance", **SENT | {"column": ["region", "sex"]}).words
    assert "3 to 2,000 characters" in come("eve").send("/pages/datasets/chance", **SENT | {"reason": ""}).words
    assert "no data set" in come("eve").send("/pages/datasets/chance", **SENT | {"dataset": "other"}).words
    assert "Nobody called it chance" in come("eve").send("/pages/datasets/withdraw", **SENT).words


def test_nothing_found(come, monkeypatch):
    injected(monkeypatch, lambda _: ())
    assert "No dependence was found." in come("eve").see("/pages/datasets").words
