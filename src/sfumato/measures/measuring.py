"""How things are measured, where measures leave a choice."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import get_args

from sfumato.errors import DataError
from sfumato.kernels.classes.log_linear import Model
from sfumato.kernels.classes.special_uniques import Score
from sfumato.kernels.glm import Family
from sfumato.measures.attacking import Attacking
from sfumato.measures.intruding import Intruding

__all__ = ["CATEGORY", "MOST", "PEOPLE", "WILDCARD", "Measuring", "Searching", "wildcard"]

CATEGORY, WILDCARD = "category", "wildcard"
"""What a missing key may be."""
MOST = 50_000
"""Most records that are looked at one by one: a table of so many is measured as one in memory is."""
PEOPLE = 10_000
"""Most people who are looked for among all records."""
_ALPHA = re.compile(rf"{WILDCARD}:(\d+(?:\.\d*)?|\.\d+)")


@dataclass(frozen=True)
class Searching:
    """How special uniques are searched, see `sfumato.measures.risk.special_uniques`.

    Parameters
    ----------
    max_size
        Most keys of a set; None: all.
    score
        How a set counts, `factorial` or `shares`.

    Raises
    ------
    DataError
        For another score, or a size below 1.

    Examples
    --------
    >>> Searching(max_size=3).score
    'factorial'
    """

    max_size: int | None = None
    score: Score = "factorial"

    def __post_init__(self) -> None:
        if self.score not in get_args(Score):
            raise DataError("score takes factorial or shares.")
        if self.max_size is not None and not (isinstance(self.max_size, int) and self.max_size >= 1):
            raise DataError("max_size is the most keys of a set: a whole number, at least 1.")


@dataclass(frozen=True)
class Measuring:
    """How things are measured.

    Parameters
    ----------
    w1, w2
        Widths of the robust Mahalanobis risk.
    interval
        Half-width of interval disclosure, in sd of the masked column.
    model, family
        The user's model, for utility: a formula, and `linear`, `logistic` or `probit`.
    usual
        Whether the model is the default one, where nobody named any.
    attacking
        Which attackers the h-rank is of; None measures it, with the default ones, only where noise is disclosed.
    missing
        What a missing value of a key is in class sizes: `category`, a value of its own; `wildcard`, one that agrees
        with all others; `wildcard:ALPHA`, one whose record counts as ALPHA where it agrees with another's known values.
    fraction
        Share of the population that the file holds, for estimates of the population.
    intruding
        Which intruders attack who know keys; None: none, unless somebody asks for their figures.
    together
        Whether each of several sensitive variables is measured within classes of the keys and the others, too.
    special
        How special uniques are searched; None: not, unless somebody asks for them by name.
    log_linear
        Model from which uniques of the population are estimated, with `fraction`; None: none is.
    most
        Most records that are looked at one by one, where rows are not in memory.
    people
        Most people who are looked for among all records there.

    Raises
    ------
    DataError
        Where `missing` or `log_linear` has another form, or `fraction` is not above 0 and at most 1.

    Examples
    --------
    >>> Measuring(model="asthma ~ bmi", family="logistic").w1
    0.01
    """

    w1: float = 0.01
    w2: float = 0.05
    interval: float = 0.05
    model: str | None = None
    family: Family | None = None
    usual: bool = False
    attacking: Attacking | None = None
    missing: str = CATEGORY
    fraction: float | None = None
    intruding: Intruding | None = None
    together: bool = False
    special: Searching | None = None
    log_linear: Model | None = None
    most: int = MOST
    people: int = PEOPLE

    def __post_init__(self) -> None:
        wildcard(self.missing)
        if self.fraction is not None and not 0 < self.fraction <= 1:
            raise DataError("fraction is the share of the population that the file holds: above 0 and at most 1.")
        if self.log_linear is not None and self.log_linear not in get_args(Model):
            raise DataError("log_linear takes auto, main or two-way.")


def wildcard(missing: str) -> float | None:
    """How much a record with missing keys counts for those that agree with it; None where missing is a category.

    Raises
    ------
    DataError
        Where the rule has another form.

    Examples
    --------
    >>> wildcard("category"), wildcard("wildcard"), wildcard("wildcard:0.5")
    (None, 1.0, 0.5)
    """
    if missing == CATEGORY:
        return None
    if missing == WILDCARD:
        return 1.0
    found = _ALPHA.fullmatch(missing)
    if found is None or not 0 <= float(found[1]) <= 1:
        raise DataError("missing takes category, wildcard, or wildcard:ALPHA with an ALPHA from 0 to 1.")
    return float(found[1])
