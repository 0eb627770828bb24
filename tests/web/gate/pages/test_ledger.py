"""The ledger, searched."""

from tests.gate.conftest import table


def test_the_newest_entries_and_the_head_are_shown(come, world):
    world.gate.ask("ann", "ward", table("sex"))
    page = come("aud").see("/pages/ledger")
    assert page.heading == "Ledger"
    assert world.gate.head()[1] in page.text
    assert "Export" in page.words


def test_entries_are_searched(come, world):
    world.gate.ask("ann", "ward", table("sex"))
    world.gate.ask("cat", "ward", table("region"))
    page = come("eve").see("/pages/ledger?who=cat&dataset=ward")
    assert page.text.count('<th scope="row">') == 1
    assert "region" in page.words
    assert "There is no such entry" in come("eve").see("/pages/ledger?who=nobody").words


def test_pages_of_it_are_linked(come, world, monkeypatch):
    monkeypatch.setattr("sfumato.web.gate.pages.ledger._PAGE", 3)
    page = come("eve").see("/pages/ledger?after=1")
    assert page.text.count('<th scope="row">') == 3
    assert "Later entries" in page.words
    assert "Earlier entries" in page.words
    assert come("eve").client.get("/pages/ledger?after=x").status_code == 422
