"""The likelihood of a regression whose discrete covariates are known only through noisy or missing versions.

A record's true discrete covariates follow one of K patterns. With π_k the probability of pattern k given the exact
covariates w, f(z | k) the density of what was released, and D_k the row of the design,

    L_i = Σ_k π_k(w_i) f(z_i | k) f(y_i | D_k b).

Records with equal exact covariates and response are one *unit*, so that what hangs on pattern and parameters alone is
computed once for each unit. The observed information is Louis's: the expected information of the complete data less
the variance of their score given what was observed.

Sources: Louis, T. A. (1982), Journal of the Royal Statistical Society B 44, 226-233,
doi:10.1111/j.2517-6161.1982.tb01203.x; Ibrahim, J. G. (1990), Journal of the American Statistical Association 85,
765-769, doi:10.1080/01621459.1990.10474938 (the same likelihood for missing discrete covariates).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from sfumato.kernels.likelihood.response import Response, Slope

__all__ = ["Factors", "Look", "Mixture", "Patterns"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_CELLS = 1 << 21  # numbers in the largest array of one block
_FEW_UNITS = 4096
_KEEP = 1 << 24  # numbers that the factors of all rows and patterns may take and still be kept


@dataclass(frozen=True)
class Patterns:
    """The model of the true discrete covariates: log π_k(w) = α_k + T_k Γ w + constant, with α_0 = 0.

    Free probabilities without exact covariates; with them, a log-linear model in which each category's odds depend on
    w, and all associations among the covariates are free.

    Parameters
    ----------
    T : ndarray, shape (K, t)
        What of each pattern may depend on w: indicators of the categories of each covariate.
    w : ndarray, shape (G, q)
        Exact covariates of each unit, without a constant.

    Examples
    --------
    >>> patterns = Patterns(np.array([[0.0], [1.0]]), np.zeros((1, 0)))
    >>> patterns.count, patterns.log_probability(np.zeros(1), slice(None)).round(3).tolist()
    (1, [[-0.693, -0.693]])
    """

    T: Floats
    w: Floats

    @property
    def count(self) -> int:
        """How many parameters."""
        return int(len(self.T) - 1 + self.T.shape[1] * self.w.shape[1])

    def log_probability(self, gamma: Floats, units: slice | Ints) -> Floats:
        """Logarithm of each pattern's probability, shape (g, K)."""
        K = len(self.T)
        psi = np.concatenate([[0.0], gamma[: K - 1]])[None, :]
        w = self.w[units]
        if w.shape[1]:
            psi = psi + w @ gamma[K - 1 :].reshape(self.T.shape[1], w.shape[1]).T @ self.T.T
        top = psi.max(axis=1, keepdims=True)
        log_p = psi - top - np.log(np.exp(psi - top).sum(axis=1, keepdims=True))
        return np.asarray(np.broadcast_to(log_p, (len(w), K)))

    def gradient(self, left: Floats, units: slice | Ints) -> Floats:
        """Scores, shape (g, count), for responsibilities less their expectations, shape (g, K)."""
        w = self.w[units]
        more = (left @ self.T)[:, :, None] * w[:, None, :]
        return np.concatenate([left[:, 1:], more.reshape(len(left), self.T.shape[1] * w.shape[1])], axis=1)

    def features(self, units: slice | Ints) -> Floats:
        """What each parameter is multiplied by, shape (g, K, count)."""
        w = self.w[units]
        K = len(self.T)
        more = (self.T[None, :, :, None] * w[:, None, None, :]).reshape(len(w), K, self.T.shape[1] * w.shape[1])
        own = np.broadcast_to(np.eye(K)[:, 1:], (len(w), K, K - 1))
        return np.concatenate([own, more], axis=2)


@dataclass
class Factors:
    """The densities f(z_i | k), as products over groups of covariates that were released independently.

    Parameters
    ----------
    tables : list of ndarray, shape (N, L_j)
        Density of each row's released value given each true value, scaled so that a row's largest is 1.
    codes : list of ndarray, shape (K,)
        Which column of the table each pattern takes.
    log_scale : ndarray, shape (N,)
        Logarithm of what all tables of a row were divided by.

    Examples
    --------
    >>> factors = Factors([np.array([[1.0, 0.5]])], [np.array([0, 1, 1])], np.zeros(1))
    >>> factors.rows(0, 1).tolist()
    [[1.0, 0.5, 0.5]]
    """

    tables: list[Floats]
    codes: list[Ints]
    log_scale: Floats
    _kept: Floats | None = field(default=None, repr=False)

    def rows(self, start: int, stop: int) -> Floats:
        """The densities of some rows, shape (stop − start, K)."""
        N = len(self.log_scale)
        if self._kept is None and self.codes and N * len(self.codes[0]) <= _KEEP:
            self._kept = self._product(0, N)
        return self._product(start, stop) if self._kept is None else self._kept[start:stop]

    def _product(self, start: int, stop: int) -> Floats:
        f = self.tables[0][start:stop, self.codes[0]]
        for table, code in zip(self.tables[1:], self.codes[1:], strict=True):
            f *= table[start:stop, code]
        return f


@dataclass
class Look:
    """What one pass over the rows found.

    Parameters
    ----------
    log_likelihood
        Of all rows, weighted.
    gradient
        Shape (P,).
    information
        Observed information, shape (P, P); NaN where it was not asked for.
    complete
        Expected information of the complete data, shape (P, P); likewise.
    """

    log_likelihood: float
    gradient: Floats
    information: Floats
    complete: Floats


@dataclass
class Mixture:
    """The model with its data; parameters are (b, extra, gamma) in one array of length P.

    Parameters
    ----------
    E, Q : ndarray, shapes (G, p) and (K, p)
        Design: the row of unit g under pattern k is E_g ∘ Q_k, as every column is a product of covariates.
    response
        Responses of the G units.
    patterns
        Model of the true covariates.
    factors
        Densities of what was released. None: there is one pattern.
    first : ndarray, shape (G + 1,)
        Rows of unit g are first[g] to first[g + 1].
    weight : ndarray, shape (N,)
        Weight of each row.

    Examples
    --------
    >>> from sfumato.kernels.likelihood.response import Poisson
    >>> model = Mixture(
    ...     np.ones((1, 1)), np.ones((1, 1)), Poisson(np.array([3.0])), Patterns(np.zeros((1, 0)), np.zeros((1, 0))),
    ...     None, np.array([0, 2]), np.ones(2),
    ... )
    >>> bool(abs(model.look(np.array([np.log(3.0)])).gradient[0]) < 1e-12)
    True
    """

    E: Floats
    Q: Floats
    response: Response
    patterns: Patterns
    factors: Factors | None
    first: Ints
    weight: Floats

    @property
    def size(self) -> int:
        """Number of parameters P."""
        return int(self.E.shape[1]) + self.response.extra + self.patterns.count

    def split(self, theta: Floats) -> tuple[Floats, Floats, Floats]:
        """Coefficients, further parameters of the response, parameters of the patterns."""
        p = self.E.shape[1]
        e = p + self.response.extra
        return theta[:p], theta[p:e], theta[e:]

    def look(self, theta: Floats, information: bool = True) -> Look:
        """Evaluate log-likelihood, gradient and, where wanted, the observed information."""
        P = self.size
        found = Look(0.0, np.zeros(P), np.full((P, P), np.nan), np.full((P, P), np.nan))
        if information:
            found.complete = np.zeros((P, P))
            found.information = np.zeros((P, P))
        for units in self._unit_blocks(P):
            block = _Block(self, theta, units)
            S = block.class_scores() if information else None
            for start, stop, local in self._row_chunks(units):
                r, log_l, omega = self._responsibilities(block, start, stop, local)
                found.log_likelihood += float(omega @ log_l)
                block.add(r, omega, local)
                if S is not None:
                    found.information += block.products(S, r, omega, local)
            found.gradient += block.gradient()
            if S is not None:
                complete, spread = block.expected(S)
                found.complete += complete
                found.information += complete - spread
        if self.factors is not None:
            found.log_likelihood += float(self.weight @ self.factors.log_scale)
        return found

    def log_likelihoods(self, thetas: Floats) -> Floats:
        """The log-likelihood at each of many parameters, shape (D, P) → (D,); fast where there are few units."""
        if self.factors is None or len(self.E) > _FEW_UNITS or self.response.extra:
            return np.array([self.look(theta, False).log_likelihood for theta in thetas])
        out = np.full(len(thetas), float(self.weight @ self.factors.log_scale))
        D, K = len(thetas), len(self.Q)
        p = self.E.shape[1]
        for g in range(len(self.E)):
            one = slice(g, g + 1)
            eta = np.einsum("p,kp,dp->kd", self.E[g], self.Q, thetas[:, :p]).reshape(1, K * D)
            log_f = self.response.take(one).slope(eta, 0.0, np.zeros(0)).log_f.reshape(K, D)
            log_class = log_f + np.stack([self.patterns.log_probability(t[p:], one)[0] for t in thetas], axis=1)
            top = log_class.max(axis=0)
            likelihood = np.exp(log_class - top)
            step = max(1, _CELLS // (4 * D))
            for start in range(int(self.first[g]), int(self.first[g + 1]), step):
                stop = min(start + step, int(self.first[g + 1]))
                weight = self.weight[start:stop]
                out += weight @ np.log(self.factors.rows(start, stop) @ likelihood) + weight.sum() * top
        return out

    def scores(self, theta: Floats) -> Floats:
        """The score of each row, unweighted, shape (N, P)."""
        out = np.empty((self.first[-1], self.size))
        for units in self._unit_blocks(self.size):
            block = _Block(self, theta, units)
            S = block.class_scores()
            for start, stop, local in self._row_chunks(units):
                r, _, _ = self._responsibilities(block, start, stop, local)
                out[start:stop] = _mean_score(S, r, local)
        return out

    def responsibilities(self, theta: Floats) -> Iterator[tuple[slice, Ints, Floats]]:
        """Give rows, their units and the probability of each pattern for each row, block by block."""
        for units in self._unit_blocks(1):
            block = _Block(self, theta, units)
            for start, stop, local in self._row_chunks(units):
                r, _, _ = self._responsibilities(block, start, stop, local)
                yield slice(start, stop), local + units.start, r

    def _unit_blocks(self, P: int) -> Iterator[slice]:
        G, K = len(self.E), len(self.Q)
        step = max(1, _CELLS // (K * P))
        for start in range(0, G, step):
            yield slice(start, min(start + step, G))

    def _row_chunks(self, units: slice) -> Iterator[tuple[int, int, Ints]]:
        """Rows of some units in chunks, each with the number of its unit within the block."""
        first = self.first[units.start : units.stop + 1]
        step = max(1, _CELLS // (4 * len(self.Q)))
        for start in range(int(first[0]), int(first[-1]), step):
            stop = min(start + step, int(first[-1]))
            local = np.searchsorted(first, np.arange(start, stop), side="right") - 1
            yield start, stop, local

    def _responsibilities(self, block: _Block, start: int, stop: int, local: Ints) -> tuple[Floats, Floats, Floats]:
        omega = self.weight[start:stop]
        if self.factors is None:
            return np.ones((stop - start, 1)), block.top[local], omega
        r = self.factors.rows(start, stop) * block.likelihood[local]
        total = r.sum(axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            log_l = np.log(total) + block.top[local]
            r /= total[:, None]
        return r, log_l, omega


class _Block:
    """What hangs on unit and pattern for a block of units."""

    def __init__(self, model: Mixture, theta: Floats, units: slice) -> None:
        self.model, self.units = model, units
        b, extra, gamma = model.split(theta)
        self.E = model.E[units]
        self.slope: Slope = model.response.take(units).slope(self.E @ (model.Q * b).T, 0.0, extra)
        self.log_pi = model.patterns.log_probability(gamma, units)
        log_class = self.log_pi + self.slope.log_f
        self.top = log_class.max(axis=1)
        with np.errstate(invalid="ignore"):
            self.likelihood = np.exp(log_class - self.top[:, None])
        self.R = np.zeros(log_class.shape)  # weighted sums of responsibilities

    def add(self, r: Floats, omega: Floats, local: Ints) -> None:
        """Add the responsibilities of some rows, which are sorted by unit."""
        starts = np.flatnonzero(np.diff(local, prepend=-1))
        self.R[local[starts]] += np.add.reduceat(r * omega[:, None], starts, axis=0)

    def gradient(self) -> Floats:
        """Σ over units and patterns of R times the score of the complete data."""
        R, slope, model = self.R, self.slope, self.model
        by_b = (self.E * ((R * slope.m) @ model.Q)).sum(axis=0)
        by_extra = (R * slope.extra).sum(axis=(1, 2))
        left = R - R.sum(axis=1, keepdims=True) * np.exp(self.log_pi)
        return np.concatenate([by_b, by_extra, model.patterns.gradient(left, self.units).sum(axis=0)])

    def class_scores(self) -> Floats:
        """Score of the complete data for each unit and pattern, shape (g, K, P)."""
        slope, model = self.slope, self.model
        by_b = slope.m[:, :, None] * self.E[:, None, :] * model.Q
        by_extra = np.moveaxis(slope.extra, 0, -1)
        features = model.patterns.features(self.units)
        centred = features - np.einsum("gk,gkf->gf", np.exp(self.log_pi), features)[:, None, :]
        return np.concatenate([by_b, by_extra, centred], axis=2)

    def products(self, S: Floats, r: Floats, omega: Floats, local: Ints) -> Floats:
        """Σ over rows of their score's products: by unit where a unit has many rows, else row by row."""
        starts = np.append(np.flatnonzero(np.diff(local, prepend=-1)), len(local))
        if len(local) > 4 * len(self.model.Q) * (len(starts) - 1):
            out = np.zeros((S.shape[2], S.shape[2]))
            for one, next_one in itertools.pairwise(starts.tolist()):
                part = r[one:next_one]
                M = part.T @ (part * omega[one:next_one, None])
                s = S[local[one]]
                out += s.T @ M @ s
            return out
        u = _mean_score(S, r, local)
        return np.asarray(u.T @ (u * omega[:, None]))

    def expected(self, S: Floats) -> tuple[Floats, Floats]:
        """Expected information of the complete data, and Σ R s s'."""
        model, slope, R = self.model, self.slope, self.R
        p, e, P = model.E.shape[1], model.response.extra, model.size
        flat = S.reshape(-1, P)
        spread = flat.T @ (flat * R.reshape(-1, 1))
        complete = np.zeros((P, P))
        D = (self.E[:, None, :] * model.Q).reshape(-1, p)
        complete[:p, :p] = -D.T @ (D * (R * slope.mm).reshape(-1, 1))
        for j in range(e):
            cross = -D.T @ (R * slope.m_extra[j]).reshape(-1)
            complete[:p, p + j] = complete[p + j, :p] = cross
            for i in range(e):
                complete[p + i, p + j] = -float((R * slope.extra_extra[i, j]).sum())
        tail = S[:, :, p + e :].reshape(flat.shape[0], -1)
        mass = R.sum(axis=1, keepdims=True) * np.exp(self.log_pi)
        complete[p + e :, p + e :] = tail.T @ (tail * mass.reshape(-1, 1))
        return complete, spread


def _mean_score(S: Floats, r: Floats, local: Ints) -> Floats:
    """Σ_k r_k s_k for each row, shape (m, P), in chunks that bound the memory."""
    m, K, P = len(local), S.shape[1], S.shape[2]
    if len(S) == m:  # one row a unit, in order
        return np.asarray((r[:, None, :] @ S)[:, 0, :])
    out = np.empty((m, P))
    step = max(1, _CELLS // (K * P))
    for start in range(0, m, step):
        part = slice(start, start + step)
        out[part] = (r[part, None, :] @ S[local[part]])[:, 0, :]
    return out
