"""The JJ format: cells by number with their equations, as programs for cell suppression exchange them.

A file holds a 0, the number of cells, a line for each cell (number, value, cost, status, lowest and highest value that
an attacker reckons with, lower, upper and sliding protection level), the number of equations, and a line for each (its
right-hand side, how many cells it has, a colon, then the number of each cell with its sign in brackets).

Source: what `createJJFormat` and `writeJJFormat` of the R package sdcTable write
(https://github.com/sdcTools/sdcTable).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from sfumato.data.files.atomic import replacing
from sfumato.errors import DataError, FileError

__all__ = ["Problem", "is_jj", "read_jj", "write_jj"]

Floats = NDArray[np.float64]

_LARGEST = 1 << 30
_NEAR = 1e-9
"""Share of a value by which its bounds may miss it: other programs write fewer digits."""
_EQUATION = re.compile(r"^\s*(\S+)\s+(\d+)\s*:\s*(.*)$")
_TERM = re.compile(r"(\d+)\s*\(\s*([+-]?\d+)\s*\)")
_STATUSES = ("u", "s", "z", "x", "w")


@dataclass(frozen=True)
class Problem:
    """A problem of cell suppression.

    Parameters
    ----------
    value, cost
        Of each cell.
    status
        `u` primary, `s` safe, `z` never to be hidden.
    lower, upper
        What an attacker knows a cell to lie between.
    lower_level, upper_level, sliding_level
        What must remain possible: so far below, so far above, and in all.
    matrix
        The equations, each with the right-hand side 0.

    Examples
    --------
    >>> one = Problem(*(np.ones(2),) * 2, ("u", "s"), *(np.zeros(2),) * 5, sp.csr_array(np.array([[-1, 1]])))
    >>> one.matrix.shape
    (1, 2)
    """

    value: Floats
    cost: Floats
    status: tuple[str, ...]
    lower: Floats
    upper: Floats
    lower_level: Floats
    upper_level: Floats
    sliding_level: Floats
    matrix: sp.csr_array


def is_jj(path: Path) -> bool:
    """Whether a file is of this format, by its name.

    Examples
    --------
    >>> is_jj(Path("table.JJ")), is_jj(Path("table.csv"))
    (True, False)
    """
    return path.suffix.lower() == ".jj"


def read_jj(path: Path) -> Problem:
    """Read a file of the JJ format.

    Raises
    ------
    FileError
        Where the file cannot be read.
    DataError
        Where a line is not as it should be. The message names the line.
    """
    lines = _lines(path)
    try:
        number, first = next(lines)
        if first.strip() != "0":
            raise DataError(f"{path.name}, line {number}: a file of the JJ format begins with a 0.")
        count = _whole(path, *next(lines))
        cells = [_cell(path, *next(lines), i) for i in range(count)]
        sums = _whole(path, *next(lines))
        terms = [_equation(path, *next(lines), count) for _ in range(sums)]
    except StopIteration:
        raise DataError(f"{path.name} ends too early: it has fewer lines than it says.") from None
    if (odd := next(lines, None)) is not None:
        raise DataError(f"{path.name}, line {odd[0]}: the file says that it ends before this line.")
    if not count:
        raise DataError(f"{path.name} has no cell.")
    figures = np.array([cell[0] for cell in cells], dtype=np.float64).reshape(count, 7)
    rows = [row for row, one in enumerate(terms) for _ in one]
    columns, signs = ([term[i] for one in terms for term in one] for i in (0, 1))
    matrix = sp.csr_array(sp.coo_array((signs, (rows, columns)), shape=(sums, count), dtype=np.int8))
    value, cost, low, high, below, above, sliding = figures.T
    return Problem(value, cost, tuple(cell[1] for cell in cells), low, high, below, above, sliding, matrix)


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    try:
        if path.stat().st_size > _LARGEST:
            raise FileError(f"{str(path)!r} is larger than {_LARGEST >> 30} GB.")
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise FileError(f"{str(path)!r} does not exist.") from None
    except UnicodeDecodeError:
        raise FileError(f"{str(path)!r} is not a text file in UTF-8.") from None
    except OSError as error:
        raise FileError(f"{str(path)!r} cannot be read: {error.strerror}.") from None
    yield from ((number, line) for number, line in enumerate(text.splitlines(), 1) if line.strip())


def _whole(path: Path, number: int, line: str) -> int:
    if not re.fullmatch(r"\s*\d{1,9}\s*", line):
        raise DataError(f"{path.name}, line {number}: a number of cells or of equations is expected here.")
    return int(line)


def _cell(path: Path, number: int, line: str, expected: int) -> tuple[list[float], str]:
    parts = line.split()
    try:
        figures = [float(part) for part in (*parts[1:3], *parts[4:9])]
        fits = len(parts) == 9 and int(parts[0]) == expected and parts[3].lower() in _STATUSES
    except (ValueError, IndexError):
        fits = False
    # bounds may be infinite; nothing else may
    if not fits or np.any(np.isnan(figures)) or not np.all(np.isfinite([*figures[:2], *figures[4:]])):
        raise DataError(
            f"{path.name}, line {number}: a cell is its number from 0, value, cost, status, two bounds, three levels."
        )
    value, cost, low, high, *levels = figures
    if cost < 0 or min(levels) < 0:
        raise DataError(f"{path.name}, line {number}: a cost or a level is negative.")
    near = _NEAR * max(1.0, abs(value))
    if low > value + near or high < value - near:
        raise DataError(f"{path.name}, line {number}: the bounds of a cell do not hold its value.")
    return [value, cost, min(low, value), max(high, value), *levels], parts[3].lower()


def _equation(path: Path, number: int, line: str, count: int) -> list[tuple[int, int]]:
    found = _EQUATION.match(line)
    terms = [(int(cell), int(sign)) for cell, sign in _TERM.findall(found[3])] if found else []
    if found is None or len(terms) != int(found[2]) or any(c >= count or abs(s) > 1 for c, s in terms):
        raise DataError(f"{path.name}, line {number}: an equation is `0 2 : 0 (-1) 1 (1)`, with cells of the file.")
    if len({cell for cell, _ in terms}) < len(terms) or any(sign == 0 for _, sign in terms):
        raise DataError(f"{path.name}, line {number}: an equation names a cell twice, or without a sign.")
    if _number(found[1]) != 0.0:
        raise DataError(f"{path.name}, line {number}: an equation has a right-hand side other than 0.")
    total = sum(sign > 0 for _, sign in terms) == 1 < sum(sign < 0 for _, sign in terms)
    return [(cell, -sign) for cell, sign in terms] if total else terms  # the total of a sum has the minus


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return float("nan")


def write_jj(problem: Problem, path: Path) -> None:
    """Write a file of the JJ format, which `read_jj` reads as it was.

    Examples
    --------
    >>> import tempfile
    >>> one, zero, row = np.ones(2), np.zeros(2), sp.csr_array(np.array([[-1, 1]]))
    >>> one = Problem(one, one, ("u", "s"), zero, one, zero, zero, zero, row)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_jj(one, Path(folder) / "a.jj")
    ...     read_jj(Path(folder) / "a.jj").status
    ('u', 's')
    """
    p = problem
    out = ["0", str(len(p.value))]
    figures = (p.lower, p.upper, p.lower_level, p.upper_level, p.sliding_level)
    for i, status in enumerate(p.status):
        rest = " ".join(repr(float(x[i])) for x in figures)
        out.append(f"{i} {float(p.value[i])!r} {float(p.cost[i])!r} {status} {rest}")
    out.append(str(p.matrix.shape[0]))
    for row in range(p.matrix.shape[0]):
        span = slice(p.matrix.indptr[row], p.matrix.indptr[row + 1])
        terms = [f"{c} ({s})" for c, s in zip(p.matrix.indices[span], p.matrix.data[span], strict=True)]
        out.append(f"0 {len(terms)} : {' '.join(terms)}")
    with replacing(path) as temporary:
        temporary.write_bytes(("\n".join(out) + "\n").encode())
