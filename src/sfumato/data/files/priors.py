"""A-priori files (`.hst`) of tau-Argus: what is settled of single cells before a table is protected."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from sfumato.errors import DataError, FileError

__all__ = ["Prior", "read_priors"]

_LARGEST = 64 << 20
_STATUSES = {"u": "u", "s": "s", "p": "z", "z": "z", "m": "x", "ml": "x", "x": "x"}


@dataclass(frozen=True)
class Prior:
    """What is settled of one cell.

    Parameters
    ----------
    codes
        Its codes, in the order of the table's variables.
    status
        `u` unsafe, `s` safe whatever rules say, `z` never to be hidden, `x` hidden; None where it is left.
    cost
        What hiding it costs.
    levels
        How far below and above its value must remain possible.

    Examples
    --------
    >>> Prior(("North", "Total"), status="u").status
    'u'
    """

    codes: tuple[str, ...]
    status: str | None = None
    cost: float | None = None
    levels: tuple[float, float] | None = None


def read_priors(path: Path, variables: int, delimiter: str | None = None) -> list[Prior]:
    """Read an a-priori file: on each line the codes of a cell, then what is settled of it.

    That is a status (`u` unsafe, `s` safe, `p` protected: never hidden, `m` hidden beside others), `c` or `w` and a
    cost, or `pl` with a lower and an upper protection level, in capitals or not. An empty code is a total.

    Source: `APriori.java` in https://github.com/sdcTools/tauargus. There a cell must be unsafe before `pl`; here `pl`
    makes it so. Cells that are empty in the table are passed over, as there.

    Parameters
    ----------
    path
        The file.
    variables
        How many variables the table has.
    delimiter
        A comma or a semicolon, told from the first line where it is not given.

    Raises
    ------
    FileError
        Where the file cannot be read.
    DataError
        Where a line is none of these. The message names the line.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = (Path(folder) / "a.hst").write_text("North,f,u\\nNorth,Total,c,5\\nSouth,m,pl,2,3\\n")
    ...     for prior in read_priors(Path(folder) / "a.hst", 2):
    ...         print(prior.codes, prior.status, prior.cost, prior.levels)
    ('North', 'f') u None None
    ('North', 'Total') None 5.0 None
    ('South', 'm') None None (2.0, 3.0)
    """
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        raise FileError(f"{str(path)!r} does not exist.") from None
    except OSError as error:
        raise FileError(f"{str(path)!r} cannot be read: {error.strerror}.") from None
    if len(content) > _LARGEST:
        raise FileError(f"{str(path)!r} is larger than {_LARGEST >> 20} MB, which no a-priori file is.")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise FileError(f"{str(path)!r} is not a text file in UTF-8.") from None
    first = next((line for line in text.splitlines() if line.strip()), "")
    sign = delimiter or max(";,\t", key=first.count)
    out = []
    for number, line in enumerate(csv.reader(io.StringIO(text), delimiter=sign), 1):
        cells = [cell.strip() for cell in line]
        if any(cells):
            out.append(_prior(cells, variables, f"{path.name}, line {number}"))
    return out


def _prior(cells: Sequence[str], variables: int, where: str) -> Prior:
    codes = tuple(code or "Total" for code in cells[:variables])
    what, rest = (cells[variables].lower() if len(cells) > variables else ""), list(cells[variables + 1 :])
    while rest and not rest[-1]:
        rest.pop()
    if what in _STATUSES and not rest:
        return Prior(codes, status=_STATUSES[what])
    try:
        figures = [float(cell) for cell in rest]
    except ValueError:
        figures = []
    if what in ("c", "w") and len(figures) == 1 and 0 <= figures[0] < float("inf"):
        return Prior(codes, cost=figures[0])
    if what == "pl" and len(figures) == 2 and all(0 <= x < float("inf") for x in figures):
        return Prior(codes, levels=(figures[0], figures[1]))
    raise DataError(
        f"{where}: after the {variables} codes of a cell stand u, s, p or m, or c and a cost, or pl and two levels, "
        "none of them negative."
    )
