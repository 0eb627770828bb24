"""Where an attacker who knows the law of the noise compares people with records that are not in memory.

See `sfumato.measures.risk.attackers.attackers`. What the attacker knows of the population is learnt from a sample.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.data.query import Folded
from sfumato.measures.folds.asking import Question
from sfumato.measures.folds.people import Seen, Targets
from sfumato.measures.risk.attackers.attackers import LikelihoodSpace, lifted
from sfumato.measures.risk.attackers.likelihood_choice import unlike_normal
from sfumato.measures.risk.h_rank.measure import known_columns, laws_of
from sfumato.measures.subject import Subject

__all__ = ["Likely", "likely"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
_LAW = "sfumato:law"


@dataclass(frozen=True)
class Likely:
    """Places in which the nearest released record is the likeliest.

    Parameters
    ----------
    laws
        Which space holds for a stratum: the strata's columns, and its number; without columns there is one.
    spaces
        A space for each law of the noise.
    least
        The smallest weight of a released record in each.
    """

    laws: pl.DataFrame
    spaces: tuple[LikelihoodSpace, ...]
    least: tuple[float, ...]

    def search(self, seen: Seen, groups: pl.DataFrame) -> Floats:
        """Where the attacker looks for people."""
        known, _ = _without_gone(seen)
        which = self._which(groups, len(known))
        out = np.zeros((len(known), self._width))
        for k, space in enumerate(self.spaces):
            points = space.targets(known[which == k])
            out[which == k, : points.shape[1]] = points
        return out

    def __call__(self, seen: Seen, groups: pl.DataFrame) -> Floats:
        """Where released records are."""
        _, released = _without_gone(seen)
        which = self._which(groups, len(released))
        out = np.zeros((len(released), self._width))
        for k, (space, least) in enumerate(zip(self.spaces, self.least, strict=True)):
            if (which == k).any():
                points = lifted(*space.points(released[which == k]), least)
                out[which == k, : points.shape[1]] = points
        return out

    def weights(self, seen: Seen, groups: pl.DataFrame) -> pl.DataFrame:
        """The smallest weight of a batch's records in each space."""
        _, released = _without_gone(seen)
        which = self._which(groups, len(released))
        there = [k for k in range(len(self.spaces)) if (which == k).any()]
        least = [float(self.spaces[k].points(released[which == k])[1].min()) for k in there]
        return pl.DataFrame({_LAW: there, "least": least}, {_LAW: pl.Int64, "least": pl.Float64})

    @property
    def _width(self) -> int:
        nobody = np.zeros((0, len(self.spaces[0].middle)))
        return max(int(space.targets(nobody).shape[1]) for space in self.spaces)

    def _which(self, groups: pl.DataFrame, height: int) -> Ints:
        by = [n for n in self.laws.columns if n != _LAW]
        if not by:
            return np.zeros(height, dtype=np.int64)
        joined = groups.select(by).join(self.laws, on=by, how="left", nulls_equal=True, maintain_order="left")
        return np.asarray(joined[_LAW].fill_null(-1).to_numpy())


def likely(subject: Subject, targets: Targets) -> Generator[Sequence[Question], Sequence[pl.DataFrame], Likely | None]:
    """The places for a release's noise; None where an attacker would have to weigh each record by itself.

    Parameters
    ----------
    subject
        All records, which are gone through once, and a sample.
    targets
        People who are looked for.
    """
    pair, disclosure = subject.two, subject.disclosure
    names, true, noisy = known_columns(pair, disclosure)
    told = laws_of(pair, disclosure, names, true, noisy)
    if names != targets.columns or any(unlike_normal(law) or any(law.grows) for _, law in told):
        return None
    number = np.zeros(len(true), dtype=np.int64)
    for k, (rows, _) in enumerate(told):
        number[rows] = k
    strata = pl.DataFrame([*pair.after.select(targets.groups.columns).get_columns(), pl.Series(_LAW, number)])
    spaces = tuple(LikelihoodSpace.of(law, true[rows]) for rows, law in told)
    places = Likely(strata.unique(maintain_order=True), spaces, ())
    reads, by = targets.reads, targets.groups.columns

    def f(batch: pl.DataFrame) -> pl.DataFrame:
        return places.weights(reads(batch), batch.select(by))

    def merge(frames: pl.DataFrame) -> pl.DataFrame:
        return frames.group_by(_LAW).agg(pl.col("least").min())

    (answer,) = yield [Question(subject.everybody.after, Folded(targets.needed, f, merge))]
    least = dict(answer.iter_rows())
    return replace(places, least=tuple(least.get(k, 0.0) for k in range(len(spaces))))


def _without_gone(seen: Seen) -> tuple[Floats, Floats]:
    """True and released values; one that only one side has takes no part in the search."""
    gone = np.isnan(seen.true) | np.isnan(seen.released)
    return np.where(gone, np.nan, seen.true), np.where(gone, np.nan, seen.released)
