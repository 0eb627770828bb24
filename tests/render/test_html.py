"""The page: whole, closed to the network, readable by machines, and free of what must not leave the house."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser
from itertools import pairwise

import pytest

from sfumato.data.disclosure import Disclosure
from sfumato.data.finding import Finding, Findings
from sfumato.render import render
from sfumato.report.external import external
from tests.render import reports

VOID = {"meta", "br"}


class Page(HTMLParser):
    """Reads a page strictly: every tag that opens closes, in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        assert len({name for name, _ in attrs}) == len(attrs), f"{tag} has an attribute twice"
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if "style" not in self.open:
            self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())


@pytest.fixture(scope="module")
def both() -> dict[str, str]:
    report = reports.report()
    return {
        "internal": render(report)["report.html"].decode(),
        "external": render(external(report))["report.html"].decode(),
    }


@pytest.fixture(params=["internal", "external"])
def page(request, both) -> str:
    return both[request.param]


def test_planted_values_stand_in_the_custodians_page(both):
    for planted in (reports.CATEGORY, reports.RECORD, "4815.2", str(reports.COUNT)):
        assert planted in both["internal"]


@pytest.mark.parametrize("planted", reports.PLANTED)
def test_planted_values_do_not_stand_in_the_public_page(both, planted):
    assert planted not in both["external"]


def test_it_is_well_formed(page):
    tags = Page(page).tags
    assert tags[0] == ("html", {"lang": "en-GB"})
    ids = [attrs["id"] for _, attrs in tags if "id" in attrs]
    assert len(ids) == len(set(ids))


def test_what_it_refers_to_is_in_it(page):
    tags = Page(page).tags
    ids = {attrs.get("id") for _, attrs in tags}
    for _, attrs in tags:
        for name in ("aria-labelledby", "href", "clip-path"):
            for wanted in re.findall(r"[\w-]+", (attrs.get(name) or "").replace("url", "").replace("#", " ")):
                assert wanted in ids


def test_headings_descend_by_one(page):
    levels = [int(tag[1]) for tag, _ in Page(page).tags if re.fullmatch(r"h[1-6]", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(b <= a + 1 for a, b in pairwise(levels))


def test_tables_have_captions_and_scopes(page):
    tags = Page(page).tags
    assert sum(tag == "caption" for tag, _ in tags) == sum(tag == "table" for tag, _ in tags) > 10
    assert all(attrs.get("scope") in ("col", "row") for tag, attrs in tags if tag == "th")


def test_every_picture_speaks(page):
    tags = Page(page).tags
    drawings = [attrs for tag, attrs in tags if tag == "svg"]
    assert len(drawings) >= 7
    assert all(attrs["role"] == "img" and attrs["aria-labelledby"] for attrs in drawings)


def test_it_asks_nothing_of_the_network(page):
    assert "http" not in page.replace("http-equiv", "")
    assert not re.search(r"src\s*=|@import|<script|<link|<iframe|<object|\son\w+\s*=", page)
    assert all(reference.startswith("#") for reference in re.findall(r"url\(\s*['\"]?(.)", page))
    assert all(attrs["href"].startswith("#") for _, attrs in Page(page).tags if "href" in attrs)
    policy = next(a["content"] for t, a in Page(page).tags if a.get("http-equiv") == "Content-Security-Policy")
    assert policy == "default-src 'none'; style-src 'unsafe-inline'; img-src data:"


def test_the_custodians_page_says_so_first(both):
    assert Page(both["internal"]).text.count("INTERNAL – confidential, do not pass on") == 1
    assert "<title>INTERNAL – Wards &amp; &lt;fares&gt;" in both["internal"]
    assert "INTERNAL" not in both["external"]
    assert "confidential" not in Page(both["external"]).text


def test_sections_stand_in_order(page):
    """Advice is the custodian's."""
    text = Page(page).text
    internal = "INTERNAL" in text
    wanted = [
        "limits are exceeded",
        "What was done",
        "The risk in one paragraph",
        "What was lost in one paragraph",
        *(["What to try For whoever"] if internal else []),
        "Pictures Before",
        "All figures",
        "What analysts must know",
        "How it was made",
        "What is and is not promised",
    ]
    places = [text.rindex(heading) for heading in wanted]
    assert places == sorted(places)
    assert ("What to try" in text) == internal


def test_every_figure_stands_in_the_custodians_page(both):
    text = Page(both["internal"]).text
    for shown in ("4.26%", "0.898%", "26%", "24.1% to 31%", "0.167", "1.25", "w1 = 0.01", "0.3098"):
        assert shown in text


def test_changes_are_explained_in_the_public_page(both):
    text = Page(both["external"]).text
    assert "the change from the original to the release, in standard deviations of the original column" in text
    assert "−0.09 sd" in text
    assert "at least 20000" in text


def test_data_cannot_break_out(both):
    report = replace(
        reports.report(),
        title="<script>alert(1)</script>",
        findings=Findings((Finding("class_size", group="w=</td><img src=x onerror=y>", value=3),)),
        warnings=("<b>bold</b>",),
        pictures=(),
    )
    tags = {tag for tag, _ in Page(render(report)["report.html"].decode()).tags}
    assert not tags & {"script", "img", "b"}


@pytest.mark.parametrize(
    ("lines", "headline"),
    [
        ((), "No limits were set"),
        ((Finding("risk1", value=0.1, limit=0.2, ok=True),), "The limit holds"),
        (
            (
                Finding("risk1", value=0.1, limit=0.2, ok=True),
                Finding("delta", variable="a", value=0.1, limit=0.2, ok=True),
                Finding("delta", variable="b", value=0.15, limit=0.2, ok=True),
            ),
            "Both limits hold",
        ),
        (
            (
                Finding("delta", variable="a", value=0.1, limit=0.2, ok=True),
                Finding("delta", variable="b", value=0.3, limit=0.2, ok=False),
            ),
            "A limit is exceeded",
        ),
        ((Finding("h_rank", at=2.5, limit=0.2, ok=False),), "A limit could not be measured"),
        (
            (
                Finding("h_rank", at=2.5, limit=0.2, ok=False),
                Finding("delta", variable="b", value=0.3, limit=0.2, ok=False),
            ),
            "2 limits do not hold, 1 of them for want of a figure",
        ),
    ],
)
def test_verdicts(lines, headline):
    report = replace(reports.report(), findings=Findings(lines), pictures=(), steps=(), disclosure=Disclosure())
    text = Page(render(report)["report.html"].decode()).text
    assert headline in text
    if len(lines) > 1:
        assert "at most 0.2" in text


def test_a_release_that_was_forced_says_so():
    report = external(replace(reports.report(), pictures=()))
    assert "released all the same" in Page(render(report)["report.html"].decode()).text


def test_many_groups_are_folded_to_the_worst():
    lines = tuple(Finding("class_size", group=f"g={i}", value=float(i)) for i in range(1, 201))
    text = Page(render(replace(reports.report(), findings=Findings(lines), pictures=()))["report.html"].decode()).text
    assert "160 more groups are less extreme" in text
    assert "g=1 " in text
    assert "g=41 " not in text


@pytest.mark.slow
def test_equal_reports_give_equal_bytes(both):
    assert render(reports.report())["report.html"].decode() == both["internal"]
