"""Draft a plan for a synthetic copy: what leaves before it is drawn, which relations it keeps, and what must hold."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, Final

import polars as pl

from sfumato.data.codebook import Codebook
from sfumato.data.profile import Guess
from sfumato.data.roles import IDS, NUMERIC_KINDS, Kind, Role
from sfumato.data.unseen import seen
from sfumato.methods.synthesise.method import Synthesise
from sfumato.plan.by_groups import exchange_of
from sfumato.plan.draft import head, parameter_line, refuse_betrayal, unknown_lines, variable_lines
from sfumato.plan.drafted import LeftOut
from sfumato.plan.edited import Edited
from sfumato.plan.editing.written import flow
from sfumato.plan.relations import Relation, relations_of
from sfumato.plan.spelling import yaml_list, yaml_text
from sfumato.plan.unknown import Unknown
from sfumato.plan.wishes import Purpose

__all__ = ["LIMITS", "SETTINGS", "Limits", "Settings", "SyntheticPlan", "synthetic_of"]


@dataclass(frozen=True)
class Limits:
    """What must hold for a purpose: how well members are told from others, and what a copy adds to a guess."""

    membership: float
    inference: float


LIMITS: Final = MappingProxyType({"scientific-use": Limits(0.65, 0.2), "public-use": Limits(0.55, 0.09)})


@dataclass(frozen=True)
class Settings:
    """How columns are drawn."""

    method: str = "cart"
    min_leaf: int = 5
    smooth: bool = False

    @property
    def donors(self) -> bool:
        """Whether all values are donors' own."""
        return self.method == "cart" and not self.smooth


SETTINGS: Final = (Settings(), Settings(min_leaf=20, smooth=True), Settings("parametric"))
"""What is tried."""
_ID = "its rows would be found together, and nothing rises within it by which they follow each other"
_HOUSEHOLD = "households are drawn whole where every record has one, and people who have several rows are not"
_LATE = "other rules settle what it looks at"
_OTHERWISE = "where another rule holds, too, it would be settled otherwise"
_TIME = "the rows of a person follow each other by it"
_NO_NUMBER = "the plan that was edited takes its time for no number"
_WITHIN = "it would settle for all rows what differs between them"


@dataclass(frozen=True)
class SyntheticPlan:
    """What a drafted plan for a synthetic copy does.

    Parameters
    ----------
    guesses
        What is known of the variables.
    left_out
        Columns that leave before the others are drawn.
    coarser
        Parameters of the step that makes a date or a place broader, by column.
    relations
        Those that were found, or that an edited plan has; the plan says those that are written.
    whole
        Parameters by which whole persons or households are drawn.
    order
        The order in which columns are drawn, where the file's does not do.
    kept
        Relations of an edited plan, in its words; None where there is none.
    unknown
        What an edited plan says that nobody knows, of columns that leave.
    """

    guesses: tuple[Guess, ...]
    left_out: tuple[LeftOut, ...]
    coarser: Mapping[str, Mapping[str, Any]]
    relations: tuple[Relation, ...]
    whole: Mapping[str, Any]
    order: tuple[str, ...] = ()
    kept: Mapping[str, Any] | None = None
    unknown: tuple[Unknown, ...] = ()

    @property
    def columns(self) -> tuple[str, ...]:
        """Columns that leave, ids among them."""
        gone = {one.column for one in self.left_out}
        return tuple(g.name for g in self.guesses if g.name not in gone)

    @property
    def learnt(self) -> tuple[str, ...]:
        """Categories that leave, and that nobody must learn or that are outcomes: guesses of them are limited."""
        found = [g for g in self.guesses if g.name in self.columns and not g.variable.numeric]
        return tuple(g.name for g in found if g.variable.private or g.variable.role == Role.OUTCOME)

    def text(
        self, title: str, purpose: Purpose, settings: Settings, *, tried: bool, edited: Edited | None = None
    ) -> str:
        """The plan as YAML.

        Parameters
        ----------
        title
            Of the plan, where no edited one has it.
        purpose
            What must hold.
        settings
            How columns are drawn.
        tried
            Whether others were tried.
        edited
            An edited plan whose title and variables stay.
        """
        top = head(title) if edited is None else edited.head()
        said = {} if edited is None else edited.lines(self.guesses)
        lines = [*top, *variable_lines(self.guesses, said), *self._steps(settings, tried)]
        lines += [*unknown_lines(self.unknown), *self._limits(purpose)]
        return seen("\n".join(lines) + "\n", lines=True)

    def _steps(self, settings: Settings, tried: bool) -> Iterator[str]:
        yield "steps:"
        if self.left_out:
            yield from (f"  # {one.column!r} is left out: {one.because}." for one in self.left_out)
            yield f"  - {{do: drop, columns: {yaml_list([one.column for one in self.left_out])}}}"
        steps = list(self.coarser.items())
        for step in (step for i, (_, step) in enumerate(steps) if step not in [s for _, s in steps[:i]]):
            columns = [n for n, each in steps if each == step]
            what = "year" if step["do"] == "coarsen_date" else "broader group"
            yield f"  # Of {seen(', '.join(columns))} the {what} stays."
            yield parameter_line(step, columns)
        yield "  # Every value is drawn from models of the data: no row is anybody's. Several copies would tell"
        yield "  # intruders more than one does, and let analysts see how sure they are."
        if tried:
            yield "  # How columns are drawn was chosen by trials."
        else:
            yield "  # What other settings cost: sfumato init FILE --synthetic --try. Trees (cart) keep relations best;"
            yield "  # larger leaves with smooth: true, or method: parametric, tell less of single people."
        yield "  - do: synthesise"
        yield "    columns: all"
        yield "    copies: 1"
        yield f"    method: {settings.method}"
        yield from [f"    min_leaf: {settings.min_leaf}"] if settings.min_leaf != Settings().min_leaf else []
        yield from ["    smooth: true"] if settings.smooth else []
        yield from self._whole()
        yield from self._related(settings)

    def _whole(self) -> Iterator[str]:
        if "persons" in self.whole:
            yield "    # Several rows are about one person: what never changes is drawn once, then rows in their order."
        if "households" in self.whole:
            yield "    # Whole households are drawn: what their members share once, then its members."
            yield "    # The eldest comes first; a column that says who is head would tell it better (head: COLUMN)."
        yield from (f"    {key}: {yaml_text(v) if isinstance(v, str) else 'true'}" for key, v in self.whole.items())

    def _related(self, settings: Settings) -> Iterator[str]:
        if self.order:
            yield "    # What a rule looks at is drawn before what it settles."
            yield f"    order: {yaml_list(self.order)}"
        if self.kept is not None:
            if self.kept:
                yield "    # Relations are those of the plan that was edited."
            yield from (f"    {key}: {flow(value)}" for key, value in self.kept.items())
            return
        said = [one for one in self.relations if one.written]
        if sums := [one for one in said if one.kind == "sum"]:
            yield "    # Sums are computed, so that they are right in every record."
            yield "    derived:"
            yield from (f"      {yaml_text(one.columns[0])}: {flow(one.rule.split(' = ', 1)[1])}" for one in sums)
        if keep := [one.rule for one in said if one.kind in ("order", "function")]:
            yield "    # What holds in every record of the data holds in every synthetic one."
            yield f"    keep: {flow(keep)}"
        if rules := [one for one in said if one.kind == "impossible"]:
            yield "    # Combinations that the data do not have."
            yield "    rules:"
            # By name: they were found in the order of how many records each holds of, which is not to be published.
            for one in sorted(rules, key=lambda one: (one.columns[0], one.column, one.condition)):
                told = flow({"if": one.condition, "column": one.column, "value": one.value})
                yield f"      - {told}"

    def _limits(self, purpose: Purpose) -> Iterator[str]:
        asked = LIMITS[purpose]
        yield "# What must hold, or the release is not written: how well a copy tells members from others, and what it"
        yield "# adds to a guess of what nobody must learn. Both are measured by a rehearsal."
        yield "limits:"
        yield f"  - {{measure: membership, group: auc, at_most: {asked.membership}}}"
        if self.learnt:
            yield f"  - {{measure: inference, group: risk, at_most: {asked.inference}}}"


def synthetic_of(
    frame: pl.DataFrame, guesses: Sequence[Guess], codebook: Codebook, edited: Edited | None = None
) -> SyntheticPlan:
    """Choose what leaves before a copy is drawn, and find the relations that it should keep.

    Parameters
    ----------
    frame
        The table.
    guesses
        What is known of its variables.
    codebook
        Which codes stand for missing values.
    edited
        An edited plan: where it has a step `synthesise`, its relations stay; others are told alone.

    Examples
    --------
    >>> from sfumato.data.profile import profile
    >>> people = [(f"a{i}@example.org", i % 40, i % 40 + i % 7) for i in range(300)]
    >>> rows = pl.DataFrame(people, schema=["mail", "score", "best"], orient="row")
    >>> plan = synthetic_of(rows, profile(rows, Codebook()), Codebook())
    >>> [one.column for one in plan.left_out], [one.rule for one in plan.relations]
    (['mail'], ['score <= best'])
    """
    chosen = exchange_of(frame, guesses)
    read = {n for n, dtype in frame.schema.items() if dtype.is_temporal() and dtype not in (pl.Time, pl.Duration)}
    stays = {g.name for g in guesses if g.name in read and g.variable.kind == Kind.DATE and not g.leaves}
    stays -= {g.name for g in guesses if g.variable.role == Role.IDENTIFIER}
    coarser = {n: step for n, step in chosen.coarser.items() if n not in stays}
    left_out = [one for one in chosen.left_out if one.column not in stays]
    gone = {one.column for one in left_out}
    drawn = [g.name for g in guesses if g.name not in {*gone, *coarser}]
    found = relations_of(frame, guesses, drawn, codebook)
    guesses, found = _in_time(frame, guesses, found, edited)
    panel = next((one for one in found if one.kind == "panel" and one.written), None)
    kept, whole, more = None, _whole(frame, guesses, panel, gone), list[LeftOut]()
    step = None if edited is None else next((s for s in edited.plan.steps if isinstance(s, Synthesise)), None)
    if step is not None:
        kept, whole = _of_edited(step, {*drawn, *coarser}), _whole_of(step) or whole
    for g in guesses:
        if g.name not in gone and g.variable.role == Role.PERSON and "persons" not in whole:
            more.append(LeftOut(g.name, _ID))
        if g.name not in gone and g.variable.role == Role.HOUSEHOLD and "households" not in whole:
            more.append(LeftOut(g.name, _HOUSEHOLD))
    unit = next((g.name for g in guesses if g.variable.role in _UNITS[next(iter(whole), "")]), None)
    relations, order = _in_order(frame, guesses, drawn, found, unit)
    if kept is not None:
        relations, order = _beside(relations, kept, "persons" in whole), ()
    unknown = () if edited is None else _unknown(frame, guesses, {*gone, *(one.column for one in more)}, edited)
    return SyntheticPlan(tuple(guesses), (*left_out, *more), coarser, relations, whole, order, kept, unknown)


_UNITS: Mapping[str, tuple[Role, ...]] = {"persons": (Role.PERSON,), "households": (Role.HOUSEHOLD,), "": ()}


def _in_time(
    frame: pl.DataFrame, guesses: Sequence[Guess], found: Sequence[Relation], edited: Edited | None
) -> tuple[Sequence[Guess], tuple[Relation, ...]]:
    """Take the time of rows for a number, where an edited plan says nothing else; nothing is told by it or tells it."""
    panel = next((one for one in found if one.kind == "panel"), None)
    if panel is None:
        return guesses, tuple(found)
    time = panel.columns[1]
    kind = next(g.variable.kind for g in guesses if g.name == time)
    if kind not in (*NUMERIC_KINDS, Kind.DATE):
        if edited is not None and time in edited.plan.variables and edited.plan.variables[time].kind is not None:
            return guesses, tuple(replace(o, written=False, because=_NO_NUMBER) if o is panel else o for o in found)
        kind = Kind.INTEGER if frame.schema[time].is_integer() else Kind.CONTINUOUS
        guesses = [
            replace(g, variable=g.variable.model_copy(update={"kind": kind}), reason=f"{g.reason}; it orders rows")
            if g.name == time
            else g
            for g in guesses
        ]

    def late(one: Relation) -> bool:
        return (one.kind == "function" and time in one.columns) or (one.kind == "impossible" and one.column == time)

    return guesses, tuple(replace(o, written=False, because=o.because or _TIME) if late(o) else o for o in found)


def _whole(
    frame: pl.DataFrame, guesses: Sequence[Guess], panel: Relation | None, gone: set[str]
) -> dict[str, bool | str]:
    """Whole persons where rows repeat in an order; else whole households where every record has one."""
    if panel is not None and panel.columns[0] not in gone:
        return {"persons": True, "time": panel.columns[1]}
    ids = [g.name for g in guesses if g.variable.role == Role.HOUSEHOLD and g.name not in gone]
    complete = any(not frame[n].null_count() and frame[n].n_unique() < frame.height for n in ids)
    return {"households": True} if complete else {}


def _unknown(frame: pl.DataFrame, guesses: Sequence[Guess], gone: set[str], edited: Edited) -> tuple[Unknown, ...]:
    """What an edited plan says that nobody knows, of columns that leave; refused where the reason names somebody."""
    leave = [g.name for g in guesses if g.name not in gone and g.variable.role not in IDS]
    unknown = edited.stated(leave, edited.known(guesses))
    refuse_betrayal(unknown, frame, guesses)
    return unknown


def _whole_of(step: Synthesise) -> dict[str, bool | str]:
    """What an edited plan says of whole persons and households."""
    told = {"persons": step.persons, "time": step.time, "households": step.households, "head": step.head}
    return {key: value for key, value in told.items() if value}


def _of_edited(step: Synthesise, columns: set[str]) -> dict[str, Any]:
    """The relations of an edited step, in its words, as far as its columns leave."""
    order = [n for n in step.order if n in columns]
    derived = {n: formula for n, formula in step.derived.items() if n in columns}
    rules = [rule.model_dump(mode="json", by_alias=True) for rule in step.rules if rule.column in columns]
    told = {"order": order, "derived": derived, "keep": list(step.keep), "rules": rules}
    return {key: value for key, value in told.items() if value}


def _beside(found: Sequence[Relation], kept: Mapping[str, Any], persons: bool) -> tuple[Relation, ...]:
    """What was found, where the plan says that which the edited one does, and nothing else."""
    sums = {f"{n} = {formula}" for n, formula in kept.get("derived", {}).items()}
    rules = {(rule["if"], rule["column"], rule["value"]) for rule in kept.get("rules", ())}

    def said(one: Relation) -> bool:
        if one.kind == "sum":
            return one.rule in sums
        if one.kind == "impossible":
            return (one.condition, one.column, one.value) in rules
        return persons if one.kind == "panel" else one.rule in kept.get("keep", ())

    why = "the plan that was edited does not say it"
    return tuple(replace(one, written=said(one), because="" if said(one) else one.because or why) for one in found)


def _in_order(
    frame: pl.DataFrame, guesses: Sequence[Guess], drawn: Sequence[str], found: Sequence[Relation], unit: str | None
) -> tuple[tuple[Relation, ...], tuple[str, ...]]:
    """The relations that one order of drawing allows, and that order where it is not the file's, weights last."""
    computed = {one.columns[0] for one in found if one.kind == "sum"}
    roles = {g.name: g.variable.role for g in guesses}
    free = [n for n in drawn if roles[n] not in IDS and n not in computed]
    free.sort(key=lambda n: roles[n] == Role.WEIGHT)
    before: dict[str, set[str]] = {n: set() for n in free}
    fixed: dict[str, bool] = {}

    def shared(column: str) -> bool:
        """Whether a column is the same in all rows of a unit."""
        if column not in fixed:
            fixed[column] = bool(frame.group_by(unit).agg(pl.col(column).n_unique() == 1)[column].all())
        return fixed[column]

    told: list[Relation] = []
    for one in found:
        if one.kind not in ("function", "impossible") or not one.written:
            told.append(one)
            continue
        settled, looked_at = one.columns if one.kind == "function" else (one.column, one.columns[0])
        if unit is not None and shared(settled) and not shared(looked_at):
            told.append(replace(one, written=False, because=_WITHIN))
        elif any(_contradict(one, other) for other in told):
            told.append(replace(one, written=False, because=_OTHERWISE))
        elif _leads(before, settled, looked_at):
            told.append(replace(one, written=False, because=_LATE))
        else:
            before[settled].add(looked_at)
            told.append(one)
    order: list[str] = []
    while len(order) < len(free):
        order.append(next(n for n in free if n not in order and before[n] <= {*order}))
    return tuple(told), () if order == free else tuple(order)


def _contradict(one: Relation, other: Relation) -> bool:
    """Whether two rules would settle a column differently where both hold: the data may have no such record."""
    rules = one.kind == other.kind == "impossible" and one.written and other.written
    apart = one.columns[0] == other.columns[0] and one.condition != other.condition
    return rules and one.column == other.column and one.value != other.value and not apart


def _leads(before: Mapping[str, set[str]], start: str, end: str) -> bool:
    """Whether a column must be drawn before another one already."""
    held, left = set[str](), [end]
    while left:
        one = left.pop()
        if one not in held:
            held.add(one)
            left += before[one]
    return start in held
