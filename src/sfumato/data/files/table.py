"""The value that reading a file gives and writing one takes, and the checks that every format shares."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import polars as pl
import polars.selectors as cs

from sfumato.data.codebook import Codebook
from sfumato.data.files.dialect import USUAL, Dialect
from sfumato.data.files.header import is_blank, is_pattern, named_blanks
from sfumato.errors import DataError, FileError, SfumatoError

__all__ = ["Table", "about", "checked", "checked_names", "finite", "listed", "opening", "peek", "unheld", "unread"]

_FLAT = (pl.Boolean, pl.String, pl.Categorical, pl.Enum, pl.Date, pl.Datetime, pl.Time, pl.Duration, pl.Null)

_FACTS = {
    "label": "variable labels",
    "labels": "value labels",
    "missing": "marks of missing codes (the codes stay as plain values)",
    "unit": "units",
    "range": "ranges",
    "order": "orders of categories",
    "hierarchy": "hierarchies",
    "measure": "measure levels",
    "format": "display formats",
}


@dataclass(frozen=True)
class Table:
    """A table as a file holds it: its values and what the file says about its variables.

    Parameters
    ----------
    frame
        The values. A user-missing code is a value like any other.
    codebook
        One entry for every column, in column order: labels, missing codes, measure level and display format as the
        file tells them; a kind only where the file tells it.
    suffix
        The format that a release of it is written in, `.csv` for instance.
    notes
        Sentences for the user: what was sniffed, what could not be taken over. They hold no data values.
    label
        What the file calls itself, where its format has a label of the whole file. That of an input goes into no
        release: there it is the plan's title.
    dialect
        What a delimited text file is written in.

    Examples
    --------
    >>> import polars as pl
    >>> from sfumato.data.codebook import Codebook
    >>> table = Table(pl.DataFrame({"age": [31, 45]}), Codebook({}).only(["age"]), ".csv")
    >>> table.codebook["age"].labels
    {}
    """

    frame: pl.DataFrame
    codebook: Codebook
    suffix: str
    notes: tuple[str, ...] = ()
    label: str | None = None
    dialect: Dialect = USUAL


def listed(columns: Sequence[str], most: int = 10) -> str:
    """Name columns in a sentence, at most `most` of them.

    Examples
    --------
    >>> listed(["age", "sex"])
    "columns 'age', 'sex'"
    """
    word = "column" if len(columns) == 1 else "columns"
    text = ", ".join(repr(c) for c in columns[:most])
    return f"{word} {text}" + (" and others" if len(columns) > most else "")


def about(words: str, columns: Sequence[str]) -> tuple[str, ...]:
    """Give a note about some columns, or none where there are none.

    Examples
    --------
    >>> about("CSV reads back empty text as missing", ["name"])
    ("CSV reads back empty text as missing: column 'name'.",)
    """
    return (f"{words}: {listed(columns)}.",) if columns else ()


_UNUSABLE: tuple[tuple[Callable[[str], bool], str, str], ...] = (
    (is_blank, "no name", "Give every column a name of its own"),
    (is_pattern, "a name that would stand for several columns, as `*` and `^x$` do", "Rename every such column"),
)


def checked_names(names: Sequence[object], at: Callable[[int], str] | None = None) -> list[str]:
    """Give the column names back if they are texts, all different, none empty and none a pattern of names.

    Parameters
    ----------
    names
        The names.
    at
        Where a file's first line may be a record and no names: says where the column of a number is, so that errors
        quote nothing.

    Raises
    ------
    DataError
        Otherwise.

    Examples
    --------
    >>> checked_names(["a", "b"])
    ['a', 'b']
    """
    if not all(isinstance(n, str) for n in names):
        raise DataError("Every column name must be text. Rename the columns, for instance with str().")
    texts = [str(n) for n in names]
    for unusable_by, said, do in _UNUSABLE:
        if places := [(at or "column {}".format)(j + 1) for j, n in enumerate(texts) if unusable_by(n)]:
            some = f"{', '.join(places[:10])}{' and others' if len(places) > 10 else ''}"
            what = f"{some[0].upper()}{some[1:]} {'has' if len(places) == 1 else 'have'} {said}. {do}"
            raise DataError(f"{what}." if at is None else f"{what}{_offered(texts)}")
    if len(set(texts)) < len(texts):
        twice = list(dict.fromkeys(n for n in texts if texts.count(n) > 1))
        which = listed(twice) if at is None else ", ".join(at(j + 1) for j, n in enumerate(texts) if n in twice)
        raise DataError(f"Duplicated column names: {which}. Give every column a name of its own.")
    return texts


def _offered(names: Sequence[str]) -> str:
    """What else to do about names that cannot be used, where a file has places for its columns."""
    called = [new for old, new in zip(names, named_blanks(names), strict=True) if is_blank(old) or is_pattern(old)]
    them = f"it {called[0]}" if len(called) == 1 else f"them {', '.join(called[:3])}{' ...' if called[3:] else ''}"
    return f", or state --name-blank, which calls {them} (in Python name_blank=True)."


def finite(frame: pl.DataFrame) -> pl.DataFrame:
    """Give the frame back with NaN as null.

    Raises
    ------
    DataError
        Where a column holds an infinite value; names the columns.

    Examples
    --------
    >>> import polars as pl
    >>> finite(pl.DataFrame({"a": [1.0, float("nan")]}))["a"].to_list()
    [1.0, None]
    """
    floats = [name for name, dtype in frame.schema.items() if dtype.is_float()]
    if not floats:
        return frame
    found = frame.select(cs.float().is_infinite().any()).row(0)
    infinite = [name for name, bad in zip(floats, found, strict=True) if bad]
    if infinite:
        raise DataError(f"Infinite values in {listed(infinite)}. Replace them by missing values or by finite ones.")
    return frame.with_columns(cs.float().fill_nan(None))


def checked(frame: pl.DataFrame) -> pl.DataFrame:
    """Give a frame that was read in the form that the rest of the system relies on.

    NaN becomes null, and a column without any type (all null) becomes text.

    Raises
    ------
    DataError
        No columns or no rows; names that are empty or duplicated; infinite values; columns that hold lists, records,
        bytes or Python objects.

    Examples
    --------
    >>> import polars as pl
    >>> checked(pl.DataFrame({"a": [None, None]})).schema["a"]
    String
    """
    checked_names(frame.columns)
    if nested := unread(frame.schema):
        raise DataError(f"{listed(nested).capitalize()}: lists, records, bytes or objects. Only flat columns are read.")
    if not frame.width or not frame.height:
        raise DataError("The table has no rows. A table needs a header and at least one row.")
    return finite(frame.with_columns(pl.col(pl.Null).cast(pl.String)))


def unread(schema: Mapping[str, pl.DataType]) -> list[str]:
    """Columns whose values are not flat.

    Examples
    --------
    >>> import polars as pl
    >>> unread(pl.Schema({"a": pl.List(pl.Int64())}))
    ['a']
    """
    return [n for n, t in schema.items() if not (t.is_numeric() or isinstance(t, _FLAT))]


def unheld(codebook: Codebook, held: Sequence[str], suffix: str) -> tuple[str, ...]:
    """Say which facts of a codebook a format cannot hold.

    Parameters
    ----------
    codebook
        What is known about the columns that are written.
    held
        Names of the fields of `Variable` that the format holds.
    suffix
        The format, for the sentence.

    Returns
    -------
    tuple of str
        One sentence for each kind of fact that is set for some column and not held.

    Examples
    --------
    >>> from sfumato.data.codebook import Codebook, Variable
    >>> unheld(Codebook({"age": Variable(unit="years")}), ("label",), ".sav")
    (".sav files hold no units: column 'age'.",)
    """
    notes: tuple[str, ...] = ()
    for fact, words in _FACTS.items():
        columns = [name for name, variable in codebook.items() if fact not in held and getattr(variable, fact)]
        notes += about(f"{suffix} files hold no {words}", columns)
    return notes


def peek(path: Path, size: int = 1024) -> bytes:
    """Read the first bytes of a file.

    Raises
    ------
    FileError
        A missing file, a folder, something that is no file, an empty file, no permission.
    """
    with opening(path):
        if not path.exists():
            raise FileError(f"There is no file {str(path)!r}.")
        if path.is_dir():
            raise FileError(f"{str(path)!r} is a folder. Give the path of a file in it.")
        if not path.is_file():
            raise FileError(f"{str(path)!r} is not an ordinary file.")
        with path.open("rb") as file:
            head = file.read(size)
    if not head:
        raise FileError(f"{str(path)!r} is empty.")
    return head


@contextmanager
def opening(path: Path, what: str = "a file") -> Iterator[None]:
    """Turn whatever a library raises while it reads `path` into a `FileError` that holds none of its text.

    A library's message may quote cells of the table, so only the kind of fault is told.
    """
    try:
        yield
    except SfumatoError:
        raise
    except PermissionError:
        raise FileError(f"{str(path)!r} cannot be read: no permission.") from None
    except OSError as error:
        # Libraries put their own words into an OSError without a number; the system's words are safe.
        reason = error.strerror if error.errno else "the system refused"
        raise FileError(f"{str(path)!r} cannot be read: {reason}.") from None
    except MemoryError:
        raise FileError(f"{str(path)!r} does not fit into memory.") from None
    except (Exception, pl.exceptions.PanicException) as error:
        if isinstance(error, UnicodeError) or "requested encoding" in str(error):
            message = f"{str(path)!r}: its text is in another encoding. State the encoding, for instance cp1252."
            raise FileError(message) from None
        message = f"{str(path)!r} cannot be read as {what}: it is damaged, or its name says another format than it has."
        raise FileError(message) from None
