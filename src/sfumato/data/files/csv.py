"""Comma-separated values, and their cousins with semicolons, tabs or bars."""

from __future__ import annotations

import codecs
import csv
import io
import re
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import IO, Any, Literal

import polars as pl

from sfumato.data.codebook import Codebook
from sfumato.data.files.atomic import replacing
from sfumato.data.files.decimals import Decimal, Decimals, sniff_decimal
from sfumato.data.files.dialect import Dialect, registered
from sfumato.data.files.header import holds_names, looks_like_a_record, named_blanks, numbered_names, refused_header
from sfumato.data.files.infer import infer, infer_columns
from sfumato.data.files.prepare import refuse_zero_characters
from sfumato.data.files.sniff import DELIMITERS, decode, divides_below, sniff_delimiter
from sfumato.data.files.table import Table, about, checked, checked_names, finite, opening, peek, unheld
from sfumato.errors import DataError, FileError

__all__ = ["read_csv", "write_csv"]

_SAMPLE = 1 << 16
_AT_ONCE = 16
"""Columns whose type is found at once."""
_BLOCK = 1 << 24
_ROWS = 1 << 16
"""Rows that are put into another encoding at once."""
_GUESSED = (
    "{file}: the encoding {encoding} is a guess. Where letters such as accents are wrong in names or categories, state "
    "--encoding: cp1252 (Western Europe), cp1250 (Central Europe), cp1251 (Cyrillic), cp1253 (Greek), cp1254 (Turkish)."
)
_EITHER = (
    'Whether these numbers have decimal places or separators of thousands cannot be told; state --decimal "." or '
    '--decimal ","'
)
_OTHER_LETTERS = (
    "The CSV file is written in UTF-8: it holds letters that {encoding}, the encoding of the input, does not have."
)
_HEADER_ONLY = "there is a header only. A table needs at least one row."


def read_csv(
    path: Path,
    delimiter: str | None = None,
    encoding: str | None = None,
    decimal: str | None = None,
    header: bool | None = None,
    skip_rows: int = 0,
    name_blank: bool = False,
) -> Table:
    """Read a delimited text file.

    Encoding, delimiter and decimal sign are sniffed where they are not given, and told in the notes. An empty field is
    missing, quoted or not. Types are inferred as `sfumato.data.files.infer.infer` says.

    Parameters
    ----------
    path
        The file.
    delimiter
        Comma, semicolon, vertical bar or tab (the word `tab` too).
    encoding
        Any name that Python knows.
    decimal
        Point or comma.
    header
        Whether the first line holds the names of the columns; without names they are `c1`, `c2` and so on. Where it is
        not given there are names, and a first line that looks like a record is refused.
    skip_rows
        How many lines stand above the table.
    name_blank
        Whether columns whose name is blank, `*` or like `^x$` are called by their place, `c8` for instance; else they
        are refused.

    Raises
    ------
    FileError
        A file that is missing, empty, binary, in another encoding, with a header only, with lines of unequal numbers
        of fields, or with quotes that are not closed; a delimiter or decimal sign that is not allowed.
    DataError
        A first line that looks like a record; column names that are empty or duplicated; infinite values.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = (Path(folder) / "a.csv").write_text("id;height\\n007;1,75\\n")
    ...     table = read_csv(Path(folder) / "a.csv")
    >>> table.frame.row(0)
    ('007', 1.75)
    """
    delimiter = "\t" if delimiter in ("tab", "\\t") else delimiter  # As a command line gives a tab.
    if delimiter is not None and delimiter not in DELIMITERS:
        raise FileError(f"The delimiter {delimiter!r} is not known. Allowed: ',', ';', '|' and 'tab'.")
    if decimal is not None and decimal not in (".", ","):
        raise FileError(f"The decimal sign {decimal!r} is not known. Allowed: '.' and ','.")
    peek(path)
    with opening(path, "a delimited text file"):
        data, told, doubts = _decoded(path, encoding)
        data = _below(path, data, skip_rows)
        sign = delimiter or _sniffed(path, _beginning(data))
        columns, unsure = _cells(path, data, sign, header, skip_rows, name_blank)
        del data
        decimals = _decimals(columns, sign, decimal)
        typed: list[tuple[pl.Series, tuple[str, ...]]] = []
        while columns:  # texts take several times the memory of what they stand for: some columns at once
            typed += infer_columns(columns[:_AT_ONCE], decimals.sign, decimals.certain)
            del columns[:_AT_ONCE]
        frame = checked(pl.DataFrame([column for column, _ in typed]))
    notes = _how(path, (told, encoding, not doubts), (DELIMITERS[sign], delimiter, True), _point(decimals, decimal))
    notes += doubts
    notes += about(_EITHER, decimals.unsure) + unsure + tuple(note for _, said in typed for note in said)
    # In a file of one column no sign divides anything; a comma would be taken for one where it is the decimal sign.
    sign = ";" if frame.width == 1 and decimals.sign == "," == sign else sign
    dialect = Dialect(sign, decimals.sign, registered(told))
    return Table(frame, Codebook().only(frame.columns), ".csv", notes, dialect=dialect)


def _decimals(columns: list[pl.Series], delimiter: str, given: str | None) -> Decimals:
    if given is not None:
        return Decimals("," if given == "," else ".", certain=True)
    # Between commas, a comma in a number could be a separator of thousands: only a point is looked for.
    found = sniff_decimal(columns)
    return found if delimiter != "," else Decimals(certain=found.certain and found.sign == ".")


def _point(found: Decimals, given: str | None) -> tuple[str, str | None, bool]:
    return {".": "point", ",": "comma"}[found.sign], given, not found.unsure


def _how(path: Path, *facts: tuple[str, str | None, bool]) -> tuple[str, ...]:
    told = [f"{found} ({'given' if given else 'found' if sure else 'guessed'})" for found, given, sure in facts]
    return (f"{path.name}: encoding {told[0]}, delimiter {told[1]}, decimal {told[2]}.",)


def _decoded(path: Path, encoding: str | None) -> tuple[bytes, str, tuple[str, ...]]:
    """Give the text, the name of its encoding, and what is doubtful of that."""
    try:
        data, told, sure = decode(path.read_bytes(), encoding)
    except FileError as error:
        raise FileError(f"{str(path)!r}: {error}") from None
    if not data or data.isspace():
        raise FileError(f"{str(path)!r} is empty.")
    return data, told, () if sure else (_GUESSED.format(file=path.name, encoding=told),)


def _sniffed(path: Path, text: str) -> str:
    sign = sniff_delimiter(text)
    if divides_below(text):
        raise FileError(
            f"{str(path)!r}: the first line is not divided into fields as lines below it are. Skip what stands above "
            "the table (--skip-rows, in Python skip_rows), or state the delimiter."
        )
    return sign


def _below(path: Path, data: bytes, lines: int) -> bytes:
    """Give what stands below the first lines."""
    if lines < 0:
        raise FileError("The number of lines to skip must be 0 or more.")
    ends = islice(re.finditer(rb"\r\n?|\n", data), lines - 1, lines) if lines else iter(())
    below = data[end.end() :] if (end := next(ends, None)) else b"" if lines else data
    if not below.strip():
        raise FileError(f"{str(path)!r} has no lines below the {lines} that are skipped.")
    return below


def _beginning(data: bytes) -> str:
    """Give the first lines as text, whole ones where the file goes on."""
    text = data[:_SAMPLE].decode(errors="ignore")
    if len(data) > _SAMPLE:
        text = text[: max(text.rfind("\n"), text.rfind("\r")) + 1] or text
    return text


def _cells(
    path: Path, data: bytes, delimiter: str, header: bool | None, skipped: int, name_blank: bool
) -> tuple[list[pl.Series], tuple[str, ...]]:
    """Divide the text into named columns of texts, null where a field is empty; with what is doubtful of the names."""
    first = _first_line(path, data, delimiter)
    numbered = numbered_names(len(first))
    named = header is not False or first == numbered  # As sfumato itself writes a table that had no names.
    frame = _divided(path, data, delimiter, len(first), named, skipped)
    unsure: tuple[str, ...] = ()
    if header is not True and first != numbered:
        below = frame if named else frame[1:]
        record = looks_like_a_record(first, below, _alone_quoted(data, delimiter))
        if named and record:
            raise refused_header(path.name)
        if not named and below.height and holds_names(first, below):
            unsure = (f"{path.name}: the first line looks like names of columns and is read as a record, as stated.",)
    first = named_blanks(first) if name_blank else first
    names = checked_names(first, "column {}".format) if named else numbered
    return [column.rename(name) for column, name in zip(frame.iter_columns(), names, strict=True)], unsure


def _divided(path: Path, data: bytes, delimiter: str, width: int, named: bool, skipped: int) -> pl.DataFrame:
    arrow: Any = import_module("pyarrow")
    arrow_csv: Any = import_module("pyarrow.csv")
    numbered = [str(j) for j in range(width)]
    body = data.lstrip(b"\r\n")
    if width == 1:
        body = body.rstrip(b"\r\n")  # Elsewhere an empty line is no row; in a single column it is a missing value.
    try:
        table = arrow_csv.read_csv(
            arrow.BufferReader(body),
            arrow_csv.ReadOptions(
                use_threads=False, column_names=numbered, skip_rows_after_names=int(named), block_size=_BLOCK
            ),
            arrow_csv.ParseOptions(delimiter=delimiter, newlines_in_values=True, ignore_empty_lines=width > 1),
            arrow_csv.ConvertOptions(
                column_types=dict.fromkeys(numbered, arrow.large_string()),
                strings_can_be_null=True,
                quoted_strings_can_be_null=True,
                null_values=[""],
            ),
        )
    except arrow.ArrowInvalid:
        fault = _scan(data, delimiter, width, skipped)
        fault = fault or f"a line is longer than {_BLOCK >> 20} MB. Is a quote not closed?"
        raise FileError(f"{str(path)!r}: {fault}") from None
    # The library takes an unclosed quote for text up to the end of the file. Then their number is odd.
    if data.count(b'"') % 2 and (fault := _scan(data, delimiter, width, skipped)):
        raise FileError(f"{str(path)!r}: {fault}")
    if not table.num_rows:
        raise FileError(f"{str(path)!r}: {_HEADER_ONLY}")
    held = table.columns
    del table
    frame: list[pl.Series] = []
    while held:  # some at once, so that the table never stands in memory twice
        frame += [pl.Series(str(len(frame) + j), pl.from_arrow(text)) for j, text in enumerate(held[:_AT_ONCE])]
        del held[:_AT_ONCE]
        arrow.default_memory_pool().release_unused()
    return pl.DataFrame(frame)


def _alone_quoted(data: bytes, delimiter: str) -> bool:
    """Tell whether the first line quotes every field and the second does not, as names stand above numbers."""
    lines = data.lstrip(b"\r\n")[:_SAMPLE].decode(errors="ignore").splitlines()[:2]
    field = rf'"[^"]*"(?:{re.escape(delimiter)}"[^"]*")*'
    return len(lines) == 2 and bool(re.fullmatch(field, lines[0])) and not re.fullmatch(field, lines[1])


def _first_line(path: Path, data: bytes, delimiter: str) -> list[str]:
    text = data.lstrip(b"\r\n")[: 1 << 22].decode(errors="ignore")
    try:
        return next(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter))
    except csv.Error:
        raise FileError(f"{str(path)!r}: the first line is badly quoted.") from None


def _scan(data: bytes, delimiter: str, width: int, skipped: int) -> str | None:
    """Find the first line that is not as it should be, and say which by its number in the file only."""
    reader = csv.reader(io.TextIOWrapper(io.BytesIO(data), "utf-8", newline=""), delimiter=delimiter, strict=True)
    start, rows = 1 + skipped, 0
    try:
        for row in reader:
            rows += bool(row)
            if row and len(row) != width:
                return (
                    f"line {start} has another number of fields than the first ({width}). Mend the line, state the "
                    "delimiter, or skip what stands above the table (--skip-rows, in Python skip_rows)."
                )
            start = reader.line_num + 1 + skipped
    except csv.Error as error:
        if "field limit" in str(error):  # Of that module only: not a fault of the file.
            return None
        return f"line {start} is badly quoted. Close every quote, and double those within a quoted field."
    return _HEADER_ONLY if rows < 2 else None


def write_csv(table: Table, path: str | Path) -> tuple[str, ...]:
    """Write a table in its dialect: numbers in full precision, `true` and `false`, dates as ISO 8601.

    Where its encoding lacks a letter of the table, the file is written in UTF-8, and a note says so.

    Reading gives back equal numbers, dates and texts, apart from what CSV cannot tell: an empty text and a missing
    value are the same field, and a text that looks like a number, a date or a truth value reads back as one (a note
    names its column).

    A spreadsheet may take a text that begins with `=`, `+`, `-` or `@` for a formula when it opens a CSV file. CSV
    has no way to prevent that and the values are written as they are; write .xlsx for spreadsheets.

    Returns
    -------
    tuple of str
        What the file does not hold.

    Raises
    ------
    FileError
        A path that cannot be written to, or text with zero characters.
    DataError
        Infinite values.
    """
    frame = finite(table.frame)
    checked_names(frame.columns)
    refuse_zero_characters(frame, ".csv")
    frame = frame.with_columns(pl.col(pl.Categorical, pl.Enum).cast(pl.String))
    dialect = table.dialect.holding(frame)
    with replacing(path) as temporary, temporary.open("wb") as file:
        _write(frame, file, dialect)
    other = (_OTHER_LETTERS.format(encoding=table.dialect.encoding),) if dialect != table.dialect else ()
    return other + _lost(frame, dialect) + unheld(table.codebook.only(frame.columns), (), ".csv")


def _write(frame: pl.DataFrame, file: IO[bytes], dialect: Dialect) -> None:
    how: dict[str, Any] = {"separator": dialect.delimiter, "decimal_comma": dialect.decimal == ","}
    if frame.width == 1:
        # A row whose only field is missing would be an empty line, which most readers skip.
        how |= {"null_value": '""', "quote_style": _around(frame.to_series())}
    if dialect.encoding == "utf-8":
        frame.write_csv(file, **how)
        return
    encoder = codecs.getincrementalencoder(dialect.encoding)()  # A mark of the order of bytes stands once.
    for i, rows in enumerate(frame.iter_slices(_ROWS)):
        file.write(encoder.encode(rows.write_csv(include_header=not i, **how)))
    file.write(encoder.encode("", final=True))


def _around(column: pl.Series) -> Literal["necessary", "non_numeric"]:
    """Texts with a delimiter are quoted in a file of one column, where nothing else tells what divides its fields."""
    other = column.dtype == pl.String and column.str.contains(r"[,;\t|]").any()
    return "non_numeric" if other else "necessary"


def _lost(frame: pl.DataFrame, dialect: Dialect) -> tuple[str, ...]:
    untyped = [n for n, t in frame.schema.items() if isinstance(t, pl.Time | pl.Duration) or _zoned(t)]
    texts = [column for column in frame.iter_columns() if column.dtype == pl.String]
    # A file of one column may be taken for a continental one, with decimal commas.
    decimals: tuple[Decimal, ...] = (".", ",") if frame.width == 1 else (dialect.decimal,)
    alike = [column.name for column in texts if any(_looks_typed(column, sign) for sign in decimals)]
    blank = [column.name for column in texts if (column == "").any()]
    notes = about("CSV reads back times, durations and time zones as text", untyped)
    notes += about("CSV cannot tell text that looks like numbers, dates or truth values", alike)
    return notes + about("CSV reads back empty text as missing", blank)


def _zoned(dtype: pl.DataType) -> bool:
    return isinstance(dtype, pl.Datetime) and dtype.time_zone is not None


def _looks_typed(column: pl.Series, decimal: Decimal) -> bool:
    try:
        return infer(column.replace("", None), decimal, certain=True)[0].dtype != pl.String
    except DataError:
        return True
