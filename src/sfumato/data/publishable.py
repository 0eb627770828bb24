"""Sentences for the custodian of which it is said, where they are written, that they may leave with a release."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Self

__all__ = ["Publishable", "published"]


class Publishable(str):
    """A sentence that states an assumption or a figure, with what the custodian could do about it.

    It names columns, steps and thresholds that a plan may hold, nothing of what is in the data, and no column by which
    more people would be found. Any other sentence is kept back.

    Parameters
    ----------
    published
        What everybody may read.
    advice
        What only the custodian needs.

    Examples
    --------
    >>> said = Publishable("merge_rare counts records, not people.", "Take a larger min_count.")
    >>> str(said)
    'merge_rare counts records, not people. Take a larger min_count.'
    >>> said.published
    'merge_rare counts records, not people.'
    """

    published: str

    def __new__(cls, published: str, advice: str = "") -> Self:
        """As a text is made."""
        made = super().__new__(cls, f"{published} {advice}" if advice else published)
        made.published = published
        return made


def published(sentences: Iterable[str]) -> tuple[str, ...]:
    """What of some sentences may be published: of those that nobody has thought about, nothing.

    Examples
    --------
    >>> published(["Record 4711 was left out.", Publishable("Classes were sampled.")])
    ('Classes were sampled.',)
    """
    return tuple(said.published for said in sentences if isinstance(said, Publishable))
