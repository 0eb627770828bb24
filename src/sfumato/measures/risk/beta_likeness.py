"""Beta-likeness: how much more frequent a sensitive value is in a class than in the whole table."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sfumato.data.aim import Aim
from sfumato.data.dataset import Dataset
from sfumato.data.finding import Findings
from sfumato.measures.measure import Figure, Measure
from sfumato.measures.patterns import MissingSensitive, Values, value_findings, values
from sfumato.measures.subject import Subject

__all__ = ["MEASURE", "beta_basic", "beta_enhanced"]

NONE_HOLDS = (
    "Some value of {} is so much more frequent in a group than in the whole table that enhanced beta-likeness holds "
    "for no beta (beta_enhanced has no value)."
)
_LAST_BITS = 1e-12


def beta_basic(
    data: Dataset, by: Sequence[str], sensitive: str, *, missing: MissingSensitive = "ignore"
) -> float | None:
    """Find the largest relative gain of a sensitive value: (q − p)/p, q its share of a class and p of the whole table.

    Basic beta-likeness holds for every beta from this on. It protects against learning from a class that a person
    probably has a value that is rare elsewhere, which differences of shares (`t_equal`) hardly see. It does not look at
    values that are rarer in a class than elsewhere.

    Source: Cao & Karras (2012), doi:10.14778/2350229.2350255.

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
    >>> beta_basic(data, ["ward"], "ill")
    1.0
    """
    found = values(data, by, sensitive, missing)
    return None if found is None else _largest(found)


def beta_enhanced(
    data: Dataset, by: Sequence[str], sensitive: str, *, missing: MissingSensitive = "ignore"
) -> float | None:
    """Find the smallest beta for which enhanced beta-likeness holds.

    It holds where every relative gain (q − p)/p is at most beta and at most −ln p: of a frequent value less is allowed,
    whatever beta. So it is the figure of `beta_basic` where the second bound holds for all values, and else there is
    none. What it protects against is told there.

    Source: Cao & Karras (2012), doi:10.14778/2350229.2350255.

    Parameters
    ----------
    data, by, sensitive, missing
        As in `sfumato.measures.patterns.values`.

    Returns
    -------
    float or None
        None where it holds for no beta, and where there is no value.

    Examples
    --------
    >>> import polars as pl, sfumato as sf
    >>> data = sf.read(pl.DataFrame({"ward": [1, 1, 1, 2, 2, 2], "ill": ["a", "a", "b", "a", "b", "b"]}))
    >>> round(beta_enhanced(data, ["ward"], "ill"), 3)
    0.333
    """
    found = values(data, by, sensitive, missing)
    return None if found is None else _enhanced(found)


def _largest(found: Values) -> float:
    expected = found.expected[found.value]
    return max(0.0, float(np.max((found.share - expected) / expected)))


def _enhanced(found: Values) -> float | None:
    expected = found.expected[found.value]
    gain = (found.share - expected) / expected
    allowed = -np.log(expected)
    return _largest(found) if bool(np.all(gain <= allowed + _LAST_BITS)) else None


def _compute(subject: Subject) -> Findings:
    figures = [("beta_basic", None, _largest), ("beta_enhanced", None, _enhanced)]
    return value_findings(subject, figures, NONE_HOLDS)


_WHAT = (
    "How much more frequent a value is in a group than in the whole table, as a share of its frequency there: 1 is "
    "twice as frequent. "
)

MEASURE = Measure(
    family="groups",
    place=50,
    doing="gains on frequencies",
    needs=frozenset({"table", "keys", "strata", "sensitive"}),
    figures=(
        Figure(
            "beta_basic",
            title="Largest gain of an outcome (beta-likeness)",
            what=_WHAT + "Values that are rarer there are not looked at.",
            baseline="Original",
            whole="worst group",
            aim=Aim.DIVERSE,
            detail=True,
        ),
        Figure(
            "beta_enhanced",
            title="The same, enhanced (beta-likeness)",
            what=_WHAT + "It has no value where a frequent outcome gains more than −ln of its share of the whole "
            "table, so that enhanced beta-likeness holds for no beta.",
            baseline="Original",
            whole="worst group",
            aim=Aim.DIVERSE,
            detail=True,
        ),
    ),
    compute=_compute,
    forms={"folded": _compute},
)
