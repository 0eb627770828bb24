"""U beside its expectation: how much better the release is told from the original than a right synthesis would be."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from sfumato.data.aim import Aim
from sfumato.data.disclosure import Synthetic
from sfumato.data.finding import Finding, Findings
from sfumato.data.pair import Pair
from sfumato.draws import PUBLIC, Purpose
from sfumato.measures.copies import ONE_COPY, UNMOVED, Copies, neighbours
from sfumato.measures.measure import Figure, Measure
from sfumato.measures.subject import Subject
from sfumato.measures.utility.propensity import EMPTY, NOTHING, propensity_of, u_statistic
from sfumato.measures.utility.stacked import equal, left_out, stack
from sfumato.measures.utility.trees import FOLDS, Looked, looked_at, scores_of
from sfumato.progress import Progress, quiet

__all__ = [
    "INTERACTIONS",
    "MAIN",
    "MEASURE",
    "TREES",
    "expected",
    "expected_of_copies",
    "expected_of_trees",
    "findings",
    "ratio_of_trees",
]

Floats = NDArray[np.float64]

MAIN, INTERACTIONS, TREES = "main", "interactions", "trees"
"""Groups of lines: the model that tells the tables apart."""
PERMUTATIONS = 50
"""How often labels are permuted, for what trees find where there is nothing to find."""
MOST, FEWEST = 10_000, 500
"""Records of each table that trees look at: at most, and of however wide tables."""
_CELLS = 100_000  # values of a table that trees look at, between these bounds
_LEAST = 50  # rows of both tables with which a tree can split what it is grown on
_NONE = 1e-15  # U of tables that a regression sees no difference between, but for rounding
_BINS = 63  # of a number: with fewer, trees are grown sooner

PERMUTED = f", with labels permuted {PERMUTATIONS} times"
OF_SOME = "pmse_ratio of trees is of at most {most} records of each table, by a public choice" + PERMUTED + "."
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


def expected_of_copies(among: float, n: int, m: int) -> float:
    """Expectation of U of a regression where some values of true people are a right synthesis, from pairs of copies.

    Parameters
    ----------
    among
        Mean U of copies against one another.
    n, m
        Rows of the original and of each copy.

    Returns
    -------
    float
        8 c² (1 - c)² times that mean, with c the share of a copy in both tables: half of it for as many rows.

    Notes
    -----
    U is c² (1 - c)² times a square of the distance of two tables. A copy is as far from what its model expects as
    drawing takes it, and the original, to which the model was fitted, is where the model expects it. Two copies are
    each as far from there, in directions of their own, so that the square of their distance is twice as large. What
    stays true is the same in all, so that it counts in neither; of how many coefficients it has a part hangs on the
    relations between columns, so that no closed form is right.

    References
    ----------
    Snoke, Raab, Nowok, Dibben and Slavkovic (2018), doi:10.1111/rssa.12358.

    Examples
    --------
    >>> expected_of_copies(0.002, 500, 500)
    0.001
    """
    share = m / (n + m)
    return 8 * (share * (1 - share)) ** 2 * among


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


def ratio_of_trees(pair: Pair, progress: Progress = quiet, copies: Copies | None = None) -> tuple[float | None, str]:
    """Give U of trees over its mean where there is nothing to find, and a note, worked out once.

    There is nothing to find where labels are permuted. Where only some values of true people were drawn, it is what
    trees find between copies of them. The records that are looked at are at most `MOST` of each table, fewer of wide
    ones, so U is not quite `u_trees`. Another sample of the same people has 1 on average. A right synthesis has as much
    or somewhat less, down to 1 - c (with c the released share) where its values are the original's own, as in a
    bootstrap of records, or where the models have all that trees look at.

    Parameters
    ----------
    pair
        Original and released table.
    progress
        Told how far the work is.
    copies
        All copies of a synthetic release, of which the pair is one; None for one that is not synthetic.
    """

    def compute() -> tuple[float | None, str]:
        u, looked, note = _of_trees(pair)
        if u is None or looked is None:
            return u, note
        if copies is None:
            usual = expected_of_trees(looked, progress=progress)
        elif not copies.partial:  # what permuted labels do hangs on the number of records, hardly on which copy it is
            usual = copies.once("labels permuted", lambda: expected_of_trees(looked, progress=progress))
        else:
            among = _among(copies, (TREES,), lambda two, _: _of_trees(two)[0], progress)
            if TREES not in among:
                return None, ONE_COPY.format(measure="pmse_ratio")
            usual = 2 * expected_of_copies(among[TREES], pair.before.height, pair.after.height)
            note = note.replace(PERMUTED, "")
        return (u / usual, note) if usual else (None, TOO_FEW)

    return pair.once("pmse_ratio of trees", compute)


def _of_trees(pair: Pair) -> tuple[float | None, Looked | None, str]:
    """U of trees, what they looked at, and a note; nothing was looked at where nothing could be found."""
    tables = (pair.before, pair.after, pair.codebook, left_out(pair))
    if pair.once("equal", lambda: equal(*tables)):
        return 0.0, None, ""
    both = pair.once("stacked", lambda: stack(*tables))
    if not both.n or not both.m or not both.columns:
        return None, None, f"pmse_ratio: {NOTHING if both.n and both.m else EMPTY}"
    most = int(np.clip(_CELLS // len(both.columns), FEWEST, MOST))
    looked = looked_at(pair, both, most, _BINS)
    if len(looked.released) < _LEAST:
        return None, None, TOO_FEW
    scores, released = scores_of(looked, looked.released), looked.released == 1
    return u_statistic(scores[~released], scores[released]), looked, OF_SOME.format(most=most)


def _among(
    copies: Copies, groups: tuple[str, ...], u: Callable[[Pair, str], float | None], progress: Progress = quiet
) -> dict[str, float]:
    """Mean U of copies against one another, worked out once for all copies; of a single one there is none."""

    def compute() -> dict[str, float]:
        found: dict[str, list[float]] = {}
        for k, two in enumerate(copies.against()):
            progress("copies against one another", k / len(neighbours(len(copies.pairs))))
            for group in groups:
                if (value := u(two, group)) is not None:
                    found.setdefault(group, []).append(value)
        return {group: float(np.mean(values)) for group, values in found.items()}

    return copies.once(("pmse_ratio", groups), compute)


def findings(pair: Pair, *, trees: bool = True, progress: Progress = quiet, copies: Copies | None = None) -> Findings:
    """Give the lines `pmse_ratio` of groups `main` and `interactions`, and of `trees`.

    Parameters
    ----------
    pair
        Original and released table; they need not be joined.
    trees
        Whether trees are grown, which takes seconds.
    progress
        Told how far the work is.
    copies
        All copies of a synthetic release, of which the pair is one; None for one that is not synthetic.

    Notes
    -----
    Where all values were drawn the expectation of U is a closed form (`expected`). Where the records are true people's
    and some of their values were drawn, it comes from copies against one another (`expected_of_copies`), and a single
    copy has no value. Where values were masked in other ways the closed form is too large, and the figure says less
    than it seems to.
    """
    lines, notes = [], []
    for group, interactions in ((MAIN, False), (INTERACTIONS, True)):
        value, note = _of_regression(pair, group, interactions, copies)
        lines.append(Finding("pmse_ratio", group=group, value=value))
        notes += [note] if note else []
    if trees:
        value, note = ratio_of_trees(pair, progress, copies)
        lines.append(Finding("pmse_ratio", group=TREES, value=value))
        notes += [note] if note else []
    return Findings(tuple(lines), tuple(dict.fromkeys(notes)))


def _of_regression(pair: Pair, group: str, interactions: bool, copies: Copies | None) -> tuple[float | None, str]:
    found = propensity_of(pair, interactions=interactions)
    n, m = pair.before.height, pair.after.height
    if found.u is None:
        return None, f"pmse_ratio: {found.note}"
    if found.coefficients is None:  # equal tables: no model was fitted
        return 0.0, ""
    if copies is None or not copies.partial:
        usual = expected(found.coefficients, n, m)
        return (found.u / usual, "") if usual else (None, ONE.format(group=group))
    among = _among(copies, (MAIN, INTERACTIONS), lambda two, name: propensity_of(two, interactions=name != MAIN).u)
    if group not in among:
        return None, ONE_COPY.format(measure="pmse_ratio")
    if among[group] < _NONE:
        return (0.0, "") if found.u < _NONE else (None, UNMOVED.format(measure="pmse_ratio", what=group))
    return found.u / expected_of_copies(among[group], n, m), ""


def _synthetic(subject: Subject) -> bool:
    return any(isinstance(part, Synthetic) and part.kind != "missing" for part in subject.disclosure)


def _compute(subject: Subject) -> Findings:
    trees = "pmse_ratio" in subject.asked or _synthetic(subject)
    return findings(subject.two.tables, trees=trees, progress=subject.progress, copies=subject.copies)


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
            "relations of two columns; trees any pattern (of synthetic data, or where a limit asks). Where some values "
            "of true people were drawn, chance is what copies differ by among themselves, so that one copy alone has "
            "no figure. Where values were masked in other ways it is below 1 for that alone.",
            published="rate",
            aim=Aim.TABLES,
            whole="all records",
        ),
    ),
    compute=_compute,
    forms={"sample": _compute},
    effort=2.0,
)
