"""Drafts as `init` makes them, for tests."""

from __future__ import annotations

import polars as pl

from sfumato.data.codebook import Codebook
from sfumato.data.profile import profile
from sfumato.plan.drafted import DraftedPlan
from sfumato.plan.wishes import Wishes
from sfumato.tuning.drafts import draft_for

NO_BOOK, NO_WISHES = Codebook(), Wishes()


def drafted(
    frame: pl.DataFrame, book: Codebook = NO_BOOK, title: str = "A title: with a colon", wishes: Wishes = NO_WISHES
) -> DraftedPlan:
    """The draft of a table."""
    return draft_for(frame, book, profile(frame, book), title, wishes)[0]
