"""What an editor of categories and bands shows: values of a column with their records, as a tree or by cut points."""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import polars as pl

from sfumato.api.read import read_whole
from sfumato.api.sketch import RARE
from sfumato.data.codebook import Codebook, Scalar, Variable
from sfumato.data.grouping import Broader, category
from sfumato.data.hierarchy import as_texts, text_of
from sfumato.data.query import COUNT
from sfumato.data.roles import IDS, Kind, Role
from sfumato.draws import shortest
from sfumato.errors import DataError
from sfumato.methods.banding import Bands, labels_of, learned
from sfumato.report.looks import nice_edges

__all__ = [
    "Banded",
    "Branch",
    "Interval",
    "Valued",
    "banded",
    "branches",
    "cuts",
    "few",
    "private",
    "rounded",
    "suits",
    "valued",
]

_PRIVATE = frozenset({*IDS, Role.IDENTIFIER})
_VALUE = "value"
_BARS, _MANY = 30, 20
_CASELESS = str.casefold


@dataclass(frozen=True, slots=True)
class Valued:
    """A value of a column.

    Parameters
    ----------
    value
        As a plan writes it.
    text
        As hierarchies write it.
    label
        What the codebook calls it; empty where it does not.
    records
        How many have it.
    """

    value: Scalar
    text: str
    label: str
    records: int


@dataclass(frozen=True, slots=True)
class Branch:
    """A category in a tree of them, or a value.

    Parameters
    ----------
    level, name
        Where it stands, 0 for a value, and what it is called; −1 is the root.
    label
        Of a value, what the codebook calls it.
    records
        How many records it has; None for 1 to 4, unless all is asked for.
    values
        How many values are in it.
    below
        What is in it and shown.
    others
        Values directly in it of fewer than 5 records, which are not shown.
    further
        Values directly in it that are not shown since there are too many, or do not have what is looked for.
    """

    level: int
    name: str
    label: str = ""
    records: int | None = 0
    values: int = 0
    below: tuple[Branch, ...] = ()
    others: int = 0
    further: int = 0


@dataclass(frozen=True, slots=True)
class Interval:
    """Numbers between two ends, and how many records have one.

    Parameters
    ----------
    label
        In words.
    low, high
        The ends, of which the high one is in the next interval; None where it is open.
    records
        How many; None for 1 to 4, unless all is asked for.
    """

    label: str
    low: float | None
    high: float | None
    records: int | None


@dataclass(frozen=True, slots=True)
class Banded:
    """A column of numbers, as a histogram and in bands.

    Parameters
    ----------
    bars
        Narrow intervals of equal width, the outermost of which hold what lies beyond them too.
    bands
        Between the cut points.
    missing
        Records without a value.
    """

    bars: tuple[Interval, ...]
    bands: tuple[Interval, ...]
    missing: int


def suits(data: Any, name: str) -> Literal["bands", "categories", ""]:
    """Tell which editor suits a column: that of bands for many different numbers, none for dates.

    Examples
    --------
    >>> suits(pl.DataFrame({"age": range(90)}), "age"), suits(pl.DataFrame({"sex": ["f", "m"]}), "sex")
    ('bands', 'categories')
    """
    table = read_whole(data, "Trying codings")
    variable, column = _variable(table.codebook, name), _column(table.frame, name)
    if column.dtype.is_temporal() or column.dtype.is_nested():
        return ""
    if not column.dtype.is_numeric() or variable.kind in (Kind.TEXT, Kind.DATE, Kind.GEOGRAPHIC):
        return "categories"
    coded = variable.kind in (Kind.CATEGORICAL, Kind.ORDINAL) or bool(variable.labels)
    return "categories" if coded or column.n_unique() <= _MANY else "bands"


def valued(data: Any, name: str) -> tuple[Valued, ...]:
    """List the values of a column with their records: in their order, numbers by size, else the most frequent first.

    Parameters
    ----------
    data
        What `read` gives or takes; missing values and codes are left out.
    name
        The column.

    Raises
    ------
    DataError
        There is no such column, or it holds dates or lists.

    Examples
    --------
    >>> towns = pl.DataFrame({"town": ["Leeds"] * 3 + ["York", "Bath", "Bath"]})
    >>> [(one.text, one.records) for one in valued(towns, "town")]
    [('Leeds', 3), ('Bath', 2), ('York', 1)]
    """
    table = read_whole(data, "Trying codings")
    variable, column = _variable(table.codebook, name), _present(table.frame, table.codebook, name)
    if column.dtype.is_temporal() or column.dtype.is_nested():
        raise DataError(f"Column {name!r} holds no categories: dates are made coarser by coarsen_date.")
    plain = column.cast(pl.String) if column.dtype in (pl.Categorical, pl.Enum) else column
    counted = plain.value_counts(name=COUNT)
    texts = counted.select(as_texts(pl.col(_VALUE), plain.dtype)).to_series()
    found = [
        Valued(value if isinstance(value, bool | int | float | str) else text, text, variable.labels.get(value, ""), n)
        for value, text, n in zip(counted[_VALUE], texts, counted[COUNT], strict=True)
    ]
    place = {text_of(value): i for i, value in enumerate(variable.order)}
    if place:
        return tuple(sorted(found, key=lambda one: (place.get(one.text, len(place)), one.text)))
    if plain.dtype.is_numeric():
        return tuple(sorted(found, key=lambda one: float(one.value)))
    return tuple(sorted(found, key=lambda one: (-one.records, one.text)))


def branches(
    values: Sequence[Valued],
    broader: Broader,
    *,
    everything: bool = False,
    masked: bool = False,
    find: str = "",
    most: int = 300,
) -> Branch:
    """Put values under their categories.

    It is for the custodian's own screen: values of fewer than 5 records are counted together unless all is asked for.

    Parameters
    ----------
    values
        As `valued` lists them.
    broader
        The categories above each; it may list values that nobody has, and need not list all.
    everything
        Show values of fewer than 5 records too.
    masked
        Of an identifier: show none, unless all is asked for.
    find
        Show only what has this in its name, and what is in it.
    most
        How many values are shown.

    Returns
    -------
    Branch
        The root: categories first, in the order of the values, then values that are in none.

    Examples
    --------
    >>> towns = valued(pl.DataFrame({"town": ["Leeds"] * 9 + ["York"] * 6 + ["Bath"]}), "town")
    >>> tree = branches(towns, {"Leeds": ("North",), "York": ("North",)})
    >>> [(one.name, one.records, one.values) for one in tree.below], tree.others
    ([('North', 15, 2)], 1)
    """
    known = {one.text: one for one in values}
    listed = [*known, *(text for text in broader if text not in known)]
    root = _Open(-1, "")
    tops = {above[-1] for above in broader.values() if above}
    for text in listed:
        above = broader.get(text, ())
        if not above and text in tops and all(len(b) == 1 for b in broader.values() if b and b[-1] == text):
            above = (text,)  # it becomes what the category is called, so it is in it
        path = [(0, text), *((level, name) for level, name in enumerate(above, 1) if name != (text, *above)[level - 1])]
        if above and len(path) == 1:
            path = [(0, text), (1, text)]
        here = root
        for node in reversed(path):
            here = here.below.setdefault(node, _Open(*node))
        here.records = known[text].records if text in known else 0
        here.label = known[text].label if text in known else ""
    left = itertools.count()
    wanted = _CASELESS(find.strip())

    def shown(one: _Open, inside: bool) -> Branch:
        inside = inside or (one.level > 0 and wanted in _CASELESS(one.name))
        kept, others, further = [], 0, 0
        for child in sorted(one.below.values(), key=lambda child: child.level == 0):
            if child.level > 0:
                branch = shown(child, inside)
                if inside or not wanted or branch.below or wanted in _CASELESS(child.name):
                    kept.append(branch)
            elif not everything and (masked or child.records < RARE):
                others += 1
            elif not (inside or wanted in _CASELESS(child.name) or wanted in _CASELESS(child.label)):
                further += 1
            elif next(left) < most:
                kept.append(Branch(0, child.name, child.label, child.records, 1))
            else:
                further += 1
        total = one.total
        few_ = 0 < total[0] < RARE and not everything
        return Branch(one.level, one.name, "", None if few_ else total[0], total[1], tuple(kept), others, further)

    return shown(root, not wanted)


@dataclass(slots=True)
class _Open:
    """A branch that is being put together."""

    level: int
    name: str
    records: int = 0
    label: str = ""
    below: dict[tuple[int, str], _Open] = field(default_factory=dict)

    @property
    def total(self) -> tuple[int, int]:
        """Records and values."""
        if self.level == 0:
            return self.records, 1
        parts = [one.total for one in self.below.values()]
        return sum(n for n, _ in parts), sum(many for _, many in parts)


def few(values: Sequence[Valued], broader: Broader, level: int, listed: bool = False) -> tuple[int, int]:
    """How many categories there are on a level, and how many of them have 1 to 4 records.

    Parameters
    ----------
    values, broader
        As in `branches`.
    level
        From 0.
    listed
        Leave out values that are not listed.

    Examples
    --------
    >>> towns = valued(pl.DataFrame({"town": ["Leeds"] * 9 + ["York"] * 6 + ["Bath"]}), "town")
    >>> few(towns, {"York": ("Other",), "Bath": ("Other",)}, 0), few(towns, {"York": ("Other",), "Bath": ("Other",)}, 1)
    ((3, 1), (2, 0))
    """
    sizes: dict[str, int] = {}
    for one in values:
        if not listed or one.text in broader:
            name = category(one.text, broader.get(one.text, ()), level)
            sizes[name] = sizes.get(name, 0) + one.records
    return len(sizes), sum(n < RARE for n in sizes.values())


def banded(
    data: Any, name: str, points: Sequence[float], labels: Collection[str] | None = None, *, everything: bool = False
) -> Banded:
    """Count a column of numbers in narrow intervals and between cut points.

    Parameters
    ----------
    data, name
        As in `valued`.
    points
        Cut points in rising order; there may be none.
    labels
        Names of the bands; else they are made of the cut points.
    everything
        Tell numbers of fewer than 5 records too.

    Raises
    ------
    DataError
        There is no such column, or it holds no numbers.

    Examples
    --------
    >>> seen = banded(pl.DataFrame({"age": range(20, 80)}), "age", [30, 78])
    >>> [(one.label, one.records) for one in seen.bands]
    [('below 30', 10), ('30 to below 78', 48), ('78 and over', None)]
    """
    table = read_whole(data, "Trying codings")
    column = _present(table.frame, table.codebook, name)
    _refuse_texts(column, name)
    numbers = column.to_frame().select(shortest(pl.col(_VALUE), column.dtype)).to_series().to_numpy()
    missing = table.frame.height - len(numbers)
    finite = numbers[np.isfinite(numbers)]
    names = tuple(labels) if labels else labels_of(points) if points else ("all values",)
    counts = np.bincount(np.searchsorted(np.asarray(points), numbers, side="right"), minlength=len(points) + 1)
    pairs = itertools.pairwise((None, *points, None))
    bands = tuple(
        Interval(said, low, high, _told(int(n), everything))
        for said, (low, high), n in zip(names, pairs, counts, strict=True)
    )
    if not len(finite):
        return Banded((), bands, missing)
    edges = nice_edges(finite, _BARS, whole=column.dtype.is_integer())
    in_bars = np.histogram(np.clip(finite, edges[0], edges[-1]), edges)[0]
    return Banded(tuple(_bars(edges.tolist(), in_bars.tolist(), everything)), bands, missing)


def _bars(edges: Sequence[float], counts: Sequence[int], everything: bool) -> Iterator[Interval]:
    for (low, high), n in zip(itertools.pairwise(edges), counts, strict=True):
        yield Interval(f"{low:.6g} to {high:.6g}".replace("-", "−"), low, high, _told(n, everything))


def cuts(data: Any, name: str, bands: Bands) -> tuple[float, ...]:
    """Cut points as the method `recode` learns them.

    Parameters
    ----------
    data, name
        As in `valued`.
    bands
        How many, and of which sort.

    Raises
    ------
    DataError
        Where no two bands can be made.

    Examples
    --------
    >>> cuts(pl.DataFrame({"age": range(20, 80)}), "age", Bands(n=3))
    (40.0, 60.0)
    """
    table = read_whole(data, "Trying codings")
    column = _column(table.frame, name)
    _refuse_texts(column, name)
    counts = table.frame.select(pl.Series(name, column)).group_by(name).agg(pl.len().alias(COUNT)).sort(name)
    return learned(name, counts, table.codebook, bands, None).points


def private(variable: Variable) -> bool:
    """Whether values are shown only when they are asked for: those of identifiers and ids.

    Examples
    --------
    >>> private(Variable(role="identifier")), private(Variable(role="key"))
    (True, False)
    """
    return variable.role in _PRIVATE


def _refuse_texts(column: pl.Series, name: str) -> None:
    if not column.dtype.is_numeric():
        raise DataError(f"Column {name!r} holds no numbers, so it has no bands. Edit its categories.")


def _told(records: int, everything: bool) -> int | None:
    return records if everything or records >= RARE or records == 0 else None


def _variable(codebook: Codebook, name: str) -> Variable:
    return codebook[name] if name in codebook else Variable()


def _column(frame: pl.DataFrame, name: str) -> pl.Series:
    if name not in frame.columns:
        raise DataError(f"There is no column {name!r}.")
    return frame[name]


def _present(frame: pl.DataFrame, codebook: Codebook, name: str) -> pl.Series:
    """The values that are there."""
    plain = _column(frame, name).alias(_VALUE)  # a name such as `^x$` would be taken for a pattern
    book = Codebook({_VALUE: _variable(codebook, name)})
    return plain.filter(~plain.to_frame().select(book.missing(_VALUE, plain.dtype)).to_series())


def rounded(points: Sequence[float]) -> tuple[int | float, ...]:
    """Cut points as a plan writes them: whole numbers without a point.

    Examples
    --------
    >>> rounded([18.0, 65.5])
    (18, 65.5)
    """
    return tuple(int(p) if float(p).is_integer() and abs(p) < 2**53 and math.isfinite(p) else float(p) for p in points)
