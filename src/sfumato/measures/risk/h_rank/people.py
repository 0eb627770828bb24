"""The h-rank of some people against all records of a table that is not in memory.

See `sfumato.measures.risk.h_rank` for what it is, and `sfumato.kernels.neighbours.h_rank_parts` for how parts add up.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.data.dataset import Parted
from sfumato.data.finding import Finding, Findings
from sfumato.data.query import Folded
from sfumato.kernels.neighbours.h_rank import TIE
from sfumato.kernels.neighbours.h_rank_parts import MOST_TIED, Taken, closer_in, hidden_by, nearest_in, others_in
from sfumato.kernels.rows import row_hash
from sfumato.measures.attacking import USUAL
from sfumato.measures.folds.asking import Asking, Question
from sfumato.measures.folds.people import Labels, Seen, Targets, in_groups, targets_of
from sfumato.measures.folds.reading import Sums
from sfumato.measures.risk.h_rank.h_rank import AT, HRank
from sfumato.measures.risk.h_rank.likely import Likely, likely
from sfumato.measures.risk.h_rank.measure import WORST, compute, known_columns, sampling_fraction, worst_line
from sfumato.measures.subject import Subject

__all__ = ["among_all"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Compared = Callable[[Seen, pl.DataFrame], Floats]
"""Released values, and the groups of their records, as an attacker compares them."""
Placed = Callable[[pl.DataFrame], tuple[Floats, Floats]]
"""The records of a batch as the attacker compares them, and as h counts them."""

Counting = Generator[Sequence[Question], Sequence[pl.DataFrame], list[Ints]]

_PATTERN = "sfumato:pattern"
_NEAREST, _PREDICTED = "nearest", "predicted"
_Place = tuple[str | None, float | None]


def among_all(subject: Subject) -> Asking:
    """The lines `h_rank` of a sample, with those of the attacks `nearest` and `predicted` told of people among all.

    Noise that is not normal, or grows, lets `predicted` weigh each record by itself: it is left to the sample then.

    Parameters
    ----------
    subject
        All records, and a sample, from which `predicted` knows the population.
    """
    sampled = compute(subject)
    pair, how, disclosure = subject.two, subject.how.attacking or USUAL, subject.disclosure
    wanted = {f.attack for f in sampled if f.measure == "h_rank"}
    known = known_columns(pair, disclosure)[0]  # indicators of noisy categories are not among the numbers
    if not pair.columns or _NEAREST not in wanted or known != pair.columns or how.metric == "mahalanobis":
        return sampled
    targets, after = targets_of(subject), subject.everybody.after
    at = tuple(sorted({*AT, *how.at}))
    fields = {_NEAREST: _Field.of(targets, how.metric == "scaled")}
    if _PREDICTED in wanted and (places := (yield from likely(subject, targets))) is not None:
        fields[_PREDICTED] = fields[_NEAREST].compared_by(places)
    chance = sampling_fraction(disclosure) if how.fraction is None else how.fraction
    first = fields[_NEAREST]
    *nearest, others = yield [
        Question(after, question) for question in (*(field.nearest() for field in fields.values()), first.others())
    ]
    lonely, alike = first.alone(others)
    taken = {attack: _taken(field, answer) for (attack, field), answer in zip(fields.items(), nearest, strict=True)}
    counted = yield from first.counted(after, [each.candidates for each in taken.values()], max(at))
    own = {}
    for (attack, each), counts in zip(taken.items(), counted, strict=True):
        ranks = hidden_by(Taken(each.own, each.mass, each.twins, alike, each.of, each.records, counts), max(at))
        found = HRank((ranks,), fields[attack].away, lonely, targets.records, chance)
        own[attack] = {(f.group, f.at): f for f in _lines(found, at, attack)}
    return Findings(tuple(_replaced(sampled, own)), sampled.notes)


def _lines(found: HRank, at: Sequence[int], attack: str) -> Iterator[Finding]:
    for group in found.groups:
        for t in at:
            figures = (found.probability(t, group), found.interval(t, group), found.baseline(t))
            yield Finding("h_rank", None, group, t, attack, *figures)


def _replaced(sampled: Findings, own: dict[str, dict[_Place, Finding]]) -> Iterator[Finding]:
    """The lines with `own` ones in the place of the same attack's, and the best of all attacks anew."""
    each: dict[_Place, list[Finding]] = {}
    for line in sampled:
        if line.measure == "h_rank" and line.attack != WORST:
            known = own.get(line.attack or "", {})
            each.setdefault((line.group, line.at), []).append(known.get((line.group, line.at), line))
    for lines in each.values():
        yield from lines
        yield worst_line(lines)


@dataclass(frozen=True)
class _Field:
    """Where people and records are compared: each column from its mean, in its standard deviation, groups apart."""

    targets: Targets
    labels: Labels
    middle: Floats
    unit: Floats
    gap: float
    compared: Compared
    apart: float
    search: Floats
    goal: Floats
    own: Floats
    away: Floats

    @classmethod
    def of(cls, targets: Targets, scaled: bool) -> _Field:
        """The field of people and all records."""
        sums = targets.all_true
        middle = np.array([s.average for s in sums])
        sd = np.array([np.sqrt((s.variance or 0.0) * (s.n - 1) / s.n) if s.n else 0.0 for s in sums])
        unit = np.divide(1.0, sd, out=np.zeros(len(sd)), where=sd > 0) if scaled else np.ones(len(sd))
        gap = 2 * float(np.linalg.norm(_widths(targets) * unit)) + 1
        seen = Seen(targets.true, targets.released, targets.released)
        labels = Labels.of(_groups(targets.groups, seen))
        codes = labels(_groups(targets.groups, seen))
        search, released, goal = _places(seen, middle, unit)
        away = np.sqrt(np.square(goal).sum(axis=1))
        own = np.square(released - search).sum(axis=1)
        search, goal = (in_groups(points, codes, gap) for points in (search, goal))

        def compared(seen: Seen, groups: pl.DataFrame) -> Floats:
            return _places(seen, middle, unit)[1]

        return cls(targets, labels, middle, unit, gap, compared, gap, search, goal, own, away)

    def compared_by(self, places: Likely) -> _Field:
        """The same people, for an attacker who compares in other places."""
        targets = self.targets
        seen = Seen(targets.true, targets.released, targets.released)
        search, released = places.search(seen, targets.groups), places(seen, targets.groups)
        own = np.square(released - search).sum(axis=1)
        apart = 2 * float(np.sqrt(own.max(initial=0.0))) + 1
        search = in_groups(search, self.labels(_groups(targets.groups, seen)), apart)
        return replace(self, compared=places, apart=apart, search=search, own=own)

    def placed(self, search: bool = True) -> Placed:
        """How the records of a batch are placed; without `search` only where h is counted."""
        reads, labels, middle, unit = self.targets.reads, self.labels, self.middle, self.unit
        compared, apart, gap = self.compared, self.apart, self.gap
        by = self.targets.groups.columns

        def place(batch: pl.DataFrame) -> tuple[Floats, Floats]:
            seen = reads(batch)
            codes = labels(_groups(batch.select(by), seen))
            if (codes < 0).any():
                there = codes >= 0
                seen, codes = Seen(seen.true[there], seen.released[there], seen.rebuilt[there]), codes[there]
                batch = batch.filter(there)
            truth = in_groups(np.where(np.isnan(seen.true), 0.0, (seen.true - middle) * unit), codes, gap)
            return in_groups(compared(seen, batch.select(by)), codes, apart) if search else truth, truth

        return place

    def nearest(self) -> Folded:
        """The question which released records are nearest to each person, none farther than the own one."""
        place, search, goal, reach = self.placed(), self.search, self.goal, self.own * (1 + TIE)
        truths = [f"y{j}" for j in range(goal.shape[1])]
        schema = pl.Schema(
            {"target": pl.UInt32(), "distance": pl.Float64(), "word": pl.UInt64()}
            | dict.fromkeys(("mass", "twins", "records"), pl.Int64())
            | dict.fromkeys(truths, pl.Float64())
        )

        def f(batch: pl.DataFrame) -> pl.DataFrame:
            found = nearest_in(*place(batch), search, goal)
            some = np.flatnonzero(found.distance <= reach)
            told = {"target": some, "distance": found.distance[some], "mass": found.mass[some]}
            whole = pl.DataFrame({**told, "twins": found.twins[some], "records": np.zeros(len(some), np.int64)})
            kept = np.isin(found.of, some)
            of = found.of[kept]
            each = pl.DataFrame(
                {"target": of, "distance": found.distance[of], "word": found.word[kept], "records": found.records[kept]}
                | dict(zip(truths, found.truth[kept].T, strict=True))
            )
            return pl.concat([_shaped(part, schema) for part in (whole, each)])

        def merge(frames: pl.DataFrame) -> pl.DataFrame:
            least = pl.col("distance").min().over("target")
            near = frames.filter(pl.col("distance") <= least * (1 + TIE))
            sums = near.group_by("target", "word", *truths).agg(
                pl.col("distance").min(), pl.col("mass", "twins", "records").sum()
            )
            first = sums.sort("target", "word", nulls_last=False).group_by("target", maintain_order=True)
            return first.head(MOST_TIED + 1).match_to_schema(schema)

        return Folded(self.targets.needed, f, merge)

    def others(self) -> Folded:
        """The question how far the nearest different true record of each person's group is, and how many are equal."""
        place, goal, far = self.placed(search=False), self.goal, self.gap * 0.75

        def f(batch: pl.DataFrame) -> pl.DataFrame:
            distance, twins = others_in(place(batch)[1], goal)
            some = np.flatnonzero((distance < far) | (twins > 0))
            distance = np.where(distance < far, distance, np.inf)
            return pl.DataFrame(
                {"target": some, "distance": distance[some], "twins": twins[some]},
                {"target": pl.UInt32, "distance": pl.Float64, "twins": pl.Int64},
            )

        def merge(frames: pl.DataFrame) -> pl.DataFrame:
            return frames.group_by("target").agg(pl.col("distance").min(), pl.col("twins").sum())

        return Folded(self.targets.needed, f, merge)

    def closer(self, goal: Floats, reach: Floats, enough: int) -> Folded:
        """The question how many true records are nearer to each goal than `reach`, and how many as far."""
        place = self.placed(search=False)

        def f(batch: pl.DataFrame) -> pl.DataFrame:
            counted = closer_in(place(batch)[1], goal, reach, enough)
            some = np.flatnonzero(counted.any(axis=1))
            return pl.DataFrame(
                {"at": some, "closer": counted[some, 0], "far": counted[some, 1]},
                {"at": pl.UInt32, "closer": pl.Int64, "far": pl.Int64},
            )

        def merge(frames: pl.DataFrame) -> pl.DataFrame:
            return frames.group_by("at").agg(pl.col("closer", "far").sum())

        return Folded(self.targets.needed, f, merge)

    def alone(self, others: pl.DataFrame) -> tuple[Floats, Ints]:
        """Place of each person from the loneliest on; and how many have his true values."""
        m = len(self.goal)
        near, alike = np.full(m, np.inf), np.zeros(m, dtype=np.int64)
        here = others["target"].to_numpy()
        near[here], alike[here] = others["distance"].to_numpy(), others["twins"].to_numpy()
        return _lonely(np.where(alike > 1, 0.0, near), alike), alike

    def counted(self, after: Parted, candidates: Sequence[tuple[Ints, Floats]], enough: int) -> Counting:
        """How many true records are nearer to people than each candidate, and how many as far: a second look at all.

        `candidates` are of several attackers: whose they are, and their true values.
        """
        of, truth = (np.concatenate(part) for part in zip(*candidates, strict=True))
        goals, counted = self.goal[of], np.zeros((len(of), 2), dtype=np.int64)
        reach = np.square(goals - truth).sum(axis=1)
        pairs = pl.DataFrame({"of": of, "reach": reach})
        each = pairs.unique(maintain_order=True).with_row_index("pair")
        which = pairs.join(each, on=["of", "reach"], how="left", maintain_order="left")["pair"].to_numpy()
        if len(of):
            closer = self.closer(self.goal[each["of"].to_numpy()], each["reach"].to_numpy(), enough)
            (told,) = yield [Question(after, closer)]
            once = np.zeros((each.height, 2), dtype=np.int64)
            once[told["at"].to_numpy()] = told.select("closer", "far").to_numpy()
            counted = once[which]
        return np.split(counted, np.cumsum([len(of) for of, _ in candidates])[:-1])


class _Chosen(NamedTuple):
    """Whom an attacker takes: see `sfumato.kernels.neighbours.h_rank_parts.Taken`."""

    own: Bools
    mass: Ints
    twins: Ints
    of: Ints
    records: Ints
    candidates: tuple[Ints, Floats]


def _taken(field: _Field, nearest: pl.DataFrame) -> _Chosen:
    """What the answer to `nearest` tells of each person."""
    m = len(field.goal)
    whole, each = nearest.filter(pl.col("word").is_null()), nearest.drop_nulls("word").sort("target", "word")
    at = whole["target"].to_numpy()
    distance, mass, twins = np.full(m, np.inf), np.zeros(m, dtype=np.int64), np.zeros(m, dtype=np.int64)
    distance[at], mass[at], twins[at] = (whole[n].to_numpy() for n in ("distance", "mass", "twins"))
    of = each["target"].to_numpy().astype(np.int64)
    truth = each.select(pl.col(f"y{j}") for j in range(field.goal.shape[1])).to_numpy()
    own = field.own <= distance * (1 + TIE)
    return _Chosen(own, mass, twins, of, each["records"].to_numpy(), (of, truth))


def _lonely(distance: Floats, alike: Ints) -> Floats:
    """Place of each person from the loneliest on, equal ones sharing the last place."""
    keys = pl.DataFrame({"away": -distance, "alike": alike})
    return keys.select(pl.struct("away", "alike").rank("max")).to_series().to_numpy().astype(np.float64)


def _shaped(frame: pl.DataFrame, schema: pl.Schema) -> pl.DataFrame:
    """The frame with all columns of a schema, empty where it has none of the name."""
    columns = [pl.col(n) if n in frame.columns else pl.lit(None).alias(n) for n in schema]
    return frame.select(columns).cast(schema)


def _widths(targets: Targets) -> Floats:
    """From the lowest true or released value of each column to the highest."""

    def ends(a: Sums, b: Sums) -> float:
        lows, highs = [s.low for s in (a, b) if s.low is not None], [s.high for s in (a, b) if s.high is not None]
        return max(highs) - min(lows) if lows else 0.0

    return np.array([ends(a, b) for a, b in zip(targets.all_true, targets.all_released, strict=True)])


def _groups(strata: pl.DataFrame, seen: Seen) -> pl.DataFrame:
    """Who is looked for together: people of a stratum with the same columns missing."""
    word = row_hash((np.isnan(seen.true) | np.isnan(seen.released)).astype(np.float64))
    return pl.DataFrame([*strata.get_columns(), pl.Series(_PATTERN, word, pl.UInt64)])


def _places(seen: Seen, middle: Floats, unit: Floats) -> tuple[Floats, Floats, Floats]:
    """What is searched with, among what, and where h is counted; a missing value stands at the middle."""
    gone = np.isnan(seen.true) | np.isnan(seen.released)
    search, released = (np.where(gone, 0.0, (v - middle) * unit) for v in (seen.true, seen.released))
    return search, released, np.where(np.isnan(seen.true), 0.0, (seen.true - middle) * unit)
