"""What the step keeps in every synthetic record: relations as a plan writes them, and what is wrong with them."""

from __future__ import annotations

import re
from collections.abc import Collection, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass

from sfumato.data.codebook import Codebook
from sfumato.data.roles import NUMERIC_KINDS, Kind
from sfumato.methods.synthesise.lookup import Lookup
from sfumato.methods.synthesise.ordered import Order

__all__ = ["Kept", "in_order", "in_turn", "read"]

_QUOTED = re.compile(r"`([^`]+)`")
_ORDER = re.compile(
    r"(?P<low>`[^`]+`|[^<>=`]*[^<>=`\s])\s*(?P<sign><=|<)\s*(?P<high>`[^`]+`|[^<>=`\s][^<>=`]*)", re.DOTALL
)
_OF = re.compile(r"\s+of\s+")
NO_RELATION = (
    "{text!r} is no relation that is kept: write 'a <= b', 'a < b', or 'x of y' where y tells x (a name with other "
    "signs in backticks)"
)


def read(text: str, known: Collection[str] = ()) -> Order | Lookup:
    """Read a relation.

    Parameters
    ----------
    text
        As a plan writes it. A name may stand in backticks, as in formulas; it must where it holds < or =.
    known
        The columns of the table; they tell where a name ends that has "of" in it.

    Raises
    ------
    ValueError
        A text that is none.

    Examples
    --------
    >>> read("day <= futime"), read("region of district").by
    (Order(low='day', high='futime', strict=False), 'district')
    >>> read("part of town of part of street", {"part of town", "part of street"}).told
    'part of town'
    >>> read("`net <= gross` <= `seat of power`").names
    ('net <= gross', 'seat of power')
    """
    text = text.strip()
    if found := _ORDER.fullmatch(text):
        return Order(_name(found["low"]) or "", _name(found["high"]) or "", found["sign"] == "<")
    parts = [(_name(text[: m.start()]), _name(text[m.end() :])) for m in _OF.finditer(text)]
    pairs = [(told, by) for told, by in parts if told and by]
    if not pairs:
        raise ValueError(NO_RELATION.format(text=text))
    return Lookup(*next((pair for pair in pairs if pair[0] in known and pair[1] in known), pairs[0]))


def _name(text: str) -> str | None:
    """A column's name without its backticks; None where they stand within it, so that it is none."""
    if quoted := _QUOTED.fullmatch(text):
        return quoted[1]
    return None if "`" in text else text


def in_order(names: Sequence[str], relations: Sequence[Order | Lookup], listed: Sequence[str]) -> tuple[str, ...]:
    """Columns in the order in which they are drawn: what is told right after what tells it.

    Parameters
    ----------
    names
        The columns as they would be drawn otherwise.
    relations
        What is kept.
    listed
        Columns whose order the plan gives, which stays.

    Examples
    --------
    >>> in_order(["region", "age", "district"], [Lookup("region", "district")], ())
    ('age', 'district', 'region')
    """
    out = list(names)
    lookups = [one for one in relations if isinstance(one, Lookup)]
    for _ in lookups:  # what is told may tell others
        for told, by in (one.names for one in lookups):
            free = told in out and by in out and not {told, by} <= set(listed)
            if free and out.index(told) < out.index(by):
                out.remove(told)
                out.insert(out.index(by) + 1, told)
    return tuple(out)


def in_turn(names: Mapping[str, tuple[str, ...]]) -> list[str]:
    """Columns in an order in which each follows those that it hangs on; those of a circle are left out.

    Parameters
    ----------
    names
        For each column those that it hangs on.

    Examples
    --------
    >>> in_turn({"a": ("b",), "b": (), "c": ("d",), "d": ("c",)})
    ['b', 'a']
    """
    done: list[str] = []
    while ready := [n for n, own in names.items() if n not in done and all(o in done or o not in names for o in own)]:
        done += ready
    return done


@dataclass(frozen=True)
class Kept:
    """What is kept, beside all that it may contradict.

    Parameters
    ----------
    relations
        What is kept.
    codebook
        Of the table.
    drawn
        What is drawn, in order.
    given
        What stays true and helps to draw.
    by
        Strata.
    computed
        Columns that are computed in the end.
    settled
        Columns that rules settle.
    predictors
        Columns whose predictors are listed.
    smooth
        Whether numbers are drawn between donors.
    """

    relations: tuple[Order | Lookup, ...]
    codebook: Codebook
    drawn: tuple[str, ...]
    given: tuple[str, ...]
    by: tuple[str, ...]
    computed: tuple[str, ...]
    settled: tuple[str, ...]
    predictors: tuple[str, ...]
    smooth: bool

    def problems(self) -> Iterator[str]:
        """What is wrong, a sentence for each."""
        for one in self.relations:
            wrong = yield from self._columns(one)
            if not wrong:
                yield from self._told(one) if isinstance(one, Lookup) else self._ordered(one)
        yield from self._circles()
        told = [one.told for one in self.relations if isinstance(one, Lookup)]
        for name in sorted({n for n in told if told.count(n) > 1}):
            yield f"`keep` has {name} told by several columns: leave one alone"
        texts = [one.text for one in self.relations]
        for text in sorted({t for t in texts if texts.count(t) > 1}):
            yield f"`keep` says {text!r} more than once"

    def _columns(self, one: Order | Lookup) -> Generator[str, None, bool]:
        """What is wrong with the columns of a relation; whether anything is."""
        wrong = False
        for name in one.names:
            said = ""
            if name in self.computed:
                said = f"{name} is computed by `derived` in the end: keep what it is computed from"
            elif name in self.by:
                said = f"{name} is in `by`, within which the others are drawn: leave one of both out"
            elif name in self.codebook and name not in (*self.drawn, *self.given):
                said = f"{name} is neither drawn nor stays true and helps to draw (an id, a text)"
            if said or name not in self.codebook:
                wrong = True
            if said:
                yield f"`keep` says {one.text!r}, but {said}"
        if not wrong and one.names[0] == one.names[1]:
            yield f"`keep` says {one.text!r}, which names one column twice"
            wrong = True
        if not wrong and not any(name in self.drawn for name in one.names):
            yield f"`keep` says {one.text!r}, but both columns stay true: nothing is drawn that could keep it"
            wrong = True
        return wrong

    def _ordered(self, one: Order) -> Iterator[str]:
        kinds = [self.codebook[name].kind for name in one.names]
        for name, kind in zip(one.names, kinds, strict=True):
            if kind not in (None, Kind.DATE, *NUMERIC_KINDS):
                yield f"`keep` says {one.text!r}, but {name} is {kind}: only numbers and dates are compared"
                return
        if (kinds[0] == Kind.DATE) != (kinds[1] == Kind.DATE) and None not in kinds:
            yield f"`keep` says {one.text!r}, which compares a date with a number"

    def _told(self, one: Lookup) -> Iterator[str]:
        said, numeric = f"`keep` says {one.text!r}, but", (Kind.DATE, *NUMERIC_KINDS)
        orders = [o for o in self.relations if isinstance(o, Order)]
        if one.by not in self.drawn:
            yield f"{said} {one.by} stays true, so that it would give the true {one.told}: draw {one.by}, too"
            return
        if self.smooth and self.codebook[one.by].kind in (*numeric, None):
            yield f"{said} {one.by} is drawn between donors by `smooth`, so that it has values that tell nothing"
        if any(one.told in o.names for o in orders):
            yield f"{said} {one.told} stands in another relation, too, which the value that is looked up may break"
        if one.told not in self.drawn:
            yield from self._drawn_within(one, orders)
            return
        if self.drawn.index(one.told) < self.drawn.index(one.by):
            yield f"{said} `order` lists {one.told} before {one.by}: what is told is looked up, so that it comes later"
        if one.told in self.settled:
            yield f"{said} a rule settles {one.told}, too, which is looked up"
        if one.told in self.predictors:
            yield f"`predictors` lists {one.told}, which is looked up from {one.by}"
        place = {name: i for i, name in enumerate((*self.given, *self.drawn))}
        for o in (o for o in orders if one.by in o.names):
            other = o.low if o.high == one.by else o.high
            if place.get(other, -1) < place[one.by] and other in place:
                yield (
                    f"{said} {one.by} is drawn as its difference from {other}, so that it may have values that tell "
                    f"nothing: let `order` list it before {other}"
                )
            elif other in self.settled:
                yield f"{said} {one.by} bends where a rule settles {other}, to values that tell nothing"

    def _drawn_within(self, one: Lookup, orders: Sequence[Order]) -> Iterator[str]:
        """What stays true and is told by what is drawn."""
        said = f"`keep` says {one.text!r} and {one.told} stays true, but"
        if one.by in self.settled:
            yield f"{said} a rule settles {one.by}, whatever it tells"
        if any(one.by in o.names for o in orders):
            yield f"{said} {one.by} stands in another relation, which it could not keep, too"
        if any(isinstance(o, Lookup) and o.told == one.by for o in self.relations):
            yield f"{said} {one.by} is looked up itself"

    def _circles(self) -> Iterator[str]:
        for kind, circle in ((Order, "orders"), (Lookup, "look-ups")):
            hangs: dict[str, tuple[str, ...]] = {}
            for one in self.relations:
                if isinstance(one, kind) and one.names[0] != one.names[1]:
                    after, first = one.names if isinstance(one, Lookup) else (one.names[1], one.names[0])
                    hangs[after] = (*hangs.get(after, ()), first)
                    hangs.setdefault(first, ())
            if len(turn := in_turn(hangs)) < len(hangs):
                yield f"`keep` goes round in a circle of {circle}: {', '.join(sorted(set(hangs) - set(turn)))}"
