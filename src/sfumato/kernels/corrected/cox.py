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

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from sfumato.kernels.corrected.poisson import STEPS, climbed
from sfumato.kernels.corrected.tilted import Tilted
from sfumato.kernels.cox import Spans, spans

__all__ = ["AT_RISK", "CoxRoot", "Failure", "corrected_cox"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]
Failure = Literal["", "few", "risk", "root"]

AT_RISK = 20
"""Follow-up of hidden covariates ends where fewer records than these are at risk."""
_NEAR, _SURE = 1e-2, 1e-8


@dataclass(frozen=True)
class CoxRoot:
    """Where the equations end.

    Parameters
    ----------
    events, left_out
        Events that the equations hold, and those after follow-up ended.
    failure
        Why there are no estimates: `few`, more events were left out than stayed; `risk`, an estimated sum over those at
        risk is not above 0; `root`, the equations have no root with a positive definite derivative. Then the rest is
        empty.
    estimate
        Coefficients, shape (p,).
    bread
        Inverse of the equations' derivative, with its sign turned, shape (p, p).
    scores
        What each record adds to the equations, not weighted, shape (n, p): Lin and Wei's score residuals.
    """

    events: int
    left_out: int
    failure: Failure
    estimate: Floats
    bread: Floats
    scores: Floats


def corrected_cox(
    tilted: Tilted, weight: Floats, time: Floats, event: Mask, start: Floats, at_risk: int = AT_RISK
) -> CoxRoot:
    """Solve the equations of proportional hazards, unbiased for those of the true data.

    Parameters
    ----------
    tilted
        The design, without a constant column.
    weight : ndarray, shape (n,)
        Of each record.
    time, event : ndarray, shape (n,)
        When each record was last seen, and whether that was an event.
    start : ndarray, shape (p,)
        The naive coefficients.
    at_risk
        Follow-up ends where fewer records than these are at risk.

    Examples
    --------
    >>> from sfumato.kernels.corrected.design import Design
    >>> from sfumato.kernels.corrected.noise import Noise
    >>> rng = np.random.default_rng(2)
    >>> x = rng.exponential(size=20_000)
    >>> time = rng.exponential(np.exp(-0.5 * x))
    >>> z = x + rng.normal(0, 0.6, 20_000)
    >>> noise, none = Noise(np.array([[0.36]])), np.zeros(20_000, dtype=np.int64)
    >>> tilted = Tilted(Design(np.ones((20_000, 1)), np.array([[1]]), z[:, None], [noise], none))
    >>> corrected_cox(tilted, np.ones(20_000), time, time < 2, np.array([0.3])).estimate.round(1).tolist()
    [0.5]
    """
    kept = event & (len(time) - np.searchsorted(np.sort(time), time) >= at_risk)
    events, left_out = int(kept.sum()), int((event & ~kept).sum())
    none, empty = np.zeros(0), np.zeros((0, 0))
    if events < left_out or not events:
        return CoxRoot(events, left_out, "few", none, empty, empty)
    order = spans(time, kept)
    risks = _risks(order, weight[order.order])
    ordered = replace(tilted.take(order.order), origin=tilted.linear.mean(axis=0))
    b, bread, equations = start, empty, _Equations(ordered, risks)
    for share in STEPS:
        equations = _Equations(ordered.scaled(share), risks)
        with np.errstate(over="ignore", invalid="ignore"):
            found = climbed(equations.look, b, _SURE if share == 1 else _NEAR)
            if found is None:
                failure: Failure = "root" if np.isfinite(equations.look(b)[0]) else "risk"
                return CoxRoot(events, left_out, failure, none, empty, empty)
        b, bread = found
    scores = np.empty((len(time), len(b)))
    scores[order.order] = equations.scores(b)
    return CoxRoot(events, left_out, "", b, bread, scores)


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


@dataclass(frozen=True)
class _Equations:
    """The equations of records in the order of their ends."""

    tilted: Tilted
    risks: _Risks

    def look(self, b: Floats) -> tuple[float, Floats, Floats]:
        """Corrected log-likelihood, score and information; none where nobody is left at risk by the estimates."""
        risks, p = self.risks, len(b)
        s0, s1 = self.tilted.at(b)
        under = risks.at_risk(s0)
        if not (np.isfinite(under).all() and (under > 0).all()):
            return -np.inf, np.zeros(p), np.zeros((p, p))
        mean = risks.at_risk(s1) / under[:, None]
        own, w = self.tilted.linear[risks.event], risks.weight[risks.event]
        origin = 0.0 if self.tilted.origin is None else self.tilted.origin
        second = self.tilted.second(b, risks.weight * risks.until_end(risks.each / under))
        return (
            float(w @ ((own - origin) @ b) - risks.each @ np.log(under)),
            w @ own - risks.each @ mean,
            second - (mean * risks.each[:, None]).T @ mean,
        )

    def scores(self, b: Floats) -> Floats:
        """Lin and Wei's score residuals, shape (n, p)."""
        risks, times = self.risks, len(self.risks.first)
        s0, s1 = self.tilted.at(b)
        under = risks.at_risk(s0)
        mean = risks.at_risk(s1) / under[:, None]
        step = risks.each / under
        out = s0[:, None] * risks.until_end(step[:, None] * mean) - s1 * risks.until_end(step)[:, None]
        middle = _grouped(mean, risks.at, times) / np.bincount(risks.at, minlength=times)[:, None]
        out[risks.event] += self.tilted.linear[risks.event] - middle[risks.at]
        return np.asarray(out)
