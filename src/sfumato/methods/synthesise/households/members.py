"""Draw the members of households one after the other, head first; or the rows of persons, in the order of time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.methods.synthesise.coding import Coded, Coding
from sfumato.methods.synthesise.households.earlier import (
    PLACE,
    SIZE,
    Count,
    Earlier,
    at,
    make_up,
    measured,
    of_head,
    of_last,
    of_mean,
    plain_numbers,
)
from sfumato.methods.synthesise.households.group import Group
from sfumato.methods.synthesise.households.homes import Layout
from sfumato.methods.synthesise.households.original import Original, by_value
from sfumato.methods.synthesise.households.times import latest, rising, roomy
from sfumato.methods.synthesise.sequence import Target

__all__ = ["Drawn", "Members", "person_units"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Words = NDArray[np.uint64]

_LOOKED_AT = 5
"""Most columns of earlier members that a column is drawn from, itself among them."""
_PLACES = np.uint64(20)
"""Bits of a synthetic person's unit that hold the place in the household."""


@dataclass(frozen=True)
class Drawn:
    """People of one copy, or stratum of a copy, household by household.

    Parameters
    ----------
    frame
        Their columns.
    layout
        Who lives with whom.
    """

    frame: pl.DataFrame
    layout: Layout


def person_units(layout: Layout, numbers: Words) -> Words:
    """The unit of each synthetic person: the household's number, and the place in it.

    Parameters
    ----------
    layout
        Who lives with whom.
    numbers : ndarray of uint64, shape (m,)
        The households' numbers.
    """
    return np.asarray((numbers[layout.whose] << _PLACES) + layout.place.astype(np.uint64))


class Members:
    """The models of members: heads, those who come second, and all others. Confidential: they hold true values.

    Where so few come second, or after, that they fill no two leaves, all who are not heads have one model. So have all
    rows of persons after the first: each is drawn given the one before, the second as any other.

    Parameters
    ----------
    original
        What is drawn from.
    """

    def __init__(self, original: Original) -> None:
        self._original = original
        place, few = original.layout.place, 2 * original.step.min_leaf
        self._apart = original.time is None and bool(min(np.sum(place == 2), np.sum(place > 2)) >= few)
        self._strict = original.time is not None and original.rises
        told = self._as_drawn()
        group = self._group_of(place)
        rows = [np.flatnonzero(group == i) for i in range(3 if self._apart else 2)]
        self._groups = [self._group(i, told, own) for i, own in enumerate(rows) if len(own)]

    def _group_of(self, place: Ints) -> Ints:
        """Which model draws the members at some places: 0 heads, 1 the second, 2 the others; or 1 all others."""
        return np.asarray(np.minimum(place, 3 if self._apart else 2) - 1)

    def draw(self, table: Mapping[str, Coded], copy: int, numbers: Words | None) -> Drawn:
        """Draw the people of one copy.

        Parameters
        ----------
        table
            What its households have once.
        copy
            Which copy.
        numbers : ndarray of uint64, shape (k,), optional
            The unit of each synthetic household; None where people stay.
        """
        original = self._original
        layout = original.layout if numbers is None else Layout(_sizes(table[SIZE]))
        units = original.record if numbers is None else person_units(layout, numbers)
        own = {name: _empty(layout.people) for name in original.own}
        earlier = self._earlier(make_up(table, original.counts), len(layout.size))
        for place in range(1, int(layout.size.max()) + 1) if original.own else ():
            homes, rows = layout.at(place)
            fixed = _fixed({n: at(table[n], homes) for n in (*original.shared, SIZE)}, earlier, homes, place)
            true = {n: at(original.columns[n], rows) for n in original.given(original.own)}
            group = int(self._group_of(np.array(place)))
            keys = original.keys(f"members {group}", units[rows], units[:0])
            most = latest(original, layout.size[homes] - place) if self._strict else {}
            members = true | self._groups[group].draw(fixed | true, copy, keys, len(rows), most)
            for name, column in members.items():
                _put(own[name], rows, column)
            earlier.add(homes, place, members)
        told = {name: at(table[name], layout.whose) for name in original.shared} | own
        return Drawn(pl.DataFrame([original.codings[n].series(told[n]) for n in original.names]), layout)

    def _earlier(self, totals: Mapping[Count, Floats], homes: int) -> Earlier:
        original = self._original
        return Earlier(original.own, self._averaged(original.own), totals, homes)

    def _averaged(self, names: tuple[str, ...]) -> tuple[str, ...]:
        """Numbers whose mean over all members before is looked at; of rows in time the one before says more."""
        numbers = tuple(n for n in names if len(self._original.codings[n].edges))
        return numbers if self._original.time is None else ()

    def _as_drawn(self) -> dict[str, Coded]:
        """What each member of the original would be drawn from, as far as there is somebody before."""
        original, layout = self._original, self._original.layout
        out = dict(original.columns)
        earlier = self._earlier(original.totals, len(layout.size))
        size = plain_numbers(layout.size)
        for place in range(1, int(layout.size.max()) + 1):
            homes, rows = layout.at(place)
            for name, column in _fixed({SIZE: at(size, homes)}, earlier, homes, place).items():
                _put(out.setdefault(name, _empty(layout.people)), rows, column)
            earlier.add(homes, place, {name: at(original.columns[name], rows) for name in original.own})
        return out

    def _group(self, number: int, told: Mapping[str, Coded], rows: Ints) -> Group:
        """The models of the members in some rows."""
        original = self._original
        home, record = original.units[original.layout.whose[rows]], original.record[rows]
        there = {name: at(column, rows) for name, column in told.items()}
        order = by_value(there, home, record)
        columns = {name: at(column, order) for name, column in there.items()}
        codings = {name: self._coding(name, column) for name, column in columns.items()}
        step = replace(
            original.step,
            columns=original.drawn(original.own),
            given=(*original.shared, *original.given(original.own)),
        )
        targets = [
            replace(target, predictors=(*target.predictors, *self._around(target, number)))
            for target in step.targets(original.frame[rows[order]], original.codebook, codings, columns)
        ]
        self._strict &= not any(target.name == original.time and target.bounding for target in targets)
        targets = [rising(t, original, columns) if number else roomy(t, original) for t in targets]
        keys = original.keys("", home[:0], home[order])
        return Group(targets, codings, columns, keys.weights if step.proper else None)

    def _coding(self, name: str, column: Coded) -> Coding:
        """How a column is coded: what earlier members have as their own column is."""
        known = self._original.codings
        for n in self._original.own:
            if name in (n, of_head(n), of_last(n)):
                return known[n]
        return known[name] if name in known else measured(name, column)

    def _around(self, target: Target, number: int) -> tuple[str, ...]:
        """What a column is drawn from beside the member's own columns and the household's."""
        around = (SIZE, *(count.left for count in self._original.counts))
        if number == 0:
            return around
        looked = self._looked_at(target.name)
        around += tuple(of_head(n) for n in looked)
        if number == 1 and self._apart:
            return around
        return (*around, PLACE, *(of_last(n) for n in looked), *(of_mean(n) for n in self._averaged(looked)))

    def _looked_at(self, name: str) -> tuple[str, ...]:
        """The columns of earlier members that help to draw one: itself, and the first of those that may."""
        original = self._original
        wanted = original.step.predictors.get(name, original.own)
        others = [n for n in (*original.drawn(original.own), *original.given(original.own)) if n in wanted]
        return tuple(dict.fromkeys((name, *others)))[:_LOOKED_AT]


def _fixed(table: Mapping[str, Coded], earlier: Earlier, homes: Ints, place: int) -> dict[str, Coded]:
    """What the members at a place are drawn from, beside columns of their own."""
    return {**table, PLACE: plain_numbers(np.full(len(homes), place)), **earlier.of(homes, place)}


def _sizes(size: Coded) -> Ints:
    return np.asarray(np.maximum(np.rint(size.number), 1), dtype=np.int64)


def _empty(rows: int) -> Coded:
    return Coded(np.zeros(rows, dtype=np.int64), np.zeros(rows))


def _put(column: Coded, rows: Ints, values: Coded) -> None:
    column.state[rows], column.number[rows] = values.state, values.number
