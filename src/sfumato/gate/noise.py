"""The budget of noise: what all perturbed tables and protected fits that somebody may know tell together."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from sfumato.gate.margin import Margin
from sfumato.gate.policy import Noise, Policy
from sfumato.kernels.tabular.keys import BITS, written_keys
from sfumato.tables.perturb.counts import count_noise, transitions

__all__ = ["Allowed", "allowed", "budget_of", "fitting", "largest_change", "mu", "perturbed", "spent", "written"]

Ints = NDArray[np.int64]
_BUDGET = Noise(mu_at_most=1)
"""Of a policy that says nothing. Averaging the perturbed tables that 3 would allow tells most small cells."""


def written(variance: float) -> str:
    """A variance as requests hold it.

    Examples
    --------
    >>> written(6.25), written(9.0)
    ('25/4', '9')
    """
    return str(Fraction(variance).limit_denominator(10**6))


def mu(margins: Iterable[Margin]) -> float:
    """What noisy releases tell together, to somebody who knows all other people: d' of the one he does not.

    The root of the sum of 1/variance over different tables and fits (of a fit: the square of its tau); his area under
    the curve is the normal distribution's
    function of it over the root of 2: .76, .92, .98 at 1, 2, 3.

    Examples
    --------
    >>> mu([Margin(noise="4"), Margin(version="v2", noise="4"), Margin()])
    0.7071067811865476
    """
    return math.sqrt(spent(margins))


def spent(margins: Iterable[Margin]) -> Fraction:
    """What noisy releases use up of a budget together: the square of mu.

    Examples
    --------
    >>> spent([Margin(noise="4"), Margin(version="v2", noise="4"), Margin()])
    Fraction(1, 2)
    """
    return sum((1 / Fraction(one.noise) for one in set(margins) if one.noise), Fraction(0))


def budget_of(policy: Policy) -> float:
    """What all noisy releases together may tell by a policy.

    Examples
    --------
    >>> budget_of(Policy(preset="research")), budget_of(Policy(preset="research", noise={"mu_at_most": 2}))
    (1.0, 2.0)
    """
    return (policy.noise or _BUDGET).mu_at_most


def fitting(before: Fraction, noise: str, at_most: float) -> int:
    """How many more perturbed tables a budget has room for, by the arithmetic that decides about them.

    Parameters
    ----------
    before
        What is used up, as `spent` gives it.
    noise
        The variance of each, as requests hold it.
    at_most
        The budget.

    Examples
    --------
    >>> fitting(Fraction(0), "9", 1.0), fitting(Fraction(8, 9), "9", 1.0), fitting(Fraction(4), "9", 1.0)
    (9, 1, 0)
    """
    each = 1 / Fraction(noise)
    many = max(0, math.floor((Fraction(at_most) ** 2 - before) / each) + 1)  # one more, for the root is rounded
    while many and math.sqrt(before + many * each) > at_most:
        many -= 1
    return many


@dataclass(frozen=True)
class Allowed:
    """Whether perturbed tables may be known, and what stands against it."""

    holds: bool
    reasons: tuple[str, ...] = ()


def allowed(margins: Iterable[Margin], policy: Policy, *, given: bool = False) -> Allowed:
    """Whether somebody may know some perturbed tables together.

    Parameters
    ----------
    margins
        All that they would know.
    policy
        Theirs: whether tables may be perturbed for them, by how much noise at least, and what all together may tell.
    given
        The tables were given to others, and would reach them: then the budget alone counts.
    """
    noisy = [one for one in set(margins) if one.noise]
    if not noisy:
        return Allowed(True)
    least = policy.perturbed
    tables = [one for one in noisy if not one.fit]
    if (
        tables
        and not given
        and (least is None or any(float(Fraction(one.noise)) < least.variance * (1 - 1e-9) for one in tables))
    ):
        return Allowed(False, ("perturbed",))
    return Allowed(True) if mu(noisy) <= budget_of(policy) else Allowed(False, ("noise",))


def largest_change(variance: float) -> int:
    """The largest change of a count: four standard deviations, and no less than the variance, which a count of 1 has.

    Examples
    --------
    >>> largest_change(6.25), largest_change(25)
    (10, 25)
    """
    return math.ceil(max(variance, 4 * math.sqrt(variance)))


def perturbed(count: Ints, key: NDArray[np.uint64], noise: str) -> Ints:
    """Counts with noise by cell keys: of mean 0, the same for the same people in every table; a zero stays zero.

    Parameters
    ----------
    count
        True counts, shape (cells,).
    key
        Sums of the keys of all who are in each cell; their last 53 bits count.
    noise
        The variance, as requests hold it.

    Notes
    -----
    Whoever asks again gets the same figures: there is nothing to average. A positive count proves that somebody is
    there, so that a policy that protects existence allows no perturbed tables.

    Examples
    --------
    >>> int(perturbed(np.array([0, 40]), np.array([5, 5], dtype=np.uint64), "4")[0])
    0
    """
    variance = float(Fraction(noise))
    rows = transitions(largest_change(variance), variance, 0)
    share = written_keys(key & np.uint64((1 << BITS) - 1))
    value = count.astype(np.float64)
    return np.asarray(np.rint(value + count_noise(value, share, rows)), dtype=np.int64)
