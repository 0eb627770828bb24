"""How far hidden numbers are from normal, as what was released of them and the disclosure tell; what is said of it.

Cumulants of independent numbers add up: those of what was released, less those of the noise, are those of the true
values.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from sfumato.data.error_model import Additive
from sfumato.inference.covariates.covariate import Covariate
from sfumato.inference.problem import Problem

__all__ = ["LAWS", "Hidden", "Moments", "Noise", "banded_sentence", "noise_of", "shape_moments", "shape_sentences"]

Floats = NDArray[np.float64]
Hidden = Literal["auto", "normal"] | int

_FOURTH = {"gaussian": 0.0, "laplace": 3.0, "uniform": -1.2}
"""Excess kurtosis of each law of noise."""
LAWS: tuple[Literal["gaussian", "laplace", "uniform"], ...] = ("gaussian", "laplace", "uniform")
_CLEAR = 3.29
"""Standard errors from which on a departure from normal is told: one in a thousand by chance."""
_NUMBERS = {2: "two", 3: "three", 4: "four", 5: "five"}


@dataclass(frozen=True)
class Moments:
    """Skewness and excess kurtosis of a number without its noise, and the larger of both in standard errors.

    Parameters
    ----------
    skewness, kurtosis
        Of the true values given the exact covariates; 0 for normal ones.
    clear
        The larger of their sizes, over the standard error that it has where all is normal.

    Examples
    --------
    >>> Moments(0.1, 0.0, 5.0).words
    'skewness 0.1, excess kurtosis 0.0 without the noise'
    """

    skewness: float
    kurtosis: float
    clear: float

    @property
    def words(self) -> str:
        """In words."""
        return f"skewness {self.skewness:.1f}, excess kurtosis {self.kurtosis:.1f} without the noise"

    @property
    def possible(self) -> bool:
        """Whether a distribution has such moments: its excess kurtosis is at least its squared skewness less 2."""
        return self.kurtosis >= self.skewness**2 - 2


def shape_moments(problem: Problem, u: Floats, weight: Floats) -> dict[str, Moments]:
    """Estimate how far each hidden number is from normal.

    Parameters
    ----------
    problem
        The model with its data.
    u : ndarray, shape (m, c)
        What was released of the hidden numbers, less what exact covariates explain, of records that have all.
    weight : ndarray, shape (m,)
        Of each.

    Returns
    -------
    dict
        By column; without those whose noise is bounded, rounded or hangs on the value, and those with next to no
        variation but noise.
    """
    found = {}
    whole = ~np.isnan(np.column_stack([c.latent for c in problem.continuous])).any(axis=1)
    for covariate, own in zip(problem.continuous, u.T, strict=True):
        noise = noise_of(covariate)
        if not noise.free:
            continue
        variance, fourth = noise.variance[whole], noise.fourth[whole]
        m2, m3, m4 = (
            float(np.average((own - np.average(own, weights=weight)) ** k, weights=weight)) for k in (2, 3, 4)
        )
        omega = float(np.average(variance, weights=weight))
        spread = 3 * (float(np.average(variance**2, weights=weight)) - omega**2)
        k2, k4 = m2 - omega, m4 - 3 * m2**2 - spread - float(np.average(fourth, weights=weight))
        if k2 < 0.05 * m2:
            continue
        n = float(weight.sum()) ** 2 / float(weight @ weight)
        skewness, kurtosis = m3 / k2**1.5, k4 / k2**2
        errors = math.sqrt(6 / n) * (m2 / k2) ** 1.5, math.sqrt(24 / n) * (m2 / k2) ** 2
        clear = max(abs(skewness) / errors[0], abs(kurtosis) / errors[1])
        found[covariate.name] = Moments(skewness, kurtosis, clear)
    return found


@dataclass(frozen=True)
class Noise:
    """The noise on each record of a hidden number.

    Parameters
    ----------
    variance, fourth : ndarray, shape (n,)
        Second and fourth cumulant.
    law : ndarray, shape (n,)
        Its law, as a place in `LAWS`; of several noises the last one that is not normal.
    free
        Whether all this does not hang on the true value: it does where values are bounded or rounded, or noise grows.
    """

    variance: Floats
    fourth: Floats
    law: NDArray[np.int64]
    free: bool


def noise_of(covariate: Covariate) -> Noise:
    """What the disclosure says of the noise on a hidden number.

    Parameters
    ----------
    covariate
        The number.

    Examples
    --------
    >>> noise_of(Covariate("x", (), np.zeros(2))).free
    True
    """
    n, name = len(covariate.values), covariate.name
    variance, fourth, law, free = np.zeros(n), np.zeros(n), np.zeros(n, dtype=np.int64), True
    for part, rows in covariate.parts:
        if not isinstance(part, Additive):
            free = False
            continue
        j = part.columns.index(name)
        free = free and not (name in part.bounds or name in part.coarse or name in part.grows)
        variance[rows] += part.covariance[j][j] + part.rounded.get(name, 0.0) ** 2 / 12
        fourth[rows] += _FOURTH[part.distribution] * part.covariance[j][j] ** 2
        if part.distribution != "gaussian":
            law[rows] = LAWS.index(part.distribution)
    return Noise(variance, fourth, law, free)


def banded_sentence(problem: Problem, hidden: Hidden) -> str:
    """Say that hidden numbers of which some were released in bands are normal, on the bands' own scale.

    Parameters
    ----------
    problem, hidden
        As for `shape_sentences`.
    """
    names = ", ".join(c.name for c in problem.continuous)
    bands = ", ".join(c.name for c in problem.continuous if c.scores is not None)
    given = " given the exact covariates" if problem.exact else ""
    other = "" if hidden in ("auto", "normal", 1) else " A mixture of normals, as asked, is not had with bands."
    return (
        f"The distribution of {names}{given} is taken for normal, {bands} on a scale on which the shares of its bands "
        f"are those of a normal number.{other}"
    )


def shape_sentences(
    problem: Problem, parts: int, hidden: Hidden, moments: dict[str, Moments], bends: dict[str, Floats]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Say which shape was taken and why; and what to be warned of.

    Parameters
    ----------
    problem
        The model with its data.
    parts
        Normals in the mixture that was taken.
    hidden
        What was asked for.
    moments
        Of each hidden number.
    bends
        Squares and products of exact covariates that they hang on.
    """
    names = ", ".join(c.name for c in problem.continuous)
    given = " given the exact covariates" if problem.exact else ""
    possible = {n: m for n, m in moments.items() if m.possible}
    known = "; ".join(f"{n if len(problem.continuous) > 1 else 'it has'} {m.words}" for n, m in possible.items())
    law = "normal" if parts == 1 else f"a mixture of {_NUMBERS.get(parts, parts)} normals"
    if isinstance(hidden, int) and hidden != parts:
        why = f"fewer than asked, for one of {hidden} would stand for hardly any record"
    elif hidden != "auto":
        why = "as asked"
    elif parts == 1:
        why = "what was released does not speak for more normals than one (BIC)"
    else:
        why = "what was released speaks for it (BIC)"
    told = [f"The distribution of {names}{given} is taken for {law}: {why}{'; ' + known if known else ''}."]
    terms = ", ".join(bends)
    if bends and hidden != "normal":
        told.append(f"The mean of {names} hangs on {terms} too, which was added to its model.")
    notes = []
    if impossible := [n for n in moments if n not in possible]:
        notes.append(
            f"Skewness and kurtosis of {', '.join(impossible)} without the noise are not told: the noise is so strong "
            "for so few records that the sample's moments less its own are none that a distribution has."
        )
    bent = [n for n, m in moments.items() if m.clear > _CLEAR]
    if hidden == "normal" and bent:
        notes.append(
            f"{', '.join(bent)} is taken for normal, but is not: estimates may be off by some per cent, or more where "
            "effects are strong. With `hidden` at `auto` it has the shape that was released."
        )
    if hidden == "normal" and bends:
        notes.append(
            f"{names} hangs on {terms}, which its model does not hold: estimates may be off. With `hidden` at `auto` "
            "it does."
        )
    return tuple(told), tuple(notes)
