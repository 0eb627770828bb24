"""Own releases, those of the public, and others' that are not there."""

from tests.gate.conftest import table


def test_own_releases_are_listed_and_shown(come, world):
    answer = world.gate.ask("ann", "ward", table("sex"))
    ann = come("ann")
    page = ann.see("/pages/releases")
    assert page.heading == "My releases"
    assert "Download CSV" in page.words
    shown = ann.see(f"/pages/releases/{answer.release.id}")
    assert answer.ledger[1] in shown.text
    assert "150" in shown.words


def test_others_are_not_there(come, world):
    answer = world.gate.ask("ann", "ward", table("sex"))
    assert "sex" not in come("bob").see("/pages/releases").words
    refused = come("bob").client.get(f"/pages/releases/{answer.release.id}")
    assert refused.status_code == 404
    assert "There is nothing here" in refused.text
    assert come("").client.get(f"/pages/releases/{answer.release.id}").status_code == 401
    assert come("eve").client.get(f"/pages/releases/{answer.release.id}").status_code == 403


def test_anybody_reads_what_is_public(come, world):
    answer = world.gate.ask("public", "ward", table("sex"))
    for who in ("", "ann", "eve"):
        page = come(who).see("/pages/public")
        assert page.heading == "Public releases"
        assert answer.release.id in page.text
        assert "150" in come(who).see(f"/pages/releases/{answer.release.id}").words


def test_many_releases_come_in_pages(come, world, monkeypatch):
    monkeypatch.setattr("sfumato.web.gate.pages.releases._PAGE", 2)
    for name in ("sex", "region", "hiv"):
        world.gate.ask("ann", "ward", table(name))
    first = come("ann").see("/pages/releases")
    after = first.text.split("?cursor=")[1].split('"')[0]
    assert "Later releases" not in come("ann").see(f"/pages/releases?cursor={after}").words
