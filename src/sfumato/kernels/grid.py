"""The grids that numbers lie on: the one that they were recorded on, and the public one that draws are rounded to."""

from __future__ import annotations

import math
from decimal import Decimal

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "COARSEST",
    "FINEST",
    "FINEST_OWN",
    "FINEST_PLACE",
    "NO_GRID",
    "SIGNIFICANT",
    "decimals",
    "drawn_step",
    "ends_on_grid",
    "noise_step",
    "on_grid",
    "own_step",
    "round_half_up",
    "round_step",
    "round_to_multiple",
    "round_within",
    "significant",
    "too_fine",
]

NO_GRID = 15
"""Decimal places that stand for "no grid": full precision."""
FINEST = 1e-4
"""Share of the noise's standard deviation below which a step is refused."""
FINEST_OWN = 1e-9
"""Share of a column's standard deviation below which its own decimals hide no draw: at 2⁻³⁰ (10⁻⁹) nothing is left."""
COARSEST = 0.2
"""Share of the noise's standard deviation up to which rounding counts as a little more noise: .33% of its variance."""
SIGNIFICANT = 12
"""Digits of sums whose parts lie on no grid: what lies behind is the rounding of their sum."""
FINEST_PLACE = 10
"""Decimal places up to which numbers are taken to lie on a grid."""
_OF_NOISE, _OF_COLUMN = 20, 1000
_SAME = 1e-9
"""Share of a step that the last bits of a square root may be off by; they must not decide which step is taken."""
_EXACT_POWER = 22
"""Powers of ten up to this one are doubles, so that one product or quotient with them is the nearest double."""
_EXACT_WHOLE = 2.0**53


def decimals(x: NDArray[np.float64]) -> int:
    """Fewest decimal places, 0 to 10, that write every value.

    Parameters
    ----------
    x
        Values, shape (n,), no NaN.

    Returns
    -------
    int
        `NO_GRID` (15) where ten are not enough.

    Examples
    --------
    >>> decimals(np.array([7.25, 8.0]))
    2
    """
    step = max(1, len(x) // 1000)
    place = 0
    for part in (x[::step], x):  # a sample first: most columns without a grid are told by it
        while not _on_grid(part, place):
            place += 1
            if place > FINEST_PLACE:
                return NO_GRID
    return place


def _on_grid(x: NDArray[np.float64], place: int) -> bool:
    """Whether rounding moves no value by more than the last bits of its float."""
    return bool(np.all(np.abs(np.round(x, place) - x) <= 4 * np.spacing(np.abs(x))))


def on_grid(x: NDArray[np.float64], place: int) -> NDArray[np.float64]:
    """Sums without the last bits that adding up left: with the decimal places of their parts, shape (n,).

    Where the parts have no grid (`NO_GRID`), 12 significant digits of each. NaN and infinities stay.

    Examples
    --------
    >>> on_grid(np.array([22.499999999999996, 3.0]), 1).tolist()
    [22.5, 3.0]
    >>> on_grid(np.array([22.499999999999996, 1 / 3, 2e20 / 3]), NO_GRID).tolist()
    [22.5, 0.333333333333, 6.66666666667e+19]
    """
    if place < NO_GRID:
        return np.asarray(np.round(x, place) + 0.0)
    out = x + 0.0
    some = np.isfinite(x) & (x != 0)
    known = x[some]
    places = SIGNIFICANT - 1 - np.floor(np.log10(np.abs(known)))
    power = 10.0 ** np.minimum(np.abs(places), _EXACT_POWER)
    up = places >= 0
    short = np.where(up, np.round(known * power) / power, np.round(known / power) * power)
    far = np.abs(places) > _EXACT_POWER
    short[far] = [significant(float(one), SIGNIFICANT) for one in known[far]]
    out[some] = short
    return np.asarray(out)


def ends_on_grid(
    low: NDArray[np.float64], high: NDArray[np.float64], place: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Ends of intervals with so many decimal places, never closer together; a single point stays one; shape (n,) each.

    Examples
    --------
    >>> low, high = np.array([1.9999999999999996, 2.31, 0.25]), np.array([3.0000000000000004, 2.48, 0.25])
    >>> [end.tolist() for end in ends_on_grid(low, high, 1)]
    [[2.0, 2.3, 0.25], [3.0, 2.5, 0.25]]
    """
    short = on_grid(low, NO_GRID), on_grid(high, NO_GRID)
    if place >= NO_GRID:
        return short
    unit = 10.0**place
    with np.errstate(invalid="ignore"):
        noise = _SAME * np.maximum(np.maximum(np.abs(low), np.abs(high)) * unit, 1.0)
        noise = np.minimum(np.where(np.isfinite(noise), noise, _SAME), 0.1)
        near = np.round(low * unit)
        point = (high - low) * unit <= noise
        off = point & (np.abs(low * unit - near) > noise)
        down = np.where(point, near, np.floor(low * unit + noise)) / unit
        up = np.where(point, near, np.ceil(high * unit - noise)) / unit
    return tuple(  # type: ignore[return-value]
        np.where(off, end, np.round(grid, place) + 0.0) for end, grid in zip(short, (down, up), strict=True)
    )


def noise_step(sd: float) -> float:
    """The step for numbers with noise of a disclosed standard deviation > 0: the largest 1, 2 or 5 × 10^m up to sd/20.

    Examples
    --------
    >>> noise_step(2.8), noise_step(0.447), noise_step(2500.0)
    (0.1, 0.02, 100.0)
    """
    return round_step(sd / _OF_NOISE)


def drawn_step(sd: float) -> float:
    """The step for numbers drawn without a disclosed standard deviation: of the column's own, to one digit, sd/1000.

    One digit, since a figure of the data that the step would tell is a small disclosure itself.

    Examples
    --------
    >>> drawn_step(12.4), drawn_step(9.6)
    (0.01, 0.01)
    """
    return round_step(significant(sd, 1) / _OF_COLUMN)


def own_step(place: int, sd: float) -> float | None:
    """The step of a column's own decimal places; None where it has too many to hide what was drawn.

    Parameters
    ----------
    place
        Decimal places, as `decimals` gives them.
    sd
        Standard deviation of the column.

    Examples
    --------
    >>> own_step(2, 10.0), own_step(9, 10.0), own_step(NO_GRID, 10.0)
    (0.01, None, None)
    """
    step = None if place >= NO_GRID else float(f"1e-{place}")
    return None if step is None or step < FINEST_OWN * sd * (1 - _SAME) else step


def too_fine(step: float, sd: float) -> bool:
    """Whether a step is so fine beside noise of this standard deviation that it is refused.

    Examples
    --------
    >>> too_fine(0.001, 10.0), too_fine(0.0009, 10.0)
    (False, True)
    """
    return step < FINEST * sd * (1 - _SAME)


def round_step(limit: float) -> float:
    """The largest 1, 2 or 5 × 10^m that is not above a limit > 0.

    Examples
    --------
    >>> round_step(0.3), round_step(49.0), round_step(5e-5)
    (0.2, 20.0, 5e-05)
    """
    power = math.floor(math.log10(limit))
    steps = [float(f"{digit}e{m}") for m in (power - 1, power, power + 1) for digit in (1, 2, 5)]
    return max(step for step in steps if step <= limit * (1 + _SAME))


def round_half_up(x: NDArray[np.float64], place: int) -> NDArray[np.float64]:
    """Round to `place` decimal places, halves up, shape (n,). With 15 or more places the values stay as they are."""
    if place >= NO_GRID:
        return x
    whole = _whole(x * 10.0**place)
    return np.asarray(np.round(whole / 10.0**place, place) + 0.0)


def _whole(x: NDArray[np.float64]) -> NDArray[np.float64]:
    """Round to whole numbers, halves up.

    A half is told with a relative tolerance of 1e-12, so that the last bit of a sum does not decide, and of at most a
    thousandth. From 2⁵² on doubles have no halves.
    """
    size = np.abs(x)
    half = 0.5 + np.minimum(1e-12 * np.maximum(1.0, size), 1e-3)
    return np.where(size < _EXACT_WHOLE / 2, np.floor(x + half), x)


def round_to_multiple(x: NDArray[np.float64], step: float) -> NDArray[np.float64]:
    """Round to the nearest multiple of `step` > 0, halves up, shape (n,).

    A multiple is the double nearest to the decimal that is meant: 0.3 is 3 · 0.1, whatever doubles make of it. So files
    are equal, and nothing is told by last bits, wherever a release is made.

    Examples
    --------
    >>> round_to_multiple(np.array([2.4, 2.5, -2.5]), 5).tolist()
    [0.0, 5.0, 0.0]
    >>> round_to_multiple(np.array([0.31]), 0.1).tolist()
    [0.3]
    """
    whole = _whole(x / step)
    _, digits, power = Decimal(repr(float(step))).normalize().as_tuple()
    times, power = int("".join(map(str, digits))), int(power)
    product = whole * float(times)
    by = 10.0 ** min(abs(power), _EXACT_POWER)
    out = product * by if power >= 0 else product / by
    far = np.isfinite(whole) & ((np.abs(product) >= _EXACT_WHOLE) | (abs(power) > _EXACT_POWER))
    if far.any():
        known, place = np.unique(whole[far], return_inverse=True)
        out[far] = np.array([float(f"{int(k) * times}e{power}") for k in known])[place]
    return np.asarray(out + 0.0)


def round_within(x: NDArray[np.float64], step: float | None, low: float, high: float) -> NDArray[np.float64]:
    """Round to multiples of a step, if any, and set to a bound what lay beyond it or came there, shape (n,).

    The bounds need be no multiples.

    Examples
    --------
    >>> round_within(np.array([0.1, 4.4, 4.6, 9.7]), 1.0, 0.25, 9.5).tolist()
    [0.25, 4.0, 5.0, 9.5]
    """
    value = np.clip(x if step is None else round_to_multiple(x, step), low, high)
    return np.where(x <= low, low, np.where(x >= high, high, value))


def significant(value: float, digits: int = 3) -> float:
    """Round to significant digits.

    Examples
    --------
    >>> significant(0.0426487)
    0.0426
    """
    return float(f"{value:.{digits}g}")
