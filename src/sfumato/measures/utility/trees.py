"""Propensity utility U with an ensemble of trees, which sees any pattern: spikes, gaps, smoothed neighbourhoods."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.data.aim import Aim
from sfumato.data.codebook import Codebook
from sfumato.data.finding import Finding, Findings
from sfumato.data.pair import Pair
from sfumato.errors import DataError
from sfumato.kernels.boosted_trees import boosted_scores
from sfumato.kernels.rows import row_hash, scatter
from sfumato.measures.measure import Figure, Measure
from sfumato.measures.subject import Subject
from sfumato.measures.utility.propensity import EMPTY, NOTHING, Propensity, guessed, u_statistic
from sfumato.measures.utility.stacked import Stacked, equal, left_out, stack
from sfumato.measures.utility.told_apart import told_apart

__all__ = ["FOLDS", "MAX_RECORDS", "MEASURE", "findings", "u_trees", "u_trees_of"]

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
    if aligned and before.height != after.height:
        raise DataError("Two aligned tables must have equal numbers of rows. Join them on the record id first.")
    left = (*leave_out, *([record] if record else []))
    if equal(before, after, codebook, left):
        return guessed(min(before.height, MAX_RECORDS), min(after.height, MAX_RECORDS))
    both = stack(before, after, codebook, left)
    why = EMPTY if not (both.n and both.m) else NOTHING if not both.columns else ""
    if why:
        return Propensity(None, np.zeros(0), np.zeros(0), why)
    features = np.column_stack([column.feature() for column in both.columns])
    units = _units(before, after, features, aligned, record)
    rows, most = _chosen(units, features, both.n), max(both.n, both.m)
    scores = _out_of_fold(features[rows], both.released[rows], units[rows], _factors(both))
    of_release = rows >= both.n
    u = u_statistic(scores[~of_release], scores[of_release])
    notes = (*both.notes, *((SAMPLED,) if most > MAX_RECORDS else ()))
    return Propensity(u, scores[~of_release], scores[of_release], " ".join(notes))


def u_trees_of(pair: Pair) -> Propensity:
    """Give the propensities of a pair, worked out once."""
    both_have = pair.record is not None and all(pair.record in t.columns for t in (pair.before, pair.after))
    record = pair.record if both_have else None

    def compute() -> Propensity:
        tables = (pair.before, pair.after, pair.codebook)
        return u_trees(*tables, aligned=pair.aligned, record=record, leave_out=left_out(pair))

    return pair.once("u_trees", compute)


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


def _factors(both: Stacked) -> list[bool]:
    return [column.levels is not None for column in both.columns]


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


def _chosen(units: Words, features: Floats, n: int) -> Rows:
    """Rows of the records with the smallest hashes, in the order of their hashes; both copies of a record or none.

    Units that tie are ordered by their values, never by their place.
    """
    hashes, values = scatter(units ^ _SAMPLE), row_hash(np.nan_to_num(features, nan=-1e300))
    m = len(units) - n
    keep = min(1.0, MAX_RECORDS / max(n, m))
    tables = (np.lexsort((values[:n], hashes[:n])), n + np.lexsort((values[n:], hashes[n:])))
    return np.concatenate([order[: round(keep * len(order))] for order in tables])


def _out_of_fold(features: Floats, released: Floats, units: Words, factors: list[bool]) -> Floats:
    """Scores of every row by trees that were grown without its part."""
    fold = scatter(units ^ _FOLD) % np.uint64(FOLDS)
    scores = np.full(len(released), released.mean())
    for k in range(FOLDS):
        test = fold == k
        if test.any() and len(np.unique(released[~test])) == 2:
            grown = boosted_scores(
                features, released, ~test, factors, rounds=_ROUNDS, rate=_RATE, leaves=_LEAVES, smallest=_SMALLEST
            )
            scores[test] = grown[test]
    return scores


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
    effort=25,
    say=told_apart("u_trees"),
)
