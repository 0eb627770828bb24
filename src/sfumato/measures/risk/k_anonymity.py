"""k-anonymity: the fewest records that share one combination of key values."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from sfumato.data.finding import Finding, Findings
from sfumato.errors import DataError

__all__ = ["NO_CLASS", "class_label", "class_sizes", "findings", "k_anonymity", "numbered_keys"]

NO_CLASS = "The table has no records or no keys were named, so there are no classes to measure."


def numbered_keys(frame: pl.DataFrame, by: Sequence[str]) -> pl.DataFrame:
    """Give the keys as columns `0`, `1`, … in which null, NaN and every user-missing code are one category: null.

    Raises
    ------
    DataError
        Where a key is not a column.
    """
    unknown = [n for n in by if n not in frame.columns]
    if unknown:
        raise DataError(
            f"There is no column {', '.join(map(repr, unknown))}. Columns of the table: {', '.join(frame.columns)}."
        )
    floats = {n for n in by if frame.schema[n].is_float()}
    return frame.select(
        (pl.col(n).fill_nan(None) if n in floats else pl.col(n)).alias(str(i)) for i, n in enumerate(by)
    )


def class_label(by: Sequence[str]) -> pl.Expr:
    """Expression that names a class of `numbered_keys`: `Pclass=1, Sex=female`, or `Sex missing` without a value.

    A value with a comma or a quotation mark stands in quotation marks, so that no two classes share a name.
    """
    parts = []
    for i, name in enumerate(by):
        value = pl.col(str(i)).cast(pl.String)
        quoted = pl.concat_str(pl.lit('"'), value.str.replace_all('"', '""', literal=True), pl.lit('"'))
        value = pl.when(value.str.contains('[,"]')).then(quoted).otherwise(value)
        parts.append(pl.concat_str(pl.lit(f"{name}="), value).fill_null(f"{name} missing"))
    return pl.concat_str(parts, separator=", ").alias("class")


def class_sizes(frame: pl.DataFrame, by: Sequence[str]) -> pl.DataFrame:
    """Count the records of each combination of key values.

    Parameters
    ----------
    frame
        The table.
    by
        The keys, at least one. Null and NaN are together one category of a key; a user-missing code is one of its
        own, since the release shows it.

    Returns
    -------
    pl.DataFrame
        Columns `class` (its name) and `size`; smallest first, then by name.

    Examples
    --------
    >>> class_sizes(pl.DataFrame({"sex": ["f", "m", "m"]}), ["sex"]).rows()
    [('sex=f', 1), ('sex=m', 2)]
    """
    counted = numbered_keys(frame, by).group_by(pl.all()).agg(pl.len().cast(pl.Int64).alias("size"))
    return counted.select(class_label(by), "size").sort("size", "class")


def k_anonymity(frame: pl.DataFrame, by: Sequence[str]) -> float | None:
    """Size of the smallest class of records that share their key values.

    It protects against singling out: an intruder who knows only the keys of a person is left with at least k records.
    It does not protect against one who knows more than the keys, and says nothing of what the k records have in
    common (see `l_diversity`).

    Source: Sweeney (2002), doi:10.1142/S0218488502001648.

    Parameters
    ----------
    frame, by
        As in `class_sizes`.

    Returns
    -------
    float or None
        A whole number; None where there is no record or no key.

    Examples
    --------
    >>> k_anonymity(pl.DataFrame({"sex": ["f", "m", "m"]}), ["sex"])
    1.0
    """
    if not by or not frame.height:
        return None
    return float(class_sizes(frame, by)["size"][0])


def findings(frame: pl.DataFrame, by: Sequence[str], *, before: pl.DataFrame | None = None) -> Findings:
    """Give the line `k_anonymity`; the baseline is that of the original table.

    Parameters
    ----------
    frame
        The table as it is, or as it is to be released.
    by
        The keys.
    before
        The original table, where there is one. The two need not be joined.
    """
    value = k_anonymity(frame, by)
    baseline = None
    if before is not None and all(name in before.columns for name in by):
        baseline = k_anonymity(before, by)
    return Findings((Finding("k_anonymity", value=value, baseline=baseline),), () if value is not None else (NO_CLASS,))
