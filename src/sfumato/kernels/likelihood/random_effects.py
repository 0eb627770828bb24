"""The likelihood of a regression whose rows share random effects within groups, by adaptive Gauss-Hermite quadrature.

A row's linear predictor gets the offset x_i' R v_g: x_i holds 1 and, with a random slope, its covariate; v_g is
standard normal, one for each group; R is lower triangular, so that the random effects u = R v have covariance R R'.
With L_i(v) the likelihood of a record, hidden covariates summed or integrated out,

    L_g = ∫ Π_{i in g} L_i(v) φ(v) dv.

Nodes are placed around the peak of each group's integrand, scaled by its curvature. What depends on the parameters but
not on v is computed once by the model without random effects. Averaged over the nodes, the response's slopes are those
of a model without random effects whose score is the score of this one.

Sources: Naylor, J. C. and Smith, A. F. M. (1982), Applied Statistics 31, 214-225, doi:10.2307/2347995; Pinheiro, J. C.
and Bates, D. M. (1995), Journal of Computational and Graphical Statistics 4, 12-35,
doi:10.1080/10618600.1995.10474663; Skrondal, A. and Rabe-Hesketh, S. (2004), Generalized Latent Variable Modeling,
doi:10.1201/9780203489437.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
from numpy.polynomial.hermite_e import hermegauss
from numpy.typing import NDArray

from sfumato.kernels.likelihood.gaussian_mixture import GaussianMixture
from sfumato.kernels.likelihood.mixture import Mixture
from sfumato.kernels.likelihood.response import Response, Rows, Slope

__all__ = ["Averaged", "Look", "RandomEffects", "product_rule"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_CELLS = 1 << 18  # numbers in the largest array of one block
_NONE = 1e-250
"""A pattern less likely than this, given what was released, is left out."""
_LEAST = -700.0
_MANY = 10  # groups for each parameter
_MOST_STEPS = 60
_HALVINGS = 30
_CLOSE = 1e-5
"""A peak is found where the next step is below this, in standard deviations of the group's effect."""
_LONGEST = 3.0
_FLATTEST = 0.5
"""Least curvature that nodes are scaled by; the prior's own is 1. Where the peak of a mixture is no peak, nodes then
spread somewhat wider than the prior."""


def product_rule(nodes: int, dimension: int) -> tuple[Floats, Floats]:
    """Gauss-Hermite nodes for a standard normal of one or two dimensions.

    Parameters
    ----------
    nodes
        In each dimension.
    dimension
        1 or 2.

    Returns
    -------
    points : ndarray, shape (Q, dimension)
    log_weights : ndarray, shape (Q,)
        Weights sum to 1.

    Examples
    --------
    >>> points, log_weights = product_rule(5, 2)
    >>> points.shape, float(np.round(np.exp(log_weights) @ (points[:, 0] * points[:, 1]) ** 2, 9))
    ((25, 2), 1.0)
    """
    t, w = hermegauss(nodes)
    points = np.array(list(itertools.product(t, repeat=dimension)))
    weights = np.array([np.prod(c) for c in itertools.product(w / w.sum(), repeat=dimension)])
    return points, np.log(weights)


def _nothing(shape: tuple[int, ...], e: int) -> tuple[Floats, Floats, Floats]:
    """Zeros for a `Slope`: of shape (G, K), (e, G, K) and (e, e, G, K)."""
    return np.zeros(shape), np.zeros((e, *shape)), np.zeros((e, e, *shape))


@dataclass(frozen=True)
class _Probe:
    """A response that says nothing, and writes down the linear predictors that it is asked about."""

    units: int
    extra: int
    m: Floats
    v: Floats
    rows: Rows = field(default_factory=lambda: slice(None))

    @property
    def count(self) -> int:
        return self.units

    def take(self, rows: Rows) -> _Probe:
        return replace(self, rows=rows)

    def slope(self, m: Floats, v: Floats | float, extra: Floats) -> Slope:
        self.m[self.rows] = m
        self.v[self.rows] = v
        zero, one, two = _nothing(m.shape, self.extra)
        return Slope(zero, zero, zero, one, zero, one, two)


@dataclass(frozen=True)
class Averaged:
    """A response whose slopes are given: those of another one, averaged over the random effects given all data.

    Parameters
    ----------
    log_f, m, v : ndarray, shape (N, K)
        The logarithm of a factor proportional to the density, and derivatives by the predictor's mean and variance.
    by_extra : ndarray, shape (e, N, K)
        Derivatives by the further parameters.

    Examples
    --------
    >>> zero = np.zeros((2, 1))
    >>> Averaged(zero, zero, zero, np.zeros((0, 2, 1))).take(slice(0, 1)).count
    1
    """

    log_f: Floats
    m: Floats
    v: Floats
    by_extra: Floats

    @property
    def extra(self) -> int:
        """How many further parameters there are."""
        return len(self.by_extra)

    @property
    def count(self) -> int:
        """How many units there are."""
        return len(self.log_f)

    def take(self, rows: Rows) -> Averaged:
        """The same for some units."""
        return Averaged(self.log_f[rows], self.m[rows], self.v[rows], self.by_extra[:, rows])

    def slope(self, m: Floats, v: Floats | float, extra: Floats) -> Slope:
        """What was given; there are no second derivatives."""
        zero, one, two = _nothing(self.log_f.shape, self.extra)
        return Slope(self.log_f, self.m, self.v, self.by_extra, zero, one, two)


class Look(NamedTuple):
    """The log-likelihood, its gradient (P,), and a rough information (P, P) to begin an ascent with."""

    log_likelihood: float
    gradient: Floats
    information: Floats


@dataclass
class RandomEffects:
    """The model with its data; parameters are those of `model`, then the lower triangle of R.

    Parameters
    ----------
    model
        The model without random effects; where it is a `Mixture`, each unit has one row.
    record, group : ndarray, shape (N,)
        Record and group of each of the model's rows, numbered from 0.
    x : ndarray, shape (N, d)
        Covariates of the random effects: a constant and, for a random slope, its covariate.
    nodes
        Of the quadrature, in each dimension.
    placed
        Where nodes of each group stay, and their scale, shapes (G, d) and (G, d, d). None: they follow the peaks.

    Examples
    --------
    >>> from sfumato.kernels.likelihood.mixture import Patterns
    >>> from sfumato.kernels.likelihood.response import Linear
    >>> none = np.full(2, np.nan)
    >>> pair = Mixture(
    ...     np.ones((2, 1)), np.ones((1, 1)), Linear(np.array([1.0, -1.0]), np.zeros(2), none, none),
    ...     Patterns(np.zeros((1, 0)), np.zeros((2, 0))), None, np.arange(3), np.ones(2),
    ... )
    >>> model = RandomEffects(pair, np.arange(2), np.zeros(2, dtype=np.int64), np.ones((2, 1)))
    >>> round(model.look(np.array([0.0, 0.0, 1.0])).log_likelihood, 6)  # two normals, variance 2, covariance 1
    -3.387183
    """

    model: Mixture | GaussianMixture
    record: Ints
    group: Ints
    x: Floats
    nodes: int = 15
    placed: tuple[Floats, Floats] | None = None

    def __post_init__(self) -> None:
        self.order = np.lexsort((self.record, self.group))
        self._rule = product_rule(self.nodes, self.x.shape[1])
        by_record = self.group[self._record_rows]
        self._record_order = np.argsort(by_record, kind="stable")
        self._record_starts = np.flatnonzero(np.diff(by_record[self._record_order], prepend=-1))

    @property
    def _record_rows(self) -> Ints:
        """The first row of each record, in the model's order of records."""
        return np.arange(len(self.record)) if isinstance(self.model, Mixture) else self.model.records

    @property
    def effects(self) -> int:
        """Number d of random effects, 1 or 2."""
        return int(self.x.shape[1])

    @property
    def size(self) -> int:
        """Number of parameters P."""
        return self.model.size + self.effects * (self.effects + 1) // 2

    def split(self, theta: Floats) -> tuple[Floats, Floats]:
        """Parameters of the model without random effects, and R."""
        root = np.zeros((self.effects, self.effects))
        root[np.tril_indices(self.effects)] = theta[self.model.size :]
        return theta[: self.model.size], root

    def look(self, theta: Floats) -> Look:
        """Evaluate log-likelihood and gradient; the information is of products of scores.

        The products are those of the groups where these are many, else those of the records, which are never too few.

        Parameters
        ----------
        theta : ndarray, shape (P,)
            The parameters.
        """
        log_l, averaged, by_root, _ = self._integrate(theta)
        scores = replace(self.model, response=averaged).scores(self.split(theta)[0])
        by_group = np.add.reduceat(scores[self._record_order], self._record_starts, axis=0)
        u = np.concatenate([by_group, by_root], axis=1)
        gradient = u.sum(axis=0)
        if isinstance(self.model, GaussianMixture):
            gradient[: self.model.size] += self.model.penalty(theta[: self.model.size])[1]
        information = u.T @ u
        if len(u) < _MANY * self.size:
            P = self.model.size
            information[:P, :P] = scores.T @ scores
            information[P:, :P] = information[:P, P:] = 0.0
        return Look(log_l, gradient, information)

    def average(self, theta: Floats) -> tuple[Mixture | GaussianMixture, Floats]:
        """The model averaged over the random effects given all data, and each row's expected offset, shape (N,)."""
        _, averaged, _, offset = self._integrate(theta)
        return replace(self.model, response=averaged), offset

    def place(self, theta: Floats) -> RandomEffects:
        """The same with nodes that stay where the groups' effects lie given all data, at these parameters.

        Where an integrand has several peaks, the highest changes with the parameters; mean and spread of the whole do
        not jump, and with nodes that stay the score is exactly the slope of what is climbed.
        """
        inner, root = self.split(theta)
        _, m, v, prior = self._without_response(inner)
        extra = inner[self.model.E.shape[1] :][: self.model.response.extra]
        count = int(self.group.max()) + 1
        mean, scale = np.zeros((count, self.effects)), np.zeros((count, self.effects, self.effects))
        for rows in self._blocks(m.shape[1]):
            block = _Block(self, rows, m[rows], v[rows], prior[rows], extra, root)
            block.integrate(*self._rule)
            which = np.unique(self.group[rows])
            mean[which], scale[which] = block.moments
        return replace(self, placed=(mean, scale))

    def _integrate(self, theta: Floats) -> tuple[float, Averaged, Floats, Floats]:
        """Log-likelihood, averaged response, scores of R by group (G, ·), and expected offsets (N,)."""
        inner, root = self.split(theta)
        without, m, v, prior = self._without_response(inner)
        e, extra = self.model.response.extra, inner[self.model.E.shape[1] :][: self.model.response.extra]
        kept = Averaged(np.zeros_like(m), np.zeros_like(m), np.zeros_like(m), np.zeros((e, *m.shape)))
        offset, by_root = np.zeros(len(m)), []
        total = without
        for rows in self._blocks(m.shape[1]):
            block = _Block(self, rows, m[rows], v[rows], prior[rows], extra, root)
            log_l, found = block.integrate(*self._rule)
            total += float(log_l.sum())
            kept.log_f[rows], kept.m[rows], kept.v[rows] = found.log_f, found.m, found.v
            kept.by_extra[:, rows] = found.by_extra
            by_root.append(block.by_root[(slice(None), *np.tril_indices(self.effects))])
            offset[rows] = block.offset
        return total, kept, np.concatenate(by_root), offset

    def _without_response(self, inner: Floats) -> tuple[float, Floats, Floats, Floats]:
        """Log-likelihood of what was released of covariates; predictors N(m, v) and prior of patterns, (N, K)."""
        model = self.model
        shape = (len(self.record), len(model.Q))
        m, v, prior = np.empty(shape), np.empty(shape), np.empty(shape)
        silent = replace(model, response=_Probe(shape[0], model.response.extra, m, v))
        if isinstance(silent, Mixture):
            for rows, _, r in silent.responsibilities(inner):
                prior[rows] = r
            return silent.look(inner, False).log_likelihood, m, v, prior
        for found in silent.posterior(inner):
            prior[found.rows] = found.r * found.share[:, None]
        return float(silent.log_likelihoods(inner[None])[0]), m, v, prior

    def _blocks(self, patterns: int) -> Iterator[Ints]:
        """Rows in blocks of whole groups, sorted by group and record."""
        most = max(1, _CELLS // (patterns * len(self._rule[0])))
        ends = np.append(np.flatnonzero(np.diff(self.group[self.order])) + 1, len(self.order))
        start = 0
        while start < len(self.order):
            last = np.searchsorted(ends, start + most, side="right") - 1
            stop = int(ends[last]) if last >= 0 and ends[last] > start else int(ends[last + 1])
            yield self.order[start:stop]
            start = stop


class _Block:
    """Whole groups at some parameters: m rows, g groups, d effects, Q nodes, K patterns."""

    def __init__(
        self, model: RandomEffects, rows: Ints, m: Floats, v: Floats, prior: Floats, extra: Floats, root: Floats
    ) -> None:
        self.response: Response = model.model.response.take(rows)
        self.m, self.prior, self.extra = m, prior, extra
        self.v = v if v.any() else None
        self.x, self.z = model.x[rows], model.x[rows] @ root
        _, starts, self.group = np.unique(model.group[rows], return_index=True, return_inverse=True)
        self.group_starts = starts
        self.placed = None
        if model.placed is not None:
            which = model.group[rows][starts]
            self.placed = model.placed[0][which], model.placed[1][which]
        self.record_starts = np.flatnonzero(np.diff(model.record[rows], prepend=-1))
        sizes = np.diff(self.record_starts, append=len(rows))
        self.record = np.repeat(np.arange(len(sizes)), sizes)
        self.single = bool((sizes == 1).all())
        self.impossible = prior < _NONE
        self.by_root = np.zeros((len(starts), *root.shape))
        self.offset = np.zeros(len(rows))

    def _records(self, a: Floats, f: np.ufunc) -> Floats:
        """Add up or take the largest over the rows of each record, and give it back to each of its rows."""
        return a if self.single else np.asarray(f.reduceat(a, self.record_starts, axis=0)[self.record])

    def _groups(self, a: Floats) -> Floats:
        return np.asarray(np.add.reduceat(a, self.group_starts, axis=0))

    def _at(self, v: Floats) -> tuple[Floats, Slope, Floats, Floats]:
        """Evaluate at effects v, shape (g, Q, d).

        Returns log L_i of each row's record (m, Q), slopes (m, K·Q), e^(log f − top) and 1 / Σ, (m, K, Q) and (m, Q).
        """
        offset = np.einsum("md,mqd->mq", self.z, v[self.group])
        m, K, Q = *self.m.shape, v.shape[1]
        eta = (self.m[:, :, None] + offset[:, None, :]).reshape(m, K * Q)
        spread = 0.0 if self.v is None else np.repeat(self.v, Q, axis=1)
        slope = self.response.slope(eta, spread, self.extra)
        log_f = np.where(self.impossible[:, :, None], -np.inf, slope.log_f.reshape(m, K, Q))
        top = np.maximum(self._records(log_f.max(axis=1), np.maximum), -1e300)
        f = np.exp(log_f - top[:, None, :])
        total = self._records(np.einsum("mk,mkq->mq", self.prior, f), np.add)
        return np.log(total) + top, slope, f, 1 / total

    def _own(self, log_l: Floats) -> Floats:
        """Each record's log-likelihood once: zero in all its rows but the first."""
        if self.single:
            return log_l
        out = np.zeros_like(log_l)
        out[self.record_starts] = log_l[self.record_starts]
        return out

    def _peak_at(self, v: Floats) -> tuple[Floats, Floats, Floats]:
        """Each group's log-integrand at v (g, d), its gradient (g, d), and its curvature (g, d, d)."""
        log_l, slope, f, inverse = self._at(v[:, None, :])
        r = self.prior * f[:, :, 0] * inverse
        first = self._records((r * slope.m).sum(axis=1), np.add)
        second = self._records(2 * (r * slope.v).sum(axis=1), np.add) - first**2  # f''/f = 2 ∂ log f/∂v
        own = self._own(np.stack([log_l[:, 0], first, second], axis=1))
        h = self._groups(own[:, 0]) - 0.5 * (v**2).sum(axis=1)
        gradient = self._groups(own[:, 1, None] * self.z) - v
        bend = self._groups(own[:, 2, None, None] * self.z[:, :, None] * self.z[:, None, :])
        return h, gradient, np.eye(v.shape[1]) - bend

    def _peaks(self) -> tuple[Floats, Floats]:
        """Where each group's integrand is largest (g, d), and the scale of its nodes: curvature to the power −½."""
        v = np.zeros((len(self.group_starts), self.z.shape[1]))
        h, gradient, H = self._peak_at(v)
        for _ in range(_MOST_STEPS):
            values, vectors = np.linalg.eigh(H)
            values = np.maximum(values, _FLATTEST)
            turned = np.einsum("gij,gi->gj", vectors, gradient)
            if np.max(np.abs(turned) / np.sqrt(values)) < _CLOSE:
                break
            step = np.einsum("gij,gj->gi", vectors, turned / values)
            step /= np.maximum(np.abs(step).max(axis=1, keepdims=True) / _LONGEST, 1.0)
            for _ in range(_HALVINGS):
                found = self._peak_at(v + step)
                worse = found[0] < h - 1e-10 * (1 + np.abs(h))
                if not worse.any():
                    break
                step[worse] /= 2
            v, (h, gradient, H) = v + step, found
        return v, np.einsum("gij,gj,gkj->gik", vectors, values**-0.5, vectors)

    def integrate(self, points: Floats, log_weights: Floats) -> tuple[Floats, Averaged]:
        """Log-likelihood of each group, shape (g,), and the response averaged over the effects given all data."""
        peak, scale = self._peaks() if self.placed is None else self.placed
        v = peak[:, None, :] + np.einsum("gij,qj->gqi", scale, points)
        log_l, slope, f, inverse = self._at(v)
        log_part = self._groups(self._own(log_l)) + log_weights + 0.5 * ((points**2).sum(axis=1) - (v**2).sum(axis=2))
        log_part += np.log(np.linalg.det(scale))[:, None]
        top = log_part.max(axis=1, keepdims=True)
        part = np.exp(log_part - top)
        whole = part.sum(axis=1, keepdims=True)
        omega = (part / whole)[self.group]
        self.moments = _moments(v, part / whole)
        self._of_effects(v[self.group], omega, slope, f, inverse)
        return (np.log(whole) + top)[:, 0], self._average(f, omega * inverse, slope)

    def _of_effects(self, v: Floats, omega: Floats, slope: Slope, f: Floats, inverse: Floats) -> None:
        """Scores of R by group, and each row's expected offset."""
        first = np.einsum("mk,mkq,mkq->mq", self.prior, f, slope.m.reshape(f.shape)) * inverse
        by_v = np.einsum("mq,mqd->md", omega * first, v)
        self.by_root = self._groups(self.x[:, :, None] * by_v[:, None, :])
        self.offset = np.einsum("md,mqd,mq->m", self.z, v, omega)

    def _average(self, f: Floats, c: Floats, slope: Slope) -> Averaged:
        """Average over the nodes; c holds their weights over the records' likelihoods, shape (m, Q)."""

        def mean(a: Floats) -> Floats:
            return np.asarray(np.einsum("mkq,mkq,mq->mk", f, a.reshape(f.shape), c))

        g = np.einsum("mkq,mq->mk", f, c)
        least = np.where(g > 0, g, 1.0)
        by_extra = np.array([mean(a) / least for a in slope.extra]).reshape(len(slope.extra), *g.shape)
        log_g = np.where(g > 0, np.maximum(np.log(least), _LEAST), _LEAST)
        return Averaged(log_g, mean(slope.m) / least, mean(slope.v) / least, by_extra)


def _moments(v: Floats, omega: Floats) -> tuple[Floats, Floats]:
    """Mean (g, d) of effects given all data, and the symmetric root of their covariance (g, d, d)."""
    mean = np.einsum("gq,gqd->gd", omega, v)
    c = v - mean[:, None, :]
    values, vectors = np.linalg.eigh(np.einsum("gq,gqd,gqe->gde", omega, c, c))
    return mean, np.einsum("gij,gj,gkj->gik", vectors, np.sqrt(np.maximum(values, 1e-6)), vectors)
