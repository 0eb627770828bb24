"""What SPSS, Stata and SAS files share: their library, their clocks, their codes and their names."""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, Literal

import polars as pl

from sfumato.data.codebook import Scalar, Variable
from sfumato.data.files.prepare import EXACT
from sfumato.data.files.table import about, listed, opening
from sfumato.errors import FileError, MissingExtra

__all__ = [
    "SAS",
    "SPSS",
    "STATA",
    "Clock",
    "Moment",
    "Names",
    "coded",
    "file_code",
    "file_label",
    "file_labels",
    "library",
    "load",
    "number",
    "numbers",
    "renamed",
    "shortened",
    "texts",
    "timeless",
    "verify",
    "whole",
]

Moment = Literal["date", "datetime", "time"]

_MOST_VALUES_PER_BYTE = 1100
"""No compression in these formats packs more values than this into a byte."""
_TIMES = {
    b"$FL": ((92, rb"\d\d \w{3} \d\d\d\d:\d\d:\d\d", b"01 Jan 8000:00:00"),),
    b"<st": ((None, rb"(?<=<timestamp>\x11)[^<]{17}(?=</timestamp></header>)", b"01 Jan 1980 00:00"),),
    b"HEA": tuple((at, rb"\d\d[A-Z]{3}\d\d(:\d\d){3}", b"01JAN80:00:00:00") for at in (144, 160, 464, 480)),
}
"""By how a file of SPSS, Stata or SAS begins: where it says when it was written, how, and what is said instead."""
_DAY = 86_400_000
_YEAR_ONE, _YEAR_9999 = -719_162, 2_932_896
"""First and last day of years 1 to 9999, in days from 1970."""


def library() -> ModuleType:
    """Give pyreadstat.

    Raises
    ------
    MissingExtra
        Where it is not installed.
    """
    try:
        import pyreadstat
    except ImportError:
        raise MissingExtra("SPSS, Stata and SAS files", "files") from None
    return pyreadstat


def load(reader: Callable[..., Any], path: Path, what: str, **options: Any) -> tuple[dict[str, list[Any]], Any]:
    """Read a file into lists of plain values and the library's metadata.

    Parameters
    ----------
    reader
        One of pyreadstat's reading functions.
    path
        The file.
    what
        The format in words, for errors.
    options
        For the reader.

    Raises
    ------
    FileError
        A damaged file, one that declares more values than its size can hold, or duplicated column names.
    """
    with opening(path, what), warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        _, meta = reader(path, metadataonly=True, output_format="dict", **options)
        declared = max(meta.number_rows or 0, 0) * len(meta.column_names)
        if declared > path.stat().st_size * _MOST_VALUES_PER_BYTE:
            raise FileError(f"{str(path)!r} declares more values than it can hold. It is damaged.")
        data, meta = reader(path, disable_datetime_conversion=True, output_format="dict", **options)
    if told:  # The library's one warning is that it renamed a duplicate.
        raise FileError(f"{str(path)!r} has duplicated column names. Give every column a name of its own.")
    return dict(data), meta


def verify(reader: Callable[..., Any], path: Path, sent: pl.DataFrame, padded: bool, **options: Any) -> None:
    """Read a file that was just written and compare it with what was sent.

    The library does not see every failed write: on a full disk it may leave a file that is cut off and say nothing.

    Parameters
    ----------
    reader
        One of pyreadstat's reading functions.
    path
        The file.
    sent
        The columns as they were handed to the library.
    padded
        Whether the format pads text with blanks.
    options
        For the reader.

    Raises
    ------
    FileError
        Where anything differs.
    """
    try:
        data, _ = load(reader, path, "what was written", **options)
    except FileError:
        data = {}
    for column in sent.iter_columns():
        expected = column.str.strip_chars_end(" ") if padded and column.dtype == pl.String else column
        if data.get(column.name) != expected.to_list():
            raise FileError("The file did not come back from the disk as it was written. Is there room on the disk?")


def texts(name: str, values: list[Any]) -> pl.Series:
    """Give a column of text; these formats have no missing text, so empty text is missing.

    Examples
    --------
    >>> texts("a", ["x", ""]).to_list()
    ['x', None]
    """
    return pl.Series(name, values, dtype=pl.String).replace("", None)


def numbers(name: str, values: list[Any]) -> pl.Series:
    """Give a column of doubles, as these formats hold nearly all numbers.

    Examples
    --------
    >>> numbers("a", [1, None]).to_list()
    [1.0, None]
    """
    return pl.Series(name, values, dtype=pl.Float64, strict=False)


def whole(column: pl.Series) -> bool:
    """Tell whether all numbers of a column are whole and small enough to be told apart as doubles.

    Examples
    --------
    >>> import polars as pl
    >>> whole(pl.Series([1.0, None])), whole(pl.Series([1.5]))
    (True, False)
    """
    return bool((column == column.round()).all() and (column.abs() <= EXACT).all())


def number(key: object) -> int | float | None:
    """Give a code as a number, whole where it is; None where it is none.

    Examples
    --------
    >>> number(-9.0), number("2.5"), number("refused")
    (-9, 2.5, None)
    """
    try:
        value = float(key)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return None
    if not math.isfinite(value):
        return None
    return int(value) if value == int(value) else value


@dataclass(frozen=True)
class Clock:
    """How a format counts time.

    Parameters
    ----------
    origin
        Days from 1970-01-01 to the format's day zero.
    date_unit
        Milliseconds in a unit of its dates.
    time_unit
        Milliseconds in a unit of its date-times and times.

    Examples
    --------
    >>> import polars as pl
    >>> stata = Clock(origin=-3653, date_unit=86_400_000, time_unit=1)
    >>> stata.decode(pl.Series([0.0]), "date").to_list()
    [datetime.date(1960, 1, 1)]
    """

    origin: int
    date_unit: int
    time_unit: int

    def decode(self, column: pl.Series, moment: Moment) -> pl.Series | None:
        """Turn numbers into dates, date-times or times of day; None where some of them cannot be.

        Times are taken to the millisecond; dates must be whole days between the years 1 and 9999.
        """
        exact = column * (self.date_unit if moment == "date" else self.time_unit)
        if not exact.is_between(-1e15, 1e15).all():
            return None
        ms = exact.round().cast(pl.Int64)
        if moment == "time":
            return (ms * 1_000_000).cast(pl.Time) if ms.is_between(0, _DAY - 1).all() else None
        ms = ms + self.origin * _DAY
        if not ms.is_between(_YEAR_ONE * _DAY, (_YEAR_9999 + 1) * _DAY - 1).all():
            return None
        if moment == "datetime":
            return (ms * 1000).cast(pl.Datetime("us"))
        return (ms // _DAY).cast(pl.Int32).cast(pl.Date) if (ms % _DAY == 0).all() else None

    def encode(self, column: pl.Series) -> pl.Series:
        """Turn dates, date-times or times of day into numbers."""
        if column.dtype == pl.Date:
            days = column.to_physical().cast(pl.Int64) - self.origin
            return _divided(days * _DAY, self.date_unit)
        if column.dtype == pl.Time:
            return _divided(column.to_physical() // 1_000_000, self.time_unit)
        return _divided(column.to_physical() // 1000 - self.origin * _DAY, self.time_unit)

    def code(self, value: object, moment: Moment) -> str | None:
        """Give a code among dates as text, in the form that the column's values have as text; None if it is none."""
        plain = number(value)
        decoded = None if plain is None else self.decode(pl.Series([float(plain)]), moment)
        return None if decoded is None else str(decoded.cast(pl.String).item())

    def uncode(self, text: object, dtype: pl.DataType) -> float | None:
        """Give the number that `code` turned into text; None where the text is no date of this kind."""
        cell = pl.Series([str(text)])
        if dtype == pl.Date:
            parsed = cell.str.to_date("%Y-%m-%d", strict=False)
        elif dtype == pl.Time:
            parsed = cell.str.to_time("%H:%M:%S%.f", strict=False)
        else:
            parsed = cell.str.to_datetime("%Y-%m-%d %H:%M:%S%.f", time_unit="us", strict=False)
        return None if parsed.null_count() else float(self.encode(parsed).item())


def _divided(whole: pl.Series, unit: int) -> pl.Series:
    """Divide to the nearest double; Polars multiplies by the reciprocal, which may be the one beside it."""
    return pl.Series(whole.name, whole.fill_null(0).to_numpy() / unit).set(whole.is_null(), None)


@dataclass(frozen=True)
class Names:
    """Which column names a format takes.

    Parameters
    ----------
    first
        Regular expression of the first character.
    rest
        Regular expression of the other characters.
    most
        The greatest length.
    in_bytes
        Whether the length is in bytes of UTF-8 rather than in characters.
    reserved
        Regular expression of words that are no names.
    cased
        Whether upper and lower case make different names.
    """

    first: str
    rest: str
    most: int
    in_bytes: bool = False
    reserved: str = ""
    cased: bool = False

    def fitted(self, name: str) -> str:
        """Give the nearest name that the format takes."""
        text = re.sub(rf"(?!{self.rest}).", "_", name, flags=re.DOTALL)
        if not (re.match(self.first, text) and (text[0].isalpha() or text[0] == "_")):  # "¼" matches \w.
            text = "v" + text
        text = _clipped(text, self.most, self.in_bytes)
        if re.fullmatch(self.reserved, text, flags=re.NOFLAG if self.cased else re.IGNORECASE):
            text = _clipped(text, self.most - 1, self.in_bytes) + "_"
        return text


def _clipped(text: str, most: int, in_bytes: bool) -> str:
    return text.encode()[:most].decode(errors="ignore") if in_bytes else text[:most]


def renamed(columns: list[str], rule: Names, suffix: str) -> tuple[dict[str, str], tuple[str, ...]]:
    """Give each column the name that it has in the file, and say which were changed.

    Raises
    ------
    FileError
        Two columns that would have the same name.

    Examples
    --------
    >>> rule = Names(first="[A-Za-z]", rest="[A-Za-z0-9_]", most=8)
    >>> renamed(["age", "body mass"], rule, ".xpt")
    ({'age': 'age', 'body mass': 'body_mas'}, (".xpt files take other names: 'body mass' is written as 'body_mas'.",))
    """
    names = {column: rule.fitted(column) for column in columns}
    first: dict[str, str] = {}
    for column, name in names.items():
        other = first.setdefault(name if rule.cased else name.lower(), column)
        if other != column:
            raise FileError(f"{suffix} files would have one name for {listed([other, column])}. Rename one of them.")
    changed = [f"{old!r} is written as {new!r}" for old, new in names.items() if old != new]
    more = " and others" if len(changed) > 10 else ""
    notes = (f"{suffix} files take other names: {', '.join(changed[:10])}{more}.",) if changed else ()
    return names, notes


def shortened(
    labels: Mapping[str, str | None], most: int, in_bytes: bool, suffix: str
) -> tuple[dict[str, str], tuple[str, ...]]:
    """Give the variable labels that there are, cut to what the format takes, and say which were cut.

    Examples
    --------
    >>> shortened({"age": "Age in years", "sex": None}, 3, False, ".dta")
    ({'age': 'Age'}, (".dta files hold shorter variable labels: column 'age'.",))
    """
    kept = {name: _clipped(text.replace("\0", " "), most, in_bytes) for name, text in labels.items() if text}
    cut = [name for name, text in kept.items() if text != labels[name]]
    return kept, about(f"{suffix} files hold shorter variable labels", cut)


def file_label(label: str | None, most: int, in_bytes: bool, suffix: str) -> tuple[str, tuple[str, ...]]:
    """Give a file's own label, cut to what the format takes, and say whether it was cut.

    Examples
    --------
    >>> file_label("Births of 1958", 6, False, ".dta")
    ('Births', ('.dta files hold a shorter label of the file.',))
    """
    kept = _clipped((label or "").replace("\0", " "), most, in_bytes)
    return kept, () if kept == (label or "") else (f"{suffix} files hold a shorter label of the file.",)


def coded(codes: Mapping[Any, str]) -> dict[Scalar, str]:
    """Give value labels with whole numbers as integers; the library has them as floats.

    Examples
    --------
    >>> coded({1.0: "yes", 2.5: "half", "x": "text"})
    {1: 'yes', 2.5: 'half', 'x': 'text'}
    """
    return {key if isinstance(key, str) else _plain(key): text for key, text in codes.items()}


def _plain(key: int | float) -> int | float:
    value = number(key)
    return key if value is None else value


def file_code(code: object, dtype: pl.DataType, clock: Clock) -> int | float | str | None:
    """Give a code of the codebook as the file holds it; None where the column's type has no such value.

    Examples
    --------
    >>> import polars as pl
    >>> file_code("1960-01-02", pl.Date(), Clock(-3653, 86_400_000, 1)), file_code("-9", pl.Int64(), Clock(0, 1, 1))
    (1.0, -9)
    """
    if dtype == pl.String:
        return str(code)
    if dtype.is_temporal():
        return clock.uncode(code, dtype)
    return number(code)


def file_labels(variable: Variable, dtype: pl.DataType, clock: Clock) -> tuple[dict[Any, str], bool]:
    """Give a variable's value labels, those of its missing codes too, as the file holds them.

    Returns
    -------
    tuple
        The labels, and whether some had a value that the column's type does not have.

    Examples
    --------
    >>> import polars as pl
    >>> file_labels(Variable(labels={1: "yes"}, missing=[{"code": -9, "label": "refused"}]), pl.Int64(), SAS)
    ({-9: 'refused', 1: 'yes'}, False)
    """
    told: dict[Scalar, str] = {m.code: m.label for m in variable.missing if m.code is not None and m.label}
    told |= variable.labels
    found = [(file_code(key, dtype, clock), text) for key, text in told.items()]
    return {key: text for key, text in found if key is not None}, any(key is None for key, _ in found)


SPSS = Clock(origin=-141_428, date_unit=1000, time_unit=1000)
SAS = Clock(origin=-3653, date_unit=_DAY, time_unit=1000)
STATA = Clock(origin=-3653, date_unit=_DAY, time_unit=1)


def timeless(path: Path) -> None:
    """Write over when a file was written: equal releases are equal byte for byte, and tell nothing of the hour."""
    with path.open("r+b") as file:
        head = file.read(1_000)
        for at, form, instead in _TIMES[head[:3]]:
            found = re.search(form, head) if at is None else re.compile(form).match(head, at)
            assert found is not None
            file.seek(found.start())
            file.write(instead)
