"""Hamiltonian Monte Carlo: Markov chains that follow the gradient of a log-density.

A draw θ is given a random momentum and moves along a path of nearly constant energy, by leapfrog steps in coordinates
in which the target is nearly round. What the steps' error does is undone by accepting or refusing the end of the path.
While the chains warm up, the length of a step is tuned to the share of paths that is accepted, and the coordinates are
learned from the draws of all chains; afterwards both are fixed. Lengths of paths are random around a quarter turn,
after which a normal target is forgotten.

Sources: Neal (2011), MCMC using Hamiltonian dynamics, in Handbook of Markov Chain Monte Carlo, chapter 5,
doi:10.1201/b10905-6; Hoffman and Gelman (2014), The No-U-Turn sampler, Journal of Machine Learning Research 15,
1593-1623 (dual averaging of the step).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.progress import Progress, quiet

__all__ = ["WARM_UP", "Chains", "hamiltonian_chains"]

Floats = NDArray[np.float64]
Density = Callable[[Floats], tuple[float, Floats]]

WARM_UP = (75, 100, 200, 75)
"""Draws in each stage of the warm-up; the coordinates are learned anew after every stage but the last."""
ACCEPT = 0.8
"""Share of paths that is to be accepted."""
_QUARTER = math.pi / 2
_MOST_STEPS = 32
_DIVERGENT = 1000.0


@dataclass(frozen=True)
class Chains:
    """What the chains drew after their warm-up.

    Parameters
    ----------
    draws : ndarray, shape (C, D, P)
        Parameters by chain.
    log_density : ndarray, shape (C, D)
        Of the draws, up to a constant.
    acceptance : ndarray, shape (C, D)
        Probability, 0 to 1, with which the end of each path was accepted.
    diverging : ndarray of bool, shape (C, D)
        Whether the energy of a path was lost: a sign that there are places which the chains cannot reach.
    """

    draws: Floats
    log_density: Floats
    acceptance: Floats
    diverging: NDArray[np.bool_]


def hamiltonian_chains(
    density: Density,
    starts: Floats,
    root: Floats,
    number: int,
    rng: np.random.Generator,
    warm_up: tuple[int, ...] = WARM_UP,
    progress: Progress = quiet,
) -> Chains:
    """Draw from a smooth density known up to a constant.

    Parameters
    ----------
    density
        Takes parameters of shape (P,), gives the log-density and its gradient; −∞ or NaN where there is none.
    starts : ndarray, shape (C, P)
        Where each chain begins: more widely spread than the target, so that agreement means something.
    root : ndarray, shape (P, P)
        Root of a guess of the target's covariance, R R'; of full rank.
    number
        Of draws D of each chain.
    rng
        Source of randomness; it hides nothing.
    warm_up
        Draws in each stage of the warm-up.
    progress
        Told of every hundredth draw.

    Examples
    --------
    >>> scale = np.array([1.0, 100.0])
    >>> rng = np.random.default_rng(1)
    >>> def density(x):
    ...     return -0.5 * float(((x / scale) ** 2).sum()), -x / scale**2
    >>> chains = hamiltonian_chains(density, rng.normal(size=(4, 2)), np.eye(2), 500, rng)
    >>> spread = chains.draws.reshape(-1, 2).std(axis=0) / scale
    >>> bool(np.all((spread > 0.5) & (spread < 2)))
    True
    """

    def tell(draw: int) -> None:
        if draw % 100 == 0:
            progress("drawing Markov chains", draw / (sum(warm_up) + number))

    states = [_State(start, *density(start)) for start in starts]
    size = len(root.T) ** -0.25
    for stage, count in enumerate(warm_up):
        tuned = _DualAverage(size)
        kept = []
        for draw in range(count):
            tell(sum(warm_up[:stage]) + draw)
            moves = [_move(density, root, state, tuned.size, rng) for state in states]
            states = [move.state for move in moves]
            tuned.learn(float(np.mean([move.acceptance for move in moves])))
            kept.append([state.theta for state in states])
        size = tuned.average
        if stage < len(warm_up) - 1:
            root = _learned(root, np.array(kept[count // 3 :]).reshape(-1, len(root)))
    rows = []
    for draw in range(number):
        tell(sum(warm_up) + draw)
        moves = [_move(density, root, state, size, rng) for state in states]
        states = [move.state for move in moves]
        rows.append(moves)
    return Chains(
        np.array([[move.state.theta for move in row] for row in rows]).swapaxes(0, 1),
        np.array([[move.state.log_density for move in row] for row in rows]).T,
        np.array([[move.acceptance for move in row] for row in rows]).T,
        np.array([[move.diverging for move in row] for row in rows]).T,
    )


@dataclass(frozen=True)
class _State:
    """Where a chain stands."""

    theta: Floats
    log_density: float
    gradient: Floats


@dataclass(frozen=True)
class _Move:
    """Where a path led."""

    state: _State
    acceptance: float
    diverging: bool


def _move(density: Density, root: Floats, state: _State, size: float, rng: np.random.Generator) -> _Move:
    """One path from a state, accepted or refused."""
    momentum = rng.normal(size=len(root))
    steps = min(max(math.ceil(rng.uniform(0.5, 1.5) * _QUARTER / size), 1), _MOST_STEPS)
    chance = rng.random()
    energy = state.log_density - 0.5 * float(momentum @ momentum)
    end, p = state, momentum
    for _ in range(steps):
        p = p + 0.5 * size * (root.T @ end.gradient)
        theta = end.theta + root @ (size * p)
        end = _State(theta, *density(theta))
        if not (math.isfinite(end.log_density) and np.isfinite(end.gradient).all()):
            return _Move(state, 0.0, True)  # the way back would meet the same place, so that to refuse is fair
        p = p + 0.5 * size * (root.T @ end.gradient)
    gain = end.log_density - 0.5 * float(p @ p) - energy
    acceptance = math.exp(min(gain, 0.0)) if math.isfinite(gain) else 0.0
    return _Move(end if chance < acceptance else state, acceptance, not gain > -_DIVERGENT)


class _DualAverage:
    """Tunes the length of a step, in the notation of Hoffman and Gelman (2014), section 3.2."""

    def __init__(self, size: float) -> None:
        self.mu = math.log(10 * size)
        self.size = self.average = size
        self.m, self.H, self.log_average = 0, 0.0, 0.0

    def learn(self, acceptance: float) -> None:
        """Take in what share was accepted with the present step."""
        self.m += 1
        m = self.m
        self.H += (ACCEPT - acceptance - self.H) / (m + 10)
        log_size = self.mu - math.sqrt(m) / 0.05 * self.H
        log_size = min(max(log_size, -20.0), math.log(4))
        part = m**-0.75
        self.log_average = part * log_size + (1 - part) * self.log_average
        self.size, self.average = math.exp(log_size), math.exp(self.log_average)


def _learned(root: Floats, draws: Floats) -> Floats:
    """The root of the draws' covariance, drawn towards the former one where they are few for their dimension."""
    n, P = draws.shape
    u = np.linalg.solve(root, (draws - draws.mean(axis=0)).T)
    covariance = (u @ u.T + P * np.eye(P)) / (n + P)
    return np.asarray(root @ np.linalg.cholesky(covariance))
