"""The h-rank: how well each record is hidden among others from an attacker who knows its true values.

The attacker takes the released record that is nearest to what he knows. h counts the true records nearer to the target
than the one that he took; h = 0 means that he took the right one. P(h ≤ t), the chance that the target is among the
t + 1 that he would think of first, is small where noise is strong.

Source: Goldstein and Shlomo (2020), doi:10.2478/jos-2020-0005; Avraam, Boyd, Goldstein and Burton (2018).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.errors import DataError
from sfumato.kernels.neighbours.h_rank import HiddenRanks, hidden_ranks, isolation, together
from sfumato.kernels.rows import distinct, scatter, set_apart
from sfumato.measures.attacking import Metric
from sfumato.measures.confidence import wilson
from sfumato.measures.risk.attackers.attackers import Attack, likelihood_space
from sfumato.measures.risk.attackers.error_law import ErrorLaw
from sfumato.measures.risk.attackers.households import Households
from sfumato.measures.risk.attackers.likelihood_choice import by_likelihood, unlike_normal

__all__ = ["AT", "GROUPS", "NO_HOUSEHOLD", "HRank", "Laws", "h_rank"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Laws = Sequence[tuple[NDArray[np.intp] | slice, ErrorLaw]]

AT = (0, 1, 2, 5, 10)
"""Values of t at which P(h ≤ t) is reported."""
GROUPS = ("all", *(f"decile {d}" for d in range(1, 11)), "worst")
"""Parts of the file: all of it, tenths by distance from the centroid (1 is nearest), and the most isolated records."""
_WORST, _FEWEST = 0.01, 10
_GROWTH, _MOST_STEPS = np.log(1.5), 8
NO_HOUSEHOLD = (
    "The attack household needs noise that households share, and a household column, in both tables, that groups "
    "records. Leave the attack out elsewhere."
)


@dataclass(frozen=True)
class HRank:
    """The distribution of h over records, over ties, and over replications of the noise where there were several.

    Parameters
    ----------
    ranks
        One for each replication.
    distance
        Distance of each target from the centroid of the true records, shape (m,).
    lonely
        Place of each target when all are ordered from the most isolated on, equal ones sharing a place, shape (m,).
    n
        Records in the file.
    fraction
        Chance that a target is in the file at all, by which every probability is multiplied.

    Examples
    --------
    >>> import numpy as np
    >>> y = np.array([[0.0], [1.0], [3.0]])
    >>> found = h_rank(y, np.array([[0.9], [1.2], [2.5]]))
    >>> found.h.tolist(), round(found.probability(0), 3)
    ([0.0, 1.0, 0.0], 0.667)
    """

    ranks: tuple[HiddenRanks, ...]
    distance: Floats
    lonely: Floats
    n: int
    fraction: float = 1.0
    _known: dict[float, Floats] = field(default_factory=dict, init=False, repr=False, compare=False)

    @cached_property
    def h(self) -> Floats:
        """Expected h of each target, shape (m,); values above the cap count as cap + 1."""
        return np.asarray(np.mean([r.h for r in self.ranks], axis=0))

    @property
    def cap(self) -> int | None:
        """Largest h that is told from larger ones."""
        return self.ranks[0].cap

    def probabilities(self, t: float) -> Floats:
        """P(h ≤ t) of each target, over ties and replications, shape (m,)."""
        return np.asarray(self._by_replication(t).mean(axis=0))

    def _by_replication(self, t: float) -> Floats:
        if t not in self._known:
            self._known[t] = self.fraction * np.array([r.probability(t) for r in self.ranks])
        return self._known[t]

    def probability(self, t: float, group: str = "all") -> float:
        """P(h ≤ t) over a group of targets.

        Parameters
        ----------
        t
            Up to the cap.
        group
            One of `GROUPS`; `all` by default.

        Raises
        ------
        DataError
            Above the cap, or for a group that has no record.
        """
        return float(self.probabilities(t)[self._members(group)].mean())

    def interval(self, t: float, group: str = "all") -> tuple[float, float]:
        """95% interval of that probability.

        Over replications where there were several; else Wilson's, each target a trial, which says how the figure would
        vary if the noise were drawn anew.
        """
        of_each = self._by_replication(t)[:, self._members(group)].mean(axis=1)
        if len(of_each) > 1:
            from scipy.special import stdtrit

            half = float(stdtrit(len(of_each) - 1, 0.975) * of_each.std(ddof=1)) / len(of_each) ** 0.5
            return max(float(of_each.mean()) - half, 0.0), min(float(of_each.mean()) + half, 1.0)
        count = int(self._members(group).sum())
        low, high = wilson(min(float(of_each[0]) / self.fraction, 1.0) * count, count)
        return self.fraction * low, self.fraction * high

    def baseline(self, t: float) -> float:
        """P(h ≤ t) of somebody who takes any record."""
        return self.fraction * min(1.0, (t + 1) / self.n)

    @property
    def groups(self) -> tuple[str, ...]:
        """The groups that have a record."""
        return tuple(g for g in GROUPS if g in self._groups and self._groups[g].any())

    @cached_property
    def _groups(self) -> dict[str, NDArray[np.bool_]]:
        from scipy.stats import rankdata

        m = len(self.distance)
        decile = np.ceil(10 * (rankdata(self.distance, "average") - 0.5) / max(m, 1)).clip(1, 10)
        groups = {"all": np.ones(m, dtype=bool)} | {f"decile {d}": decile == d for d in range(1, 11)}
        last = np.sort(self.lonely)[min(m, max(_FEWEST, round(_WORST * m))) - 1] if m else 0.0
        return groups | {"worst": self.lonely <= last}

    def _members(self, group: str) -> NDArray[np.bool_]:
        if group not in self._groups or not self._groups[group].any():
            raise DataError(f"There is no group {group!r}, or it has no record. Groups: {', '.join(self.groups)}.")
        return self._groups[group]

    def in_file_order(self, t: float, share: float) -> float:
        """P(h ≤ t) over the first `share` of the targets, in the order of the file.

        This is what the "percentiles" of Avraam et al. (2018), Tables 4, 6 and 8, turn out to be. The order of a file
        says nothing about risk, so use it for nothing but to compare with those tables.
        """
        first = max(1, round(share * len(self.distance)))
        return float(self.probabilities(t)[:first].mean())

    def tidy(self) -> pl.DataFrame:
        """A frame with a row for each group and t: `group`, `at`, `value`, `low`, `high`, `baseline`."""
        rows = [
            (g, t, self.probability(t, g), *self.interval(t, g), self.baseline(t))
            for g in self.groups
            for t in AT
            if self.cap is None or t <= self.cap
        ]
        return pl.DataFrame(rows, schema=["group", "at", "value", "low", "high", "baseline"], orient="row")

    def _repr_html_(self) -> str:
        return str(self.tidy()._repr_html_())


def h_rank(
    true: Floats,
    noisy: Floats | None = None,
    *,
    metric: Metric = "euclidean",
    cap: int | None = None,
    ties: Literal["expected", "keyed"] = "expected",
    attack: Attack = Attack("nearest"),  # noqa: B008  a frozen value
    laws: Laws = (),
    label: Ints | None = None,
    replications: int = 1,
    sample: int | None = None,
    fraction: float = 1.0,
    threads: int | None = None,
    like: HRank | None = None,
    homes: Households | None = None,
    order: Ints | None = None,
) -> HRank:
    """Measure how well records are hidden from an attacker who knows true values.

    The attacker is assumed to know the true values of the columns given, that the target is in the file (unless
    `fraction` says how likely that is), and with `label` the target's group. It says nothing of what a wrong record
    that resembles the target gives away (`attribute_nearest`), nor of attackers who know other columns.

    Parameters
    ----------
    true, noisy
        Shape (n, p); row i of both is the same record. NaN where missing: such a record is looked for among those with
        the same columns missing. Without `noisy`, releases are simulated from `laws`.
    metric
        `euclidean` as it is; `scaled` divides each column by the sd of its true values; `mahalanobis` uses their
        covariance.
    cap
        Count h up to this only; much faster for large files.
    ties
        `expected`: the distribution over all choices between equally near records; `keyed`: one fixed choice.
    attack
        Who attacks, see `Attack`.
    laws
        How released values arise, by rows; needed by every attack but `nearest` and `imprecise`.
    label
        Group of each record that the attacker knows, 0, 1, …, shape (n,).
    replications
        Number of releases that are simulated.
    sample
        Attack a fixed random sample of so many records; those first in `order` where it is given.
    fraction
        Chance that a target is in the file, where it is a sample of a population and nobody can know who was taken.
    threads
        Default: as many as there are cores.
    like
        The result for another attack on the same records, from which their groups are taken over.
    homes
        Who lives with whom, for the attack `household`.
    order
        Public draws of the records' ids, by which a sample is chosen, shape (n,).

    Returns
    -------
    HRank

    Raises
    ------
    DataError
        For unequal shapes, infinite values, no record, or simulation without laws.

    References
    ----------
    Goldstein and Shlomo (2020), doi:10.2478/jos-2020-0005.

    Examples
    --------
    >>> y = np.array([[0.0], [1.0], [3.0]])
    >>> h_rank(y, y + 0.1).probability(0)
    1.0
    """
    _check(true, noisy, laws, attack, fraction, homes)
    label = _labels(true, noisy, label)
    rows = _targets(len(true), sample, order)
    space = _Space.of(true, metric)
    truth = space.place(true)
    counted, _ = set_apart(truth, truth, label)
    ranks = []
    for r in range(replications):
        random = np.random.default_rng([20180614, r])
        once = _simulated(true, laws, random) if noisy is None else noisy
        lot = scatter(np.arange(1, len(true) + 1, dtype=np.uint64)) if ties == "keyed" else None
        parts = []
        for mine, own in _by_growth(true, rows, attack, laws):
            at = rows[mine]
            places = _spaces(true, once, attack, own, space, random, homes)
            search, points = set_apart(*places, label)
            wanted = search[at]
            if attack == Attack("predicted") and any(unlike_normal(law) for _, law in laws):
                wanted = by_likelihood(wanted, points, at, (true, once), label, laws, own)
            found = hidden_ranks(
                points, counted, search=wanted, targets=at, cap=cap, ties=ties, lot=lot, threads=threads
            )
            parts.append((mine, found))
        ranks.append(parts[0][1] if len(parts) == 1 else together(parts))
    if like is not None:
        return HRank(tuple(ranks), like.distance, like.lonely, len(true), fraction)
    away = np.sqrt(np.sum((truth - truth.mean(axis=0)) ** 2, axis=1))
    return HRank(tuple(ranks), away[rows], _lonely(counted)[rows], len(true), fraction)


def _check(
    true: Floats, noisy: Floats | None, laws: Laws, attack: Attack, fraction: float, homes: Households | None
) -> None:
    if noisy is not None and true.shape != noisy.shape:
        raise DataError("The two tables have different numbers of records or columns. Join them on the record id.")
    if not len(true):
        raise DataError("There is no record, so nothing can be attacked.")
    if np.isinf(true).any() or (noisy is not None and np.isinf(noisy).any()):
        raise DataError("A column holds an infinite value. Mend it, or make it missing.")
    if not laws and (noisy is None or attack.kind in ("predicted", "averaging", "household")):
        raise DataError(f"The attack {attack} needs the disclosed law of the noise.")
    if attack.kind == "household" and homes is None:
        raise DataError(NO_HOUSEHOLD)
    if not 0 < fraction <= 1:
        raise DataError("`fraction` is the chance that a target is in the file: above 0 and at most 1.")


def _labels(true: Floats, noisy: Floats | None, label: Ints | None) -> Ints:
    """Group of each record: what the attacker knows of it, and which columns it has."""
    given = np.zeros(len(true), dtype=np.int64) if label is None else label
    missing = np.isnan(true) if noisy is None else np.isnan(true) | np.isnan(noisy)
    if not missing.any():
        return given
    both = np.column_stack([missing, given]).astype(np.float64)
    return np.asarray(np.unique(both, axis=0, return_inverse=True)[1].reshape(-1), dtype=np.int64)


def _targets(n: int, sample: int | None, order: Ints | None) -> Ints:
    if sample is None or sample >= n:
        return np.arange(n)
    lot = scatter(np.arange(1, n + 1, dtype=np.uint64)) if order is None else order
    return np.sort(np.argpartition(lot, sample)[:sample])


@dataclass(frozen=True)
class _Space:
    """The metric: what is subtracted from a record and what it is then multiplied by."""

    middle: Floats
    scale: Floats

    @classmethod
    def of(cls, true: Floats, metric: Metric) -> _Space:
        p = true.shape[1]
        have = ~np.isnan(true)
        count = np.maximum(have.sum(axis=0), 1)
        middle = np.where(have, true, 0.0).sum(axis=0) / count
        if metric == "euclidean":
            return cls(np.zeros(p) if have.all() else middle, np.eye(p))
        apart = np.where(have, true - middle, 0.0)
        if metric == "scaled":
            sd = np.sqrt((apart**2).sum(axis=0) / count)
            return cls(middle, np.diag(np.divide(1.0, sd, out=np.zeros(p), where=sd > 0)))
        values, vectors = np.linalg.eigh(apart.T @ apart / len(true))
        use = values > 1e-12 * max(float(values.max(initial=0.0)), 1e-300)
        return cls(middle, (vectors[:, use] / np.sqrt(values[use])))

    def place(self, x: Floats) -> Floats:
        """Coordinates of records; a missing value stands at the middle, on both sides alike."""
        apart = np.where(np.isnan(x), 0.0, x - self.middle)
        diagonal = self.scale.shape[0] == self.scale.shape[1] and not np.any(self.scale - np.diag(np.diag(self.scale)))
        return np.asarray(apart * np.diag(self.scale) if diagonal else apart @ self.scale)


def _simulated(true: Floats, laws: Laws, random: np.random.Generator) -> Floats:
    out = np.empty_like(true)
    for rows, law in laws:
        out[rows] = law.simulate(true[rows], random)
    return out


def _spaces(
    true: Floats,
    noisy: Floats,
    attack: Attack,
    laws: Laws,
    space: _Space,
    random: np.random.Generator,
    homes: Households | None = None,
) -> tuple[Floats, Floats]:
    """What the attacker searches with, and among what."""
    known, releases = true, max(1, int(attack.number)) if attack.kind in ("averaging", "predicted") else 1
    if releases > 1:
        noisy = (noisy + sum(_simulated(true, laws, random) for _ in range(releases - 1))) / releases
    if attack.kind == "imprecise":
        known = _imprecise(true, attack.number, random)
    gone = np.isnan(true) | np.isnan(noisy)  # a value that only one side has takes no part in the search
    if gone.any():
        known, noisy = np.where(gone, np.nan, known), np.where(gone, np.nan, noisy)
    if attack.kind not in ("predicted", "household"):
        return space.place(known), space.place(noisy)
    if attack.kind == "household" and homes is not None:
        true = known = homes.apart(np.where(gone, np.nan, true))
        noisy = homes.apart(noisy)
        laws = [(rows, homes.law(law, true[rows], noisy[rows])) for rows, law in laws]
    parts = [
        (rows, likelihood_space(known[rows], noisy[rows], law.averaged(releases), true[rows])) for rows, law in laws
    ]
    width = max(points.shape[1] for _, (_, points) in parts)
    search, released = np.zeros((len(true), width)), np.zeros((len(true), width))
    for rows, (targets, points) in parts:
        search[rows, : targets.shape[1]], released[rows, : points.shape[1]] = targets, points
    return search, released


def _by_growth(true: Floats, rows: Ints, attack: Attack, laws: Laws) -> Iterator[tuple[Ints, Laws]]:
    """Targets whose noise has grown alike, with the law that holds for them; all at once where it does not grow.

    An attacker who knows a target's true values knows how strong the noise on them is. Its steps are a factor of
    `_GROWTH`, so that the taken strength is off by no more than the root of that.
    """
    if attack.kind != "predicted" or not any(g is not None for _, law in laws for g in law.grows):
        yield np.arange(len(rows)), laws
        return
    factor = np.ones(true.shape)
    for part, law in laws:
        for j, growth in enumerate(law.grows):
            if growth is not None:
                factor[part, j] = growth.factor(np.nan_to_num(true[part, j], nan=growth.centre))
    usual = np.sqrt((factor**2).mean(axis=0))
    step = np.minimum(np.round(np.log(factor[rows]) / _GROWTH), _MOST_STEPS)
    steps, inverse = np.unique(step, axis=0, return_inverse=True)
    for k, own in enumerate(steps):
        grown = [(part, law.grown(np.exp(_GROWTH * own), usual)) for part, law in laws]
        yield np.flatnonzero(inverse.reshape(-1) == k), grown


def _imprecise(true: Floats, off: float, random: np.random.Generator) -> Floats:
    """Knowledge that is off by a normal error; categories with two values are known exactly."""
    known = true.copy()
    for j in range(true.shape[1]):
        column = true[~np.isnan(true[:, j]), j]
        if len(column) and np.any((column != column.min()) & (column != column.max())):
            known[:, j] += off * column.std() * random.standard_normal(len(true))
    return known


def _lonely(truth: Floats) -> Floats:
    """Place of each record from the most isolated on: by distance to the nearest other, then by number of twins."""
    from scipy.stats import rankdata

    twins = distinct(truth)
    key = np.column_stack([-isolation(truth), twins.multiplicity[twins.inverse]])
    order = np.lexsort((key[:, 1], key[:, 0]))
    key = key[order]
    new = np.ones(len(truth), dtype=bool)
    new[1:] = (key[1:] != key[:-1]).any(axis=1)
    place = np.empty(len(truth))
    place[order] = np.cumsum(new)
    return np.asarray(rankdata(place, "max"))
