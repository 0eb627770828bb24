"""What a release says of categories that nobody in it has any more.

A value label, a place in an order, an entry of a hierarchy or of a list of categories tells that a category was in the
data, even where a step has removed it. So they leave with it. Which of them leave must not itself tell what was in the
data: where a step may have removed categories of a column, all leave that nobody in the release has; where none may,
all stay, as part of the questionnaire. Missing codes stay, since they say how to read the file.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar, cast

import polars as pl

from sfumato.data.codebook import Codebook, Variable
from sfumato.data.dataset import Dataset, Parted, with_codebook
from sfumato.data.hidden import ROW, leaving
from sfumato.data.query import COUNT, Counts
from sfumato.engines.polars import PolarsDataset, held
from sfumato.plan.plan import Plan

__all__ = ["as_released", "remaining", "remaining_lists"]


def remaining(
    frame: pl.DataFrame | Mapping[str, pl.Series], codebook: Codebook, known: Codebook, columns: Collection[str]
) -> Codebook:
    """Give the codebook without labels, order and hierarchy of categories that nobody in a release has.

    Parameters
    ----------
    frame, codebook
        The release; of a table that is not in memory the categories that these columns hold.
    known
        The codebook of the data that it was made of. What a step itself wrote into an order, such as the bands of
        `recode`, stands in the plan and stays.
    columns
        Columns of which steps may have removed categories.

    Examples
    --------
    >>> book = Codebook({"town": Variable(labels={1: "York", 2: "Leeds"})})
    >>> remaining(pl.DataFrame({"town": [1, 1]}), book, book, ["town"])["town"].labels
    {1: 'York'}
    """
    told = [n for n in columns if n in codebook and _tells(codebook[n])]
    kept = {n: _kept(codebook[n], known[n] if n in known else Variable(), frame[n]) for n in told}
    return codebook.replace(**kept)


def _tells(variable: Variable) -> bool:
    return bool(variable.labels or variable.order or variable.hierarchy)


def _kept(variable: Variable, known: Variable, column: pl.Series) -> Variable:
    present = _present(column)

    def stays(value: Any) -> bool:
        return value in present or str(value) in present or any(m.matches(value) for m in variable.missing)

    return variable.model_copy(
        update={
            "labels": {value: text for value, text in variable.labels.items() if stays(value)},
            "order": tuple(value for value in variable.order if stays(value) or value not in known.order),
            "hierarchy": {value: above for value, above in variable.hierarchy.items() if stays(value)},
        }
    )


def _present(column: pl.Series) -> set[Any]:
    """The values of a column, and the same as texts."""
    values = column.drop_nulls().unique()
    return {*values.to_list(), *_texts(values)}


def _texts(values: pl.Series) -> Iterable[str]:
    return values.cast(pl.String).to_list()


def remaining_lists(frame: pl.DataFrame) -> pl.DataFrame:
    """Give a table whose types list no categories but those that it holds.

    Examples
    --------
    >>> towns = pl.Series("town", ["York"], dtype=pl.Enum(["Leeds", "York"]))
    >>> remaining_lists(pl.DataFrame([towns])).schema["town"]
    Enum(categories=['York'])
    """
    return frame.with_columns(_listed(column) for column in frame.iter_columns() if isinstance(column.dtype, pl.Enum))


def _listed(column: pl.Series) -> pl.Series:
    present = set(_texts(column.drop_nulls().unique()))
    left = [category for category in column.dtype.categories.to_list() if category in present]  # type: ignore[attr-defined]
    return column.cast(pl.String).cast(pl.Enum(left))


D = TypeVar("D", bound=Dataset)


def as_released(plan: Plan, data: D, entering: D, result: D, *, kept_above: int = 0) -> D:
    """The result of a run as it leaves: without the run's own numbers and what tells of categories that are gone.

    Records that are left out may take a category of any column with them.

    Parameters
    ----------
    plan
        The plan.
    data
        The table as it was opened.
    entering
        The data as they entered the first step.
    result
        The data after all steps.
    kept_above
        Where rows are not in memory: above so many they are worked out once and kept, for many questions will follow.
    """
    if held(result) and held(data):
        return cast(D, _of_frame(plan, data, cast(Any, entering), result))
    return cast(D, _of_parts(plan, cast(Any, entering), cast(Any, result), kept_above))


def _of_frame(plan: Plan, data: PolarsDataset, entering: PolarsDataset, result: PolarsDataset) -> PolarsDataset:
    frame, book = result.frame.drop(ROW), result.codebook.without(ROW)
    changed = {n for step in plan.steps for n in step.changes}
    left_out = frame.height < entering.frame.height
    book = remaining(frame, book, entering.codebook, frame.columns if left_out else changed & set(frame.columns))
    return replace(data, frame=remaining_lists(frame), codebook=book)


def _of_parts(plan: Plan, entering: Parted, result: Parted, kept_above: int) -> Parted:
    """The same where rows are not in memory; hidden columns stay, for they do not leave with parts that are written."""
    entered = _rows(entering)
    result = result.kept() if entered > kept_above else result
    fewer = _rows(result) != entered
    columns = leaving(result.codebook)
    changed = {n for step in plan.steps for n in step.changes}
    book = result.codebook
    looked = [n for n in columns if fewer or n in changed]
    tells = [n for n in looked if book[n].labels or book[n].order or book[n].hierarchy]
    lists = [n for n in columns if isinstance(result.schema[n], pl.Enum)]
    held = {n: _held(result, n) for n in dict.fromkeys([*tells, *lists])}
    book = remaining(held, book, entering.codebook, tells)
    types = {n: pl.Enum(_in_order(result.schema[n], held[n])) for n in lists}
    if types:
        return result.map(lambda batch: batch.with_columns(_cast(batch[n], t) for n, t in types.items()), codebook=book)
    return with_codebook(result, book)


def _held(data: Parted, column: str) -> pl.Series:
    """The categories that a column holds."""
    return data.ask(Counts((column,)))[column]


def _in_order(dtype: pl.DataType, held: pl.Series) -> list[str]:
    present = set(held.drop_nulls().cast(pl.String).to_list())
    known: Sequence[str] = dtype.categories.to_list()  # type: ignore[attr-defined]
    return [category for category in known if category in present]


def _cast(column: pl.Series, dtype: pl.DataType) -> pl.Series:
    return column.cast(pl.String).cast(dtype)


def _rows(data: Parted) -> int:
    return int(data.ask(Counts(())).item(0, COUNT))
