"""The front door of drafts: wishes where there are some, else as it was."""

from __future__ import annotations

import polars as pl
import pytest

from sfumato.data.codebook import Codebook
from sfumato.data.profile import profile
from sfumato.errors import DataError
from sfumato.plan.draft import draft_plan
from sfumato.plan.drafts import draft_for
from sfumato.plan.wishes import Wishes

FRAME = pl.DataFrame({"pid": range(100), "sex": ["f", "m"] * 50, "pay": [20 + i / 7 for i in range(100)]})
GUESSES = profile(FRAME, Codebook())


def test_without_wishes_it_is_the_draft_of_what_is_guessed():
    assert draft_for(FRAME, GUESSES, "people") == (draft_plan(FRAME, GUESSES, "people"), GUESSES, None)


def test_roles_that_are_named_stand_in_the_draft():
    text, guesses, drafted = draft_for(FRAME, GUESSES, "people", Wishes(outcome=("pay",)))
    assert [str(g.variable.role) for g in guesses] == ["record", "key", "outcome"]
    assert "centroids" not in text
    assert drafted is None


@pytest.mark.parametrize("column", ["sex", "pay"])
def test_what_is_no_id_is_not_taken_for_one(column):
    with pytest.raises(DataError, match="no id of the records"):
        draft_for(FRAME, GUESSES, "people", Wishes(record=column))


def test_where_keys_are_named_it_is_told_what_the_draft_does():
    text, _, drafted = draft_for(FRAME, GUESSES, "people", Wishes(keys=("sex",)))
    assert drafted.text == text
    assert (drafted.known, drafted.unknown, drafted.open) == (("sex",), ("pay",), True)
