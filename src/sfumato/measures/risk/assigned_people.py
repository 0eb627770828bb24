"""Who is found among all released records by assigning these one to one to the people of the table.

It is the measure `linkage_one_to_one` of a table that is not in memory. As in memory for strata that are too large to
assign, a few people are looked for, each assigned together with those who compete with him; here those are found among
all records, batch by batch. See `sfumato.kernels.neighbours.assignment`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.data.query import Folded
from sfumato.draws import sortable, units_of
from sfumato.kernels.neighbours.assignment import NEIGHBOURS, assigned_chances, chosen_people
from sfumato.kernels.rows import complete_rows, mostly_distinct, row_hash
from sfumato.measures.folds.people import Labels, Targets, alike, in_groups, nearness
from sfumato.measures.folds.reading import Scale
from sfumato.measures.subject import Subject

__all__ = ["Assigned", "assigned"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_TIE = 1e-9  # relative difference below which two distances are equal
_LEAF = 200  # few people and many records: a tree that is built sooner is worth more than one that is asked sooner
_SIDES = 2  # those whose true values are near, and those whose releases are


@dataclass(frozen=True)
class Assigned:
    """People who are looked for by an assignment.

    Parameters
    ----------
    people, own : ndarray, shape (m, p)
        True values of the people, and their releases.
    questions
        Who competes with each of them; how many releases are equal to each of theirs.
    """

    people: Floats
    own: Floats
    questions: tuple[Folded, Folded]

    def chances(self, answers: Sequence[pl.DataFrame]) -> Floats:
        """Chance of each person to be linked rightly, shape (m,), from the answers."""
        competing, equal = answers
        copies = nearness(equal, len(self.people)).mass
        out = np.empty(len(self.people))
        for i, (x, z) in enumerate(self._competitors(competing)):
            mine = np.flatnonzero((x == self.people[i]).all(axis=1) & (z == self.own[i]).all(axis=1))
            if not len(mine):  # so many are nearer that the own record is not among them
                x, z, mine = np.vstack([x, self.people[i]]), np.vstack([z, self.own[i]]), np.array([len(x)])
            out[i] = assigned_chances(x, z)[mine[0]] / max(copies[i], 1.0)
        return out

    def _competitors(self, found: pl.DataFrame) -> Iterator[tuple[Floats, Floats]]:
        """True and released values of those who compete with each person, each of them once."""
        of = found.sort("target", "unit").unique(["target", "unit"], keep="first", maintain_order=True)
        target = of["target"].to_numpy()
        values = [np.empty((of.height, self.people.shape[1])) for _ in range(_SIDES)]
        for j in range(self.people.shape[1]):
            values[0][:, j], values[1][:, j] = of[f"x{j}"].to_numpy(), of[f"z{j}"].to_numpy()
        bounds = np.searchsorted(target, np.arange(len(self.people) + 1))
        for a, b in pairwise(bounds):
            yield values[0][a:b], values[1][a:b]


def assigned(subject: Subject, targets: Targets, scale: Scale, grouped: bool) -> Assigned:
    """Choose some of the people who are looked for, and ask who competes with them.

    Parameters
    ----------
    subject
        All records, and a sample, which tells how far from each person others need be looked for.
    targets
        Who is looked for.
    scale
        What values are compared in.
    grouped
        Whether the intruder knows the strata.
    """
    pair, whole = subject.two, np.flatnonzero(targets.whole)
    at = whole[chosen_people(len(whole))]
    people, own = scale(targets.true[at]), scale(targets.released[at])
    labels = Labels.of(targets.groups if grouped else pl.DataFrame())
    mine = labels(targets.groups)[at] if grouped else np.zeros(len(at), dtype=np.int64)
    gap = _gap(targets, scale)
    search = in_groups(people, mine, gap)
    rows = np.flatnonzero(complete_rows(pair.x, pair.z))
    codes = labels(pair.after)[rows]
    rows, codes = rows[codes >= 0], codes[codes >= 0]
    share = min(1.0, int(complete_rows(pair.x, pair.z).sum()) / max(targets.whole_true[0].n, 1))
    reach = [_reach(in_groups(scale(v[rows]), codes, gap), search, share, gap) for v in (pair.x, pair.z)]
    read = _reading(targets, scale, labels)

    def released(batch: pl.DataFrame) -> Floats:
        _, z, codes, _ = read(batch)
        return in_groups(z, codes, gap)

    equal = alike(targets.needed, released, in_groups(own, mine, gap))
    return Assigned(people, own, (_competing(subject.everybody.record, targets, read, gap, search, reach), equal))


def _gap(targets: Targets, scale: Scale) -> float:
    """More than twice any distance between a true value and a true or released one."""
    widths = []
    for j in scale.used:
        sums = (targets.whole_true[j], targets.whole_released[j])
        lows, highs = [s.low for s in sums if s.low is not None], [s.high for s in sums if s.high is not None]
        widths.append(max(highs) - min(lows) if lows else 0.0)
    return 2 * float(np.linalg.norm(np.array(widths) / scale.sd)) + 1 if widths else 1.0


def _reach(sample: Floats, search: Floats, share: float, gap: float) -> Floats:
    """Distances within which as many records lie as compete with each person, but for one in a million, shape (m,).

    A share of the records holds that share of them in the mean; five standard deviations more are allowed for.
    """
    from scipy.spatial import cKDTree

    mean = NEIGHBOURS * share
    need = math.ceil(mean + 5 * math.sqrt(mean) + 5)
    far = np.full(len(search), 0.75 * gap)
    if len(sample) < need or not len(search):
        return far
    distance: Floats = np.asarray(cKDTree(sample).query(search, k=[need])[0])[:, 0]
    return np.asarray(np.minimum(distance * (1 + _TIE), far))


Read = Callable[[pl.DataFrame], tuple[Floats, Floats, Ints, Ints]]
"""True and released values of the complete records of a batch, their groups, and which rows they are."""


def _reading(targets: Targets, scale: Scale, labels: Labels) -> Read:
    reads = targets.reads

    def read(batch: pl.DataFrame) -> tuple[Floats, Floats, Ints, Ints]:
        seen, codes = reads(batch), labels(batch)
        rows = np.flatnonzero(complete_rows(seen.true, seen.released) & (codes >= 0))
        return scale(seen.true[rows]), scale(seen.released[rows]), codes[rows], rows

    return read


def _competing(
    record: str | None, targets: Targets, read: Read, gap: float, search: Floats, reach: Sequence[Floats]
) -> Folded:
    """The question whose true values are nearest to each person's, and whose releases."""
    assert record is not None, "people are known by their ids"
    p = search.shape[1] - 1
    names = [f"{side}{j}" for side in "xz" for j in range(p)]
    schema = pl.Schema(
        {"target": pl.UInt32(), "side": pl.Int8(), "distance": pl.Float64(), "unit": pl.Int64()}
        | dict.fromkeys(names, pl.Float64())
    )

    def f(batch: pl.DataFrame) -> pl.DataFrame:
        x, z, codes, rows = read(batch)
        if not len(rows):
            return schema.to_frame()
        unit = sortable(units_of(batch[record][rows]))
        parts = []
        for side in range(_SIDES):
            points = in_groups((x, z)[side], codes, gap)
            of, at, distance = _within(points, unit, search, reach[side])
            own = {"target": of, "side": np.full(len(of), side), "distance": distance, "unit": unit[at]}
            values = dict(zip(names, np.hstack([x[at], z[at]]).T, strict=True))
            parts.append(pl.DataFrame(own | values, schema))
        return merge(pl.concat(parts))

    def merge(frames: pl.DataFrame) -> pl.DataFrame:
        near = frames.sort("target", "side", "distance", "unit").group_by("target", "side", maintain_order=True)
        return near.head(NEIGHBOURS).match_to_schema(schema)

    return Folded(targets.needed, f, merge)


def _within(points: Floats, unit: Ints, search: Floats, reach: Floats) -> tuple[Ints, Ints, Floats]:
    """Points within reach: whose they are, which, and squared distances; of equal points as many as can compete."""
    from scipy.spatial import cKDTree

    kept = np.arange(len(points))
    if not mostly_distinct(points):
        place = pl.DataFrame({"word": row_hash(points), "unit": unit})
        kept = np.flatnonzero(place.select(pl.col("unit").rank("ordinal").over("word")).to_series() <= NEIGHBOURS)
    tree = cKDTree(points[kept], leafsize=_LEAF, balanced_tree=False, compact_nodes=False)
    found = tree.query_ball_point(search, reach, return_sorted=False)
    sizes = np.array([len(some) for some in found], dtype=np.int64)
    of = np.repeat(np.arange(len(search)), sizes)
    at = kept[np.concatenate([np.asarray(some, dtype=np.int64) for some in found])] if len(of) else of
    distance = np.zeros(len(of))
    for j in range(points.shape[1]):
        distance += np.square(points[at, j] - search[of, j])
    return of, at, distance
