"""What the page Risk asks of `sfumato.api`, and the line of the command that does the same."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from sfumato.data.roles import Role
from sfumato.measures.measure import FAMILIES, Measure
from sfumato.measures.registry import measures
from sfumato.measures.subject import KEYS, KEYS_AND_OTHERS
from sfumato.release.measure import sensitive_categories
from sfumato.render.words import figure as in_words
from sfumato.web.problems import Problem
from sfumato.web.studio.stepped import book_before
from sfumato.web.studio.studio import Studio

if TYPE_CHECKING:
    from sfumato.api.standing_out import StandingOut
    from sfumato.data.finding import Finding, Findings

__all__ = ["Asked", "Line", "Told", "asked", "choices", "everything", "larger", "of_work", "stand_out", "told"]

_GROUPS = (None, KEYS, KEYS_AND_OTHERS)
"""Lines of all classes; those of single classes name values of few people."""
_MOST_LINES = 12


@dataclass(frozen=True)
class Asked:
    """What the address of the page says.

    Parameters
    ----------
    keys, sensitive
        Columns.
    weight
        The column of sampling weights, or empty.
    fraction
        As it was typed.
    """

    keys: tuple[str, ...] = ()
    sensitive: tuple[str, ...] = ()
    weight: str = ""
    fraction: str = ""

    @property
    def share(self) -> float | None:
        """The fraction as a number.

        Raises
        ------
        Problem
            422 where it is none.
        """
        if not self.fraction:
            return None
        text = self.fraction.strip()
        try:
            share = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
        except ValueError:
            share = 0.0
        if not 0 < share <= 1:
            raise Problem(422, "The sampling fraction is a share above 0 and at most 1, such as 0.05 or 5%.")
        return share

    @property
    def query(self) -> str:
        """The address of the same, behind the question mark."""
        pairs = [*(("keys", n) for n in self.keys), *(("sensitive", n) for n in self.sensitive)]
        pairs += [(name, said) for name, said in (("weight", self.weight), ("fraction", self.fraction)) if said]
        return urlencode([("asked", "1"), *pairs])

    def command(self, file: str) -> str:
        """The line that prints the same."""
        words = ["sfumato", "risk", file, "--keys", _listed(self.keys)]
        if self.sensitive:
            words += ["--sensitive", _listed(self.sensitive)]
        if self.weight:
            words += ["--weight", self.weight]
        if (share := self.share) is not None:
            words += ["--fraction", f"{share:g}"]
        return shlex.join(words)


def _listed(names: Sequence[str]) -> str:
    return ",".join(name.replace(",", "\\,") for name in names)


def asked(studio: Studio, given: Asked, stated: bool) -> Asked:
    """What was asked for; where nothing was, the keys, sensitive categories and weights of the plan."""
    if stated:
        return given
    book = book_before(studio, 0)
    keys = book.with_role(Role.KEY)
    sensitive = tuple(n for n in sensitive_categories(book) if n not in keys)  # a group shares its keys
    return Asked(keys, sensitive, book.the(Role.WEIGHT) or "", given.fraction)


def choices(studio: Studio) -> tuple[list[str], list[str]]:
    """Columns that may be chosen as keys and as sensitive; and numbers, for weights."""
    table = studio.opened.table
    return table.columns, [n for n, dtype in table.frame.schema.items() if dtype.is_numeric()]


def stand_out(studio: Studio, what: Asked) -> StandingOut:
    """Who stands out in the file that is open, worked out once; it is kept with the file, and goes with it."""
    from sfumato.api.standing_out import standing_out

    opened = studio.opened

    def found() -> StandingOut:
        return standing_out(
            opened.table, what.keys, sensitive=what.sensitive, weight=what.weight or None, fraction=what.share
        )

    return opened.remember(("standing out", what), found)


@dataclass(frozen=True)
class Line:
    """A figure that was measured.

    Parameters
    ----------
    of
        What it is of, where it has several lines.
    value
        In words.
    """

    of: str
    value: str


@dataclass(frozen=True)
class Told:
    """A figure of a measure, with its attacker.

    Parameters
    ----------
    name, title, what
        Of the figure.
    lines
        What was measured; none where it needs more than this file.
    more
        Lines of single classes and the like, which are not shown.
    """

    name: str
    title: str
    what: str
    lines: tuple[Line, ...]
    more: int


def everything(what: Asked) -> dict[str, Any]:
    """Options of the work that measures all risks."""
    return {
        "keys": what.keys,
        "sensitive": what.sensitive or None,
        "weight": what.weight or None,
        "fraction": what.share,
    }


def larger(what: Asked, most: int) -> dict[str, Any]:
    """Options of the work that searches larger sets of keys, up to so many at once."""
    return {**everything(what), "special_uniques": True, "max_size": most}


def of_work(result: Mapping[str, Any]) -> Findings:
    """The findings that came back from long work."""
    from sfumato.data.finding import Finding, Findings

    lines = [{**line, "interval": line["interval"] and tuple(line["interval"])} for line in result["findings"]]
    return Findings(tuple(Finding(**line) for line in lines), tuple(result.get("notes", ())))


def told(found: Findings, more: Mapping[str, int] | None = None) -> list[tuple[str, list[Told]]]:
    """Every measure of risk, by family: those that have figures, and those that have none here.

    Parameters
    ----------
    found
        The figures.
    more
        By figure, how many lines of single classes there are besides.
    """
    by_name: dict[str, list[Finding]] = {}
    for line in found:
        by_name.setdefault(line.measure, []).append(line)
    families: dict[str, list[Measure]] = {}
    for measure in measures().values():
        if measure.of_risk:
            families.setdefault(measure.family, []).append(measure)
    return [
        (
            heading,
            [
                _told(f.name, f.title, f.what, by_name.get(f.name, []), (more or {}).get(f.name, 0))
                for m in families[name]
                for f in m.figures
            ],
        )
        for name, heading in FAMILIES.items()
        if name in families
    ]


def _told(name: str, title: str, what: str, lines: list[Finding], more: int) -> Told:
    whole = [line for line in lines if line.group in _GROUPS][:_MOST_LINES]
    shown = tuple(Line(_of(line), _value(line)) for line in whole)
    return Told(name, title, what, shown, len(lines) - len(whole) + more)


def _of(line: Finding) -> str:
    parts = [line.variable or "", "with the other sensitive ones known" if line.group == KEYS_AND_OTHERS else ""]
    return ", ".join([part for part in parts if part] + ([f"at {line.at:g}"] if line.at is not None else []))


def _value(line: Finding) -> str:
    text = "no figure" if line.value is None else in_words(line, line.value, internal=True)
    if line.interval is None:
        return text
    low, high = (in_words(line, end, internal=True) for end in line.interval)
    return f"{text} ({low} to {high})"
