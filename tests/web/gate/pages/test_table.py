"""The page that asks for tables."""

import re

import pytest

from sfumato.gate.policy import Policy

ASK, PREVIEW, PARTS = "/pages/table/ask", "/pages/table/preview", "/pages/table/parts"


def test_the_form_is_made_of_the_codebook(come):
    page = come("ann").see("/pages/table")
    assert page.heading == "Request a table"
    assert 'value="region@area"' in page.text
    assert 'value="name"' not in page.text  # an identifier
    assert "Ask" in page.words


def test_a_preview_shows_no_figure(come):
    page = come("ann").send(PREVIEW, dataset="ward", by=["sex", "region@area"])
    assert "4 lines" in page.words
    assert page.words.count("?") == 4
    assert not re.search(r"\b(150|100|50)\b", page.words)  # how many there are


def test_a_preview_knows_own_releases_and_nobody_elses(come):
    ann, bob = come("ann"), come("bob")
    assert "Granted" in ann.send(ASK, dataset="ward", by="sex").words
    page = ann.send(PREVIEW, dataset="ward", by="sex")
    assert "You were given this already" in page.words
    assert page.words.count("150") == 2  # from the release
    other = bob.send(PREVIEW, dataset="ward", by="sex").words
    assert "You were given this already" not in other
    assert "150" not in other


def test_looking_writes_nothing(come, world):
    before, ann = world.gate.head(), come("ann")
    ann.send(PREVIEW, dataset="ward", by="sex")
    ann.send(PARTS, dataset="ward", by="sex")
    assert world.gate.head() == before


def test_parts_keep_what_was_ticked(come):
    page = come("ann").send(
        PARTS, dataset="ward", by=["sex", "region"], had="sex", more={"where:sex": "f", "all:sex": "2"}
    )
    ticked = dict(re.findall(r'name="where:\w+" value="(\w+)"( checked)?', page.text))
    assert ticked == {"f": " checked", "m": "", "Bath": " checked", "Leeds": " checked", "York": " checked"}


def test_a_table_is_given_with_its_papers(come, world):
    page = come("ann").send(ASK, dataset="ward", by="sex")
    seq, digest = world.gate.releases("ann")[0].ledger
    assert "Download CSV" in page.words
    assert f"entry {seq}" in page.words
    assert digest in page.text
    assert "150" in page.words


def test_a_part_is_shown_and_the_whole_decided(come, world):
    more = {"where:sex": "f", "all:sex": "2"}
    page = come("ann").send(ASK, dataset="ward", by="sex", had="sex", more=more)
    assert "Granted" in page.words
    [release] = world.gate.releases("ann")
    assert release.rows == [["f", 150]]
    assert release.content["where"] == {"sex": ["f"]}
    assert world.gate.entries()[-1].body["margin"]["by"] == [["sex", ""]]


def test_a_sum_and_a_mean_are_given(come, world):
    page = come("ann").send(ASK, dataset="ward", by="sex", value="mean", number="cost")
    assert "mean" in page.words
    assert world.gate.releases("ann")[0].columns == ["sex", "count", "n", "sum", "mean"]


def test_a_table_is_weighted_where_there_are_weights(come, world):
    ann = come("ann")
    assert 'aria-label="Weighted by"' in ann.see("/pages/table").text
    assert "weighted" in ann.send(PREVIEW, dataset="ward", by="sex", weight="w").words
    ann.send(ASK, dataset="ward", by="region@area", weight="w")
    for release in world.gate.releases("ann"):
        assert release.columns == ["region@area", "count", "weighted"]


def test_a_refusal_is_told_in_words_and_offers_are_buttons(come, world):
    world.gate.set_policy("research", Policy(interval={"count": 20, "width": 50}))
    page = come("ann").send(ASK, dataset="ward", by=["hiv", "region"])
    assert "Refused" in page.words
    assert "Small groups would be known too closely" in page.words
    fields = re.search(r'<form method="post" hx-post="(/pages/[a-z]+/ask)".*?</form>', page.text, re.DOTALL)
    sent = re.findall(r'name="([^"]+)" value="([^"]*)"', fields[0])
    assert "Granted" in come("ann").send(fields[1], **_grouped(sent)).words


def _grouped(pairs):
    out = {}
    for name, value in pairs:
        out.setdefault(name, []).append(value)
    return out


def test_groups_of_a_variable_that_was_taken_away_meanwhile_restrict_nothing(come, world):
    more = {"where:region": "Bath", "all:region": "3"}
    come("ann").send(ASK, dataset="ward", by="sex", had="region", more=more)
    assert world.gate.releases("ann")[0].content["where"] == {}


def test_a_variable_that_is_not_shown_may_restrict(come, world):
    more = {"where:region@area": "South", "all:region@area": "2"}
    come("ann").send(ASK, dataset="ward", by="sex", within="region@area", had="region@area", more=more)
    assert world.gate.releases("ann")[0].rows == [["f", 50], ["m", 50]]
    assert world.gate.entries()[-1].body["margin"]["by"] == [["region", "area"], ["sex", ""]]


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"by": "nothing"}, "There is no variable"),
        ({"by": "cost"}, "cost"),
        ({"by": "sex", "had": "sex"}, "Choose at least one group"),
        ({"by": "sex", "value": "sum"}, "Say of which variable"),
        ({"by": "sex", "version": "v9"}, "v9"),
    ],
)
def test_what_is_wrong_is_told_with_status_200(come, fields, words):
    page = come("ann").send(ASK, dataset="ward", **fields)
    assert 'role="alert"' in page.text
    assert words in page.words


def test_what_is_sent_is_escaped(come):
    page = come("ann").send(ASK, dataset="ward", by="<script>alert(1)</script>")
    assert "<script>" not in page.text


def test_changes_need_the_header(come):
    ann = come("ann")
    del ann.client.headers["X-Sfumato"]
    assert ann.client.post(ASK, data={"dataset": "ward", "by": "sex"}).status_code == 403


def test_what_is_left_is_seen_before_and_after(world, come):
    world.gate.set_policy(
        "research", Policy(interval={"count": 2, "width": 4}, perturbed={"variance": 4}, requests_per_day=5)
    )
    ann = come("ann")
    before = ann.see("/pages/table").words
    assert "0.00 of 1" in before
    assert "4 more; the next one uses 0.50" in before
    assert "5 left" in before
    after = ann.send(ASK, dataset="ward", by="sex", perturbed="yes")
    assert 'id="budget" hx-swap-oob' in after.text
    assert "0.50 of 1" in after.words
    assert "4 left" in after.words
    bob = come("bob").see("/pages/analysis").words  # of the same organisation
    assert "0.50 of 1" in bob
    assert "others may pass on to you" in bob
    assert "ann" not in re.findall(r"\w+", bob)
