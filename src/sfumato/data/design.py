"""From a table and the terms of a formula to a design matrix, with columns named as patsy names them.

Categories are coded by treatment contrasts. A category gets a column for every level instead wherever the terms before
leave room for it (no intercept, no main effect), by the rule of S and patsy, so that every model has its full span.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.data.codebook import Codebook, Scalar
from sfumato.data.formula import Factor, Term
from sfumato.data.holding import holding
from sfumato.data.pair import numbers
from sfumato.data.roles import NUMERIC_KINDS, Kind
from sfumato.data.unseen import seen
from sfumato.errors import DataError

__all__ = [
    "MAX_COLUMNS",
    "Design",
    "Levels",
    "build_design",
    "find_levels",
    "is_factor",
    "level_codes",
    "order_levels",
    "stated_order",
]

Floats = NDArray[np.float64]
Codes = NDArray[np.int32]
Levels = Mapping[str, tuple[str, ...]]
"""Levels of each factor as text, the reference level first."""

Coding = tuple[tuple[str, bool], ...]

MAX_COLUMNS = 1_000
"""Most columns of a design matrix, and most levels of a factor."""
_ROWS = 1 << 15  # rows of a block
_LARGEST = float(np.log(np.finfo(np.float64).max)) - 1  # logarithm of the largest number in a design


@dataclass(frozen=True)
class _Piece:
    """The columns of one term in one coding: numeric columns times every combination of levels.

    A numeric column stands as many times as its power says.
    """

    numeric: tuple[str, ...]
    coding: Coding  # factors, each with whether all of its levels have a column
    labels: tuple[str, ...]


@dataclass(frozen=True)
class Design:
    """A design matrix that is written out block by block.

    Parameters
    ----------
    labels
        Names of its columns: `Intercept`, `Age`, `I(Age^2)`, `C(Pclass)[T.2]`, `Age:C(Sex)[T.male]`.
    rows
        Which rows of the table it has, shape (N,), bool: those with a value in every column of the model.
    levels
        Levels of each factor.
    notes
        What a reader should know, for instance that a level is new.

    Examples
    --------
    >>> from sfumato.data.formula import parse_formula
    >>> table = pl.DataFrame({"age": [30.0, 41.0, None], "sex": ["m", "f", "m"]})
    >>> design = build_design(table, Codebook(), parse_formula("y ~ age + sex").terms)
    >>> design.labels, design.matrix().tolist()
    (('Intercept', 'age', 'sex[T.m]'), [[1.0, 30.0, 1.0], [1.0, 41.0, 0.0]])
    """

    labels: tuple[str, ...]
    rows: NDArray[np.bool_]
    levels: Levels
    notes: tuple[str, ...]
    _pieces: tuple[_Piece, ...]
    _numbers: Mapping[str, Floats]
    _codes: Mapping[str, Codes]

    @property
    def n(self) -> int:
        """Rows of the matrix."""
        return int(self.rows.sum())

    @property
    def left_out(self) -> float:
        """Share of the table's rows that lack a value, 0 to 1."""
        return 1 - self.n / len(self.rows) if len(self.rows) else 0.0

    def matrix(self) -> Floats:
        """The whole matrix, shape (n, p)."""
        return self._block(0, self.n)

    def blocks(self, y: Floats | None = None, rows: int = _ROWS) -> Iterator[tuple[Floats, Floats]]:
        """Give the matrix by blocks of rows, each with its part of `y` (zeros without it), as kernels read them."""
        response = np.zeros(self.n) if y is None else y
        for start in range(0, self.n, rows):
            stop = min(start + rows, self.n)
            yield self._block(start, stop), response[start:stop]

    @property
    def columns(self) -> tuple[tuple[str, ...], ...]:
        """The table's columns that each column of the matrix is made of; none for the intercept."""
        own = ((tuple(dict.fromkeys((*p.numeric, *(n for n, _ in p.coding)))), len(p.labels)) for p in self._pieces)
        return tuple(names for names, width in own for _ in range(width))

    def held(self) -> NDArray[np.int64]:
        """How many records each coefficient hangs on at least, shape (p,).

        A category's hangs on those who are in it and on those in the reference category, the intercept on those in
        reference categories, a number's on those whose number is not the commonest (within each such category).

        Examples
        --------
        >>> from sfumato.data.formula import parse_formula
        >>> table = pl.DataFrame({"age": [30, 30, 41, 52], "sex": ["m", "f", "m", "m"]})
        >>> build_design(table, Codebook(), parse_formula("y ~ age + sex").terms).held().tolist()
        [1, 2, 1]
        """
        first = [
            int((self._codes[name] == 0).sum()) for p in self._pieces for name, full in p.coding if not full
        ]  # of those in reference categories
        least = min([self.n, *first])
        return np.array(
            [least if not (p.numeric or p.coding) else many for p in self._pieces for many in self._held(p)],
            dtype=np.int64,
        )

    def _held(self, piece: _Piece) -> list[int]:
        wide = [len(self.levels[name]) for name, _ in piece.coding]
        cell = np.zeros(self.n, dtype=np.int64)
        for (name, _), width in zip(reversed(piece.coding), reversed(wide), strict=True):
            cell = cell * width + self._codes[name]  # the first factor varies fastest
        many = np.bincount(cell, minlength=max(int(np.prod(wide)), 1))
        if piece.numeric:
            value = np.prod([self._numbers[name] for name in piece.numeric], axis=0)
            same = pl.DataFrame({"cell": cell, "value": value}).group_by("cell", "value").len()
            commonest = same.group_by("cell").agg(pl.col("len").max())
            many[commonest["cell"].to_numpy()] -= commonest["len"].to_numpy()
        places = [range(0 if full else 1, width) for (_, full), width in zip(piece.coding, wide, strict=True)]
        strides = [int(np.prod(wide[:i])) for i in range(len(wide))]
        found = []
        for levels in itertools.product(*reversed(places)):
            own = zip(reversed(levels), piece.coding, strides, strict=True)
            cells = itertools.product(*([level * by] if full else [level * by, 0] for level, (_, full), by in own))
            found.append(min(int(many[sum(each)]) for each in cells))
        return found

    def _block(self, start: int, stop: int) -> Floats:
        out = np.zeros((stop - start, len(self.labels)), order="F")
        at = 0
        for piece in self._pieces:
            width = len(piece.labels)
            self._fill(piece, start, stop, out[:, at : at + width])
            at += width
        return out

    def _fill(self, piece: _Piece, start: int, stop: int, out: Floats) -> None:
        value: Floats | float = 1.0
        for name in piece.numeric:
            value = value * self._numbers[name][start:stop]
        if not piece.coding:
            out[:, 0] = value
            return
        column, width = np.zeros(stop - start, dtype=np.int64), 1
        here = np.ones(stop - start, dtype=bool)
        for name, full in piece.coding:  # the first factor varies fastest
            code = self._codes[name][start:stop] - (0 if full else 1)
            here &= code >= 0
            column += width * code
            width *= len(self.levels[name]) - (0 if full else 1)
        index = np.flatnonzero(here)
        out[index, column[index]] = value if isinstance(value, float) else value[index]


def is_factor(name: str, dtype: pl.DataType, codebook: Codebook) -> bool:
    """Tell whether the values of a column are categories: by its kind, else by its type.

    Examples
    --------
    >>> is_factor("sex", pl.String(), Codebook())
    True
    """
    kind = codebook[name].kind if name in codebook else None
    if kind in (Kind.CATEGORICAL, Kind.ORDINAL, Kind.GEOGRAPHIC):
        return True
    if kind in NUMERIC_KINDS:
        return False
    return dtype in (pl.String, pl.Boolean, pl.Categorical, pl.Enum)


def find_levels(frame: pl.DataFrame, codebook: Codebook, name: str) -> tuple[str, ...]:
    """Levels of a column in order: as its codebook or its type orders them, else numbers by size and texts by letters.

    Parameters
    ----------
    frame
        The table.
    codebook
        Says which codes stand for missing, and the order of an ordinal variable.
    name
        A column; missing values are no level.

    Raises
    ------
    DataError
        For more than `MAX_COLUMNS` levels.

    Examples
    --------
    >>> find_levels(pl.DataFrame({"ward": [10, 9, None]}), Codebook(), "ward")
    ('9', '10')
    """
    found = [_text(v) for v in sorted(_distinct_values(frame, codebook, name))]
    return order_levels(frame.schema[name], codebook, name, found)


def order_levels(dtype: pl.DataType, codebook: Codebook, name: str, levels: Sequence[str]) -> tuple[str, ...]:
    """Put levels of a column in the order that its codebook or its type states, the others after them as they come.

    Examples
    --------
    >>> order_levels(pl.Enum(["low", "mid", "high"]), Codebook(), "risk", ["high", "low"])
    ('low', 'high')
    """
    wanted = set(levels)
    first = (level for level in stated_order(dtype, codebook, name) if level in wanted)
    return tuple(dict.fromkeys((*first, *levels)))


def stated_order(dtype: pl.DataType, codebook: Codebook, name: str) -> tuple[str, ...]:
    """Levels of a column that its codebook orders, then those that its type does; may name some that it lacks.

    Examples
    --------
    >>> stated_order(pl.Enum(["low", "mid", "high"]), Codebook(), "risk")
    ('low', 'mid', 'high')
    """
    ranked = [_text(v) for v in codebook[name].order] if name in codebook else []
    categories = dtype.categories.to_list() if isinstance(dtype, pl.Enum) else []
    return tuple(dict.fromkeys((*ranked, *categories)))


def _distinct_values(frame: pl.DataFrame, codebook: Codebook, name: str) -> list[Scalar]:
    dtype = frame.schema[name]
    if dtype.is_nested() or dtype.is_temporal():
        raise DataError(
            f"Column {name!r} holds {holding(dtype)}; a model needs numbers or categories. Derive a column first."
        )
    values = frame.select(pl.col(name).filter(~codebook.missing(name, dtype)).unique()).to_series()
    if values.len() > MAX_COLUMNS:
        raise DataError(
            f"Column {name!r} has more than {MAX_COLUMNS} categories, too many for a model. Recode it to broader ones, "
            "or set its kind to continuous if it is a number."
        )
    return values.cast(pl.String).to_list() if dtype in (pl.Categorical, pl.Enum) else values.to_list()


def _text(value: Scalar) -> str:
    """A level as text; a whole number is written alike whether it came as integer or float."""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


@dataclass(frozen=True)
class _Part:
    """One column in a term, once it is known whether it is a factor."""

    name: str
    factor: bool
    power: int
    label: str = field(compare=False)


def build_design(
    frame: pl.DataFrame,
    codebook: Codebook,
    terms: Sequence[Term],
    *,
    intercept: bool = True,
    levels: Levels | None = None,
    also: Sequence[str] = (),
) -> Design:
    """Turn a table into a design matrix.

    Parameters
    ----------
    frame
        The table.
    codebook
        Columns of kind categorical, ordinal and geographic, texts and yes/no columns are factors, as is what the
        formula has in C(). Its missing codes are missing values.
    terms
        As in a `Formula`.
    intercept
        Whether there is a column of ones.
    levels
        Levels of factors as another table fixed them (`Design.levels` of the original), so that the same columns come
        out. A level that is not among them gets a column of its own after the others, and a note says so.
    also
        Further columns that a row needs a value in: the response.

    Raises
    ------
    DataError
        For a column that the table does not have or that is neither numeric nor a factor, for a power of a factor, and
        for too many columns or too large numbers.

    Examples
    --------
    >>> from sfumato.data.formula import Factor
    >>> table = pl.DataFrame({"ward": [1, 2, 3]})
    >>> build_design(table, Codebook(), [(Factor("ward", True),)], levels={"ward": ("3", "1")}).labels
    ('Intercept', 'C(ward)[T.1]', 'C(ward)[T.2]')
    """
    names = tuple(dict.fromkeys((*(f.name for term in terms for f in term), *also)))
    _refuse_unknown(frame, names)
    parts = _resolve(frame, codebook, terms)
    missing = [codebook.missing(n, frame.schema[n]) for n in names]
    whole = np.ones(frame.height, dtype=bool)
    if missing:
        whole = frame.select(~pl.any_horizontal(missing)).to_series().to_numpy()
    used = frame.filter(pl.Series(whole, dtype=pl.Boolean))
    wanted = dict.fromkeys(part for term in parts for part in term)
    found, codes, notes = _encode(used, codebook, [p.name for p in wanted if p.factor], levels or {})
    values = {p.name: numbers(used, [p.name], codebook)[:, 0] for p in wanted if not p.factor}
    pieces = tuple(_pieces(parts, intercept, found))
    _refuse_overflow(pieces, values)
    labels = tuple(label for piece in pieces for label in piece.labels)
    return Design(labels, whole, found, notes, pieces, values, codes)


def _refuse_unknown(frame: pl.DataFrame, names: Sequence[str]) -> None:
    unknown = [n for n in names if n not in frame.columns]
    if unknown:
        raise DataError(
            f"The model needs column {', '.join(map(repr, unknown))}, which the table does not have. "
            f"Columns: {seen(', '.join(frame.columns))}."
        )


def _resolve(frame: pl.DataFrame, codebook: Codebook, terms: Sequence[Term]) -> list[tuple[_Part, ...]]:
    """Terms with their factors known; `sex` and `C(sex)` are one where sex is a factor anyway."""
    resolved: dict[frozenset[_Part], tuple[_Part, ...]] = {}
    for term in terms:
        parts = tuple(_part(f, f.categorical or is_factor(f.name, frame.schema[f.name], codebook)) for f in term)
        parts = tuple(dict.fromkeys(parts))
        resolved.setdefault(frozenset(parts), parts)
    return list(resolved.values())


def _part(written: Factor, factor: bool) -> _Part:
    name, categorical, power = written
    if power == 1:
        return _Part(name, factor, power, f"C({name})" if categorical else name)
    label = f"I({name}^{power})"
    if factor:
        raise DataError(
            f"{label} is a power of a number, and column {name!r} holds categories. Leave the power out, or set the "
            "column's kind to continuous or integer if its values are amounts."
        )
    return _Part(name, factor, power, label)


def _refuse_overflow(pieces: Sequence[_Piece], values: Mapping[str, Floats]) -> None:
    """Refuse powers and products that no float can hold."""
    with np.errstate(divide="ignore"):
        size = {name: np.log(np.max(np.abs(v), initial=0.0)) for name, v in values.items()}
    for piece in pieces:
        if sum(size[name] for name in piece.numeric) > _LARGEST:
            raise DataError(
                f"The powers or products of {', '.join(map(repr, dict.fromkeys(piece.numeric)))} are too large for a "
                "number. Write the column in a larger unit."
            )


def _encode(
    frame: pl.DataFrame, codebook: Codebook, names: Sequence[str], levels: Levels
) -> tuple[dict[str, tuple[str, ...]], dict[str, Codes], tuple[str, ...]]:
    """Levels and codes of each factor, and notes on levels that came or went."""
    found: dict[str, tuple[str, ...]] = {}
    codes: dict[str, Codes] = {}
    notes = []
    for name in names:
        here = find_levels(frame, codebook, name)
        known = levels.get(name, here)
        found[name] = tuple(dict.fromkeys((*known, *here)))
        codes[name] = level_codes(frame, codebook, name, found[name])
        if len(found[name]) > len(known):
            notes.append(f"Column {name!r} has a category that the original lacks; it got a coefficient of its own.")
        if known and known[0] not in here:
            notes.append(
                f"The reference category of {name!r} does not occur, so its coefficients mean another contrast."
            )
    return found, codes, tuple(notes)


def level_codes(frame: pl.DataFrame, codebook: Codebook, name: str, levels: tuple[str, ...]) -> Codes:
    """Number each value of a column by its place among `levels`.

    Parameters
    ----------
    frame
        A table without missing values in the column.
    codebook
        Says which codes stand for missing.
    name
        The column.
    levels
        Every value of the column, as `find_levels` writes them.

    Returns
    -------
    ndarray, shape (n,), int32

    Examples
    --------
    >>> level_codes(pl.DataFrame({"ward": [10, 9, 10]}), Codebook(), "ward", ("9", "10")).tolist()
    [1, 0, 1]
    """
    values = _distinct_values(frame, codebook, name)
    column = frame.get_column(name)
    if column.dtype in (pl.Categorical, pl.Enum):
        column = column.cast(pl.String)
    if not values:
        return np.zeros(frame.height, dtype=np.int32)
    place = {level: i for i, level in enumerate(levels)}
    coded = column.replace_strict(values, [place[_text(v)] for v in values], return_dtype=pl.Int32)
    return np.asarray(coded.to_numpy(), dtype=np.int32)


def _pieces(terms: Sequence[tuple[_Part, ...]], intercept: bool, levels: Levels) -> Iterator[_Piece]:
    """Columns of every term, each coded so that it adds all that the terms before it leave open, and no more."""
    said: dict[frozenset[_Part], set[frozenset[str]]] = {}  # by numeric parts: sets of factors already in the model
    total = 0
    if intercept:
        said[frozenset()] = {frozenset()}
        yield _Piece((), (), ("Intercept",))
    for term in terms:
        numeric = tuple(p.name for p in term if not p.factor for _ in range(p.power))
        before = said.setdefault(frozenset(p for p in term if not p.factor), set())
        for coding in _codings([p.name for p in term if p.factor], before):
            total += _width(coding, levels)
            if total > MAX_COLUMNS:
                raise DataError(
                    f"The model has more than {MAX_COLUMNS} coefficients. Recode columns of many categories to broader "
                    "ones, or leave out interactions."
                )
            yield _Piece(numeric, coding, tuple(_labels(term, dict(coding), levels)))


def _codings(factors: Sequence[str], before: set[frozenset[str]]) -> list[Coding]:
    """Split a product of factors into parts that are new, and join these while a full coding covers two of them.

    A factor with all levels is the constant and the contrasts: {a} contrasted and {} together are a in full.
    """
    subsets = [frozenset(s) for size in range(len(factors) + 1) for s in itertools.combinations(factors, size)]
    parts = [frozenset((name, False) for name in s) for s in subsets if s not in before]
    before.update(subsets)
    while (joined := _join(parts)) is not None:
        parts = joined
    return [tuple((name, full) for name in factors for full in (False, True) if (name, full) in part) for part in parts]


def _join(parts: list[frozenset[tuple[str, bool]]]) -> list[frozenset[tuple[str, bool]]] | None:
    """Join the first two parts that differ by one factor; None where there are none."""
    for i, short in enumerate(parts):
        for j in range(i + 1, len(parts)):
            if short < parts[j] and len(parts[j]) == len(short) + 1:
                ((name, _),) = parts[j] - short
                return [*parts[:i], *parts[i + 1 : j], short | {(name, True)}, *parts[j + 1 :]]
    return None


def _width(coding: Coding, levels: Levels) -> int:
    width = 1
    for name, full in coding:
        width *= max(len(levels[name]) - (0 if full else 1), 0)
    return width


def _labels(term: Sequence[_Part], coding: Mapping[str, bool], levels: Levels) -> Iterator[str]:
    """Labels of a piece, the first factor varying fastest."""
    written: list[list[str]] = []
    for part in term:
        if not part.factor:
            written.append([part.label])
        elif part.name in coding:
            full = coding[part.name]
            shown = levels[part.name] if full else levels[part.name][1:]
            written.append([f"{part.label}[{level}]" if full else f"{part.label}[T.{level}]" for level in shown])
    for combination in itertools.product(*reversed(written)):
        yield ":".join(reversed(combination))
