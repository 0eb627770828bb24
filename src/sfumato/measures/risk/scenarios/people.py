"""Who is found among all released records by somebody who knows the keys and takes the nearest record.

It is the line `match_correct` of the intruder `neighbour` and the linker `nearest` of a table that is not in memory.
See `sfumato.measures.risk.scenarios`. Nobody's nearest record needs to be known: it is enough whether a record is
nearer than the person's own, and how many are as near.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.data.codebook import Codebook
from sfumato.data.dataset import Parted
from sfumato.data.dataset import rows as rows_of
from sfumato.data.finding import Finding, Findings
from sfumato.data.query import COUNT, Counts, Folded
from sfumato.data.remembered import Remembered
from sfumato.kernels.linkers.keys import MISSING
from sfumato.kernels.linkers.scan import TIE
from sfumato.kernels.linkers.within import GowerSpace, gower_apart, gower_within
from sfumato.measures.confidence import wilson
from sfumato.measures.folds.asking import Asking, Question
from sfumato.measures.folds.people import near, nearness, people_of
from sfumato.measures.folds.reading import sums_of
from sfumato.measures.known import Known
from sfumato.measures.measuring import wildcard
from sfumato.measures.risk.linkers.coding import as_category, as_numbers, numeric_keys
from sfumato.measures.risk.linkers.linkers import LINKERS
from sfumato.measures.risk.scenarios.measure import NO_KEY, NOT_THERE
from sfumato.measures.subject import Subject

__all__ = ["ERRS", "among_all"]

Floats = NDArray[np.float64]

_NEIGHBOUR, _NEAREST = "neighbour", "nearest"
_VALUE, _CODE = "value", "code"
_SEEN = {_VALUE: pl.String, _CODE: pl.String}
ERRS = (
    "neighbour: the table is large, and what this intruder knows has errors (`knows`): who is found by the nearest "
    "record was left out. A limit on it counts as not met."
)


@dataclass(frozen=True)
class _Space:
    """Where the keys of people and records are points.

    Parameters
    ----------
    known
        For each category the values that the people have, with their numbers. Any other value agrees with nobody's.
    low, spread
        Of each number that varies: the lowest of all true values, and their range.
    book
        What is known of the columns.
    """

    known: Mapping[str, pl.DataFrame]
    low: Mapping[str, float]
    spread: Mapping[str, float]
    book: Codebook

    def __call__(self, table: pl.DataFrame) -> Floats:
        """Points of a table with a column for each key, shape (n, p)."""
        out = np.empty((table.height, len(self.known) + len(self.low)))
        for j, (name, values) in enumerate(self.known.items()):
            column = as_category(table, name).to_series().alias(_VALUE).cast(values.schema[_VALUE]).to_frame()
            codes = column.join(values, on=_VALUE, how="left", maintain_order="left")[_CODE]
            there = column[_VALUE].is_not_null().to_numpy()
            out[:, j] = np.where(there, codes.fill_null(values.height).to_numpy(), MISSING)
        numbers = as_numbers(table, [*self.low], self.book)
        for j, (name, column) in enumerate(zip(self.low, numbers, strict=True), len(self.known)):
            scaled = (column - self.low[name]) / self.spread[name]
            out[:, j] = np.where(np.isnan(scaled), MISSING, scaled)
        return out


def among_all(subject: Subject) -> Asking:
    """The line `match_correct` of who knows the keys of a person, and takes the nearest record.

    An intruder who errs is left out, with a note. Where a limit asks for `match_correct`, what is left out of it has
    lines without a value, so that the limit is not met.

    Parameters
    ----------
    subject
        All records, and a sample. Ids in whose place others stand are known as they were released.
    """
    known, how = subject.intruder, subject.how.intruding
    if known is None or how is None or not known.aligned or not known.people.height:
        return Findings()
    wanted = "match_correct" in subject.asked
    places = [(s, group) for s in how.scenarios for group in LINKERS if (s, group) != (_NEIGHBOUR, _NEAREST)]
    empty = [Finding("match_correct", group=group, attack=s) for s, group in places if wanted]
    if _NEIGHBOUR not in how.scenarios:
        return Findings(tuple(empty))
    knowledge = how.knowledge(_NEIGHBOUR)
    keys = tuple(dict.fromkeys(knowledge.keys or known.keys))
    there = tuple(n for n in keys if n in known.people.columns and n in known.released.columns)
    notes = []
    if gone := [n for n in keys if n not in there]:
        notes.append(NOT_THERE.format(scenario=_NEIGHBOUR, columns=", ".join(gone)))
    if not there or any(knowledge.error.get(n) for n in there):
        notes.append(ERRS if there else NO_KEY.format(scenario=_NEIGHBOUR))
        without = Finding("match_correct", group=_NEAREST, attack=_NEIGHBOUR)
        lines = (*([without] if wanted else ()), *empty)
        return Findings(lines, tuple(notes))
    return (yield from _looked_for(subject, known, there, Findings(tuple(empty), tuple(notes))))


def _looked_for(subject: Subject, known: Known, keys: Sequence[str], also: Findings) -> Asking:
    """The questions, asked of what is released and of what would be had the true values been released."""
    before = _in_their_terms(subject, keys)
    free = wildcard(subject.how.missing) is not None
    if free:
        keys = _telling(subject.everybody.after, keys, before)
        if not keys:
            return _by_chance(subject, also)
        before = {n: before[n] for n in keys}
    at = people_of(subject.two, subject.how.people)
    people, released = _of_people(subject, known, before)[at], known.released.select(keys)[at]
    points = _space(subject.everybody.after, known, keys, people, before)
    search, mine = points(people), points(released)
    space = GowerSpace(len(points.known), free)
    within = partial(gower_within, space=space)

    def asked(own: Floats, columns: Mapping[str, str]) -> Folded:
        apart = gower_apart(search, own, space)
        read = _reading(points, columns)
        return near([*dict.fromkeys(columns.values())], read, search, apart - TIE, apart + TIE, within)

    after = subject.everybody.after
    answers = yield [Question(after, asked(mine, {n: n for n in keys})), Question(after, asked(search, before))]
    hits, without = (float(nearness(answer, len(at)).chance().sum()) for answer in answers)
    shares = (hits / len(at), wilson(hits, len(at)), without / len(at))
    line = Finding("match_correct", None, _NEAREST, None, _NEIGHBOUR, *shares)
    return Findings((line, *also.lines), also.notes)


def _telling(after: Parted, keys: Sequence[str], before: Mapping[str, str]) -> tuple[str, ...]:
    """The keys in which somebody differs from others, as `sfumato.measures.risk.linkers.coding.telling_keys` has them.

    Two values of each are enough to know, of what is released and of what is known together.
    """

    places = [(n, column) for n in keys for column in dict.fromkeys((n, before[n]))]

    def some(batch: pl.DataFrame) -> pl.DataFrame:
        seen = ((n, as_category(batch, column).to_series()) for n, column in places)
        known = ((n, values.drop_nulls().unique().sort().head(2).cast(pl.String)) for n, values in seen)
        return fewest(pl.concat(pl.DataFrame({_VALUE: two, _CODE: [n] * len(two)}, _SEEN) for n, two in known))

    def fewest(frames: pl.DataFrame) -> pl.DataFrame:
        return frames.unique().sort(_CODE, _VALUE).group_by(_CODE, maintain_order=True).head(2)

    asked = tuple(dict.fromkeys(column for _, column in places))
    found = dict(after.ask(Folded(asked, some, fewest)).group_by(_CODE).len().rows())
    return tuple(n for n in keys if found.get(n, 0) > 1)


def _by_chance(subject: Subject, also: Findings) -> Findings:
    """Nobody differs from anybody, so that all records are as near to each person."""
    tried = len(people_of(subject.two, subject.how.people))
    share = 1 / int(subject.everybody.after.ask(Counts(())).item(0, COUNT))
    line = Finding("match_correct", None, _NEAREST, None, _NEIGHBOUR, share, wilson(share * tried, tried), share)
    return Findings((line, *also.lines), also.notes)


def _of_people(subject: Subject, known: Known, before: Mapping[str, str]) -> pl.DataFrame:
    """What is known of the sample's people, by name: what `before` reads of all."""
    if subject.before is None:
        raise TypeError("a run's sample holds what its records were")
    held = subject.before.data if isinstance(subject.before, Remembered) else subject.before
    was = rows_of(held)

    def of(name: str) -> pl.Series:
        if before[name] == name:  # nothing changed it, or it is known as it was released
            return known.released[name]
        return known.people[name] if name in subject.two.before.columns else was[name]

    return pl.DataFrame([of(n) for n in before])


def _reading(points: _Space, columns: Mapping[str, str]) -> Callable[[pl.DataFrame], Floats]:
    """The points of a batch, each key from the column that is named for it."""
    named = [pl.col(column).alias(n) for n, column in columns.items()]
    return lambda batch: points(batch.select(named))


def _space(after: Parted, known: Known, keys: Sequence[str], people: pl.DataFrame, before: Mapping[str, str]) -> _Space:
    """The space of some keys; a number that all originals share tells nobody apart, and is left out."""
    measured = numeric_keys(known, keys)
    read = [pl.col(before[n]).alias(n) for n in measured]

    def made(batch: pl.DataFrame) -> dict[str, Floats]:
        return dict(zip(measured, as_numbers(batch.select(read), measured, known.codebook), strict=True))

    ends = {}
    for n, sums in sums_of(after, made, measured).items() if measured else ():
        if sums.low is not None and sums.high is not None and sums.high > sums.low:
            ends[n] = (sums.low, sums.high - sums.low)
    values = {n: _numbered(people, known.released, n) for n in keys if n not in measured}
    low, spread = ({n: pair[i] for n, pair in ends.items()} for i in (0, 1))
    return _Space(values, low, spread, known.codebook)


def _numbered(people: pl.DataFrame, released: pl.DataFrame, name: str) -> pl.DataFrame:
    """The values that people have, in a type that holds released ones, too."""
    here, there = as_category(people, name), as_category(released, name)
    values = pl.concat([here, there.clear()], how="vertical_relaxed").to_series().drop_nulls().unique().sort()
    return pl.DataFrame({_VALUE: values, _CODE: pl.Series(np.arange(len(values)), dtype=pl.Float64)})


def _in_their_terms(subject: Subject, keys: Sequence[str]) -> dict[str, str]:
    """For each key the column of the result that holds what is known of it.

    As in `sfumato.release.intruder.known_people`: of a column that was coarsened since, the true values where cells
    were only emptied, else the coarser ones.
    """
    sides = subject.everybody
    before = {n: n if n in subject.traces.replaced else sides.true(n) for n in keys}
    coarse = [n for n in keys if n not in subject.two.before.columns and before[n] != n]
    schema = sides.after.schema
    emptied = [n for n in coarse if schema[before[n]].base_type() == schema[n].base_type()]
    told = dict.fromkeys(coarse, False)
    if emptied:
        pairs = {n: (_comparable(before[n], schema), _comparable(n, schema)) for n in emptied}
        same = [((a == b) | b.is_null()).fill_null(True).all().alias(n) for n, (a, b) in pairs.items()]
        columns = tuple(each for n in emptied for each in (n, before[n]))
        answer = sides.after.ask(
            Folded(columns, lambda batch: batch.select(same), lambda frames: frames.select(pl.all().all()))
        )
        told |= answer.row(0, named=True)
    return {n: n if told.get(n, True) is False else column for n, column in before.items()}


def _comparable(column: str, schema: pl.Schema) -> pl.Expr:
    listed = isinstance(schema[column], (pl.Enum, pl.Categorical))
    return pl.col(column).cast(pl.String) if listed else pl.col(column)
