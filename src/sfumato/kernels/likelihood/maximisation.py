"""Climb a log-likelihood: Newton's method where the information is at hand, BFGS where only gradients are.

Far from the top the information need not be positive definite; then its eigenvalues are taken by size, so that every
step goes uphill, and steps are shortened until they do. No step is taken to where the likelihood is not finite.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["Summit", "Value", "bfgs", "careful", "differences", "flat", "inverse", "newton", "roots"]

_SHORTER = 30
_STEP = 1e-3  # standard errors
Floats = NDArray[np.float64]

FLAT = 1e-9
"""A direction with less information than this share of the most, after scaling, is taken to have none."""
_LEAST = 1e-6
_HALVINGS = 25
_ROUNDS = 60
_LONGEST = 50.0
"""Reach of the first step, in standard errors that each parameter would have if all others were known."""
_ENOUGH = 1e-4
"""Least share of what a step was to climb that it must climb."""
_ROUNDING = 1e-12
"""Share of a log-likelihood that is lost to rounding."""


class Value(NamedTuple):
    """A log-likelihood with its gradient, shape (P,), and an information, shape (P, P)."""

    log_likelihood: float
    gradient: Floats
    information: Floats


@dataclass(frozen=True)
class Summit:
    """Where an ascent ended.

    Parameters
    ----------
    theta
        The parameters, shape (P,).
    log_likelihood
        There.
    converged
        Whether the next step would be below the tolerance.
    steps
        Taken.
    """

    theta: Floats
    log_likelihood: float
    converged: bool
    steps: int


def _scaled(information: Floats) -> tuple[Floats, Floats, Floats]:
    """Eigenvalues and eigenvectors of an information scaled to a unit diagonal, and the scale."""
    size = np.sqrt(np.maximum(np.abs(np.diagonal(information)), 0.0))
    scale = np.where(size > 0, size, 1.0)
    values, vectors = np.linalg.eigh(information / np.outer(scale, scale))
    return values, vectors, scale


def inverse(information: Floats) -> tuple[Floats, bool]:
    """Invert an information; directions without any get none of the inverse.

    Parameters
    ----------
    information : ndarray, shape (P, P)
        Symmetric.

    Returns
    -------
    ndarray, bool
        The inverse, shape (P, P), and whether it is complete: no direction was flat or went uphill.

    Examples
    --------
    >>> inverse(np.diag([4.0, 0.0]))
    (array([[0.25, 0.  ],
           [0.  , 0.  ]]), False)
    """
    values, vectors, scale = _scaled(information)
    known = values > FLAT * max(float(values.max(initial=0.0)), 1e-300)
    half = vectors[:, known] / np.sqrt(values[known]) / scale[:, None]
    return half @ half.T, bool(known.all())


def _length(value: Value) -> float:
    """Length of Newton's step in standard errors."""
    values, vectors, scale = _scaled(value.information)
    size = np.maximum(np.abs(values), FLAT * max(float(np.abs(values).max(initial=0.0)), 1e-300))
    turned = vectors.T @ (value.gradient / scale)
    return math.sqrt(float((turned**2 / size).sum()))


@dataclass(frozen=True)
class _Model:
    """The log-likelihood around a point as a parabola that bends down in every direction, and where it is trusted.

    Parameters
    ----------
    bend, slope : ndarray, shape (P,)
        Its bends, which are eigenvalues of the information by size, and its slopes in their directions.
    back : ndarray, shape (P, P)
        Takes a step in these directions to one of the parameters. Lengths of steps are counted in the former.
    """

    bend: Floats
    slope: Floats
    back: Floats

    @classmethod
    def around(cls, value: Value, scale: Floats) -> _Model:
        """The parabola, with lengths in units of 1 / `scale`."""
        values, vectors = np.linalg.eigh(value.information / np.outer(scale, scale))
        return cls(np.abs(values), vectors.T @ (value.gradient / scale), vectors / scale[:, None])

    def top(self, reach: float) -> Floats:
        """The highest place no further away than `reach`, in the model's directions."""

        def away(more: float) -> Floats:
            return np.asarray(self.slope / np.maximum(self.bend + more, 1e-300))

        step = away(0.0)
        if float(np.linalg.norm(step)) <= reach:
            return step
        low, high = 0.0, float(np.linalg.norm(self.slope)) / reach  # no further than `reach` with this much more bend
        for _ in range(_ROUNDS):
            middle = (low + high) / 2
            low, high = (middle, high) if float(np.linalg.norm(away(middle))) > reach else (low, middle)
        return away(high)

    def gain(self, step: Floats) -> float:
        """How much the parabola rises with a step in its directions."""
        return float(self.slope @ step - 0.5 * self.bend @ step**2)


def _is_finite(value: Value) -> bool:
    """Whether an ascent can go on from here."""
    return bool(
        math.isfinite(value.log_likelihood)
        and np.isfinite(value.gradient).all()
        and np.isfinite(value.information).all()
    )


def careful(look: Callable[[Floats], Value]) -> Callable[[Floats], Value]:
    """The same, with a height of −∞ where numbers end, so that no step is taken there.

    Examples
    --------
    >>> def broken(theta):
    ...     raise np.linalg.LinAlgError
    >>> careful(broken)(np.zeros(1)).log_likelihood
    -inf
    """

    def guarded(theta: Floats) -> Value:
        try:
            return look(theta)
        except (np.linalg.LinAlgError, ArithmeticError):
            return Value(-math.inf, np.zeros(len(theta)), np.eye(len(theta)))

    return guarded


def newton(
    look: Callable[[Floats], Value], start: Floats, tolerance: float = 1e-7, most: int = 100
) -> tuple[Summit, Value]:
    """Newton's method within a region that grows where the likelihood is as foreseen and shrinks where it is not.

    Where the likelihood is nearly flat, its bend is mostly rounding, and a step that trusts it may lead anywhere. The
    region bounds such steps: its radius is counted in the least standard errors seen so far, as Moré (1978) counts it,
    so that a parameter that the data lose sight of on the way makes no step longer. A place where anything is not
    finite is not stepped on.

    Parameters
    ----------
    look
        Evaluates log-likelihood, gradient and information.
    start : ndarray, shape (P,)
        Where to begin.
    tolerance
        Stop where the next step is below this, in standard errors.
    most
        Most steps.

    Returns
    -------
    Summit, Value
        Where it ended, and what was found there.

    Raises
    ------
    ArithmeticError
        Where the start is a place at which anything is not finite.

    References
    ----------
    Moré (1978), The Levenberg-Marquardt algorithm: implementation and theory, doi:10.1007/BFb0067700.

    Examples
    --------
    >>> top, _ = newton(lambda t: Value(-float(t @ t), -2 * t, 2 * np.eye(1)), np.array([3.0]))
    >>> top.converged, top.theta.round(9).tolist()
    (True, [0.0])
    """
    theta, value = start, look(start)
    if not _is_finite(value):
        raise ArithmeticError("the likelihood is not finite where the ascent starts")
    size, reach = np.zeros(len(start)), _LONGEST
    for steps in range(most):
        length = _length(value)
        if length <= tolerance:
            return Summit(theta, value.log_likelihood, True, steps), value
        size = np.maximum(size, np.sqrt(np.abs(np.diagonal(value.information))))
        found = _within(look, theta, value, _Model.around(value, np.where(size > 0, size, 1.0)), reach)
        if found is None:
            return Summit(theta, value.log_likelihood, length < math.sqrt(tolerance), steps), value
        theta, value, reach = found
    return Summit(theta, value.log_likelihood, False, most), value


def _within(
    look: Callable[[Floats], Value], theta: Floats, value: Value, model: _Model, reach: float
) -> tuple[Floats, Value, float] | None:
    """The next place, what is there and the next reach; None where no step climbs."""
    slack = _ROUNDING * abs(value.log_likelihood)
    for _ in range(_HALVINGS):
        step = model.top(reach)
        away, foreseen = float(np.linalg.norm(step)), model.gain(step)
        new = look(theta + model.back @ step)
        climbed = new.log_likelihood - value.log_likelihood
        if _is_finite(new) and climbed >= _ENOUGH * foreseen - slack:
            if climbed < foreseen / 4 - slack:
                reach = away / 2
            elif climbed > 3 / 4 * foreseen - slack and away > reach / 2:
                reach = 4 * reach
            return theta + model.back @ step, new, reach
        reach = away / 4
    return None


def bfgs(look: Callable[[Floats], Value], start: Floats, tolerance: float = 1e-5, most: int = 300) -> Summit:
    """Climb by gradients; the information of `look` (for instance the scores' products) is used at the start only.

    Parameters
    ----------
    look, start, tolerance, most
        As for `newton`.

    Returns
    -------
    Summit

    Examples
    --------
    >>> bfgs(lambda t: Value(-float(t @ t), -2 * t, np.eye(1)), np.array([3.0])).theta.round(6).tolist()
    [0.0]
    """
    theta, value = start, look(start)
    H = _by_size(value.information)
    for steps in range(most):
        length = math.sqrt(max(float(value.gradient @ H @ value.gradient), 0.0))
        if length <= tolerance:
            return Summit(theta, value.log_likelihood, True, steps)
        step = H @ value.gradient * min(1.0, 3.0 / length)
        found = _search(look, theta, value, step)
        if found is None:
            fresh = _by_size(value.information)
            if np.array_equal(fresh, H):
                return Summit(theta, value.log_likelihood, length < 100 * tolerance, steps)
            H = fresh
            continue
        step, new = found
        H = _update(H, step, value.gradient - new.gradient)
        theta, value = theta + step, new
    return Summit(theta, value.log_likelihood, False, most)


def roots(information: Floats) -> Floats:
    """Directions one standard error long along which an information is the identity, as columns, shape (P, P).

    Directions that go uphill count by the size of their information; those with next to none are kept short.

    Examples
    --------
    >>> information = np.array([[4.0, 1.0], [1.0, 1.0]])
    >>> directions = roots(information)
    >>> bool(np.allclose(directions.T @ information @ directions, np.eye(2)))
    True
    """
    values, vectors, scale = _scaled(information)
    size = np.maximum(np.abs(values), _LEAST * max(float(np.abs(values).max(initial=0.0)), 1e-300))
    return np.asarray(vectors / np.sqrt(size) / scale[:, None])


def _by_size(information: Floats) -> Floats:
    """An inverse in which every direction counts by the size of its information, so that steps go uphill."""
    half = roots(information)
    return np.asarray(half @ half.T)


def _search(look: Callable[[Floats], Value], theta: Floats, value: Value, step: Floats) -> tuple[Floats, Value] | None:
    """The longest of step, step/2, … that climbs enough; None where none does."""
    slope = float(value.gradient @ step)
    for _ in range(_HALVINGS):
        new = look(theta + step)
        enough = value.log_likelihood + _ENOUGH * slope - _ROUNDING * abs(value.log_likelihood)
        if new.log_likelihood >= enough and _is_finite(new):
            return step, new
        step, slope = step / 2, slope / 2
    return None


def _update(H: Floats, s: Floats, y: Floats) -> Floats:
    """The inverse of the information after step s changed the gradient by −y."""
    sy = float(s @ y)
    if sy <= 1e-10 * math.sqrt(float(s @ s) * float(y @ y)):
        return H
    left = np.eye(len(s)) - np.outer(s, y) / sy
    return np.asarray(left @ H @ left.T + np.outer(s, s) / sy)


def differences(gradient: Callable[[Floats], Floats], theta: Floats, steps: Floats) -> Floats:
    """The observed information by central differences of the gradient, with steps of a small part of a standard error.

    Along directions in which the information is near the identity, no digits are lost where parameters are strongly
    correlated or of very different size.

    Parameters
    ----------
    gradient
        Of the log-likelihood.
    theta : ndarray, shape (P,)
        The parameters.
    steps : ndarray, shape (P, P) or (P,)
        Directions about one standard error long, as columns, see `roots`; or rough standard errors of the parameters.

    Returns
    -------
    ndarray, shape (P, P)

    Examples
    --------
    >>> differences(lambda t: -3 * t, np.zeros(1), np.ones(1)).round(6).tolist()
    [[3.0]]
    """
    root = steps if steps.ndim == 2 else np.diag(np.maximum(steps, 1e-150))
    turned = np.array([-_difference(gradient, theta, direction) for direction in root.T]) @ root
    back = np.linalg.inv(root)
    return np.asarray(back.T @ ((turned + turned.T) / 2) @ back)


def _difference(gradient: Callable[[Floats], Floats], theta: Floats, direction: Floats) -> Floats:
    """Slope of the gradient along a direction; where a flat likelihood makes the step too long, by shorter ones."""
    step = _STEP
    for _ in range(_SHORTER):
        h = step * direction
        try:
            with np.errstate(all="ignore"):
                slope = (gradient(theta + h) - gradient(theta - h)) / (2 * step)
        except OverflowError:
            slope = np.full(len(theta), np.nan)
        if np.isfinite(slope).all():
            return slope
        step /= 10
    return np.zeros(len(theta))


def flat(information: Floats) -> Floats:
    """Directions without information, as columns of unit length in the scaled parameters, shape (P, number).

    Examples
    --------
    >>> flat(np.diag([4.0, 0.0])).tolist()
    [[0.0], [1.0]]
    """
    values, vectors, _ = _scaled(information)
    return np.asarray(vectors[:, values <= FLAT * max(float(values.max(initial=0.0)), 1e-300)])
