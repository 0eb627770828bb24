"""Attacks on two releases of nearly the same people: subtract them, and look for what has gone or come.

The attacker knows who left and who joined (their ids, or a neighbour who moved away), and of a corrected value whose
it was. Where more changed than the releases can tell apart, what is left over is shared evenly: an attacker has nothing
better. Found by trying; how far each comes stands on the page of each method.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from sfumato.kernels.grid import NO_GRID, decimals

__all__ = ["Group", "Two", "local", "multisets", "sums"]

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Group = Literal["left", "joined", "corrected"]

_DIGITS = 12
"""Digits in which values are the same: a file may have cut the last ones off."""
_TRIES, _MOST_POINTS = 400, 20_000
_FEWEST_ON_LINE, _SHARE_ON_LINE = 10, 0.2
_LOCAL = 0.25
"""A larger share of the values changed: nothing is to be seen of where."""
_MOST_APART = 2000
"""Most people whose surroundings are told apart."""


@dataclass(frozen=True)
class Two:
    """One column of two releases, side by side: a row for everybody who is in either.

    Parameters
    ----------
    old, new
        Released values, shape (n,), NaN where a release does not have the person or the value.
    corrected
        Who is said to have corrected the value, shape (n,).
    place
        Where records lie in the columns that were averaged together, shape (n, p), in standard deviations.
    disjoint
        Whether records were averaged in disjoint groups.
    """

    old: Floats
    new: Floats
    corrected: Bools
    place: Floats | None = None
    disjoint: bool = False

    @cached_property
    def left(self) -> Bools:
        """Who is in the older release only."""
        return ~np.isnan(self.old) & np.isnan(self.new)

    @cached_property
    def joined(self) -> Bools:
        """Who is in the newer release only."""
        return np.isnan(self.old) & ~np.isnan(self.new)

    @cached_property
    def both(self) -> Bools:
        """Who is in both."""
        return ~np.isnan(self.old) & ~np.isnan(self.new)

    @cached_property
    def turned(self) -> Two:
        """The releases the other way round: who left has joined."""
        return replace(self, old=self.new, new=self.old)

    def own(self, group: Group) -> Floats:
        """What a person's own released values say, shape (m,): the value, or of those who corrected it the change."""
        match group:
            case "left":
                return self.old[self.left]
            case "joined":
                return self.new[self.joined]
            case "corrected":
                return (self.new - self.old)[self.both & self.corrected]


def sums(two: Two, group: Group) -> Floats:
    """Values of a group from the difference of the releases' sums, of two people from that of their squares too.

    Parameters
    ----------
    two
        The releases.
    group
        Whose values; of `corrected` the change.

    Returns
    -------
    ndarray, shape (m,)
        In the order of `Two.own`.

    Examples
    --------
    >>> old, new = np.array([1.0, 2.0, 3.5]), np.array([1.5, np.nan, 3.0])
    >>> sums(Two(old, new, np.zeros(3, dtype=bool)), "left").tolist()
    [2.0]
    """
    if group == "joined":
        return sums(two.turned, "left")
    difference = float(np.nansum(two.old) - np.nansum(two.new))
    if group == "left" and two.left.sum() == 2 and not two.joined.any():
        squares = float(np.nansum(two.old**2) - np.nansum(two.new**2))
        return _two_values(difference, squares, two.own("left"))
    return _shared(two, difference, group)


def _two_values(total: float, squares: float, own: Floats) -> Floats:
    """Two values by their sum and the sum of their squares; the larger is whose released one is larger."""
    half = np.sqrt(max(0.0, squares / 2 - total**2 / 4))
    return np.asarray(total / 2 + half * np.where(own == own.max(), 1.0, -1.0))


def _shared(two: Two, difference: float, group: Group) -> Floats:
    """Released values of a group, moved evenly so that together they make the difference of the sums."""
    left, joined = two.own("left"), two.own("joined")
    unknown = len(left) + len(joined)
    rest = difference - left.sum() + joined.sum()
    if group == "left":
        return np.asarray(left + rest / unknown) if unknown else left
    changed = two.own("corrected")
    rest += changed.sum()
    return np.asarray(changed - rest / (unknown + len(changed))) if len(changed) else changed


def multisets(two: Two, group: Group) -> Floats:
    """Values of a group among those that one release holds and the other does not.

    One value that has gone is the value of the one who left. Where some more changed, all near one place, the middle of
    them is taken; where everything changed, the person's own released value.

    Parameters
    ----------
    two, group
        As in `sums`.

    Examples
    --------
    >>> old, new = np.array([3.0, 1.0, 2.0]), np.array([1.0, np.nan, 3.0])
    >>> multisets(Two(old, new, np.zeros(3, dtype=bool)), "left").tolist()
    [2.0]
    """
    if group == "joined":
        return multisets(two.turned, "left")
    gone, come = _gone(two.old, two.new), _gone(two.new, two.old)
    own = two.own(group)
    few = len(gone) <= max(len(own), _LOCAL * int((~np.isnan(two.old)).sum()))
    if not len(own) or not len(gone) or not few:
        return own
    if group == "corrected":
        if not len(come):
            return own
        those = two.both & two.corrected
        return _nearest(two.new[those], come) - _nearest(two.old[those], gone)
    if len(gone) == len(own):
        out = np.empty_like(own)
        out[np.argsort(own, kind="stable")] = gone
        return out
    return np.array([np.median(gone)]) if len(own) == 1 else _nearest(own, gone)


def _gone(one: Floats, other: Floats) -> Floats:
    """Values that one list holds more often than the other, sorted."""
    values = [v[~np.isnan(v)] for v in (one, other)]
    together = np.concatenate(values)
    _, first, place = np.unique(_same(together), return_index=True, return_inverse=True)
    found = together[first]
    count = np.bincount(place[: len(values[0])], minlength=len(found))
    count = count - np.bincount(place[len(values[0]) :], minlength=len(found))
    return np.repeat(found, np.maximum(count, 0))


def _same(x: Floats) -> Floats:
    """Values in the digits in which equal ones are equal."""
    size = np.floor(np.log10(np.abs(np.where(x == 0, 1.0, x))))
    unit = 10.0 ** np.clip(size - _DIGITS + 1, -300, 300)
    return np.asarray(np.round(x / unit) * unit)


def _nearest(x: Floats, among: Floats) -> Floats:
    """The nearest of some sorted values to each of `x`."""
    at = np.clip(np.searchsorted(among, x), 1, len(among) - 1) if len(among) > 1 else np.zeros(len(x), dtype=np.int64)
    low, high = among[np.maximum(at - 1, 0)], among[at]
    return np.asarray(np.where(np.abs(x - low) <= np.abs(high - x), low, high))


def local(two: Two, group: Group) -> Floats:
    """Values of a group from the centroids that changed, after the restored scales of both releases are undone.

    Centroids that did not change lie on one line (old, new), which tells one release's scale from the other's. What is
    then left of the difference of the sums is that of the changed centroids alone. Where everybody has neighbours of
    their own, it is told apart whose they are.

    Parameters
    ----------
    two, group
        As in `sums`.
    """
    if group == "joined":
        return local(two.turned, "left")
    line = _line(two)
    if line is None:
        return sums(two, group)
    offset, slope, off = line
    moved = np.where(two.both, two.old - (two.new - offset) / slope, 0.0)
    moved = np.where(off, moved, 0.0)
    one_scale = replace(two, new=(two.new - offset) / slope)
    if group == "corrected":
        moved = np.where(two.corrected, 0.0, moved)
    targets = {"left": two.left, "corrected": two.both & two.corrected}[group]
    several = int((two.left | two.joined | (two.both & two.corrected)).sum()) > 1
    if several and not two.disjoint and two.place is not None and targets.sum() <= _MOST_APART:
        near = _whose(two.place, np.flatnonzero(moved != 0), np.flatnonzero(targets))
        around = np.bincount(near, moved[moved != 0], int(targets.sum()))
        return one_scale.own(group) + (around if group == "left" else -around)
    own = one_scale.own("corrected").sum() if group == "corrected" else 0.0
    # only changed centroids count: what rounding left on the others is no difference
    difference = float(two.old[two.left].sum() - one_scale.new[two.joined].sum() + moved.sum() - own)
    return _shared(one_scale, difference, group)


def _whose(place: Floats, changed: NDArray[np.intp], targets: NDArray[np.intp]) -> NDArray[np.intp]:
    """The nearest of the targets to each changed record, by number among the targets."""
    from scipy.spatial import cKDTree

    at = np.nan_to_num(place)
    return np.asarray(cKDTree(at[targets]).query(at[changed])[1])


def _line(two: Two) -> tuple[float, float, Bools] | None:
    """Offset and slope of the line (old, new) on which most unchanged centroids lie, and who lies off it."""
    rows = np.flatnonzero(two.both)
    rows = rows[np.lexsort((two.new[rows], two.old[rows]))]
    sample = rows[:: max(1, len(rows) // _MOST_POINTS)]
    if len(sample) < _FEWEST_ON_LINE:
        return None
    x, y = two.old[sample], two.new[sample]
    near = _tolerance(two)
    rng = np.random.default_rng(len(sample))  # public: any lines will do, and equal tables get equal ones
    i, j = rng.integers(0, len(x) // 3 + 1, _TRIES), rng.integers(2 * len(x) // 3, len(x), _TRIES)
    best: tuple[int, float, float] = (0, 0.0, 1.0)
    for slope, offset in _lines(x[i], y[i], x[j], y[j]):
        on = int((np.abs(y - offset - slope * x) <= near).sum())
        best = max(best, (on, offset, slope))
    _, offset, slope = best
    for _ in range(3):
        on_it = np.abs(y - offset - slope * x) <= near
        if on_it.sum() < max(_FEWEST_ON_LINE, _SHARE_ON_LINE * len(x)) or np.ptp(x[on_it]) == 0:
            return None
        middle = x[on_it].mean()
        slope = float(((x[on_it] - middle) * y[on_it]).sum() / ((x[on_it] - middle) ** 2).sum())
        offset = float(y[on_it].mean() - slope * middle)
    return offset, slope, two.both & ~(np.abs(two.new - offset - slope * two.old) <= near)


def _lines(x1: Floats, y1: Floats, x2: Floats, y2: Floats) -> list[tuple[float, float]]:
    """Slope and offset of lines through pairs of points; those that no restored spread could have made are left out."""
    with np.errstate(divide="ignore", invalid="ignore"):
        slope = (y2 - y1) / (x2 - x1)
    fine = (slope > 0.5) & (slope < 2)
    return list(zip(slope[fine].tolist(), (y1 - slope * x1)[fine].tolist(), strict=True))


def _tolerance(two: Two) -> float:
    """How far from the line rounding may have put a centroid that did not change."""
    places = max(decimals(v[two.both]) for v in (two.old, two.new))
    grid = 0.0 if places >= NO_GRID or places >= 9 else 10.0**-places
    return float(1.01 * grid + 1e-9 * np.nanstd(two.old))
