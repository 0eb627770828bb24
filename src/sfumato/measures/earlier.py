"""An earlier release of the same people, with what was true when it was made."""

from __future__ import annotations

from dataclasses import dataclass, field

import polars as pl

from sfumato.data.codebook import Codebook
from sfumato.data.disclosure import Disclosure

__all__ = ["MOST_EARLIER", "Earlier"]

MOST_EARLIER = 20
"""Most earlier releases that one is compared with."""


@dataclass(frozen=True)
class Earlier:
    """An earlier release of the same people.

    Parameters
    ----------
    table
        The release's table.
    truth
        True values of its people, under the same names.
    disclosure
        What it tells.
    codebook
        What is known about its variables.
    """

    table: pl.DataFrame = field(repr=False)
    truth: pl.DataFrame = field(repr=False)
    disclosure: Disclosure = field(default_factory=Disclosure)
    codebook: Codebook = field(default_factory=Codebook)
