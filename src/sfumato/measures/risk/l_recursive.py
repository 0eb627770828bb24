"""Recursive (c, l)-diversity: how far the most frequent sensitive value of a class outweighs the rarer ones."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from sfumato.data.aim import Aim
from sfumato.data.dataset import Dataset
from sfumato.data.finding import Findings
from sfumato.measures.measure import Figure, Measure
from sfumato.measures.patterns import MissingSensitive, Values, value_findings, values
from sfumato.measures.subject import Subject

__all__ = ["MEASURE", "l_recursive_c"]

AT = (2, 3)
TOO_FEW = (
    "Some group has fewer values of {} than l, so that recursive diversity holds there for no c (l_recursive_c has no "
    "value)."
)


def l_recursive_c(
    data: Dataset, by: Sequence[str], sensitive: str, at: int = 2, *, missing: MissingSensitive = "ignore"
) -> float | None:
    """Find the infimum of the c for which recursive (c, l)-diversity holds.

    With the counts of a class's values r₁ ≥ r₂ ≥ …, the most frequent first, it holds where r₁ < c (r_l + r_(l+1) + …)
    in every class; so the figure is the largest r₁ / (r_l + …), and every c above it will do. It protects against one
    who can rule out l − 2 of the values: what is left does not single out the most frequent one too much. It does not
    see that values may mean much the same.

    Source: Machanavajjhala, Kifer, Gehrke & Venkitasubramaniam (2007), doi:10.1145/1217299.1217302.

    Parameters
    ----------
    data, by, sensitive, missing
        As in `sfumato.measures.patterns.values`.
    at
        The l, from 1 on.

    Returns
    -------
    float or None
        None where some class has fewer than l values, so that no c will do, and where there is no value.

    Examples
    --------
    >>> import polars as pl, sfumato as sf
    >>> data = sf.read(pl.DataFrame({"ward": [1] * 6, "ill": ["a", "a", "a", "b", "b", "c"]}))
    >>> l_recursive_c(data, ["ward"], "ill"), l_recursive_c(data, ["ward"], "ill", 3)
    (1.0, 3.0)
    """
    found = values(data, by, sensitive, missing)
    return None if found is None else _infimum(found, at)


def _infimum(found: Values, at: int) -> float | None:
    ordered = found.largest_first
    starts, rows = ordered.starts, np.arange(len(ordered.group))
    rank = rows - starts[ordered.group]
    tail = np.bincount(ordered.group, weights=np.where(rank >= at - 1, ordered.count, 0))
    return float(np.max(ordered.count[starts] / tail)) if tail.min() > 0 else None


def _compute(subject: Subject) -> Findings:
    figures = [("l_recursive_c", float(at), partial(_infimum, at=at)) for at in AT]
    return value_findings(subject, figures, TOO_FEW, subject.of_sensitive_together())


MEASURE = Measure(
    family="groups",
    place=33,
    doing="recursive diversity",
    needs=frozenset({"table", "keys", "strata", "sensitive"}),
    figures=(
        Figure(
            "l_recursive_c",
            title="Smallest c of recursive (c, l)-diversity",
            what="How many times as frequent the most frequent value of a group is as the l-th and all rarer ones "
            "together. Recursive (c, l)-diversity holds for every c above it; without a value it holds for none.",
            published="ladder",
            baseline="Original",
            whole="worst group",
            at="l = {0:g}",
            aim=Aim.DIVERSE,
            detail=True,
        ),
    ),
    compute=_compute,
    forms={"folded": _compute},
)
