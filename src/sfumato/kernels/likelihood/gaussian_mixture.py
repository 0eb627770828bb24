"""The likelihood of a regression with hidden continuous covariates, beside hidden discrete ones.

Given pattern k of the hidden discrete covariates and the exact ones, the hidden continuous covariates are normal,
x | k ~ N(μ_k, S); what was released of them is z = x + N(0, Ω), some of it missing. With o the components that were
released, C = S_oo + Ω_oo, G = S_·o C⁻¹:

    x | z, k ~ N(m, V),   m = μ_k + G (z_o − μ_k,o),   V = S − G S_o·,

and the linear predictor is normal in turn. L_i = Σ_k π_k f(z_d | k) N(z_o; μ_k,o, C) f(y | η ~ N(mean, B'VB)).

A distribution of another shape is a mixture of G normals: pattern k then stands for a pair of discrete values and part
g, with a covariance S_g of the part's own. Its likelihood gets a penalty worth one record a part, which keeps every
part from shrinking to a point or vanishing.

Source: Carroll, Ruppert, Stefanski and Crainiceanu (2006), Measurement Error in Nonlinear Models, 2nd ed., chapter 8,
doi:10.1201/9781420010138; Little and Schluchter (1985), Biometrika 72, 497-512, doi:10.1093/biomet/72.3.497 (the
general location model); Chen, Tan and Zhang (2008), Statistica Sinica 18, 443-465, jstor.org/stable/24308490 (the
penalty of normal mixtures).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, reduce

import numpy as np
from numpy.typing import NDArray

from sfumato.kernels.likelihood.mixture import Factors, Patterns
from sfumato.kernels.likelihood.response import Response

__all__ = ["GaussianMixture", "Group", "Posterior"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_CELLS = 1 << 15  # numbers in an array (rows, patterns) of one block: a few of these stay in the cache
_LOG_ROOT = 0.5 * math.log(2 * math.pi)


@dataclass(frozen=True)
class Group:
    """Rows of which the same components were released with the same noise.

    Parameters
    ----------
    start, stop
        The rows.
    seen : ndarray, shape (o,)
        Which components were released.
    noise : ndarray, shape (o, o)
        Covariance of their noise, Ω_oo.
    nodes
        How many rows stand for one record: nodes of a quadrature over a true value, each a row in which that value is
        known.
    """

    start: int
    stop: int
    seen: Ints
    noise: Floats
    nodes: int = 1


@dataclass(frozen=True)
class Posterior:
    """What is known of the hidden covariates of some rows after all data were seen.

    Parameters
    ----------
    rows
        The rows.
    share : ndarray, shape (m,)
        Probability of each row among those of its record; 1 where a record has one row.
    r : ndarray, shape (m, K)
        Probability of each pattern.
    mean : ndarray, shape (m, K, c)
        Expectation of the continuous covariates given pattern and z (not y).
    covariance : ndarray, shape (K, c, c)
        Their covariance given pattern and z.
    """

    rows: slice
    share: Floats
    r: Floats
    mean: Floats
    covariance: Floats


@dataclass
class _Kalman:
    """What a group needs of one part's S: the regression of x on z, for all its rows."""

    seen: Ints
    precision: Floats  # C⁻¹
    gain: Floats  # G, shape (c, o)
    covariance: Floats  # V
    log_det: float


@dataclass
class GaussianMixture:
    """The model with its data; parameters are (b, extra, gamma, A, roots).

    The roots are the lower triangles, with logarithms on the diagonal, of each part's root of S.

    Parameters
    ----------
    E, Q : ndarray, shapes (N, p) and (K, p)
        The row of the design of row i under pattern k is E_i ∘ Q_k, times x_j in the columns of component j.
    owner : ndarray, shape (p,)
        The component of x in each column of the design; −1 for none.
    response, patterns, factors
        As for `Mixture`, of the N rows.
    z : ndarray, shape (N, c)
        What was released of x.
    T : ndarray, shape (K, t)
        Design of the mean by pattern, with a constant.
    groups
        All rows, in order.
    weight : ndarray, shape (N,)
        Of each row; equal for all rows of a record.
    log_node : ndarray, shape (N,), optional
        Logarithm of the weight of each row as a node of its record.
    parts
        Number G of normals that the distribution of x is a mixture of. Patterns stand part by part: all combinations
        of discrete values with the first, then with the second, …
    size_of_parts : ndarray, shape (c, c), optional
        The covariance that the penalty of a mixture draws those of its parts to; without it there is no penalty.

    Examples
    --------
    >>> from sfumato.kernels.likelihood.response import Poisson
    >>> model = GaussianMixture(
    ...     np.ones((1, 2)), np.ones((1, 2)), np.array([-1, 0]), Poisson(np.zeros(1)),
    ...     Patterns(np.zeros((1, 0)), np.zeros((1, 0))), None, np.zeros((1, 1)), np.ones((1, 1)),
    ...     [Group(0, 1, np.array([0]), np.eye(1))], np.ones(1),
    ... )
    >>> model.size
    4
    """

    E: Floats
    Q: Floats
    owner: Ints
    response: Response
    patterns: Patterns
    factors: Factors | None
    z: Floats
    T: Floats
    groups: list[Group]
    weight: Floats
    log_node: Floats | None = None
    parts: int = 1
    size_of_parts: Floats | None = None

    @property
    def records(self) -> Ints:
        """The first row of each record."""
        return np.concatenate([np.arange(g.start, g.stop, g.nodes) for g in self.groups])

    @property
    def record_weight(self) -> Floats:
        """How many records each row of `scores` stands for, shape (n,)."""
        return self.weight[self.records]

    @property
    def components(self) -> int:
        """Number c of hidden continuous covariates."""
        return int(self.z.shape[1])

    @property
    def base_means(self) -> int:
        """How many rows of A, from the first, are means; the others are differences and slopes."""
        first = self.T[: len(self.Q) // self.parts]
        return int(first.any(axis=0).sum()) if (first.sum(axis=1) == 1).all() else 1

    @property
    def size(self) -> int:
        """Number of parameters P."""
        c = self.components
        means = (self.T.shape[1] + self.patterns.w.shape[1]) * c
        roots = self.parts * (c * (c + 1) // 2)
        return int(self.E.shape[1]) + self.response.extra + self.patterns.count + int(means) + roots

    def split(self, theta: Floats) -> tuple[Floats, Floats, Floats, Floats, Floats]:
        """Coefficients, further parameters, patterns, A of shape (t + q, c), each part's root of S, (G, c, c)."""
        c = self.components
        cuts = np.cumsum([self.E.shape[1], self.response.extra, self.patterns.count])
        b, extra, gamma, rest = np.split(theta, cuts)
        means = (self.T.shape[1] + self.patterns.w.shape[1]) * c
        roots = np.zeros((self.parts, c, c))
        roots[(slice(None), *_lower(c))] = rest[means:].reshape(self.parts, -1)
        diagonal = np.arange(c)
        roots[:, diagonal, diagonal] = np.exp(np.clip(roots[:, diagonal, diagonal], -300, 300))
        return b, extra, gamma, rest[:means].reshape(-1, c), roots

    def join(self, b: Floats, extra: Floats, gamma: Floats, A: Floats, S: Floats) -> Floats:
        """The parameters as one array; S has shape (G, c, c)."""
        roots = np.linalg.cholesky(S)
        diagonal = np.arange(self.components)
        roots[:, diagonal, diagonal] = np.log(roots[:, diagonal, diagonal])
        own = roots[(slice(None), *_lower(self.components))]
        return np.concatenate([b, extra, gamma, A.ravel(), own.ravel()])

    def penalty(self, theta: Floats) -> tuple[float, Floats]:
        """What is added to the log-likelihood of a mixture, and its gradient, shape (P,).

        For each part −½ (tr S₀S⁻¹ + log |S|), as one record would have it; and one record that is a bit of each
        pattern, Σ log π_k / K₀ with K₀ patterns a part, where w = 0.
        """
        gradient = np.zeros(len(theta))
        if self.parts == 1 or self.size_of_parts is None:
            return 0.0, gradient
        c, K = self.components, len(self.Q)
        first = int(self.E.shape[1]) + self.response.extra
        psi = np.concatenate([[0.0], theta[first : first + K - 1]])
        log_pi = psi - psi.max() - math.log(float(np.exp(psi - psi.max()).sum()))
        total = self.parts / K * float(log_pi.sum())
        gradient[first : first + K - 1] = self.parts / K * (1 - K * np.exp(log_pi[1:]))
        roots = self.split(theta)[4]
        diagonal = np.arange(c)
        sds = roots[:, diagonal, diagonal]
        half = np.linalg.inv(roots)
        inverse = half.transpose(0, 2, 1) @ half
        total -= 0.5 * float(np.sum(self.size_of_parts * inverse)) + float(np.log(sds).sum())
        by_root = (inverse @ self.size_of_parts @ inverse - inverse) @ roots
        by_root[:, diagonal, diagonal] *= sds
        own = by_root[(slice(None), *_lower(c))].ravel()
        gradient[len(theta) - len(own) :] = own
        return total, gradient

    def evaluate(self, theta: Floats, products: bool = True) -> tuple[float, Floats, Floats]:
        """Log-likelihood with any penalty, gradient, and (where wanted) Σ of the scores' products."""
        P = self.size
        log_l, gradient, outer = 0.0, np.zeros(P), np.zeros((P, P))
        for block in self._blocks(theta):
            omega = block.weight
            log_l += float(omega @ block.log_l)
            u = block.scores()
            gradient += omega @ u
            if products:
                outer += u.T @ (u * omega[:, None])
        more, slope = self.penalty(theta)
        return log_l + self._scale() + more, gradient + slope, outer

    def log_likelihoods(self, thetas: Floats) -> Floats:
        """The log-likelihood, with any penalty, at each of many parameters, shape (D, P) → (D,)."""
        constant = self._scale()
        own = (sum(float(b.weight @ b.log_l) for b in self._blocks(t)) + self.penalty(t)[0] for t in thetas)
        return np.array([constant + value for value in own])

    def _scale(self) -> float:
        """What the factors' scaling took off the log-likelihood."""
        if self.factors is None:
            return 0.0
        records = self.records
        return float(self.weight[records] @ self.factors.log_scale[records])

    def scores(self, theta: Floats) -> Floats:
        """The score of each record, unweighted, shape (n, P)."""
        return np.concatenate([block.scores() for block in self._blocks(theta)])

    def posterior(self, theta: Floats) -> Iterator[Posterior]:
        """What is known of the hidden covariates, block by block."""
        for block in self._blocks(theta):
            covariance = np.repeat([k.covariance for k in block.kalman], len(self.Q) // self.parts, axis=0)
            yield Posterior(block.rows, block.share.ravel(), block.r, block.mean, covariance)

    def _blocks(self, theta: Floats) -> Iterator[_Block]:
        step = max(1, _CELLS // (len(self.Q) * max(self.components, 1)))
        parts = self.split(theta)
        for group in self.groups:
            kalman = [_regress(root @ root.T, group) for root in parts[4]]
            whole = max(step // group.nodes, 1) * group.nodes
            for start in range(group.start, group.stop, whole):
                yield _Block(self, parts, kalman, slice(start, min(start + whole, group.stop)), group.nodes)


def _regress(S: Floats, group: Group) -> _Kalman:
    """The regression of x on what was released of it."""
    seen = group.seen
    if not len(seen):
        return _Kalman(seen, np.zeros((0, 0)), np.zeros((len(S), 0)), S, 0.0)
    root = np.linalg.cholesky(S[np.ix_(seen, seen)] + group.noise)
    half = np.linalg.inv(root)
    precision = half.T @ half
    if len(seen) == len(S) and not group.noise.any():  # the numbers themselves, as at nodes
        gain, V = np.eye(len(S)), np.zeros_like(S)
    else:
        gain = S[:, seen] @ precision
        V = S - gain @ S[seen]
    return _Kalman(seen, precision, gain, (V + V.T) / 2, 2 * float(np.log(np.diagonal(root)).sum()))


class _Block:
    """Some rows of one group at some parameters."""

    def __init__(
        self,
        model: GaussianMixture,
        parts: tuple[Floats, Floats, Floats, Floats, Floats],
        kalman: list[_Kalman],
        rows: slice,
        nodes: int,
    ) -> None:
        self.model, self.kalman, self.rows = model, kalman, rows
        self.weight = model.weight[rows][::nodes]
        b, extra, gamma, A, self.roots = parts
        t, seen = model.T.shape[1], kalman[0].seen
        self.E, self.w = model.E[rows], model.patterns.w[rows]
        mu = (self.w @ A[t:])[:, None, :] + (model.T @ A[:t])[None, :, :]
        residual = model.z[rows][:, None, seen] - mu[:, :, seen]
        self.q = np.empty_like(residual)  # C⁻¹ (z − μ), shape (m, K, o)
        self.mean = mu
        constant = np.empty(len(model.Q))
        for k, own in self._parts():
            self.q[:, own] = _times(residual[:, own], k.precision)
            self.mean[:, own] += _times(residual[:, own], k.gain.T)
            constant[own] = 0.5 * k.log_det + len(seen) * _LOG_ROOT
        self._predict(b)
        self.slope = model.response.take(rows).slope(self.eta, self.spread, extra)
        self.log_pi = model.patterns.log_probability(gamma, rows)
        log_class = self.log_pi + self.slope.log_f - 0.5 * _inner(residual, self.q) - constant
        log_rows, self.r = self._weigh(log_class)
        self.log_l, self.share = self._gather(log_rows, nodes)

    def _parts(self) -> Iterator[tuple[_Kalman, slice]]:
        """Each part's regression of x on z, and which patterns are its own."""
        K = len(self.model.Q) // self.model.parts
        for g, kalman in enumerate(self.kalman):
            yield kalman, slice(g * K, (g + 1) * K)

    def _gather(self, log_rows: Floats, nodes: int) -> tuple[Floats, Floats]:
        """Log-likelihood of each record, and the share of each of its rows in it, shape (records, nodes)."""
        if nodes == 1 or self.model.log_node is None:
            return log_rows, np.ones((len(log_rows), 1))
        both = (log_rows + self.model.log_node[self.rows]).reshape(-1, nodes)
        top = both.max(axis=1, keepdims=True)
        part = np.exp(both - top)
        total = part.sum(axis=1, keepdims=True)
        return (np.log(total) + top)[:, 0], part / total

    def _predict(self, b: Floats) -> None:
        """The linear predictor, normal with mean `eta` and variance `spread`, and how it hangs on x."""
        owner, Q = self.model.owner, self.model.Q
        c = self.model.components
        alone = owner < 0
        self.eta = self.E[:, alone] @ (Q[:, alone] * b[alone]).T
        self.B = np.zeros((*self.eta.shape, c))
        for j in range(c):
            own = owner == j
            self.B[:, :, j] = self.E[:, own] @ (Q[:, own] * b[own]).T
            self.eta = self.eta + self.B[:, :, j] * self.mean[:, :, j]
        self.VB = np.zeros_like(self.B)
        self.spread: Floats | float = 0.0
        if any(k.covariance.any() for k in self.kalman):
            for k, patterns in self._parts():
                self.VB[:, patterns] = _times(self.B[:, patterns], k.covariance)
            self.spread = np.maximum(_inner(self.VB, self.B), 0.0)

    def _weigh(self, log_class: Floats) -> tuple[Floats, Floats]:
        top = reduce(np.maximum, log_class.T)
        with np.errstate(invalid="ignore", divide="ignore", under="ignore"):
            r = np.exp(log_class - top[:, None])
            if self.model.factors is not None:
                r *= self.model.factors.rows(self.rows.start, self.rows.stop)
            total = r @ np.ones(r.shape[1])
            return np.log(total) + top, r / total[:, None]

    def scores(self) -> Floats:
        """The score of each record, shape (records, P)."""
        model, r, slope = self.model, self.r, self.slope
        rm, rv = r * slope.m, r * slope.v
        by_b = np.empty_like(self.E)
        alone = model.owner < 0
        by_b[:, alone] = self.E[:, alone] * (rm @ model.Q[:, alone])
        for j in range(model.components):
            own = model.owner == j
            by_b[:, own] = self.E[:, own] * ((rm * self.mean[:, :, j] + 2 * rv * self.VB[:, :, j]) @ model.Q[:, own])
        by_extra = (r * slope.extra).sum(axis=2).T
        by_gamma = model.patterns.gradient(r - np.exp(self.log_pi), self.rows)
        u = np.concatenate([by_b, by_extra, by_gamma, *self._of_covariates(rm, rv)], axis=1)
        if self.share.shape[1] == 1:
            return u
        return np.asarray((self.share[:, None, :] @ u.reshape(*self.share.shape, -1))[:, 0, :])

    def _of_covariates(self, rm: Floats, rv: Floats) -> tuple[Floats, Floats]:
        """Scores of A and of the roots of S."""
        model, seen = self.model, self.kalman[0].seen
        m, c = len(self.r), model.components
        q = np.zeros((*self.r.shape, c))
        q[:, :, seen] = self.q
        beta = self.B.copy()  # how η hangs on μ: B − (G'B) on what was released
        for k, own in self._parts():
            beta[:, own, seen] -= _times(self.B[:, own], k.gain)
        by_mean = self.r[:, :, None] * q + rm[:, :, None] * beta
        by_pattern = np.stack([by_mean[:, :, j] @ model.T for j in range(c)], axis=2)
        by_w = np.einsum("mkc->mc", by_mean)[:, None, :] * self.w[:, :, None]
        left = 0.5 * self.r[:, :, None] * q + rm[:, :, None] * beta
        curved = rv[:, :, None] * beta
        by_roots = [
            self._of_root(k, root, self.r[:, own], left[:, own], q[:, own], curved[:, own], beta[:, own])
            for (k, own), root in zip(self._parts(), self.roots, strict=True)
        ]
        return np.concatenate([by_pattern, by_w], axis=1).reshape(m, -1), np.concatenate(by_roots, axis=1)

    @staticmethod
    def _of_root(k: _Kalman, root: Floats, r: Floats, left: Floats, q: Floats, curved: Floats, beta: Floats) -> Floats:
        """Scores of one part's root, shape (m, c (c + 1) / 2), from what its patterns have."""
        c = len(root)
        precision = np.zeros((c, c))
        precision[np.ix_(k.seen, k.seen)] = k.precision
        by_S = np.empty((len(r), c, c))
        for i, j in np.ndindex(c, c):
            by_S[:, i, j] = _inner(left[:, :, i], q[:, :, j]) + _inner(curved[:, :, i], beta[:, :, j])
        by_S -= 0.5 * (r @ np.ones(r.shape[1]))[:, None, None] * precision
        by_root = _times(by_S + by_S.transpose(0, 2, 1), root)
        diagonal = np.arange(c)
        by_root[:, diagonal, diagonal] *= np.diagonal(root)
        return np.asarray(by_root[(slice(None), *_lower(c))])


def _times(a: Floats, matrix: Floats) -> Floats:
    """The last axis of `a` times a matrix, as one product: many small ones are slow."""
    flat = a.reshape(math.prod(a.shape[:-1]), a.shape[-1])
    return np.asarray((flat @ matrix).reshape(*a.shape[:-1], matrix.shape[1]))


def _inner(a: Floats, b: Floats) -> Floats:
    """Σ over the last axis of a product; sums over short axes are slow otherwise."""
    return np.asarray(np.einsum("...c,...c->...", a, b))


@cache
def _lower(c: int) -> tuple[Ints, Ints]:
    """Rows and columns of a lower triangle."""
    return np.tril_indices(c)
