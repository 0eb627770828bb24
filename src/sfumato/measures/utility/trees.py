"""Propensity utility U with an ensemble of trees, which sees any pattern: spikes, gaps, smoothed neighbourhoods."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.data.aim import Aim
from sfumato.data.codebook import Codebook
from sfumato.data.finding import Finding, Findings
from sfumato.data.pair import Pair
from sfumato.errors import DataError
from sfumato.kernels.boosted_trees import BINS, Binned, binned, boosted
from sfumato.kernels.rows import row_hash, scatter
from sfumato.measures.measure import Figure, Measure
from sfumato.measures.subject import Subject
from sfumato.measures.utility.propensity import EMPTY, NOTHING, Propensity, guessed, u_statistic
from sfumato.measures.utility.stacked import Stacked, equal, left_out, stack

__all__ = [
    "FOLDS",
    "MAX_RECORDS",
    "MEASURE",
    "Looked",
    "findings",
    "looked_at",
    "scores_of",
    "u_trees",
    "u_trees_of",
]

Floats = NDArray[np.float64]
Words = NDArray[np.uint64]
Rows = NDArray[np.int64]

FOLDS = 5
"""Parts of the records; each is told apart by trees that were grown on the others."""
MAX_RECORDS = 50_000
"""Most records of a table that are looked at."""
_ROUNDS, _RATE, _LEAVES, _SMALLEST = 50, 0.1, 8, 20
"""Gradient boosting: trees, learning rate, leaves of a tree, fewest rows of a leaf. Of the ensembles tried on centroids
and added noise, small boosted trees had the highest U in proportion to the U of tables that do not differ."""
_SAMPLE, _FOLD = np.uint64(0x53616D706C65), np.uint64(0x466F6C64)  # public salts, so that the two are unrelated

SAMPLED = f"Trees looked at {MAX_RECORDS} records, chosen by a public hash."


def u_trees(
    before: pl.DataFrame,
    after: pl.DataFrame,
    codebook: Codebook,
    *,
    aligned: bool = False,
    record: str | None = None,
    leave_out: Sequence[str] = (),
) -> Propensity:
    """Tell two tables apart by gradient-boosted trees, each record by trees that have not seen it.

    The sharpest of the three U: it sees changed shapes of distributions, spikes and gaps, where regressions see means
    and correlations. Two equal tables have U = 0; tables that differ by chance alone have not quite (about 0.004 at
    1,000 records, 0.0005 at 10,000), so a U of that size says nothing.

    Columns are those of `propensity`. Both copies of a record stand in the same of five parts, by a public hash of its
    id, or of its values where there is no id, so that the result is the same whatever the order of the rows.

    Parameters
    ----------
    before, after
        Original and released table.
    codebook
        Roles, kinds and missing codes of both.
    aligned
        Whether row i of one and row i of the other are the same record. Then both have equal heights.
    record
        Column with the record's id.
    leave_out
        Further columns to leave out.

    Returns
    -------
    Propensity
        Scores are those of the records looked at, at most `MAX_RECORDS` of each table.

    Raises
    ------
    DataError
        For aligned tables of unequal heights.

    Examples
    --------
    >>> table = pl.DataFrame({"x": [1.0, 2.0, 3.0, 5.0]})
    >>> u_trees(table, table, Codebook(), aligned=True).u
    0.0

    References
    ----------
    Snoke et al. (2018), doi:10.1111/rssa.12358, for U with trees.
    """
    left = (*leave_out, *([record] if record else []))
    if aligned and before.height != after.height:
        raise DataError("Two aligned tables must have equal numbers of rows. Join them on the record id first.")
    if equal(before, after, codebook, left):
        return guessed(min(before.height, MAX_RECORDS), min(after.height, MAX_RECORDS))
    both = stack(before, after, codebook, left)
    why = EMPTY if not (both.n and both.m) else NOTHING if not both.columns else ""
    if why:
        return Propensity(None, np.zeros(0), np.zeros(0), why)
    looked = _looked_at(both, before, after, aligned, record, MAX_RECORDS)
    scores = scores_of(looked, looked.released)
    of_release = looked.released == 1
    u = u_statistic(scores[~of_release], scores[of_release])
    notes = (*both.notes, *((SAMPLED,) if max(both.n, both.m) > MAX_RECORDS else ()))
    return Propensity(u, scores[~of_release], scores[of_release], " ".join(notes))


def u_trees_of(pair: Pair) -> Propensity:
    """Give the propensities of a pair, worked out once."""

    def compute() -> Propensity:
        tables = (pair.before, pair.after, pair.codebook)
        return u_trees(*tables, aligned=pair.aligned, record=_record(pair), leave_out=left_out(pair))

    return pair.once("u_trees", compute)


@dataclass(frozen=True, eq=False)
class Looked:
    """Records of both tables as trees see them, in an order that does not hang on the tables'.

    Parameters
    ----------
    features : ndarray, shape (N, p)
        Values, NaN where missing.
    released : ndarray, shape (N,)
        1 for a record of the release, 0 for one of the original.
    fold : ndarray of uint64, shape (N,)
        The part that each record stands in.
    factors
        Which columns are categories.
    bins
        Most bins of a number.
    """

    features: Floats
    released: Floats
    fold: Words
    factors: tuple[bool, ...]
    bins: int = BINS

    @cached_property
    def binned(self) -> tuple[Binned, ...]:
        """The values in bins, for trees that are grown without each of the parts."""
        parts = (self.fold == np.uint64(k) for k in range(FOLDS))
        return tuple(binned(self.features, ~test, self.factors, self.bins) for test in parts)


def looked_at(pair: Pair, both: Stacked, most: int, bins: int = BINS) -> Looked:
    """Records of a pair for trees, at most so many of each table.

    Parameters
    ----------
    pair
        Original and released table.
    both
        The same, stacked; with rows in both, and a column.
    most
        Most records of a table; with more, by a public hash.
    bins
        Most bins of a number.
    """
    looked = _looked_at(both, pair.before, pair.after, pair.aligned, _record(pair), most)
    return replace(looked, bins=bins)


def scores_of(looked: Looked, label: Floats, folds: Sequence[int] = tuple(range(FOLDS))) -> Floats:
    """Give the records of some parts their scores, by trees that have not seen them; the others have the label's mean.

    Parameters
    ----------
    looked
        The records.
    label : ndarray, shape (N,)
        1 for a record of the group that is to be told from the others, else 0.
    folds
        Numbers of the parts.
    """
    scores = np.full(len(label), label.mean())
    for k in folds:
        of = looked.binned[k]
        if len(of.unknown) and len(np.unique(label[of.known])) == 2:
            grown = boosted(of, label, rounds=_ROUNDS, rate=_RATE, leaves=_LEAVES, smallest=_SMALLEST)
            scores[of.unknown] = grown[of.unknown]
    return scores


def _record(pair: Pair) -> str | None:
    both_have = pair.record is not None and all(pair.record in t.columns for t in (pair.before, pair.after))
    return pair.record if both_have else None


def _looked_at(
    both: Stacked, before: pl.DataFrame, after: pl.DataFrame, aligned: bool, record: str | None, most: int
) -> Looked:
    features = np.column_stack([column.feature() for column in both.columns])
    units = _units(before, after, features, aligned, record)
    rows = _chosen(units, features, both.n, most)
    fold = scatter(units[rows] ^ _FOLD) % np.uint64(FOLDS)
    return Looked(features[rows], both.released[rows], fold, tuple(c.levels is not None for c in both.columns))


def findings(pair: Pair) -> Findings:
    """Give one line `u_trees`.

    Parameters
    ----------
    pair
        Original and released table; they need not be joined.
    """
    result = u_trees_of(pair)
    notes = (f"u_trees: {result.note}",) if result.note else ()
    return Findings((Finding("u_trees", value=result.u),), notes)


def _units(before: pl.DataFrame, after: pl.DataFrame, features: Floats, aligned: bool, record: str | None) -> Words:
    """One word for each row of both tables, equal for both copies of a record; shape (n + m,).

    By the id; else, where rows belong together, by the original's values; else by the row's own values.
    """
    n = before.height
    if record is not None:
        if not aligned:
            return _ranks(pl.concat([t.get_column(record).cast(pl.String) for t in (before, after)]))
        ids = _ranks(before.get_column(record))
        return np.concatenate([ids, ids])
    values = np.nan_to_num(features, nan=-1e300)
    if not aligned:
        return row_hash(values)
    unit = row_hash(values[:n])  # the original's values are exact; a release may differ in its last bits
    return np.concatenate([unit, unit])


def _ranks(ids: pl.Series) -> Words:
    return np.asarray(ids.rank("dense").fill_null(0).to_numpy(), dtype=np.uint64)


def _chosen(units: Words, features: Floats, n: int, most: int) -> Rows:
    """Rows of the records with the smallest hashes, in the order of their hashes; both copies of a record or none.

    Units that tie are ordered by their values, never by their place.
    """
    hashes, values = scatter(units ^ _SAMPLE), row_hash(np.nan_to_num(features, nan=-1e300))
    m = len(units) - n
    keep = min(1.0, most / max(n, m))
    tables = (np.lexsort((values[:n], hashes[:n])), n + np.lexsort((values[n:], hashes[n:])))
    return np.concatenate([order[: round(keep * len(order))] for order in tables])


def _compute(subject: Subject) -> Findings:
    return findings(subject.two.tables)


MEASURE = Measure(
    family="tables",
    place=20,
    doing="propensity with trees",
    needs=frozenset({"pair"}),
    figures=(
        Figure(
            "u_trees",
            title="U, with trees",
            what="The same with an ensemble of decision trees, which sees any pattern. The sharpest of the three.",
            published="rate",
            aim=Aim.GENTLER,
        ),
    ),
    compute=_compute,
    forms={"sample": _compute},
    effort=25,
)
