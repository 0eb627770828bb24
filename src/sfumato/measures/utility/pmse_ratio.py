"""U beside its expectation: how much better the release is told from the original than a right synthesis would be."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sfumato.data.aim import Aim
from sfumato.data.disclosure import Synthetic
from sfumato.data.finding import Finding, Findings
from sfumato.data.pair import Pair
from sfumato.draws import PUBLIC, Purpose
from sfumato.measures.measure import Figure, Measure
from sfumato.measures.saying import value_of, with_value
from sfumato.measures.subject import Subject
from sfumato.measures.utility.propensity import EMPTY, NOTHING, Propensity, propensity_of, u_statistic
from sfumato.measures.utility.stacked import equal, left_out, stack
from sfumato.measures.utility.trees import FOLDS, Looked, looked_at, scores_of
from sfumato.progress import Progress, quiet

__all__ = ["INTERACTIONS", "MAIN", "MEASURE", "TREES", "expected", "expected_of_trees", "findings", "ratio_of_trees"]

Floats = NDArray[np.float64]

MAIN, INTERACTIONS, TREES = "main", "interactions", "trees"
"""Groups of lines: the model that tells the tables apart."""
PERMUTATIONS = 50
"""How often labels are permuted, for what trees find where there is nothing to find."""
MOST, FEWEST = 10_000, 500
"""Records of each table that trees look at: at most, and of however wide tables."""
_CHANCE = 1.5
"""Ratios up to it are what chance does, for U of trees has a standard deviation of a sixth or so of its mean."""
_CELLS = 100_000  # values of a table that trees look at, between these bounds
_LEAST = 50  # rows of both tables with which a tree can split what it is grown on
_BINS = 63  # of a number: with fewer, trees are grown sooner

OF_SOME = (
    "pmse_ratio of trees is of at most {most} records of each table, by a public choice, with labels permuted "
    f"{PERMUTATIONS} times."
)
TOO_FEW = "pmse_ratio of trees: these are too few records for trees to find anything, even by chance."
ONE = "pmse_ratio of {group}: the model has one coefficient alone, so that chance does nothing."


def expected(coefficients: int, n: int, m: int) -> float:
    """Expectation of U of a regression where the release is a right synthesis.

    Parameters
    ----------
    coefficients
        Coefficients of the model that were estimated, the intercept among them.
    n, m
        Rows of the original and of the release.

    Returns
    -------
    float
        (p - 1)(1 - c)² c / N, with c the released share of the N rows: values are drawn from the model that the
        original's are of, given the original. Of another sample it would be (p - 1)(1 - c) c / N.

    References
    ----------
    Snoke, Raab, Nowok, Dibben and Slavkovic (2018), doi:10.1111/rssa.12358.

    Examples
    --------
    >>> expected(88, 30162, 30162) * 60324 * 8
    87.0
    """
    share = m / (n + m)
    return (coefficients - 1) * (1 - share) ** 2 * share / (n + m)


def expected_of_trees(looked: Looked, permutations: int = PERMUTATIONS, progress: Progress = quiet) -> float:
    """Mean U of trees where labels say nothing: they are permuted over all records, by public draws.

    Each permutation is scored in one of the parts, in turn, by trees grown on the others. U is a mean over records, so
    that a part has the same expectation as all, at a fifth of the work.

    Parameters
    ----------
    looked
        The records.
    permutations
        How many.
    progress
        Told the share of the work that is done.
    """
    place = np.arange(len(looked.released), dtype=np.uint64)  # in an order that hangs on values alone
    share = looked.released.mean()
    total, counted = 0.0, 0
    for k in range(permutations):
        progress("permuting labels", k / permutations)
        label = looked.released[PUBLIC.permutation(place, Purpose("pmse_ratio", draw=k))]
        part = looked.fold == np.uint64(k % FOLDS)
        scores = scores_of(looked, label, [k % FOLDS])
        total += float(((scores[part] - share) ** 2).sum())
        counted += int(part.sum())
    return total / counted if counted else 0.0


def ratio_of_trees(pair: Pair, progress: Progress = quiet) -> tuple[float | None, str]:
    """Give U of trees over its mean where labels are permuted, and a note, worked out once.

    The records that are looked at are at most `MOST` of each table, fewer of wide ones, so U is not quite `u_trees`.
    Another sample of the same people has 1 on average. A right synthesis has as much or somewhat less, down to 1 - c
    (with c the released share) where its values are the original's own, as in a bootstrap of records.

    Parameters
    ----------
    pair
        Original and released table.
    progress
        Told how far the work is.
    """

    def compute() -> tuple[float | None, str]:
        tables = (pair.before, pair.after, pair.codebook, left_out(pair))
        if pair.once("equal", lambda: equal(*tables)):
            return 0.0, ""
        both = pair.once("stacked", lambda: stack(*tables))
        if not both.n or not both.m or not both.columns:
            return None, f"pmse_ratio: {NOTHING if both.n and both.m else EMPTY}"
        most = int(np.clip(_CELLS // len(both.columns), FEWEST, MOST))
        looked = looked_at(pair, both, most, _BINS)
        usual = expected_of_trees(looked, progress=progress) if len(looked.released) >= _LEAST else 0.0
        if not usual:
            return None, TOO_FEW
        scores, released = scores_of(looked, looked.released), looked.released == 1
        return u_statistic(scores[~released], scores[released]) / usual, OF_SOME.format(most=most)

    return pair.once("pmse_ratio of trees", compute)


def findings(pair: Pair, *, trees: bool = True, progress: Progress = quiet) -> Findings:
    """Give the lines `pmse_ratio` of groups `main` and `interactions`, and of `trees`.

    Parameters
    ----------
    pair
        Original and released table; they need not be joined.
    trees
        Whether trees are grown, which takes seconds.
    progress
        Told how far the work is.

    Notes
    -----
    The expectation is that of a release whose values were all drawn. Where records are true people's and only some of
    their values were drawn or moved, it is too large, and the figure says less than it seems to.
    """
    lines, notes = [], []
    for group, interactions in ((MAIN, False), (INTERACTIONS, True)):
        value, note = _of_regression(propensity_of(pair, interactions=interactions), pair, group)
        lines.append(Finding("pmse_ratio", group=group, value=value))
        notes += [note] if note else []
    if trees:
        value, note = ratio_of_trees(pair, progress)
        lines.append(Finding("pmse_ratio", group=TREES, value=value))
        notes += [note] if note else []
    return Findings(tuple(lines), tuple(dict.fromkeys(notes)))


def _of_regression(found: Propensity, pair: Pair, group: str) -> tuple[float | None, str]:
    if found.u is None:
        return None, f"pmse_ratio: {found.note}"
    if found.coefficients is None:  # equal tables: no model was fitted
        return 0.0, ""
    usual = expected(found.coefficients, pair.before.height, pair.after.height)
    return (found.u / usual, "") if usual else (None, ONE.format(group=group))


def _synthetic(subject: Subject) -> bool:
    return any(isinstance(part, Synthetic) and part.kind != "missing" for part in subject.disclosure)


def _compute(subject: Subject) -> Findings:
    trees = "pmse_ratio" in subject.asked or _synthetic(subject)
    return findings(subject.two.tables, trees=trees, progress=subject.progress)


def _say(found: Findings, fraction: float) -> str | None:
    lines = [f for f in with_value(found, "pmse_ratio") if f.group == TREES]
    if not lines:
        return None
    ratio = value_of(lines[0])
    how = f"{ratio:.2g} times as well as" if ratio > _CHANCE else "no better than"
    return f"Trees tell released records from original ones {how} chance alone lets them."


MEASURE = Measure(
    family="tables",
    place=30,
    doing="propensity beside chance",
    needs=frozenset({"pair"}),
    figures=(
        Figure(
            "pmse_ratio",
            title="U beside chance",
            what="U as a multiple of what chance alone does where all values are drawn from a right model of the "
            "original: about 1 is right, 10 is poor. Main effects see nearly nothing; interactions see changed "
            "relations of two columns; trees any pattern (of synthetic data, or where a limit asks). Where records are "
            "true people's it is below 1 for that alone.",
            published="rate",
            aim=Aim.TABLES,
            whole="all records",
        ),
    ),
    compute=_compute,
    say=_say,
    effort=2.0,
)
