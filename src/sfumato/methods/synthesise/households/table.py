"""What a household has once: its columns, then its size, then its make-up."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.errors import DataError
from sfumato.methods.synthesise.coding import Coded
from sfumato.methods.synthesise.households.earlier import SIZE, at, measured, plain_numbers
from sfumato.methods.synthesise.households.original import Original, by_value
from sfumato.methods.synthesise.sequence import Target, drawn

__all__ = ["household_tables"]

Words = NDArray[np.uint64]

FROM_MEMBERS = (
    "Column {column!r} is the same for all of each household, so that it is drawn before any member, and {others} "
    "cannot help to draw it. Leave them out of {where}."
)
FROM_ROWS = (
    "Column {column!r} is the same in all rows of each person, so that it is drawn before any row, and {others} "
    "cannot help to draw it. Leave them out of {where}."
)


def household_tables(original: Original, numbers: Words | None) -> list[dict[str, Coded]]:
    """Draw what households have once, for every copy.

    Parameters
    ----------
    original
        What is drawn from.
    numbers : ndarray of uint64, shape (k,), optional
        The unit of each synthetic household; None where households stay, with their sizes and what is given of them.

    Returns
    -------
    list
        Of each copy the columns of households by name, their size and the counts of their make-up.

    Raises
    ------
    DataError
        Predictors, or rules, that would draw what is a household's from its members.
    """
    _refuse_members(original)
    table = {name: at(original.columns[name], original.layout.first) for name in original.shared}
    more = {SIZE: plain_numbers(original.layout.size)}
    more |= {count.name: plain_numbers(total) for count, total in original.totals.items() if not count.rest}
    codings = original.codings | {name: measured(name, column) for name, column in more.items()}
    table |= more
    order = by_value(table, original.units)
    ordered = {name: at(column, order) for name, column in table.items()}
    heads = original.frame[original.layout.first[order]]
    stays = _stay(original) if numbers is None else []
    sized = None if numbers is None else _told_size(original)
    given = original.given(original.shared)
    step = replace(original.step, columns=original.drawn(original.shared), given=given)
    own = [_beside(target, stays) for target in step.targets(heads, original.codebook, codings, ordered)]
    targets = [*own, *_of_people(original, stays, sized)]
    units = original.units if numbers is None else numbers
    keys = original.keys("", units, original.units[order])
    fixed = {name: table[name] for name in (*given, *stays)}
    made = drawn(targets, codings, ordered, fixed, len(units), step.copies, keys, proper=step.proper)
    for copy in made if sized else ():
        values = codings[sized or ""].series(copy[sized or ""])
        copy[SIZE] = plain_numbers(values.cast(pl.Float64).to_numpy())
    return made


def _stay(original: Original) -> list[str]:
    """Size and make-up of true households, as far as columns tell them that stay true."""
    return [SIZE, *(count.name for count in original.drawn_counts if count.column in original.step.given)]


def _beside(target: Target, stays: list[str]) -> Target:
    return replace(target, predictors=(*target.predictors, *stays))


def _of_people(original: Original, stays: list[str], sized: str | None) -> Iterator[Target]:
    """Size and make-up, each from the household's columns and what was drawn of people before."""
    names = [n for n in (SIZE, *(count.name for count in original.drawn_counts)) if n not in stays]
    before = [*original.shared, *stays]
    step = original.step
    if original.regressions:
        step = replace(step, parametric=step.parametric | set(names))
    for name in (n for n in names if n != SIZE or sized is None):
        yield Target(name, tuple(before), step.fit(name), weighted=name not in step.parametric)
        before.append(name)


def _told_size(original: Original) -> str | None:
    """A column that is the number of members in every household."""
    ruled = {rule.column for rule in original.step.rules}
    size = pl.Series(original.layout.size[original.layout.whose])
    for name in original.shared:
        column = original.frame[name]
        if name not in ruled and column.dtype.is_numeric() and (column == size).fill_null(False).all():
            return name
    return None


def _refuse_members(original: Original) -> None:
    """Refuse to draw a household's column from columns of its members."""
    shared, own, step = original.drawn(original.shared), original.own, original.step
    true = original.given(own)
    for name in shared:
        asked = {"`predictors`": step.predictors.get(name, ())}
        asked["its rules"] = tuple(n for rule in step.rules if rule.column == name for n in rule.condition.names)
        orders = (n for order in step.orders if name in order.names for n in order.names if n in true)
        told = (lookup.told for lookup in step.lookups if lookup.by == name and lookup.told in true)
        asked["`keep`"] = (*orders, *told, *(lookup.by for lookup in step.lookups if lookup.told == name))
        for where, names in asked.items():
            if others := [n for n in names if n in own]:
                said = FROM_MEMBERS if original.time is None else FROM_ROWS
                raise DataError(said.format(column=name, others=", ".join(others), where=where))
