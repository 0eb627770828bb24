"""t-closeness: how far the sensitive values of a class are from those of the whole table."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from sfumato.data.codebook import Codebook
from sfumato.data.finding import Findings
from sfumato.measures.risk.k_anonymity import class_label
from sfumato.measures.risk.l_diversity import MissingSensitive, class_lines, value_counts

__all__ = ["findings", "t_equal"]


def t_equal(
    frame: pl.DataFrame,
    by: Sequence[str],
    sensitive: str,
    codebook: Codebook | None = None,
    *,
    missing: MissingSensitive = "ignore",
) -> pl.DataFrame:
    """Measure how far each class's distribution of a sensitive variable is from the whole table's.

    The distance is the total variation (the earth mover's distance when all values are equally far apart): half the
    sum of the absolute differences of shares, 0 where they are equal, near 1 where the class has only a rare value. It
    protects against learning much about a person from the class alone. It holds for an intruder who knows the whole
    table's distribution and the person's keys, and does not see that some values are close to each other.

    Source: Li, Li & Venkatasubramanian (2007), doi:10.1109/ICDE.2007.367856.

    Parameters
    ----------
    frame, by, sensitive, codebook, missing
        As in `l_distinct`.

    Returns
    -------
    pl.DataFrame
        Columns `class` and `t`; largest first, then by name. A class without any value is left out.

    Examples
    --------
    >>> frame = pl.DataFrame({"sex": ["f", "f", "m", "m"], "ill": ["yes", "no", "no", "no"]})
    >>> t_equal(frame, ["sex"], "ill").rows()
    [('sex=f', 0.25), ('sex=m', 0.25)]
    """
    counts = value_counts(frame, by, sensitive, codebook, missing)
    keys = [str(i) for i in range(len(by))]
    # where a class has more than its part of a value it has so much less of the others: one half tells all
    excess = pl.col("count") / pl.col("count").sum().over(keys) - pl.col("everywhere") / pl.col("count").sum()
    return (
        counts.sort("value")
        .with_columns(everywhere=pl.col("count").sum().over("value"))
        .with_columns(excess=excess.clip(lower_bound=0.0))
        .group_by(keys)
        .agg(pl.col("excess").sum().alias("t"))
        .select(class_label(by), "t")
        .sort(pl.col("t").round(12), "class", descending=[True, False])
    )


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
    """Give the lines `t_equal`: for each sensitive variable the largest first, then one for each class.

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
        "t_equal",
        lambda table, name: t_equal(table, by, name, codebook, missing=missing),
        frame,
        before,
        by,
        sensitive,
        most,
    )
