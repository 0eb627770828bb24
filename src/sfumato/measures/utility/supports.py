"""Grade what synthetic copies support: tables of one and two columns, and the terms of a model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.data.codebook import Codebook
from sfumato.data.design import Design, build_design, find_levels
from sfumato.data.formula import Formula
from sfumato.data.pair import Pair, numbers
from sfumato.data.support import Grade, Support
from sfumato.kernels.glm import Family
from sfumato.measures.copies import Copies, neighbours
from sfumato.measures.utility.model import ModelFit
from sfumato.measures.utility.stacked import compared, left_out
from sfumato.measures.utility.table_ratio import (
    Coder,
    Columns,
    Table,
    among_copies,
    ratios_of_copies,
    table_ratios,
)

__all__ = [
    "FEWEST",
    "MOST_PAIRS",
    "Fitted",
    "grade_of_overlap",
    "grade_of_ratio",
    "overlap",
    "supports_of_tables",
    "supports_of_terms",
]

Floats = NDArray[np.float64]
Codes = NDArray[np.uint32]

FEWEST = 10
"""Fewest records of the original on whom a grade may hang."""
MOST_PAIRS = 500
"""Most pairs of columns that are graded."""
_RATIOS, _OVERLAPS = (1.5, 3.0), (0.7, 0.4)
_EXACT = 1e-7
"""An interval that is narrower than this share of its coefficient's scale is a point."""

FIRST_PAIRS = "Pairs of columns are graded up to {most}: those of the first columns of the file."
ONE_COPY = (
    "Tables have no grades: where the rows are true people's, what chance does is seen between copies, and there is "
    "one alone."
)
NO_TERMS = (
    "Terms have no grades: the model has no finite estimates in the original, or fewer than {fewest} records have "
    "another outcome than the commonest. Leave out what tells the outcome, or take rare categories together."
)


def grade_of_ratio(ratio: float) -> Grade:
    """Grade a table by how far it is from the original's beside chance.

    Examples
    --------
    >>> [grade_of_ratio(ratio) for ratio in (1.5, 3.0, 3.1)]
    ['supported', 'rough', 'lost']
    """
    good, near = _RATIOS
    return "supported" if ratio <= good else "rough" if ratio <= near else "lost"


def grade_of_overlap(share: float, *, same_sign: bool) -> Grade:
    """Grade a coefficient by how far its intervals overlap, and whether estimates have one sign.

    Examples
    --------
    >>> grade_of_overlap(0.8, same_sign=True), grade_of_overlap(0.8, same_sign=False)
    ('supported', 'rough')
    """
    good, near = _OVERLAPS
    return "supported" if share >= good and same_sign else "rough" if share >= near else "lost"


def overlap(one: tuple[float, float], other: tuple[float, float], scale: float = 1.0) -> float:
    """Mean of the share of either interval that lies in the other.

    Parameters
    ----------
    one, other
        Lower and upper ends.
    scale
        Of the coefficient: an interval that is 1e-7 of it or narrower is a point, which lies in another interval
        wholly or not at all, and of which two are one where they are no farther apart.

    Examples
    --------
    >>> overlap((0.0, 2.0), (1.0, 5.0)), overlap((0.0, 1.0), (2.0, 3.0)), overlap((1.0, 1.0), (0.0, 2.0))
    (0.375, 0.0, 0.5)

    References
    ----------
    Karr, Kohnen, Oganian, Reiter and Sanil (2006), doi:10.1198/000313006X124640.
    """
    near = _EXACT * scale
    common = min(one[1], other[1]) - max(one[0], other[0])
    if common < -near:
        return 0.0
    widths = [high - low for low, high in (one, other)]
    if all(width <= near for width in widths):
        return 1.0
    return sum(1.0 if width <= near else max(common, 0.0) / width for width in widths) / 2


def supports_of_tables(copies: Copies) -> tuple[list[Support], list[str]]:
    """Grade each column, and each pair of columns, by the mean over copies of its `table_ratio`.

    Categories, fifths of numbers and gaps that fewer than ten records of the original have are one level, together with
    the next rarest where they are fewer than ten even so; what does not vary then has no grade.

    Parameters
    ----------
    copies
        The original beside each copy.

    Returns
    -------
    list of Support, list of str
        Grades in the order of the file, and what is to be said of those that are wanting.
    """
    coded = _coded([pair.tables for pair in copies.pairs])
    names, columns = coded.names, len(coded.names)
    of: list[tuple[int, ...]] = [(j,) for j in range(columns)]
    pairs, more = _pairs(columns)
    of += pairs
    notes = [FIRST_PAIRS.format(most=MOST_PAIRS)] if more else []
    if copies.partial and len(copies.pairs) < 2:
        return [], [ONE_COPY]
    ratios = _ratios(coded, of, partial=copies.partial)
    found = [
        Support("pair" if len(own) > 1 else "variable", tuple(names[j] for j in own), grade_of_ratio(ratio))
        for own, ratio in zip(of, ratios, strict=True)
        if not np.isnan(ratio)
    ]
    return found, notes


def _pairs(columns: int) -> tuple[list[tuple[int, ...]], bool]:
    """Pairs in the order of the file, and whether some are left out: those of the later columns."""
    by_last = [(i, j) for j in range(columns) for i in range(j)]
    return sorted(by_last[:MOST_PAIRS]), len(by_last) > MOST_PAIRS


@dataclass(frozen=True)
class _Coded:
    """The original and each copy in codes that enough records of the original have.

    Parameters
    ----------
    names
        The columns.
    levels
        How many codes each has.
    first
        The original, shape (p, n).
    copies
        Each copy, shape (p, m).
    """

    names: tuple[str, ...]
    levels: tuple[int, ...]
    first: Codes
    copies: tuple[Codes, ...]

    def beside(self, one: Codes, other: Codes) -> Table:
        return Table(self.names, np.concatenate([one, other], axis=1), one.shape[1], self.levels)


def _coded(pairs: Sequence[Pair]) -> _Coded:
    before, book = pairs[0].before, pairs[0].codebook
    names = compared(before, pairs[0].after, book, left_out(pairs[0]))
    frames = [before, *(pair.after for pair in pairs)]
    out = [np.empty((len(names), frame.height), dtype=np.uint32) for frame in frames]
    levels = []
    for j, name in enumerate(names):
        coder = Coder.of(name, [frame.schema[name] for frame in frames], book)
        read = [coder.read(frame) for frame in frames]
        coder = coder.knowing(read) if coder.factor else coder.cut(read[0])
        codes = [np.asarray(coder.codes(values), dtype=np.int64) for values in read]
        place = _taken_together(*(np.bincount(own, minlength=coder.levels) for own in codes))
        for row, own in zip(out, codes, strict=True):
            row[j] = place[own]
        levels.append(int(place.max(initial=0)) + 1)
    return _Coded(tuple(names), tuple(levels), out[0], tuple(out[1:]))


def _taken_together(held: NDArray[np.int64], *copies: NDArray[np.int64]) -> NDArray[np.int64]:
    """The level of each code, so that no level that occurs is of fewer than ten records of the original, shape (l,)."""
    occurs = held + sum(copies) > 0
    rare = occurs & (held < FEWEST)
    for code in np.argsort(held, kind="stable"):
        if not rare.any() or held[rare].sum() >= FEWEST:
            break
        rare[code] |= occurs[code]
    place = np.zeros(len(held), dtype=np.int64)
    place[~rare] = np.arange(1, int((~rare).sum()) + 1)
    return place


def _ratios(coded: _Coded, of: Columns, *, partial: bool) -> Floats:
    """The mean ratio of each table; NaN where nothing varies, infinite where copies agree on what is not so."""
    usual = None
    if partial:
        each = neighbours(len(coded.copies))
        usual = among_copies((coded.beside(coded.copies[i], coded.copies[j]) for i, j in each), of)
    found = []
    for copy in coded.copies:
        both = coded.beside(coded.first, copy)
        values = table_ratios(both, of) if usual is None else ratios_of_copies(both, of, usual)
        still = [not any(both.varies[j] for j in own) for own in of]
        found.append(
            [np.nan if same else np.inf if value is None else value for value, same in zip(values, still, strict=True)]
        )
    each_mean: Floats = np.array([_mean(own) for own in zip(*found, strict=True)], dtype=np.float64)
    return each_mean


def _mean(values: Sequence[float]) -> float:
    there = [value for value in values if not np.isnan(value)]
    return float(np.mean(there)) if there else float("nan")


@dataclass(frozen=True)
class Fitted:
    """The copies' fits of one model, combined.

    Parameters
    ----------
    estimate, low, high
        Of each coefficient of the original's fit, shape (p,); NaN for one that copies do not give.
    """

    estimate: Floats
    low: Floats
    high: Floats


def supports_of_terms(
    pairs: Sequence[Pair], formula: Formula, family: Family, first: ModelFit, fitted: Fitted
) -> tuple[list[Support], list[str]]:
    """Grade each term of a model by how far its intervals overlap.

    No grade has a term that cannot be estimated in the original, or that hangs on fewer than ten records of it: those
    of a category, those of its reference category, those whose number is not the commonest, or whose outcome is not. A
    term that only the copies do not give is lost.

    Parameters
    ----------
    pairs
        The original beside each copy.
    formula, family
        The model.
    first
        The original's fit.
    fitted
        The copies' fits.

    Returns
    -------
    list of Support, list of str
        Grades in the order of the coefficients, and what is to be said of those that are wanting.
    """
    before, book = pairs[0].before, pairs[0].codebook
    known = (formula.response,)
    design = build_design(before, book, formula.terms, intercept=formula.intercept, levels=first.levels, also=known)
    used = before.filter(pl.Series(design.rows, dtype=pl.Boolean))
    outcome = used.get_column(formula.response).alias("value").value_counts(name="many")["many"].to_numpy()
    if not first.converged or not len(outcome) or outcome.sum() - outcome.max() < FEWEST:
        return [], [NO_TERMS.format(fewest=FEWEST)]
    gone = {name: _gone(pairs, name, levels) for name, levels in first.levels.items() if name != formula.response}
    scales = _scales(design, used, book, formula, family, first.estimate)
    found = []
    for i, (label, own, held) in enumerate(zip(first.labels, design.columns, design.held(), strict=True)):
        ends = (first.low[i], first.high[i]), (fitted.low[i], fitted.high[i])
        if held < FEWEST or not np.isfinite(ends[0]).all():
            continue
        grade: Grade = "lost"
        absent = [name for name in own or gone if name in gone and first.levels[name][0] in gone[name]]
        if not absent and np.isfinite(ends[1]).all():
            same = _one_sign(first.estimate[i], fitted.estimate[i], scales[i])
            grade = grade_of_overlap(overlap(*ends, scales[i]), same_sign=same)
        spelt = [f"[{mark}{level}]" for name in own if name in gone for level in gone[name] for mark in ("", "T.")]
        found.append(Support("term", own, grade, label, named=not any(each in label for each in spelt)))
    return found, []


def _one_sign(one: float, other: float, scale: float) -> bool:
    return bool(np.sign(one) == np.sign(other)) or abs(one - other) <= _EXACT * scale


def _gone(pairs: Sequence[Pair], name: str, levels: Sequence[str]) -> set[str]:
    """Categories of the original that some copy does not hold."""
    there = set(levels)
    for pair in pairs:
        there &= set(find_levels(pair.after, pair.codebook, name)) if name in pair.after.columns else set()
    return set(levels) - there


def _scales(
    design: Design, used: pl.DataFrame, codebook: Codebook, formula: Formula, family: Family, estimate: Floats
) -> Floats:
    """How large each coefficient is, or could be: beside it an interval is a point or not."""
    if family != "linear":
        return np.abs(estimate)
    y = numbers(used, [formula.response], codebook)[:, 0]
    total, squares = (np.zeros(len(estimate)) for _ in range(2))
    for block, _ in design.blocks():
        total, squares = total + block.sum(axis=0), squares + (block**2).sum(axis=0)
    spread = np.sqrt(np.maximum(squares / design.n - (total / design.n) ** 2, 0.0))
    could = np.max(np.abs(y)) / np.where(spread > 0, spread, 1.0)
    return np.asarray(np.maximum(np.abs(estimate), could))
