"""A small picture of one column, as figures: how its values are spread, without showing whose they are."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.api.read import read_whole
from sfumato.data.codebook import Codebook, Scalar, Variable
from sfumato.data.extended import shown
from sfumato.data.hierarchy import as_texts, text_of
from sfumato.data.roles import IDS, Kind, Role

__all__ = ["RARE", "Bar", "Gaps", "Sketch", "gaps", "sketch"]

RARE = 5
"""Categories of fewer records are not shown by themselves, unless that is asked for."""
_BARS = 12
_MOST = 200
_MOST_IDS = 20
_HEAD = 1_000
_PRIVATE = frozenset({*IDS, Role.IDENTIFIER})
_VALUE = "value"


@dataclass(frozen=True, slots=True)
class Bar:
    """A category, or an interval of numbers or dates, and how many records have it.

    Parameters
    ----------
    label
        In words.
    records
        How many; None where there are fewer than `RARE`.
    """

    label: str
    records: int | None


@dataclass(frozen=True, slots=True)
class Sketch:
    """How the values of a column are spread.

    Parameters
    ----------
    form
        `histogram` of numbers or dates, `bars` of categories, `masked` where values are not shown, `nothing` where
        there is no value.
    bars
        Intervals in their order; categories by their number of records, those with an order in that.
    others
        Number of categories of fewer than `RARE` records, which are not among the bars.
    further
        Number of larger categories that are not among the bars, since there are too many.
    different
        Number of different values; of a histogram 0, for nobody counted them.
    first
        Of masked values the letter that most of them begin with; empty where hardly any begin alike.
    missing
        Number of records without a value.
    """

    form: Literal["histogram", "bars", "masked", "nothing"]
    bars: tuple[Bar, ...] = ()
    others: int = 0
    further: int = 0
    different: int = 0
    first: str = ""
    missing: int = 0


@dataclass(frozen=True, slots=True)
class Gaps:
    """Which values of a column its hierarchy does not list.

    Parameters
    ----------
    values
        Those that at least `RARE` records have, or all of them where that is asked for; at most 200.
    others
        Number of the others.
    """

    values: tuple[str, ...]
    others: int

    @property
    def complete(self) -> bool:
        """Whether it lists them all."""
        return not (self.values or self.others)


def sketch(data: Any, name: str, variable: Variable, *, everything: bool = False) -> Sketch:
    """Show how the values of one column are spread.

    It is for the custodian's own screen, at which others may look: identifiers and free texts are masked, categories
    of fewer than 5 records are counted together, intervals with fewer than 5 records say that alone, and the two
    outermost intervals are open where single values lie far out. It is no release: numbers of records are exact, and
    differences between two sketches may tell of single records.

    Parameters
    ----------
    data
        What `read` gives or takes.
    name
        The column.
    variable
        What is known about it: by role and kind it is masked, a histogram or bars; its missing codes are no values.
    everything
        Show what is masked and what is rare too: of categories the 200 most frequent, of identifiers 20.

    Returns
    -------
    Sketch

    Raises
    ------
    DataError
        There is no such column.

    Examples
    --------
    >>> import polars as pl
    >>> towns = pl.DataFrame({"town": ["Leeds"] * 9 + ["York"] * 6 + ["Bath"]})
    >>> drawn = sketch(towns, "town", Variable(role="key", kind="categorical"))
    >>> [(bar.label, bar.records) for bar in drawn.bars], drawn.others
    ([('Leeds', 9), ('York', 6)], 1)
    """
    values, missing = _present(read_whole(data, "Drawing a column")[name], variable)
    if values.is_empty():
        return Sketch("nothing", missing=missing)
    if variable.role in _PRIVATE or variable.kind == Kind.TEXT:
        return _masked(values, variable, missing, everything)
    if values.dtype.is_temporal() and values.dtype not in (pl.Time, pl.Duration):
        return Sketch("histogram", _dates(values, everything), missing=missing)
    if values.dtype.is_numeric() and variable.kind not in (Kind.CATEGORICAL, Kind.ORDINAL) and _many(values):
        return Sketch("histogram", _histogram(values, everything), missing=missing)
    if variable.kind == Kind.DATE:
        return _masked(values, variable, missing, everything)
    return _categories(values, variable, missing, everything)


def gaps(data: Any, name: str, variable: Variable, *, everything: bool = False) -> Gaps | None:
    """Tell which values of a column its hierarchy does not list.

    Parameters
    ----------
    data, name
        As in `sketch`.
    variable
        With its hierarchy.
    everything
        Name values of fewer than 5 records too.

    Returns
    -------
    Gaps or None
        None where it has no hierarchy.

    Examples
    --------
    >>> import polars as pl
    >>> towns = pl.DataFrame({"town": ["Leeds"] * 9 + ["York"] * 6 + ["Bath"]})
    >>> gaps(towns, "town", Variable(hierarchy={"Leeds": ["North"]}))
    Gaps(values=('York',), others=1)
    """
    if not variable.hierarchy:
        return None
    values, _ = _present(read_whole(data, "Drawing a column")[name], variable)
    texts = values.to_frame().select(as_texts(pl.col(_VALUE), values.dtype)).to_series()
    listed = {text_of(leaf) for leaf in variable.hierarchy}
    counts = [(str(text), int(n)) for text, n in texts.value_counts(sort=True).iter_rows() if text not in listed]
    named = sorted(text for text, n in counts if everything or n >= RARE)[:_MOST]
    return Gaps(tuple(named), len(counts) - len(named))


def _present(column: pl.Series, variable: Variable) -> tuple[pl.Series, int]:
    """The values, and how many records have none."""
    plain = column.alias(_VALUE)  # a name such as `^x$` would be taken for a pattern
    missing = plain.to_frame().select(Codebook({_VALUE: variable}).missing(_VALUE, plain.dtype)).to_series()
    empty = int(missing.sum())
    return (plain.filter(~missing) if empty else plain), empty


def _many(values: pl.Series) -> bool:
    """Whether numbers are too many for a bar each."""
    return values.head(_HEAD).n_unique() > _BARS or values.n_unique() > _BARS


def _told(records: int, everything: bool) -> int | None:
    return records if everything or records >= RARE or records == 0 else None


def _histogram(values: pl.Series, everything: bool) -> tuple[Bar, ...]:
    """Numbers between round edges; the outermost intervals are open where single values lie far out."""
    numbers = values.cast(pl.Float64).to_numpy()
    low, high = (float(x) for x in np.quantile(numbers, (0.01, 0.99)))
    edges = _edges(low, high, values.dtype.is_integer())
    counts = np.histogram(np.clip(numbers, edges[0], edges[-1]), edges)[0]
    bars = [
        Bar(f"{_short(a)} to {_short(b)}", _told(int(n), everything))
        for a, b, n in zip(edges, edges[1:], counts, strict=False)
    ]
    if (numbers < edges[0]).any():
        bars[0] = Bar(f"below {_short(edges[1])}", bars[0].records)
    if (numbers > edges[-1]).any():
        bars[-1] = Bar(f"{_short(edges[-2])} and above", bars[-1].records)
    return tuple(bars)


def _edges(low: float, high: float, whole: bool) -> NDArray[np.float64]:
    """Round numbers in equal steps around an interval, at most two more than there should be bars."""
    span = high - low
    rough = span / _BARS if span > 0 else max(abs(low), 1.0) / _BARS
    power = 10.0 ** math.floor(math.log10(rough))
    width = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= rough * (1 - 1e-9))
    width = max(width, 1.0) if whole else width
    first, last = math.floor(low / width), math.floor(high / width) + 1
    return np.arange(first, last + 1, dtype=np.float64) * width


def _short(number: float) -> str:
    text = f"{number:.6g}"
    return (f"{int(number):,}" if float(number).is_integer() and abs(number) < 1e9 else text).replace("-", "−")


def _dates(values: pl.Series, everything: bool) -> tuple[Bar, ...]:
    """Dates by months, years or several years."""
    years = values.dt.year()
    first, last = (int(x) for x in np.quantile(years.to_numpy(), (0.01, 0.99)).round())
    if last - first < 1:
        months = values.dt.strftime("%Y-%m").value_counts().sort(_VALUE)
        return tuple(Bar(str(month), _told(int(n), everything)) for month, n in months.iter_rows())
    width = next(w for w in (1, 2, 5, 10, 20, 50, 100, 500, 1000, 10000) if (last - first) / w <= _BARS)
    begin, end = first // width * width, last // width * width
    counts = dict((years.clip(begin, end) // width * width).value_counts().iter_rows())
    bars = []
    for year in range(begin, end + 1, width):
        label = str(year) if width == 1 else f"{year} to {year + width - 1}"
        bars.append(Bar(label, _told(int(counts.get(year, 0)), everything)))
    if (years < begin).any():
        bars[0] = Bar(f"{begin + width - 1} and before", bars[0].records)
    if (years > end + width - 1).any():
        bars[-1] = Bar(f"{end} and after", bars[-1].records)
    return tuple(bars)


def _masked(values: pl.Series, variable: Variable, missing: int, everything: bool) -> Sketch:
    """How many different values there are, and what most of them begin with."""
    texts = values.head(_HEAD).to_frame().select(as_texts(pl.col(_VALUE), values.dtype)).to_series()
    first, n = texts.str.head(1).value_counts(sort=True).row(0)
    different = values.n_unique()
    bars = tuple(_named(_counted(values)[:_MOST_IDS], variable)) if everything else ()
    further = different - len(bars) if everything else 0
    letter = str(first) if n >= RARE and different >= RARE else ""
    return Sketch("masked", bars, further=further, different=different, first=letter, missing=missing)


def _categories(values: pl.Series, variable: Variable, missing: int, everything: bool) -> Sketch:
    """Categories that enough records have, and how many others there are."""
    counted = _counted(values)
    shown_ones = [(value, n) for value, n in counted if everything or n >= RARE]
    most = shown_ones[: _MOST if everything else _BARS]
    if variable.order:
        place = {text_of(value): i for i, value in enumerate(variable.order)}
        most.sort(key=lambda pair: place.get(text_of(pair[0]), len(place)))
    bars = tuple(_named(most, variable))
    others, further = len(counted) - len(shown_ones), len(shown_ones) - len(bars)
    return Sketch("bars", bars, others, further, len(counted), missing=missing)


def _counted(values: pl.Series) -> list[tuple[Any, int]]:
    """Values by their number of records, the most frequent first, then by their texts."""
    plain = values.cast(pl.String) if values.dtype in (pl.Categorical, pl.Enum) else values
    pairs = [(value, int(n)) for value, n in plain.value_counts().iter_rows()]
    return sorted(pairs, key=lambda pair: (-pair[1], text_of(pair[0])))


def _named(pairs: Sequence[tuple[Any, int]], variable: Variable) -> list[Bar]:
    labels: Mapping[Scalar, str] = variable.labels
    named = []
    for value, n in pairs:
        text, label = text_of(shown(value)), labels.get(value) if isinstance(value, bool | int | float | str) else None
        named.append(Bar(f"{text} = {label}" if label else text, n))
    return named
