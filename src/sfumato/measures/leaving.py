"""A release beside the same one without one person: what measures of the next release look at."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import polars as pl

from sfumato.data.codebook import Codebook
from sfumato.data.disclosure import Disclosure

__all__ = ["Leaving"]


@dataclass(frozen=True)
class Leaving:
    """What steps made of all records, and of all but those of one person.

    Parameters
    ----------
    attack
        Who left: `random`, anybody; `extreme`, whoever is farthest from the others in what is masked.
    true, then, now
        True values as they entered the first step that changes them, and the releases with the person and without, row
        by row: gaps in `now` are those of the person, and of others whom steps left out.
    gone : pl.Series, shape (n,)
        Whose records they are.
    codebook
        Of the columns: those that steps changed.
    told
        What both releases tell, the newer one last.
    """

    attack: Literal["random", "extreme"]
    true: pl.DataFrame = field(repr=False)
    then: pl.DataFrame = field(repr=False)
    now: pl.DataFrame = field(repr=False)
    gone: pl.Series = field(repr=False)
    codebook: Codebook
    told: tuple[Disclosure, Disclosure]
