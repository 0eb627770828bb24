"""How far the tables of one and of two columns are from the original's, beside what chance alone would do."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.data.aim import Aim
from sfumato.data.codebook import Codebook
from sfumato.data.design import is_factor
from sfumato.data.finding import Finding, Findings
from sfumato.data.pair import Pair, numbers
from sfumato.kernels.cells import spread_apart
from sfumato.measures.copies import ONE_COPY, UNMOVED, Copies
from sfumato.measures.measure import Figure, Measure
from sfumato.measures.saying import value_of
from sfumato.measures.subject import Subject
from sfumato.measures.utility.pmse_ratio import expected_of_copies
from sfumato.measures.utility.propensity import EMPTY, NOTHING
from sfumato.measures.utility.stacked import compared, equal, left_out, texts_of

__all__ = ["MEASURE", "ONE_WAY", "TWO_WAY", "Table", "findings", "table_ratios", "tables"]

Codes = NDArray[np.uint16] | NDArray[np.uint32]
Floats = NDArray[np.float64]
Columns = Sequence[tuple[int, ...]]

ONE_WAY, TWO_WAY = "one-way", "two-way"
"""Groups of lines: tables of one column, and of two."""

_PARTS = 5
_MOST_WORK = 2_000_000_000
"""Rows times pairs of columns that are looked at."""
_NONE = 1e-9
"""Sums of squares below it are rounding errors: one record that differs has one over the rows of its cell."""
_SHORT = 1 << 16
"""Codes that two bytes hold."""
_FAR = 3.0
"""Ratios below it are good by the convention of Raab, Nowok and Dibben (2021), arXiv:2109.12717."""
FEWER = (
    "There are too many pairs of columns for tables of this size: those of the first {columns} columns were looked at."
)
"""What is said where pairs are left out."""
CONSTANT = "Tables beside chance: there is no figure of what does not vary: {columns}."


@dataclass(frozen=True)
class Table:
    """Two tables of the same columns, in codes.

    Parameters
    ----------
    names
        The columns.
    codes : ndarray of uint16 or uint32, shape (p, n + m)
        Codes of both, the original's rows first: categories, fifths of numbers, and a code of its own for what is
        missing.
    n
        Rows of the original.
    levels
        How many codes each column has.
    """

    names: tuple[str, ...]
    codes: Codes
    n: int
    levels: tuple[int, ...]

    @property
    def m(self) -> int:
        """Rows of the release."""
        return int(self.codes.shape[1]) - self.n


def tables(
    before: pl.DataFrame,
    after: pl.DataFrame,
    codebook: Codebook,
    leave_out: tuple[str, ...] = (),
    cut: pl.DataFrame | None = None,
) -> Table:
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
    cut
        The table at whose fifths numbers are cut; `before` where it is left out.

    Examples
    --------
    >>> one = pl.DataFrame({"x": [1.0, 2.0, 3.0, 4.0, 5.0, None]})
    >>> tables(one, one.head(1), Codebook()).codes.tolist()
    [[0, 1, 2, 3, 4, 5, 0]]
    """
    names = compared(before, after, codebook, leave_out)
    out: Codes = np.empty((len(names), before.height + after.height), dtype=np.uint16)
    levels = []
    for j, name in enumerate(names):
        column, many = _coded(before[name], after[name], codebook, None if cut is None else cut[name])
        if many > _SHORT and out.dtype == np.uint16:
            out = out.astype(np.uint32)
        out[j] = column
        levels.append(many)
    return Table(tuple(names), out, before.height, tuple(levels))


def table_ratios(both: Table, of: Columns) -> list[float | None]:
    """How far tables are from the original's, each as a multiple of what chance does where the model is right.

    Parameters
    ----------
    both
        The tables in codes.
    of
        For each table the numbers of its columns, one or two.

    Returns
    -------
    list of float or None
        Mean of (p - c)² over the rows of both, p the share of released rows in a row's cell and c among all, over its
        expectation (cells - 1)(1 - c)² c / N where released values are draws from the model that the original's are
        of, given the original. About 1 for a right synthesis, 2 for another sample of as many people; None where
        nothing varies.

    Examples
    --------
    >>> one, two = pl.DataFrame({"x": ["a", "a", "b", "b"]}), pl.DataFrame({"x": ["a", "b", "b", "b"]})
    >>> [round(ratio, 6) for ratio in table_ratios(tables(one, two, Codebook()), [(0,)])]
    [1.066667]

    References
    ----------
    Snoke, Raab, Nowok, Dibben and Slavkovic (2018), doi:10.1111/rssa.12358; Raab, Nowok and Dibben (2021),
    arXiv:2109.12717, for tables of two columns.
    """
    n, m = both.n, both.m
    if not n or not m or not of:
        return [None] * len(of)
    apart, free = _spread(both, of)
    expected = (1 - m / (n + m)) ** 2 * m / (n + m)
    return [float(a / (k * expected)) if k else None for a, k in zip(apart, free, strict=True)]


def _spread(both: Table, of: Columns) -> tuple[Floats, Floats]:
    """How far the rows are apart in each table (U of all rows together), and its cells less one."""
    named = np.array([(*columns, -1)[:2] for columns in of], dtype=np.int64).reshape(-1, 2)
    apart, cells = spread_apart(both.codes, np.array(both.levels, dtype=np.int64), both.n, named)
    return apart, np.asarray(cells - 1.0, dtype=np.float64)


def findings(pair: Pair, copies: Copies | None = None) -> Findings:
    """Give `table_ratio` of each column, of each pair of columns (`a × b`), and the mean of both groups.

    Parameters
    ----------
    pair
        Original and released table; they need not be joined.
    copies
        All copies of a synthetic release, of which the pair is one; None for one that is not synthetic.

    Notes
    -----
    Where the records are true people's and some of their values were drawn, what chance does comes from copies against
    one another, as for `pmse_ratio`: the closed form counts what stays true as drawn. A single copy has no value, and
    tables of columns that stay true have 0. The mean is then that of U over that of what chance does, both per cell: a
    mean of ratios would hang on the few tables of which copies happen to differ least.
    """
    if copies is not None and copies.partial:
        return _of_copies(pair, copies)
    apart = (pair.before, pair.after, pair.codebook, left_out(pair))
    both = tables(*apart)
    same = pair.once("equal", lambda: equal(*apart))
    chosen = len(both.names) if same else _chosen(both)
    notes = [FEWER.format(columns=chosen)] if chosen < len(both.names) else []
    notes += _nothing_varies(both)
    lines: list[Finding] = []
    for group, of in (
        (ONE_WAY, [(j,) for j in range(len(both.names))]),
        (TWO_WAY, list(itertools.combinations(range(chosen), 2))),
    ):
        values = _none_apart(both, of) if same else table_ratios(both, of)
        held = [value for value in values if value is not None]
        lines.append(Finding("table_ratio", group=group, value=float(np.mean(held)) if held else None))
        named = (" × ".join(both.names[j] for j in columns) for columns in of)
        lines += [Finding("table_ratio", name, group, value=value) for name, value in zip(named, values, strict=True)]
    return Findings(tuple(lines), tuple(notes))


def _of_copies(pair: Pair, copies: Copies) -> Findings:
    """The lines where some values of true people were drawn: beside what copies differ by among themselves."""
    tables_of = (pair.before, pair.after, pair.codebook, left_out(pair))
    both = tables(*tables_of)
    chosen = _chosen(both)
    notes = [FEWER.format(columns=chosen)] if chosen < len(both.names) else []
    notes += _nothing_varies(both)
    of: list[tuple[int, ...]] = [(j,) for j in range(len(both.names))]
    of += itertools.combinations(range(chosen), 2)
    among = copies.once(("table_ratio", tuple(of)), lambda: _among(copies, of, pair.before))
    if among is None or not (both.n and both.m and of):
        values: list[float | None] = [None] * len(of)
        weighed = np.zeros((2, len(of)))
        notes += [ONE_COPY.format(measure="table_ratio")] if among is None else []
    else:
        rows = both.n + both.m
        apart, free = _spread(both, of)
        usual = rows * expected_of_copies(1.0, both.n, both.m) * among
        none = [
            " × ".join(both.names[j] for j in own) for own, a, e in zip(of, apart, usual, strict=True) if a > _NONE > e
        ]
        notes += [UNMOVED.format(measure="table_ratio", what=", ".join(none))] if none else []
        values = [_beside(a, e) if k else None for a, e, k in zip(apart, usual, free, strict=True)]
        weighed = np.stack([apart, usual]) / np.maximum(free, 1.0)
    lines: list[Finding] = []
    for group, many in ((ONE_WAY, 1), (TWO_WAY, 2)):
        own = [t for t, columns in enumerate(of) if len(columns) == many]
        there = [t for t in own if values[t] is not None]
        mean = _beside(*weighed[:, there].sum(axis=1)) if there else None
        lines.append(Finding("table_ratio", group=group, value=mean))
        named = (" × ".join(both.names[j] for j in of[t]) for t in own)
        lines += [Finding("table_ratio", name, group, value=values[t]) for name, t in zip(named, own, strict=True)]
    return Findings(tuple(lines), tuple(notes))


def _beside(apart: float, usual: float) -> float | None:
    if usual < _NONE:
        return 0.0 if apart < _NONE else None
    return float(apart / usual)


def _among(copies: Copies, of: Columns, cut: pl.DataFrame) -> Floats | None:
    """Mean U of copies against one another in each table; None of a single copy."""
    found = []
    for two in copies.against():
        both = tables(two.before, two.after, two.codebook, left_out(two), cut)
        found.append(_spread(both, of)[0] / (both.n + both.m))
    return np.asarray(np.mean(found, axis=0)) if found else None


def _none_apart(both: Table, of: Columns) -> list[float | None]:
    """What equal tables have, without counting: 0, or no figure where nothing varies."""
    varies = [bool((codes != codes[0]).any()) for codes in both.codes]
    return [0.0 if any(varies[j] for j in columns) else None for columns in of]


def _nothing_varies(both: Table) -> Iterator[str]:
    """Why there are lines without a value."""
    if not both.n or not both.m:
        yield f"table_ratio: {EMPTY}"
    elif not both.names:
        yield f"table_ratio: {NOTHING}"
    elif still := [name for name, codes in zip(both.names, both.codes, strict=True) if (codes == codes[0]).all()]:
        yield CONSTANT.format(columns=", ".join(still))


def _chosen(both: Table) -> int:
    """How many columns' pairs are looked at: as many as there is time for."""
    rows = both.n + both.m
    most = 2 * _MOST_WORK / max(rows, 1)
    return min(len(both.names), max(2, math.floor((1 + math.sqrt(1 + 4 * most)) / 2)))


def _coded(
    one: pl.Series, two: pl.Series, codebook: Codebook, cut: pl.Series | None = None
) -> tuple[NDArray[Any], int]:
    """Codes of a column in both tables, and how many there are."""
    name = one.name
    factor = is_factor(name, one.dtype, codebook) or is_factor(name, two.dtype, codebook)
    if not factor:
        a, b = (numbers(column.to_frame(), [name], codebook)[:, 0] for column in (one, two))
        of = a if cut is None else numbers(cut.to_frame(), [name], codebook)[:, 0]
        known = of[~np.isnan(of)]
        cuts = np.quantile(known, np.arange(1, _PARTS) / _PARTS) if len(known) else np.zeros(_PARTS - 1)
        x = np.concatenate([a, b])
        return np.where(np.isnan(x), _PARTS, np.searchsorted(cuts, x, side="left")), _PARTS + 1
    texts = pl.concat([texts_of(name, column.to_frame(), codebook) for column in (one, two)])
    known_texts = texts.unique().drop_nulls().sort()
    many = len(known_texts) + 1
    numbered = pl.Series(np.arange(1, many, dtype=np.uint32))
    return texts.replace_strict(known_texts, numbered, default=0, return_dtype=pl.UInt32).to_numpy(), many


def _say(found: Findings, fraction: float) -> str | None:
    mean = next((f for f in found.select("table_ratio", group=TWO_WAY) if f.variable is None), None)
    if mean is None or value_of(mean) < _FAR:
        return None
    return (
        f"Tables of two columns are on average {value_of(mean):.2g} times as far from the original's as chance alone "
        "would bring those of a right model."
    )


def _compute(subject: Subject) -> Findings:
    return findings(subject.two.tables, subject.copies)


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
            "what chance alone does where values are drawn from a right model of the original. About 1 is right, 2 is "
            "what another sample of as many people has, above 3 something is not kept; near 0 values were hardly "
            "drawn at all. The mean of the pairs is the figure to steer by, for main effects see little. Where some "
            "values of true people were drawn, chance is what copies differ by among themselves: one copy alone has no "
            "figure.",
            published="mean",
            aim=Aim.TABLES,
            whole="all tables",
            of="pair",
            detail=True,
        ),
    ),
    compute=_compute,
    say=_say,
    effort=5.0,
)
