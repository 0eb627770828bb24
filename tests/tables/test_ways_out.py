"""What is said of a table that does not hold."""

from dataclasses import replace

import polars as pl
import pytest

from sfumato.tables.audit.levels import Levels
from sfumato.tables.protect import protect
from sfumato.tables.table import Table

ROWS = pl.DataFrame({"sex": ["Total", "f", "m"], "count": [9, 8, 1]})


@pytest.fixture(scope="module")
def done():
    return protect(Table.of(ROWS), "n(3)")


def said(done, **audit):
    return " ".join(replace(done, audit=replace(done.audit, **audit)).ways_out)


def test_a_table_that_holds_needs_no_way_out(done):
    assert done.ok
    assert done.ways_out == ()


def test_what_is_wrong_comes_first_and_more_work_only_where_it_may_help(done):
    told = said(done, exact=1)
    assert told.startswith("1 unsafe cell can be worked out exactly.")
    assert "--work" not in told
    unproved = replace(done, levels=Levels(4, 3, 0, 1), audit=replace(done.audit, levels=Levels(4, 3, 0, 1)))
    assert not unproved.ok
    first, second, *_ = unproved.ways_out
    assert first == "Of 4 goals 1 could not be proved within the work allowed."
    assert second.startswith("--work 4")


def test_a_search_that_ended_too_early_may_go_on(done):
    ended = replace(done, suppression=replace(done.suppression, enough=False), audit=replace(done.audit, exact=1))
    assert any(way.startswith("--work 4") for way in ended.ways_out)


def test_levels_can_be_given_up_for_sums_alone(done):
    short = {"levels": Levels(4, 3, 1, 0), "audit": replace(done.audit, levels=Levels(4, 3, 1, 0))}
    sums = replace(done, reader=replace(done.reader, whole=False), **short)
    assert any("--protect exact" in way for way in sums.ways_out)
    assert not any(
        "--protect exact" in way for way in replace(done, **short).ways_out
    )  # a count has no level to give up


def test_without_levels_the_equations_decide_of_sums_but_not_of_counts(done):
    unproved = {"levels": None, "audit": replace(done.audit, levels=Levels(4, 3, 0, 1))}
    assert replace(done, reader=replace(done.reader, whole=False), **unproved).ok
    counts = replace(done, **unproved)
    assert not counts.ok
    assert counts.ways_out[0].startswith("Of 4 goals 1 could not be proved")


def test_sums_and_contributors_are_named_where_the_reader_may_be_one(done):
    inside = replace(
        done,
        reader=replace(done.reader, contributor=True),
        unions={"judged": 3, "unsafe": 2, "left": 0},
        audit=replace(done.audit, insider=1, contributor=True),
    )
    told = " ".join(inside.ways_out)
    assert "2 sums of hidden cells" in told
    assert "works out 1 unsafe cell exactly" in told
    assert replace(inside, reader=done.reader, audit=done.audit).ok  # an outsider's report prevents nothing


def test_two_letters_may_be_one_too_many(done):
    letters = replace(done, reader=replace(done.reader, letters=True), audit=replace(done.audit, exact=1))
    assert any("--tell-unsafe" in way for way in letters.ways_out)
