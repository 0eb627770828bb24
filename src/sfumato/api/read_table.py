"""Read a table of totals, from its file or from the folder that it was handed out in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path

from sfumato.data.files.hierarchies import read_hierarchy
from sfumato.data.files.jj import is_jj, read_jj
from sfumato.data.files.tables import read_cells
from sfumato.data.hierarchy import Hierarchy
from sfumato.errors import DataError
from sfumato.release.tabular.opening import folder_of, open_table_folder
from sfumato.tables.problems import VALUE, table_of
from sfumato.tables.table import COUNT, RESERVED, STATUS, Table

__all__ = ["Trees", "read_table"]

Tree = Hierarchy | str | PathLike[str]
Trees = Mapping[str, Tree | Sequence[Tree]]


def read_table(
    path: str | PathLike[str],
    value: str | None = None,
    *,
    hierarchies: Trees | None = None,
    contributors: str | None = None,
    delimiter: str | None = None,
    decimal_comma: bool = False,
) -> Table:
    """Read a table of totals: a line for each cell, with a column for each variable.

    Parameters
    ----------
    path
        A folder that `hand_out` or a command wrote, whose papers know the value and which codes are parts of which;
        or a single file, which knows neither. A file of the JJ format (`.jj`) has its cells by number, and its own
        equations.
    value
        The value's column; of a file else `count`.
    hierarchies
        For a variable its tree, or the file of one; several where it is grouped in several ways. They go before
        those of a folder. Of variables that the table does not have they are left aside.
    contributors
        The column of the number of contributors, where it is not named `contributors`.
    delimiter
        Of a single file; sniffed where it is not given.
    decimal_comma
        Whether numbers of a single file have a comma.

    Returns
    -------
    Table

    Raises
    ------
    FileError
        No such file or folder; a folder of another kind, or one that was changed after it was written.
    DataError
        What is in it is no table: cells twice, codes that a hierarchy does not list, values that are no numbers.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = (Path(folder) / "t.csv").write_text("sex,count\\nTotal,5\\nf,3\\nm,2\\n")
    ...     read_table(Path(folder) / "t.csv").variables
    ('sex',)
    """
    place = Path(path)
    given = {name: _trees(tree) for name, tree in (hierarchies or {}).items()}
    folder = folder_of(place)
    if folder is not None:
        return open_table_folder(folder, value, given)
    if is_jj(place):
        if given:
            raise DataError(f"{place.name} has its own equations: leave the hierarchies out.")
        return table_of(read_jj(place), value or VALUE)
    named = value or COUNT
    figures = [*(n for n in RESERVED if n != STATUS), *([contributors] if contributors else [])]
    frame = read_cells(place, named, figures, delimiter=delimiter, decimal_comma=decimal_comma)
    known = {n: trees for n, trees in given.items() if n in frame.columns}
    try:
        return Table.of(frame, named, known, contributors)
    except DataError as error:
        raise DataError(f"{place.name}: {error}") from None


def _trees(given: Tree | Sequence[Tree]) -> tuple[Hierarchy, ...]:
    several = [given] if isinstance(given, Hierarchy | str | PathLike) else list(given)
    return tuple(one if isinstance(one, Hierarchy) else read_hierarchy(Path(one)) for one in several)
