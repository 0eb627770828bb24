"""The likelihood of a regression with hidden continuous covariates, beside hidden discrete ones.

Given pattern k of the hidden discrete covariates and the exact ones, the hidden continuous covariates are normal,
x | k ~ N(μ_k, S); what was released of them is z = x + N(0, Ω), some of it missing. With o the components that were
released, C = S_oo + Ω_oo, G = S_·o C⁻¹:

    x | z, k ~ N(m, V),   m = μ_k + G (z_o − μ_k,o),   V = S − G S_o·,

and the linear predictor is normal in turn. L_i = Σ_k π_k f(z_d | k) N(z_o; μ_k,o, C) f(y | η ~ N(mean, B'VB)).

Source: Carroll, Ruppert, Stefanski and Crainiceanu (2006), Measurement Error in Nonlinear Models, 2nd ed., chapter 8,
doi:10.1201/9781420010138; Little and Schluchter (1985), Biometrika 72, 497-512, doi:10.1093/biomet/72.3.497 (the
general location model).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import reduce

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_solve, cholesky

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
    covariance : ndarray, shape (c, c)
        Their covariance given pattern and z.
    """

    rows: slice
    share: Floats
    r: Floats
    mean: Floats
    covariance: Floats


@dataclass
class _Kalman:
    """What a group needs of S: the regression of x on z, for all its rows."""

    seen: Ints
    root: Floats  # Cholesky factor of C
    gain: Floats  # G, shape (c, o)
    covariance: Floats  # V
    log_det: float


@dataclass
class GaussianMixture:
    """The model with its data; parameters are (b, extra, gamma, A, lower triangle of S's root with log diagonal).

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

    @property
    def records(self) -> Ints:
        """The first row of each record."""
        return np.concatenate([np.arange(g.start, g.stop, g.nodes) for g in self.groups])

    @property
    def components(self) -> int:
        """Number c of hidden continuous covariates."""
        return int(self.z.shape[1])

    @property
    def size(self) -> int:
        """Number of parameters P."""
        c = self.components
        means = (self.T.shape[1] + self.patterns.w.shape[1]) * c
        return int(self.E.shape[1]) + self.response.extra + self.patterns.count + int(means) + c * (c + 1) // 2

    def split(self, theta: Floats) -> tuple[Floats, Floats, Floats, Floats, Floats]:
        """Coefficients, further parameters, patterns, A of shape (t + q, c), the root of S."""
        c = self.components
        cuts = np.cumsum([self.E.shape[1], self.response.extra, self.patterns.count])
        b, extra, gamma, rest = np.split(theta, cuts)
        means = (self.T.shape[1] + self.patterns.w.shape[1]) * c
        root = np.zeros((c, c))
        root[np.tril_indices(c)] = rest[means:]
        root[np.arange(c), np.arange(c)] = np.exp(np.clip(np.diagonal(root), -300, 300))
        return b, extra, gamma, rest[:means].reshape(-1, c), root

    def join(self, b: Floats, extra: Floats, gamma: Floats, A: Floats, S: Floats) -> Floats:
        """The parameters as one array."""
        root = np.linalg.cholesky(S)
        c = self.components
        root[np.arange(c), np.arange(c)] = np.log(np.diagonal(root))
        return np.concatenate([b, extra, gamma, A.ravel(), root[np.tril_indices(c)]])

    def evaluate(self, theta: Floats, products: bool = True) -> tuple[float, Floats, Floats]:
        """Log-likelihood, gradient, and (where wanted) Σ of the scores' products."""
        P = self.size
        log_l, gradient, outer = 0.0, np.zeros(P), np.zeros((P, P))
        for block in self._blocks(theta):
            omega = block.weight
            log_l += float(omega @ block.log_l)
            u = block.scores()
            gradient += omega @ u
            if products:
                outer += u.T @ (u * omega[:, None])
        return log_l + self._scale(), gradient, outer

    def log_likelihoods(self, thetas: Floats) -> Floats:
        """The log-likelihood at each of many parameters, shape (D, P) → (D,)."""
        constant = self._scale()
        return np.array([constant + sum(float(b.weight @ b.log_l) for b in self._blocks(t)) for t in thetas])

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
            yield Posterior(block.rows, block.share.ravel(), block.r, block.mean, block.kalman.covariance)

    def _blocks(self, theta: Floats) -> Iterator[_Block]:
        step = max(1, _CELLS // (len(self.Q) * max(self.components, 1)))
        parts = self.split(theta)
        S = parts[4] @ parts[4].T
        for group in self.groups:
            kalman = _regress(S, group)
            whole = max(step // group.nodes, 1) * group.nodes
            for start in range(group.start, group.stop, whole):
                yield _Block(self, parts, kalman, slice(start, min(start + whole, group.stop)), group.nodes)


def _regress(S: Floats, group: Group) -> _Kalman:
    """The regression of x on what was released of it."""
    seen = group.seen
    root = cholesky(S[np.ix_(seen, seen)] + group.noise, lower=True) if len(seen) else np.zeros((0, 0))
    gain = cho_solve((root, True), S[seen]).T if len(seen) else np.zeros((len(S), 0))
    V = S - gain @ S[seen]
    return _Kalman(seen, root, gain, (V + V.T) / 2, 2 * float(np.log(np.diagonal(root)).sum()))


class _Block:
    """Some rows of one group at some parameters."""

    def __init__(
        self,
        model: GaussianMixture,
        parts: tuple[Floats, Floats, Floats, Floats, Floats],
        kalman: _Kalman,
        rows: slice,
        nodes: int,
    ) -> None:
        self.model, self.kalman, self.rows = model, kalman, rows
        self.weight = model.weight[rows][::nodes]
        b, extra, gamma, A, self.root = parts
        t, seen = model.T.shape[1], kalman.seen
        self.E, self.w = model.E[rows], model.patterns.w[rows]
        mu = (self.w @ A[t:])[:, None, :] + (model.T @ A[:t])[None, :, :]
        residual = model.z[rows][:, None, seen] - mu[:, :, seen]
        self.q = _solve(kalman.root, residual)  # C⁻¹ (z − μ), shape (m, K, o)
        self.mean = mu + _times(residual, kalman.gain.T)
        self._predict(b)
        self.slope = model.response.take(rows).slope(self.eta, self.spread, extra)
        self.log_pi = model.patterns.log_probability(gamma, rows)
        log_class = self.log_pi + self.slope.log_f - 0.5 * _inner(residual, self.q)
        log_rows, self.r = self._weigh(log_class)
        log_rows = log_rows - 0.5 * kalman.log_det - len(seen) * _LOG_ROOT
        self.log_l, self.share = self._gather(log_rows, nodes)

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
        self.VB = _times(self.B, self.kalman.covariance)
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
        """Scores of A and of the root of S."""
        model, kalman = self.model, self.kalman
        m, c, seen = len(self.r), model.components, kalman.seen
        q = np.zeros((*self.r.shape, c))
        q[:, :, seen] = self.q
        beta = self.B.copy()  # how η hangs on μ: B − (G'B) on what was released
        beta[:, :, seen] -= _times(self.B, kalman.gain)
        by_mean = self.r[:, :, None] * q + rm[:, :, None] * beta
        by_pattern = np.stack([by_mean[:, :, j] @ model.T for j in range(c)], axis=2)
        by_w = np.einsum("mkc->mc", by_mean)[:, None, :] * self.w[:, :, None]
        precision = np.zeros((c, c))
        if len(seen):
            precision[np.ix_(seen, seen)] = cho_solve((kalman.root, True), np.eye(len(seen)))
        left = 0.5 * self.r[:, :, None] * q + rm[:, :, None] * beta
        curved = rv[:, :, None] * beta
        by_S = np.empty((m, c, c))
        for i, j in np.ndindex(c, c):
            by_S[:, i, j] = _inner(left[:, :, i], q[:, :, j]) + _inner(curved[:, :, i], beta[:, :, j])
        by_S -= 0.5 * precision
        by_root = _times(by_S + by_S.transpose(0, 2, 1), self.root)
        diagonal = np.arange(c)
        by_root[:, diagonal, diagonal] *= np.diagonal(self.root)
        rows, columns = np.tril_indices(c)
        return np.concatenate([by_pattern, by_w], axis=1).reshape(m, -1), by_root[:, rows, columns]


def _times(a: Floats, matrix: Floats) -> Floats:
    """The last axis of `a` times a matrix, as one product: many small ones are slow."""
    flat = a.reshape(math.prod(a.shape[:-1]), a.shape[-1])
    return np.asarray((flat @ matrix).reshape(*a.shape[:-1], matrix.shape[1]))


def _inner(a: Floats, b: Floats) -> Floats:
    """Σ over the last axis of a product; sums over short axes are slow otherwise."""
    return np.asarray(np.einsum("...c,...c->...", a, b))


def _solve(root: Floats, residual: Floats) -> Floats:
    """C⁻¹ times each residual."""
    if not len(root):
        return residual
    return np.asarray(cho_solve((root, True), residual.reshape(-1, len(root)).T).T.reshape(residual.shape))
