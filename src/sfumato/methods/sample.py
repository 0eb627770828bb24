"""Release a random sample of the records."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import polars as pl
from pydantic import Field, field_validator

from sfumato.data.codebook import Codebook
from sfumato.data.disclosure import Sampled
from sfumato.data.hidden import HIDDEN
from sfumato.data.query import COUNT, Counts, Folded
from sfumato.data.roles import Kind, Role
from sfumato.draws import plain, sortable, units
from sfumato.errors import DataError
from sfumato.methods.base import Method, Stage, StepDraws, unit_problems
from sfumato.methods.checks import strata_problems, whole_unit
from sfumato.methods.strata import LOOKED_UP, category

__all__ = ["Sample"]


_WORDS = tuple(f"{HIDDEN}draw:{i}" for i in range(3))
_UP, _BITS, _BIN, _CUT = f"{HIDDEN}up", f"{HIDDEN}bits", f"{HIDDEN}bin", f"{HIDDEN}cut"
_TIMES, _RANK = f"{HIDDEN}times", f"{HIDDEN}rank"


@dataclass(frozen=True)
class Sizes:
    """The column with weights, if there is one, and by how many first bits the draws of each stratum are counted."""

    weight: str | None
    bits: pl.DataFrame = field(default_factory=pl.DataFrame, repr=False)


def _bits(size: int) -> int:
    """First bits by which so many draws fall into about as many groups as there are draws in each."""
    return max(1, min(16, size.bit_length() // 2))


def _as_it_is(batch: pl.DataFrame, state: object, draws: StepDraws) -> pl.DataFrame:
    return batch


class Sample(Method):
    """Keep a random sample of the records, so that nobody can be sure that somebody is in the release.

    Where a column says which records are of a household, or of a person, these stay or go together (members of a
    household that stand in several combinations of `by` nearly always).

    Protects against an intruder who knows that somebody is in the original data: with chance 1 − `fraction` the record
    is not there, and who seems alone in the sample may have twins outside it. It does not protect whoever is sampled
    from an intruder who knows that they are, nor anybody who is alone in the population as well.

    The records kept are those with the smallest keyed draws. The draw is the record's alone: a larger sample holds
    every smaller one, so that two samples of the same data tell no more than the larger.

    A column with the role weight is divided by `fraction`, so that weighted totals stay what they were in expectation.

    Parameters
    ----------
    fraction
        Share of the records that is kept, above 0 to 1. Of n records it keeps n·fraction, a half rounded up.
    by
        Sample within each combination of these columns, so that shares of the combinations stay. Each keeps its own
        n·fraction, rounded up or down by a keyed draw, so that everybody's chance is `fraction` even in a combination
        of one, which may then vanish.

    References
    ----------
    Hundepool et al. (2012), Statistical Disclosure Control, doi:10.1002/9781118348239, section 3.3.

    Examples
    --------
    >>> Sample(fraction=0.5).disclose((Sizes("weight"),))[0].sentence()
    'all columns: the release is a random sample of 0.5 of the records; the weights in weight were divided by it.'
    """

    masks: ClassVar[bool] = True
    passes: ClassVar[int] = 3
    draws_by_id: ClassVar[bool] = True

    do: Literal["sample"] = "sample"
    fraction: float
    by: tuple[str, ...] = Field(default=())

    @field_validator("fraction")
    @classmethod
    def _share(cls, fraction: float) -> float:
        if not 0 < fraction <= 1:
            raise ValueError("a share of the records is needed, above 0 and at most 1: 0.1 keeps a tenth of them")
        return fraction

    def check(self, codebook: Codebook) -> list[str]:
        """Categories in `by`, and ids to key the draws on."""
        keyed = [] if whole_unit(codebook) else unit_problems(self.name, codebook)
        return [*super().check(codebook), *keyed, *strata_problems(codebook, self.by)]

    def describe(self, codebook: Codebook, states: tuple[Any, ...] = ()) -> Codebook:
        """Weights need not be whole any more, nor few."""
        weight = codebook.the(Role.WEIGHT)
        if weight is None:
            return codebook
        return codebook.replace(**{weight: codebook[weight].model_copy(update={"kind": Kind.CONTINUOUS})})

    def stage(self, codebook: Codebook, states: tuple[Any, ...]) -> Stage | None:
        """Draw for each record, count draws by their first bits, look at those where the cut lies, and cut there."""
        match len(states):
            case 0:
                return self._drawing(codebook)
            case 1:
                return self._counting(states[0])
            case 2:
                return self._cutting(codebook, states[1])
        return None

    def _drawing(self, codebook: Codebook) -> Stage:
        """Give each record its draw, as words that sort like it, and its stratum's."""

        def fit(answers: Sequence[pl.DataFrame]) -> Sizes:
            n = int(answers[0][COUNT].sum())
            if n and n * self.fraction < 0.5:
                raise DataError("sample: `fraction` is so small that no record would be kept. Use a larger one.")
            bits = pl.Series(_BITS, [_bits(size) for size in answers[0][COUNT]], pl.Int64)
            return Sizes(codebook.the(Role.WEIGHT), answers[0].select(*self.by, bits))

        def transform(batch: pl.DataFrame, state: Sizes, draws: StepDraws) -> pl.DataFrame:
            unit = draws.whole(batch)
            words = draws.draws.words(unit, draws.purpose("", "record"))
            three = (words[:, 0], words[:, 1], unit)
            return batch.with_columns(*map(pl.Series, _WORDS, map(sortable, three)), self._rounding(batch, draws))

        return Stage(transform, (Counts(self.by),), fit)

    def _rounding(self, batch: pl.DataFrame, draws: StepDraws) -> pl.Series:
        """Each stratum's draw: its size is rounded up where the part of a record that is left over reaches it."""
        if not self.by:
            return pl.repeat(0.5, batch.height, dtype=pl.Float64, eager=True).alias(_UP)
        labels = batch.select(category(n, batch.schema[n]) for n in self.by)
        strata = labels.unique()
        texts = [repr(tuple(map(plain, row))) for row in strata.iter_rows()]
        up = draws.draws.uniform(units(texts), draws.purpose("", f"stratum of {self.by!r}"))
        return labels.join(strata.with_columns(pl.Series(_UP, up, pl.Float64)), on=self.by, **LOOKED_UP)[_UP]

    def _counting(self, sizes: Sizes) -> Stage:
        """Count the draws of each stratum that begin with the same bits: in one of these groups lies the cut."""

        def f(batch: pl.DataFrame) -> pl.DataFrame:
            binned = self._binned(batch, sizes.bits)
            return binned.group_by(*self.by, _UP, _BITS, _BIN).agg(pl.len().cast(pl.Int64).alias(_TIMES))

        def merge(frames: pl.DataFrame) -> pl.DataFrame:
            return frames.group_by(*self.by, _UP, _BITS, _BIN).agg(pl.col(_TIMES).sum())

        def fit(answers: Sequence[pl.DataFrame]) -> pl.DataFrame:
            counts = (
                answers[0]
                .sort(_BIN)
                .with_columns(
                    self._each(pl.col(_TIMES).sum()).alias("n"), self._each(pl.col(_TIMES).cum_sum()).alias("up to")
                )
            )
            exact = pl.col("n") * self.fraction + 1e-9
            kept = exact.floor().cast(pl.Int64) + (exact - exact.floor() >= pl.col(_UP)).cast(pl.Int64)
            rank = kept - pl.col("up to") + pl.col(_TIMES)
            cut = counts.with_columns(rank.alias(_RANK)).filter(pl.col(_RANK).is_between(1, pl.col(_TIMES)))
            return cut.select(*self.by, _BITS, _BIN, _RANK)

        return Stage(_as_it_is, (Folded((*self.by, *_WORDS, _UP), f, merge),), fit)

    def _cutting(self, codebook: Codebook, cut: pl.DataFrame) -> Stage:
        """Find the last draw of each stratum that is kept, and leave out the records above it."""
        weight = codebook.the(Role.WEIGHT)

        def f(batch: pl.DataFrame) -> pl.DataFrame:
            near = self._binned(batch, cut.select(*self.by, _BITS, _RANK, pl.col(_BIN).alias(_CUT)))
            return near.filter(pl.col(_BIN) == pl.col(_CUT)).select(*self.by, *_WORDS, _RANK)

        def merge(frames: pl.DataFrame) -> pl.DataFrame:
            frames = frames.sort(*_WORDS)
            return frames.filter(self._each(pl.int_range(pl.len())) < pl.col(_RANK))

        def fit(answers: Sequence[pl.DataFrame]) -> pl.DataFrame:
            down = answers[0].sort(*_WORDS, descending=True)
            last = down.unique(list(self.by), keep="first", maintain_order=True) if self.by else down.head(1)
            return last.select(*self.by, *(pl.col(n).alias(f"{n} last") for n in _WORDS))

        def transform(batch: pl.DataFrame, state: pl.DataFrame, draws: StepDraws) -> pl.DataFrame:
            last = self._beside(batch, state)
            below, tied = pl.lit(False), pl.lit(True)
            for n in _WORDS:
                below |= tied & (pl.col(n) < pl.col(f"{n} last"))
                tied &= pl.col(n) == pl.col(f"{n} last")
            stays = last.select((below | tied).fill_null(False)).to_series()
            kept = batch.filter(stays).drop(*_WORDS, _UP)
            return (
                kept if weight is None else kept.with_columns(self._reweighted(weight, batch.schema[weight], codebook))
            )

        return Stage(transform, (Folded((*self.by, *_WORDS), f, merge),), fit)

    def _binned(self, batch: pl.DataFrame, strata: pl.DataFrame) -> pl.DataFrame:
        """Records beside what is known of their strata, with the first bits of their draws."""
        beside = self._beside(batch, strata)
        first = beside[_WORDS[0]].to_numpy() >> (64 - beside[_BITS].fill_null(1).to_numpy())
        return beside.with_columns(pl.Series(_BIN, first, pl.Int64))

    def _beside(self, batch: pl.DataFrame, strata: pl.DataFrame) -> pl.DataFrame:
        """Strata and draws of records, beside what is known of the strata."""
        drawn = [n for n in (*_WORDS, _UP) if n in batch.columns]
        own = batch.select(*(category(n, batch.schema[n]) for n in self.by), *drawn)
        if self.by:
            return own.join(strata, on=self.by, **LOOKED_UP)
        row = strata.row(0) if strata.height else (None,) * strata.width
        return own.with_columns(pl.lit(x, t).alias(n) for (n, t), x in zip(strata.schema.items(), row, strict=True))

    def _each(self, value: pl.Expr) -> pl.Expr:
        """A figure of each stratum."""
        return value.over(*self.by) if self.by else value

    def _reweighted(self, weight: str, dtype: pl.DataType, codebook: Codebook) -> pl.Expr:
        """Weights divided by the fraction; missing codes stay."""
        value = pl.col(weight).cast(pl.Float64)
        return pl.when(codebook.missing(weight, dtype)).then(value).otherwise(value / self.fraction).alias(weight)

    def disclose(self, states: tuple[Any, ...]) -> tuple[Sampled, ...]:
        """The fraction."""
        return (Sampled(by=self.by, fraction=self.fraction, weight=states[0].weight),)
