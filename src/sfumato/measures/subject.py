"""What measures look at: the released table, what it was, and what is known of both."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl

from sfumato.data.codebook import Codebook
from sfumato.data.dataset import Dataset, rows
from sfumato.data.disclosure import Disclosure
from sfumato.data.pair import Pair
from sfumato.data.remembered import Remembered
from sfumato.data.roles import Role
from sfumato.data.sides import Sides
from sfumato.data.suppression import Emptied, Suppression
from sfumato.data.traces import Traces, keys_of
from sfumato.errors import DataError
from sfumato.measures.copies import Copies
from sfumato.measures.earlier import Earlier
from sfumato.measures.known import Known
from sfumato.measures.leaving import Leaving
from sfumato.measures.measuring import Measuring
from sfumato.progress import Progress, quiet

__all__ = [
    "EVERYTHING",
    "KEYS",
    "KEYS_AND_OTHERS",
    "RELEASED",
    "STRATA",
    "WIDE",
    "Classes",
    "Outsider",
    "Subject",
    "weight_of",
]

KEYS, STRATA = "keys", "strata"
"""Groups of class measures: over all released keys that no step masks, and over the strata of masking steps."""
RELEASED, EVERYTHING = "released", "everything"
"""And over every released column that leaves as it was, but for what the plan says is unknown; and over that too."""
WIDE = frozenset({RELEASED, EVERYTHING})
"""Groups of so many columns that single classes are not told of: nearly each would be one person."""
KEYS_AND_OTHERS = "keys and others"
"""Group of measures of one sensitive variable: over the keys and all other sensitive variables."""


def weight_of(codebook: Codebook) -> str | None:
    """The column of sampling weights, where there is one that holds numbers.

    Examples
    --------
    >>> from sfumato.data.codebook import Variable
    >>> weight_of(Codebook({"w": Variable(role="weight", kind="continuous")}))
    'w'
    """
    name = codebook.the(Role.WEIGHT)
    return name if name is not None and codebook[name].numeric else None


@dataclass(frozen=True)
class Classes:
    """Columns whose combinations are classes of people alike.

    Parameters
    ----------
    group
        `keys`, `strata`, `released` or `everything`: the `group` of the findings.
    by
        The columns.
    """

    group: str
    by: tuple[str, ...]


@dataclass(frozen=True)
class Outsider:
    """Somebody who knows of a person all that is released and not said to be unknown.

    Parameters
    ----------
    group
        `released` or `everything`: the `group` of the findings.
    by
        Columns that leave as they were, which he looks up.
    masked
        Columns that were masked, whose true values he knows.
    """

    group: str
    by: tuple[str, ...]
    masked: tuple[str, ...]


@dataclass(frozen=True)
class Subject:
    """A released table with all that measures of it may need; what a measure does not need may be missing.

    Parameters
    ----------
    after
        The released table, or the one table that there is.
    given
        The table before anything in it was coarsened or masked: the baseline of class measures.
    before
        The table as it entered the first step that masks: what `after` is compared with as a whole.
    pair
        `before` and `after` side by side, for measures of records.
    classes
        Which columns make classes. Where two groups have the same columns, single classes are told once.
    sensitive
        Released categories that nobody must learn.
    guessed
        The same, also where classes are not looked at.
    disclosure
        What the release tells, and attackers therefore know.
    traces
        What the plan that made the release did to columns.
    sides
        All records before and after, where there are too many to be held; `pair` is then a sample of them, or missing.
    how
        How things are measured.
    unscaled : ndarray, shape (n, p), optional
        What an attacker could rebuild of the pair's columns.
    donors
        Whose values the pair's released records bear, where these were drawn within groups: words for records, first
        the record's own, then by the first column of each set that moved as one.
    suppression
        How many records and cells steps took out; None where no steps are known.
    emptied
        Keys that steps took single values out of, before and after, of each such step.
    earlier
        Earlier releases of the same people, newest first.
    truth
        True values of the people in `after`, where there are earlier releases.
    intruder
        What intruders know of people, beside what was released of them.
    rehearsal
        The same of a release that was tried on half of the people, with the others as control.
    copies
        All synthetic copies of the release, of which `after` is one; None where nothing is synthetic.
    asked
        Names of figures that somebody asked for; of measures that are not always worth their time, only these run.
    knowing
        Outsiders who know all that leaves, and true values of what was masked.
    entering
        The table as it was read, with what steps left out of it before `given`.
    result
        The released records as measures of what was lost ask them: with all columns, hidden ones among them; None where
        `after` is that.
    leaving
        The release beside the same one without one person, where the steps were run again for it.
    noted
        Whether `result` holds what was noted of its gaps (`sfumato.data.hidden.GAP`): a column without is as it was.
    progress
        What a measure of several long parts tells before each of them.
    """

    after: Dataset
    given: Dataset | None = None
    before: Dataset | None = None
    pair: Pair | None = None
    classes: tuple[Classes, ...] = ()
    sensitive: tuple[str, ...] = ()
    guessed: tuple[str, ...] = ()
    disclosure: Disclosure = field(default_factory=Disclosure)
    traces: Traces = field(default_factory=Traces)
    sides: Sides | None = field(default=None, repr=False)
    how: Measuring = field(default_factory=Measuring)
    unscaled: np.ndarray[Any, Any] | None = field(default=None, repr=False)
    donors: pl.DataFrame | None = field(default=None, repr=False)
    suppression: Suppression | None = field(default=None, repr=False)
    emptied: tuple[Emptied, ...] = field(default=(), repr=False)
    earlier: tuple[Earlier, ...] = field(default=(), repr=False)
    truth: pl.DataFrame | None = field(default=None, repr=False)
    intruder: Known | None = field(default=None, repr=False)
    rehearsal: Known | None = field(default=None, repr=False)
    copies: Copies | None = field(default=None, repr=False)
    asked: frozenset[str] = frozenset()
    knowing: tuple[Outsider, ...] = ()
    entering: Dataset | None = field(default=None, repr=False)
    result: Dataset | None = field(default=None, repr=False)
    leaving: tuple[Leaving, ...] = field(default=(), repr=False)
    noted: bool = False
    progress: Progress = field(default=quiet, repr=False, compare=False)

    def __post_init__(self) -> None:
        for name in ("after", "given", "before"):
            data = getattr(self, name)
            if data is not None and not isinstance(data, Remembered):
                few = (c for c in self.classes if c.group not in WIDE)  # combinations of all columns are too many
                together = dict.fromkeys(n for c in few for n in c.by) | dict.fromkeys(self.sensitive)
                together |= dict.fromkeys(data.codebook.with_role(Role.PERSON))
                there = tuple(n for n in together if n in data.codebook) if self.classes else ()
                object.__setattr__(self, name, Remembered(data, there, weight_of(data.codebook)))

    @property
    def two(self) -> Pair:
        """The pair, for measures that need one.

        Raises
        ------
        DataError
            Where there is none.
        """
        if self.pair is None:
            raise DataError("This measure compares two tables: give the original and the protected one.")
        return self.pair

    @property
    def read(self) -> Dataset:
        """The table as it was read, for measures that need it.

        Raises
        ------
        DataError
            Where nobody gave it.
        """
        if self.entering is None:
            raise DataError("This measure needs the table as it was read.")
        return self.entering

    @property
    def everybody(self) -> Sides:
        """All records, for what is told of all where there are too many to be held.

        Raises
        ------
        TypeError
            Where they are in memory.
        """
        if self.sides is None:
            raise TypeError("these records are in memory")
        return self.sides

    @property
    def released(self) -> pl.DataFrame:
        """The rows of the released table, for measures of records."""
        return rows(self.after.data if isinstance(self.after, Remembered) else self.after)

    @property
    def provides(self) -> frozenset[str]:
        """Which of the needs of measures are met, see `sfumato.measures.measure.Need`."""
        groups = {c.group for c in self.classes}
        has = {
            "table": True,
            "pair": self.pair is not None or self.sides is not None,
            "input": self.entering is not None,
            "columns": self._of_all or (self.pair is not None and bool(self.pair.columns)),
            KEYS: KEYS in groups,
            STRATA: bool(groups & {STRATA, *WIDE}),
            "sensitive": bool(self.sensitive),
            "disclosure": True,  # an empty one says that nothing is disclosed
            "suppression": self.suppression is not None,
            "cells": bool(self.emptied),
            "model": self.how.model is not None,
            "earlier": bool(self.earlier) and self.truth is not None,
            "intruder": self.intruder is not None or (self._of_all and self._knows),
            "control": self.outsiders is not None,
            "guesses": self._guessing,
            "outsider": bool(self.knowing),
            "leaving": bool(self.leaving),
        }
        return frozenset(name for name, there in has.items() if there)

    @property
    def _of_all(self) -> bool:
        """Whether it is told of all records, and none of them is here."""
        return self.sides is not None and self.pair is None

    @property
    def _knows(self) -> bool:
        return bool(keys_of(self.traces, self.after.codebook) or self.traces.known)

    @property
    def _guessing(self) -> bool:
        """Whether there is something to be guessed, and something to hold guesses against."""
        beside_others = self.outsiders is not None and bool(self.sensitive)
        return beside_others or (self.donors is not None and bool(self.guessed))

    @property
    def outsiders(self) -> Known | None:
        """What is known of people of whom some are not in the release, where there are such people."""
        with_control = (k for k in (self.intruder, self.rehearsal) if k is not None and k.control is not None)
        return next(with_control, None)

    def of_sensitive(self) -> Iterable[tuple[Classes, str]]:
        """Each group of classes with each sensitive variable that is not among its columns."""
        return ((classes, name) for classes in self.classes for name in self.sensitive if name not in classes.by)

    def of_sensitive_together(self) -> Iterable[tuple[Classes, str]]:
        """As `of_sensitive`; then each of several sensitive variables with the classes of keys and the others of them.

        Only where `Measuring.together` says so: a limit on a measure binds all its lines.
        """
        yield from self.of_sensitive()
        keys = next((c.by for c in self.classes if c.group == KEYS), ())
        free = [n for n in self.sensitive if n not in keys]
        if self.how.together and keys and len(free) > 1:
            for name in free:
                yield Classes(KEYS_AND_OTHERS, (*keys, *(n for n in free if n != name))), name

    def each_once(self) -> Iterable[tuple[Classes, bool]]:
        """Each group of classes, and whether its single classes are not to be told of, or were by an earlier one."""
        told: set[frozenset[str]] = set()
        for classes in self.classes:
            yield classes, classes.group in WIDE or frozenset(classes.by) in told
            told.add(frozenset(classes.by))
