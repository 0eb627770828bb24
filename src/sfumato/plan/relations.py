"""Relations between the columns of a table that synthetic copies should keep, and which of them a plan may say.

A plan is published, and what it says of all records is said of each. Sums and orders name columns alone. That the
district tells the region gives away the region of whoever is the only one in a district; that a ward has one value of
what nobody must learn gives it away of everybody in the ward. Such relations are told to the custodian alone.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.data.codebook import Codebook, Scalar
from sfumato.data.expression import parse
from sfumato.data.profile import Guess
from sfumato.data.roles import IDS, NUMERIC_KINDS, Kind, Role
from sfumato.errors import FormulaError
from sfumato.kernels.relations.orders import orders_of
from sfumato.kernels.relations.rising import rising
from sfumato.kernels.relations.settled import Settled, functions_of, settled_by
from sfumato.kernels.relations.sums import Sum, sums_of
from sfumato.kernels.tabular.pairs import Coded, told_by

__all__ = ["Relation", "formula_name", "relations_of"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_MOST_RULES = 20
_FEWEST = 10
"""Records that must have a value of a column by which the plan says that another one is looked up."""
_MOST_DECIMALS = 9
_CATEGORIES = (Kind.CATEGORICAL, Kind.ORDINAL, Kind.GEOGRAPHIC)
_TIME = re.compile(
    r"(?i)(?:^|[_.\s])?(?:visit|wave|time|day|date|week|month|quarter|year|round|period|occasion|follow)"
)
_PERSONAL = "it would settle what nobody must learn"
_SMALL = "few people have some of its values"
_COMPUTED = "one of its columns is computed"
_NOT_DRAWN = "its values are no category"
_TWICE = "it is looked up already"
_LATE = "other rules settle what it looks at"


@dataclass(frozen=True)
class Relation:
    """A relation between columns.

    Parameters
    ----------
    kind
        `sum`: one column is the sum of others. `order`: one is at most another. `function`: one is told by another.
        `impossible`: a value of one settles another. `panel`: an id on several rows, and what rises within it.
    columns
        The columns; of a sum the total first, else in the order of the rule.
    rule
        The relation in words of a plan.
    share
        In which share of the records it holds; confidential, as exceptions are.
    written
        Whether the plan says it.
    because
        Why it does not.
    column, value
        Of impossible cells, the column that is settled, and its value; `condition` is when.
    condition
        A formula.
    """

    kind: Literal["sum", "order", "function", "impossible", "panel"]
    columns: tuple[str, ...]
    rule: str
    share: float = 1.0
    written: bool = True
    because: str = ""
    column: str = ""
    value: Scalar | None = None
    condition: str = ""

    def to_plain(self) -> dict[str, Any]:
        """The JSON form.

        Examples
        --------
        >>> Relation("order", ("start", "end"), "start <= end").to_plain()["written"]
        True
        """
        told = {"kind": self.kind, "columns": list(self.columns), "rule": self.rule}
        return told | {"share": self.share, "written": self.written}


def formula_name(name: str) -> str | None:
    """A column as formulas name it; None where they cannot.

    Examples
    --------
    >>> formula_name("age"), formula_name("monthly income"), formula_name("in")
    ('age', '`monthly income`', '`in`')
    """
    for spelt in (name, f"`{name}`"):
        try:
            if (formula := parse(spelt)).names == (name,) and formula.text == spelt:
                return spelt
        except FormulaError:
            continue
    return None


def relations_of(
    frame: pl.DataFrame, guesses: Sequence[Guess], columns: Collection[str], codebook: Codebook
) -> tuple[Relation, ...]:
    """Find sums, orders, functions, impossible cells and repeated rows.

    Parameters
    ----------
    frame
        The table.
    guesses
        What its variables are taken for.
    columns
        Those that are drawn as they stand in the table: relations of others are not looked for.
    codebook
        Which codes stand for missing values.

    Returns
    -------
    tuple of Relation
        Sums first, then orders, functions, impossible cells, and repeated rows.

    Examples
    --------
    >>> from sfumato.data.profile import profile
    >>> rng = np.random.default_rng(1)
    >>> own, other = rng.integers(0, 900, (2, 300))
    >>> rows = pl.DataFrame({"own": own, "other": other, "all": own + other})
    >>> [one.rule for one in relations_of(rows, profile(rows, Codebook()), rows.columns, Codebook())]
    ['all = own + other']
    """
    found = _Search(frame, [g for g in guesses if g.name in columns and formula_name(g.name)], codebook)
    panel = found.panel(next((g.name for g in guesses if g.variable.role == Role.PERSON), None))
    sums = list(found.sums())
    return (*sums, *found.orders(), *found.told(panel), *([] if panel is None else [panel]))


class _Search:
    """A search in one table."""

    def __init__(self, frame: pl.DataFrame, guesses: Sequence[Guess], codebook: Codebook) -> None:
        self.frame, self.codebook = frame, codebook
        self.guesses = {g.name: g for g in guesses if g.variable.role not in IDS}
        self.totals: dict[str, Relation] = {}
        self.parts: dict[str, tuple[str, ...]] = {}
        self.given: dict[str, Floats] = {}

    def missing(self, name: str) -> NDArray[np.bool_]:
        """Where a column is missing, by codes or without one."""
        held = self.frame.select(self.codebook.missing(name, self.frame.schema[name]))
        return np.asarray(held.to_series().to_numpy())

    def number(self, name: str) -> Floats:
        """A column of numbers or dates, not a number where it is missing."""
        if name not in self.given:
            own = self.frame.get_column(name)
            own = own.to_physical() if own.dtype.is_temporal() else own
            value = own.cast(pl.Float64, strict=False).fill_null(float("nan")).to_numpy().copy()
            value[self.missing(name) | ~np.isfinite(value)] = np.nan
            self.given[name] = value
        return self.given[name]

    def numbers(self) -> list[str]:
        """Columns of numbers that may add up: amounts, and codes that may be scores."""
        return [
            n for n, g in self.guesses.items() if self.frame.schema[n].is_numeric() and g.variable.role != Role.WEIGHT
        ]

    def sums(self) -> Iterator[Relation]:
        """Totals; further relations are not of them."""
        names = self.numbers()
        if len(names) < 3:
            return
        values = np.stack([self.number(n) for n in names], axis=1)
        unit = np.array([self._unit(n) for n in names])
        for one in sums_of(values, unit):
            yield self._sum(one, names)

    def _sum(self, one: Sum, names: Sequence[str]) -> Relation:
        total, parts = names[one.total], tuple(names[i] for i in one.parts)
        formula = " + ".join(str(formula_name(n)) for n in parts)
        found = Relation("sum", (total, *parts), f"{formula_name(total)} = {formula}", one.share)
        self.totals[total], self.parts[total] = found, parts
        return found

    def _unit(self, name: str) -> float:
        """One unit of the last place of a column; 0 for codes."""
        if self.guesses[name].variable.kind not in NUMERIC_KINDS:
            return 0.0
        if self.frame.schema[name].is_integer():
            return 1.0
        own = self.number(name)
        some = own[np.isfinite(own)][:2_000]
        for decimals in range(_MOST_DECIMALS):
            if np.array_equal(np.round(some, decimals), some):
                return float(10.0**-decimals)
        return float(np.finfo(np.float64).tiny)

    def orders(self) -> Iterator[Relation]:
        """Neighbours among the columns that are drawn; what holds of totals beyond their sums is told alone."""
        names = [n for n, g in self.guesses.items() if self._ordered(n) and g.variable.role != Role.WEIGHT]
        drawn = [n for n in names if n not in self.totals]
        for one, other in self._pairs(drawn):
            yield self._order(one, other)
        implied = set(self._implied())
        for one, other in self._pairs(names) if self.totals else ():
            if {one, other} & self.totals.keys() and (one, other) not in implied:
                yield self._order(one, other, _COMPUTED)

    def _order(self, one: str, other: str, because: str = "") -> Relation:
        rule = f"{formula_name(one)} <= {formula_name(other)}"
        return Relation("order", (one, other), rule, 1.0, not because, because)

    def _ordered(self, name: str) -> bool:
        kind, dtype = self.guesses[name].variable.kind, self.frame.schema[name]
        return (kind in NUMERIC_KINDS and dtype.is_numeric()) or dtype in (pl.Date, pl.Datetime)

    def _pairs(self, names: Sequence[str]) -> list[tuple[str, str]]:
        if len(names) < 2:
            return []
        types = {n: str(self.frame.schema[n]) if self.frame.schema[n].is_temporal() else "number" for n in names}
        kinds = list(dict.fromkeys(types.values()))
        values = np.stack([self.number(n) for n in names], axis=1)
        return [(names[i], names[j]) for i, j in orders_of(values, [kinds.index(types[n]) for n in names])]

    def _implied(self) -> Iterator[tuple[str, str]]:
        """Parts of sums of numbers that are not below 0, each with its total, and with the total that this is of."""
        above = {
            total: set(parts)
            for total, parts in self.parts.items()
            if all(np.nanmin(self.number(n)) >= 0 for n in parts)
        }
        for total in above:
            left, held = list(above[total]), set[str]()
            while left:
                part = left.pop()
                held.add(part)
                left += above.get(part, ())
            yield from ((part, total) for part in held)

    def told(self, panel: Relation | None) -> Iterator[Relation]:
        """Functions and impossible cells, of persons where rows repeat, as far as they hold in all rows."""
        names = list(self.guesses)
        codes = {n: self._codes(n) for n in names}
        rows = np.arange(self.frame.height) if panel is None else _one_each(self.frame.get_column(panel.columns[0]))
        some, values = zip(*(_among(codes[n], rows) for n in names), strict=True) if names else ((), ())
        able = [i for i, own in enumerate(some) if own.size <= len(rows) / 2]
        whole = [_coded(codes[n]) for n in names]
        functions = [
            each for each in functions_of(some, set(able)) if told_by(whole[each.by], whole[each.told]) is not None
        ]
        functions.sort(key=lambda one: (one.told, one.by))
        every = [names[each.told] for each in functions]
        related = [self._function(names[f.told], names[f.by], f.smallest, every) for f in functions]
        yield from related
        looked_up = {one.columns[0] for one in related if one.written}
        tells = {(i, j) for i in able for j in range(len(names)) if i != j and told_by(some[i], some[j]) is not None}
        count = 0
        for cell in _hubs(settled_by(some, able, tells)):
            found = self._cell(cell, names, codes, values)
            if found is None or found.column in looked_up or found.column in self.totals:
                continue
            count += found.written
            if count <= _MOST_RULES:
                yield found

    def _codes(self, name: str) -> pl.Series:
        """Numbers of a column's values, missing ones without a code among them."""
        own = self.frame.get_column(name)
        own = own.fill_nan(None) if own.dtype.is_float() else own
        own = own.cast(pl.String) if own.dtype in (pl.Categorical, pl.Enum) else own
        return own.rank("dense").fill_null(0).cast(pl.UInt32)

    def _function(self, told: str, by: str, smallest: int, every: Sequence[str]) -> Relation:
        variable = self.guesses[by].variable
        rule = f"{formula_name(told)} of {formula_name(by)}"
        because = ""
        if self._personal(told):
            because = _PERSONAL
        elif smallest < _FEWEST:
            because = _SMALL
        elif {told, by} & self.totals.keys():
            because = _COMPUTED
        elif variable.kind not in _CATEGORIES:
            because = _NOT_DRAWN
        elif every.count(told) > 1:
            because = _TWICE
        return Relation("function", (told, by), rule, 1.0, not because, because)

    def _personal(self, name: str) -> bool:
        variable = self.guesses[name].variable
        return variable.private or variable.role == Role.OUTCOME

    def _cell(
        self, cell: Settled, names: Sequence[str], codes: Mapping[str, pl.Series], values: Sequence[Ints]
    ) -> Relation | None:
        """What a value settles, as a rule; None where no plan can say it, or other rows of a person break it."""
        when, then = names[cell.column], names[cell.told]
        own, other = int(values[cell.column][cell.value]), int(values[cell.told][cell.is_])
        held = (codes[when] == own).to_numpy()
        if not (codes[then].filter(pl.Series(held)) == other).all() or when in self.totals:
            return None
        first = int(np.flatnonzero(held)[0])
        if self.missing(when)[first]:
            return None
        gone = bool(self.missing(then)[first])
        value = self.frame.get_column(then)[first]
        value = None if gone and _no_code(value) else value
        condition = _condition(when, self.frame.get_column(when)[first])
        if condition is None or not (value is None or isinstance(value, str | int | float | bool)):
            return None
        if not self._picks(condition, held):
            return None
        shown = "missing" if gone else _literal(value) or str(value)
        either = self._personal(when) and codes[when].n_unique() <= 2  # who has another value than told has the other
        because = _PERSONAL if (self._personal(then) or either) and not gone else ""
        rule = f"{condition}: {formula_name(then)} {shown}"
        return Relation("impossible", (when, then), rule, 1.0, not because, because, then, value, condition)

    def _picks(self, condition: str, held: NDArray[np.bool_]) -> bool:
        """Whether a formula holds in these records and no others."""
        try:
            told = self.frame.select(parse(condition).polars(self.codebook, self.frame.schema).alias("held"))
        except (FormulaError, pl.exceptions.PolarsError):
            return False
        return bool(np.array_equal(told.to_series().fill_null(value=False).to_numpy(), held))

    def panel(self, person: str | None) -> Relation | None:
        """An id that stands on several rows, with the first column that rises within it."""
        if person is None or self.frame.get_column(person).null_count():
            return None
        unit = self.frame.get_column(person).rank("dense").cast(pl.Int64).to_numpy()
        names = [n for n in self.guesses if self._rises(n)]
        if not names or len(np.unique(unit)) == len(unit):
            return None
        values = np.stack([self.number(n) for n in names], axis=1)
        found = [names[i] for i in rising(unit, values)]
        if not found:  # the file may stand in another order
            of_time = [i for i, n in enumerate(names) if _TIME.search(n)]
            found = [names[i] for i in of_time if rising(*_sorted(unit, values[:, i]))]
        time = next((n for n in found if _TIME.search(n)), next(iter(found), None))
        if time is None:
            return None
        return Relation(
            "panel", (person, time), f"{formula_name(person) or person} in the order of {formula_name(time)}"
        )

    def _rises(self, name: str) -> bool:
        dtype = self.frame.schema[name]
        return (dtype.is_numeric() or dtype in (pl.Date, pl.Datetime)) and name not in self.totals


def _hubs(cells: Sequence[Settled]) -> list[Settled]:
    """What is said without saying it twice: of values that come together the first settles the others."""
    links = {((one.column, one.value), (one.told, one.is_)) for one in cells}
    nodes = sorted({node for link in links for node in link})
    hub = {node: next(n for n in nodes if n == node or {(n, node), (node, n)} <= links) for node in nodes}
    after: dict[tuple[int, int], set[tuple[int, int]]] = {node: set() for node in nodes}
    for start, end in links:
        after[start].add(end)

    def needed(one: Settled) -> bool:
        start, end = (one.column, one.value), (one.told, one.is_)
        if hub[start] == hub[end]:
            return start == hub[start]
        if start != hub[start] or end != hub[end]:
            return False
        between = after[start] - {end}
        return not any(end in after[node] and hub[node] not in (hub[start], hub[end]) for node in between)

    return [one for one in cells if needed(one)]


def _sorted(unit: Ints, value: Floats) -> tuple[Ints, Floats]:
    order = np.lexsort((value, unit))
    return unit[order], value[order][:, None]


def _one_each(ids: pl.Series) -> Ints:
    """The middle one of each person's rows: what varies within people is seen as it mostly is."""
    table = pl.DataFrame({"id": ids, "row": np.arange(len(ids))})
    middle = table.group_by("id", maintain_order=True).agg(pl.col("row").get(pl.len() // 2))
    return middle["row"].to_numpy()


def _coded(codes: pl.Series) -> Coded:
    own = codes.to_numpy()
    used, code = np.unique(own, return_inverse=True)
    return Coded(code.astype(np.uint32), np.bincount(code, minlength=len(used)).astype(np.int64))


def _among(codes: pl.Series, rows: Ints) -> tuple[Coded, Ints]:
    """A column of some rows, and which of its values each number stands for."""
    own = codes.to_numpy()[rows]
    used, code = np.unique(own, return_inverse=True)
    coded = Coded(code.astype(np.uint32), np.bincount(code, minlength=len(used)).astype(np.int64))
    return coded, used.astype(np.int64)


def _no_code(value: object) -> bool:
    return value is None or (isinstance(value, float) and not np.isfinite(value))


def _condition(name: str, value: object) -> str | None:
    """A formula that holds where a column has a value."""
    literal = _literal(value)
    return None if literal is None else f"{formula_name(name)} == {literal}"


def _literal(value: object) -> str | None:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float):
        return repr(value)
    if not isinstance(value, str) or "\\" in value or not value.isprintable():
        return None
    quote = next((q for q in "'\"" if q not in value), None)
    return None if quote is None else f"{quote}{value}{quote}"
