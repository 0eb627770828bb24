"""Fits of a problem: exact, or protected with keyed noise on a keyed subsample."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.draws import Draws
from sfumato.errors import DataError
from sfumato.gate.analyses.boxing import exact_boxes, protected_boxes, protected_residuals
from sfumato.gate.analyses.keyed import Protected, noise_of, subsample
from sfumato.gate.analyses.problem import Problem
from sfumato.kernels.protected.fit import draws_of, fit, plain
from sfumato.kernels.protected.fitted import ProtectedFit, Unfit

__all__ = ["Unfit", "exact_fit", "protected_fit"]

Floats = NDArray[np.float64]


def exact_fit(problem: Problem) -> ProtectedFit:
    """The plain fit of all people of a problem.

    Raises
    ------
    Unfit
        There is none.
    """
    if problem.request.kind.name == "boxes":
        return exact_boxes(problem)
    return plain(**_given(problem))


def protected_fit(
    problem: Problem, draws: Draws | None, count: int, strength: str | None = None, dataset: str = ""
) -> Protected:
    """The fit of a subsample, with noise.

    Parameters
    ----------
    problem
        The people.
    draws
        From the gate's secret.
    count
        The largest group that is protected, for quantiles.
    strength
        The square of tau, where it is known; else it hangs on how many people there are.
    dataset
        Its name: another data set has other noise.

    Raises
    ------
    Unfit
        There is none.
    DataError
        Without a secret, or without each person's key.

    Notes
    -----
    The subsample hangs on the version, on who is in the scope and on the response, not on the model: models of one
    response share it, so that idle covariates do not average it away. The noise hangs on the canonical request and on
    its own strength: asked again it is the same, and other strengths have other noise.
    """
    words = problem.records.words
    if draws is None or words is None:
        raise DataError(
            "Answers with noise need each person's key: name the column of record ids (`record`) and the secret's file."
        )
    request = problem.request
    if request.kind.name == "boxes":
        return protected_boxes(problem, draws, words, count, strength, dataset)
    if request.kind.name == "residuals":
        return protected_residuals(problem, draws, words, count, dataset)
    given = _given(problem)
    many = draws_of(given["kind"], given["X"].shape[1])

    def noise(tau: float) -> Floats:
        what = noise_of(request, tau, dataset)
        return draws.normal(np.arange(many, dtype=np.uint64), what)

    more: dict[str, Any] = {"count": count} if request.probability else {}
    if strength is not None:
        more["tau"] = math.sqrt(Fraction(strength))
    told = fit(**given, **more, keep=subsample(problem, draws, words), noise=noise).rounded()
    return Protected(told, str(Fraction(repr(told.tau)) ** 2))


def _given(problem: Problem) -> dict[str, Any]:
    """What the kernels take."""
    request = problem.request
    X = problem.design[1]
    if request.kind.name == "correlation":
        X = X[:, 1:]
    given: dict[str, Any] = {"kind": request.kind.name, "X": X, "y": problem.y}
    if request.event:
        given["event"] = problem.event.astype(np.bool_)
    if request.cluster:
        given["cluster"] = problem.cluster
    if request.probability:
        given["probability"] = float(Fraction(request.probability))
    return given
