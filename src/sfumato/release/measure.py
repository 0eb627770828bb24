"""All that is measured of a table, or of a table before and after: one list, so that every face shows the same."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from sfumato.data.codebook import Codebook
from sfumato.data.finding import Findings
from sfumato.data.pair import Pair
from sfumato.data.roles import Role
from sfumato.kernels.glm import Family
from sfumato.release.run import Progress

__all__ = ["MEASURES", "Measuring", "class_findings", "risk_findings", "utility_findings"]

MEASURES = (
    "ci_overlap",
    "class_size",
    "correlation",
    "delta",
    "il1s",
    "interval_disclosure",
    "k_anonymity",
    "l_distinct",
    "linkage_nearest",
    "linkage_one_to_one",
    "mean",
    "out_of_range",
    "quantile",
    "risk1",
    "risk2",
    "sd",
    "standardised_difference",
    "t_equal",
    "u_interactions",
    "u_main",
    "u_trees",
    "unchanged",
)
"""Names of all measures; a limit speaks of one of them."""


@dataclass(frozen=True)
class Measuring:
    """How things are measured.

    Parameters
    ----------
    w1, w2
        Widths of the robust Mahalanobis risk.
    interval
        Half-width of interval disclosure, in sd of the masked column.
    model, family
        The intended analysis: a formula, and `linear`, `logistic` or `probit`.
    """

    w1: float = 0.01
    w2: float = 0.05
    interval: float = 0.05
    model: str | None = None
    family: Family | None = None


def _each(measures: list[tuple[str, Callable[[], Findings]]], progress: Progress) -> Iterator[Findings]:
    for what, measure in measures:
        progress(f"measuring {what}")
        yield measure()


def class_findings(
    after: pl.DataFrame, before: pl.DataFrame | None, codebook: Codebook, by: tuple[str, ...], progress: Progress
) -> Findings:
    """What the classes of `by` give away: k-anonymity, sizes, diversity, closeness, and impossible values."""
    from sfumato.measures.risk import class_size, k_anonymity, l_diversity, out_of_range, t_closeness

    sensitive = tuple(
        n
        for n in codebook.with_role(Role.SENSITIVE, Role.OUTCOME)
        if n in after.columns and not codebook[n].numeric and n not in by
    )
    if not by:
        note = "No classes were measured: no step stratifies, and no categorical variable has the role key (by)."
        measures: list[tuple[str, Callable[[], Findings]]] = [("classes", lambda: Findings(notes=(note,)))]
    else:
        measures = [
            ("k-anonymity", lambda: k_anonymity.findings(after, by, before=before)),
            ("class sizes", lambda: class_size.findings(after, by, before=before)),
            ("diversity", lambda: l_diversity.findings(after, codebook, by, sensitive, before=before)),
            ("closeness", lambda: t_closeness.findings(after, codebook, by, sensitive, before=before)),
        ]
    measures.append(("impossible values", lambda: out_of_range.findings(after, codebook, before=before)))
    return Findings.together(_each(measures, progress))


def risk_findings(
    pair: Pair, how: Measuring, progress: Progress, unscaled: np.ndarray[Any, Any] | None = None
) -> Findings:
    """What somebody who knows true values of `pair.columns` could do with the protected table."""
    from sfumato.measures.risk import interval, linkage, mahalanobis, unchanged

    if not pair.columns:
        return Findings(notes=("No attack on numbers was measured: no numeric column was masked.",))
    measures: list[tuple[str, Callable[[], Findings]]] = [
        ("robust Mahalanobis risk", lambda: mahalanobis.findings(pair, w1=how.w1, w2=how.w2)),
        ("linkage", lambda: linkage.findings(pair, unscaled=unscaled)),
        ("interval disclosure", lambda: interval.findings(pair, k=how.interval)),
        ("unchanged values", lambda: unchanged.findings(pair)),
    ]
    return Findings.together([Findings(notes=pair.notes), *_each(measures, progress)])


def utility_findings(pair: Pair, how: Measuring, progress: Progress) -> Findings:
    """What the protected table still says."""
    from sfumato.measures.utility import delta, il1s, model, moments, propensity, quantiles, trees

    whole = pair.tables
    measures: list[tuple[str, Callable[[], Findings]]] = [
        ("propensity", lambda: propensity.findings(whole)),
        ("propensity with trees", lambda: trees.findings(whole)),
        ("delta", lambda: delta.findings(pair)),
        ("information loss per cell", lambda: il1s.findings(pair)),
        ("means, spreads, correlations", lambda: moments.findings(whole)),
        ("quantiles", lambda: quantiles.findings(whole)),
    ]
    if how.model is not None:
        text, family = how.model, how.family or "linear"
        measures.append(("the intended analysis", lambda: model.findings(whole, text, family)))
    return Findings.together([Findings(notes=pair.notes), *_each(measures, progress)])
