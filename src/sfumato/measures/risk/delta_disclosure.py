"""delta-disclosure privacy: by what factor a sensitive value is more or less frequent in a class."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sfumato.data.aim import Aim
from sfumato.data.dataset import Dataset
from sfumato.data.finding import Findings
from sfumato.measures.measure import Figure, Measure
from sfumato.measures.patterns import MissingSensitive, Values, value_findings, values
from sfumato.measures.subject import Subject

__all__ = ["MEASURE", "delta_disclosure"]


def delta_disclosure(
    data: Dataset, by: Sequence[str], sensitive: str, *, missing: MissingSensitive = "ignore"
) -> float | None:
    """Find the largest |ln(q/p)| of a sensitive value, q its share of a class and p of the whole table.

    Natural logarithm; of the values that occur in the class, as all implementations have it: one that does not would
    make it infinite. It protects against learning from a class that a value is much likelier, or much less likely,
    than elsewhere. It does not see that a value is ruled out altogether.

    Source: Brickell & Shmatikov (2008), doi:10.1145/1401890.1401904.

    Parameters
    ----------
    data, by, sensitive, missing
        As in `sfumato.measures.patterns.values`.

    Returns
    -------
    float or None
        From 0 on; None where there is no value.

    Examples
    --------
    >>> import polars as pl, sfumato as sf
    >>> data = sf.read(pl.DataFrame({"ward": [1, 1, 2, 2], "ill": ["a", "b", "b", "b"]}))
    >>> round(delta_disclosure(data, ["ward"], "ill"), 3)
    0.693
    """
    found = values(data, by, sensitive, missing)
    return None if found is None else _largest(found)


def _largest(found: Values) -> float:
    return float(np.max(np.abs(np.log(found.share / found.expected[found.value]))))


def _compute(subject: Subject) -> Findings:
    return value_findings(subject, [("delta_disclosure", None, _largest)])


MEASURE = Measure(
    family="groups",
    place=51,
    doing="factors of frequencies",
    needs=frozenset({"table", "keys", "strata", "sensitive"}),
    figures=(
        Figure(
            "delta_disclosure",
            title="Largest factor of an outcome (delta-disclosure)",
            what="The natural logarithm of the factor by which a value that occurs in a group is more, or less, "
            "frequent there than in the whole table: 0.69 is twice or half as frequent.",
            baseline="Original",
            whole="worst group",
            aim=Aim.DIVERSE,
            detail=True,
        ),
    ),
    compute=_compute,
    forms={"folded": _compute},
)
