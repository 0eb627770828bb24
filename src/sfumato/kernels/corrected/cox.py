"""Cox's proportional hazards model for hidden covariates: score equations that are unbiased for those of the true data.

The sums over those at risk are sums of unbiased estimates of e^{b'x} and x e^{b'x}, so that their ratio goes to that of
the true values; ties by Efron's method. As a ratio of few is biased, and estimates for categories may sum to less than
0, follow-up ends for everybody where few are left at risk: how many they are is known beforehand, so that ending there
leaves the equations unbiased.

References
----------
Nakamura (1992), Proportional hazards model with covariates subject to measurement error, doi:10.2307/2532348.
Kong and Gu (1999), Consistent estimation in Cox proportional hazards model with covariate measurement errors,
Statistica Sinica 9, 953. Zucker and Spiegelman (2008), doi:10.1002/sim.3018. Lin and Wei (1989),
doi:10.1080/01621459.1989.10478874.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, NamedTuple, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from sfumato.kernels.cox import Spans, spans

__all__ = ["AT_RISK", "Failure", "Root", "Tilts", "root"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]
Failure = Literal["", "few", "risk", "root"]

AT_RISK = 20
"""Follow-up of hidden covariates ends where fewer records than these are at risk."""
_SHARES = (0.25, 0.5, 0.75, 1.0)
"""Several roots exist: the one is followed that the noise leads to as it grows from none."""
_NEAR = 1e-8
"""Newton's method stops where its next step is below this, in standard errors."""
_ENOUGH = 1e-4
_ROUNDING = 1e-12
_STEPS = 50
_HALVINGS = 25


class Tilts(Protocol):
    """Unbiased estimates for n records with p covariates."""

    @property
    def linear(self) -> Floats:
        """For x of each record, shape (n, p)."""
        ...

    def at(self, b: Floats) -> tuple[Floats, Floats]:
        """For e^{b'x} and x e^{b'x} of each record, shapes (n,) and (n, p)."""
        ...

    def second(self, b: Floats, weight: Floats) -> Floats:
        """For the weighted sum of xx'e^{b'x}, shape (p, p)."""
        ...

    def take(self, rows: Ints) -> Self:
        """Some records, in that order."""
        ...

    def scaled(self, share: float) -> Self:
        """As if there were only this share of the noise."""
        ...


@dataclass(frozen=True)
class Root:
    """Where the equations end.

    Parameters
    ----------
    estimate
        Coefficients, shape (p,); NaN where there are none.
    information
        The equations' derivative, with its sign turned, shape (p, p).
    influence
        What each record adds to the equations, per unit of its weight, shape (n, p).
    log_likelihood
        The corrected partial log-likelihood.
    events, left_out
        Events that the equations hold, and those after follow-up ended.
    failure
        Why there are no estimates: `few`, more events were left out than stayed; `risk`, an estimated sum over those at
        risk is not above 0; `root`, the equations have no root with a positive definite derivative.
    """

    estimate: Floats
    information: Floats
    influence: Floats
    log_likelihood: float
    events: int
    left_out: int
    failure: Failure = ""


def root(hidden: Tilts, weight: Floats, time: Floats, event: Mask, start: Floats, at_risk: int = AT_RISK) -> Root:
    """Solve the corrected equations.

    Parameters
    ----------
    hidden
        What is known of the covariates.
    weight : ndarray, shape (n,)
        Of each record.
    time, event : ndarray, shape (n,)
        When each record was last seen, and whether that was an event.
    start : ndarray, shape (p,)
        Coefficients of the naive fit.
    at_risk
        Follow-up ends where fewer records than these are at risk.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> @dataclass
    ... class Exact:
    ...     linear: np.ndarray
    ...
    ...     def at(self, b):
    ...         s0 = np.exp(self.linear @ b)
    ...         return s0, s0[:, None] * self.linear
    ...
    ...     def second(self, b, weight):
    ...         return (self.linear * (weight * np.exp(self.linear @ b))[:, None]).T @ self.linear
    ...
    ...     def take(self, rows):
    ...         return Exact(self.linear[rows])
    ...
    ...     def scaled(self, share):
    ...         return self
    >>> x, time = np.array([[0.0], [1.0], [0.0], [1.0]]), np.array([4.0, 3.0, 2.0, 1.0])
    >>> root(Exact(x), np.ones(4), time, np.ones(4, dtype=bool), np.zeros(1), at_risk=1).estimate.round(4).tolist()
    [0.9406]
    """
    kept = event & (len(time) - np.searchsorted(np.sort(time), time) >= at_risk)
    events, left_out = int(kept.sum()), int((event & ~kept).sum())
    nothing = np.full(len(start), np.nan)
    none = Root(nothing, np.diag(nothing), np.full((len(time), len(start)), np.nan), math.nan, events, left_out)
    if events < left_out or not events:
        return _failed(none, "few")
    order = spans(time, kept)
    ordered, risks = hidden.take(order.order), _risks(order, weight[order.order])
    b = np.asarray(start, dtype=np.float64)
    for share in _SHARES:
        found = _climb(_Equations(ordered.scaled(share), risks), b)
        if isinstance(found, str):
            return _failed(none, found)
        b = found
    last = _Equations(ordered, risks)
    value = last.look(b)
    if value is None:
        return _failed(none, "risk")
    influence = np.empty_like(none.influence)
    influence[order.order] = last.influence(b)
    return Root(b, value.information, influence, value.log_likelihood, events, left_out)


def _failed(none: Root, why: Failure) -> Root:
    return Root(
        none.estimate, none.information, none.influence, none.log_likelihood, none.events, none.left_out, failure=why
    )


@dataclass(frozen=True)
class _Risks:
    """Who is at risk when: records by their end, and one part of a tie for each event.

    Parameters
    ----------
    weight
        Of each record, shape (n,).
    event
        Places of the events, shape (m,).
    at
        Which of the T times with events each of them stands at, shape (m,).
    part
        Share of the tie that is no longer at risk for each, shape (m,).
    each
        Mean weight of the events of a tie, for each event, shape (m,).
    first
        Place of the first record at risk at each time, shape (T,).
    before
        Times with events at which each record is at risk, shape (n,).
    """

    weight: Floats
    event: Ints
    at: Ints
    part: Floats
    each: Floats
    first: Ints
    before: Ints

    def at_risk(self, values: Floats) -> Floats:
        """Sums over those at risk, less what has left the tie, for each event."""
        values = values * (self.weight if values.ndim == 1 else self.weight[:, None])
        sums = np.cumsum(values[::-1], axis=0)[::-1][self.first]
        tied = _grouped(values[self.event], self.at, len(self.first))
        part = self.part if values.ndim == 1 else self.part[:, None]
        return np.asarray(sums[self.at] - part * tied[self.at])

    def until_end(self, steps: Floats) -> Floats:
        """What adds up for each record while it is at risk, of the steps at each event."""
        times = len(self.first)
        total = np.concatenate([np.zeros((1, *steps.shape[1:])), np.cumsum(_grouped(steps, self.at, times), axis=0)])
        out = total[self.before]
        part = self.part if steps.ndim == 1 else self.part[:, None]
        out[self.event] -= _grouped(part * steps, self.at, times)[self.at]
        return np.asarray(out)


def _grouped(values: Floats, group: Ints, groups: int) -> Floats:
    """Sums by group."""
    if values.ndim == 1:
        return np.bincount(group, values, groups).astype(np.float64)
    return np.column_stack([np.bincount(group, column, groups) for column in values.T])


def _risks(order: Spans, weight: Floats) -> _Risks:
    event = np.flatnonzero(order.event)
    at = order.end[event] // 2
    times = order.times
    tied = np.bincount(at, minlength=times)
    place = np.arange(len(at)) - (np.cumsum(tied) - tied)[at]
    each = np.bincount(at, weight[event], times) / tied
    first = np.searchsorted(order.end, 2 * np.arange(times) + 1)
    return _Risks(weight, event, at, place / tied[at], each[at], first, (order.end + 1) // 2)


class _Value(NamedTuple):
    log_likelihood: float
    score: Floats
    information: Floats


@dataclass(frozen=True)
class _Equations:
    """The equations of records in the order of their ends."""

    hidden: Tilts
    risks: _Risks

    def look(self, b: Floats) -> _Value | None:
        """Log-likelihood, score and information; nothing where no risk is above 0."""
        risks = self.risks
        s0, s1 = self.hidden.at(b)
        under = risks.at_risk(s0)
        if not (np.isfinite(under).all() and (under > 0).all()):
            return None
        mean = risks.at_risk(s1) / under[:, None]
        own, w = self.hidden.linear[risks.event], risks.weight[risks.event]
        second = self.hidden.second(b, risks.weight * risks.until_end(risks.each / under))
        return _Value(
            float(w @ (own @ b) - risks.each @ np.log(under)),
            w @ own - risks.each @ mean,
            second - (mean * risks.each[:, None]).T @ mean,
        )

    def influence(self, b: Floats) -> Floats:
        """Lin and Wei's score residuals, per unit of weight, shape (n, p)."""
        risks = self.risks
        s0, s1 = self.hidden.at(b)
        under = risks.at_risk(s0)
        mean = risks.at_risk(s1) / under[:, None]
        step = risks.each / under
        out = s0[:, None] * risks.until_end(step[:, None] * mean) - s1 * risks.until_end(step)[:, None]
        times = len(risks.first)
        tied = np.bincount(risks.at, minlength=times)
        out[risks.event] += (
            self.hidden.linear[risks.event] - (_grouped(mean, risks.at, times) / tied[:, None])[risks.at]
        )
        return np.asarray(out)


def _climb(equations: _Equations, b: Floats) -> Floats | Failure:
    """Newton's method with steps that climb the corrected log-likelihood and stay where it bends down."""
    value = equations.look(b)
    if value is None:
        return "risk"
    for _ in range(_STEPS):
        step = _step(value)
        if step is None:
            return "root"
        gain = float(step @ value.score)
        if gain <= _NEAR**2:
            return b
        for halved in range(_HALVINGS):
            size = 0.5**halved
            tried = equations.look(b + size * step)
            least = value.log_likelihood + _ENOUGH * size * gain - _ROUNDING * (1 + abs(value.log_likelihood))
            if tried is not None and tried.log_likelihood >= least and _step(tried) is not None:
                b, value = b + size * step, tried
                break
        else:
            return "root"
    return "root"


def _step(value: _Value) -> Floats | None:
    """Newton's step; nothing where the information is not positive definite."""
    if not np.isfinite(value.information).all():
        return None
    try:
        half = np.linalg.cholesky(value.information)
    except np.linalg.LinAlgError:
        return None
    return np.asarray(np.linalg.solve(half.T, np.linalg.solve(half, value.score)))
