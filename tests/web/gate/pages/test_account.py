"""Tokens, by page."""

import re


def test_a_token_is_made_shown_once_and_revoked(come, world):
    ann = come("ann")
    page = ann.send("/pages/account/token", scope=["tables"], days="7")
    opens = re.search(r"sfg_[\w-]+", page.text)[0]
    assert world.gate.bearer(opens).scopes == {"tables"}
    assert opens not in ann.see("/pages/account").text
    for one in world.gate.tokens("ann"):
        ann.send("/pages/account/revoke", id=one.id)
    assert world.gate.bearer(opens) is None
    assert "No token holds" in ann.see("/pages/account").words


def test_what_is_wrong_is_told(come):
    ann = come("ann")
    assert "1 to 365 days" in ann.send("/pages/account/token", scope="tables", days="1000").words
    assert "1 to 365 days" in ann.send("/pages/account/token", scope="tables", days="x").words
    assert "scopes of" in ann.send("/pages/account/token", scope="steward", days="7").words
    assert "no such token" in ann.send("/pages/account/revoke", id="nothing").words
