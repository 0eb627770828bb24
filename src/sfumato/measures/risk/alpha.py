"""(alpha, k)-anonymity: how large a part of a class one sensitive value may be."""

from __future__ import annotations

from collections.abc import Sequence

from sfumato.data.aim import Aim
from sfumato.data.dataset import Dataset
from sfumato.data.finding import Findings
from sfumato.measures.measure import Figure, Measure
from sfumato.measures.patterns import MissingSensitive, Values, value_findings, values
from sfumato.measures.subject import Subject

__all__ = ["MEASURE", "alpha"]


def alpha(data: Dataset, by: Sequence[str], sensitive: str, *, missing: MissingSensitive = "ignore") -> float | None:
    """Find the largest share of a class that one sensitive value has.

    It protects against inferring a value without finding the record: whoever knows that a person is in a class, and
    says its most frequent value, is right with this probability at worst. It does not see how frequent the value is in
    the whole table, nor values that mean much the same.

    Source: Wong, Li, Fu & Wang (2006), doi:10.1145/1150402.1150499.

    Parameters
    ----------
    data, by, sensitive, missing
        As in `sfumato.measures.patterns.values`.

    Returns
    -------
    float or None
        None where there is no value.

    Examples
    --------
    >>> import polars as pl, sfumato as sf
    >>> data = sf.read(pl.DataFrame({"sex": ["f", "f", "m", "m", "m"], "ill": ["a", "b", "b", "b", "a"]}))
    >>> round(alpha(data, ["sex"], "ill"), 3)
    0.667
    """
    found = values(data, by, sensitive, missing)
    return None if found is None else _largest(found)


def _largest(found: Values) -> float:
    return float(found.share.max())


def _compute(subject: Subject) -> Findings:
    return value_findings(subject, [("alpha", None, _largest)])


MEASURE = Measure(
    family="groups",
    place=31,
    doing="the most frequent values of groups",
    needs=frozenset({"table", "keys", "strata", "sensitive"}),
    figures=(
        Figure(
            "alpha",
            title="Most frequent outcome of a group (alpha)",
            what="The largest share of a group that has one and the same value. Whoever knows that a person is in that "
            "group and says this value is right with this probability, without finding the record.",
            form="share",
            published="rate",
            baseline="Original",
            whole="worst group",
            aim=Aim.DIVERSE,
            detail=True,
        ),
    ),
    compute=_compute,
    forms={"folded": _compute},
)
