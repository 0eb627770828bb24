"""Entropy l-diversity: how many equally frequent sensitive values a class is worth."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sfumato.data.aim import Aim
from sfumato.data.dataset import Dataset
from sfumato.data.finding import Findings
from sfumato.measures.measure import Figure, Measure
from sfumato.measures.patterns import MissingSensitive, Values, value_findings, values
from sfumato.measures.subject import Subject

__all__ = ["MEASURE", "l_entropy"]


def l_entropy(
    data: Dataset, by: Sequence[str], sensitive: str, *, missing: MissingSensitive = "ignore"
) -> float | None:
    """Find the smallest exponential of the Shannon entropy of a class's sensitive values.

    It protects as `l_distinct` does, and sees that one of several values may be nearly certain: classes with the values
    half and half come to 2, those with 99 of 100 alike to little above 1. It does not see that values may mean much the
    same, nor that one is rare in the whole table.

    Source: Machanavajjhala, Kifer, Gehrke & Venkitasubramaniam (2007), doi:10.1145/1217299.1217302.

    Parameters
    ----------
    data, by, sensitive, missing
        As in `sfumato.measures.patterns.values`.

    Returns
    -------
    float or None
        From 1 on; None where there is no value.

    Examples
    --------
    >>> import polars as pl, sfumato as sf
    >>> data = sf.read(pl.DataFrame({"sex": ["f", "f", "m", "m", "m"], "ill": ["a", "b", "b", "b", "a"]}))
    >>> round(l_entropy(data, ["sex"], "ill"), 3)
    1.89
    """
    found = values(data, by, sensitive, missing)
    return None if found is None else _smallest(found)


def _smallest(found: Values) -> float:
    share = found.share
    entropy = np.bincount(found.group, weights=-share * np.log(share))
    return max(1.0, float(np.exp(entropy.min())))


def _compute(subject: Subject) -> Findings:
    return value_findings(subject, [("l_entropy", None, _smallest)], places=subject.of_sensitive_together())


MEASURE = Measure(
    family="groups",
    place=32,
    doing="diversity by entropy",
    needs=frozenset({"table", "keys", "strata", "sensitive"}),
    figures=(
        Figure(
            "l_entropy",
            title="Outcomes by entropy (l-diversity)",
            what="As many equally frequent values as a group's are worth: the exponential of their entropy. Two values "
            "half and half are worth 2, two of which one is rare hardly more than 1.",
            better="high",
            published="ladder",
            baseline="Original",
            whole="worst group",
            aim=Aim.DIVERSE,
            detail=True,
        ),
    ),
    compute=_compute,
    forms={"folded": _compute},
)
