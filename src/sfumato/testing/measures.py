"""The laws of measures, each for one measure on one subject."""

from __future__ import annotations

import datetime
import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, get_args

import polars as pl

from sfumato.data.aim import Aim
from sfumato.data.codebook import Codebook
from sfumato.data.disclosure import Disclosure
from sfumato.data.finding import Finding, Findings
from sfumato.data.pair import Pair
from sfumato.engines.duckdb import DuckDBDataset
from sfumato.engines.polars import PolarsDataset
from sfumato.measures.measure import FAMILIES, Better, Face, Figure, Form, Measure, Published
from sfumato.measures.registry import figures
from sfumato.measures.subject import KEYS, KEYS_AND_OTHERS, STRATA, WIDE, Subject
from sfumato.plan.conditions import parse_condition, parse_figure
from sfumato.plan.limits import Limit, apply_limits
from sfumato.plan.plan import Plan
from sfumato.render.words import bound, figure, of_what
from sfumato.report.external import at_least, external
from sfumato.report.report import Report
from sfumato.testing.broken import hold
from sfumato.testing.subjects import PLANTED, SUBJECTS, Engine

__all__ = ["MeasureLaws", "published", "same_findings"]

_TRIED = 200
"""Lines of which words are tried."""
_KEYS = ["measure", "variable", "group", "at", "attack", "value", "interval", "baseline", "limit", "ok"]


@dataclass(frozen=True)
class MeasureLaws:
    """A measure on a subject, held to the laws of measures; what it finds is found once.

    Parameters
    ----------
    measure
        The measure.
    case
        Which of `SUBJECTS`.

    Examples
    --------
    >>> from sfumato.measures.registry import measures
    >>> MeasureLaws(measures()["class_size"], "surveyed").order_changes_nothing()
    """

    measure: Measure
    case: str

    def find(self, engine: Engine = PolarsDataset, seed: int | None = None) -> Findings:
        """What the measure gives, whether or not it is worth its time; with a seed, of shuffled rows."""
        subject = SUBJECTS[self.case]().subject(engine, seed)
        return self.measure.compute(replace(subject, asked=self.measure.names))

    @cached_property
    def found(self) -> Findings:
        """What it gives for the rows as they are."""
        return self.find()

    @cached_property
    def published(self) -> Findings:
        """What a report that is published shows of it."""
        return published(self.found)

    def every_figure_has_lines(self) -> None:
        """No figure is promised that is not given."""
        without = self.measure.names - {f.measure for f in self.found}
        hold(not without, f"no line of {', '.join(sorted(without))}")

    def every_line_is_one_of_its_figures_and_told_once(self) -> None:
        """Nor given without being promised."""
        unknown = {f.measure for f in self.found} - self.measure.names
        hold(not unknown, f"no figure of the measure: {', '.join(sorted(unknown))}")
        told = [(f.measure, f.variable, f.group, f.at, f.attack) for f in self.found]
        hold(len(set(told)) == len(told), "two lines are of the same")

    def a_figure_is_a_number_or_none(self) -> None:
        """Finite, within the range of its form, within its interval, and not judged yet."""
        for f in self.found:
            hold(list(f.to_plain()) == _KEYS, f"{f.measure}: other keys than a finding has")
            hold(f.limit is None and f.ok is None, f"{f.measure}: a measure does not judge")
            numbers = [v for v in (f.value, f.baseline, f.at, *(f.interval or ())) if v is not None]
            hold(all(map(math.isfinite, numbers)), f"{f.measure}: a figure that is not finite")
            hold(_within(f), f"{f.measure}: the value is outside its interval")
            form = self._said(f).form
            both = [v for v in (f.value, f.baseline) if v is not None]
            hold(form != "share" or all(0 <= v <= 1 for v in both), f"{f.measure}: a share is between 0 and 1")
            hold(form != "count" or all(v >= 0 for v in both), f"{f.measure}: a count is not below 0")

    def no_value_is_in_a_message(self) -> None:
        """Neither in progress, nor in notes, sentences and complaints."""
        each, lines = self.measure, self.found
        said = [each.say(lines, share) for share in (1.0, 0.5)]
        complaints = [c.text for share in (1.0, 0.5) for c in each.complain(lines, share)]
        texts = [each.doing, *lines.notes, *complaints, *(s for s in said if s is not None)]
        hold(not _planted(" ".join(texts)), "a value of the data is in a message")

    def categories_name_single_classes_and_coefficients_only(self) -> None:
        """Other lines name columns."""
        released = set(SUBJECTS[self.case]().subject().after.codebook)
        for f in self.found:
            said = self._said(f)
            single = self.measure.needs >= {KEYS, STRATA} and f.group not in (KEYS, STRATA, KEYS_AND_OTHERS, *WIDE)
            hold(single or not _planted(f.group), f"{f.measure}: a group is named by a value")
            hold(said.of != "column" or f.variable is None or f.variable in released, f"{f.measure}: no such column")
            hold(said.of == "coefficient" or not _planted(f.variable), f"{f.measure}: a variable is named by a value")
            hold(not _planted(f"{f.attack} {f.at}"), f"{f.measure}: an attack is named by a value")

    def what_is_published_hides_what_was_planted(self) -> None:
        """Whatever stands in the lines of the custodian."""
        hold(not _planted(repr(self.published)), "a value of the data is published")
        columns = {None, *SUBJECTS[self.case]().subject().after.codebook}
        named = {f.variable for f in self.published if self._said(f).of == "column"}
        hold(named <= columns, "a line that is published names no released column")

    def each_figure_is_published_as_it_says(self) -> None:
        """With as many digits as `published` allows; means of several variables beside them."""
        sds = Findings(tuple(Finding("sd", variable=n, value=1.0, baseline=2.0) for n in ("x", "y")))
        for f in published(sds + self.found):
            how = figures()[f.measure].published
            hold(_as_it_says(f, how), f"{f.measure}: published otherwise than as {how!r}")

    def what_nothing_speaks_of_is_kept_back(self) -> None:
        """Figures of a package that is gone are not published."""
        unknown = Findings(
            tuple(replace(f, measure="of_a_plug_in_that_is_gone", limit=1.0, ok=True) for f in self.found)
        )
        shown = [f for f in published(unknown) if f.value is not None or f.baseline is not None]
        hold(not shown, "a figure that nothing speaks of is published")

    def words_are_complete(self) -> None:
        """Titles and sentences, and each choice one that there is."""
        each = self.measure
        hold(each.family in FAMILIES, "its family is none of ours")
        hold(set(each.faces) <= set(get_args(Face)), "no such face")
        hold(each.doing[:1].islower() or each.doing[1:2] == "-", "`doing` begins with a small letter")
        hold(bool(each.figures), "a measure gives at least one figure")
        for said in each.figures:
            for fault in _word_faults(said):
                hold(False, f"{said.name}: {fault}")

    def lines_are_told_in_words(self) -> None:
        """Every line has a name, a figure and a bound that people can read."""
        for f in list(self.found)[:_TRIED]:
            hold(f.baseline is None or bool(self._said(f).baseline), f"{f.measure}: `baseline` does not say what it is")
            words = (of_what(f), figure(f, f.value, internal=True), bound(replace(f, limit=1.0, ok=True)))
            hold(all(words) and "{" not in words[0], f"{f.measure}: a line without words")

    def limits_can_name_it(self) -> None:
        """In plans, in conditions of `tune`, and by all that a line names; and every line is judged."""
        for said in self.measure.figures:
            lines = [f for f in self.found if f.measure == said.name]
            limit = Limit(measure=said.name, at_least=0.0)
            plan = Plan.from_yaml(f"sfumato: 1\nlimits:\n- {{measure: {said.name}, at_least: 0}}\n")
            plan.check(Codebook())
            hold(plan.limits == (limit,), f"{said.name}: a limit is read as another one")
            usual: dict[str, Any] = dict(said.usual)
            condition = Limit(measure=said.name, at_most=1.0, **usual)
            hold(parse_condition(f"{said.name} < 1").limit == condition, f"{said.name}: a condition is read otherwise")
            judged = apply_limits(Findings(tuple(lines)), [limit])
            hold(all(f.ok is not None for f in judged) and (not lines or not judged.notes), f"{said.name}: not judged")
            for line in lines[:1]:
                hold(_asked(line) == line.value, f"{said.name}: what its line names does not find it")

    def order_changes_nothing(self, seed: int = 1) -> None:
        """Figures do not depend on the order of records, in either table."""
        same_findings(self.found, self.find(seed=seed), "with the records in another order")

    def every_engine_gives_the_same(self) -> None:
        """Nor on whether the rows are in memory."""
        same_findings(self.found, self.find(engine=DuckDBDataset.of), "with rows that do not fit into memory")

    def without_what_it_needs_it_is_skipped(self) -> None:
        """No measure that says that a subject will do fails on it, however little that is."""
        frame = pl.DataFrame({"x": [1.0, 2.0, 3.0]})
        pair = Pair(frame, frame, Codebook(), aligned=True)
        for given in (None, pair):
            subject = Subject(PolarsDataset(frame, Codebook()), pair=given)
            if self.measure.can(subject):
                unknown = {f.measure for f in self.measure.compute(subject)} - self.measure.names
                hold(not unknown, "a line that is none of its figures'")

    def _said(self, finding: Finding) -> Figure:
        return next(said for said in self.measure.figures if said.name == finding.measure)


def published(lines: Findings) -> Findings:
    """What of findings a report that is published shows."""
    day = datetime.date(2024, 1, 1)
    return external(Report("t", day, "1", (), Disclosure(), lines, "", "ab", True)).findings


def same_findings(one: Findings, other: Findings, when: str) -> None:
    """Hold findings to be equal to nine digits, whatever the order of lines.

    Parameters
    ----------
    one, other
        The findings.
    when
        How the second came about.
    """

    def key(f: Finding) -> tuple[str, ...]:
        return tuple(map(str, (f.measure, f.variable, f.group, f.at, f.attack)))

    hold(set(one.notes) == set(other.notes), f"{when}: other notes")
    hold(sorted(map(key, one)) == sorted(map(key, other)), f"{when}: other lines")
    for a, b in zip(sorted(one, key=key), sorted(other, key=key), strict=True):
        hold(all(map(_near, _numbers(a), _numbers(b))), f"{when}: another figure of {a.measure}")


def _numbers(f: Finding) -> tuple[float | None, ...]:
    low, high = f.interval or (None, None)
    return f.value, f.baseline, low, high


def _near(one: float | None, other: float | None) -> bool:
    if one is None or other is None:
        return one is other
    return math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-9)


def _planted(told: object) -> bool:
    return any(planted in str(told) for planted in PLANTED)


def _within(f: Finding) -> bool:
    if f.interval is None:
        return True
    return f.value is not None and f.interval[0] <= f.value <= f.interval[1]


def _asked(line: Finding) -> float | None:
    """The value that is found by all that a line names."""
    where = {k: v for k in ("variable", "group", "at", "attack") if (v := getattr(line, k)) is not None}
    told = ", ".join(f'{k}="{v}"' if isinstance(v, str) else f"{k}={v!r}" for k, v in where.items())
    return parse_figure(f"{line.measure}[{told}]" if told else line.measure).of(Findings((line,)))


def _as_it_says(f: Finding, how: Published) -> bool:
    shown = [v for v in (f.value, f.baseline, *(f.interval or ())) if v is not None]
    few_digits = all(v == float(f"{v:.3g}") for v in shown)
    if how == "rate":
        return few_digits
    if how == "mean":
        return few_digits and (f.variable is None or not shown)
    if how == "hundredth":
        return all(v == round(v, 2) for v in shown)
    if how == "ladder":
        return all(v == at_least(v) for v in shown)
    if how == "change":
        alone = f.baseline is None and f.interval is None and f.limit is None
        return alone and (f.value is None or f.value == round(f.value, 2))
    return not shown


def _word_faults(said: Figure) -> list[str]:
    """What is wrong with what is said of a figure."""
    kept = {
        "`title` begins with a capital letter": said.title[:1].isupper(),
        "`title` ends without a full stop": said.title[-1:].isalnum() or said.title.endswith(")"),
        "`what` is a sentence": said.what[:1].isupper() and said.what.endswith("."),
        "no such `form`": said.form in get_args(Form),
        "no such `better`": said.better in get_args(Better),
        "no such `published`": said.published in get_args(Published),
        "`aim` says what would mend it": isinstance(said.aim, Aim),
        "`baseline` begins with a capital letter": said.baseline is None or said.baseline[:1].isupper(),
        "`whole` is empty": bool(said.whole),
        "`usual` names group and attack only": set(said.usual) <= {"group", "attack"},
        "`clause` has one place for the value": said.clause.count("{}") == bool(said.clause),
    }
    return [fault for fault, well in kept.items() if not well]
