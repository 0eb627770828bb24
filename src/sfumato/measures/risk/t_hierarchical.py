"""t-closeness with hierarchical distance: categories under one broader category are near each other."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np

from sfumato.data.aim import Aim
from sfumato.data.dataset import Dataset
from sfumato.data.finding import Findings
from sfumato.data.hierarchy import category_ladder
from sfumato.measures.measure import Figure, Measure
from sfumato.measures.patterns import MissingSensitive, Values, value_findings, values
from sfumato.measures.subject import Subject

__all__ = ["MEASURE", "t_hierarchical"]

NO_HIERARCHY = "The codebook has no hierarchy of {}, so there is no t_hierarchical."


def t_hierarchical(
    data: Dataset, by: Sequence[str], sensitive: str, *, missing: MissingSensitive = "ignore"
) -> float | None:
    """Find how far at most a class's distribution must be moved through the hierarchy to be the whole table's.

    The distance is the earth mover's: of two values it is the level of their lowest common category over the height of
    the hierarchy. So a class of values of one kind is far from the whole, which `t_equal` does not see. It protects
    against learning much of a person from the class, by one who knows the whole table's distribution and the person's
    keys.

    Source: Li, Li & Venkatasubramanian (2007), doi:10.1109/ICDE.2007.367856.

    Parameters
    ----------
    data, by, sensitive, missing
        As in `sfumato.measures.patterns.values`; the hierarchy is the codebook's.

    Returns
    -------
    float or None
        From 0 to 1; None without a hierarchy, and where there is no value.

    Examples
    --------
    >>> import polars as pl, sfumato as sf
    >>> from sfumato.data.codebook import Codebook, Variable
    >>> kinds = {"flu": ("lung",), "cough": ("lung",), "ulcer": ("gut",), "colitis": ("gut",)}
    >>> frame = pl.DataFrame({"ward": [1, 1, 2, 2], "ill": ["flu", "cough", "ulcer", "colitis"]})
    >>> data = sf.read(frame, codebook=Codebook({"ill": Variable(hierarchy=kinds)}))
    >>> t_hierarchical(data, ["ward"], "ill")
    0.5
    """
    found = values(data, by, sensitive, missing)
    return None if found is None else _furthest(found)


def _furthest(found: Values) -> float | None:
    """Half the differences of shares on each level of the tree below the top, summed and divided by the height."""
    if not found.variable.hierarchy:
        return None
    names = category_ladder(found.variable, found.levels.to_list()).names
    height = len(names[0]) - 1
    work = np.zeros(len(found.starts))
    for level in range(height):
        place: dict[Hashable, int] = {}
        node = np.array([place.setdefault(one[level], len(place)) for one in names])
        everywhere = np.bincount(node, weights=found.expected)
        key = found.group * len(place) + node[found.value]
        which, inverse = np.unique(key, return_inverse=True)
        share = np.bincount(inverse, weights=found.share)
        # where a class has more than its part of a node it has so much less of the others: one half tells all
        more = np.maximum(share - everywhere[which % len(place)], 0.0)
        work += np.bincount(which // len(place), weights=more)
    return float(work.max()) / height


def _compute(subject: Subject) -> Findings:
    return value_findings(subject, [("t_hierarchical", None, _furthest)], NO_HIERARCHY)


MEASURE = Measure(
    family="groups",
    place=42,
    doing="closeness of kinds of values",
    needs=frozenset({"table", "keys", "strata", "sensitive"}),
    figures=(
        Figure(
            "t_hierarchical",
            title="Kinds in a group against all (t-closeness)",
            what="How far a group's values are from those of the whole table through the codebook's hierarchy, in "
            "which values of one kind are near each other. 0 is equal; 1 has no kind in common.",
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
