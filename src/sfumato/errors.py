"""Everything that sfumato raises on purpose.

::

    SfumatoError               what was wrong, what was given, what is allowed, what to do
    ├── PlanError              a plan that cannot run; holds every problem at once
    ├── DataError              data that a step, a measure or a file format cannot take
    │   └── FileError          a file that cannot be read or written
    ├── FormulaError           a formula or expression outside our grammar
    ├── SecretError            a secret that is missing, too short or unreadable
    ├── ReleaseExists          the release folder is there already
    ├── LimitExceeded          the release breaks a limit of its plan
    └── MissingExtra           an optional package is needed; says the install line

A message may name columns, parameters and thresholds; never values, record ids or counts from the data.
"""

from __future__ import annotations

from collections.abc import Sequence

__all__ = [
    "DataError",
    "FileError",
    "FormulaError",
    "LimitExceeded",
    "MissingExtra",
    "PlanError",
    "ReleaseExists",
    "SecretError",
    "SfumatoError",
]


class SfumatoError(Exception):
    """Any error that sfumato raises on purpose; its text is safe to show and to log."""


class PlanError(SfumatoError):
    """A plan that cannot run.

    Parameters
    ----------
    problems
        Every problem found, each one sentence, with its line in the YAML where there is one.
    """

    def __init__(self, problems: Sequence[str]) -> None:
        self.problems = tuple(problems)
        head = "1 problem in the plan" if len(self.problems) == 1 else f"{len(self.problems)} problems in the plan"
        super().__init__("\n".join([f"{head}:", *(f"  - {p}" for p in self.problems)]))


class DataError(SfumatoError):
    """Data that a step, a measure or a file format cannot take."""


class FileError(DataError):
    """A file that cannot be read or written."""


class FormulaError(SfumatoError):
    """A formula or an expression outside sfumato's own small grammar."""


class SecretError(SfumatoError):
    """A secret that is missing, too short or unreadable."""


class ReleaseExists(SfumatoError):
    """The release folder is there already and `overwrite` was not asked for."""


class LimitExceeded(SfumatoError):
    """The release breaks a limit of its plan, so it was not written."""


class MissingExtra(SfumatoError):
    """An optional package is needed for what was asked."""

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(f"{what} needs an optional package. Install it with: pip install 'sfumato[{extra}]'")
