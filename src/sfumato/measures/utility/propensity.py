"""Propensity utility U: can a classifier tell the release from the original?"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.data.aim import Aim
from sfumato.data.codebook import Codebook
from sfumato.data.finding import Finding, Findings
from sfumato.data.pair import Pair
from sfumato.kernels.glm import Fit, fit, one_thread, predict
from sfumato.measures.measure import Figure, Measure
from sfumato.measures.subject import Subject
from sfumato.measures.utility.stacked import MAX_LEVELS, Column, Stacked, equal, left_out, stack

__all__ = ["MEASURE", "Propensity", "findings", "propensity", "propensity_of", "u_statistic"]

Floats = NDArray[np.float64]

_ROWS = 1 << 12  # rows of a block
_HELD = 30_000_000  # numbers of a design that are kept rather than made again for every look
_ALONE = 10_000  # rows from which on the threads of BLAS mostly wait for each other
_TOLERANCE = 1e-8  # standard errors; U is quadratic in what is left
_COARSER = (MAX_LEVELS, 30, 20, 10, 5, 3, 2)
_WORK = 2e10  # rows times squared columns that a step may cost
_FEWEST, _MOST = 60, 400  # coefficients that are allowed however long or short the tables are …
_ROWS_EACH = 4  # … but no more than one for so many rows: more would tell any tables apart

EMPTY = "One of the tables has no rows, so the two cannot be told apart or compared."
NOTHING = "The tables have no column in common that varies, so there is nothing to tell them apart by."
SEPARATED = "Some values occur in one of the tables only, so that part of the rows is told apart with certainty."


@dataclass(frozen=True)
class Propensity:
    """How well a classifier tells two tables apart.

    Parameters
    ----------
    u
        Mean of (p − c)² over the rows of both tables, 0 (cannot be told apart) to c(1 − c) (perfectly, 1/4 for tables
        of equal size); None where it cannot be had.
    before, after
        Propensity scores: for each row of the original (n,) and of the release (m,) the estimated probability to be of
        the release. Empty where `u` is None.
    note
        What a reader should know; empty if nothing.
    coefficients
        Coefficients of a regression, the intercept among them, without those that others determine; None where none
        was fitted.
    """

    u: float | None
    before: Floats
    after: Floats
    note: str = ""
    coefficients: int | None = None

    def tidy(self) -> pl.DataFrame:
        """One row for each score, with the table that it is of."""
        table = ["before"] * len(self.before) + ["after"] * len(self.after)
        return pl.DataFrame({"table": table, "score": np.concatenate([self.before, self.after])})


def u_statistic(before: Floats, after: Floats) -> float:
    """Mean squared distance of the propensity scores from the share of released rows.

    Parameters
    ----------
    before : ndarray, shape (n,)
        Scores of the original's rows, 0 to 1.
    after : ndarray, shape (m,)
        Scores of the release's rows.

    Examples
    --------
    >>> u_statistic(np.array([0.0, 0.0]), np.array([1.0, 1.0]))
    0.25
    """
    c = len(after) / (len(before) + len(after))
    total = float(((before - c) ** 2).sum() + ((after - c) ** 2).sum())
    return total / (len(before) + len(after))


def propensity(
    before: pl.DataFrame,
    after: pl.DataFrame,
    codebook: Codebook,
    *,
    interactions: bool = False,
    leave_out: Sequence[str] = (),
    first: Sequence[str] = (),
) -> Propensity:
    """Tell two tables apart by a logistic regression on the columns that both have.

    U near 0 says that this model cannot tell them apart. With main effects alone it sees little more than shifted
    means: a release with the original's means, however smoothed, has U near 0. Two-way interactions see changed
    correlations, and `u_trees` changed shapes. U does not look at whether a record is close to itself; see `delta`.

    Columns with role record, identifier, household and weight, and texts and dates are left out; the outcome is in.
    Factors are coded by indicators, those with more than 50 levels with the rarest taken together. A missing value is
    an indicator of its own. Columns that others determine are dropped.

    Parameters
    ----------
    before, after
        Original and released table, in any order of rows.
    codebook
        Roles, kinds and missing codes of both.
    interactions
        Whether the products of every two columns are in the model too.
    leave_out
        Further columns to leave out.
    first
        Columns whose interactions come first where there are too many for the size of the tables.

    Returns
    -------
    Propensity

    Examples
    --------
    >>> table = pl.DataFrame({"x": [1.0, 2.0, 3.0, 5.0]})
    >>> propensity(table, table, Codebook()).u
    0.0

    References
    ----------
    Woo, Reiter, Oganian & Karr (2009), doi:10.29012/jpc.v1i1.568; Snoke et al. (2018), doi:10.1111/rssa.12358.
    """
    if equal(before, after, codebook, leave_out):
        return guessed(before.height, after.height)
    return _propensity(stack(before, after, codebook, leave_out), interactions, first)


def propensity_of(pair: Pair, *, interactions: bool = False) -> Propensity:
    """Give the propensities of a pair, worked out once."""

    tables = (pair.before, pair.after, pair.codebook, left_out(pair))

    def compute() -> Propensity:
        if pair.once("equal", lambda: equal(*tables)):
            return guessed(pair.before.height, pair.after.height)
        return _propensity(pair.once("stacked", lambda: stack(*tables)), interactions, pair.columns)

    return pair.once(("propensity", interactions), compute)


def findings(pair: Pair) -> Findings:
    """Give `u_main` and `u_interactions`, one line each.

    Parameters
    ----------
    pair
        Original and released table; they need not be joined.
    """
    lines, notes = [], []
    for measure, interactions in (("u_main", False), ("u_interactions", True)):
        result = propensity_of(pair, interactions=interactions)
        lines.append(Finding(measure, value=result.u))
        if result.note:
            notes.append(f"{measure}: {result.note}")
    return Findings(tuple(lines), tuple(notes))


def _propensity(both: Stacked, interactions: bool, first: Sequence[str]) -> Propensity:
    """U of stacked tables."""
    why = EMPTY if not (both.n and both.m) else NOTHING if not both.columns else ""
    if why:
        return Propensity(None, np.zeros(0), np.zeros(0), why)
    design = _Design(both, interactions, first)
    with one_thread(both.n + both.m, many=_ALONE):
        held = design.size <= _HELD  # else each look makes it again, and Newton's few looks cost less
        blocks = design.kept() if held else design.blocks
        fitted = fit(blocks, None, "logistic", tolerance=_TOLERANCE, many_columns=held)
        scores = np.concatenate([predict(X, fitted.coefficients, "logistic") for X, _ in blocks()])
    before, after = scores[: both.n], scores[both.n :]
    notes = (*both.notes, *design.notes, *_trouble(fitted))
    estimated = len(fitted.coefficients) - len(fitted.aliased)
    return Propensity(u_statistic(before, after), before, after, " ".join(notes), estimated)


def guessed(n: int, m: int) -> Propensity:
    """What any model makes of equal tables of n and m rows: it can only guess."""
    return Propensity(0.0, np.full(n, m / (n + m)), np.full(m, m / (n + m)))


def _trouble(fitted: Fit) -> Iterator[str]:
    if fitted.separated:
        yield SEPARATED
    elif not fitted.converged:
        yield "The logistic regression did not converge; U is that of its last step."


class _Design:
    """The design matrix of both tables: intercept, main effects and perhaps products, written block by block."""

    def __init__(self, both: Stacked, interactions: bool, first: Sequence[str]) -> None:
        self.both = both
        self.released = both.released
        self.levels = MAX_LEVELS
        self.pairs: list[tuple[int, int]] = []
        self.notes: tuple[str, ...] = ()
        if interactions:
            order = sorted(range(len(both.columns)), key=lambda i: both.columns[i].name not in first)
            self._choose([(min(i, j), max(i, j)) for i, j in itertools.combinations(order, 2)])

    def _choose(self, pairs: list[tuple[int, int]]) -> None:
        """Take as many levels and products as the size of the tables allows."""
        main = sum(c.width(MAX_LEVELS) for c in self.both.columns)
        rows = self.both.n + self.both.m
        room = min(int(np.clip(np.sqrt(_WORK / rows), _FEWEST, _MOST)), rows // _ROWS_EACH) - main
        fitting = (k for k in _COARSER if sum(self._width(pair, k) for pair in pairs) <= room)
        self.levels = next(fitting, _COARSER[-1])
        total = np.cumsum([self._width(pair, self.levels) for pair in pairs])
        self.pairs = [pair for pair, upto in zip(pairs, total, strict=True) if upto <= room]
        if any(c.levels is not None and c.levels > self.levels for c in self.both.columns) and self.levels < MAX_LEVELS:
            self.notes += (f"In interactions, factors have at most {self.levels} levels, the rarest taken together.",)
        if len(self.pairs) < len(pairs):
            self.notes += ("There are more interactions than these tables allow for; the last ones were left out.",)

    def _width(self, pair: tuple[int, int], levels: int) -> int:
        i, j = pair
        return self.both.columns[i].width(levels) * self.both.columns[j].width(levels)

    @property
    def size(self) -> int:
        """Numbers that the whole matrix holds."""
        of_pairs = sum(self._width(pair, self.levels) for pair in self.pairs)
        return len(self.released) * (1 + sum(c.width(MAX_LEVELS) for c in self.both.columns) + of_pairs)

    def kept(self) -> Callable[[], Iterator[tuple[Floats, Floats]]]:
        """All blocks, made once."""
        whole = list(self.blocks())
        return lambda: iter(whole)

    def blocks(self) -> Iterator[tuple[Floats, Floats]]:
        """Blocks of rows with the indicator of the release, as the kernel reads them."""
        for start in range(0, len(self.released), _ROWS):
            rows = slice(start, min(start + _ROWS, len(self.released)))
            yield self._block(rows), self.released[rows]

    def _block(self, rows: slice) -> Floats:
        def parts(columns: Sequence[Column], levels: int) -> list[list[Floats]]:
            return [c.design(rows, levels) for c in columns]

        main = parts(self.both.columns, MAX_LEVELS)
        out = [np.ones(rows.stop - rows.start), *itertools.chain.from_iterable(main)]
        if self.pairs:
            coarse = main if self.levels == MAX_LEVELS else parts(self.both.columns, self.levels)
            out += [a * b for i, j in self.pairs for a in coarse[i] for b in coarse[j]]
        return np.asarray(np.stack(out).T)


def _compute(subject: Subject) -> Findings:
    return findings(subject.two.tables)


MEASURE = Measure(
    family="tables",
    place=10,
    doing="propensity",
    needs=frozenset({"pair"}),
    figures=(
        Figure(
            "u_main",
            title="U, main effects",
            what="A regression model is asked to tell released from original records by the variables as they are. 0: "
            "it cannot; 0.25: it always can. This one sees little more than shifted means.",
            published="rate",
            aim=Aim.TABLES,
        ),
        Figure(
            "u_interactions",
            title="U, with interactions",
            what="The same with all pairs of variables, so that changed relations show as well.",
            published="rate",
            aim=Aim.GENTLER,
        ),
    ),
    compute=_compute,
    forms={"sample": _compute},
    effort=60,
)
