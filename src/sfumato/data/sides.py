"""Both sides of a run's records, what they were and what is released of them, as measures ask for them."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

import polars as pl

from sfumato.data.codebook import Codebook
from sfumato.data.dataset import Parted

__all__ = ["Rows", "Sides"]

T = TypeVar("T")


@dataclass(frozen=True)
class Rows:
    """Rows of a run that are in memory, each table in the order of the run's own numbers (`sfumato.data.hidden.ROW`).

    Parameters
    ----------
    given, before, after
        The table before anything in it was coarsened or masked; as it entered the first step that masks; the result.
    views
        What an attacker could compute of the result, by name.
    entering
        The same records as they were read; None where these cannot be told.
    gaps
        The result with all that travels with it in hidden columns; None where it is not of these records alone.
    """

    given: pl.DataFrame
    before: pl.DataFrame
    after: pl.DataFrame
    views: Mapping[str, pl.DataFrame] = field(default_factory=dict)
    entering: pl.DataFrame | None = None
    gaps: pl.DataFrame | None = None


class Sides(Protocol):
    """The records of a run before and after it, where a pass over them is costly.

    `after` holds true values beside released ones: `true` and `rebuilt` name the columns.
    """

    @property
    def entering(self) -> Parted:
        """The table as it was read."""
        ...

    @property
    def before(self) -> Parted:
        """The table as it entered the first step that masks."""
        ...

    @property
    def after(self) -> Parted:
        """The result, with what its records were."""
        ...

    @property
    def codebook(self) -> Codebook:
        """What is known of the columns before and after."""
        ...

    @property
    def record(self) -> str | None:
        """The column of `after` that holds the id which a record had before it was masked."""
        ...

    @property
    def number(self) -> int:
        """Which of `copies` this is."""
        ...

    def copies(self) -> Sequence[Sides]:
        """As if each synthetic copy were the result; itself where there is one. Copies know one another."""
        ...

    def once(self, what: Hashable, make: Callable[[], T]) -> T:
        """What is worked out of these records, worked out once, for all copies.

        Parameters
        ----------
        what
            Its name, with everything that it depends on beside these records.
        make
            Works it out.
        """
        ...

    def true(self, name: str) -> str:
        """The column of `after` that holds what `name` was."""
        ...

    def rebuilt(self, name: str) -> str:
        """The column of `after` that holds what an attacker could rebuild of `name`; itself where there is nothing."""
        ...

    def whole(self) -> Rows | None:
        """All records; None where these cannot be told by their ids."""
        ...

    def sample(self, most: int) -> Rows | None:
        """So many records, chosen by a public rule; None where they cannot be told by their ids."""
        ...

    def strata(self, by: Sequence[str], most: int) -> Rows | None:
        """Whole strata of together at most so many records; None where there are none, or as in `sample`.

        Raises
        ------
        TooManyGroups
            Where there are more strata than can be held.
        """
        ...
