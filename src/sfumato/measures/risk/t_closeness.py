"""t-closeness: how far the sensitive values of a class are from those of the whole table."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import polars as pl

from sfumato.data.aim import Aim
from sfumato.data.dataset import Dataset
from sfumato.data.finding import Findings
from sfumato.data.query import COUNT
from sfumato.measures.measure import Figure, Measure
from sfumato.measures.patterns import MissingSensitive, value_counts
from sfumato.measures.risk.k_anonymity import class_label
from sfumato.measures.risk.l_diversity import class_lines
from sfumato.measures.subject import Classes, Subject

__all__ = ["MEASURE", "findings", "t_equal"]


def t_equal(data: Dataset, by: Sequence[str], sensitive: str, *, missing: MissingSensitive = "ignore") -> pl.DataFrame:
    """Measure how far each class's distribution of a sensitive variable is from the whole table's.

    The distance is the total variation (the earth mover's distance when all values are equally far apart): half the
    sum of the absolute differences of shares, 0 where they are equal, near 1 where the class has only a rare value. It
    protects against learning much about a person from the class alone. It holds for an intruder who knows the whole
    table's distribution and the person's keys, and does not see that some values are close to each other.

    Source: Li, Li & Venkatasubramanian (2007), doi:10.1109/ICDE.2007.367856.

    Parameters
    ----------
    data, by, sensitive, missing
        As in `l_distinct`.

    Returns
    -------
    pl.DataFrame
        Columns `class` and `t`; largest first, then by name. In a class without any known value the gap is a value like
        others, in the class and in the whole table.

    Examples
    --------
    >>> import sfumato as sf
    >>> data = sf.read(pl.DataFrame({"sex": ["f", "f", "m", "m"], "ill": ["yes", "no", "no", "no"]}))
    >>> t_equal(data, ["sex"], "ill").rows()
    [('sex=f', 0.25), ('sex=m', 0.25)]
    """
    counts = value_counts(data, by, sensitive, missing)
    # where a class has more than its part of a value it has so much less of the others: one half tells all
    excess = pl.col(COUNT) / pl.col(COUNT).sum().over(by) - pl.col("sfumato:everywhere") / pl.col(COUNT).sum()
    return (
        counts.sort(sensitive)
        .with_columns(pl.col(COUNT).sum().over(sensitive).alias("sfumato:everywhere"))
        .with_columns(excess.clip(lower_bound=0.0).alias("sfumato:excess"))
        .group_by(by)
        .agg(pl.col("sfumato:excess").sum().alias("t"))
        .select(class_label(by), "t")
        .sort(pl.col("t").round(12), "class", descending=[True, False])
    )


def findings(
    data: Dataset,
    classes: Sequence[Classes],
    sensitive: Sequence[str],
    *,
    missing: MissingSensitive = "ignore",
    given: Dataset | None = None,
    most: int = 200,
) -> Findings:
    """Give the lines `t_equal`: of each group and sensitive variable the largest, then one for each class.

    Parameters as in `sfumato.measures.risk.l_diversity.findings`.
    """
    per_class = partial(t_equal, missing=missing)
    return class_lines("t_equal", per_class, Subject(data, given=given, classes=tuple(classes)), sensitive, most)


def _compute(subject: Subject) -> Findings:
    return class_lines("t_equal", t_equal, subject, subject.sensitive)


MEASURE = Measure(
    family="groups",
    place=40,
    doing="closeness",
    needs=frozenset({"table", "keys", "strata", "sensitive"}),
    figures=(
        Figure(
            "t_equal",
            title="Outcome in a group against all (t-closeness)",
            what="How far the outcome's distribution in a group is from that of the whole table: half the sum of the "
            "differences of shares. 0 is equal; 1 has nothing in common.",
            published="rate",
            baseline="Original",
            whole="worst group",
            aim=Aim.DIVERSE,
        ),
    ),
    compute=_compute,
    forms={"folded": _compute},
)
