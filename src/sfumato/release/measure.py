"""All that is measured of a table, or of a table before and after: one list, so that every face shows the same."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Set
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from sfumato.data.codebook import Codebook
from sfumato.data.disclosure import Additive, Disclosure, Misclassified, Swapped
from sfumato.data.finding import Findings
from sfumato.data.pair import Pair
from sfumato.data.roles import Role
from sfumato.kernels.glm import Family
from sfumato.measures.risk.attackers.attacking import Attacking
from sfumato.plan.limits import USUAL
from sfumato.release.run import Progress

__all__ = ["MEASURES", "Measuring", "class_findings", "risk_findings", "utility_findings"]

MEASURES = (
    "attribute_alike",
    "attribute_nearest",
    "attribute_posterior",
    "ci_overlap",
    "class_size",
    "correlation",
    "delta",
    "h_rank",
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

_GIVES: dict[str, Set[str]] = {
    "k-anonymity": {"k_anonymity"},
    "class sizes": {"class_size"},
    "diversity": {"l_distinct"},
    "closeness": {"t_equal"},
    "impossible values": {"out_of_range"},
    "robust Mahalanobis risk": {"risk1", "risk2"},
    "linkage": {"linkage_nearest", "linkage_one_to_one"},
    "interval disclosure": {"interval_disclosure"},
    "how well records are hidden": {"h_rank"},
    "what wrong records give away": {"attribute_posterior", "attribute_nearest", "attribute_alike"},
    "unchanged values": {"unchanged"},
    "propensity": {"u_main", "u_interactions"},
    "propensity with trees": {"u_trees"},
    "delta": {"delta"},
    "information loss per cell": {"il1s"},
    "means, spreads, correlations": {"mean", "sd", "correlation"},
    "quantiles": {"quantile"},
    "the intended analysis": {"standardised_difference", "ci_overlap"},
}
"""What each part measures, where only some measures are asked for; a part that is not listed is always measured."""


NOISY_STRATA = (
    "{columns}: released strata do not follow from true ones, so that attackers are not taken to know in which of them "
    "a record is."
)


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
    attacking
        Which attackers the h-rank is of; None measures it, with the default ones, only where noise is disclosed.
    """

    w1: float = 0.01
    w2: float = 0.05
    interval: float = 0.05
    model: str | None = None
    family: Family | None = None
    attacking: Attacking | None = None


def _each(
    measures: list[tuple[str, Callable[[], Findings]]], progress: Progress, only: Set[str] | None
) -> Iterator[Findings]:
    for what, measure in measures:
        if only is None or not only.isdisjoint(_GIVES.get(what, only)):
            progress(f"measuring {what}")
            yield measure()


def _sensitive(codebook: Codebook, after: pl.DataFrame) -> tuple[str, ...]:
    """Released categories that nobody must learn."""
    names = codebook.with_role(Role.SENSITIVE, Role.OUTCOME)
    return tuple(n for n in names if n in after.columns and not codebook[n].numeric)


def class_findings(
    after: pl.DataFrame,
    before: pl.DataFrame | None,
    codebook: Codebook,
    by: tuple[str, ...],
    progress: Progress,
    only: Set[str] | None = None,
) -> Findings:
    """What the classes of `by` give away: k-anonymity, sizes, diversity, closeness, and impossible values.

    With `only`, parts that give none of these measures are left out.
    """
    from sfumato.measures.risk import class_size, k_anonymity, l_diversity, out_of_range, t_closeness

    sensitive = tuple(n for n in _sensitive(codebook, after) if n not in by)
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
    return Findings.together(_each(measures, progress, only))


def risk_findings(
    pair: Pair,
    how: Measuring,
    progress: Progress,
    unscaled: np.ndarray[Any, Any] | None = None,
    only: Set[str] | None = None,
    disclosure: Disclosure | None = None,
) -> Findings:
    """What somebody who knows true values of `pair.columns` could do with the protected table.

    The h-rank is measured where noise is disclosed, or where `how` or `only` ask for it: elsewhere linkage says it all.
    """
    from sfumato.measures.risk import attribute, linkage, mahalanobis, unchanged
    from sfumato.measures.risk import interval_disclosure as interval
    from sfumato.measures.risk.h_rank import measure as attacks

    told = disclosure or Disclosure()
    sensitive = _sensitive(pair.codebook, pair.after)
    changed = tuple(dict.fromkeys((*pair.columns, *_exchanged(told))))
    hidden = ("how well records are hidden", lambda: attacks.findings(pair, told, how.attacking or USUAL))
    given_away = ("what wrong records give away", lambda: attribute.findings(pair, told, sensitive))
    same = ("unchanged values", lambda: unchanged.findings(pair, changed))
    random = any(isinstance(part, Additive | Misclassified) for part in told)
    notes = pair.notes
    if unknown := [n for n in pair.by if n not in pair.known_by] if pair.aligned else []:
        notes = (*notes, NOISY_STRATA.format(columns=", ".join(unknown)))
    if not pair.columns:
        # Attackers may still compare indicators that a category has become.
        known = pair.aligned and bool(attacks.known_columns(pair, told)[0])
        if not known:
            notes = (*notes, "No attack on numbers was measured: no numeric column was masked.")
        further = [same, *([hidden] if known else []), *([given_away] if random else [])]
        return Findings.together([Findings(notes=notes), *_each(further, progress, only)])
    measures: list[tuple[str, Callable[[], Findings]]] = [
        ("robust Mahalanobis risk", lambda: mahalanobis.findings(pair, w1=how.w1, w2=how.w2)),
        ("linkage", lambda: linkage.findings(pair, unscaled=unscaled)),
        ("interval disclosure", lambda: interval.findings(pair, k=how.interval)),
        same,
    ]
    if random or how.attacking is not None or (only is not None and "h_rank" in only):
        measures += [hidden, given_away]
    return Findings.together([Findings(notes=notes), *_each(measures, progress, only)])


def _exchanged(disclosure: Disclosure) -> tuple[str, ...]:
    """Columns whose values were exchanged, numbers or not."""
    return tuple(n for part in disclosure if isinstance(part, Misclassified | Swapped) for n in part.columns)


def utility_findings(pair: Pair, how: Measuring, progress: Progress, only: Set[str] | None = None) -> Findings:
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
    return Findings.together([Findings(notes=pair.notes), *_each(measures, progress, only)])
