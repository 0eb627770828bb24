"""In which order the records of a release leave: one that tells nothing of the input's, nor of another release's.

The input's order may say who somebody is (sorted by name, by ward, by day of admission) or who belongs together. Where
the record column leaves as it came, the order is a permutation keyed on the record's id, the plan and the secret. Else
records are sorted by what is released of them, which tells no more than the records themselves.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import polars as pl

from sfumato.data.codebook import Codebook
from sfumato.data.dataset import Parted
from sfumato.data.disclosure import COPY, Synthetic
from sfumato.data.files.table import finite
from sfumato.data.hidden import HIDDEN, leaving
from sfumato.data.roles import Role
from sfumato.draws import Draws, Purpose, sortable, units, written
from sfumato.engines.polars import PolarsDataset
from sfumato.plan.plan import Plan

__all__ = ["by_hidden_columns", "in_release_order"]

_ORDER = f"{HIDDEN}order:"
_DIGITS = 9
"""Numbers that agree in so many digits are told apart last, so that processors' last bits do not move records."""


def in_release_order(
    data: PolarsDataset, plan: Plan, draws: Draws, synthetic: Synthetic | None = None
) -> PolarsDataset:
    """Bring records into the order in which they leave.

    Parameters
    ----------
    data
        The table as its steps left it.
    plan
        The plan; with `order: input` the records stay where they are.
    draws
        The release's keyed draws.
    synthetic
        What is disclosed of copies, if there are any.

    Examples
    --------
    >>> from sfumato.data.codebook import Codebook
    >>> data = PolarsDataset(pl.DataFrame({"age": [50, None, 20]}), Codebook(), ".csv")
    >>> in_release_order(data, Plan(), Draws(bytes(16))).frame["age"].to_list()
    [None, 20, 50]
    """
    if plan.order == "input" or not data.columns or _person(data.codebook, synthetic) is not None:
        return data
    record = data.codebook.the(Role.RECORD)
    as_it_came = record in data.columns and not any(record in step.changes for step in plan.steps)
    if record is None or not as_it_came:
        return replace(data, frame=_copy_by_copy(data.frame[_by_values(data.frame)], plan))
    ids = data.frame[record]  # whatever they are: this step takes all
    order = draws.permutation(
        units(ids if ids.dtype.is_integer() else written(ids)), Purpose("order", strength=plan.digest)
    )
    return replace(data, frame=_copy_by_copy(data.frame[order], plan))


def _copy_by_copy(frame: pl.DataFrame, plan: Plan) -> pl.DataFrame:
    """Synthetic copies one after the other."""
    several = any(step.name == "synthesise" for step in plan.steps) and COPY in frame.columns
    return frame.sort(COPY, maintain_order=True) if several else frame


def _by_values(frame: pl.DataFrame) -> pl.Series:
    """The rows sorted by their values, column by column, missing ones first: rows that still tie are equal."""
    first = [near(pl.col(n), t) for n, t in frame.schema.items()]
    bits = [pl.col(n).cast(pl.Float64).reinterpret(signed=True) for n, t in frame.schema.items() if t.is_float()]
    return frame.select(pl.arg_sort_by(*first, *bits)).to_series()


def near(column: pl.Expr, dtype: pl.DataType) -> pl.Expr:
    """What is compared first: numbers in their leading digits, categories by their text.

    Examples
    --------
    >>> pl.DataFrame({"a": [0.1 + 0.2]}).select(near(pl.col("a"), pl.Float64()))["a"].to_list()
    [0.3]
    """
    if dtype.is_float():
        return column.round_sig_figs(_DIGITS)
    return column.cast(pl.String) if dtype in (pl.Categorical, pl.Enum) else column


def _person(codebook: Codebook, synthetic: Synthetic | None) -> str | None:
    """The id of persons who are nobody and were drawn with their rows: these stand together as they were drawn.

    Without the id they would tell by their order which rows belong together.
    """
    if synthetic is None or not synthetic.persons or synthetic.kind != "full":
        return None
    person = codebook.the(Role.PERSON)
    return person if person in leaving(codebook) else None


def by_hidden_columns(
    data: Parted, plan: Plan, draws: Draws, synthetic: Synthetic | None = None
) -> tuple[Parted, tuple[str, ...]]:
    """Give the data as they are to be written, and the columns by which they are sorted then.

    NaN leaves as missing; infinite values are refused as the parts are written, as in every file.

    Parameters
    ----------
    data
        The released data; hidden columns are left out.
    plan
        The plan; with `order: input` records leave as they come.
    draws
        The release's keyed draws.
    synthetic
        What is disclosed of copies, if there are any.

    Returns
    -------
    data, columns
        The data with hidden columns for the order, and the names of all columns that it hangs on, first ones first.
    """
    columns = leaving(data.codebook)
    several = any(step.name == "synthesise" for step in plan.steps) and COPY in columns
    copies = (COPY,) if several else ()
    record = data.codebook.the(Role.RECORD)
    if plan.order == "input":
        return data.map(lambda batch: finite(batch.select(columns))), ()
    person = _person(data.codebook, synthetic)
    if person is not None:
        return _person_by_person(data, columns, (*copies, person), _time(plan))
    if record is not None and record in columns and not any(record in step.changes for step in plan.steps):
        what = Purpose("order", strength=plan.digest)
        return data.map(_keyed(columns, record, what, draws)), (*copies, f"{_ORDER}word", f"{_ORDER}unit")
    schema = {n: data.schema[n] for n in columns}
    first = {f"{_ORDER}{i}": near(pl.col(n), t) for i, (n, t) in enumerate(schema.items()) if _rounded(t)}
    bits = {f"{_ORDER}bits {i}": _bits(n) for i, (n, t) in enumerate(schema.items()) if t.is_float()}

    def by_values(batch: pl.DataFrame) -> pl.DataFrame:
        leaving = finite(batch.select(columns))
        return leaving.with_columns(x.alias(n) for n, x in (first | bits).items())

    keys = (f"{_ORDER}{i}" if _rounded(t) else n for i, (n, t) in enumerate(schema.items()))
    return data.map(by_values), tuple(dict.fromkeys((*copies, *keys, *bits)))


def _time(plan: Plan) -> str | None:
    """The column in whose order whole persons were drawn."""
    return next((time for step in plan.steps if (time := getattr(step, "time", None)) is not None), None)


def _person_by_person(
    data: Parted, columns: list[str], first: tuple[str, ...], time: str | None
) -> tuple[Parted, tuple[str, ...]]:
    """Persons one after the other, the rows of each as they were drawn: by their new ids, else by time."""
    book, record, late = data.codebook, data.codebook.the(Role.RECORD), f"{_ORDER}late"

    def marked(batch: pl.DataFrame) -> pl.DataFrame:
        leaving = finite(batch.select(columns))
        gone = book.missing(time, batch.schema[time]) if time in columns else pl.lit(False)
        return leaving.with_columns(gone.alias(late))

    rows = [n for n in columns if n not in first]
    within = [n for n in (record, late, time) if n in (*rows, late)]
    return data.map(marked), tuple(dict.fromkeys((*first, *within, *rows)))


def _keyed(columns: list[str], record: str, what: Purpose, draws: Draws) -> Callable[[pl.DataFrame], pl.DataFrame]:
    """Beside each record the first word of its draw, and its unit, which tells equal ones apart."""

    def keyed(batch: pl.DataFrame) -> pl.DataFrame:
        ids = batch[record]
        unit = units(ids if ids.dtype.is_integer() else written(ids))
        word = draws.words(unit, what)[:, 0]
        places = (pl.Series(f"{_ORDER}{n}", sortable(x)) for n, x in (("word", word), ("unit", unit)))
        return finite(batch.select(columns)).with_columns(*places)

    return keyed


def _rounded(dtype: pl.DataType) -> bool:
    """Whether values are not compared as they are."""
    return dtype.is_float() or dtype in (pl.Categorical, pl.Enum)


def _bits(column: str) -> pl.Expr:
    return pl.col(column).cast(pl.Float64).reinterpret(signed=True)
