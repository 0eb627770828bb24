"""Top-code and bottom-code: set the highest or lowest values to one that many share."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_FLOOR, Context, Decimal
from typing import Any, ClassVar, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray
from pydantic import Field, model_validator

from sfumato.data.codebook import Codebook
from sfumato.data.disclosure import Coarsened, Disclosed
from sfumato.data.holding import holding
from sfumato.data.publishable import Publishable
from sfumato.data.query import COUNT, WEIGHT, Counts
from sfumato.data.roles import Kind, Role
from sfumato.draws import shortest
from sfumato.errors import DataError
from sfumato.kernels.counted import counted_quantile
from sfumato.kernels.grid import significant
from sfumato.methods.at_random import round_at_random
from sfumato.methods.base import Method, Stage, StepDraws, unknown_problems
from sfumato.methods.checks import role_problems, strata_problems

__all__ = ["TopCode"]

_CUT, _NEW = "sfumato:cut", "sfumato:new"
_FLOOR = Context(prec=3, rounding=ROUND_FLOOR)
_OF_SHARE, _WRITTEN = 2, 12
_Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class _Values:
    """The different values of a group, rising, with their records and weights. Of bottom-coding with their signs
    turned.

    So there is one direction only: what is cut off is at or above the cut.
    """

    value: _Numbers
    count: _Numbers
    weight: _Numbers

    @property
    def records(self) -> int:
        return int(self.count.sum())

    @property
    def whole(self) -> bool:
        """Whether all values are whole numbers."""
        return bool((self.value == np.floor(self.value)).all())

    def above(self, cut: float) -> int:
        """How many records reach a cut."""
        return int(self.count[self.value >= cut].sum())

    def largest(self, rank: int) -> float:
        """The value that so many records reach, in 3 significant digits and no higher."""
        reached = np.cumsum(self.count[::-1]) >= rank
        return _floored(float(self.value[::-1][np.argmax(reached)]))

    def apart(self, cut: float, k: int, whole: bool) -> float:
        """A cut that the same records reach and that is no value of fewer than k, where there is one."""
        if not self.lone(cut, k):
            return cut
        below = self.value[self.value < cut]
        lower = float(below[-1]) if len(below) else -math.inf
        return _between(lower, cut, whole)

    def lone(self, cut: float, k: int) -> bool:
        """Whether a cut is the value of some records, and of fewer than k."""
        return 0 < int(self.count[self.value == cut].sum()) < k

    def quantile(self, prob: float, weighted: bool) -> float:
        """A quantile by linear interpolation (type 7); of weighted values the first at which the share is reached."""
        if weighted:
            total = np.cumsum(self.weight)
            return float(self.value[np.argmax(total >= prob * total[-1] * (1 - 1e-12))])
        return counted_quantile(self.value, self.count.astype(np.int64), prob)

    def beyond(self, cut: float) -> _Values:
        """What reaches a cut."""
        top = self.value >= cut
        return _Values(self.value[top], self.count[top], self.weight[top])

    @property
    def mean(self) -> float:
        """Weighted mean."""
        return math.fsum(self.value * self.weight) / math.fsum(self.weight)

    @property
    def step(self) -> float:
        """Twice their standard deviation, to one digit, over how many they are; so fine that nothing is told by it.

        By as much a single one moves the mean, more or less. Of weighted ones they are as many as the heaviest holds a
        share of.
        """
        squares = math.fsum((self.value - self.mean) ** 2 * self.weight) / math.fsum(self.weight)
        many = math.fsum(self.weight) / float((self.weight / self.count).max())
        spread = math.sqrt(squares * many / (many - 1)) if many > 1 else 0.0
        return significant(_OF_SHARE * significant(spread, 1) / many, 2)


@dataclass(frozen=True)
class _Cut:
    """Where values are cut off, and what is put in their place. Confidential where it is of a group."""

    cut: float
    new: float
    moved: bool
    lone: bool = False
    changed: int = 0
    step: float = 0.0
    """Of a mean or median that is not yet rounded: to which multiple above the cut it will be."""
    records: int = 0


@dataclass(frozen=True)
class _Learned:
    """The cuts of a column: of all records, and of each group of `by` that has its own."""

    all: _Cut
    groups: pl.DataFrame | None = None
    own: tuple[_Cut, ...] = ()
    small: bool = False
    whole: bool = False

    @property
    def used(self) -> tuple[_Cut, ...]:
        return self.own if self.groups is not None else (self.all,)


class TopCode(Method):
    """Set the highest values of a number (or the lowest) to one value: "100,000 or more".

    Protects against an intruder who knows that somebody's value stands out: at least `k` records share what is released
    in its place. It does not protect the values below, nor where other columns tell the value again: totals, shares or
    net amounts that were computed from it must be coded too, or leave.

    Column stays a number. A cut that is learned is rounded to 3 significant digits, used and disclosed so. Where that
    is a value that fewer than `k` records have, the cut becomes the roundest number between it and the next lower value
    (for `side: low` the next higher); where there is none, as between whole numbers in a row, it stays, and a warning
    says so. Where fewer than `k` records reach a cut, it is moved to where `k` do.

    Parameters
    ----------
    columns
        The columns to code, all alike.
    at
        The cut: values at or above it are coded.
    quantile
        In place of `at`: the share of the values that lies below the cut, such as 0.99; for `side: low` 0.01.
    largest
        In place of `at`: how many records are coded at least; for `side: low` of the lowest.
    side
        Which end is coded: `high` or `low`.
    replace
        What is put in the place of values: the cut (`threshold`), their `mean` or `median`, or a `value` of yours. A
        mean or median lies a multiple of 2 s/m beyond the cut, s their standard deviation to one digit and m how many
        they are, up or down at random and right on average: else a release without one of them would tell that value.
    value
        What is put in their place with `replace: value`.
    by
        Learn cuts, means and medians within each combination of these columns. A combination with fewer than `k` values
        takes those of all records.
    weight
        Column of weights for quantiles, means and medians; true for the column with the role weight.
    k
        Fewest records that are coded together; 0 leaves every cut where it is.

    References
    ----------
    Hundepool et al. (2012), Statistical Disclosure Control, doi:10.1002/9781118348239, section 3.3.

    Examples
    --------
    >>> TopCode(columns=("income",), at=100_000).side
    'high'
    """

    coarsens: ClassVar[bool] = True
    stays_comparable: ClassVar[bool] = True

    do: Literal["top_code"] = "top_code"
    columns: tuple[str, ...] = Field(min_length=1)
    at: float | None = None
    quantile: float | None = Field(default=None, gt=0, lt=1)
    largest: int | None = Field(default=None, ge=1)
    side: Literal["high", "low"] = "high"
    replace: Literal["threshold", "mean", "median", "value"] = "threshold"
    value: float | None = None
    by: tuple[str, ...] = ()
    weight: str | bool = False
    k: int = Field(default=5, ge=0)

    @model_validator(mode="after")
    def _one_cut(self) -> TopCode:
        if [self.at, self.quantile, self.largest].count(None) != 2:
            raise ValueError("top_code takes either `at`, or `quantile`, or `largest`")
        if (self.value is None) == (self.replace == "value"):
            raise ValueError("`value` goes with replace: value")
        if self.value is not None and self.at is not None and (self.value - self.at) * self._sign < 0:
            raise ValueError("`value` must not lie on the other side of `at`, among the values that stay")
        return self

    @property
    def counts_records(self) -> bool:
        """Cuts need so many, where `k` asks for them."""
        return self.k > 1

    @property
    def _sign(self) -> int:
        return 1 if self.side == "high" else -1

    def _weight(self, codebook: Codebook) -> str | None:
        return (codebook.the(Role.WEIGHT) if self.weight else None) if isinstance(self.weight, bool) else self.weight

    @property
    def amounts(self) -> tuple[str, ...]:
        """The columns, whose ends are cut."""
        return self.columns

    @property
    def keeps_gaps(self) -> bool:
        """What is missing stays so."""
        return True

    def check(self, codebook: Codebook) -> list[str]:
        """Numbers, categories in `by`, and weights that are there."""
        problems = super().check(codebook) + role_problems(codebook, self.columns) + strata_problems(codebook, self.by)
        wrong = (Kind.TEXT, Kind.DATE, Kind.GEOGRAPHIC)
        problems += [
            f"column {n!r} is {codebook[n].kind}; top_code needs numbers"
            for n in self.columns
            if n in codebook and codebook[n].kind in wrong
        ]
        if twice := [n for n in self.by if n in self.columns]:
            problems.append(f"`by` names {', '.join(map(repr, twice))}, which the step itself changes")
        if self.weight is True and self._weight(codebook) is None:
            problems.append("weight: true needs a column with the role weight: say so under variables, or name it here")
        if isinstance(self.weight, str):
            problems += unknown_problems(codebook, (self.weight,))
        return problems

    def describe(self, codebook: Codebook, states: tuple[Any, ...] = ()) -> Codebook:
        """The same numbers, continuous where what was put in their place is not whole; no labels of single values."""
        update: dict[str, dict[str, Any]] = {n: {"labels": self._labels(codebook, n)} for n in self.columns}
        for n, learned in (states[0] if states else {}).items():
            if codebook[n].kind == Kind.INTEGER and not learned.whole:
                update[n]["kind"] = Kind.CONTINUOUS
        return codebook.replace(**{n: codebook[n].model_copy(update=each) for n, each in update.items()})

    def _labels(self, codebook: Codebook, column: str) -> dict[Any, str]:
        """Labels of codes stay; others would speak of values that may be gone, or mean more now."""
        variable = codebook[column]
        return {v: text for v, text in variable.labels.items() if any(m.matches(v) for m in variable.missing)}

    def stage(self, codebook: Codebook, states: tuple[Any, ...]) -> Stage | None:
        """One pass, value by value, after a look at how often each value occurs."""
        weight = self._weight(codebook)

        def fit(answers: Sequence[pl.DataFrame]) -> dict[str, _Learned]:
            found = {n: self._learned(n, a, codebook) for n, a in zip(self.columns, answers, strict=True)}
            if not self._rounds:
                _refuse_codes(found, codebook)
            return found

        def transform(batch: pl.DataFrame, state: dict[str, _Learned], draws: StepDraws) -> pl.DataFrame:
            return batch.with_columns(self._coded(n, batch, codebook, state[n]) for n in self.columns)

        def drawn(state: dict[str, _Learned], draws: StepDraws) -> dict[str, _Learned]:
            found = {n: self._drawn(n, one, draws) for n, one in state.items()}
            _refuse_codes(found, codebook)
            return found

        def taking(answers: Sequence[pl.DataFrame], told: Sequence[Disclosed]) -> dict[str, _Learned] | None:
            counted = zip(self.columns, answers, strict=True)
            found = {n: self._taken(n, self._everybody(n, a, codebook), told) for n, a in counted}
            kept = {n: one for n, one in found.items() if one is not None}
            _refuse_codes(kept, codebook)
            return kept if len(kept) == len(self.columns) else None

        if states:
            return None
        queries = tuple(Counts((*self.by, n), weight) for n in self.columns)
        learns = self.at is None or self._rounds
        return Stage(transform, queries, fit, drawn=drawn if self._rounds else None, taking=taking if learns else None)

    @property
    def _rounds(self) -> bool:
        """Whether what is put in the place of values is rounded at random."""
        return self.replace in ("mean", "median")

    def _everybody(self, column: str, counts: pl.DataFrame, codebook: Codebook) -> _Values:
        return self._values(counts.filter(~codebook.missing(column, counts.schema[column])), column)

    def _taken(self, column: str, values: _Values, told: Sequence[Disclosed]) -> _Learned | None:
        """The cut of an earlier release, where it told one of the whole table and enough records still reach it."""
        found = [] if self.by else [pair for part in told if (pair := self._told(column, part)) is not None]
        if len(found) != 1:
            return None
        cut, new, step = found[0]
        if values.above(cut * self._sign) < self.k:
            return None
        taken = _Cut(cut, new, self.at is not None and cut != self.at)
        taken = replace(taken, step=step, changed=self._changed(values, taken))
        return _Learned(taken, whole=_stays_whole(values.whole, [taken]))

    def _told(self, column: str, part: Disclosed) -> tuple[float, float, float] | None:
        """What a part of an earlier disclosure says of a column's cut, and of what was put in the place of values."""
        if not isinstance(part, Coarsened):
            return None
        if self.replace == "threshold":
            end = part.bounds.get(column, (None, None))[self.side == "high"] if part.only_bounds else None
            return None if end is None else (end, end, 0.0)
        return part.replaced.get(column) if part.how.startswith(self._where) else None

    def _drawn(self, column: str, learned: _Learned, draws: StepDraws) -> _Learned:
        """With each mean or median rounded: keyed on itself and its multiple, so that other releases repeat it."""

        def rounded(cut: _Cut) -> _Cut:
            if not cut.step:
                return cut
            above = (cut.new - cut.cut) * self._sign
            new = cut.cut + self._sign * round_at_random(above, cut.step, column, self.replace, cut.records, draws)
            return replace(cut, new=significant(new, _WRITTEN) + 0.0)

        every, own = rounded(learned.all), tuple(map(rounded, learned.own))
        groups = learned.groups
        if groups is not None:
            groups = groups.with_columns(pl.Series(_NEW, [c.new for c in own], dtype=pl.Float64))
        return replace(learned, all=every, own=own, groups=groups)

    def _learned(self, column: str, counts: pl.DataFrame, codebook: Codebook) -> _Learned:
        dtype = counts.schema[column]
        if not dtype.is_numeric() and dtype != pl.Null:
            raise DataError(f"Column {column!r} holds {holding(dtype)}; top_code needs numbers.")
        held = counts.filter(~codebook.missing(column, dtype))
        everybody = self._values(held, column)
        if everybody.records < max(self.k, self.largest or 0, 1):
            raise DataError(
                f"top_code: column {column!r} has fewer values than `k` or `largest`, so that any cut would tell who "
                f"they are. Leave the column out."
            )
        whole = everybody.whole
        every = self._cut(everybody, whole)
        if not self.by:
            return _Learned(every, whole=_stays_whole(whole, [every]))
        groups, cuts, small = [], [], False
        for key, part in held.group_by(self.by, maintain_order=True):
            values = self._values(part, column)
            few = values.records < max(self.k, self.largest or 0, 1)
            groups.append(key)
            cuts.append(replace(every, changed=self._changed(values, every)) if few else self._cut(values, whole))
            small |= few
        frame = pl.DataFrame(groups, schema={n: counts.schema[n] for n in self.by}, orient="row").with_columns(
            pl.Series(_CUT, [c.cut for c in cuts], dtype=pl.Float64),
            pl.Series(_NEW, [c.new for c in cuts], dtype=pl.Float64),
        )
        return _Learned(every, frame, tuple(cuts), small, _stays_whole(whole, cuts))

    def _values(self, counts: pl.DataFrame, column: str) -> _Values:
        weights = counts[WEIGHT] if WEIGHT in counts.columns else counts[COUNT]
        value = counts.select(shortest(pl.col(column), counts.schema[column])).to_series().to_numpy() * self._sign
        order = np.lexsort((weights.to_numpy(), value))
        count, weight = (np.asarray(s.to_numpy(), dtype=np.float64)[order] for s in (counts[COUNT], weights))
        if len(weight) and (weight.min() < 0 or weight.sum() <= 0):
            raise DataError("top_code: weights must not be negative, nor all be 0.")
        return _Values(value[order], count, weight)

    def _cut(self, values: _Values, whole: bool) -> _Cut:
        """The cut of a group of at least k values, and what is put in the place of those that reach it."""
        if self.at is not None:
            cut = self.at * self._sign
        elif self.largest is not None:
            cut = values.largest(self.largest)
        else:
            assert self.quantile is not None
            share = self.quantile if self.side == "high" else 1 - self.quantile
            cut = _rounded(values.quantile(share, self.weight is not False))
        if whole and self.at is None:
            cut = math.floor(cut)
        moved = values.above(cut) < self.k
        if moved:
            cut = values.largest(self.k)
        learned = moved or self.at is None
        if learned:
            cut = values.apart(cut, self.k, whole)
        lone = learned and values.lone(cut, self.k)
        found = _Cut(cut * self._sign + 0.0, self._new(values, cut) * self._sign + 0.0, moved, lone)
        found = replace(found, changed=self._changed(values, found))
        if not self._rounds or not values.above(cut):
            return found
        top = values.beyond(cut)
        step = max(1.0, float(round(top.step))) if whole and float(cut).is_integer() and top.step else top.step
        return replace(found, step=step, records=top.records)

    def _changed(self, values: _Values, cut: _Cut) -> int:
        """How many records of a group get another value."""
        reached = values.value >= cut.cut * self._sign
        if self._rounds:
            return int(values.count[reached].sum())
        return int(values.count[reached & (values.value != cut.new * self._sign)].sum())

    def _new(self, values: _Values, cut: float) -> float:
        """What is put in the place of values, a mean or median before it is rounded."""
        if self.value is not None:
            return self.value * self._sign
        if self.replace == "threshold" or not values.above(cut):
            return cut
        top = values.beyond(cut)
        new = top.mean if self.replace == "mean" else top.quantile(0.5, self.weight is not False)
        return new if top.step else max(_rounded(new), cut)

    def _coded(self, column: str, batch: pl.DataFrame, codebook: Codebook, learned: _Learned) -> pl.Series:
        dtype = batch.schema[column]
        frame = batch.select(column, *(_key(n, batch) for n in self.by if n != column))
        if learned.groups is None:
            frame = frame.with_columns(pl.lit(learned.all.cut).alias(_CUT), pl.lit(learned.all.new).alias(_NEW))
        else:
            frame = frame.join(learned.groups, on=list(self.by), how="left", nulls_equal=True, maintain_order="left")
        value, cut = shortest(pl.col(column), dtype) * self._sign, pl.col(_CUT) * self._sign
        reached = ~codebook.missing(column, dtype) & (value >= cut).fill_null(False)
        kept = dtype if dtype.is_float() or (learned.whole and dtype.is_numeric()) else pl.Float64
        new = pl.when(reached).then(pl.col(_NEW).cast(kept)).otherwise(pl.col(column).cast(kept))
        return frame.select(new.alias(column)).to_series()

    def disclose(self, states: tuple[Any, ...]) -> tuple[Coarsened, ...]:
        """The bounds, where the cut is put in the place of values; else what was done, in words."""
        learned: dict[str, _Learned] = states[0]
        if self.by:
            return (Coarsened(self.columns, self._in_groups()),)
        cuts = {n: one.all.cut for n, one in learned.items()}
        if self.replace == "threshold":
            bounds = {n: (None, cut) if self.side == "high" else (cut, None) for n, cut in cuts.items()}
            return (Coarsened(self.columns, bounds=bounds),)
        return tuple(
            Coarsened((n,), self._in_words(one.all), replaced={n: (one.all.cut, one.all.new, one.all.step)})
            for n, one in learned.items()
        )

    def _in_words(self, cut: _Cut) -> str:
        """What was done to values at or above a cut."""
        text = f"{self._where}: {cut.cut:,.15g} or {self._beyond} to "
        if self.replace == "value":
            return f"{text}{cut.new:,.15g}"
        if cut.step:  # what it was rounded to is told by `replaced`, as draws are
            return f"{text}their {self.replace}, rounded at random to a multiple of {cut.step:,.15g} beyond the cut"
        return f"{text}their {self.replace}, {cut.new:,.15g}"

    @property
    def _where(self) -> str:
        return f"at the {self._end}"

    def _in_groups(self) -> str:
        if self.at is not None:
            cut = (
                f"{self.at:,.15g} or {self._beyond}, and where fewer than {self.k} records of the group reach it more,"
            )
        elif self.quantile is not None:
            cut = f"values from the quantile {self.quantile:g} of the group on"
        else:
            cut = f"the {self.largest} {'highest' if self.side == 'high' else 'lowest'} values of the group, or more,"
        to = {"threshold": "the cut", "value": f"{self.value or 0:,.15g}"}.get(self.replace, f"their {self.replace}")
        return f"at the {self._end}, by {', '.join(self.by)}: {cut} to {to}"

    @property
    def _end(self) -> str:
        return "top" if self.side == "high" else "bottom"

    @property
    def _beyond(self) -> str:
        return "more" if self.side == "high" else "less"

    def notes(self, states: tuple[Any, ...]) -> tuple[str, ...]:
        """How many values were coded."""
        learned: dict[str, _Learned] = states[0]
        return tuple(f"{n}: {sum(c.changed for c in one.used)} values were coded." for n, one in learned.items())

    def warnings(self, states: tuple[Any, ...]) -> tuple[str, ...]:
        """Columns whose cuts were moved."""
        learned: dict[str, _Learned] = states[0]
        moved = [n for n, one in learned.items() if any(c.moved for c in one.used)]
        small = [n for n, one in learned.items() if one.small]
        lone = [n for n, one in learned.items() if any(c.lone for c in one.used)]
        told: list[str] = []
        if moved:
            told.append(
                Publishable(
                    f"top_code: fewer than {self.k} records reach a cut of {', '.join(moved)}, so it was moved to "
                    f"where {self.k} do. What is disclosed is the cut that was used."
                )
            )
        if lone:
            told.append(
                f"top_code: a cut of {', '.join(lone)} that was learned is a value that fewer than {self.k} records "
                f"have, and no other number lies between it and the next. Give a cut (at), or a larger k."
            )
        if small:
            told.append(
                Publishable(
                    f"top_code: a group of {', '.join(self.by)} has fewer values of {', '.join(small)} than `k` or "
                    "`largest`, so it takes the cut of all records."
                )
            )
        return tuple(told)


def _refuse_codes(found: Mapping[str, _Learned], codebook: Codebook) -> None:
    """Refuse to put a missing code in the place of values."""
    codes = [n for n, one in found.items() if any(m.matches(c.new) for c in one.used for m in codebook[n].missing)]
    if codes:
        raise DataError(
            f"top_code: what would be put in the place of values of {', '.join(codes)} is a missing code of the "
            f"column. Choose another cut, or `replace`, or recode the missing code first."
        )


def _stays_whole(whole: bool, cuts: Sequence[_Cut]) -> bool:
    """Whether what is put in the place of whole numbers is whole, rounded or yet to be."""
    ends = (end for cut in cuts for end in ((cut.cut, cut.step) if cut.step else (cut.new,)))
    return whole and all(float(end).is_integer() for end in ends)


def _floored(value: float) -> float:
    """The next number of 3 significant digits that is not above."""
    return float(_FLOOR.create_decimal(repr(value)))


def _between(lower: float, value: float, whole: bool) -> float:
    """The number of fewest digits, and of these the highest, above the one number and below the other.

    Not halfway, from which the value follows where the lower one is released. The value itself where there is none.
    """
    for digits in (1, 2, 3):
        context = Context(prec=digits, rounding=ROUND_FLOOR)
        near = float(context.next_minus(Decimal(repr(float(value))))) if value else max(lower / 2, -1.0)
        near = float(math.floor(near)) if whole else near
        if lower < near < value:
            return near
    return value


def _rounded(value: float) -> float:
    """The nearest number of 3 significant digits."""
    return float(f"{value:.3g}")


def _key(name: str, batch: pl.DataFrame) -> pl.Expr:
    """A grouping column, with NaN as null."""
    return pl.col(name).fill_nan(None) if batch.schema[name].is_float() else pl.col(name)
