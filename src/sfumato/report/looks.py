"""What a column looks like before and after a step: bands of numbers, bars of categories. For the custodian alone."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.data.codebook import Codebook, Variable
from sfumato.data.extended import shown
from sfumato.data.roles import IDS, Role
from sfumato.engines.polars import PolarsDataset

__all__ = ["FEW", "Bar", "Look", "looks", "nice_edges"]

FEW = 5
"""A category of fewer records is not named."""
_MOST_BARS, _BANDS = 12, 16
_IDS = (*IDS, Role.IDENTIFIER)
_MANY_TEXTS = 1000
"""A text column of more different values is told by their number alone."""

Floats = NDArray[np.float64]
Picture = Literal["bands", "categories", "number"]


@dataclass(frozen=True)
class Bar:
    """One band or category.

    Parameters
    ----------
    label
        Its name.
    before, after
        Records with it; None where the column is not there, or holds something else.
    """

    label: str
    before: int | None
    after: int | None


@dataclass(frozen=True)
class Look:
    """A column, before and after.

    Parameters
    ----------
    column
        Its name.
    picture
        What its bars are; `number` where only the number of different values is told.
    bars
        In their order.
    what
        What happened to it.
    """

    column: str
    picture: Picture
    bars: tuple[Bar, ...]
    what: Literal["changed", "new", "gone", "same"] = "changed"


def looks(column: str, before: PolarsDataset, after: PolarsDataset) -> Iterator[Look]:
    """Look at a column before and after a step; where it became something else, at each by itself.

    Categories of fewer than `FEW` records on both sides are told together, and of ids and long lists of texts only how
    many there are.

    Parameters
    ----------
    column
        A column of one of the two tables, or of both.
    before, after
        The tables.

    Examples
    --------
    >>> import sfumato as sf
    >>> two = sf.read(pl.DataFrame({"sex": ["f"] * 5 + ["m"] * 6}))
    >>> one = sf.read(pl.DataFrame({"sex": ["f"] * 11}))
    >>> next(looks("sex", two, one)).bars
    (Bar(label='f', before=5, after=11), Bar(label='m', before=6, after=0))
    """
    there = [d for d in (before, after) if column in d.columns]
    kinds = {_picture(d, column) for d in there}
    if len(there) == 1:
        what: Literal["new", "gone"] = "new" if there[0] is after else "gone"
        yield _look(column, before if what == "gone" else None, after if what == "new" else None, what)
    elif len(kinds) == 1:
        same = before.frame[column].equals(after.frame[column], null_equal=True)
        yield _look(column, before, after, "same" if same else "changed")
    else:
        yield _look(column, before, None, "changed")
        yield _look(column, None, after, "changed")


def _picture(data: PolarsDataset, column: str) -> Picture:
    variable, dtype = data.codebook[column], data.frame.schema[column]
    if variable.role in _IDS:
        return "number"
    if (dtype.is_numeric() and _is_number(variable, dtype)) or dtype.is_temporal():
        return "bands"
    if dtype == pl.String and data.frame[column].n_unique() > _MANY_TEXTS:
        return "number"
    return "categories"


def _is_number(variable: Variable, dtype: pl.DataType) -> bool:
    return variable.numeric if variable.kind is not None else dtype.is_float()


def _look(
    column: str,
    before: PolarsDataset | None,
    after: PolarsDataset | None,
    what: Literal["changed", "new", "gone", "same"],
) -> Look:
    known = before or after
    assert known is not None
    picture = _picture(known, column)
    make = {"bands": _bands, "categories": _categories, "number": _different}[picture]
    return Look(column, picture, tuple(make(column, before, after)), what)


def _different(column: str, before: PolarsDataset | None, after: PolarsDataset | None) -> Iterator[Bar]:
    sides = [None if d is None else d.frame[column].drop_nulls().n_unique() for d in (before, after)]
    yield Bar("different values", *sides)
    yield from _missing(column, before, after)


def _missing(column: str, before: PolarsDataset | None, after: PolarsDataset | None) -> Iterator[Bar]:
    """A bar for missing values, where there are any."""
    sides = [None if d is None else d.frame.height - len(_present(d, column)) for d in (before, after)]
    if any(sides):
        yield Bar("missing", *sides)


def _present(data: PolarsDataset, column: str) -> pl.Series:
    dtype = data.frame.schema[column]
    there = data.frame.lazy().filter(~data.codebook.missing(column, dtype)).select(column)
    values = there.collect().to_series()
    return values.drop_nans() if dtype.is_float() else values


# bands


def nice_edges(values: Floats, bands: int = _BANDS, *, whole: bool = False) -> Floats:
    """Round edges of bands of equal width between the 1% and the 99% quantile: no edge is anybody's own value.

    Parameters
    ----------
    values
        Not empty, finite; shape (n,).
    bands
        About how many.
    whole
        Whether they are whole numbers, so that no band is narrower than 1.

    Returns
    -------
    ndarray, shape (b + 1,)

    Examples
    --------
    >>> nice_edges(np.arange(101.0), 5).tolist()
    [0.0, 20.0, 40.0, 60.0, 80.0, 100.0]
    """
    low, high = np.quantile(values, [0.01, 0.99])
    rough = (high - low) / bands
    if rough <= 0 or not np.isfinite(rough):
        rough = max(abs(high), 1.0) / bands
    unit = 10.0 ** np.floor(np.log10(rough))
    width = next(m * unit for m in (1, 2, 5, 10) if m * unit >= rough * (1 - 1e-9))
    width = max(width, 1.0) if whole else width
    first, last = np.floor(low / width + 1e-9), np.ceil(high / width - 1e-9)
    if whole and width == 1:
        last += 1
    return np.asarray(np.arange(first, max(last, first + 1) + 1) * width)


def _bands(column: str, before: PolarsDataset | None, after: PolarsDataset | None) -> Iterator[Bar]:
    known = [d for d in (before, after) if d is not None]
    numbers = {id(d): _numbers(d, column) for d in known}
    together = np.concatenate(list(numbers.values()))
    if not len(together):
        yield from _missing(column, before, after)
        return
    dates = known[0].frame.schema[column].is_temporal()
    whole = dates or all((n == np.round(n)).all() for n in numbers.values())
    edges = nice_edges(together, whole=whole)
    counts = {key: _counted(n, edges) for key, n in numbers.items()}
    open_ends = bool((together < edges[0]).any()), bool((together >= edges[-1]).any())
    for i, label in enumerate(_labels(edges, whole, open_ends, grouped=not dates)):
        yield Bar(label, *(None if d is None else int(counts[id(d)][i]) for d in (before, after)))
    yield from _missing(column, before, after)


def _numbers(data: PolarsDataset, column: str) -> Floats:
    values = _present(data, column)
    if values.dtype in (pl.Date, pl.Datetime):
        return values.dt.year().cast(pl.Float64).to_numpy()
    return (values.to_physical() if values.dtype.is_temporal() else values).cast(pl.Float64).to_numpy()


def _counted(values: Floats, edges: Floats) -> NDArray[np.int64]:
    """Values in each band; those beyond the ends are in the outermost."""
    place = np.clip(np.searchsorted(edges, values, side="right") - 1, 0, len(edges) - 2)
    return np.bincount(place, minlength=len(edges) - 1)


def _labels(edges: Floats, whole: bool, open_ends: tuple[bool, bool], *, grouped: bool) -> list[str]:
    def plain(x: float) -> str:
        text = f"{x:,.10g}" if grouped else f"{x:.10g}"
        return text.replace("-", "−")

    single = whole and edges[1] - edges[0] == 1
    labels = [plain(a) if single else f"{plain(a)} to {plain(b)}" for a, b in itertools.pairwise(edges)]
    if open_ends[0]:
        labels[0] = f"below {plain(edges[1])}"
    if open_ends[1]:
        labels[-1] = f"{plain(edges[-2])} and over"
    return labels


# categories


def _categories(column: str, before: PolarsDataset | None, after: PolarsDataset | None) -> Iterator[Bar]:
    sides = [None if d is None else _tally(d, column) for d in (before, after)]
    keys = list(dict.fromkeys(key for side in sides if side for key in side))
    most = {key: max((side or {}).get(key, 0) for side in sides) for key in keys}
    named = [key for key in keys if most[key] >= FEW]
    shown_ = set(sorted(named, key=lambda key: -most[key])[:_MOST_BARS])
    book = (before or after).codebook  # type: ignore[union-attr]
    order = {_text(code): i for i, code in enumerate(book[column].order)}
    named = sorted((key for key in named if key in shown_), key=lambda key: (order.get(key, len(order)), -most[key]))
    for key in named:
        yield Bar(_named(key, column, before, after), *(None if s is None else s.get(key, 0) for s in sides))
    if rest := [key for key in keys if key not in shown_]:
        yield Bar(
            f"others ({len(rest):,} different)",
            *(None if s is None else sum(s.get(key, 0) for key in rest) for s in sides),
        )
    yield from _missing(column, before, after)


def _tally(data: PolarsDataset, column: str) -> dict[str, int]:
    values = _present(data, column)
    counts = values.alias("value").value_counts(sort=True)
    return {_text(value): count for value, count in counts.iter_rows() if value is not None}


def _text(code: Any) -> str:
    """A code as people write it: SPSS and Stata hold whole numbers as decimals."""
    code = shown(code)
    return str(int(code)) if isinstance(code, float) and code.is_integer() else str(code)


def _named(key: str, column: str, before: PolarsDataset | None, after: PolarsDataset | None) -> str:
    """A category with its label, where the codebook has one."""
    for data in (after, before):
        labels = {} if data is None else _codes(data.codebook, column)
        if key in labels:
            return f"{key} {labels[key]}"
    return key


def _codes(book: Codebook, column: str) -> dict[str, str]:
    return {_text(code): label for code, label in book[column].labels.items()} if column in book else {}
