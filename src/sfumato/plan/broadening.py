"""How far keys must be broadened so that few people stand nearly alone with theirs.

A plan is public: it may name categories that many people share, never rare ones, and cut points are round numbers.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.data.codebook import Codebook, Scalar, Variable
from sfumato.data.hierarchy import as_texts, text_of
from sfumato.data.kinds import Facts
from sfumato.kernels.grid import round_step
from sfumato.methods.generalising import code_text
from sfumato.methods.merge_rare import OTHER, into_neighbours, into_one
from sfumato.plan.coarsening import Level

__all__ = ["Broadened", "Form", "broaden", "in_small"]

Ints = NDArray[np.int64]

_FREQUENT = (0.01, 0.02, 0.05, 0.1, 0.2)
_MERGED = (*_FREQUENT, 0.3, 0.4)
_BANDS = 8
_DENSE = 4


@dataclass(frozen=True)
class Form:
    """What becomes of a key: nothing, where all is empty.

    Parameters
    ----------
    keep
        Categories that stay, all of them frequent; all others become missing.
    merge
        Records that a category needs; those that have fewer become one, or join a neighbour. 0: all stay.
    band
        Cut points.
    leaves
        Whether it is dropped.
    coarsen
        The step that comes first, with its parameters but the column.
    """

    keep: tuple[Scalar, ...] = ()
    merge: int = 0
    band: tuple[float, ...] = ()
    leaves: bool = False
    coarsen: Mapping[str, Any] = field(default_factory=dict)


_Coded = tuple[Form, Ints]
"""A form of a column, with the number of each record's category; a finer one only divides those of a coarser one."""


@dataclass(frozen=True)
class Broadened:
    """What becomes of each key, and whether some records still stand in combinations that are too small.

    Parameters
    ----------
    forms
        By column.
    some_small
        Whether records must be left out besides.
    codes
        Of each key that stays, the number of each record's category as it will be; 0 where it is missing, and no code
        says why.
    """

    forms: dict[str, Form]
    some_small: bool
    codes: Mapping[str, Ints] = field(default_factory=dict, repr=False, compare=False)

    @property
    def left(self) -> tuple[str, ...]:
        """The keys that stay, in the order given."""
        return tuple(n for n, form in self.forms.items() if not form.leaves)


def broaden(
    frame: pl.DataFrame,
    variables: Mapping[str, Variable],
    numbers: Sequence[str] = (),
    *,
    smallest: int,
    share: float = 0.05,
    apart: Ints | None = None,
    levels: Mapping[str, Sequence[Level]] | None = None,
    kept: Collection[str] = (),
    merging: bool = False,
) -> Broadened:
    """Find forms of keys under which at most a share of the records stands in combinations of fewer than `smallest`.

    First every key is taken in, in its broadest form, those with fewest values first; one that does not fit even so
    leaves. Then they are refined in turns, as long as the share allows. The rule is simple and not the best there is.

    Parameters
    ----------
    frame
        The table.
    variables
        The keys, with what is known of them.
    numbers
        Those of them that are numbers to be cut into bands.
    smallest
        Fewest records of a combination.
    share
        Largest share of the records that may stand in smaller ones.
    apart
        Classes that divide the records already, shape (n,).
    levels
        Those of them that a step coarsens first, with what it leaves of them, finest first.
    kept
        Those that leave last.
    merging
        Whether rare categories become one, in place of missing.

    Examples
    --------
    >>> rows = pl.DataFrame({"sex": ["f", "m"] * 50, "town": [f"t{i}" for i in range(100)]})
    >>> found = broaden(rows, {"sex": Variable(role="key"), "town": Variable(role="key")}, smallest=5)
    >>> found.left, found.some_small
    (('sex',), False)
    """
    columns: dict[str, _Levels | _Number | _Categories] = {}
    for n, v in variables.items():
        if levels and n in levels:
            columns[n] = _Levels(levels[n], smallest, merging)
        else:
            column = frame.get_column(n)
            columns[n] = _Number(column, v) if n in numbers else _Categories(column, v, smallest, merging)
    together = np.zeros(frame.height, dtype=np.int64) if apart is None else apart
    forms: dict[str, list[_Coded]] = {n: list(column.forms())[::-1] for n, column in columns.items()}
    found: dict[str, _Coded] = {}
    width = {n: columns[n].width for n in columns}
    if merging:
        width = {n: len(np.unique(coded[0][1])) if coded else 0 for n, coded in forms.items()}
    for part in (share / 2, share):  # what did not fit at first has another chance
        for n in sorted(columns.keys() - found.keys(), key=lambda n: (n not in kept, width[n], n)):
            if (finer := _refined(together, forms[n][:1], smallest, part)) is not None:
                found[n], together = forms[n].pop(0), finer
    open_ = list(found)
    while open_:
        for n in list(open_):
            if (finer := _refined(together, forms[n][:1], smallest, share)) is None:
                open_.remove(n)
            else:
                found[n], together = forms[n].pop(0), finer
    some_small = bool(found) and in_small(together, smallest) > 0
    made = {n: found[n][0] if n in found else Form(leaves=True) for n in variables}
    return Broadened(made, some_small, {n: found[n][1] for n in variables if n in found})


def _refined(classes: Ints, coded: Sequence[_Coded], smallest: int, share: float) -> Ints | None:
    """The classes, divided further; None where there is nothing to divide by, or too many would be too small."""
    for _, codes in coded:
        wide = int(codes.max(initial=0)) + 1
        mixed, many = classes * wide + codes, (int(classes.max(initial=0)) + 1) * wide
        if many > _DENSE * len(classes):  # too many numbers for a place each
            mixed = np.unique(mixed, return_inverse=True)[1].astype(np.int64)
        sizes = np.bincount(mixed)
        if int(sizes[sizes < smallest].sum()) > share * len(classes):
            return None
        place = np.cumsum(sizes > 0, dtype=np.int64) - 1
        return np.asarray(place[mixed])
    return None


def in_small(classes: Ints, smallest: int) -> int:
    """Count the records that stand in classes that are too small.

    Examples
    --------
    >>> in_small(np.array([0, 0, 0, 1]), 2)
    1
    """
    sizes = np.bincount(classes)
    return int(sizes[sizes < smallest].sum())


class _Categories:
    """The forms of a categorical key, finest first, each with a number for each category."""

    def __init__(self, column: pl.Series, variable: Variable, smallest: int, merging: bool = False) -> None:
        self.smallest, self.dtype, self.variable = smallest, column.dtype, variable
        taken = any(code_text(code) == OTHER for code in variable.missing)
        self.merging = merging and not (taken or self.dtype.is_temporal() or self.dtype.is_nested())
        value = (column.fill_nan(None) if column.dtype.is_float() else column).alias("value")
        codes = value.cast(pl.String).cast(pl.Categorical).to_physical().cast(pl.Int64)
        self.codes = (codes + 1).fill_null(0).to_numpy()
        seen = pl.DataFrame({"value": value, "code": self.codes}).group_by("code").agg(pl.first("value"), pl.len())
        known = Codebook({"value": variable}).missing("value", self.dtype)
        self.seen = seen.with_columns(missing=known)
        self.width = seen.height

    def forms(self) -> Iterator[_Coded]:
        yield Form(), self.codes
        if self.dtype == pl.Boolean:
            return
        held = self.seen.filter(~pl.col("missing"))
        if self.merging:
            yield from self._merged(held)
            return
        last = held.height
        for share in _FREQUENT:
            kept = held.filter(pl.col("len") >= max(share * len(self.codes), self.smallest))
            if not 0 < kept.height < last:
                continue
            last = kept.height
            stays = pl.concat([kept, self.seen.filter(pl.col("missing"))])["code"].to_numpy()
            values = kept["value"] if self.dtype.is_numeric() else kept["value"].cast(pl.String)
            yield Form(keep=tuple(values.sort().to_list())), np.where(np.isin(self.codes, stays), self.codes, 0)

    def _merged(self, held: pl.DataFrame) -> Iterator[_Coded]:
        """Forms in which rare categories are one, as the step `merge_rare` makes them."""
        texts = held.select(as_texts(pl.col("value"), self.dtype)).to_series().to_list()
        records = dict(zip(texts, held["len"].to_list(), strict=True))
        absent = np.setdiff1d(self.seen["code"].to_numpy(), [0, *held["code"]])
        order, last = [text_of(v) for v in self.variable.order], len(records)
        for share in _MERGED:
            least = max(int(float(f"{share * len(self.codes):.1g}")), self.smallest)
            new = into_neighbours(records, least, order) if order else into_one(records, least, OTHER)
            names = sorted({new.get(text, text) for text in texts})
            if not 1 < len(names) < last:
                continue
            last = len(names)
            place = np.zeros(int(self.codes.max(initial=0)) + 1, dtype=np.int64)
            place[held["code"].to_numpy()] = [1 + names.index(new.get(text, text)) for text in texts]
            place[absent] = 1 + len(names) + np.arange(len(absent))
            yield Form(merge=least), place[self.codes]


class _Levels:
    """The forms of a key that a step coarsens: as each level leaves it, then the commonest of the broadest."""

    def __init__(self, levels: Sequence[Level], smallest: int, merging: bool) -> None:
        self.levels = [
            (level.parameters, _Categories(level.values, level.variable, smallest, merging)) for level in levels
        ]
        self.width = self.levels[-1][1].width

    def forms(self) -> Iterator[_Coded]:
        """As of other categories; of all levels but the broadest only the first."""
        for parameters, categories in self.levels[:-1]:
            yield Form(coarsen=parameters), categories.codes
        parameters, categories = self.levels[-1]
        for form, codes in categories.forms():
            yield replace(form, coarsen=parameters), codes


class _Number:
    """The forms of a numeric key: half as many bands each time, with round cut points."""

    def __init__(self, column: pl.Series, variable: Variable) -> None:
        facts = Facts(column, variable)
        self.held = facts.values.cast(pl.Float64).sort().to_numpy()
        self.values, self.missing = column.cast(pl.Float64).to_numpy(), ~facts.present
        self.why_missing = _Categories(column.filter(pl.Series(self.missing)), variable, 1).codes
        self.width = _BANDS

    def forms(self) -> Iterator[_Coded]:
        cuts = self._cuts()
        while cuts:
            codes = 1 + np.searchsorted(np.array(cuts), np.nan_to_num(self.values), side="right").astype(np.int64)
            codes[self.missing] = np.where(self.why_missing > 0, len(cuts) + 1 + self.why_missing, 0)
            yield Form(band=cuts), codes
            cuts = cuts[1::2]

    def _cuts(self) -> tuple[float, ...]:
        if not len(self.held):
            return ()
        at = np.quantile(self.held, np.linspace(0, 1, _BANDS + 1), method="lower")
        inner = {_round(q, (at[i + 2] - at[i]) / 2) for i, q in enumerate(at[1:-1])}
        return tuple(sorted(c for c in inner if self.held[0] < c <= self.held[-1]))


def _round(value: float, width: float) -> float:
    """A number near, with one digit that counts for the width of its band."""
    if width <= 0:
        return float(f"{value:.1g}")
    step = round_step(width)
    return float(f"{round(value / step) * step:.12g}")
