"""The four stages of `centroids`: prepare missing values, settle the strata, average, restore the spread.

Between stages the method keeps two kinds of hidden columns: which of its columns a record has (a bit each), and each
record's centroid in standardised units. The released columns themselves stay as they were until the last stage.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.data.codebook import Codebook
from sfumato.data.disclosure import Averaged, Disclosed
from sfumato.data.hidden import HIDDEN
from sfumato.data.hierarchy import category_ladder
from sfumato.data.pair import numbers
from sfumato.data.query import Counts, Moments, Quantiles, Query
from sfumato.data.roles import Kind
from sfumato.draws import shortest
from sfumato.errors import DataError
from sfumato.kernels.grid import FINEST_OWN, drawn_step, own_step, round_half_up, round_to_multiple, round_within
from sfumato.kernels.neighbours.blocks import blocks
from sfumato.kernels.neighbours.centroids import Groups, nearest_groups
from sfumato.kernels.rows import distinct, row_hash
from sfumato.kernels.strata import Ladder, merge_small
from sfumato.methods.base import Stage, StepDraws
from sfumato.methods.centroids.moments import Kept, rounded
from sfumato.methods.centroids.parameters import CentroidParameters

__all__ = ["Averaging", "Preparing", "Restoring", "Stratifying", "rebuilt"]

_PATTERN = f"{HIDDEN}pattern"
_NO_SPREAD = 1e-20  # variance of standardised centroids that is no more than the last bits of their sums
Floats = NDArray[np.float64]
Words = NDArray[np.uint64]
Key = tuple[Any, ...]
Patterns = dict[int, int]


def _together(one: Patterns, other: Patterns) -> Patterns:
    """Records of two strata by the columns that they have."""
    return {have: one.get(have, 0) + other.get(have, 0) for have in {**one, **other}}


def _some(words: Words | None, rows: NDArray[Any]) -> Words | None:
    """Those of some rows, where there are any."""
    return None if words is None else words[rows]


def _z(column: str) -> str:
    return f"{HIDDEN}z:{column}"


def _squared(column: str) -> str:
    return f"{HIDDEN}squared:{column}"


@dataclass(frozen=True)
class Prepared:
    """Decimal places of each column as it came, and what its missing values are filled with."""

    decimals: dict[str, int]
    fill: dict[str, float]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Preparing:
    """Treat missing values, and mark which columns each record has."""

    method: CentroidParameters
    codebook: Codebook

    def stage(self) -> Stage:
        """The look and the pass."""
        queries: tuple[Query, ...] = (Moments(self.method.columns),)
        if self.method.missing == "median":
            queries += tuple(Quantiles(n, (0.5,)) for n in self.method.columns)
        return Stage(self.transform, queries, self.fit)

    def fit(self, answers: Sequence[pl.DataFrame]) -> Prepared:
        """Learn what the later stages go by."""
        moments = {row["variable"]: row for row in answers[0].iter_rows(named=True)}
        empty = [n for n in self.method.columns if moments[n]["n"] == 0]
        if empty:
            raise DataError(
                f"centroids: column {', '.join(map(repr, empty))} has no value at all. Leave it out of columns."
            )
        fill: dict[str, float] = {}
        if self.method.missing == "mean":
            fill = {n: moments[n]["mean"] for n in self.method.columns}
        elif self.method.missing == "median":
            fill = {n: a["value"][0] for n, a in zip(self.method.columns, answers[1:], strict=True)}
        return Prepared({n: moments[n]["decimals"] for n in self.method.columns}, fill)

    def transform(self, batch: pl.DataFrame, state: Prepared, draws: StepDraws) -> pl.DataFrame:
        """The new rows of a batch."""
        floats = [n for n in self.method.by if batch.schema[n].is_float()]
        batch = batch.with_columns(pl.col(n).fill_nan(None) for n in floats)
        missing = {n: self.codebook.missing(n, batch.schema[n]) for n in self.method.columns}
        if self.method.missing == "drop":
            batch = batch.filter(~pl.any_horizontal(missing.values()))
        if state.fill:
            batch = batch.with_columns(
                pl.when(missing[n]).then(pl.lit(value)).otherwise(shortest(pl.col(n), batch.schema[n])).alias(n)
                for n, value in state.fill.items()
            )
        present = (
            pl.when(self.codebook.missing(n, batch.schema[n])).then(0).otherwise(1 << j)
            for j, n in enumerate(self.method.columns)
        )
        return batch.with_columns(
            pl.sum_horizontal(present).cast(pl.UInt8 if len(self.method.columns) <= 8 else pl.UInt64).alias(_PATTERN)
        )


@dataclass(frozen=True)
class Settled:
    """What becomes of small strata: new categories by stratum, or strata that go."""

    by: tuple[str, ...]
    moved: dict[Key, Key]
    gone: tuple[Key, ...] = ()
    merged: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Stratifying:
    """See that every stratum is large enough, for every set of columns that its records have."""

    method: CentroidParameters
    codebook: Codebook
    prepared: Prepared

    def stage(self) -> Stage:
        """The look and the pass."""
        return Stage(self.transform, (Counts((*self.method.by, _PATTERN)),), self.fit)

    def fit(self, answers: Sequence[pl.DataFrame]) -> Settled:
        """Find the small strata and settle what becomes of them."""
        counts = {row[:-1]: row[-1] for row in answers[0].iter_rows()}
        strata = self._strata(counts, len(self.method.by))
        small = [s for s, patterns in strata.items() if self._small(patterns)]
        if not small:
            return Settled(self.method.by, {})
        match self.method.on_small:
            case "suppress":
                return self._suppress(small, strata)
            case "merge":
                return self._merge(strata)
            case "drop_variable":
                return self._drop_variable(counts)
        raise DataError(self._too_small())

    def _too_small(self) -> str:
        where = f"strata of {', '.join(self.method.by)}" if self.method.by else "the table"
        records = "with the same columns present " if self.method.missing in ("keep", "category") else ""
        return (
            f"centroids: some of {where} hold fewer records {records}than min_stratum ({self.method.min_stratum}; k is "
            f"{self.method.k}). Use fewer or broader columns in by (recode), a smaller k, or on_small: merge, suppress "
            "or drop_variable."
        )

    def _strata(self, counts: Mapping[Key, int], width: int) -> dict[Key, Patterns]:
        """Records of each stratum by the columns that they have, in a fixed order of strata.

        With `missing: category` the columns present are part of the stratum.
        """
        strata: dict[Key, Patterns] = {}
        for key, count in counts.items():
            stratum = (*key[:width], key[-1]) if self.method.missing == "category" else key[:width]
            patterns = strata.setdefault(stratum, {})
            patterns[key[-1]] = patterns.get(key[-1], 0) + count
        return strata

    def _small(self, patterns: Patterns) -> bool:
        """Whether some record has too few others with the columns that it has."""
        for have in patterns:
            pool = sum(count for other, count in patterns.items() if other & have == have)
            if have and pool < self.method.min_stratum:
                return True
        return False

    def _suppress(self, small: list[Key], strata: Mapping[Key, Patterns]) -> Settled:
        gone = sum(sum(strata[s].values()) for s in small)
        if gone > self.method.max_suppressed * sum(sum(patterns.values()) for patterns in strata.values()):
            raise DataError(
                f"centroids: on_small: suppress would leave out more than the share {self.method.max_suppressed:g} of "
                "the records (max_suppressed). Use fewer or broader columns in by, or on_small: merge."
            )
        return Settled(self.method.by, {}, tuple(small), notes=(f"{gone} records in small strata were left out.",))

    def _merge(self, strata: Mapping[Key, Patterns]) -> Settled:
        columns = list(zip(*strata, strict=True))
        ladders = [
            category_ladder(self.codebook[n], values) for n, values in zip(self.method.by, columns, strict=False)
        ]
        ladders += [Ladder(tuple((v,) for v in values), (0.0,)) for values in columns[len(ladders) :]]
        size = {s: sum(patterns.values()) for s, patterns in strata.items()}
        moved = merge_small(strata, ladders, _together, lambda patterns: sum(patterns.values()), self._small)
        if moved is None:
            raise DataError(self._too_small())
        changed = tuple(n for j, n in enumerate(self.method.by) if any(s[j] != t[j] for s, t in moved.items()))
        note = f"{len(moved)} small strata with {sum(size[s] for s in moved)} records were merged into others."
        return Settled(self.method.by, moved, merged=changed, notes=(note,))

    def _drop_variable(self, counts: Mapping[Key, int]) -> Settled:
        for width in range(len(self.method.by) - 1, -1, -1):
            if not any(self._small(patterns) for patterns in self._strata(counts, width).values()):
                note = f"{', '.join(self.method.by[width:])} left the release, since some strata were too small."
                return Settled(self.method.by[:width], {}, notes=(note,))
        raise DataError(self._too_small())

    def transform(self, batch: pl.DataFrame, state: Settled, draws: StepDraws) -> pl.DataFrame:
        """The new rows of a batch."""
        batch = batch.drop(n for n in self.method.by if n not in state.by)
        on = [*self.method.by, _PATTERN][: len((*state.moved, *state.gone, ())[0])]
        schema = {n: batch.schema[n] for n in on}
        if state.gone:
            gone = pl.DataFrame(state.gone, schema=schema, orient="row")
            return batch.join(gone, on=on, how="anti", nulls_equal=True, maintain_order="left")
        if not state.moved:
            return batch
        new = [f"{HIDDEN}to:{n}" for n in on]
        rows = [(*s, *t, True) for s, t in state.moved.items()]
        to = pl.DataFrame(
            rows,
            schema={**schema, **dict(zip(new, schema.values(), strict=True)), f"{HIDDEN}moved": pl.Boolean},
            orient="row",
        )
        joined = batch.join(to, on=on, how="left", nulls_equal=True, maintain_order="left")
        chosen = [
            pl.when(pl.col(f"{HIDDEN}moved").is_not_null()).then(pl.col(t)).otherwise(pl.col(n)).alias(n)
            for n, t in zip(on, new, strict=True)
        ]
        return joined.with_columns(chosen).drop(*new, f"{HIDDEN}moved")


@dataclass(frozen=True)
class Standardised:
    """Mean and sd of each column; constant ones are left out."""

    mean: dict[str, float]
    sd: dict[str, float]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Averaging:
    """Give each record the centroid of its neighbours, in standardised units."""

    method: CentroidParameters
    codebook: Codebook
    prepared: Prepared
    settled: Settled

    def stage(self) -> Stage:
        """The look and the pass."""
        pattern = (_PATTERN,) if self.method.missing == "category" else ()
        return Stage(self.transform, (Moments(self.method.columns),), self.fit, by=(*self.settled.by, *pattern))

    def fit(self, answers: Sequence[pl.DataFrame]) -> Standardised:
        """Learn what the later stages go by."""
        mean: dict[str, float] = {}
        sd: dict[str, float] = {}
        notes = []
        for row in answers[0].iter_rows(named=True):
            if row["variance"]:
                mean[row["variable"]], sd[row["variable"]] = row["mean"], float(np.sqrt(row["variance"]))
            else:
                notes.append(f"{row['variable']} is constant: it passed through as it was.")
        return Standardised(mean, sd, tuple(notes))

    def transform(self, batch: pl.DataFrame, state: Standardised, draws: StepDraws) -> pl.DataFrame:
        """The new rows of a batch."""
        active = list(state.sd)
        if not active or batch.is_empty():
            return batch.with_columns(pl.lit(None, pl.Float64).alias(h(n)) for h in (_z, _squared) for n in active)
        z = numbers(batch, active, self.codebook)
        raw = z.copy() if self.method.blur else None
        for j, n in enumerate(active):
            z[:, j] = (z[:, j] - state.mean[n]) / state.sd[n]
        tie = draws.tie_break(batch) if self.method.grouping != "knn" else None
        found = self._by_pattern(z, tie, raw)
        out = found.centroid
        if found.spread is not None and found.signature is not None:
            for j, n in enumerate(active):
                noise = draws.draws.normal(found.signature, draws.purpose(n, f"blur {self.method.blur!r}"))
                out[:, j] += self.method.blur * found.spread[:, j] * noise
        squared = (pl.Series(_squared(n), z[:, j] ** 2, nan_to_null=True) for j, n in enumerate(active))
        new = (pl.Series(_z(n), out[:, j], nan_to_null=True) for j, n in enumerate(active))
        return batch.with_columns(*new, *squared)

    def _by_pattern(self, z: Floats, tie: Words | None, raw: Floats | None) -> Groups:
        """Average record by record among those that have its columns, on those columns.

        Groups are named by the values as they were, `raw`, of these columns alone: records that are equal in them are
        one point, whatever else they have.
        """
        present = ~np.isnan(z)
        if present.all():
            return self._groups(z, tie, None if raw is None else row_hash(raw), None)
        out = Groups.like(z, raw is not None)
        for have in np.unique(present, axis=0):
            if have.any():
                pool = np.asarray(present[:, have].all(axis=1))
                wanted = (present == have).all(axis=1)
                words = None if raw is None else row_hash(raw[np.ix_(pool, have)])
                found = self._groups(z[np.ix_(pool, have)], _some(tie, pool), words, wanted[pool])
                out.put(wanted, have, found)
        return out

    def _groups(self, z: Floats, tie: Words | None, words: Words | None, wanted: NDArray[np.bool_] | None) -> Groups:
        """Groups of the wanted rows of one pool, block by block."""
        if self.method.block_size is None or len(z) <= self.method.block_size:
            return self._in_block(z, tie, words, wanted)
        out = Groups.like(z, words is not None)
        for rows in blocks(z, self.method.block_size, self.method.min_stratum):
            found = self._in_block(z[rows], _some(tie, rows), _some(words, rows), None)
            out.put(rows, np.arange(z.shape[1]), found)
        return out if wanted is None else out.of(wanted)

    def _in_block(self, z: Floats, tie: Words | None, words: Words | None, wanted: NDArray[np.bool_] | None) -> Groups:
        if self.method.grouping == "knn":
            return nearest_groups(
                z, self.method.k, words, ties=self.method.ties, distinct=self.method.distinct, wanted=wanted
            )
        from sfumato.kernels.neighbours.mdav import disjoint_groups

        order = np.lexsort(z.T[::-1] if tie is None else (tie, *z.T[::-1]))
        group = np.empty(len(z), dtype=np.int64)
        group[order] = self._disjoint(z[order])
        out = disjoint_groups(z, group, words, shared=distinct(z).inverse if tie is None else None)
        return out if wanted is None else out.of(wanted)

    def _disjoint(self, z: Floats) -> NDArray[np.int64]:
        """Disjoint groups of points in a fixed order."""
        match self.method.grouping:
            case "variable":
                from sfumato.kernels.neighbours.variable import variable

                return variable(z, self.method.k)
            case "optimal":
                from sfumato.kernels.neighbours.optimal import optimal

                return optimal(z[:, 0], self.method.k)
        from sfumato.kernels.neighbours.mdav import mdav

        return mdav(z, self.method.k)


@dataclass(frozen=True)
class Restored:
    """What brings each column's centroids back to its own units: its moments, their own centre and spread."""

    kept: dict[str, Kept]
    centre: dict[str, float]
    scale: dict[str, float]
    rescaled: bool = True
    notes: tuple[str, ...] = ()
    steps: dict[str, float] = field(default_factory=dict)
    """Multiple that blurred values are rounded to, by column."""
    restored: dict[str, tuple[float | None, float | None]] = field(default_factory=dict)
    """Mean and standard deviation that are restored, by column, where they are rounded; None for what is not."""


@dataclass(frozen=True)
class Restoring:
    """Restore spread and mean over the whole table, then clip, then round."""

    method: CentroidParameters
    codebook: Codebook
    prepared: Prepared
    settled: Settled
    standardised: Standardised

    def stage(self) -> Stage:
        """The look and the pass."""
        columns = tuple(_z(n) for n in self.standardised.sd)
        squared = tuple(_squared(n) for n in self.standardised.sd)
        queries = (Moments(columns), Moments(squared)) if columns else ()
        learns = self._rounds or (self.method.blur and not self._restores)  # exact moments are not disclosed
        return Stage(
            self.transform,
            queries,
            self.fit,
            drawn=self.drawn if self._rounds else None,
            taking=self.taking if columns and learns else None,
        )

    @property
    def _restores(self) -> bool:
        return self.method.rescale or self.method.recentre

    @property
    def _rounds(self) -> bool:
        return self._restores and self.method.moments == "rounded"

    def drawn(self, state: Restored, draws: StepDraws) -> Restored:
        """Round what is restored."""
        m = self.method
        restored = {
            n: (
                rounded(kept, "mean", n, draws) if m.recentre else None,
                rounded(kept, "sd", n, draws) if m.rescale else None,
            )
            for n, kept in state.kept.items()
        }
        return replace(state, restored=restored)

    def taking(self, answers: Sequence[pl.DataFrame], told: Sequence[Disclosed]) -> Restored | None:
        """As `fit`, with the moments and multiples of an earlier release, where it told those of every column."""
        state = self.fit(answers)
        parts = [part for part in told if isinstance(part, Averaged) and part.columns == self.method.columns]
        if len(parts) != 1:
            return None
        restored, steps = parts[0].restored, parts[0].rounded if isinstance(parts[0].rounded, dict) else {}
        if (self._rounds and not state.kept.keys() <= restored.keys()) or not state.steps.keys() <= steps.keys():
            return None
        moments = {n: restored[n] for n in state.kept} if self._rounds else {}
        return replace(state, restored=moments, steps={n: steps[n] for n in state.steps})

    def fit(self, answers: Sequence[pl.DataFrame]) -> Restored:
        """Learn what the later stages go by."""
        kept: dict[str, Kept] = {}
        centre: dict[str, float] = {}
        scale: dict[str, float] = {}
        notes = []
        looked = zip(*(a.iter_rows(named=True) for a in answers), strict=True)
        for n, (row, squares) in zip(self.standardised.sd, looked, strict=True):
            kept[n] = Kept.of(self.standardised.mean[n], self.standardised.sd[n], squares)
            scale[n] = 1.0
            if self.method.rescale and row["variance"] and row["variance"] > _NO_SPREAD:
                scale[n] = 1 / float(np.sqrt(row["variance"]))
            elif self.method.rescale:
                notes.append(f"All centroids of {n} are equal, so its spread could not be restored.")
            centre[n] = row["mean"] if self.method.recentre and row["n"] else 0.0
        steps = {n: self._drawn_step(n, kept[n].sd) for n in kept} if self.method.blur else {}
        return Restored(kept, centre, scale, not notes, tuple(notes), steps)

    def _drawn_step(self, column: str, sd: float) -> float:
        """The multiple of a blurred column: what was asked for, if it hides the draw."""
        grid = self.method.grid_of(column)
        step = own_step(self.prepared.decimals[column], sd) if grid == "input" else grid
        if isinstance(step, float) and step < FINEST_OWN * sd:
            raise DataError(
                f"centroids: round_to of {column!r} is so fine that last digits tell what blurred values were computed "
                f"from; write {drawn_step(sd):g} or input."
            )
        return drawn_step(sd) if step is None else step

    def transform(self, batch: pl.DataFrame, state: Restored, draws: StepDraws) -> pl.DataFrame:
        """The new rows of a batch."""
        released = [self._released(n, batch, state.steps.get(n), *_line(n, state)) for n in state.kept]
        hidden = [n for n in batch.columns if n == _PATTERN or n.startswith((_z(""), _squared("")))]
        return batch.with_columns(released).drop(hidden)

    def _released(
        self, column: str, batch: pl.DataFrame, drawn: float | None, slope: float, intercept: float
    ) -> pl.Series:
        value = batch[_z(column)].to_numpy() * slope + intercept
        low, high = (self.method.clip or {}).get(column, (None, None))
        step = self.method.grid_of(column) if drawn is None else drawn
        if drawn is not None:
            value = round_within(value, drawn, -np.inf if low is None else low, np.inf if high is None else high)
        elif low is not None or high is not None:
            value = np.clip(value, low, high)
        if step == "input":
            value = round_half_up(value, self.prepared.decimals[column])
        elif step is not None and drawn is None:
            value = round_to_multiple(value, float(step))
        dtype = batch.schema[column]
        whole = dtype.is_integer() or (self.codebook[column].kind == Kind.INTEGER and bool(self.prepared.fill))
        on_whole = (step == "input" and self.prepared.decimals[column] == 0) or (
            isinstance(step, float | int) and float(step).is_integer()
        )
        if drawn is not None and any(end is not None and not float(end).is_integer() for end in (low, high)):
            on_whole = False  # values stay on such a bound
        new = pl.Series(column, value, nan_to_null=True)
        new = new.cast(pl.Int64) if whole and on_whole else new
        frame = pl.DataFrame({"new": new, "old": batch[column]})
        # where there is no centroid there was no value: null or a missing code, which stays
        return frame.select(pl.coalesce("new", "old")).to_series().alias(column)


def _line(column: str, state: Restored) -> tuple[float, float]:
    """Slope and intercept by which a column's centroids are released."""
    mean, sd = state.restored.get(column, (None, None))
    mean = state.kept[column].mean if mean is None else mean
    slope = state.scale[column] * (state.kept[column].sd if sd is None else sd)
    return slope, mean - state.centre[column] * slope


def rebuilt(state: Standardised) -> dict[str, pl.Expr]:
    """The unscaled centroids in the columns' own units, by column."""
    return {n: pl.col(_z(n)) * state.sd[n] + state.mean[n] for n in state.sd}
