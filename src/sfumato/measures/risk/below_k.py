"""Records that share their keys with too few others."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from sfumato.data.aim import Aim
from sfumato.data.dataset import Dataset
from sfumato.data.finding import Findings
from sfumato.measures.measure import Figure, Measure
from sfumato.measures.measuring import CATEGORY
from sfumato.measures.patterns import Patterns, class_findings, patterns
from sfumato.measures.subject import Subject

__all__ = ["MEASURE", "below_k"]

AT = (2, 3, 5)


def below_k(data: Dataset, by: Sequence[str], k: float, *, missing: str = CATEGORY) -> int | None:
    """Count the records whose class has fewer than k.

    These are the records that have to be changed for the file to be k-anonymous. Whether they can be found in the
    population is another question: sampling weights play no part.

    Source: Samarati (2001), doi:10.1109/69.971193.

    Parameters
    ----------
    data, by, missing
        As in `sfumato.measures.patterns.patterns`.
    k
        Fewest records that a class should have.

    Returns
    -------
    int or None
        None where there is no record or no key.

    Examples
    --------
    >>> import polars as pl, sfumato as sf
    >>> below_k(sf.read(pl.DataFrame({"sex": ["f", "m", "m"]})), ["sex"], 2)
    1
    """
    found = patterns(data, by, missing)
    return None if found is None else _below(found, k)


def _below(found: Patterns, k: float) -> int:
    return int(found.records[found.alike < k - _LAST_BITS].sum())


_LAST_BITS = 1e-9  # where wildcards count in part, sizes are sums


def _compute(subject: Subject) -> Findings:
    return class_findings(subject, [("below_k", float(k), partial(_below, k=k)) for k in AT])


MEASURE = Measure(
    family="groups",
    place=13,
    doing="records in small groups",
    needs=frozenset({"table", "keys", "strata"}),
    figures=(
        Figure(
            "below_k",
            title="Records in groups of fewer than k",
            what="How many records share their combination of values with fewer than k, themselves among them.",
            form="count",
            baseline="Original",
            at="k = {0:g}",
            aim=Aim.ALIKE,
        ),
    ),
    compute=_compute,
    forms={"folded": _compute},
)
