"""Put fits of several synthetic copies together, so that intervals hold what the synthesis adds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import t as student

from sfumato.errors import DataError

__all__ = ["RULES", "Combined", "Rule", "combine"]

Floats = NDArray[np.float64]
Rule = Literal["simple", "rrr", "partial", "rubin"]
RULES: tuple[Rule, ...] = get_args(Rule)


@dataclass(frozen=True)
class Combined:
    """Estimates from all copies.

    Parameters
    ----------
    estimate
        Means over the copies, shape (p,), or one number.
    se
        Standard errors.
    df
        Degrees of freedom of the t distribution that intervals are taken from; infinite for a normal.
    low, high
        Ends of the 95% intervals.
    rule
        How they were combined.
    """

    estimate: Floats
    se: Floats
    df: Floats
    low: Floats
    high: Floats
    rule: Rule


def combine(
    estimates: ArrayLike,
    variances: ArrayLike,
    rule: Rule,
    ratio: float = 1.0,
    proper: bool = False,
    df: ArrayLike | None = None,
) -> Combined:
    """Combine the estimates of m copies by the rule that fits how these were made.

    Parameters
    ----------
    estimates : array_like, shape (m,) or (m, p)
        An estimate, or several, from each copy.
    variances : array_like, of the same shape
        Their squared standard errors, each as if the copy were the data.
    rule
        `simple`: full synthesis, any m. `rrr`: full and proper synthesis, m ≥ 2, from the variance between copies
        alone; with few copies its intervals are wide. `partial`: some columns or records of the true people are
        synthetic, m ≥ 2. `rubin`: missing values are filled in, m ≥ 2.
    ratio
        Records of a copy for each of the original, above 0.
    proper
        Whether parameters were drawn before values.
    df : array_like, shape () or (p,), optional
        Degrees of freedom of the plain fit; infinite where it is None.

    Returns
    -------
    Combined
        With numbers, or arrays of shape (p,).

    Raises
    ------
    DataError
        Figures that are not finite, negative variances, too few copies for the rule, `rrr` of copies that are not
        proper.

    Notes
    -----
    With ū the mean variance and b the variance between copies, the variance of the mean is ū(k/n + 1/m) for `simple`
    (ū(k/n + (1 + k/n)/m) where proper), (1 + 1/m)b − ū for `rrr` ((k/n)ū where that is not positive), ū + b/m for
    `partial`, ū + (1 + 1/m)b for `rubin`. Where nothing differs between copies, none of the model's columns is
    synthetic, and the plain fit stands.

    References
    ----------
    Raab, Nowok and Dibben (2016), doi:10.29012/jpc.v7i3.407; Raghunathan, Reiter and Rubin (2003), Journal of Official
    Statistics 19, 1-16; Reiter (2003), Survey Methodology 29, 181-188; Barnard and Rubin (1999),
    doi:10.1093/biomet/86.4.948.

    Examples
    --------
    >>> got = combine([1.0, 1.1, 0.9], [0.04, 0.05, 0.03], "partial")
    >>> round(float(got.estimate), 6), round(float(got.se) ** 2, 6)
    (1.0, 0.043333)
    """
    q, u = np.asarray(estimates, dtype=np.float64), np.asarray(variances, dtype=np.float64)
    _check(q, u, rule, ratio, proper)
    m = len(q)
    plain = np.broadcast_to(np.inf if df is None else np.asarray(df, dtype=np.float64), q.shape[1:])
    mean, within = q.mean(axis=0), u.mean(axis=0)
    between = q.var(axis=0, ddof=1) if m > 1 else np.zeros_like(mean)
    with np.errstate(divide="ignore", invalid="ignore"):
        variance, freedom = _RULES[rule](m, within, between, plain, ratio, proper)
    if rule != "simple":
        same = between == 0
        variance, freedom = np.where(same, within, variance), np.where(same, plain, freedom)
    se = np.sqrt(variance)
    wide = student.ppf(0.975, freedom) * se
    return Combined(mean, se, freedom, mean - wide, mean + wide, rule)


def _check(q: Floats, u: Floats, rule: Rule, ratio: float, proper: bool) -> None:
    if rule not in RULES:
        raise DataError(f"There is no rule {rule!r} to combine copies. Rules: {', '.join(RULES)}.")
    if q.ndim not in (1, 2) or q.shape != u.shape or not q.size:
        raise DataError("Estimates and variances have one line for each copy, and the same columns.")
    if not (np.isfinite(q).all() and np.isfinite(u).all() and (u >= 0).all()):
        raise DataError("Estimates must be finite numbers, and variances too, none below 0.")
    if not (np.isfinite(ratio) and ratio > 0):
        raise DataError("The ratio of a copy's records to the original's must be above 0.")
    if rule != "simple" and len(q) < 2:
        raise DataError(f"The rule {rule!r} needs two copies or more: it looks at what differs between them.")
    if rule == "rrr" and not proper:
        raise DataError(
            "The rule 'rrr' is for copies whose parameters were drawn before their values (`proper: true`): of others "
            "its intervals are too narrow. Use 'simple'."
        )


def _simple(
    m: int, within: Floats, between: Floats, plain: Floats, ratio: float, proper: bool
) -> tuple[Floats, Floats]:
    return within * (ratio + ((1 + ratio) if proper else 1) / m), plain


def _rrr(m: int, within: Floats, between: Floats, plain: Floats, ratio: float, proper: bool) -> tuple[Floats, Floats]:
    spread = (1 + 1 / m) * between
    variance = spread - within
    none = variance <= 0
    freedom = np.where(none, m - 1, (m - 1) * (1 - within / spread) ** 2)
    return np.where(none, ratio * within, variance), np.minimum(freedom, plain)


def _partial(
    m: int, within: Floats, between: Floats, plain: Floats, ratio: float, proper: bool
) -> tuple[Floats, Floats]:
    return within + between / m, np.minimum((m - 1) * (1 + m * within / between) ** 2, plain)


def _rubin(m: int, within: Floats, between: Floats, plain: Floats, ratio: float, proper: bool) -> tuple[Floats, Floats]:
    spread = (1 + 1 / m) * between
    total = within + spread
    copies = (m - 1) * (1 + within / spread) ** 2
    observed = np.where(np.isinf(plain), np.inf, plain * (plain + 1) / (plain + 3) * within / total)
    return total, 1 / (1 / copies + 1 / observed)


_RULES = {"simple": _simple, "rrr": _rrr, "partial": _partial, "rubin": _rubin}
