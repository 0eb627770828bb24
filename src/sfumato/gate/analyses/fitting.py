"""Fits of a problem: exact, or protected with keyed noise on a keyed subsample."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.draws import Draws, Purpose
from sfumato.errors import DataError
from sfumato.gate.analyses.kinds.boxes import PROBABILITIES
from sfumato.gate.analyses.problem import Problem
from sfumato.gate.analyses.scope import digest_of, lines_of
from sfumato.gate.analyses.values import node_of
from sfumato.kernels.protected.fit import draws_of, fit, plain
from sfumato.kernels.protected.fitted import SHARE, SUBSAMPLE, ProtectedFit, Unfit, tau_of

__all__ = ["Protected", "Unfit", "exact_fit", "protected_fit"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Protected:
    """A protected fit.

    Parameters
    ----------
    told
        Its figures, rounded as they are told.
    noise
        The square of its tau, as knowledge holds it.
    """

    told: ProtectedFit
    noise: str


def exact_fit(problem: Problem) -> ProtectedFit:
    """The plain fit of all people of a problem.

    Raises
    ------
    Unfit
        There is none.
    """
    if problem.request.kind.name == "boxes":
        return _five(problem, lambda part, q: plain("quantile", part.X, part.y, probability=q))
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
        return _protected_boxes(problem, draws, words, count, strength, dataset)
    given = _given(problem)
    many = draws_of(given["kind"], given["X"].shape[1])

    def noise(tau: float) -> Floats:
        what = _noise_of(problem, tau, dataset)
        return draws.normal(np.arange(many, dtype=np.uint64), what)

    more: dict[str, Any] = {"count": count} if request.probability else {}
    if strength is not None:
        more["tau"] = math.sqrt(Fraction(strength))
    told = fit(**given, **more, keep=_subsample(problem, draws, words), noise=noise).rounded()
    return Protected(told, str(Fraction(repr(told.tau)) ** 2))


@dataclass(frozen=True)
class _Part:
    """The people of one box."""

    X: Floats
    y: Floats
    keep: NDArray[np.bool_]
    place: int


def _five(problem: Problem, quantile: Callable[[_Part, float], ProtectedFit], keep: Any = None) -> ProtectedFit:
    """Five quantiles of each group, put together."""
    X = problem.design[1]
    kept = np.ones(problem.n, dtype=bool) if keep is None else keep
    found = []
    for place, column in enumerate(X.T):
        rows = column > 0
        part = _Part(X[rows], problem.y[rows], kept[rows], place)
        found += [quantile(part, q) for q in PROBABILITIES]
    figures = (np.concatenate([getattr(one, name) for one in found]) for name in ("estimate", "se", "se_added"))
    estimate, se, added = figures
    first = found[0]
    return ProtectedFit("boxes", estimate, se, added, int(kept.sum()), first.tau, first.share_kept, first.bound)


def _protected_boxes(
    problem: Problem, draws: Draws, words: NDArray[np.uint64], count: int, strength: str | None, dataset: str
) -> Protected:
    """Boxes with noisy ranks: who is in one moves five ranks, so that the five together are as one with less noise."""
    keep = _subsample(problem, draws, words)
    X, many = problem.design[1], len(PROBABILITIES)
    least = min(int(np.count_nonzero(keep & (column > 0))) for column in X.T)
    worst = max(max(q, 1 - q) / math.sqrt(q * (1 - q)) for q in PROBABILITIES)
    tau = tau_of(least, SHARE, worst) if strength is None else math.sqrt(Fraction(strength) * many)
    what = _noise_of(problem, tau, dataset)
    noise = draws.normal(np.arange(X.shape[1] * many, dtype=np.uint64), what).reshape(-1, many)

    def quantile(part: _Part, q: float) -> ProtectedFit:
        own = noise[part.place, [PROBABILITIES.index(q)]]
        more = {"keep": part.keep, "noise": own, "tau": tau, "probability": q, "count": count}
        return fit("quantile", part.X, part.y, **more)  # type: ignore[arg-type]

    return Protected(_five(problem, quantile, keep).rounded(), str(Fraction(repr(tau)) ** 2 / many))


def _noise_of(problem: Problem, tau: float, dataset: str) -> Purpose:
    """What noise is drawn for: another data set, version, request or strength has other noise."""
    request = problem.request
    return Purpose("fit noise", request.version, f"{tau!r}|{dataset}|{request.text}")


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


def _subsample(problem: Problem, draws: Draws, words: NDArray[np.uint64]) -> NDArray[np.bool_]:
    """Who is looked at: 95% of the people, or of the clusters."""
    request = problem.request
    who = digest_of(problem.records, lines_of(problem.records, request))
    beside = [node_of(name).variable for name in (request.event, request.cluster)]
    response = node_of(request.formula.response).variable
    what = Purpose("subsample", response, "|".join([request.version, who, *beside]))
    if request.cluster:
        _, number = np.unique(problem.cluster, return_inverse=True)
        own = np.zeros(int(number.max()) + 1, dtype=np.uint64)
        np.add.at(own, number, words[problem.lines])  # a cluster's key: the sum of its members' keys
        return (draws.uniform(own, what) < SUBSAMPLE)[number]
    unit = words[problem.lines]
    if problem.records.counts is not None:  # people of one line are told apart by their place in it
        first = np.concatenate([[True], problem.lines[1:] != problem.lines[:-1]])
        start = np.flatnonzero(first)
        place = np.arange(len(unit)) - np.repeat(start, np.diff(np.append(start, len(unit))))
        return draws.uniform(unit, what, place.astype(np.uint64)) < SUBSAMPLE
    return draws.uniform(unit, what) < SUBSAMPLE
