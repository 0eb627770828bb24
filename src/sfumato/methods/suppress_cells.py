"""Take out single values, as few as can be found, so that enough records match every record."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, Self

import numpy as np
import polars as pl
from numpy.typing import NDArray
from pydantic import Field, model_validator

from sfumato.data.codebook import Codebook
from sfumato.data.described import Described
from sfumato.data.disclosure import Suppressed
from sfumato.data.hidden import HIDDEN
from sfumato.data.hierarchy import as_texts
from sfumato.data.publishable import Publishable
from sfumato.data.query import COUNT, Counts, Folded
from sfumato.data.roles import Role
from sfumato.data.suppression import Emptying, Suppression
from sfumato.draws import sortable
from sfumato.kernels.classes.cell_suppression import Suppression as Blanked
from sfumato.kernels.classes.cell_suppression import suppress_cells
from sfumato.kernels.classes.missing_keys import relying_on_wildcards
from sfumato.methods.base import Method, Stage, StepDraws, unknown_problems
from sfumato.methods.checks import role_problems, strata_problems

__all__ = ["Subset", "SuppressCells"]

_SPLIT = f"{HIDDEN}split"
"""Number of the pattern of a record whose pattern loses values in some of its records only; null elsewhere."""
_TIE, _WAY = f"{HIDDEN}tie", f"{HIDDEN}way"


class Subset(Described):
    """What must hold on every choice of so many of the keys.

    Parameters
    ----------
    size
        How many keys.
    k
        Records that must match on them.

    Examples
    --------
    >>> Subset(size=2, k=5).k
    5
    """

    size: int = Field(ge=1)
    k: int = Field(ge=2)


class SuppressCells(Method):
    """Take out single values of keys, as few as can be found, so that at least `k` records match every record.

    Protects against an intruder who knows the keys of a person and takes a gap for any value: at least `k` records
    match. Who takes a gap for a value of its own may find fewer: measure that too (`--missing category`). It does not
    protect against learning what all that match have in common, and whoever is left with gaps is not a random choice.

    Parameters
    ----------
    keys
        The columns that an intruder may know of a person.
    k
        Records that must match every record, at least 2. Null matches any value; user-missing codes are categories.
    importance
        Keys from the most important on; their values are kept longest. Of those not named, keys with fewer different
        values are kept longer.
    by
        Columns within whose combinations records must match.
    subsets
        What must hold besides on every choice of so many keys: `[{size: 2, k: 10}]`.
    caps
        By key, the largest share of records whose value may be taken out.

    References
    ----------
    Hundepool et al. (2012), Statistical Disclosure Control, section 3.4.2.2, doi:10.1002/9781118348239.

    Examples
    --------
    >>> SuppressCells(keys=("age", "sex"), k=3).changes
    ('age', 'sex')
    """

    coarsens: ClassVar[bool] = True
    passes: ClassVar[int] = 2
    draws_by_id: ClassVar[bool] = True
    effort: ClassVar[float] = 5.0
    missing: ClassVar[str] = "wildcard"
    """How classes are measured after it: a gap may be any value."""

    do: Literal["suppress_cells"] = "suppress_cells"
    keys: tuple[str, ...] = Field(min_length=1, max_length=62)
    k: int = Field(default=3, ge=2)
    importance: tuple[str, ...] = ()
    by: tuple[str, ...] = ()
    subsets: tuple[Subset, ...] = ()
    caps: dict[str, float] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _together(self) -> Self:
        if len(set(self.keys)) < len(self.keys) or len(set(self.importance)) < len(self.importance):
            raise ValueError("`keys` or `importance` names a column twice")
        if strange := sorted({*self.importance, *self.caps} - set(self.keys)):
            raise ValueError(f"`importance` and `caps` name {', '.join(strange)}, not among the keys")
        if both := sorted(set(self.by) & set(self.keys)):
            raise ValueError(f"{', '.join(both)}: in `by`, and among the keys")
        if any(subset.size >= len(self.keys) for subset in self.subsets):
            raise ValueError("`subsets` are of fewer keys than there are")
        if any(not 0 <= cap <= 1 for cap in self.caps.values()):
            raise ValueError("`caps` are shares from 0 to 1")
        return self

    @property
    def changes(self) -> tuple[str, ...]:
        """The keys."""
        return self.keys

    def check(self, codebook: Codebook) -> list[str]:
        """Keys that may lose values, strata that are categories."""
        names = (*self.keys, *self.by)
        return [
            *unknown_problems(codebook, names),
            *role_problems(codebook, self.keys),
            *strata_problems(codebook, self.by),
        ]

    def stage(self, codebook: Codebook, states: tuple[Any, ...]) -> Stage | None:
        """What all records of a pattern lose; then what some of them do, chosen by a keyed draw."""
        match len(states):
            case 0:
                return Stage(transform=_whole, queries=(Counts((*self.by, *self.keys)),), fit=self._fit)
            case 1:
                split: _Split = states[0]

                def some(batch: pl.DataFrame, state: object, draws: StepDraws) -> pl.DataFrame:
                    return _some(batch, split, draws)

                if codebook.the(Role.RECORD) is not None:
                    return _drawn(split)
                return Stage(transform=some, by=(_SPLIT,))
            case _:
                return None

    def _fit(self, answers: Sequence[pl.DataFrame]) -> _Split:
        """Choose among the keys in which somebody differs, as they are measured: others match everybody as they are."""
        keys = tuple(n for n in self.keys if answers[0][n].drop_nulls().n_unique() > 1)
        if not keys:
            return _Split.nothing(self, answers[0])
        counts = answers[0].group_by(*self.by, *keys).agg(pl.col(COUNT).sum()).sort(*self.by, *keys)
        codes = np.column_stack([_codes(counts[n]) for n in keys])
        strata = None
        if self.by:
            texts = counts.select(as_texts(pl.col(n), counts.schema[n]) for n in self.by)
            strata = texts.select(pl.struct(self.by).rank("dense")).to_series().to_numpy().astype(np.int64) - 1
        done = suppress_cells(
            codes,
            counts[COUNT].to_numpy().astype(np.int64),
            self.k,
            importance=[keys.index(n) for n in self.importance if n in keys],
            strata=strata,
            subsets=[(min(subset.size, len(keys)), subset.k) for subset in self.subsets],
            caps=np.array([self.caps.get(n, 1.0) for n in keys]) if self.caps else None,
        )
        return _Split.of(self, keys, counts, done, _relying(codes, strata, counts[COUNT].to_numpy(), done, self.k))

    def disclose(self, states: tuple[Any, ...]) -> tuple[Suppressed, ...]:
        """The rule; how many values went is a finding."""
        where = f" of the same {', '.join(self.by)}" if self.by else ""
        rule = f"values were taken out so that at least {self.k} records{where} match every record"
        return (Suppressed(columns=self.keys, rule=f"{rule}, a gap matching any value", cells=True),)

    def suppressed(self, states: tuple[Any, ...]) -> Suppression:
        """The values that went."""
        return Suppression(cells=states[0].cells)

    @property
    def empties(self) -> Emptying:
        """What holds on all keys; `subsets` and `caps` are passed over."""
        return Emptying(self.keys, self.k, self.by)

    def notes(self, states: tuple[Any, ...]) -> tuple[str, ...]:
        """How many values went, and whom no way was found for."""
        told = ", ".join(f"{n} {count}" for n, count in states[0].cells.items())
        return (
            f"Values taken out: {told}. {states[0].relying} records reach k only where a gap is taken for any value.",
        )

    def warnings(self, states: tuple[Any, ...]) -> tuple[str, ...]:
        """Where caps, or too few records, left no way."""
        if not states[0].below:
            return ()
        return (
            Publishable(
                f"suppress_cells left some records that fewer than {self.k} match: caps, or strata of fewer records, "
                "left no way.",
                "Allow larger caps, use fewer columns in by, or leave such strata out (suppress_strata).",
            ),
        )


@dataclass(frozen=True)
class _Split:
    """What each pattern loses.

    Parameters
    ----------
    names
        Columns that tell a pattern.
    keys
        Those that may lose values.
    whole
        Patterns, with a column for each key that says whether all its records lose it, and the number `_SPLIT` of those
        whose records are treated differently.
    ways
        Of each such number, how many records lose which keys.
    cells
        Values that go, by key.
    below
        Records that too few match.
    relying
        Records that enough match only where a gap is taken for any value.
    """

    names: tuple[str, ...]
    keys: tuple[str, ...]
    whole: pl.DataFrame = field(repr=False)
    ways: dict[int, list[tuple[int, tuple[str, ...]]]] = field(repr=False)
    cells: dict[str, int]
    below: int
    relying: int

    @classmethod
    def nothing(cls, step: SuppressCells, counts: pl.DataFrame) -> _Split:
        """Where nobody differs from anybody: all of a stratum match, however few they are."""
        sizes = counts.group_by(step.by).agg(pl.col(COUNT).sum()) if step.by else counts.select(pl.col(COUNT).sum())
        below = int(sizes.filter(pl.col(COUNT) < step.k)[COUNT].sum())
        return cls((), (), pl.DataFrame(), {}, dict.fromkeys(step.keys, 0), below, 0)

    @classmethod
    def of(
        cls, step: SuppressCells, keys: tuple[str, ...], counts: pl.DataFrame, done: Blanked, relying: int
    ) -> _Split:
        """From what the kernel found for some of the keys."""
        names = (*step.by, *keys)
        ways: dict[int, list[tuple[int, tuple[str, ...]]]] = {}
        blank = np.zeros((counts.height, len(keys)), dtype=bool)
        split = np.full(counts.height, -1)
        held = counts[COUNT].to_numpy()
        for pattern, records, lost in zip(done.pattern.tolist(), done.records.tolist(), done.blank, strict=True):
            if records == held[pattern]:
                blank[pattern] = lost
                continue
            split[pattern] = pattern
            ways.setdefault(pattern, []).append((records, tuple(n for n, gone in zip(keys, lost, strict=True) if gone)))
        whole = counts.select(names).with_columns(
            pl.Series(_SPLIT, split, dtype=pl.Int64).replace(-1, None),
            *(pl.Series(f"{HIDDEN}{n}", blank[:, j]) for j, n in enumerate(keys)),
        )
        touched = whole.filter(pl.any_horizontal(pl.col(_SPLIT).is_not_null(), *(f"{HIDDEN}{n}" for n in keys)))
        cells = dict.fromkeys(step.keys, 0) | dict(zip(keys, done.cells.tolist(), strict=True))
        return cls(names, keys, touched, ways, cells, done.below, relying)


def _codes(column: pl.Series) -> NDArray[np.int64]:
    """Numbers of the values of a key, −1 where it is missing, whatever the type: ties go by them."""
    texts = column.to_frame().select(as_texts(pl.col(column.name), column.dtype)).to_series()
    return np.asarray(texts.rank("dense").cast(pl.Int64).fill_null(0).to_numpy() - 1)


def _relying(
    codes: NDArray[np.int64], strata: NDArray[np.int64] | None, counts: NDArray[np.int64], done: Blanked, k: int
) -> int:
    """Records that at least k match once the values are gone, and fewer where a gap is a category of its own."""
    left = counts.astype(np.int64)
    np.subtract.at(left, done.pattern, done.records)
    rows = np.concatenate([np.arange(len(codes)), done.pattern])
    after = np.concatenate([codes, np.where(done.blank, -1, codes[done.pattern])])
    weight = np.concatenate([left, done.records])
    if strata is not None:
        after = np.column_stack([after, strata[rows]])
    after, which = np.unique(after[weight > 0], axis=0, return_inverse=True)
    joined = np.bincount(which.ravel(), weights=weight[weight > 0], minlength=len(after)).astype(np.int64)
    return relying_on_wildcards(after, joined, k)


def _whole(batch: pl.DataFrame, state: _Split, draws: StepDraws) -> pl.DataFrame:
    """Take out what all records of a pattern lose, and number the patterns of which only some do."""
    tie = draws.tie_break(batch)
    drawn = () if tie is None else (pl.Series(_TIE, sortable(tie)),)
    if not state.keys:
        return batch.with_columns(pl.lit(None, pl.Int64).alias(_SPLIT), *drawn)
    floats = [n for n in state.names if batch.schema[n].is_float()]
    told = batch.select(pl.col(n).fill_nan(None) if n in floats else pl.col(n) for n in state.names)
    told = told.join(state.whole, on=list(state.names), how="left", nulls_equal=True, maintain_order="left")
    lost = {n: told[f"{HIDDEN}{n}"].fill_null(False) for n in state.keys}
    kept = (pl.when(~lost[n]).then(pl.col(n)).otherwise(None).alias(n) for n in state.keys)
    return batch.with_columns(*kept, told[_SPLIT], *drawn)


def _drawn(split: _Split) -> Stage:
    """Take out what some records of a pattern lose: those with the smallest draws, found wherever they lie."""
    ways = [
        (pattern, way, records, keys) for pattern, of in split.ways.items() for way, (records, keys) in enumerate(of)
    ]
    rows = [(pattern, way, records) for pattern, way, records, _ in ways]
    cuts = pl.DataFrame(rows, {_SPLIT: pl.Int64, _WAY: pl.Int64, "records": pl.Int64}, orient="row")
    cuts = cuts.with_columns(pl.col("records").cum_sum().over(_SPLIT).alias("up to"))
    most = cuts.group_by(_SPLIT).agg(pl.col("up to").max())

    def f(batch: pl.DataFrame) -> pl.DataFrame:
        return merge(batch.filter(pl.col(_SPLIT).is_not_null()))

    def merge(frames: pl.DataFrame) -> pl.DataFrame:
        beside = frames.sort(_TIE).join(most, on=_SPLIT, maintain_order="left")
        return beside.filter(pl.int_range(pl.len()).over(_SPLIT) < pl.col("up to")).drop("up to")

    def fit(answers: Sequence[pl.DataFrame]) -> pl.DataFrame:
        smallest = answers[0].sort(_SPLIT, _TIE)
        rank = smallest.with_columns(pl.int_range(1, pl.len() + 1).over(_SPLIT).alias("rank"))
        found = rank.join(cuts, on=_SPLIT).filter(
            pl.col("rank").is_between(pl.col("up to") - pl.col("records") + 1, pl.col("up to"))
        )
        return found.select(_SPLIT, _TIE, _WAY)

    def some(batch: pl.DataFrame, state: pl.DataFrame, draws: StepDraws) -> pl.DataFrame:
        way = batch.select(_SPLIT, _TIE).join(state, on=[_SPLIT, _TIE], how="left", maintain_order="left")
        lost = {n: [(pattern, number) for pattern, number, _, keys in ways if n in keys] for n in split.keys}
        gone = {n: _among(way, places) for n, places in lost.items() if places}
        kept = (pl.when(~mask).then(pl.col(n)).otherwise(None).alias(n) for n, mask in gone.items())
        return batch.with_columns(kept).drop(_SPLIT, _TIE)

    return Stage(transform=some, queries=(Folded((_SPLIT, _TIE), f, merge),), fit=fit)


def _among(way: pl.DataFrame, places: Sequence[tuple[int, int]]) -> pl.Series:
    """Whether each record is one of those of a pattern that lose a key."""
    told = pl.DataFrame(places, {_SPLIT: pl.Int64, _WAY: pl.Int64}, orient="row").with_columns(
        pl.lit(True).alias("lost")
    )
    return way.join(told, on=[_SPLIT, _WAY], how="left", maintain_order="left")["lost"].fill_null(False)


def _some(batch: pl.DataFrame, split: _Split, draws: StepDraws) -> pl.DataFrame:
    """Take out what some records of one pattern lose: those with the smallest keyed numbers, else first by value."""
    number = batch[_SPLIT][0] if batch.height else None
    batch = batch.drop(_SPLIT)
    if number is None:
        return batch
    order = _order(batch, draws)
    start = 0
    for records, keys in split.ways[number]:
        chosen = np.zeros(batch.height, dtype=bool)
        chosen[order[start : start + records]] = True
        mask = pl.Series(chosen)
        batch = batch.with_columns(pl.when(~mask).then(pl.col(n)).otherwise(None).alias(n) for n in keys)
        start += records
    return batch


def _order(batch: pl.DataFrame, draws: StepDraws) -> NDArray[np.int64]:
    """The order in which records of one pattern are taken; of records equal in all, it does not matter which."""
    keyed = draws.tie_break(batch)
    if keyed is not None:
        return np.argsort(keyed, kind="stable")
    texts = batch.select(pl.col(n).cast(pl.String) for n in sorted(batch.columns) if not n.startswith(HIDDEN))
    return texts.select(pl.arg_sort_by(texts.columns)).to_series().to_numpy().astype(np.int64)
