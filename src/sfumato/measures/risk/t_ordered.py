"""t-closeness with ordered distance: how far the sensitive values of a class lie from those of the whole table."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sfumato.data.aim import Aim
from sfumato.data.dataset import Dataset
from sfumato.data.finding import Findings
from sfumato.measures.measure import Figure, Measure
from sfumato.measures.patterns import MissingSensitive, Values, value_findings, values
from sfumato.measures.subject import Subject

__all__ = ["MEASURE", "t_ordered"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def t_ordered(
    data: Dataset, by: Sequence[str], sensitive: str, *, missing: MissingSensitive = "ignore"
) -> float | None:
    """Find how far at most a class's distribution must be moved along the order of values to be the whole table's.

    The distance is the earth mover's: of two values it is the number of values between them, over m − 1 of all m. So a
    class of neighbouring values is far from the whole, which `t_equal` does not see. Numbers are ordered by size, an
    ordinal variable by its order, and others as text, where the order says nothing. It protects against learning much
    of a person from the class, by one who knows the whole table's distribution and the person's keys.

    Source: Li, Li & Venkatasubramanian (2007), doi:10.1109/ICDE.2007.367856.

    Parameters
    ----------
    data, by, sensitive, missing
        As in `sfumato.measures.patterns.values`.

    Returns
    -------
    float or None
        From 0 to 1; None where there is no value.

    Examples
    --------
    >>> import polars as pl, sfumato as sf
    >>> data = sf.read(pl.DataFrame({"ward": [1, 1, 2, 2], "income": [1, 2, 3, 4]}))
    >>> round(t_ordered(data, ["ward"], "income"), 3)
    0.333
    """
    found = values(data, by, sensitive, missing)
    return None if found is None else _furthest(found)


def _furthest(found: Values) -> float:
    """Largest sum over the values of |F of the class − F of all|; a class's own F changes only at its values."""
    m = len(found.levels)
    if m < 2:
        return 0.0
    everywhere = np.cumsum(found.expected)
    starts = found.starts
    own = np.cumsum(found.share)
    own -= np.repeat(np.concatenate([[0.0], own])[starts], np.diff(starts, append=len(own)))
    return float(_moved(found, everywhere, own, starts).max()) / (m - 1)


def _moved(
    found: Values,
    everywhere: Floats,
    own: Floats,
    starts: Ints,
) -> Floats:
    """The work of each class, shape (classes,): between two of its values its own share stands still."""
    m = len(everywhere)
    total = np.concatenate([[0.0], np.cumsum(everywhere)])
    ends = np.append(found.value[1:], m)
    ends[np.append(starts[1:], len(ends)) - 1] = m

    def above(level: Floats, low: Ints, high: Ints) -> Floats:
        """Sum of |everywhere − level| over places low ≤ j < high; everywhere only grows."""
        turn = np.clip(np.searchsorted(everywhere, level), low, high)
        under = level * (turn - low) - (total[turn] - total[low])
        over = (total[high] - total[turn]) - level * (high - turn)
        return np.asarray(under + over)

    work = np.bincount(found.group, weights=above(own, found.value, ends))
    return np.asarray(work + total[found.value[starts]])


def _compute(subject: Subject) -> Findings:
    return value_findings(subject, [("t_ordered", None, _furthest)])


MEASURE = Measure(
    family="groups",
    place=41,
    doing="closeness of ordered values",
    needs=frozenset({"table", "keys", "strata", "sensitive"}),
    figures=(
        Figure(
            "t_ordered",
            title="Order in a group against all (t-closeness)",
            what="How far a group's values lie from those of the whole table along their order: by size for numbers, "
            "by the order of an ordinal variable, else as text. 0 is equal; 1 is from one end to the other.",
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
