"""The two stages of `swap`: exchange values, then tell what that did to the columns.

In between the method keeps hidden columns: each column before and after as numbers, and whether a value is as it was.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.data.codebook import Codebook
from sfumato.data.hidden import HIDDEN
from sfumato.data.holding import holding
from sfumato.data.query import Moments
from sfumato.errors import DataError
from sfumato.kernels.grid import round_to_multiple
from sfumato.kernels.masking.near_ranks import near_ranks
from sfumato.methods.base import Stage, StepDraws
from sfumato.methods.drawn_grid import column_steps, time_unit
from sfumato.methods.swap.values import amount, column_bits, doubles, ordered, value_bits

__all__ = ["Swapping", "Telling", "compared"]

_FEWEST_PARTNERS = 2
"""With a single possible partner everybody knows who it is, and can exchange the values back."""

Ints = NDArray[np.int64]


def _before(column: str) -> str:
    return f"{HIDDEN}before:{column}"


def _after(column: str) -> str:
    return f"{HIDDEN}after:{column}"


def _moved(column: str) -> str:
    return f"{HIDDEN}moved:{column}"


def _same(column: str) -> str:
    return f"{HIDDEN}same:{column}"


@dataclass(frozen=True)
class Swapping:
    """Exchange values within one stratum; see `Swap` for the parameters, `window` is None for any record."""

    codebook: Codebook
    columns: tuple[str, ...]
    window: float | None
    by: tuple[str, ...]
    together: bool
    perturb: float | None = None

    def stage(self) -> Stage:
        """The look, where numbers are drawn anew, and the pass."""
        names = tuple(n for n in self.columns if self.perturb is not None and self.codebook[n].numeric)
        return Stage(self.transform, (Moments(names),) if names else (), self.fit, by=self.by)

    def fit(self, answers: Sequence[pl.DataFrame]) -> dict[str, float]:
        """Multiples of the numbers that are drawn anew."""
        return column_steps(row for answer in answers for row in answer.iter_rows(named=True))

    def transform(self, batch: pl.DataFrame, state: dict[str, float], draws: StepDraws) -> pl.DataFrame:
        """The new rows of a stratum."""
        unit = draws.units(batch)
        groups = [self.columns] if self.together else [(n,) for n in self.columns]
        new: list[pl.Series] = []
        for group in groups:
            source = self._sources(batch, group, unit, draws)
            new += [self._anew(batch[n], state.get(n), unit, draws).gather(source) for n in group]
        return batch.with_columns(new).with_columns(s for z in new for s in compared(self.codebook, batch[z.name], z))

    def _sources(self, batch: pl.DataFrame, group: tuple[str, ...], unit: NDArray[np.uint64], draws: StepDraws) -> Ints:
        """Row whose value each row takes, shape (n,); those without a value in the first column keep theirs."""
        from sfumato.kernels.masking.rank_swap import random_swap, rank_swap

        first = group[0]
        missing = batch.select(self.codebook.missing(first, batch.schema[first])).to_series().to_numpy()
        rows = np.flatnonzero(~missing)
        source = np.arange(batch.height)
        if not len(rows):
            return source
        value = batch[first].gather(rows)
        n = len(rows)
        w = n - 1 if self.window is None else int(self.window * n + 1e-9)
        self._refuse_few(first, min(w, n - 1))
        strength = f"{'random' if self.window is None else self.window!r} by {self.by!r}"
        purpose = draws.purpose(repr(group) if self.together else first, strength)
        word = draws.draws.words(unit[rows], purpose, value_bits([batch[n].gather(rows) for n in group]))
        if self.window is None:
            order = np.lexsort((unit[rows], word[:, 1], word[:, 0]))
            source[rows] = rows[random_swap(order)]
            return source
        order = np.lexsort((unit[rows], word[:, 1], self._ranked(value)))  # ties by keyed draws
        u = ((word[order, 0] >> np.uint64(12)).astype(np.float64) + 0.5) * 2.0**-52
        source[rows[order]] = rows[order][rank_swap(u, w)]
        return source

    def _anew(self, value: pl.Series, step: float | None, unit: NDArray[np.uint64], draws: StepDraws) -> pl.Series:
        """Values of their owners drawn anew between those that a share of ranks lie below and above.

        Keyed on whose value it is and on the value, not on who gets it, so that another window repeats the draws. And
        keyed on all values: when somebody leaves, the bounds of those nearby move, and if all others stayed as they
        were, the middle of those that moved would be the value that has gone.
        """
        if self.perturb is None or not amount(self.codebook[value.name]) or not ordered(value.dtype):
            return value
        missing = value.to_frame().select(self.codebook.missing(value.name, value.dtype)).to_series().to_numpy()
        rows = np.flatnonzero(~missing)
        x = doubles(value).gather(rows).to_numpy()
        among = hashlib.sha256((np.sort(x) + 0.0).tobytes()).hexdigest()
        purpose = draws.purpose(value.name, f"perturb {self.perturb!r} by {self.by!r} among {among}")
        u = draws.draws.uniform(unit[rows], purpose, column_bits(value)[rows])
        new = near_ranks(x, self.perturb, u)
        step = time_unit(value.dtype) if value.dtype.is_temporal() else step
        new = new if step is None else round_to_multiple(new, step)  # without a step there is one value alone
        known = pl.Series(new).cast(value.to_physical().dtype).cast(value.dtype)
        return value.scatter(pl.Series(rows), known) if len(rows) else value

    def _refuse_few(self, column: str, partners: int) -> None:
        if partners >= _FEWEST_PARTNERS:
            return
        where = f"in some combinations of {', '.join(self.by)}" if self.by else "in this table"
        wider = "a wider window, " if self.window is not None else ""
        raise DataError(
            f"swap: {where} some values of {column!r} have fewer than {_FEWEST_PARTNERS} others to exchange with, so "
            f"that anybody could exchange them back. Use {wider}fewer or broader columns in by."
        )

    def _ranked(self, value: pl.Series) -> NDArray[np.generic]:
        """Values as numbers that sort as they do."""
        if not (ordered(value.dtype) or value.dtype == pl.Boolean):
            raise DataError(
                f"swap: column {value.name!r} holds {holding(value.dtype)}; `window` needs numbers or dates. "
                "Use `random: true`."
            )
        return (value.cast(pl.Float64) if value.dtype.is_decimal() else value.to_physical()).to_numpy()


def compared(codebook: Codebook, x: pl.Series, z: pl.Series) -> Iterator[pl.Series]:
    """What `Telling` looks at, of a column before and after: null where there is no value before or after."""
    frame = pl.DataFrame([x.alias("x"), z.alias("z")])
    book = Codebook({"x": codebook[x.name], "z": codebook[x.name]})
    both = ~(book.missing("x", x.dtype) | book.missing("z", x.dtype))
    columns = {_same(x.name): pl.col("x") == pl.col("z")}
    if ordered(x.dtype):
        before, after = (pl.col(n).to_physical().cast(pl.Float64) for n in ("x", "z"))
        columns |= {_before(x.name): before, _after(x.name): after, _moved(x.name): after - before}
    yield from frame.select(pl.when(both).then(e.cast(pl.Float64)).alias(n) for n, e in columns.items())


@dataclass(frozen=True)
class Telling:
    """Tell the custodian what the exchange did, and take the hidden columns out."""

    codebook: Codebook
    columns: tuple[str, ...]

    def stage(self) -> Stage:
        """The look and the pass."""
        same = tuple(_same(n) for n in self.columns)
        amounts = tuple(h(n) for n in self._amounts() for h in (_before, _after, _moved))
        return Stage(self.transform, (Moments((*same, *amounts)),), self.fit)

    def _amounts(self) -> list[str]:
        """Columns whose correlation means something."""
        return [n for n in self.columns if self.codebook[n].numeric]

    def fit(self, answers: Sequence[pl.DataFrame]) -> tuple[str, ...]:
        """A sentence for each column."""
        found = {row["variable"]: row for row in answers[0].iter_rows(named=True)}
        notes = []
        for n in self.columns:
            if not found[_same(n)]["n"]:
                notes.append(f"{n} has no value at all: nothing was exchanged.")
                continue
            text = f"{n}: {found[_same(n)]['mean']:.2%} of the values are as they were"
            if n in self._amounts():
                x, z, d = (found[h(n)]["variance"] or 0.0 for h in (_before, _after, _moved))
                if x * z > 0:
                    text += f"; correlation of released with original values {(x + z - d) / (2 * np.sqrt(x * z)):.4f}"
            notes.append(text + ".")
        return tuple(notes)

    def transform(self, batch: pl.DataFrame, state: tuple[str, ...], draws: StepDraws) -> pl.DataFrame:
        """The rows without hidden columns of this method."""
        hidden = {h(n) for n in self.columns for h in (_before, _after, _moved, _same)}
        return batch.drop(n for n in batch.columns if n in hidden)
