"""l-diversity: how many different values of a sensitive variable each class of records has."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

import polars as pl

from sfumato.data.codebook import Codebook
from sfumato.data.finding import Finding, Findings
from sfumato.errors import DataError
from sfumato.measures.risk.k_anonymity import NO_CLASS, class_label, numbered_keys

__all__ = ["MissingSensitive", "class_lines", "findings", "l_distinct", "value_counts"]

MissingSensitive = Literal["ignore", "category"]


def value_counts(
    frame: pl.DataFrame,
    by: Sequence[str],
    sensitive: str,
    codebook: Codebook | None = None,
    missing: MissingSensitive = "ignore",
) -> pl.DataFrame:
    """Count the records of each class and sensitive value.

    Returns
    -------
    pl.DataFrame
        The keys as columns `0`, `1`, …, then `value` and `count`; without missing values if they are to be ignored.
    """
    if sensitive not in frame.columns:
        raise DataError(f"There is no column {sensitive!r}. Columns of the table: {', '.join(frame.columns)}.")
    absent = (codebook or Codebook()).missing(sensitive, frame.schema[sensitive])
    value = frame.select(pl.when(~absent).then(pl.col(sensitive)).alias("value"))
    named = numbered_keys(frame, by).hstack(value)
    if missing == "ignore":
        named = named.filter(pl.col("value").is_not_null())
    return named.group_by(pl.all()).agg(pl.len().cast(pl.Int64).alias("count"))


def l_distinct(
    frame: pl.DataFrame,
    by: Sequence[str],
    sensitive: str,
    codebook: Codebook | None = None,
    *,
    missing: MissingSensitive = "ignore",
) -> pl.DataFrame:
    """Count the different sensitive values in each class.

    It protects against learning a value without finding the record: with l = 1 whoever knows that a person is in the
    class knows the value. It does not see that one of several values may be nearly certain, nor that different values
    may mean the same (see `t_closeness` for the first).

    Source: Machanavajjhala, Kifer, Gehrke & Venkitasubramaniam (2007), doi:10.1145/1217299.1217302.

    Parameters
    ----------
    frame
        The table.
    by
        The keys, at least one. Null and NaN are together one category of a key; a user-missing code is one of its own.
    sensitive
        A column that an intruder must not learn.
    codebook
        Says which codes stand for missing.
    missing
        A missing sensitive value is no value (`ignore`), or one common `category`; never several different values.

    Returns
    -------
    pl.DataFrame
        Columns `class` and `l`; smallest first, then by name. A class without any value is left out.

    Examples
    --------
    >>> frame = pl.DataFrame({"sex": ["f", "f", "m"], "ill": ["yes", "no", "no"]})
    >>> l_distinct(frame, ["sex"], "ill").rows()
    [('sex=m', 1), ('sex=f', 2)]
    """
    counts = value_counts(frame, by, sensitive, codebook, missing)
    diversity = counts.group_by([str(i) for i in range(len(by))]).agg(pl.len().cast(pl.Int64).alias("l"))
    return diversity.select(class_label(by), "l").sort("l", "class")


def findings(
    frame: pl.DataFrame,
    codebook: Codebook,
    by: Sequence[str],
    sensitive: Sequence[str],
    *,
    missing: MissingSensitive = "ignore",
    before: pl.DataFrame | None = None,
    most: int = 200,
) -> Findings:
    """Give the lines `l_distinct`: for each sensitive variable the smallest first, then one for each class.

    Parameters
    ----------
    frame
        The table as it is, or as it is to be released.
    codebook
        Says which codes stand for missing.
    by
        The keys.
    sensitive
        Columns that an intruder must not learn.
    missing
        As in `l_distinct`.
    before
        The original table, where there is one; its figures are the baselines, and a class that it did not have has
        none. The two need not be joined.
    most
        Largest number of classes that get a line of their own, for each variable.
    """
    return class_lines(
        "l_distinct",
        lambda table, name: l_distinct(table, by, name, codebook, missing=missing),
        frame,
        before,
        by,
        sensitive,
        most,
    )


def class_lines(
    measure: str,
    per_class: Callable[[pl.DataFrame, str], pl.DataFrame],
    frame: pl.DataFrame,
    before: pl.DataFrame | None,
    by: Sequence[str],
    sensitive: Sequence[str],
    most: int,
) -> Findings:
    """Give the lines of a measure of sensitive values in classes: per variable the worst, then one for each class.

    `per_class` takes a table and a sensitive column and gives two columns, class and figure, the worst first.
    """
    lines: list[Finding] = []
    notes: dict[str, None] = {}
    for name in sensitive:
        if not by or not frame.height:
            lines.append(Finding(measure, variable=name))
            notes[NO_CLASS] = None
            continue
        found = [(str(label), float(figure)) for label, figure in per_class(frame, name).rows()]
        known: dict[str, float] = {}
        if before is not None and all(n in before.columns for n in (*by, name)):
            known = {str(label): float(figure) for label, figure in per_class(before, name).rows()}
        worst, baseline = next(iter(found), (None, None))[1], next(iter(known.values()), None)
        lines.append(Finding(measure, variable=name, value=worst, baseline=baseline))
        lines += [Finding(measure, name, label, value=x, baseline=known.get(label)) for label, x in found[:most]]
        if worst is None:
            notes[f"Column {name!r} holds no value in any class, so there is no {measure}."] = None
        if len(found) > most:
            notes[f"{measure}: only the {most} worst classes have a line."] = None
    return Findings(tuple(lines), tuple(notes))
