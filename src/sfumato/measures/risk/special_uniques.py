"""Special uniques: records alone already by a few of their keys (SUDA), and which keys make them so."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import compress
from typing import Any

import numpy as np
import polars as pl
import polars.selectors as cs

from sfumato.data.aim import Aim
from sfumato.data.dataset import Dataset
from sfumato.data.finding import Finding, Findings
from sfumato.errors import DataError
from sfumato.kernels.classes.missing_keys import packed_rows
from sfumato.kernels.classes.special_uniques import (
    MOST_KEYS,
    Floats,
    Score,
    SpecialUniques,
    dis_suda,
    special_uniques,
)
from sfumato.measures.measure import Figure, Measure
from sfumato.measures.measuring import CATEGORY, Searching
from sfumato.measures.patterns import NO_CLASS, Patterns, coded, has_columns, once, patterns
from sfumato.measures.subject import KEYS, Subject
from sfumato.measures.taking_part import taking_part

__all__ = ["HIGHEST", "MEASURE", "SUM", "Special", "special", "special_records"]

SUM, HIGHEST = "sum", "highest"
"""Groups of `dis_suda`: of all records together, and of the one that stands out most."""

_SIZE = 4
"""Most keys of a set where more than 12 keys are measured and nobody named a size."""

UNSEARCHED = (
    "Special uniques: sets of more than {size} of the {keys} keys were not searched. A record that is alone only by "
    "more of them has no score."
)
NO_PAIRS = (
    "dis_suda has no value: it is estimated from records that share all their keys with exactly one other, and there "
    "are none."
)
TOO_MANY = "dis_suda has no value for so many keys: it is made for fewer than 28."
NO_FRACTION = "dis_suda was not measured: say what share of the population the file holds (--fraction)."
NO_SCORE = "suda_contribution has no value: no record has a score."


@dataclass(frozen=True, eq=False)
class Special:
    """The special uniques of a table.

    Parameters
    ----------
    patterns
        The combinations of keys that occur.
    found
        The special ones among them, a row for each combination.
    """

    patterns: Patterns
    found: SpecialUniques

    @property
    def pairs(self) -> int:
        """Records that share all their keys with exactly one other."""
        return int(self.patterns.records[self.patterns.records == 2].sum())

    def dis(self, fraction: float) -> Floats | None:
        """Scaled score of each combination, see `kernels.classes.special_uniques.dis_suda`."""
        return dis_suda(self.found.score, self.found.keys, self.pairs, fraction)


def special(
    data: Dataset,
    by: Sequence[str],
    *,
    max_size: int | None = None,
    score: Score = "factorial",
    smallest_sets: bool = False,
    missing: str = CATEGORY,
) -> Special | None:
    """Find the records that are unique by few of their keys.

    A minimal sample unique (MSU) of a record is a set of keys by which it is alone in the file, and by no part of which
    it is. The fewer keys the set has and the more sets there are, the more a record stands out: a widow of sixteen is
    alone by two keys, whatever else is known. Its score is the sum of (m − s)! over its MSUs of s of m keys, or of
    (2^(m − s) − 1)/C(m, s). It ranks the records of one file; it is no probability. A missing key is never part of an
    MSU. It answers an intruder who knows some of the keys exactly; it does not tell who else in the population is like
    the record (`uniques_population_loglinear`), nor protect those without a score from somebody who knows more.

    Source: Elliot, Manning & Ford (2002), doi:10.1142/S0218488502001600; Manning, Haglin & Keane (2008),
    doi:10.1007/s10618-007-0078-6.

    Parameters
    ----------
    data
        The table.
    by
        The keys.
    max_size
        Most keys of a set, at least 1; with more than 12 keys one must be named.
    score
        `factorial` or `shares`.
    smallest_sets
        Whether to keep the smallest MSUs of every combination.
    missing
        Where a missing key is a wildcard, keys in which nobody differs take no part, and do not count among the m.

    Returns
    -------
    Special or None
        None where there is no record or no key.

    Raises
    ------
    DataError
        Where a key is not a column, or more would have to be searched than can be.

    Examples
    --------
    >>> import sfumato as sf
    >>> people = sf.read(pl.DataFrame({"sex": ["f", "f", "m", "m", "m"], "age": [16, 20, 20, 20, 30]}))
    >>> found = special(people, ["sex", "age"]).found
    >>> found.score.tolist(), found.by_size.tolist()
    ([1.0, 1.0, 0.0, 1.0], [2, 1])
    """

    def make() -> Special | None:
        there = patterns(data, telling)
        if there is None:
            return None
        found = special_uniques(
            coded(there.keys), there.records, max_size=max_size, score=score, smallest_sets=smallest_sets
        )
        return Special(there, found)

    telling = taking_part(data, by, missing)
    return once(data, ("special", telling, max_size, score, smallest_sets), make)


def special_records(
    data: Dataset,
    rows: pl.DataFrame,
    by: Sequence[str],
    record: str | None = None,
    *,
    max_size: int | None = None,
    score: Score = "factorial",
    fraction: float | None = None,
    missing: str = CATEGORY,
) -> pl.DataFrame:
    """List the records that have a score. This is for the custodian alone: it points at people.

    Parameters
    ----------
    data, by, max_size, score, missing
        As in `special`.
    rows
        The rows of the table.
    record
        Column with the record's id; without it rows are numbered from 1 on.
    fraction
        Share of the population that the file holds.

    Returns
    -------
    pl.DataFrame
        The highest score first: `record`, `score`, `dis` (null without `fraction` or where there are no pairs), `keys`
        (the smallest sets by which it is alone: `sex + age; area`).

    Examples
    --------
    >>> import sfumato as sf
    >>> frame = pl.DataFrame({"sex": ["f", "f", "m", "m", "m"], "age": [16, 20, 20, 20, 30]})
    >>> special_records(sf.read(frame), frame, ["sex", "age"]).select("record", "keys").rows()
    [(1, 'age'), (2, 'sex + age'), (5, 'age')]
    """
    ids = pl.int_range(1, rows.height + 1, eager=True) if record is None else rows[record]
    there = special(data, by, max_size=max_size, score=score, smallest_sets=True, missing=missing)
    if there is None:
        return pl.DataFrame(schema={"record": ids.dtype, "score": pl.Float64, "dis": pl.Float64, "keys": pl.String})
    found, keys = there.found, there.patterns.keys.columns
    dis = None if fraction is None else there.dis(fraction)
    at = np.flatnonzero(found.score > 0)
    _, first, which = np.unique(packed_rows(found.sets.astype(np.int64)), return_index=True, return_inverse=True)
    names = pl.Series([" + ".join(compress(keys, own)) for own in found.sets[first].tolist()], dtype=pl.String)
    named = pl.DataFrame({_AT: pl.Series(found.row, dtype=pl.Int64), _KEYS: names.gather(which.reshape(-1))})
    figures = pl.DataFrame(
        {
            _AT: at,
            _SCORE: found.score[at],
            _DIS: pl.Series([None] * len(at) if dis is None else dis[at], dtype=pl.Float64),
        }
    ).join(named.group_by(_AT, maintain_order=True).agg(pl.col(_KEYS).str.join("; ")), on=_AT, how="left")
    own = rows.select(keys).with_columns(cs.float().fill_nan(None))
    listed = (
        own.with_columns(ids.alias(_RECORD))
        .join(there.patterns.keys[at].hstack(figures), on=keys, nulls_equal=True, maintain_order="left")
        .sort(_SCORE, descending=True, maintain_order=True)
    )
    return listed.select(record=_RECORD, score=_SCORE, dis=_DIS, keys=_KEYS)


_AT, _RECORD, _SCORE, _DIS, _KEYS = (f"sfumato:{n}" for n in ("at", "record", "score", "dis", "keys"))
"""No column of the data can bear these names."""


def _compute(subject: Subject) -> Findings:
    by = next(c.by for c in subject.classes if c.group == KEYS)
    asked = subject.how.special
    missing, given = subject.how.missing, subject.given
    known = given is not None and has_columns(given, by)
    tables = [t for t in (subject.after, given if known else None) if t is not None]
    most = max(len(taking_part(table, by, missing)) for table in tables)
    how = asked or Searching(max_size=_SIZE if most > MOST_KEYS else None)
    search = partial(special, by=by, max_size=how.max_size, score=how.score, missing=missing)
    try:
        there = search(subject.after)
    except DataError as error:
        if asked is not None:
            raise
        return Findings(tuple(Finding(f.name, group=KEYS) for f in MEASURE.figures[:2]), (str(error),))
    was = search(given) if given is not None and known else None
    fraction = subject.how.fraction
    notes = tuple(n for n in _notes(there, fraction) if asked is not None or n != NO_FRACTION)
    return Findings(tuple(_lines(by, there, was, fraction)), notes)


def _lines(
    by: tuple[str, ...], there: Special | None, was: Special | None, fraction: float | None
) -> Iterator[Finding]:
    def line(name: str, of: Callable[[Special], float | None], **where: Any) -> Finding:
        value, baseline = (None if s is None else of(s) for s in (there, was))
        return Finding(name, **({"group": KEYS} | where), value=value, baseline=baseline)

    yield line("special_uniques", lambda s: float(s.patterns.records[s.found.score > 0].sum()))
    yield line("suda_score", lambda s: float(s.found.score.sum()))
    for size in range(1, (1 if there is None else there.found.max_size) + 1):
        yield line("msu", partial(_sets, size), at=float(size))
    for name in by:
        yield line("suda_contribution", partial(_share, name), variable=name)
    if fraction is not None:
        yield line("dis_suda", lambda s: _dis(s, fraction, np.sum), group=SUM)
        yield line("dis_suda", lambda s: _dis(s, fraction, np.max), group=HIGHEST)


def _sets(size: int, there: Special) -> float:
    return float(there.found.by_size[size - 1])


def _share(name: str, there: Special) -> float | None:
    """Share of one key; a key that takes no part has none."""
    shares, keys = there.found.contribution, there.patterns.keys.columns
    if shares is None:
        return None
    return min(1.0, float(shares[keys.index(name)])) if name in keys else 0.0


def _dis(there: Special, fraction: float, of: Callable[[Floats], np.float64]) -> float | None:
    dis = there.dis(fraction)
    return None if dis is None else float(of(dis))


def _notes(there: Special | None, fraction: float | None) -> Iterator[str]:
    if there is None:
        yield NO_CLASS
        return
    keys = there.patterns.keys.width
    if there.found.max_size < keys:
        yield UNSEARCHED.format(size=there.found.max_size, keys=keys)
    if there.found.contribution is None:
        yield NO_SCORE
    if fraction is None:
        yield NO_FRACTION
    elif not there.pairs:
        yield NO_PAIRS
    elif there.dis(fraction) is None:
        yield TOO_MANY


MEASURE = Measure(
    family="groups",
    place=17,
    doing="records alone by few of their values",
    needs=frozenset({"table", "keys"}),
    figures=(
        Figure(
            "special_uniques",
            title="Records alone by few of their values",
            what="How many records are alone in the file by a set of these values, and have a score for it: the fewer "
            "values the set has, and the more such sets there are, the more a record stands out.",
            form="count",
            baseline="Original",
            aim=Aim.ALIKE,
        ),
        Figure(
            "suda_score",
            title="How much they stand out (SUDA score, sum)",
            what="The scores of all records, summed. A record gets (m − s)! for each smallest set of s of m values by "
            "which it is alone (`--score shares`: (2^(m − s) − 1) / C(m, s)). It compares versions of one file; it is "
            "no probability.",
            baseline="Original",
            aim=Aim.ALIKE,
        ),
        Figure(
            "msu",
            title="Smallest sets by which a record is alone",
            what="How many sets of so many values make a record alone where no part of the set does (minimal sample "
            "uniques), over all records. A missing value is never part of one.",
            form="count",
            baseline="Original",
            at="sets of size {0:g}",
            aim=Aim.ALIKE,
        ),
        Figure(
            "suda_contribution",
            title="What makes records stand out",
            what="Share of the whole score that comes from sets with this variable: recode those first whose share is "
            "high. Sets have several variables, so that shares add up to more than 1.",
            form="share",
            baseline="Original",
            aim=Aim.ALIKE,
        ),
        Figure(
            "dis_suda",
            title="Right matches of special records (DIS-SUDA)",
            what="Scores brought to the scale of a chance: that a person of the population who fits the record is the "
            "right one, by the numbers of records alone and in pairs and the share of the population that the file "
            "holds (`--fraction`). In the sum of all records, and of the one that stands out most. It does not hold "
            "for whoever knows who is in the file.",
            baseline="Original",
            aim=Aim.ALIKE,
        ),
    ),
    compute=_compute,
    forms={"folded": _compute},
    when=lambda subject: subject.how.special is not None,
    effort=3.0,
)
