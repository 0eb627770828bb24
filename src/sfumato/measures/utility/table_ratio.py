"""How far the tables of one and of two columns are from the original's, beside what chance alone would do."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.data.aim import Aim
from sfumato.data.codebook import Codebook
from sfumato.data.design import is_factor
from sfumato.data.finding import Finding, Findings
from sfumato.data.pair import Pair, numbers
from sfumato.measures.measure import Figure, Measure
from sfumato.measures.subject import Subject
from sfumato.measures.utility.stacked import compared, left_out, texts_of

__all__ = ["MEASURE", "Table", "findings", "table_ratio", "tables"]

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

_PARTS = 5
_MOST_WORK = 2_000_000_000
"""Rows times pairs of columns that are looked at."""
FEWER = (
    "There are too many pairs of columns for tables of this size: those of the first {columns} columns were looked at."
)
"""What is said where pairs are left out."""


@dataclass(frozen=True)
class Table:
    """Two tables of the same columns, in codes.

    Parameters
    ----------
    names
        The columns.
    before, after : ndarray of int64, shape (p, n) and (p, m)
        Codes: categories, fifths of numbers, and a code of its own for what is missing.
    levels
        How many codes each column has.
    """

    names: tuple[str, ...]
    before: Ints
    after: Ints
    levels: tuple[int, ...]


def tables(before: pl.DataFrame, after: pl.DataFrame, codebook: Codebook, leave_out: tuple[str, ...] = ()) -> Table:
    """Code what both tables have.

    Numbers are cut at the original's fifths (a value on a cut belongs below it).

    Parameters
    ----------
    before, after
        Original and released table.
    codebook
        Says which columns are numbers, and which codes stand for missing.
    leave_out
        Further columns to leave out.

    Examples
    --------
    >>> one = pl.DataFrame({"x": [1.0, 2.0, 3.0, 4.0, 5.0, None]})
    >>> tables(one, one, Codebook()).before.tolist()
    [[0, 1, 2, 3, 4, 5]]
    """
    names = compared(before, after, codebook, leave_out)
    coded = [_coded(before[name], after[name], codebook) for name in names]
    one = np.array([a for a, _, _ in coded], dtype=np.int64).reshape(len(names), before.height)
    two = np.array([b for _, b, _ in coded], dtype=np.int64).reshape(len(names), after.height)
    return Table(tuple(names), one, two, tuple(many for _, _, many in coded))


def table_ratio(both: Table, columns: tuple[int, ...]) -> float | None:
    """How far one table is from the other, over what it would be if both were samples of one population.

    Parameters
    ----------
    both
        The tables.
    columns
        Numbers of the columns whose joint cells are counted.

    Returns
    -------
    float or None
        Mean of (p - c)² over the rows of both, p the share of released rows in a row's cell and c among all, over its
        expectation (cells - 1)(1 - c)² c / N. About 1 for a right synthesis; None where nothing varies.

    References
    ----------
    Snoke, Raab, Nowok, Dibben and Slavkovic (2018), doi:10.1111/rssa.12358.
    """
    cell = np.zeros(both.before.shape[1] + both.after.shape[1], dtype=np.int64)
    cells = 1
    for j in columns:
        cell = cell * both.levels[j] + np.concatenate([both.before[j], both.after[j]])
        cells *= both.levels[j]
    n, m = both.before.shape[1], both.after.shape[1]
    if cells > 4 * (n + m):
        _, cell = np.unique(cell, return_inverse=True)
        cells = int(cell.max(initial=0)) + 1
    one, two = np.bincount(cell[:n], minlength=cells), np.bincount(cell[n:], minlength=cells)
    whole = one + two
    held = whole > 0
    many = int(held.sum())
    if not n or not m or many < 2:
        return None
    share = m / (n + m)
    u = float(((two[held] - whole[held] * share) ** 2 / whole[held]).sum()) / (n + m)
    return float(u / ((many - 1) * (1 - share) ** 2 * share / (n + m)))


def findings(pair: Pair) -> Findings:
    """Give `table_ratio` of each column, of each pair of columns (`a × b`), and the mean of both groups.

    Parameters
    ----------
    pair
        Original and released table; they need not be joined.
    """
    both = tables(pair.before, pair.after, pair.codebook, left_out(pair))
    lines, notes = [], []
    one = [(name, table_ratio(both, (j,))) for j, name in enumerate(both.names)]
    chosen = _chosen(both)
    if chosen < len(both.names):
        notes.append(FEWER.format(columns=chosen))
    two = [
        (f"{both.names[i]} × {both.names[j]}", table_ratio(both, (i, j)))
        for i, j in itertools.combinations(range(chosen), 2)
    ]
    for group, found in (("one-way", one), ("two-way", two)):
        held = [value for _, value in found if value is not None]
        lines.append(Finding("table_ratio", group=group, value=float(np.mean(held)) if held else None))
        lines += [Finding("table_ratio", group=group, variable=name, value=value) for name, value in found]
    return Findings(tuple(lines), tuple(notes))


def _chosen(both: Table) -> int:
    """How many columns' pairs are looked at: as many as there is time for."""
    rows = both.before.shape[1] + both.after.shape[1]
    columns = len(both.names)
    while columns > 2 and columns * (columns - 1) / 2 * rows > _MOST_WORK:
        columns -= 1
    return columns


def _coded(one: pl.Series, two: pl.Series, codebook: Codebook) -> tuple[Ints, Ints, int]:
    """Codes of a column in both tables, and how many there are."""
    name = one.name
    factor = is_factor(name, one.dtype, codebook) or is_factor(name, two.dtype, codebook)
    if not factor:
        a, b = (numbers(column.to_frame(), [name], codebook)[:, 0] for column in (one, two))
        known = a[~np.isnan(a)]
        cuts = np.quantile(known, np.arange(1, _PARTS) / _PARTS) if len(known) else np.zeros(_PARTS - 1)
        first, second = (np.where(np.isnan(x), _PARTS, np.searchsorted(cuts, x, side="left")) for x in (a, b))
        return first, second, _PARTS + 1
    texts = pl.concat([texts_of(name, column.to_frame(), codebook) for column in (one, two)])
    codes = texts.rank("dense").fill_null(0).to_numpy().astype(np.int64)
    return codes[: len(one)], codes[len(one) :], int(codes.max(initial=0)) + 1


def _compute(subject: Subject) -> Findings:
    return findings(subject.two.tables)


MEASURE = Measure(
    family="tables",
    place=40,
    doing="tables of one and two columns",
    needs=frozenset({"pair"}),
    figures=(
        Figure(
            "table_ratio",
            title="Tables beside chance",
            what="How far tables of one column, and of each pair of columns, are from the original's, as a multiple of "
            "what chance alone does where the release is as good as another sample. About 1 is right; the mean of the "
            "pairs is the figure to steer by, for main effects see little.",
            published="rate",
            aim=Aim.TABLES,
            whole="all tables",
            of="pair",
            detail=True,
        ),
    ),
    compute=_compute,
)
