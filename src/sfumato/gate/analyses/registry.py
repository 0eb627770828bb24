"""All kinds of analysis, by name."""

from __future__ import annotations

from collections.abc import Mapping

from sfumato.errors import DataError
from sfumato.gate.analyses.kind import Kind
from sfumato.gate.analyses.kinds import (
    boxes,
    chi2,
    correlation,
    cox,
    crosstab,
    histogram,
    linear,
    logistic,
    mean,
    mixed,
    poisson,
    probit,
    quantile,
    residuals,
    survival,
    t,
)

__all__ = ["KINDS", "kind_of"]

KINDS: Mapping[str, Kind] = {
    module.KIND.name: module.KIND
    for module in (
        crosstab,
        histogram,
        chi2,
        survival,
        mean,
        quantile,
        boxes,
        correlation,
        t,
        linear,
        residuals,
        logistic,
        probit,
        poisson,
        cox,
        mixed,
    )
}
"""In the order in which people are shown them."""


def kind_of(name: str) -> Kind:
    """The kind of that name.

    Raises
    ------
    DataError
        There is none; with those that there are.
    """
    if name not in KINDS:
        raise DataError(f"There is no analysis of that kind. Kinds: {', '.join(KINDS)}.")
    return KINDS[name]
