"""Everything that sfumato raises on purpose.

::

    SfumatoError               what was wrong, what was given, what is allowed, what to do
    ├── PlanError              a plan that cannot run; holds every problem at once
    ├── DataError              data that a step, a measure or a file format cannot take
    │   ├── EmptyRelease       nothing is left to release: no column, or no record
    │   ├── FileError          a file that cannot be read or written
    │   ├── NotInMemory        rows are asked for as a frame that stay where they are
    │   ├── TooManyGroups      a question whose answer has too many rows to hold
    │   ├── DataStopped        a data set of a gate whose file changed: nothing is told of it
    │   ├── GateStopped        a gate whose store or log is not what it was: nothing is told by it
    │   ├── LimitReached       no more requests, grants or attempts for now
    │   ├── KeyUsed            a request's key that stood with another request
    │   └── NotThere           an id that there is not
    ├── NoEntry                somebody who cannot come in, or may not do this
    ├── FormulaError           a formula or expression outside our grammar
    ├── SecretError            a secret that is missing, too short or unreadable
    ├── ReleaseExists          the release folder is there already
    ├── LimitExceeded          the release breaks a limit of its plan
    └── MissingExtra           an optional package is needed; says the install line

A message may name columns, parameters and thresholds; never values, record ids or counts from the data.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

__all__ = [
    "DataError",
    "DataStopped",
    "EmptyRelease",
    "FileError",
    "FormulaError",
    "GateStopped",
    "KeyUsed",
    "LimitExceeded",
    "LimitReached",
    "MissingExtra",
    "NoEntry",
    "NotInMemory",
    "NotThere",
    "PlanError",
    "Problem",
    "ReleaseExists",
    "SecretError",
    "SfumatoError",
    "TooManyGroups",
]


class SfumatoError(Exception):
    """Any error that sfumato raises on purpose; its text is safe to show and to log."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong in a plan. Its text is one line: where it stands, then the message.

    Parameters
    ----------
    message
        What is wrong and what to do.
    line
        Line of the YAML, from 1, where the plan was read from YAML and the problem has a place in it.
    path
        The keys, and positions from 0, that lead to the place in the plan; empty where it is of the whole plan.
    place
        The same place in words, where the message does not name it itself.

    Examples
    --------
    >>> print(Problem("k must be at least 3", line=12, path=("steps", 2), place="step 3"))
    line 12: step 3: k must be at least 3
    """

    message: str
    line: int | None = None
    path: tuple[str | int, ...] = ()
    place: str = ""

    def __str__(self) -> str:
        line = "" if self.line is None else f"line {self.line}"
        return ": ".join(part for part in (line, self.place, self.message) if part)


class PlanError(SfumatoError):
    """A plan that cannot run.

    Parameters
    ----------
    problems
        Every problem found; a bare sentence is a problem of the whole plan.

    Examples
    --------
    >>> [(problem.line, problem.path) for problem in PlanError([Problem("unknown", 2, ("title",))]).problems]
    [(2, ('title',))]
    """

    def __init__(self, problems: Sequence[Problem | str]) -> None:
        self.problems = tuple(Problem(p) if isinstance(p, str) else p for p in problems)
        head = "1 problem in the plan" if len(self.problems) == 1 else f"{len(self.problems)} problems in the plan"
        super().__init__("\n".join([f"{head}:", *(f"  - {p}" for p in self.problems)]))


class DataError(SfumatoError):
    """Data that a step, a measure or a file format cannot take."""


class EmptyRelease(DataError):
    """Nothing is left to release: the steps left out every column, or every record."""


class FileError(DataError):
    """A file that cannot be read or written."""


class NotInMemory(DataError, AttributeError):
    """Rows are asked for as a frame that stay where they are: an attribute that is not there."""

    def __init__(self) -> None:
        super().__init__(
            "The rows of this table stay where they are, so there is no frame of them. A release is written by .write: "
            'release.write("release/"). Rows that fit into memory are read from a folder with engine="memory".'
        )


class TooManyGroups(DataError):
    """A question whose answer has too many rows to hold.

    Parameters
    ----------
    by
        The columns whose combinations are too many.
    most
        How many may be.
    """

    def __init__(self, by: Sequence[str], most: int) -> None:
        columns = ", ".join(map(repr, by))
        super().__init__(
            f"More than {most:,} groups of {columns}: too many to hold. Take fewer or coarser columns together."
        )
        self.by = tuple(by)


class DataStopped(DataError):
    """A data set of a gate that stands still: its file, or what is said about it, is not what it was."""


class GateStopped(DataError):
    """A gate that stands still: its store or its log is not what it was, or one of them was set back."""


class LimitReached(DataError):
    """Somebody asked for more, or tried more often, than is allowed for now.

    Parameters
    ----------
    message
        What the limit is.
    seconds
        After how long it may be tried again.
    """

    def __init__(self, message: str, seconds: int = 60) -> None:
        super().__init__(message)
        self.seconds = seconds


class KeyUsed(DataError):
    """The key of a request stood with another request."""


class NotThere(DataError):
    """There is nothing of this id, or it is nothing of theirs."""


class NoEntry(SfumatoError):
    """Somebody cannot come in with what they gave, or may not do this with it."""


class FormulaError(SfumatoError):
    """A formula or an expression outside sfumato's own small grammar."""


class SecretError(SfumatoError):
    """A secret that is missing, too short or unreadable."""


class ReleaseExists(SfumatoError):
    """The release folder is there already and `overwrite` was not asked for."""


class LimitExceeded(SfumatoError):
    """The release breaks a limit of its plan, so it was not written."""


class SfumatoWarning(UserWarning):
    """What went otherwise than was wished, and stops nothing; its text is safe to show and to log."""


class PlugInError(SfumatoError):
    """Packages that bring methods or measures contradict each other."""


class MissingExtra(SfumatoError):
    """An optional package is needed for what was asked."""

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(f"{what} needs an optional package. Install it with: pip install 'sfumato[{extra}]'")
