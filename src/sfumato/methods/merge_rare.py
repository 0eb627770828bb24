"""Merge categories that few records have: into their parent, into "Other", or with a neighbour."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import polars as pl
from pydantic import Field, field_validator

from sfumato.data.codebook import Codebook, Variable
from sfumato.data.disclosure import Coarsened
from sfumato.data.hierarchy import Hierarchy, as_texts, text_of
from sfumato.data.holding import holding
from sfumato.data.publishable import Publishable
from sfumato.data.query import COUNT, Counts
from sfumato.data.roles import NUMERIC_KINDS, Kind
from sfumato.errors import DataError
from sfumato.methods.base import Method, Stage, StepDraws
from sfumato.methods.checks import role_problems
from sfumato.methods.generalising import as_category, code_text, refuse_unlisted, unlisted, with_codes

__all__ = ["OTHER", "MergeRare", "into_neighbours", "into_one", "into_parents"]

OTHER = "Other"
"""What rare categories become where nothing else is said."""
_PARENT = "parent"


@dataclass(frozen=True)
class _Merged:
    """Which categories became which, and how many records have another one now. Confidential."""

    new: Mapping[str, str]
    changed: int
    single: bool
    ordered: bool


class MergeRare(Method):
    """Merge the categories that few records have.

    Protects against an intruder who knows that somebody has a rare category: at least `min_count` records share every
    category that is released. It does not protect a rare combination with other columns: look at `k_anonymity` after
    it.

    Where what was merged is still rare, the next smallest category joins it, so that no lone small one is left. Ties go
    by the category's text. Of ordered categories neighbours are merged ("none to some"), the smallest first, with the
    smaller of both sides; so the order stays. Missing values and missing codes take no part and stay.

    Parameters
    ----------
    columns
        The columns, each by itself. Numbers that stand for categories become texts.
    min_count
        Fewest records of a category that stays.
    into
        What rare categories become: `parent`, the next broader category of the variable's hierarchy, or a text of
        yours. By default `Other`, and for ordered categories their neighbour.

    Examples
    --------
    >>> into_one({"a": 9, "b": 2, "c": 1, "d": 4}, 5, "Other")
    {'b': 'Other', 'c': 'Other', 'd': 'Other'}
    """

    coarsens: ClassVar[bool] = True

    do: Literal["merge_rare"] = "merge_rare"
    columns: tuple[str, ...] = Field(min_length=1)
    min_count: int = Field(ge=2)
    into: str | None = None

    @field_validator("into")
    @classmethod
    def _named(cls, into: str | None) -> str | None:
        if into is not None and not into.strip():
            raise ValueError("`into` is parent, or the name of a category")
        return into

    @property
    def counts_records(self) -> bool:
        """Categories need so many."""
        return True

    def check(self, codebook: Codebook) -> list[str]:
        """Categories, hierarchies where they are asked for, and a name that is no missing code."""
        known = {n: codebook[n] for n in self.columns if n in codebook}
        problems = super().check(codebook) + role_problems(codebook, self.columns)
        wrong = (*NUMERIC_KINDS, Kind.DATE)
        problems += [
            f"column {n!r} is {v.kind}; merge_rare needs categories (recode it with `band`, or coarsen_date). If its "
            f"numbers are codes, say so under variables: {n}: {{kind: categorical}}"
            for n, v in known.items()
            if v.kind in wrong
        ]
        if self.into == _PARENT:
            problems += [
                f"column {n!r} has no hierarchy, so its categories have no parent. Give one under variables, or `into`"
                for n, v in known.items()
                if not v.hierarchy
            ]
        name = self.into or OTHER
        problems += [
            f"{name!r} is a missing code of {n!r}; choose another name (`into`)"
            for n, v in known.items()
            if any(code_text(code) == name for code in v.missing)
        ]
        return problems

    def _ordered(self, variable: Variable) -> bool:
        """Whether rare categories join their neighbours."""
        return self.into is None and bool(variable.order)

    def describe(self, codebook: Codebook, states: tuple[Any, ...] = ()) -> Codebook:
        """Categories as texts; those that nobody merged keep their labels."""
        merged: Mapping[str, _Merged] = states[0] if states else {}
        return codebook.replace(**{n: self._described(codebook[n], merged.get(n)) for n in self.columns})

    def _described(self, old: Variable, merged: _Merged | None) -> Variable:
        gone = {} if merged is None else merged.new
        order: tuple[str, ...] = ()
        if self._ordered(old):
            order = tuple(dict.fromkeys(gone.get(text_of(v), text_of(v)) for v in old.order))
        labels = {text_of(v): text for v, text in old.labels.items() if text_of(v) not in gone}
        new = as_category(old, Kind.ORDINAL if order else Kind.CATEGORICAL, order)
        return new.model_copy(update={"labels": labels})

    def stage(self, codebook: Codebook, states: tuple[Any, ...]) -> Stage | None:
        """One pass, value by value, after a look at how many records each category has."""

        def fit(answers: Sequence[pl.DataFrame]) -> dict[str, _Merged]:
            counted = dict(zip(self.columns, answers, strict=True))
            if self.into == _PARENT:
                hierarchies = {n: Hierarchy.of(codebook[n]) for n in counted}
                refuse_unlisted({n: unlisted(counted[n], n, COUNT, codebook, h) for n, h in hierarchies.items() if h})
            return {n: self._merged(n, counts, codebook) for n, counts in counted.items()}

        def transform(batch: pl.DataFrame, state: dict[str, _Merged], draws: StepDraws) -> pl.DataFrame:
            return batch.with_columns(_renamed(n, batch, codebook, state[n].new) for n in self.columns)

        return None if states else Stage(transform, tuple(Counts((n,)) for n in self.columns), fit)

    def _merged(self, column: str, counts: pl.DataFrame, codebook: Codebook) -> _Merged:
        dtype = counts.schema[column]
        if dtype.is_temporal() or dtype.is_nested():
            raise DataError(f"Column {column!r} holds {holding(dtype)}; merge_rare needs categories.")
        held = counts.filter(~codebook.missing(column, dtype)).select(as_texts(pl.col(column), dtype), pl.col(COUNT))
        records = {
            str(value): int(n) for value, n in held.group_by(column).agg(pl.col(COUNT).sum()).sort(column).rows()
        }
        variable = codebook[column]
        hierarchy = Hierarchy.of(variable) if self.into == _PARENT else None
        if hierarchy is not None:
            new = into_parents(records, self.min_count, hierarchy)
        elif self._ordered(variable):
            new = into_neighbours(records, self.min_count, [text_of(v) for v in variable.order])
        else:
            new = into_one(records, self.min_count, self.into or OTHER)
        new = {old: name for old, name in new.items() if old != name}
        left = {new.get(old, old) for old in records}
        changed = sum(records[old] for old in new if old in records)
        return _Merged(new, changed, len(records) > 1 and len(left) == 1, self._ordered(variable))

    def disclose(self, states: tuple[Any, ...]) -> tuple[Coarsened, ...]:
        """The rule; never which categories were rare."""
        merged: Mapping[str, _Merged] = states[0]
        one = tuple(n for n, m in merged.items() if not m.ordered)
        beside = tuple(n for n, m in merged.items() if m.ordered)
        name = "their parent in the hierarchy" if self.into == _PARENT else self.into or OTHER
        rule = f"so that categories of fewer than {self.min_count} records"
        told = ((one, f"{rule} became {name}"), (beside, f"{rule} were merged with their neighbour"))
        return tuple(Coarsened(columns, how) for columns, how in told if columns)

    def notes(self, states: tuple[Any, ...]) -> tuple[str, ...]:
        """How many categories and records were merged."""
        merged: Mapping[str, _Merged] = states[0]
        return tuple(f"{n}: {len(m.new)} categories of {m.changed} records were merged." for n, m in merged.items())

    def warnings(self, states: tuple[Any, ...]) -> tuple[str, ...]:
        """Columns of which nothing is left."""
        merged: Mapping[str, _Merged] = states[0]
        single = [n for n, m in merged.items() if m.single]
        if not single:
            return ()
        return (
            Publishable(
                f"merge_rare: all categories of {', '.join(single)} became one, for too few records have any other "
                f"(min_count {self.min_count}).",
                "Leave the column out, or recode it by hand.",
            ),
        )


def _renamed(column: str, batch: pl.DataFrame, codebook: Codebook, new: Mapping[str, str]) -> pl.Expr:
    dtype = batch.schema[column]
    text = as_texts(pl.col(column), dtype)
    if new:
        text = text.replace(list(new), list(new.values()))
    return with_codes(column, dtype, codebook, text)


def _smallest(records: Mapping[str, int]) -> str:
    return min(records, key=lambda name: (records[name], name))


def into_one(records: Mapping[str, int], min_count: int, name: str) -> dict[str, str]:
    """Merge rare categories into one, which the next smallest join until it is no rare one.

    Parameters
    ----------
    records
        How many records each category has.
    min_count
        Fewest of a category that stays.
    name
        What the one is called; a category of that name is part of it.

    Returns
    -------
    dict
        The new category of each that was merged.

    Examples
    --------
    >>> into_one({"a": 9, "b": 2, "Other": 3}, 5, "Other")
    {'b': 'Other'}
    >>> into_one({"a": 9, "b": 7}, 5, "Other")
    {}
    """
    rest = dict(records)
    total = rest.pop(name, 0)
    rare = [old for old, n in sorted(rest.items()) if n < min_count]
    if not rare and (not total or total >= min_count):
        return {}
    total += sum(rest.pop(old) for old in rare)
    while total < min_count and rest:
        rare.append(_smallest(rest))
        total += rest.pop(rare[-1])
    return dict.fromkeys(rare, name)


def into_neighbours(records: Mapping[str, int], min_count: int, order: Sequence[str]) -> dict[str, str]:
    """Merge rare categories with a neighbour, the smallest first, until none is rare.

    Parameters
    ----------
    records, min_count
        As in `into_one`.
    order
        All categories from lowest to highest.

    Returns
    -------
    dict
        As in `into_one`; also of categories in between that nobody has.

    Examples
    --------
    >>> into_neighbours({"none": 9, "some": 2, "most": 4, "all": 9}, 5, ["none", "some", "most", "all"])
    {'some': 'some to most', 'most': 'some to most'}
    """
    strange = sorted(set(records) - set(order))
    if strange:
        raise DataError("`order` does not list all values of a column whose rare categories are to be merged.")
    groups = [(i, i, records[name]) for i, name in enumerate(order) if records.get(name)]
    while len(groups) > 1:
        at = min(range(len(groups)), key=lambda g: (groups[g][2], g))
        if groups[at][2] >= min_count:
            break
        sides = [g for g in (at - 1, at + 1) if 0 <= g < len(groups)]
        one, two = sorted((at, min(sides, key=lambda g: (groups[g][2], g))))
        groups[one : two + 1] = [(groups[one][0], groups[two][1], groups[one][2] + groups[two][2])]
    merged = ((first, last) for first, last, _ in groups if first < last)
    return {name: f"{order[a]} to {order[b]}" for a, b in merged for name in order[a : b + 1]}


def into_parents(records: Mapping[str, int], min_count: int, hierarchy: Hierarchy) -> dict[str, str]:
    """Merge rare categories into their parents, which siblings join until they are no rare ones, level by level.

    Parameters
    ----------
    records, min_count
        As in `into_one`.
    hierarchy
        Lists all categories.

    Returns
    -------
    dict
        As in `into_one`.

    Examples
    --------
    >>> towns = Hierarchy((("York", "North"), ("Leeds", "North"), ("Hull", "North"), ("Bath", "South")))
    >>> into_parents({"York": 3, "Leeds": 3, "Hull": 9, "Bath": 9}, 5, towns)
    {'York': 'North', 'Leeds': 'North'}
    """
    now = {leaf: leaf for leaf in records}
    for level in range(1, hierarchy.height + 1):
        above = hierarchy.level(level)
        for parent in sorted({above[leaf] for leaf in now}):
            _into_parent(now, records, min_count, parent, [leaf for leaf in now if above[leaf] == parent])
    return {leaf: name for leaf, name in now.items() if leaf != name}


def _into_parent(
    now: dict[str, str], records: Mapping[str, int], min_count: int, parent: str, leaves: Sequence[str]
) -> None:
    """Move what is rare below a parent to it, and then the next smallest until the parent is not."""
    sizes: dict[str, int] = {}
    for leaf in leaves:
        sizes[now[leaf]] = sizes.get(now[leaf], 0) + records[leaf]
    total = sizes.pop(parent, 0)
    moved = sorted(name for name, n in sizes.items() if n < min_count)
    total += sum(sizes.pop(name) for name in moved)
    while 0 < total < min_count and sizes:
        moved.append(_smallest(sizes))
        total += sizes.pop(moved[-1])
    for leaf in leaves:
        if now[leaf] in moved:
            now[leaf] = parent
