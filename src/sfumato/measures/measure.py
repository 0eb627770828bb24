"""What a measure is: a value in one file that holds everything said about its figures.

Reports, terminal, documentation, limits and advice read all of it from here, so that to add a measure touches its own
file, its test, its page and its line under `[project.entry-points."sfumato.measures"]`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal, get_args

from sfumato.data.aim import Aim
from sfumato.data.finding import Findings
from sfumato.measures.folds.asking import Asking
from sfumato.measures.subject import EVERYTHING, KEYS, RELEASED, STRATA, Subject

__all__ = [
    "FAMILIES",
    "KNOWN",
    "Better",
    "Complaint",
    "Computation",
    "Face",
    "Figure",
    "Form",
    "Measure",
    "Need",
    "Published",
    "Way",
]

Need = Literal[
    "table",
    "pair",
    "input",
    "columns",
    "keys",
    "strata",
    "sensitive",
    "disclosure",
    "suppression",
    "cells",
    "model",
    "earlier",
    "intruder",
    "control",
    "guesses",
    "outsider",
    "leaving",
]
"""What a measure looks at: one table; two tables; the table as it was read; numbers that were masked; classes of keys,
of strata (either will do); columns that nobody must learn; what the release discloses; what steps took out; the values
in cells that they emptied; the user's model; earlier releases; what intruders know of the people; people of the same
kind who are not in the release; what nobody must learn, beside such people or values drawn within groups; somebody who
knows all that leaves and true values of what was masked; the same release without one person."""
Form = Literal["share", "count", "number"]
"""A share between 0 and 1, a count of records or values, or a plain number."""
Way = Literal["memory", "folded", "people", "strata", "sample"]
"""Where a measure can be computed: of a table in memory; of rows wherever they are, by sums and counts over parts; of
some people who are looked for among all records; of whole strata up to a bound; of a sample that tells no less than the
truth."""
Computation = Callable[[Subject], Findings | Asking]
"""Gives findings of a subject, at once or after it has asked all records."""
Better = Literal["low", "high", "near", "change"]
"""Whether protection (or utility) is better where a figure is low, high, near its baseline, or unchanged."""
Published = Literal["rate", "hundredth", "ladder", "change", "mean", "no"]
"""How a figure may be published: with 3 significant digits; with 2 decimals; as "at least 2, 3, 5, 10, …"; as the
change from original to release; so that only its mean over three or more variables is told, with 3 significant digits;
or not at all."""
Face = Literal["risk", "compare"]
"""The commands that show a measure; `protect` shows all."""

FAMILIES: Mapping[str, str] = MappingProxyType(
    {
        "groups": "Risk: groups of people alike",
        "linkage": "Risk: finding a person's record",
        "closeness": "Risk: values close to the truth",
        "lost": "Loss: what is left",
        "tables": "Loss: telling the tables apart",
        "values": "Loss: how far values moved",
        "models": "Loss: models",
        "summaries": "Loss: means, spreads and the like",
        "other": "Other figures",
    }
)
"""Parts of a report in order, with their headings."""

KNOWN: Mapping[str, str] = MappingProxyType(
    {
        KEYS: "the keys",
        STRATA: "the strata",
        RELEASED: "all released columns",
        EVERYTHING: "also what is unknown",
    }
)
"""What somebody knows who is told apart by the group of a finding, in few words."""


@dataclass(frozen=True)
class Figure:
    """One figure of a measure: a name that a limit may use, and everything that is said about it.

    Parameters
    ----------
    name
        What findings and limits call it.
    title
        Its name for people.
    what
        What it is, and what it is not, in a sentence or three.
    form, better
        What kind of number it is, and where it is good.
    published
        How it may be published. Unless its file says otherwise: not.
    baseline
        What its baseline is; None where it has none.
    whole
        What a line speaks of that names no variable and no single group.
    at
        How `at` is told, a format with the number and a percentage: `w1 = {0:g}`, `{1}% quantile`.
    of
        What `variable` names: a column, a coefficient of a model, or a pair of columns.
    aim
        What would mend it where it is bad.
    usual
        What of `group` and `attack` is meant where a condition of `tune` says nothing.
    detail
        Whether the terminal leaves it to `--json` and reports, unless a limit speaks of it.
    attacker
        Who attacks, or by what, in two or three words. Empty where it is no attack.
    knows
        What they know, by the attack or the group of a finding, in few words.
    clause
        What the figure says, as a clause with `{}` in place of the value, for the line of the verdict.
    percent
        Whether the terminal shows a plain number in percent: of shares that can be below 0.
    strongest_of
        Attacks of which the line without one is the strongest, and stated: the terminal passes their lines over where
        they say the same.
    """

    name: str
    title: str
    what: str
    form: Form = "number"
    better: Better = "low"
    published: Published = "no"
    baseline: str | None = None
    whole: str = "all records"
    at: str = "at {0:g}"
    of: Literal["column", "coefficient", "pair"] = "column"
    aim: Aim | None = None
    usual: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    detail: bool = False
    attacker: str = ""
    knows: Mapping[str, str] = field(default_factory=lambda: KNOWN)
    clause: str = ""
    percent: bool = False
    strongest_of: tuple[str, ...] = ()

    @property
    def comparable(self) -> bool:
        """Whether of several figures one is the worst. Of means and the like none is."""
        return self.better != "near"


@dataclass(frozen=True)
class Complaint:
    """A figure that is bad by a convention of its field.

    Parameters
    ----------
    text
        What is bad, in words that may be published.
    aim
        What would mend it.
    variable
        The column that it is about, where it is about one.
    urgent
        Whether it is a risk so high that no headline may pass over it.
    """

    text: str
    aim: Aim
    variable: str | None = None
    urgent: bool = False


def _silent(findings: Findings, fraction: float) -> str | None:
    """Say nothing."""
    return None


def _content(findings: Findings, fraction: float) -> tuple[Complaint, ...]:
    """Complain of nothing."""
    return ()


def _always(subject: Subject) -> bool:
    """Measure whenever there is what it needs."""
    return True


@dataclass(frozen=True)
class Measure:
    """A measure of risk or utility.

    Parameters
    ----------
    family
        The part of reports that it stands in, see `FAMILIES`.
    place
        Where in its family it stands; smaller first.
    doing
        What is being measured, for the progress of long work.
    needs
        What it looks at. Without it the measure is passed over.
    figures
        What it gives.
    compute
        Gives the findings of a subject that has what it needs: the form `memory`.
    forms
        How it can be had where a table is large and its rows are not in memory: each gives the findings of a subject,
        or asks all records for them (`sfumato.measures.folds.asking`). A measure that has none is left out there, and a
        limit on it counts as not met; of a line that several forms give, the first of `folded`, `people`, `strata` and
        `sample` stands. `sample` is for measures of which a sample tells no less than the truth: a count of a sample is
        none of everybody.
    faces
        The commands that show it; by default `risk` for families of risk and `compare` for the others.
    when
        Whether it is worth its time for a subject; figures that somebody asks for by name are measured anyway.
    say
        A sentence for the headline paragraph, of findings that hold this measure's lines perhaps, and the share of the
        people whom the release holds; None where there is nothing to say.
    complain
        What is bad by the conventions of the field, most pressing first; arguments as of `say`.
    effort
        How long it takes, for the share of progress: 1 for a mere pass over the data.

    Raises
    ------
    ValueError
        Where `forms` names one that there is not; `memory` is `compute`.

    Examples
    --------
    >>> from sfumato.measures.registry import measures
    >>> measures()["delta"].figures[0].title
    'Spread that comes from protection (delta)'
    """

    family: str
    place: int
    doing: str
    needs: frozenset[Need]
    figures: tuple[Figure, ...]
    compute: Callable[[Subject], Findings] = field(repr=False)
    forms: Mapping[Way, Computation] = field(default_factory=lambda: MappingProxyType({}), repr=False)
    faces: tuple[Face, ...] = ()
    when: Callable[[Subject], bool] = field(default=_always, repr=False)
    say: Callable[[Findings, float], str | None] = field(default=_silent, repr=False)
    complain: Callable[[Findings, float], tuple[Complaint, ...]] = field(default=_content, repr=False)
    effort: float = 1.0

    def __post_init__(self) -> None:
        if unknown := [name for name in self.forms if name not in get_args(Way)[1:]]:
            raise ValueError(f"a measure has no form {', '.join(map(repr, unknown))}")
        if not self.faces:
            object.__setattr__(self, "faces", ("risk",) if self.of_risk else ("compare",))

    @property
    def of_risk(self) -> bool:
        """Whether it is a measure of risk rather than of loss."""
        return self.family in ("groups", "linkage", "closeness")

    @property
    def ways(self) -> tuple[Way, ...]:
        """Names of its forms, `memory` among them."""
        return ("memory", *self.forms)

    @property
    def names(self) -> frozenset[str]:
        """Names of its figures."""
        return frozenset(figure.name for figure in self.figures)

    def can(self, subject: Subject) -> bool:
        """Whether a subject has what it needs: of classes of keys and of strata one will do."""
        return self.content_with(subject.provides)

    def content_with(self, there: frozenset[str]) -> bool:
        """Whether what is there, in the words of `Need`, is all that it needs."""
        classes = self.needs & {KEYS, STRATA}
        return self.needs - classes <= there and (not classes or bool(classes & there))

    def wanted(self, subject: Subject) -> bool:
        """Whether it is asked for by name, or worth its time anyway."""
        return bool(self.names & subject.asked) or self.when(subject)
