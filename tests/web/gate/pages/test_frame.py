"""What is around all pages."""

import pytest

from sfumato.gate.analyses.registry import KINDS
from sfumato.web.gate.pages.frame import LINKS
from sfumato.web.gate.pages.words import reasons
from sfumato.web.layout.forms import Given


@pytest.mark.parametrize(("who", "role"), [("ann", "analyst"), ("eve", "steward"), ("aud", "auditor"), ("", "")])
def test_every_link_of_a_role_leads_to_a_page_of_that_name(come, who, role):
    visit = come(who)
    for name, path in LINKS[role]:
        page = visit.see(path)
        assert page.heading == name
        assert f'href="{path}" aria-current="page"' in page.text


@pytest.mark.slow
def test_no_page_has_a_style_or_a_script_in_it(come):
    for who, role in (("ann", "analyst"), ("eve", "steward"), ("", "")):
        for _, path in LINKS[role]:
            text = come(who).see(path).text
            assert " style=" not in text
            assert "<style" not in text
            assert "javascript:" not in text
            assert " on" not in {word[:3] for word in text.split("<")[0].split('"')}
            assert all("src=" in one for one in text.split("<script")[1:])


@pytest.mark.slow
def test_no_form_puts_what_it_holds_into_the_address(come):
    """But searches of the ledger, data sets to choose from, and formats of downloads."""
    for who, role in (("ann", "analyst"), ("eve", "steward"), ("", "")):
        for _, path in LINKS[role]:
            for form in come(who).see(path).text.split("<form")[1:]:
                head = form.split(">")[0]
                assert 'method="post"' in head or 'action="/' in head, head


def test_pages_are_not_kept_and_have_the_policy(come):
    answer = come("ann").see("/pages/datasets").answer
    assert answer.headers["cache-control"] == "no-store"
    assert "default-src 'none'" in answer.headers["content-security-policy"]


def test_a_form_is_read_in_its_order():
    form = Given([("a", " x "), ("b", ""), ("a", "y"), ("where:s", "1"), ("where:s", "2")])
    assert form.one("a") == "y"
    assert form.one("c", "z") == "z"
    assert form.many("a") == [" x ", "y"]
    assert form.many("b") == []
    assert form.below("where:") == {"s": ["1", "2"]}


def test_a_form_that_is_too_long_is_refused(come):
    ann = come("ann")
    assert ann.client.post("/pages/table/ask", data={"by": "x" * 30_000}).status_code == 413
    assert ann.client.post("/pages/table/ask", json={"by": "sex"}).status_code == 415


def test_what_is_not_there_is_told_by_a_page(come):
    answer = come("aud").client.get("/pages/queue")
    assert answer.status_code == 403
    assert "This is not for you" in answer.text


def test_every_criterion_that_can_be_told_has_words():
    plain = reasons(["something new"])[0].title
    thresholds = {one.name for kind in KINDS.values() for own in kind.thresholds.values() for one in own}
    told = {"interval", "attribution", "dominance", "extremes", "sums", "sap", "noise", "public", "version", "scope",
            "model", "steward", "known", "exception"}  # fmt: skip
    for one in reasons(sorted(told | thresholds)):
        assert one.title != plain, one.name
