"""What a release says of categories that nobody in it has any more.

A value label, a place in an order, an entry of a hierarchy or of a list of categories tells that a category was in the
data, even where a step has removed it. So they leave with it. Which of them leave must not itself tell what was in the
data: where a step may have removed categories of a column, all leave that nobody in the release has; where none may,
all stay, as part of the questionnaire. Missing codes stay, since they say how to read the file.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

import polars as pl

from sfumato.data.codebook import Codebook, Variable

__all__ = ["remaining", "remaining_lists"]


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
