"""What to change in a plan, in the words of the method that was used on a column."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum
from typing import Literal

from sfumato.data.disclosure import Additive, Disclosed, Disclosure, Sampled

__all__ = ["DIVERSE", "RECODE", "Aim", "Methods", "sampled"]

Kind = Literal["additive", "averaged", "misclassified", "swapped"]
_KINDS: tuple[Kind, ...] = ("additive", "averaged", "misclassified", "swapped")
"""What a disclosure's part tells of a method that masks; where several were used, the first of these is spoken of."""

RECODE = (
    "recode rare categories into broader ones, leave a column out of `by`, or merge small groups (`on_small: merge`)"
)
DIVERSE = "merge groups until each holds several outcomes, or leave the outcome out if the release can do without it"

_LARGER_K = (
    "take a larger `k`, or groups that share no record (`grouping: mdav`), which lower this most at the same `k`"
)
_SMALLER_K = "take a smaller `k`, or fewer groups (fewer columns in `by`), so that records find nearer neighbours"
_MORE_NOISE = "add more noise (`sfumato tune` finds the least that meets a limit)"
_LESS_NOISE = (
    "add less noise (`sfumato tune` finds the least that meets a limit), or tell analysts to take it out of their model"
)
_MORE_EXCHANGED = "exchange more categories (a lower `retention`)"
_FEWER_EXCHANGED = (
    "exchange fewer categories (a higher `retention`), or tell analysts to take the exchange out of their model"
)
_WIDER, _NARROWER = "swap over a wider `window`", "swap over a narrower `window`"
_DISTINCT = (
    "let every distinct record count once (`distinct: true`), so that identical records no longer stay as they are"
)
_UNCLIPPED = "leave `clip` out, for many values that are set to a bound are what they were"
_FINER = "round to a smaller multiple (`round_to`), or add more noise, so that fewer values are rounded back"
_MEANS, _SPREAD = "keep the means (`recentre: true`)", "restore the spread (`rescale: true`)"
_CLIP = "give the column's possible values as bounds (`clip: {column: [low, high]}`)"
_TOP_CODE = "top-code them (`clip: {column: [low, high]}`)"
_BROADER = "recode rare categories into broader ones, or leave the column out"


class Aim(Enum):
    """What a change should bring about."""

    FURTHER = "values further from the truth, records harder to find"
    GENTLER = "less loss"
    READ = "a category that cannot be read off"
    KEPT = "fewer values that stay as they were"
    BOUNDS = "no impossible values"
    APART = "people who stand apart hidden as well as the rest"
    MEANS = "means as they were"
    SPREAD = "spreads as they were"
    TABLES = "tables that are harder to tell apart"


_GENTLER: dict[Kind, str] = {
    "additive": _LESS_NOISE,
    "averaged": _SMALLER_K,
    "misclassified": _FEWER_EXCHANGED,
    "swapped": _NARROWER,
}
_REMEDIES: dict[Aim, dict[Kind, str]] = {
    Aim.FURTHER: {
        "additive": _MORE_NOISE,
        "averaged": _LARGER_K,
        "misclassified": _MORE_EXCHANGED,
        "swapped": _WIDER,
    },
    Aim.GENTLER: _GENTLER,
    Aim.READ: {
        "additive": "add more noise to that column, exchange its categories (`pram`), or leave it out",
        "averaged": "exchange the column's categories (`pram`), or leave it out",
        "misclassified": f"{_MORE_EXCHANGED}, or leave the column out",
        "swapped": f"{_WIDER}, or leave the column out",
    },
    Aim.KEPT: {"averaged": _DISTINCT, "misclassified": _MORE_EXCHANGED, "swapped": _WIDER},
    Aim.BOUNDS: dict.fromkeys(_KINDS, _CLIP),
    Aim.APART: {"averaged": _TOP_CODE, "misclassified": _BROADER, "swapped": _BROADER},
    Aim.MEANS: {**_GENTLER, "averaged": _MEANS},
    Aim.SPREAD: {**_GENTLER, "averaged": _SPREAD},
    Aim.TABLES: {**_GENTLER, "averaged": f"{_MEANS}, {_SMALLER_K}"},
}


@dataclass(frozen=True)
class Methods:
    """The methods that masked a release, as its disclosure tells them.

    Parameters
    ----------
    disclosure
        The disclosure; None where it is not known.
    guess
        What is taken to have been done where the disclosure tells of no masking method.

    Examples
    --------
    >>> told = Disclosure([Additive(("bmi",), [[0.1]])])
    >>> Methods(told).remedy(Aim.KEPT, "bmi")
    'add more noise (`sfumato tune` finds the least that meets a limit)'
    """

    disclosure: Disclosure | None
    guess: Kind = "averaged"

    def kind(self, column: str | None = None) -> Kind:
        """The method that was used on a column; of the release where the column is none that was masked."""
        found = {part.what for part in self._parts(column)}
        return next((kind for kind in _KINDS if kind in found), self.guess)

    def remedy(self, aim: Aim, column: str | None = None) -> str:
        """What to change in the step that masked the column (without one: in the main step)."""
        kind = self.kind(column)
        if kind == "additive" and aim in (Aim.KEPT, Aim.APART):
            noise = [part for part in self._parts(column) if isinstance(part, Additive)]
            return _fewer_kept(noise, column) if aim is Aim.KEPT else _hide_outliers(noise)
        return _REMEDIES[aim][kind]

    def _parts(self, column: str | None) -> tuple[Disclosed, ...]:
        masking = tuple(part for part in self.disclosure or () if part.what in _KINDS)
        return tuple(part for part in masking if column in part.columns) or masking


def _fewer_kept(noise: list[Additive], column: str | None) -> str:
    """Values stay as they were where they are clipped or rounded back."""
    if any(part.bounds if column is None else column in part.bounds for part in noise):
        return _UNCLIPPED
    if any(part.rounded if column is None else column in part.rounded for part in noise):
        return _FINER
    return _MORE_NOISE


def _hide_outliers(noise: list[Additive]) -> str:
    if any(part.grows for part in noise):
        return f"let the noise grow from nearer the centre on (a smaller `grow`), or {_TOP_CODE}"
    return f"let the noise grow for outliers (`grow: 2`), or {_TOP_CODE}"


def sampled(disclosure: Disclosure | None) -> float:
    """The share of the records that a release holds: the product of the fractions that its disclosure tells.

    Examples
    --------
    >>> sampled(Disclosure([Sampled(fraction=0.5), Sampled(fraction=0.2)])), sampled(None)
    (0.1, 1.0)
    """
    return math.prod(part.fraction for part in disclosure or () if isinstance(part, Sampled)) * 1.0
