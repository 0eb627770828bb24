"""The lines of the scenarios, and what is said of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from types import MappingProxyType

from sfumato.data.aim import Aim
from sfumato.data.finding import Finding, Findings
from sfumato.kernels.linkers.patterns import MOST_KEYS
from sfumato.measures.folds.asking import Asking
from sfumato.measures.intruding import Intruding, Knowledge
from sfumato.measures.known import Known
from sfumato.measures.measure import Complaint, Figure, Measure
from sfumato.measures.measuring import wildcard
from sfumato.measures.risk.linkers.coding import Coded, coded
from sfumato.measures.risk.scenarios.attacks import Attacked, reached
from sfumato.measures.saying import CONTRACT, judged, percent, value_of, without_protection, worst
from sfumato.measures.subject import Subject

__all__ = ["MEASURE", "findings"]

SAMPLED = (
    "Scenarios: there are so many people and records that fewer people were attacked, chosen by a public draw; figures "
    "and intervals are for all."
)
FEWER = "Scenarios: the keys make so many patterns that how often they agree was learnt from fewer people."
NO_KEY = "{scenario}: none of what this intruder knows stands in all tables, so it was not measured. Name it (--keys)."
TOO_MANY = (
    "{scenario}: this intruder knows {many} keys, and records are linked by at most {most}, so it was not measured. "
    "Name those that are known best (`knows`, --keys)."
)
NOT_THERE = "{scenario}: {columns} cannot be compared with the release, so this intruder does without."
NOBODY_ODD = "trawl: no released record is alone with any of the keys, so nothing was looked for."
NO_CONTROL = (
    "cross_match: without a control (--control FILE) everybody in the intruder's file is taken to be in the release, "
    "and no claim names somebody who is not."
)


def findings(known: Known, intruding: Intruding, missing: str = "category") -> Findings:
    """Give the lines `match_correct`, `match_claims`, `match_precision` and `match_on_control` of each scenario.

    Each line names the scenario as `attack` and the linker as `group`; its baseline is the same had the true values
    been released. It covers intruders who weigh key by key; not those who know the draws of a method or combine
    releases (`differencing`), and not what is learnt without finding a record (`inference`).

    Parameters
    ----------
    known
        True values of people beside what was released of them, row by row.
    intruding
        Which intruders, and what they know.
    missing
        What a missing key is, see `sfumato.measures.measuring.Measuring`: a value of its own, or one that agrees with
        all others, in whatever part.

    Source: Elliot & Dale (1999), Scenarios of attack; linkers as in `sfumato.measures.risk.linkers.linkers`.

    Examples
    --------
    >>> import polars as pl
    >>> from sfumato.data.codebook import Codebook
    >>> table = pl.DataFrame({"sex": ["f", "m", "m", "m"]})
    >>> found = findings(Known(table, table, Codebook(), ("sex",)), Intruding())
    >>> round(found.of("match_correct", group="nearest").value, 3)
    0.5
    """
    if not known.aligned or not known.people.height:
        return Findings()
    tried = _Tried(known, intruding, wildcard(missing) is not None)
    lines: list[Finding] = []
    for scenario in intruding.scenarios:
        lines += tried.lines(scenario)
    return Findings(tuple(lines), tuple(dict.fromkeys(tried.notes)))


class _Tried:
    """Scenarios on one pair of tables; what two of them have in common is worked out once."""

    def __init__(self, known: Known, intruding: Intruding, free: bool) -> None:
        self.known, self.intruding, self.free = known, intruding, free
        self.notes: list[str] = []
        self._done: dict[object, tuple[Attacked, Attacked]] = {}

    def lines(self, scenario: str) -> list[Finding]:
        """Lines of one scenario."""
        keys, knowledge = self._keys(scenario), self.intruding.knowledge(scenario)
        if not keys:
            self.notes.append(NO_KEY.format(scenario=scenario))
            return []
        if len(keys) > MOST_KEYS:
            self.notes.append(TOO_MANY.format(scenario=scenario, many=len(keys), most=MOST_KEYS))
            return []
        of_file = scenario in ("cross_match", "trawl")
        if scenario == "cross_match" and self.known.control is None:
            self.notes.append(NO_CONTROL)
        both = self._attacked(keys, knowledge, of_file)
        figures, baselines = (reached(scenario, each) for each in both)
        without = {(f.measure, f.linker): f.value for f in baselines}
        if any(each.sampled for each in both):
            self.notes.append(SAMPLED)
        if any(each.scorings.fewer for each in both):
            self.notes.append(FEWER)
        if not figures:
            self.notes.append(NOBODY_ODD)
        return [
            Finding(f.measure, None, f.linker, f.at, scenario, f.value, f.interval, without.get((f.measure, f.linker)))
            for f in figures
        ]

    def _keys(self, scenario: str) -> tuple[str, ...]:
        wanted = self.intruding.knowledge(scenario).keys or self.known.keys
        tables = [t for t in (self.known.people, self.known.released, self.known.control) if t is not None]
        there = tuple(n for n in dict.fromkeys(wanted) if all(n in table.columns for table in tables))
        if missing := [n for n in wanted if n not in there]:
            self.notes.append(NOT_THERE.format(scenario=scenario, columns=", ".join(missing)))
        return there

    def _attacked(self, keys: Sequence[str], knowledge: Knowledge, of_file: bool) -> tuple[Attacked, Attacked]:
        """What linkers find in the release, and would find in the true values."""
        word = (tuple(keys), knowledge.word, of_file)
        if word not in self._done:
            known = self.known if of_file else replace(self.known, control=None)
            field = coded(known, keys, wildcard=self.free, knowledge=knowledge)
            present = (self._present(field) if of_file else None) or 1.0
            pairs = self.known.pairs
            self._done[word] = Attacked(field, present, pairs), Attacked(field.unprotected(), present, pairs)
        return self._done[word]

    def _present(self, field: Coded) -> float:
        given = self.intruding.present
        return field.original / field.known.height if given is None else given


def _compute(subject: Subject) -> Findings:
    if subject.intruder is None:
        return Findings()
    return findings(subject.intruder, subject.how.intruding or Intruding(), subject.how.missing)


def _asked(subject: Subject) -> bool:
    return subject.how.intruding is not None


def _right(found: Findings, scenario: str) -> list[Finding]:
    return [f for f in found.select("match_correct", attack=scenario) if f.value is not None]


def _say(found: Findings, fraction: float) -> str | None:
    """What a neighbour finds with the best of the linkers that anybody could use."""
    lines = [f for f in _right(found, "neighbour") if f.group != "fellegi_sunter_best"]
    if not lines:
        return None
    best = worst(lines)
    return (
        f"Somebody who knows a person's keys, and that the person is in the file, finds the right record for "
        f"{percent(value_of(best))} of the people{without_protection(best)}. {judged(lines)}"
    )


def _complain(found: Findings, fraction: float) -> tuple[Complaint, ...]:
    lines = [f for f in _right(found, "neighbour") if f.group != "fellegi_sunter_best"]
    if not lines or value_of(worst(lines)) <= CONTRACT:
        return ()
    text = "Many records are found by somebody who knows a person's keys, and that the person is in the file"
    return (Complaint(text, Aim.FURTHER, urgent=True),)


_USUAL = MappingProxyType({"attack": "neighbour"})
_OF_LINKERS = (
    "The line's attack is the scenario, its group the linker: nearest record (Gower), Fellegi and Sunter's weights, or "
    "these weights from the true pairs, which no intruder has."
)


def _among_all(subject: Subject) -> Asking:
    from sfumato.measures.risk.scenarios.people import among_all

    return among_all(subject)


MEASURE = Measure(
    family="linkage",
    place=25,
    doing="intruders who know keys",
    needs=frozenset({"intruder"}),
    figures=(
        Figure(
            "match_correct",
            title="Right guesses by who knows the keys",
            what="Share of the people (of trawled records; of the ten most certain links) for whom the best record is "
            "the right one, ties shared. " + _OF_LINKERS,
            form="share",
            published="rate",
            baseline="Without protection",
            whole="all people",
            aim=Aim.FURTHER,
            usual=_USUAL,
            attacker="best match",
            knows=MappingProxyType(
                {
                    "nearest": "the keys, as they are",
                    "fellegi_sunter": "the keys, weighed",
                    "fellegi_sunter_best": "the keys, best weights",
                }
            ),
            clause="{} of the people are found",
        ),
        Figure(
            "match_claims",
            title="Confident claims",
            what="How many links an intruder would claim: the best record alone, with a probability of at least 0.9 "
            "that it is the person's. A claim harms also where it is wrong.",
            form="count",
            baseline="Without protection",
            whole="all people",
            at="{0:g} certain",
            aim=Aim.FURTHER,
            usual=_USUAL,
        ),
        Figure(
            "match_precision",
            title="Confident claims that are right",
            what="Share of the claimed links that are right.",
            form="share",
            published="rate",
            baseline="Without protection",
            whole="all claims",
            at="{0:g} certain",
            aim=Aim.FURTHER,
            usual=_USUAL,
        ),
        Figure(
            "match_on_control",
            title="Claims on people who are not there",
            what="How many people of the control, who are not in the release, an intruder would claim to have found.",
            form="count",
            baseline="Without protection",
            whole="the control",
            at="{0:g} certain",
            aim=Aim.FURTHER,
            usual=MappingProxyType({"attack": "cross_match"}),
        ),
    ),
    compute=_compute,
    forms={"people": _among_all},
    when=_asked,
    say=_say,
    complain=_complain,
    effort=4.0,
)
