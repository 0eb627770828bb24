"""Whether the first line of a table holds the names of its columns, or the first record.

A first record that is taken for names would be shown to everybody. A record is like the records below it, so a first
line is taken for one where it is like the values of its columns: a number above numbers, a date above dates, a value
that stands in its column again, a code of the same form. One cell that is unlike all values of its column, such as a
word above numbers, makes it a line of names.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Literal

import polars as pl

from sfumato.data.files.infer import MISSING_MARKS
from sfumato.errors import DataError

__all__ = [
    "NUMBERED",
    "holds_names",
    "is_blank",
    "is_pattern",
    "looks_like_a_record",
    "named_blanks",
    "numbered_names",
    "refused_header",
]

NUMBERED = "c"
"""What names of columns without names begin with."""

_SAMPLE = 1_000
_FEW_COLUMNS = 100
_NEARLY_ALL = 0.95
_SELDOM = 0.05
_NUMBER = (
    r"^[+-]?(?:[0-9]+[.,]?[0-9]*|[.,][0-9]+)(?:[eE][+-]?[0-9]+)?%?$|"
    r"^[+-]?[0-9]{1,3}(?:[.,' \x{00a0}\x{202f}][0-9]{3})+(?:[.,][0-9]+)?%?$|^[+-]?(?i:inf|infinity)$"
)
_FORMS = (
    _NUMBER,
    r"^[0-9]{1,4}([-/.])[0-9]{1,2}[-/.][0-9]{1,4}(?:[T ].*)?$",  # dates
    r"^(?i:true|false)$",
    r"^[^@\s]+@[^@\s]+\.[A-Za-z]{2,}$",  # e-mail addresses
    r"^[+(]?[0-9][0-9 ()/:.-]{4,}$",  # telephone numbers, times of day and others of digits alone
)
_LETTER, _DIGIT = r"\p{L}", r"[0-9]"
_SHORTEST_CODE = 4

_Like = Literal["value", "name"]


def numbered_names(width: int) -> list[str]:
    """Give the names of columns that have none: `c1`, `c2` and so on.

    Examples
    --------
    >>> numbered_names(3)
    ['c1', 'c2', 'c3']
    """
    return [f"{NUMBERED}{j + 1}" for j in range(width)]


def is_blank(name: str) -> bool:
    """Whether a name shows nothing.

    Examples
    --------
    >>> is_blank(" "), is_blank("x")
    (True, False)
    """
    return not name.strip()


def is_pattern(name: str) -> bool:
    """Whether a name would be taken for a pattern of names where columns are asked for by name.

    Examples
    --------
    >>> is_pattern("*"), is_pattern("^x$"), is_pattern("x*")
    (True, True, False)
    """
    return name == "*" or (name.startswith("^") and name.endswith("$"))


def named_blanks(names: Sequence[str]) -> list[str]:
    """Call each column whose name is blank or a pattern by its place, or by another free name where one has that.

    Examples
    --------
    >>> named_blanks(["a", "", "*", "c3"])
    ['a', 'c2', 'c3_2', 'c3']
    """
    taken, told = set(names), []
    for name, numbered in zip(names, numbered_names(len(names)), strict=True):
        free = (numbered, *(f"{numbered}_{i}" for i in range(2, len(names) + 2)))
        told.append(next(n for n in free if n not in taken) if is_blank(name) or is_pattern(name) else name)
        taken.add(told[-1])
    return told


def refused_header(file: str) -> DataError:
    """Give the error for a first line that looks like a record; it quotes none of it."""
    return DataError(
        f"{file}: the first line looks like a record and not like names of columns. If it is a record, state "
        f"--no-header: columns are then called {NUMBERED}1, {NUMBERED}2 and so on. If it does hold the names, state "
        "--header. If the table begins further down, state how many lines to skip: --skip-rows. In Python: "
        "header=False, header=True, skip_rows=..."
    )


def looks_like_a_record(first: Sequence[str], body: pl.DataFrame, quoted: bool = False) -> bool:
    """Tell whether the first line of a table is like the lines below it.

    Years, running numbers and numbered names above columns of numbers, as tables by year have them, tell nothing.

    Parameters
    ----------
    first
        The cells of the first line, empty where there is none.
    body
        The lines below as columns of texts, null where empty.
    quoted
        Whether every cell of the first line stands in quotes and not every cell of the second does.

    Examples
    --------
    >>> import polars as pl
    >>> body = pl.DataFrame({"0": ["1001", "1002"], "1": ["Ann Lee", "Joe Roe"]})
    >>> looks_like_a_record(["1000", "Sue Poe"], body), looks_like_a_record(["id", "name"], body)
    (True, False)
    """
    if quoted or not body.height:
        return False
    some = _telling(body)
    return _is_record([first[j] for j in some], body.select(body.columns[j] for j in some))


def _telling(body: pl.DataFrame) -> list[int]:
    """Give the columns that are looked at: of a wide table those of numbers, and every so-many-th other."""
    if body.width <= _FEW_COLUMNS:
        return list(range(body.width))
    shares = body.head(_SAMPLE).select(pl.all().str.strip_chars().str.contains(_NUMBER).mean().fill_null(0)).row(0)
    numbers = [j for j, share in enumerate(shares) if share >= _NEARLY_ALL]
    others = [j for j, share in enumerate(shares) if share < _NEARLY_ALL]
    return sorted([*numbers, *others[:: -(-len(others) // _FEW_COLUMNS) or 1]])


def _is_record(first: Sequence[str], body: pl.DataFrame) -> bool:
    body = body.head(_SAMPLE).select(pl.all().str.strip_chars())
    cells = [cell.strip() for cell in first]
    copies = pl.all_horizontal(
        column.eq_missing(pl.lit(cell or None)) for column, cell in zip(map(pl.col, body.columns), cells, strict=True)
    )
    # Where files were put together, the names stand among the records again.
    others = body.filter(~copies) if body.width > 1 else body
    told: list[_Like | None] = []
    for j, cell in enumerate(cells):
        told.append(_like(cell, others.to_series(j)))
        if told[-1] == "name":
            return False
    series = _series(cells, body)
    values = [j for j, like in enumerate(told) if like == "value" and j not in series]
    if any(_form(body.to_series(j)) is not None for j in values):
        return True
    repeating = [j for j in range(body.width) if _repeats(body.to_series(j))]
    return bool(values) and 3 * len(values) >= len(repeating)


def holds_names(first: Sequence[str], body: pl.DataFrame) -> bool:
    """Tell whether some cell of the first line is unlike all values below it.

    Examples
    --------
    >>> import polars as pl
    >>> holds_names(["id", "name"], pl.DataFrame({"0": ["1001", "1002"], "1": ["Ann Lee", "Joe Roe"]}))
    True
    """
    body = body.head(_SAMPLE)
    return any(_like(cell.strip(), body.to_series(j).str.strip_chars()) == "name" for j, cell in enumerate(first))


def _like(cell: str, column: pl.Series) -> _Like | None:
    """Tell whether a cell is like the values below it, or like none of them; None where that cannot be told."""
    present = _present(column)
    if not cell or cell in MISSING_MARKS or present.is_empty():
        return None
    form = _form(column)
    if (present == cell).any() or (form is not None and _has(cell, form)):
        return "value"
    if form is not None:
        return "name"
    shape = _shape(present)
    if shape.n_unique() == 1 and _is_code(str(shape[0])):
        return "value" if _shape(pl.Series([cell]))[0] == shape[0] else None
    return None


def _present(column: pl.Series) -> pl.Series:
    present = column.drop_nulls()
    return present.filter((present != "") & ~present.is_in(list(MISSING_MARKS)))


def _form(column: pl.Series) -> str | None:
    """Give the form that nearly all values of a column have, if it is one of those that words do not have."""
    present = _present(column)
    if present.is_empty():
        return None
    return next((form for form in _FORMS if _share(present.str.contains(form)) >= _NEARLY_ALL), None)


def _has(cell: str, form: str) -> bool:
    return bool(pl.Series([cell]).str.contains(form)[0])


def _share(found: pl.Series) -> float:
    return float(found.sum()) / max(found.len(), 1)


def _shape(cells: pl.Series) -> pl.Series:
    return cells.str.replace_all(_LETTER, "a").str.replace_all(_DIGIT, "9")


def _is_code(shape: str) -> bool:
    return len(shape) >= _SHORTEST_CODE and "9" in shape


def _repeats(column: pl.Series) -> bool:
    present = _present(column)
    return 0 < 2 * present.n_unique() <= present.len()


def _series(cells: Sequence[str], body: pl.DataFrame) -> set[int]:
    """Give the columns whose first cells are a series of numbers, as names are and values are not.

    Years above values that are none; two numbers in a run, or more with equal steps, where lines below seldom have
    such; texts that differ by such numbers at their end.
    """
    years = {j for j, cell in enumerate(cells) if _is_year(cell) and not _holds_years(body.to_series(j))}
    ends = pl.Series(cells, dtype=pl.String).str.extract_groups(r"^(.*?)([0-9]{1,9})$").struct.unnest().rows()
    stems = {stem for stem, number in ends if number is not None and stem is not None}
    found = set(years)
    for stem in stems:
        places = [j for j, (own, number) in enumerate(ends) if own == stem and number is not None]
        if len(places) > 1 and _even([int(ends[j][1]) for j in places]) and _seldom_even(body, places, stem):
            found |= set(places)
    return found


def _is_year(cell: str) -> bool:
    return cell.isascii() and cell.isdigit() and 1900 <= int(cell) <= 2100


def _holds_years(column: pl.Series) -> bool:
    return bool(column.cast(pl.Float64, strict=False).is_between(1900, 2100).any())


def _even(numbers: Sequence[int]) -> bool:
    steps = {b - a for a, b in pairwise(numbers)}
    return len(steps) == 1 and min(steps) > 0 and (len(numbers) > 2 or steps == {1})


def _seldom_even(body: pl.DataFrame, places: Sequence[int], stem: str) -> bool:
    """Tell whether few lines hold such a series, so that a record would hardly begin with one."""
    return sum(_evens(body, places, stem)) <= _SELDOM * body.height


def _evens(body: pl.DataFrame, places: Sequence[int], stem: str) -> Iterator[bool]:
    for row in body.select(body.columns[j] for j in places).iter_rows():
        ends = [cell[len(stem) :] if cell is not None and cell.startswith(stem) else "" for cell in row]
        whole = all(end.isascii() and end.isdigit() and len(end) < 10 for end in ends)
        yield whole and _even([int(end) for end in ends])
