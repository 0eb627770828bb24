"""A table of totals: variables with their codes, and a line for each cell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import scipy.sparse as sp
from numpy.typing import NDArray

from sfumato.data.disclosure import Disclosure
from sfumato.data.hierarchy import Hierarchy
from sfumato.errors import DataError
from sfumato.tables.axis import TOTAL, Axis

if TYPE_CHECKING:
    from sfumato.kernels.tabular.rollup import Contributions
    from sfumato.tables.reader import Reader

__all__ = [
    "ASKED",
    "CONTRIBUTORS",
    "COST",
    "COUNT",
    "HIDDEN",
    "LARGEST",
    "LEAST",
    "LOWER",
    "LOWER_LEVEL",
    "MOST",
    "OWN",
    "PROVED",
    "RESERVED",
    "SECOND",
    "SHADOW",
    "SINGLE",
    "SLIDING_LEVEL",
    "STATUS",
    "UPPER",
    "UPPER_LEVEL",
    "Origin",
    "Released",
    "Table",
    "is_count",
    "largest_name",
]

COUNT = "count"
CONTRIBUTORS = "contributors"
LARGEST = "largest"
SECOND = "second"
STATUS = "status"
LOWER_LEVEL = "lower_level"
UPPER_LEVEL = "upper_level"
LOWER = "lower"
UPPER = "upper"
CELL_KEY = "cell_key"
PROVED = "proved"
"""Of unsafe cells of the custodian's table: 0 where it is not proved that they hold, -1 where it is proved that not."""
HIDDEN = ("u", "x")
"""Statuses of cells that have no value in a table that is handed out."""
OWN = "sfumato:"
"""How names of columns begin that table files do not have; folders of the custodian's hold them in a file beside."""
SINGLE = "sfumato:single"
"""In memory only: a number for the one contributor of a cell, the same in every cell; null where there are several."""

COST = "sfumato:cost"
"""In memory only: what hiding a cell costs, where that was settled for it."""
SHADOW = "sfumato:shadow"
"""In memory only: the sum of the sizes of contributions, where it is not the value: negative ones, sampling weights."""
LEAST, MOST = "sfumato:least", "sfumato:most"
"""In memory only: what everybody knows a cell to lie between, where a file says so cell by cell."""
SLIDING_LEVEL = "sfumato:sliding level"
"""In memory only: how wide the interval of an unsafe cell must be, where a file asks for that."""
ASKED = "sfumato:asked"
"""In memory only: the largest contribution of one who is to be protected, where some gave that up."""

_FEW = 4
"""In fewer lines than that, whole numbers that are all different tell nothing of what they are."""
RESERVED = (CONTRIBUTORS, LARGEST, SECOND, STATUS, LOWER_LEVEL, UPPER_LEVEL, LOWER, UPPER, CELL_KEY, PROVED)
"""Columns of a table file that are no variables, beside its value."""


def largest_name(rank: int) -> str:
    """Column of the contribution of a rank, from 1.

    Examples
    --------
    >>> largest_name(1), largest_name(2), largest_name(3)
    ('largest', 'second', 'sfumato:largest 3')
    """
    return {1: LARGEST, 2: SECOND}.get(rank, f"sfumato:largest {rank}")


@dataclass(frozen=True)
class Origin:
    """What became of the records before a table was made of them.

    Parameters
    ----------
    disclosure
        What a plan's steps did to columns that the table is of; whoever works with the table must know it.
    plan, fingerprint
        By which the plan and its secret are known again; None where there was none.
    weighted
        Whether records had sampling weights.
    negative
        Whether a record had a negative value.

    Examples
    --------
    >>> Origin().plan is None
    True
    """

    disclosure: Disclosure = field(default_factory=Disclosure)
    plan: str | None = None
    fingerprint: str | None = None
    weighted: bool = False
    negative: bool = False


@dataclass(frozen=True)
class Released:
    """What the papers of a table say that everybody knows of it.

    Parameters
    ----------
    tolerance
        Largest difference of totals from their parts that is rounding.
    reader
        What its readers know of hidden cells. None: nothing is said of it.
    rule
        By which rules it was judged, with their parameters: in the custodian's alone.

    Examples
    --------
    >>> Released().reader is None
    True
    """

    tolerance: float | None = None
    reader: Reader | None = None
    rule: str | None = field(default=None, repr=False)


@dataclass(frozen=True)
class Table:
    """A table of totals in the long form: a line for each cell, totals among them.

    Parameters
    ----------
    axes
        The variables.
    cells
        A text column for each variable (`Total` where summed over), the value's column, and what else is known of a
        cell: `contributors`, `largest`, `second`, `status`, ... Cells that are not listed are empty or not wanted.
    value
        Name of the value's column; null in it is a value that is not told.
    notes
        What building or reading it had to say.
    origin
        What became of its records before.
    released
        What its papers say that everybody knows, where it was read from a folder.
    sums
        Equations between its lines, shape (equations, lines), beside those of its codes: of a file that has its own.
    contributions
        What each contributor has in the finest cells, of a sum that was built from records. Cells are numbered as in
        `keys`. None for counts, and for tables from files, which do not say whose the contributions are.

    Raises
    ------
    DataError
        Unknown codes, a cell twice, a column that is missing.

    Examples
    --------
    >>> rows = pl.DataFrame({"sex": ["Total", "f", "m"], "count": [5.0, 3.0, 2.0]})
    >>> table = Table.of(rows)
    >>> len(table), table.variables, table.axes[0].codes
    (3, ('sex',), ('Total', 'f', 'm'))
    """

    axes: tuple[Axis, ...]
    cells: pl.DataFrame
    value: str = COUNT
    notes: tuple[str, ...] = field(default=(), compare=False)
    origin: Origin = field(default_factory=Origin, compare=False, repr=False)
    released: Released = field(default_factory=Released, compare=False, repr=False)
    sums: sp.csr_array | None = field(default=None, compare=False, repr=False)
    contributions: Contributions | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        if missing := [n for n in (*self.variables, self.value) if n not in self.cells.columns]:
            raise DataError(f"A table needs the column {', '.join(map(repr, missing))}.")
        keys = self.keys
        if len(np.unique(keys)) < len(keys):
            raise DataError("A table lists a cell twice: the same codes stand in two rows. Give each cell one row.")
        if self.sums is not None and self.sums.shape[1] != len(self):
            raise DataError("A table with equations of its own needs all the cells that these are of.")
        if np.any(np.diff(keys) < 0):
            order = np.argsort(keys, kind="stable")
            object.__setattr__(self, "cells", self.cells[order])
            if self.sums is not None:
                object.__setattr__(self, "sums", sp.csr_array(self.sums[:, order]))
            for cached in ("keys", "places"):
                self.__dict__.pop(cached, None)

    def __len__(self) -> int:
        return self.cells.height

    @property
    def variables(self) -> tuple[str, ...]:
        """Names of the variables."""
        return tuple(axis.name for axis in self.axes)

    @property
    def hierarchies(self) -> dict[str, tuple[Hierarchy, ...]]:
        """The trees of each variable."""
        return {axis.name: axis.groupings for axis in self.axes}

    @cached_property
    def places(self) -> NDArray[np.int64]:
        """Place of each cell's codes among those of its variables, shape (cells, variables)."""
        columns = [_places(axis, self.cells[axis.name]) for axis in self.axes]
        return np.stack(columns, axis=1) if columns else np.empty((len(self), 0), dtype=np.int64)

    @cached_property
    def keys(self) -> NDArray[np.int64]:
        """One number for each cell, in the order of the table; shape (cells,)."""
        return keyed(self.places, [len(axis.codes) for axis in self.axes])

    @property
    def values(self) -> NDArray[np.float64]:
        """The values, NaN where they are not told; shape (cells,)."""
        return floats(self.cells, self.value)

    def column(self, name: str) -> NDArray[np.float64] | None:
        """Another column as floats, NaN where it tells nothing; None where the table has none."""
        return floats(self.cells, name) if name in self.cells.columns else None

    def with_columns(self, **columns: pl.Series | NDArray[Any] | Sequence[Any]) -> Table:
        """The table with further columns, or others."""
        return replace(self, cells=self.cells.with_columns(pl.Series(n, v) for n, v in columns.items()))

    @classmethod
    def of(
        cls,
        frame: pl.DataFrame,
        value: str = COUNT,
        hierarchies: Mapping[str, Hierarchy | Sequence[Hierarchy]] | None = None,
        contributors: str | None = None,
    ) -> Table:
        """Take a table that is ready-made: every column is a variable but the value's and the reserved ones.

        Parameters
        ----------
        frame
            The long form. A variable without a hierarchy has the codes that stand in its column.
        value
            Name of the value's column.
        hierarchies
            The tree, or trees, of variables.
        contributors
            The column of the number of contributors, where it is not named `contributors`.

        Raises
        ------
        DataError
            Columns that are missing or of the wrong type, unknown codes, cells listed twice; columns that are neither
            variables nor known figures.
        """
        if contributors and contributors != CONTRIBUTORS:
            if contributors not in frame.columns or CONTRIBUTORS in frame.columns:
                raise DataError(f"The number of contributors is one column: {contributors!r}, or {CONTRIBUTORS!r}.")
            frame = frame.rename({contributors: CONTRIBUTORS})
        if value not in frame.columns:
            raise DataError(
                f"The table has no column {value!r} for its value. Name the column that holds it (--value, `value`); "
                "of a file of records, name the variables of the table (--by, `build`)."
            )
        names = [n for n in frame.columns if n != value and n not in RESERVED and not n.startswith(OWN)]
        given = {n: (h,) if isinstance(h, Hierarchy) else tuple(h) for n, h in (hierarchies or {}).items()}
        if unknown := [n for n in given if n not in names]:
            raise DataError(
                f"There is a hierarchy of {', '.join(map(repr, unknown))}, which is no variable of the table."
            )
        frame = frame.with_columns(pl.col(n).cast(pl.String) for n in names)
        if empty := [n for n in names if frame[n].null_count()]:
            raise DataError(f"Column {empty[0]!r} has cells without a code. Where it is summed over, write {TOTAL}.")
        _refuse_figures(frame, names, value)
        for name in (value, CONTRIBUTORS):
            if name in frame.columns and name in (COUNT, CONTRIBUTORS) and np.any(floats(frame, name) < 0):
                raise DataError(f"Column {name!r} has negative counts. Mend them.")
        axes = tuple(Axis(n, given[n]) if n in given else _flat(n, frame[n]) for n in names)
        return cls(axes, frame.select(*names, pl.exclude(names)), value)


def _refuse_figures(frame: pl.DataFrame, names: Sequence[str], value: str) -> None:
    """Further figures or labels of cells: as variables they would hold every line apart, so that nothing adds up."""
    summed = [n for n in names if (frame[n] == TOTAL).any()]
    held = frame.select(n for n in names if n not in summed and frame[n].n_unique() > 1)
    numbers = [n.name for n in held if not n.cast(pl.Float64, strict=False).null_count()]
    further = numbers if _told_apart(frame, summed) else [n for n in numbers if _measured(frame[n])]
    if further and _told_apart(frame, [n for n in names if n not in further]):
        raise DataError(
            f"Column {', '.join(map(repr, further))} is no variable: the others tell each line apart, and it has no "
            f"{TOTAL}. Leave it out; a table has its variables, {value!r}, and {', '.join(RESERVED)}. The value and "
            "the number of contributors may have other names: --value, --contributors (`value`, `contributors`)."
        )


def _told_apart(frame: pl.DataFrame, names: Sequence[str]) -> bool:
    """Whether some columns tell each line from every other one."""
    return bool(names) and not frame.select(names).is_duplicated().any()


def _measured(column: pl.Series) -> bool:
    """Whether numbers look like figures rather than codes: they have fractions, or hardly any stands twice."""
    number = column.cast(pl.Float64)
    return bool((number != number.floor()).any()) or (len(column) >= _FEW and 2 * column.n_unique() > len(column))


def is_count(table: Table) -> bool:
    """Whether the value is a number of units: by its name, or because it is the number of contributors everywhere.

    Examples
    --------
    >>> rows = {"sex": ["f", "m"], "Freq": [3, 2]}
    >>> is_count(Table.of(pl.DataFrame(rows), "Freq"))
    True
    """
    if table.value.lower() in (COUNT, "freq", "n"):
        return True
    heads = table.column(CONTRIBUTORS)
    return heads is not None and np.array_equal(table.values, heads)


def _flat(name: str, codes: pl.Series) -> Axis:
    found = codes.filter(codes != TOTAL).unique().sort().to_list()
    if not found:
        raise DataError(f"Column {name!r} holds {TOTAL} only. Leave it out.")
    return Axis.flat(name, found)


def _places(axis: Axis, codes: pl.Series) -> NDArray[np.int64]:
    kinds = pl.DataFrame({"code": list(axis.codes), "place": range(len(axis.codes))})
    found = codes.cast(pl.String).rename("code").to_frame().join(kinds, on="code", how="left", maintain_order="left")
    if found["place"].null_count():
        raise DataError(f"Column {axis.name!r} holds codes that its hierarchy does not list.")
    return found["place"].to_numpy().astype(np.int64)


def keyed(places: NDArray[np.int64], sizes: Sequence[int]) -> NDArray[np.int64]:
    """One number for each row of places, in the order of the rows' codes.

    Examples
    --------
    >>> keyed(np.array([[0, 1], [1, 0]]), [2, 3]).tolist()
    [1, 3]
    """
    if float(np.prod([float(n) for n in sizes])) >= 2**62:
        raise DataError("The table has more possible cells than can be numbered. Leave out a variable.")
    out = np.zeros(len(places), dtype=np.int64)
    for column, size in enumerate(sizes):
        out = out * size + places[:, column]
    return out


def floats(frame: pl.DataFrame, name: str) -> NDArray[np.float64]:
    """A column as floats, NaN where there is none.

    Raises
    ------
    DataError
        Where it holds no numbers.
    """
    column = frame[name]
    if not (column.dtype.is_numeric() or column.dtype == pl.Null) and column.null_count() < len(column):
        raise DataError(f"Column {name!r} holds text; a numeric column is needed here.")
    return column.cast(pl.Float64, strict=False).fill_null(float("nan")).to_numpy().astype(np.float64)
