"""Which estimate that assumes less stands beside that of a likelihood."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sfumato.inference.corrected.estimate import corrected_covariance, little_known, solve
from sfumato.inference.corrected.evidence import WALD, evidence_of
from sfumato.inference.corrected.hidden import read_hidden
from sfumato.inference.corrected.obstacles import obstacle
from sfumato.inference.estimators.conditional import conditional
from sfumato.inference.second import Alternative
from sfumato.inference.work import Work
from sfumato.kernels.likelihood.negative_binomial import NegativeBinomial

__all__ = ["beside"]

_ASSUMED = {
    "linear": "assumes errors that are normal, of equal variance, and independent of the true values",
    "poisson": "assumes that counts vary as Poisson's do around their mean",
}
_NEGATIVE_BINOMIAL = "assumes that counts are negative binomial around their mean"


def beside(work: Work) -> Alternative | None:
    """Find a second estimate: the conditional score for `logit`, corrected equations for `linear` and `poisson`.

    Parameters
    ----------
    work
        A model with its data.

    Returns
    -------
    Alternative or None
        None where it cannot be had.
    """
    if work.family == "logit":
        return conditional(work)
    return _corrected(work) if work.family in _ASSUMED else None


def _corrected(work: Work) -> Alternative | None:
    whole, every = work.problem.whole, work.problem
    if not (every.discrete or every.continuous) and every.outcome.exact:
        return None
    problem = every.complete().by("HC3" if every.rule == "model" else every.rule)
    if not len(whole) or obstacle(problem, work.family, work.model.response) is not None:
        return None
    clusters = None if work.clusters is None else work.clusters[whole]
    rest = replace(work, problem=problem, clusters=clusters)
    hidden = read_hidden(problem, work.model.response)
    known = evidence_of(problem, hidden, rest.groups)
    if little_known(known, work.family) or (known is not None and known.weak_numbers(WALD[work.family])):
        return None  # there its standard errors, and a test that rests on them, do not hold
    found = solve(rest, hidden)
    if isinstance(found, str):
        return None
    covariance = corrected_covariance(rest, found)
    influence = np.zeros((every.n, work.count))
    influence[whole] = found.influence
    gaps = f", and leaves out {every.n - len(whole)} records with gaps" if len(whole) < every.n else ""
    assumes = f"assumes nothing of how responses and true values are distributed{gaps}"
    negative_binomial = isinstance(every.outcome.response, NegativeBinomial)
    first = _NEGATIVE_BINOMIAL if negative_binomial else _ASSUMED[work.family]
    return Alternative("corrected", found.estimate, np.sqrt(np.diagonal(covariance)), influence, assumes, first)
