"""What a release of a fit holds: estimates, what protects them, and what that costs."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from sfumato.data.disclosure import Protected as Disclosed
from sfumato.gate.analyses.keyed import Protected
from sfumato.gate.analyses.kinds.boxes import PROBABILITIES
from sfumato.gate.analyses.problem import Problem
from sfumato.gate.analyses.values import digits
from sfumato.kernels.protected.fitted import SUBSAMPLE, ProtectedFit, significant, to_place_of

__all__ = ["COLUMNS", "content_of_fit"]

COLUMNS = ("term", "estimate", "se", "se_added", "low", "high", "p")


def content_of_fit(dataset: str, problem: Problem, fit: ProtectedFit, protected: Protected | None) -> dict[str, Any]:
    """A release, ready to be kept as canonical JSON, but for where the ledger stands.

    Parameters
    ----------
    dataset
        Its name.
    problem
        What was fitted.
    fit
        The figures, as they are told.
    protected
        How they are protected; None for an exact fit.
    """
    request = problem.request
    low, high, p = fit.low, fit.high, fit.p
    if protected is not None:
        low, high = (np.array([to_place_of(*one) for one in zip(end, fit.se, strict=True)]) for end in (low, high))
        p = np.array([significant(float(one), 2) for one in p])
    told = zip(fit.estimate, fit.se, fit.se_added, low, high, p, strict=True)
    labels = (protected.labels if protected else ()) or labels_of(problem, len(fit.estimate))
    rows = [[label, *(digits(float(one)) for one in own)] for label, own in zip(labels, told, strict=True)]
    if protected is None:
        disclosure: dict[str, Any] = {
            "sentence": "The fit is exact: the tables that give it are safe together.",
            "n": fit.n,
        }
    else:
        names = tuple(dict.fromkeys(request.names))
        tau = math.sqrt(Fraction(protected.noise))
        own = Disclosed(columns=names, subsample=SUBSAMPLE, tau=tau, n=fit.n, widening=fit.widening)
        disclosure = {
            **{k: digits(v) if isinstance(v, float) else v for k, v in own.model_dump(mode="json").items()},
            "sentence": own.sentence(),
        }
    boxes = {"boxes": _boxes(rows)} if request.kind.name in ("boxes", "residuals") else {}
    return {
        **boxes,
        "dataset": dataset,
        "version": request.version,
        "table": f"{request.kind.name}: {request.formula}",
        "by": [],
        "where": {str(node): list(groups) for node, groups in sorted(request.where.items())},
        "columns": list(COLUMNS),
        "rows": rows,
        "exact": protected is None,
        "disclosure": disclosure,
        "analysis": request.to_plain(),
    }


def labels_of(problem: Problem, many: int) -> list[str]:
    """What the estimates are of."""
    request = problem.request
    response, name = request.formula.response, request.kind.name
    if name == "quantile":
        return [f"{float(Fraction(request.probability)):g} quantile of {response}"]
    if name == "correlation":
        return [f"{response}:{request.covariates[0]}"]
    labels = list(problem.design[0])
    if name == "boxes":
        groups = [response if label == "Intercept" else label for label in labels]
        return [f"{group} {q:.0%}" for group in groups for q in PROBABILITIES]
    if name == "mean":
        return [f"mean of {response}" if label == "Intercept" else label for label in labels]
    return labels[len(labels) - many :]


def _boxes(rows: list[list[Any]]) -> list[list[Any]]:
    """A line for each box: its name, and its five figures."""
    many = len(PROBABILITIES)
    names = [row[0].rpartition(" ")[0] for row in rows[::many]]
    names = [name.partition("[")[2].removesuffix("]") or name for name in names]  # the group alone, where it is of some
    return [[name, *(row[1] for row in rows[i * many : (i + 1) * many])] for i, name in enumerate(names)]
