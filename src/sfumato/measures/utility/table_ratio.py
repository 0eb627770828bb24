"""How far the tables of one and of two columns are from the original's, beside what chance alone would do."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Protocol

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
from sfumato.measures.subject import Subject
from sfumato.measures.utility.pmse_ratio import expected_of_copies
from sfumato.measures.utility.propensity import EMPTY, NOTHING
from sfumato.measures.utility.stacked import compared, equal, left_out, texts_of

__all__ = [
    "MEASURE",
    "ONE_WAY",
    "PROBS",
    "TWO_WAY",
    "Cells",
    "Coder",
    "Columns",
    "Table",
    "among_copies",
    "chosen",
    "findings",
    "findings_of",
    "findings_of_copies",
    "ratios_of_copies",
    "table_ratios",
    "tables",
]

Codes = NDArray[np.uint16] | NDArray[np.uint32]
Floats = NDArray[np.float64]
Columns = Sequence[tuple[int, ...]]

ONE_WAY, TWO_WAY = "one-way", "two-way"
"""Groups of lines: tables of one column, and of two."""

_PARTS = 5
PROBS = tuple((np.arange(1, _PARTS) / _PARTS).tolist())
"""Where numbers are cut: at these quantiles of the original."""
_MOST_WORK = 2_000_000_000
"""Rows times pairs of columns that are looked at."""
_NONE = 1e-9
"""Sums of squares below it are rounding errors: one record that differs has one over the rows of its cell."""
_MANY = 100_000
"""Categories that are not indexed anew for every batch of rows."""
_SHORT = 1 << 16
"""Codes that two bytes hold."""
FEWER = (
    "There are too many pairs of columns for tables of this size: those of the first {columns} columns were looked at."
)
"""What is said where pairs are left out."""
CONSTANT = "Tables beside chance: there is no figure of what does not vary: {columns}."


class Cells(Protocol):
    """Tables of one and of two columns of an original and of a release, wherever their cells are counted."""

    @property
    def names(self) -> tuple[str, ...]:
        """The columns."""
        ...

    @property
    def n(self) -> int:
        """Rows of the original."""
        ...

    @property
    def m(self) -> int:
        """Rows of the release."""
        ...

    @property
    def varies(self) -> tuple[bool, ...]:
        """Whether a column has more than one cell, for each."""
        ...

    def spread(self, of: Columns) -> tuple[Floats, Floats]:
        """How far the rows are apart in each table (U of all rows together), and its cells less one."""
        ...


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

    @cached_property
    def varies(self) -> tuple[bool, ...]:
        """Whether a column has more than one code, for each."""
        return tuple(bool((codes != codes[:1]).any()) for codes in self.codes)

    def spread(self, of: Columns) -> tuple[Floats, Floats]:
        """See `Cells`."""
        named = np.array([(*columns, -1)[:2] for columns in of], dtype=np.int64).reshape(-1, 2)
        apart, cells = spread_apart(self.codes, np.array(self.levels, dtype=np.int64), self.n, named)
        return apart, np.asarray(cells - 1.0, dtype=np.float64)


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
    n = before.height
    out: Codes = np.empty((len(names), n + after.height), dtype=np.uint16)
    levels = []
    for j, name in enumerate(names):
        coder = Coder.of(name, (before.schema[name], after.schema[name]), codebook)
        one, two = coder.read(before), coder.read(after)
        if coder.factor:
            coder = coder.knowing([one, two])
        else:
            coder = coder.cut(one if cut is None else coder.read(cut))
        if coder.levels > _SHORT and out.dtype == np.uint16:
            out = out.astype(np.uint32)
        out[j, :n], out[j, n:] = coder.codes(one), coder.codes(two)
        levels.append(coder.levels)
    return Table(tuple(names), out, n, tuple(levels))


def table_ratios(both: Cells, of: Columns) -> list[float | None]:
    """How far tables are from the original's, each as a multiple of what chance does where the model is right.

    Parameters
    ----------
    both
        The tables.
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
    apart, free = both.spread(of)
    expected = (1 - m / (n + m)) ** 2 * m / (n + m)
    return [float(a / (k * expected)) if k else None for a, k in zip(apart, free, strict=True)]


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
    apart = (pair.before, pair.after, pair.codebook, left_out(pair))
    both = tables(*apart)
    if copies is None or not copies.partial:
        return findings_of(both, pair.once("equal", lambda: equal(*apart)))
    against = (_against(two, both.names, pair.before) for two in copies.against())
    among = copies.once
    return findings_of_copies(both, lambda of: among(("table_ratio", tuple(of)), lambda: among_copies(against, of)))


def _against(two: Pair, names: Sequence[str], cut: pl.DataFrame) -> Table:
    """Two copies beside one another, in the columns that are compared with the original's."""
    return tables(two.before.select(names), two.after.select(names), two.codebook, cut=cut)


def findings_of(both: Cells, same: bool) -> Findings:
    """Give the lines of tables whose cells can be counted; with `same` nothing is apart in any of them.

    Parameters
    ----------
    both
        The tables.
    same
        Whether each row of the release is as it was.
    """
    looked_at = len(both.names) if same else chosen(both.n, both.m, len(both.names))
    notes = [FEWER.format(columns=looked_at)] if looked_at < len(both.names) else []
    notes += _nothing_varies(both)
    lines: list[Finding] = []
    for group, of in (
        (ONE_WAY, [(j,) for j in range(len(both.names))]),
        (TWO_WAY, list(itertools.combinations(range(looked_at), 2))),
    ):
        values = _none_apart(both, of) if same else table_ratios(both, of)
        held = [value for value in values if value is not None]
        lines.append(Finding("table_ratio", group=group, value=float(np.mean(held)) if held else None))
        named = (" × ".join(both.names[j] for j in columns) for columns in of)
        lines += [Finding("table_ratio", name, group, value=value) for name, value in zip(named, values, strict=True)]
    return Findings(tuple(lines), tuple(notes))


def findings_of_copies(both: Cells, among: Callable[[Columns], Floats | None]) -> Findings:
    """Give the lines where some values of true people were drawn: beside what copies differ by among themselves.

    Parameters
    ----------
    both
        The original and one copy.
    among
        Gives of some tables the mean U of copies against one another, see `among_copies`; None of a single copy.
    """
    looked_at = chosen(both.n, both.m, len(both.names))
    notes = [FEWER.format(columns=looked_at)] if looked_at < len(both.names) else []
    notes += _nothing_varies(both)
    of: list[tuple[int, ...]] = [(j,) for j in range(len(both.names))]
    of += itertools.combinations(range(looked_at), 2)
    usual_u = among(of)
    if usual_u is None or not (both.n and both.m and of):
        values: list[float | None] = [None] * len(of)
        weighed = np.zeros((2, len(of)))
        notes += [ONE_COPY.format(measure="table_ratio")] if usual_u is None else []
    else:
        values, apart, usual, free = _beside_copies(both, of, usual_u)
        none = [
            " × ".join(both.names[j] for j in own) for own, a, e in zip(of, apart, usual, strict=True) if a > _NONE > e
        ]
        notes += [UNMOVED.format(measure="table_ratio", what=", ".join(none))] if none else []
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


def ratios_of_copies(both: Cells, of: Columns, usual_u: Floats) -> list[float | None]:
    """As `table_ratios`, where some values of true people were drawn: beside what copies differ by.

    Parameters
    ----------
    both
        The original and one copy.
    of
        For each table the numbers of its columns.
    usual_u : ndarray of float64, shape (t,)
        From `among_copies`.
    """
    return _beside_copies(both, of, usual_u)[0]


def _beside_copies(both: Cells, of: Columns, usual_u: Floats) -> tuple[list[float | None], Floats, Floats, Floats]:
    """The ratios; how far tables are apart, how far chance brings them, and their cells less one."""
    rows = both.n + both.m
    apart, free = both.spread(of)
    usual = np.asarray(rows * expected_of_copies(1.0, both.n, both.m) * usual_u)
    values = [_beside(a, e) if k else None for a, e, k in zip(apart, usual, free, strict=True)]
    return values, apart, usual, free


def _beside(apart: float, usual: float) -> float | None:
    if usual < _NONE:
        return 0.0 if apart < _NONE else None
    return float(apart / usual)


def among_copies(against: Iterable[Cells], of: Columns) -> Floats | None:
    """Mean U of copies against one another in each table, shape (t,); None of a single copy.

    Parameters
    ----------
    against
        Pairs of copies.
    of
        The tables.
    """
    found = [both.spread(of)[0] / (both.n + both.m) for both in against]
    return np.asarray(np.mean(found, axis=0)) if found else None


def _none_apart(both: Cells, of: Columns) -> list[float | None]:
    """What equal tables have, without counting: 0, or no figure where nothing varies."""
    return [0.0 if any(both.varies[j] for j in columns) else None for columns in of]


def _nothing_varies(both: Cells) -> Iterator[str]:
    """Why there are lines without a value."""
    if not both.n or not both.m:
        yield f"table_ratio: {EMPTY}"
    elif not both.names:
        yield f"table_ratio: {NOTHING}"
    elif still := [name for name, varies in zip(both.names, both.varies, strict=True) if not varies]:
        yield CONSTANT.format(columns=", ".join(still))


def chosen(n: int, m: int, columns: int) -> int:
    """How many columns' pairs are looked at: as many as there is time for.

    Parameters
    ----------
    n, m
        Rows of the original and of the release.
    columns
        How many there are.

    Examples
    --------
    >>> chosen(10**7, 10**7, 20)
    14
    """
    most = 2 * _MOST_WORK / max(n + m, 1)
    return min(columns, max(2, math.floor((1 + math.sqrt(1 + 4 * most)) / 2)))


@dataclass(frozen=True)
class Coder:
    """Codes the values of one column, alike in every table that has it.

    Parameters
    ----------
    name
        The column.
    codebook
        Says which codes stand for missing.
    factor
        Whether its values are categories rather than numbers.
    known
        The categories, sorted.
    cuts : ndarray, shape (4,)
        Where numbers are cut: at fifths of the original.
    """

    name: str
    codebook: Codebook
    factor: bool
    known: pl.Series = field(default_factory=lambda: pl.Series(dtype=pl.String), repr=False)
    cuts: Floats = field(default_factory=lambda: np.zeros(_PARTS - 1), repr=False)

    @classmethod
    def of(cls, name: str, types: Iterable[pl.DataType], codebook: Codebook) -> Coder:
        """One for a column of these types, of which no value is known yet."""
        return cls(name, codebook, any(is_factor(name, dtype, codebook) for dtype in types))

    @property
    def levels(self) -> int:
        """How many codes there may be."""
        return len(self.known) + 1 if self.factor else _PARTS + 1

    def read(self, frame: pl.DataFrame) -> pl.Series:
        """Categories as text, null for missing; or numbers, NaN for missing."""
        if self.factor:
            return texts_of(self.name, frame, self.codebook)
        return pl.Series(self.name, numbers(frame, [self.name], self.codebook)[:, 0])

    def knowing(self, values: Iterable[pl.Series]) -> Coder:
        """The same for categories that were read of the tables."""
        return replace(self, known=pl.concat(each.unique() for each in values).unique().drop_nulls().sort())

    def cut(self, values: pl.Series) -> Coder:
        """The same for fifths of numbers that were read of the original; without any number all are above."""
        known = values.to_numpy()
        known = known[~np.isnan(known)]
        return self.cut_at(np.quantile(known, PROBS)) if len(known) else self

    def cut_at(self, cuts: Floats) -> Coder:
        """The same with these cuts, shape (4,)."""
        return replace(self, cuts=cuts)

    def codes(self, values: pl.Series) -> NDArray[Any]:
        """Codes of values that were read: of fifths from 0, 5 for missing; of categories from 1, 0 for missing."""
        if not self.factor:
            x = values.to_numpy()
            return np.where(np.isnan(x), _PARTS, np.searchsorted(self.cuts, x, side="left"))
        some = self.known
        numbered = pl.Series(np.arange(1, self.levels, dtype=np.uint32))
        if self.levels > _MANY:  # to look up those that are here is less work than to index all
            some = values.unique().drop_nulls()
            numbered = (self.known.search_sorted(some) + 1).cast(pl.UInt32)
        return values.replace_strict(some, numbered, default=0, return_dtype=pl.UInt32).to_numpy()


def _compute(subject: Subject) -> Findings:
    return findings(subject.two.tables, subject.copies)


def _folded(subject: Subject) -> Findings:
    from sfumato.measures.utility.table_ratio_folded import folded

    return folded(subject)


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
    forms={"folded": _folded},
    effort=5.0,
)
