"""Limits and figures in one line of text: `h_rank[h<3, group=all] < 0.1`. A small grammar of our own, never evaluated.

::

    limit   = figure ("<" | "<=" | ">" | ">=") number
    figure  = measure ["[" item {"," item} "]"]
    item    = ("variable" | "group" | "attack") "=" text | "at" "=" number | "h" ("<" | "<=") whole number

A text that holds a comma, a bracket, a comparison or a quotation mark stands in quotation marks, and a quotation mark
within it is doubled. `h<3` is short for `at=2`, and so is `h<=2`; `h_rank` without `group` and `attack` is that of all
records under the worst attack.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Any, NoReturn

from sfumato.data.finding import Finding, Findings
from sfumato.errors import FormulaError
from sfumato.measures.registry import failed_measures, figures
from sfumato.measures.registry import figure as word_of
from sfumato.plan.limits import Limit
from sfumato.plug_ins import and_left_out

__all__ = ["Condition", "Figure", "parse_condition", "parse_figure"]

_MOST_CHARACTERS = 1000
_HEAD = re.compile(r"\s*([A-Za-z]\w*)\s*(\[)?")
_ITEM = re.compile(
    r'\s*(?:h\s*(?P<less><=?)\s*(?P<h>\d+)|(?P<key>[a-z]+)\s*=\s*(?P<text>"(?:[^"]|"")*"|[^\[\]",=<>]+))\s*(?P<end>[,\]])'
)
_BOUND = re.compile(r"\s*(<=?|>=?)\s*([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)\s*$")
_KEYS = ("variable", "group", "at", "attack")


@dataclass(frozen=True)
class Figure:
    """A measure, narrowed to some of its findings.

    Parameters
    ----------
    measure
        Name of the measure.
    where
        What `variable`, `group`, `at` and `attack` must be, of those that are narrowed.

    Examples
    --------
    >>> parse_figure("delta[variable=bmi]").of(Findings((Finding("delta", variable="bmi", value=0.1),)))
    0.1
    """

    measure: str
    where: tuple[tuple[str, Any], ...] = ()

    def __str__(self) -> str:
        inner = ", ".join(f"{key}={_shown(value)}" for key, value in self.where)
        return f"{self.measure}[{inner}]" if inner else self.measure

    def of(self, findings: Findings) -> float | None:
        """The figure; of several the worst. None where there is none, or where one of them has no value.

        Raises
        ------
        FormulaError
            Where there are several of a measure that has no worst (a mean, a correlation).
        """
        where = dict(self.where)
        passed = () if "attack" in where else word_of(self.measure).strongest_of
        values = [f.value for f in findings.select(self.measure, **where) if f.attack not in passed]
        if len(values) > 1 and not word_of(self.measure).comparable:
            raise FormulaError(
                f"{self} has several figures, and none of them is the worst. Name one: {self.measure}[variable=...], "
                "with at=... where there are several of that variable."
            )
        known = [v for v in values if v is not None]
        if not known or len(known) < len(values):
            return None
        return min(known) if word_of(self.measure).better == "high" else max(known)


@dataclass(frozen=True)
class Condition:
    """A limit that an averaged figure is held against.

    Parameters
    ----------
    limit
        The limit.
    strict
        Whether the bound itself breaks it (`<` and `>`).

    Examples
    --------
    >>> str(parse_condition("h_rank[h<3] < 0.1"))
    'h_rank[group=all, at=2, attack=worst] < 0.1'
    """

    limit: Limit
    strict: bool = False

    def __str__(self) -> str:
        sign = (">" if self.lower else "<") + ("" if self.strict else "=")
        return f"{self.figure} {sign} {self.limit.bound:.12g}"

    @property
    def figure(self) -> Figure:
        """What it speaks of."""
        where = tuple((key, v) for key in _KEYS if (v := getattr(self.limit, key)) is not None)
        return Figure(self.limit.measure, where)

    @property
    def lower(self) -> bool:
        """Whether the figure must be at least the bound (rather than at most)."""
        return self.limit.at_least is not None

    def excess(self, value: float) -> float:
        """By how much a value goes beyond the bound, in shares of the bound; below 0 where it keeps to it."""
        beyond = self.limit.bound - value if self.lower else value - self.limit.bound
        return beyond / (abs(self.limit.bound) or 1.0)

    def holds(self, value: float) -> bool:
        """Whether a value keeps to it."""
        return self.excess(value) < 0 if self.strict else self.excess(value) <= 0

    def worst(self, findings: Findings) -> Finding | None:
        """Of the findings that it binds the one that is nearest to breaking it, one without a value before all.

        None where it binds none.
        """
        bound = [f for f in findings if self.limit.binds(f)]
        return max(bound, key=lambda f: math.inf if f.value is None else self.excess(f.value), default=None)


def parse_condition(text: str) -> Condition:
    """Read a limit.

    Raises
    ------
    FormulaError
        Where the text is not one.

    Examples
    --------
    >>> parse_condition("linkage_nearest[group=stratum] <= 0.2").limit.group
    'stratum'
    """
    figure, end = _figure(text)
    found = _BOUND.match(text, end)
    if not found:
        _refuse(text, end, "a comparison with a number is needed here: <, <=, > or >=")
    side = "at_least" if found[1].startswith(">") else "at_most"
    where = {**word_of(figure.measure).usual, **dict(figure.where)}
    bound = float(found[2])
    if not math.isfinite(bound):
        _refuse(text, found.start(2), "the number is too large")
    return Condition(Limit(measure=figure.measure, **{side: bound}, **where), strict="=" not in found[1])


def parse_figure(text: str) -> Figure:
    """Read the name of a figure, as a limit has it before its comparison.

    Raises
    ------
    FormulaError
        Where the text is not one.

    Examples
    --------
    >>> str(parse_figure('quantile[variable=bmi, at=0.5]'))
    'quantile[variable=bmi, at=0.5]'
    """
    figure, end = _figure(text)
    if text[end:].strip():
        _refuse(text, end, "nothing more is allowed here")
    where = {**word_of(figure.measure).usual, **dict(figure.where)}
    return Figure(figure.measure, tuple((key, where[key]) for key in _KEYS if key in where))


def _figure(text: str) -> tuple[Figure, int]:
    """The figure that a text begins with, and where it ends."""
    if len(text) > _MOST_CHARACTERS:
        raise FormulaError(f"A limit has at most {_MOST_CHARACTERS} characters.")
    head = _HEAD.match(text)
    if not head:
        _refuse(text, 0, "it begins with the name of a measure")
    measure = head[1]
    if measure not in figures():
        every = ", ".join(figures()) + and_left_out(failed_measures())
        raise FormulaError(f"There is no measure {measure!r}. Measures: {every}.")
    where: dict[str, Any] = {}
    end = head.end()
    more = head[2] is not None
    while more:
        item = _ITEM.match(text, end)
        if not item:
            _refuse(text, end, f"h<..., or one of {', '.join(_KEYS)} with = and a value is needed here, then , or ]")
        key, value = _item(text, item, measure)
        if key in where:
            _refuse(text, end, f"{key} is given twice")
        where[key] = value
        end, more = item.end(), item["end"] == ","
    return Figure(measure, tuple(where.items())), end


def _item(text: str, item: re.Match[str], measure: str) -> tuple[str, Any]:
    if item["h"] is not None:
        if measure != "h_rank":
            _refuse(text, item.start("less"), f"h is for h_rank, not for {measure}")
        at = int(item["h"]) - (item["less"] == "<")
        if at < 0:
            _refuse(text, item.start("h"), "h is never below 0")
        return "at", float(at)
    key, value = item["key"], item["text"].strip()
    if key not in _KEYS:
        _refuse(text, item.start("key"), f"there is no {key}; allowed are {', '.join(_KEYS)}")
    if value.startswith('"'):
        value = value[1:-1].replace('""', '"')
    if not value:
        _refuse(text, item.start("text"), f"{key} needs a value")
    if key != "at":
        return key, value
    try:
        number = float(value)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        _refuse(text, item.start("text"), "at needs a number")
    return key, number


def _refuse(text: str, at: int, why: str) -> NoReturn:
    rest = text[at : at + 30].strip()
    where = f"at {rest!r}" if rest else "at its end"
    raise FormulaError(
        f"{text!r} is not understood {where}: {why}. Examples: 'h_rank[h<3] < 0.1', "
        "'linkage_nearest[group=stratum] <= 0.2', 'delta[variable=income] < 0.5'."
    )


def _shown(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.12g}"
    text = str(value)
    return '"' + text.replace('"', '""') + '"' if re.search(r'[\[\]",=<>]', text) else text
