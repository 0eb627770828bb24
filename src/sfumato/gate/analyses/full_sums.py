"""What sums must keep to that are told to all digits: they leave open who is in a cell."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from sfumato.gate.case import FEW_VALUES
from sfumato.gate.margin import Margin, Node, base_of
from sfumato.gate.records import Records, Scope

__all__ = ["leave_open"]

Ints = NDArray[np.int64]

_BITS = 60
"""What is open must be more than this: a sum to 12 digits tells 40 bits, and a million sets more are left."""


def leave_open(records: Records, margins: Collection[Margin]) -> bool:
    """Whether sums may be told to all their digits, as an exact fit tells them; tables tell three.

    Somebody who knows the values of all people, and not who is ill, adds up every set of as many as there are ill: with
    few people one set alone has the right sum. So the logarithm of how many sets there are must be above 60 bits, for
    each variable of the margin with the others taken as known. That nobody's value makes up most of a cell is decided
    as it is for tables.

    Parameters
    ----------
    records
        The data.
    margins
        The footprint of an exact fit.

    Notes
    -----
    Sums of variables with few values are decided as counts of these, and need no more. Several sums are not looked at
    together: each tells of another variable.
    """
    return all(
        _bits(records.scope([margin.version]), margin.nodes, node) > _BITS
        for margin in margins
        if margin.value and records.distinct(base_of(margin.value)) > FEW_VALUES
        for node in margin.nodes
    )


def _bits(scope: Scope, nodes: tuple[Node, ...], node: Node) -> float:
    """Logarithm of the least number of sets that could be a cell, of all who are alike but for one variable."""
    own, beside = scope.margin(nodes), scope.margin([one for one in nodes if one != node])
    of = np.zeros(len(own.count), dtype=np.int64)
    of[own.cell] = beside.count[beside.cell]
    part = (own.count > 0) & (own.count < of)
    n, m = of[part].astype(np.float64), own.count[part].astype(np.float64)
    sets = (gammaln(n + 1) - gammaln(m + 1) - gammaln(n - m + 1)) / np.log(2)
    return float(sets.min(initial=np.inf))
