"""Some people who are looked for among all released records, wherever these are.

An intruder's chance of finding a person hangs on all the others in the file, so that a sample of the file would tell
wrongly. People can be sampled: 10,000 of them are looked for among everybody, and a share found among them has a
standard error below .005. Each batch of records tells what it holds near each of them, and that adds up.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.data.pair import Pair
from sfumato.data.query import COUNT, Counts, Folded
from sfumato.draws import public_places, sortable
from sfumato.kernels.neighbours.h_rank_parts import tree_of_parts
from sfumato.kernels.neighbours.kdtree import Tree, build_tree, mass_within
from sfumato.kernels.rows import complete_rows, row_hash, scatter
from sfumato.measures.confidence import wilson
from sfumato.measures.folds.reading import Scale, Sums, as_released, reader, rebuilt, sums_of
from sfumato.measures.subject import Subject

__all__ = [
    "REBUILT",
    "RELEASED",
    "TRUE",
    "Labels",
    "Near",
    "Points",
    "Seen",
    "Targets",
    "alike",
    "complete",
    "in_groups",
    "looked_for",
    "near",
    "nearness",
    "of_people",
    "people_of",
    "points_of",
    "targets_of",
    "values_of",
]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Within = Callable[[Tree, Floats, Floats, Floats], Floats]
"""How the mass near people is counted, as `sfumato.kernels.neighbours.kdtree.mass_within` counts it."""
Points = Callable[[pl.DataFrame], Floats]
"""The points that the records of a batch are."""

TRUE, RELEASED, REBUILT = "true", "released", "rebuilt"
"""Numbers of people and of records."""
_CODE = "sfumato:code"
_REST = np.uint64(48)  # bits of a hash behind the first ones
_SIDES: tuple[Literal["left", "right"], ...] = ("left", "right")


@dataclass(frozen=True)
class Labels:
    """Groups in which people are looked for, numbered; records of other groups are nobody's concern.

    Parameters
    ----------
    known
        The groups of the people, each once, with their numbers; no column but these where there is one group.
    """

    known: pl.DataFrame

    @classmethod
    def of(cls, groups: pl.DataFrame) -> Labels:
        """Number the groups of some people."""
        each = groups.unique(maintain_order=True)
        numbers = pl.Series(_CODE, np.arange(each.height), pl.Int64)
        return cls(each.with_columns(numbers) if each.width else pl.DataFrame([numbers]))

    def __call__(self, groups: pl.DataFrame) -> Ints:
        """The number of each row's group, −1 for groups that nobody is of."""
        by = [n for n in self.known.columns if n != _CODE]
        if not by:
            return np.zeros(groups.height, dtype=np.int64)
        joined = groups.select(by).join(self.known, on=by, how="left", nulls_equal=True, maintain_order="left")
        return joined[_CODE].fill_null(-1).to_numpy()


@dataclass(frozen=True)
class Seen:
    """The numbers of a batch: true ones, released ones, and what an attacker could rebuild."""

    true: Floats
    released: Floats
    rebuilt: Floats


@dataclass(frozen=True)
class Targets:
    """People who are looked for, and what is known of all records.

    Parameters
    ----------
    columns
        The numbers that masking changed.
    true, released, rebuilt
        Those of the people, shape (m, p), NaN where missing. People near each other follow each other.
    groups
        The released strata that an intruder knows of the people, a row for each.
    all_true, all_released
        Sums of each column over all records, without its missing values.
    whole_true, whole_released
        The same over the records with a value in every column before and after.
    records
        How many records there are.
    reads
        The numbers of a batch.
    needed
        The columns of the run's result that are read for them.
    """

    columns: tuple[str, ...]
    true: Floats
    released: Floats
    rebuilt: Floats | None
    groups: pl.DataFrame
    all_true: tuple[Sums, ...]
    all_released: tuple[Sums, ...]
    whole_true: tuple[Sums, ...]
    whole_released: tuple[Sums, ...]
    records: int
    reads: Callable[[pl.DataFrame], Seen]
    needed: tuple[str, ...]

    @property
    def whole(self) -> Bools:
        """People with a value in every column before and after, shape (m,)."""
        return complete_rows(self.true, self.released)

    @property
    def height(self) -> int:
        """How many people are looked for."""
        return len(self.true)


def targets_of(subject: Subject) -> Targets:
    """Choose people, and learn what is known of all records: once, for all who look for them.

    Parameters
    ----------
    subject
        All records, and a sample of them, as measures look at it; the people are those with the smallest public draws
        of ids, `Measuring.people` of them.
    """
    return subject.two.once(("people", subject.how.people), lambda: _targets(subject))


def _targets(subject: Subject) -> Targets:
    pair, sides = subject.two, subject.everybody
    columns = pair.columns
    places = (sides.true, as_released, sides.rebuilt)
    reads = [reader(sides, columns, where) for where in places]

    def made(batch: pl.DataFrame) -> dict[str, Floats]:
        x, z = reads[0](batch), reads[1](batch)
        whole = complete_rows(x, z)[:, None]
        kinds = {"x": x, "z": z, "wx": np.where(whole, x, np.nan), "wz": np.where(whole, z, np.nan)}
        return {f"{kind}{j}": table[:, j] for kind, table in kinds.items() for j in range(len(columns))}

    told = sums_of(sides.after, made, [f"{kind}{j}" for kind in ("x", "z", "wx", "wz") for j in range(len(columns))])
    x, z, wx, wz = (tuple(told[f"{kind}{j}"] for j in range(len(columns))) for kind in ("x", "z", "wx", "wz"))
    rows = people_of(pair, subject.how.people)
    again = subject.unscaled[rows] if subject.unscaled is not None and rebuilt(sides, columns) else None
    needed = {where(n) for n in columns for where in places}
    needed |= {*pair.known_by, *([] if sides.record is None else [sides.record])}  # the same for all questions
    groups = pair.after[rows].select(pair.known_by)
    records = int(sides.after.ask(Counts(())).item(0, COUNT))
    of_some = (pair.x[rows], pair.z[rows], again, groups)
    return Targets(columns, *of_some, x, z, wx, wz, records, _Reading(*reads), tuple(sorted(needed)))


class _Reading:
    """Reads a batch once, however many questions look at it in turn."""

    def __init__(self, *reads: Callable[[pl.DataFrame], Floats]) -> None:
        self.reads = reads
        self.last: tuple[pl.DataFrame, Seen] | None = None

    def __call__(self, batch: pl.DataFrame) -> Seen:
        if self.last is None or self.last[0] is not batch:
            self.last = batch, Seen(*(read(batch) for read in self.reads))
        return self.last[1]

    def __getstate__(self) -> dict[str, Any]:
        return {"reads": self.reads, "last": None}  # no rows go to other workers


def people_of(pair: Pair, most: int) -> Ints:
    """Rows of those with the smallest public draws of ids; people near each other follow each other."""
    rows = np.arange(pair.before.height)
    if pair.record is not None and pair.record in pair.before.columns:
        place = public_places(pair.before[pair.record])
    else:  # the sample is in the order of ids that are not released
        place = sortable(scatter(rows.astype(np.uint64) + np.uint64(1)))
    rows = np.lexsort((rows, place))[:most]
    x = np.nan_to_num(pair.x[rows])
    scale = x.std(axis=0)
    points = x / np.where(scale > 0, scale, 1.0)
    return rows[build_tree(points, np.ones(len(rows), dtype=np.int64)).order] if x.size else rows


@dataclass(frozen=True)
class Near:
    """Records near each person.

    Parameters
    ----------
    nearer
        Whether one is nearer than allowed, shape (m,).
    mass
        How many are within reach where none is nearer, shape (m,).
    """

    nearer: Bools
    mass: Floats

    def chance(self) -> Floats:
        """Chance that whoever takes one of the nearest takes the person's own, shape (m,)."""
        return np.divide(1.0, self.mass, out=np.zeros(len(self.mass)), where=(self.mass > 0) & ~self.nearer)


def near(
    needed: Sequence[str],
    points: Points,
    people: Floats,
    closer: Floats,
    reach: Floats,
    within: Within = mass_within,
) -> Folded:
    """The question how many records are within reach of each person, and whether any is nearer still.

    Parameters
    ----------
    needed
        The columns that `points` reads.
    points
        The records of a batch, shape (n, p).
    people : ndarray, shape (m, p)
    closer, reach : ndarray, shape (m,)
        Squared distances, or as `within` takes them.
    within
        How what is near is counted.
    """
    schema = {"target": pl.UInt32, "nearer": pl.Boolean, "mass": pl.Float64}

    def f(batch: pl.DataFrame) -> pl.DataFrame:
        those = points(batch)
        if not len(those):
            return pl.DataFrame(schema=schema)
        mass = within(tree_of_parts(those), people, closer, reach)
        some = np.flatnonzero(mass)
        nearer = mass[some] < 0
        return pl.DataFrame({"target": some, "nearer": nearer, "mass": np.where(nearer, 0.0, mass[some])}, schema)

    return Folded(tuple(needed), f, _added)


def alike(needed: Sequence[str], points: Points, people: Floats) -> Folded:
    """The question how many records are just where each person is; answered as `near` is.

    Parameters
    ----------
    needed, points, people
        As for `near`.
    """
    words = row_hash(people)
    order = np.argsort(words)
    sorted_words = words[order]
    begun = np.zeros(1 << 16, dtype=bool)
    begun[words >> _REST] = True

    def f(batch: pl.DataFrame) -> pl.DataFrame:
        those = points(batch)
        word = row_hash(those)
        some = np.flatnonzero(begun[word >> _REST])  # most records begin as nobody's hash does: they are passed over
        low, high = (np.searchsorted(sorted_words, word[some], side) for side in _SIDES)
        rows = np.repeat(some, high - low)
        at = order[_ranges(low, high)]
        same = (those[rows] == people[at]).all(axis=1)  # two different points may share a hash
        each = pl.DataFrame({"target": at[same]}, {"target": pl.UInt32})
        nobody = pl.lit(False).alias("nearer")
        return each.group_by("target").agg(nobody, pl.len().cast(pl.Float64).alias("mass"))

    return Folded(tuple(needed), f, _added)


def _ranges(low: Ints, high: Ints) -> Ints:
    """The whole numbers from each `low` up to its `high`, one after the other."""
    sizes = high - low
    return np.asarray(np.arange(int(sizes.sum())) + np.repeat(low - np.cumsum(sizes) + sizes, sizes))


def _added(frames: pl.DataFrame) -> pl.DataFrame:
    return frames.group_by("target").agg(pl.col("nearer").any(), pl.col("mass").sum())


def nearness(answer: pl.DataFrame, height: int) -> Near:
    """What the answer to `near` tells of so many people.

    Examples
    --------
    >>> told = pl.DataFrame({"target": [2], "nearer": [False], "mass": [4.0]})
    >>> nearness(told, 3).chance().tolist()
    [0.0, 0.0, 0.25]
    """
    nearer, mass = np.zeros(height, dtype=bool), np.zeros(height)
    at = answer["target"].to_numpy()
    nearer[at], mass[at] = answer["nearer"].to_numpy(), answer["mass"].to_numpy()
    return Near(nearer, mass)


def looked_for(hits: Floats, everybody: int) -> tuple[float | None, tuple[float, float] | None]:
    """A share of people, and its interval where not everybody was looked for."""
    if not len(hits):
        return None, None
    share = float(hits.mean())
    return share, None if len(hits) >= everybody else wilson(share * len(hits), len(hits))


def in_groups(points: Floats, codes: Ints, gap: float) -> Floats:
    """Points with a coordinate that puts groups so far apart that nobody is found in another one.

    Parameters
    ----------
    points : ndarray, shape (n, p)
    codes : ndarray, shape (n,)
        Group of each.
    gap
        More than any distance that is looked at.

    Examples
    --------
    >>> in_groups(np.zeros((2, 1)), np.array([0, 1]), 5.0).tolist()
    [[0.0, 0.0], [0.0, 5.0]]
    """
    return np.column_stack([points, codes * gap])


def values_of(seen: Seen, what: str) -> Floats:
    """Those numbers of a batch that are named."""
    return {TRUE: seen.true, RELEASED: seen.released, REBUILT: seen.rebuilt}[what]


def of_people(targets: Targets, what: str) -> Floats:
    """Those numbers of the people that are named."""
    values = {TRUE: targets.true, RELEASED: targets.released, REBUILT: targets.rebuilt}[what]
    assert values is not None
    return values


def complete(targets: Targets, what: str) -> Bools:
    """People with a value in every column of both tables."""
    return complete_rows(targets.true, of_people(targets, RELEASED if what == TRUE else what))


def points_of(targets: Targets, scale: Scale, what: str, labels: Labels | None, gap: float) -> Points:
    """The complete records of a batch in `scale`, apart by groups where there are `labels`."""
    reads, other = targets.reads, RELEASED if what == TRUE else what

    def points(batch: pl.DataFrame) -> Floats:
        seen = reads(batch)
        whole = complete_rows(seen.true, values_of(seen, other))
        if labels is None:
            return scale(values_of(seen, what)[whole])
        codes = labels(batch)
        whole &= codes >= 0
        return in_groups(scale(values_of(seen, what)[whole]), codes[whole], gap)

    return points
