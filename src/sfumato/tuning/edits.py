"""Edits of a plan that may make it hold, the cheapest kind first: of each kind ever stronger versions of the plan."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from sfumato.data.finding import Finding
from sfumato.data.roles import NOT_LEARNT, Role
from sfumato.engines.polars import PolarsDataset
from sfumato.kernels.grid import significant
from sfumato.methods.base import Method
from sfumato.plan.editing.edits import add, remove, set_value
from sfumato.plan.plan import Plan
from sfumato.plan.unknown import ORDER, OTHERS
from sfumato.report.report import Report

__all__ = ["KINDS", "Ground", "Kind", "Version", "failing"]

_LADDER = (3, 5, 8, 12, 20, 30)
_SIZES = {"swap": "group", "centroids": "k", "anonymise": "k", "suppress_cells": "k"}
"""What says how many records are alike, by step."""
_STRONGER = (1.5, 2.5, 4.0)
_STRENGTHS = {"noise": ("share", "sd", "variance"), "swap": ("window",), "swap_households": ("rate",)}
_BROADER_DATES = ("week", "month", "quarter", "year", "decade")
_RARE = (10, 30)
_MOST_LEFT_OUT = 3
_WITH_GROUPS = (
    {"measure": "linkage_nearest", "group": "released", "at_most": 0.2},
    {"measure": "uniques_kept", "at_most": 0.05},
)
"""What a plan with exchange within groups must limit, as drafts for scientific use do."""
Key = str | int


@dataclass(frozen=True)
class Version:
    """A plan with one edit.

    Parameters
    ----------
    words
        The edit, in words.
    text
        The plan as YAML.
    """

    words: str
    text: str


@dataclass(frozen=True)
class Ground:
    """What edits start from.

    Parameters
    ----------
    text, plan
        The plan as YAML, and what it says.
    report
        What came of it.
    table
        The table as it enters the first step.
    """

    text: str
    plan: Plan
    report: Report
    table: PolarsDataset

    @property
    def leaving(self) -> list[str]:
        """Columns of the table that no step leaves out."""
        gone = {n for step in self.plan.steps if step.name == "drop" for n in step.changes}
        return [n for n in self.table.frame.columns if n in self.table.codebook and n not in gone]


@dataclass(frozen=True)
class Kind:
    """A kind of edit.

    Parameters
    ----------
    versions
        The plan with ever stronger edits of this kind, or with one of several.
    ladder
        Whether each version goes further than the one before: where one does not help, no further one is tried.
    """

    versions: Callable[[Ground], Iterator[Version]]
    ladder: bool = True


def failing(report: Report) -> list[Finding]:
    """The figures that break a limit.

    Parameters
    ----------
    report
        What came of a plan.
    """
    return [f for f in report.findings if f.ok is False]


def _new_ids(ground: Ground) -> Iterator[Version]:
    """Ids that leave as they were are replaced, and the order of the file with them."""
    text, said = ground.text, []
    if ORDER in ground.report.open_ids:
        text = remove(text, ["order"])
        said.append("rows leave in an order that tells nothing")
    if ids := [n for n in ground.report.open_ids if n != ORDER]:
        text = add(text, ["steps"], None, {"do": "pseudonymise", "columns": ids, "scope": "table", "format": "number"})
        said.append(f"new ids for {', '.join(ids)}")
    if said:
        yield Version(" and ".join(said), text)


def _larger_groups(ground: Ground) -> Iterator[Version]:
    sizes = {
        (i, name): now
        for i, step in enumerate(ground.plan.steps)
        if (name := _SIZES.get(step.name)) and isinstance(now := getattr(step, name, None), int)
    }
    for size in _LADDER:
        wider = {place: size for place, now in sizes.items() if now < size}
        if wider:
            yield _set(ground, wider)


def _wider_bands(ground: Ground) -> Iterator[Version]:
    """Half as many bands, twice as wide ones, broader dates, larger cells of a grid."""
    for times in (2, 4):
        changed: dict[tuple[int, str], Any] = {}
        for i, step in enumerate(ground.plan.steps):
            changed |= {(i, name): value for name, value in _broader(step, times)}
        if changed:
            yield _set(ground, changed)


def _broader(step: Method, times: int) -> Iterator[tuple[str, Any]]:
    if step.name == "recode" and (bands := getattr(step, "band", None)) is not None:
        if hasattr(bands, "n"):
            if bands.n > times:
                yield "band", bands.model_dump(exclude_unset=True) | {"n": max(bands.n // times, 2)}
        elif getattr(step, "labels", None) is None and len(bands) > times:
            yield "band", [int(cut) if cut == int(cut) else cut for cut in bands[times - 1 :: times]]
    if step.name == "coarsen_date" and (to := getattr(step, "to", None)) in _BROADER_DATES[:-1]:
        further = _BROADER_DATES.index(to) + times.bit_length() - 1
        yield "to", _BROADER_DATES[min(further, len(_BROADER_DATES) - 1)]
    if step.name == "coarsen_date" and getattr(step, "to", None) == "age_band":
        yield "width", getattr(step, "width", 5) * times
    if step.name == "to_grid" and (size := getattr(step, "size", None)) is not None:
        yield "size", size * times


def _merged(ground: Ground) -> Iterator[Version]:
    """Rare categories of columns that nothing makes coarser become one, or those that are merged become larger."""
    steps = ground.plan.steps
    first = next((i for i, step in enumerate(steps) if step.masks), len(steps))
    merging = {(i, "min_count"): getattr(s, "min_count", 0) for i, s in enumerate(steps) if s.name == "merge_rare"}
    changed = {n for step in steps for n in step.changes if not step.masks or step.name == "pram"}
    frame, book = ground.table.frame, ground.table.codebook
    texts = [n for n, kind in frame.schema.items() if kind in (pl.String, pl.Categorical, pl.Enum)]
    usual = (Role.KEY, Role.OTHER, Role.SENSITIVE)
    free = [n for n in texts if n in book and n not in changed and book[n].role in usual and book[n].kind != "text"]
    for count in _RARE:
        rarer = {place: count for place, now in merging.items() if now < count}
        if rarer:
            yield _set(ground, rarer)
        elif not merging and (rare := [n for n in free if _has_rare(frame[n], count)]):
            step = {"do": "merge_rare", "columns": rare, "min_count": count}
            words = f"merge categories of fewer than {count} records ({', '.join(rare)})"
            yield Version(words, add(ground.text, ["steps"], first if steps else None, step))


def _has_rare(column: pl.Series, count: int) -> bool:
    """Whether some categories, but not most records, are rare."""
    sizes = column.drop_nulls().value_counts(name="n")["n"]
    return len(sizes) > 2 and int(sizes.min()) < count and int(sizes.filter(sizes < count).sum()) < len(column) / 2  # type: ignore[arg-type]


def _shorter_by(ground: Ground) -> Iterator[Version]:
    """Fewer strata: the last column leaves `by`, then the one before it."""
    strata = {i: step.strata for i, step in enumerate(ground.plan.steps) if step.masks and getattr(step, "by", None)}
    least = {i: getattr(ground.plan.steps[i], "on_small", None) == "merge" for i in strata}  # which needs one column
    for fewer in (1, 2):
        shorter = {(i, "by"): list(by[:-fewer]) for i, by in strata.items() if len(by) >= fewer + least[i]}
        if shorter:
            yield _set(ground, shorter)


def _more_noise(ground: Ground) -> Iterator[Version]:
    for times in _STRONGER:
        stronger: dict[tuple[int, str], Any] = {}
        for i, step in enumerate(ground.plan.steps):
            for name in _STRENGTHS.get(step.name, ()):
                if (now := getattr(step, name, None)) is not None:
                    stronger[i, name] = _times(now, times, most=1.0 if name in ("window", "rate") else None)
            if step.name == "pram" and isinstance(kept := getattr(step, "retention", None), float):
                stronger[i, "retention"] = significant(kept / times)
        if stronger := {place: value for place, value in stronger.items() if value is not None}:
            yield _set(ground, stronger)


def _times(now: Any, times: float, most: float | None) -> Any:
    """A strength, one for all columns or one for each, so many times as large."""
    if isinstance(now, Mapping):
        return {n: _times(value, times, most) for n, value in now.items()}
    if isinstance(now, bool) or not isinstance(now, int | float):
        return None
    larger = significant(now * times)
    return larger if most is None else min(larger, most)


def _exchanged(ground: Ground) -> Iterator[Version]:
    """What leaves as it was beside the keys is exchanged among similar records, with the limits that this needs."""
    assumed, strata = ground.report.assumed, ground.plan.traces.strata
    book = ground.table.codebook
    free = [n for n in assumed.released if n in book and n not in (*assumed.keys, *strata)]
    columns = [n for n in free if book[n].role not in NOT_LEARNT]
    if not columns:
        return
    text = ground.text
    for limit in _WITH_GROUPS:
        if not any(own.measure == limit["measure"] for own in ground.plan.limits):
            text = add(text, ["limits"], None, limit)
    for size in _LADDER[1:]:
        step = {"do": "swap", "columns": columns, "group": size}
        words = f"exchange {', '.join(columns)} in groups of {size} similar records"
        yield Version(words, add(text, ["steps"], None, step))


def _left_out(ground: Ground) -> Iterator[Version]:
    """Without one column: whose limit is broken, else those that tell most people apart."""
    frame, book = ground.table.frame, ground.table.codebook
    free = [n for n in ground.leaving if book[n].role not in (*NOT_LEARNT, Role.OUTCOME)]
    own = [f.variable for f in failing(ground.report) if f.variable in free]
    many = sorted(free, key=lambda n: (-frame[n].n_unique(), n))
    for name in dict.fromkeys([*(n for n in own if n is not None), *many][:_MOST_LEFT_OUT]):
        text = _without_word(ground, name)
        yield Version(f"leave {name} out", add(text, ["steps"], None, {"do": "drop", "columns": [name]}))


def _without_word(ground: Ground, column: str) -> str:
    """The text without what it says of a column that is unknown: one that does not leave needs no word."""
    text = ground.text
    for i, each in reversed(list(enumerate(ground.plan.unknown))):
        if each.columns != OTHERS and column in each.columns:
            rest = [n for n in each.columns if n != column]
            text = set_value(text, ["unknown", i, "columns"], rest) if rest else remove(text, ["unknown", i])
    return text


def _set(ground: Ground, values: Mapping[tuple[int, str], Any]) -> Version:
    text = ground.text
    said: dict[str, list[str]] = {}
    for (i, name), value in values.items():
        text = set_value(text, ["steps", i, name], value)
        said.setdefault(f"{name} {_short(value)}", []).append(f"step {i + 1} ({ground.plan.steps[i].name})")
    return Version("; ".join(f"{what} in {' and '.join(where)}" for what, where in said.items()), text)


def _short(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{n}: {part}" for n, part in value.items())
    if isinstance(value, Sequence) and not isinstance(value, str):
        return ", ".join(map(str, value)) or "nothing"
    return str(value)


KINDS = (
    Kind(_new_ids),
    Kind(_larger_groups),
    Kind(_wider_bands),
    Kind(_merged),
    Kind(_shorter_by),
    Kind(_more_noise),
    Kind(_exchanged),
    Kind(_left_out, ladder=False),
)
"""All kinds, the cheapest first; the last resort, a draft from the plan's roles, is no edit."""
