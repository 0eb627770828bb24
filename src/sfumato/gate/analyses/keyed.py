"""What protected fits draw by keys: who is looked at, and the noise."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.draws import Draws, Purpose
from sfumato.gate.analyses.problem import Problem
from sfumato.gate.analyses.request import Request
from sfumato.gate.analyses.scope import digest_of, lines_of
from sfumato.gate.analyses.values import node_of
from sfumato.kernels.protected.fitted import SUBSAMPLE, ProtectedFit

__all__ = ["Protected", "noise_of", "subsample"]


@dataclass(frozen=True)
class Protected:
    """A protected fit.

    Parameters
    ----------
    told
        Its figures, rounded as they are told.
    noise
        The square of its tau, as knowledge holds it.
    labels
        What the estimates are of, where the design does not say it.
    """

    told: ProtectedFit
    noise: str
    labels: tuple[str, ...] = ()


def noise_of(request: Request, tau: float, dataset: str) -> Purpose:
    """What noise is drawn for: another data set, version, request or strength has other noise."""
    return Purpose("fit noise", request.version, f"{tau!r}|{dataset}|{request.text}")


def subsample(problem: Problem, draws: Draws, words: NDArray[np.uint64]) -> NDArray[np.bool_]:
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
