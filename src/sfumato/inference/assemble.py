"""From a table, a formula and a disclosure to the arrays of a likelihood."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeGuard

import numpy as np
from numpy.typing import NDArray

from sfumato.data.error_model import Additive
from sfumato.errors import DataError, FormulaError
from sfumato.inference.columns import Columns, split_columns
from sfumato.inference.covariates import Covariate, ErrorPart
from sfumato.inference.outcome import Outcome
from sfumato.kernels.gaussian_mixture import GaussianMixture, Group
from sfumato.kernels.mixture import Factors, Mixture, Patterns
from sfumato.kernels.quadrature import NODES
from sfumato.kernels.released import gaussian_table
from sfumato.kernels.rows import distinct

__all__ = ["MAX_NODES", "MAX_PATTERNS", "Problem", "build_gaussian", "build_mixture", "check_correlations"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

MAX_NODES = 8_000_000
"""Most nodes of all records together, for noise that is not plain normal."""
MAX_PATTERNS = 2_048
"""Most combinations of values of the hidden discrete covariates."""
_CELLS = 8
"""With at most this many distinct rows of exact covariates, the hidden ones' probabilities are free in each."""
_FREE = 32
"""With at most this many patterns times cells of exact covariates, each has a probability of its own."""
_FREE_MEANS = 16
"""With at most this many patterns, the hidden continuous covariates have a mean of their own in each."""


@dataclass
class Problem:
    """A model with its data, n rows.

    Parameters
    ----------
    columns
        Columns of the design.
    covariates
        By name.
    outcome
        The response.
    weight
        Of each row, shape (n,).
    keep_rows
        Whether scores are wanted of each row, so that equal rows may not be joined.
    """

    columns: Columns
    covariates: dict[str, Covariate]
    outcome: Outcome
    weight: Floats
    keep_rows: bool = False

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self.weight)

    @property
    def exact(self) -> list[Covariate]:
        """Covariates whose true values are all there."""
        return [c for c in self.covariates.values() if c.exact]

    @property
    def discrete(self) -> list[Covariate]:
        """Hidden covariates of known values."""
        return [c for c in self.covariates.values() if c.table is not None]

    @property
    def continuous(self) -> list[Covariate]:
        """Hidden continuous covariates."""
        return [c for c in self.covariates.values() if c.variance is not None]

    def exact_part(self) -> Floats:
        """E: the product of exact covariates in each column, shape (n, p)."""
        return self.columns.product({c.name: c.values for c in self.exact}, self.n)

    def pattern_part(self, patterns: Floats) -> Floats:
        """Q: the product of hidden discrete covariates in each column, shape (K, p)."""
        values = {c.name: patterns[:, j] for j, c in enumerate(self.discrete)}
        return self.columns.product(values, len(patterns))

    def naive_design(self) -> Floats:
        """The design with released values in place of true ones, shape (n, p); NaN where missing."""
        values = {c.name: c.naive for c in self.covariates.values()}
        design = self.columns.product(values, self.n)
        for covariate in self.covariates.values():
            if covariate.levels and np.isnan(covariate.naive).any():  # an indicator of a missing level is no 0
                has = [any(name == covariate.name for name, _ in parts) for parts in self.columns.parts]
                design[np.ix_(np.isnan(covariate.naive), np.array(has))] = np.nan
        return design


def check_correlations(problem: Problem, response: str) -> None:
    """Refuse noise that is correlated in a way which no likelihood here has.

    Raises
    ------
    DataError
        Where noise on the response and on a covariate, or on a discrete and a continuous covariate, is correlated.
    """
    kinds = {c.name: "discrete" for c in problem.discrete} | {c.name: "continuous" for c in problem.continuous}
    kinds[response] = "response"
    for part in _additive_parts(problem):
        for a, b in itertools.combinations([n for n in part.columns if n in kinds], 2):
            i, j = part.columns.index(a), part.columns.index(b)
            if part.covariance[i][j] and kinds[a] != kinds[b]:
                raise DataError(
                    f"The noises on {a!r} and {b!r} are correlated, one of them {kinds[a]} and the other {kinds[b]}; "
                    "such noise cannot be taken out together. Leave one of them out, or use method `naive`."
                )


def _additive_parts(problem: Problem) -> list[Additive]:
    found: dict[int, Additive] = {}
    for parts in [*([p for p, _ in c.parts] for c in problem.covariates.values()), problem.outcome.parts]:
        found.update({id(p): p for p in parts if isinstance(p, Additive)})
    return list(found.values())


def _patterns(problem: Problem) -> tuple[Floats, NDArray[np.bool_]]:
    """All combinations of values of the hidden discrete covariates, shape (K, J), and which of the product they are."""
    supports = [c.support for c in problem.discrete if c.support is not None]
    count = math.prod(len(s) for s in supports)
    if count > MAX_PATTERNS:
        names = ", ".join(c.name for c in problem.discrete)
        raise DataError(
            f"The noisy or partly missing covariates {names} have more than {MAX_PATTERNS} combinations of values, too "
            "many to sum over. Leave some out of the formula, or use method `calibration`, `moments` or `naive`."
        )
    patterns = np.array(list(itertools.product(*supports)), dtype=np.float64).reshape(count, len(supports))
    possible = np.ones(count, dtype=bool)
    for members in _indicator_sets(problem):
        possible &= patterns[:, members].sum(axis=1) <= 1
    return patterns, possible


def _indicator_sets(problem: Problem) -> list[list[int]]:
    """Hidden covariates that are indicators of the same category: at most one of a set is 1."""
    sets: dict[str, list[int]] = {}
    for j, covariate in enumerate(problem.discrete):
        for name in {p.indicators_of for p, _ in covariate.parts if isinstance(p, Additive) and p.indicators_of}:
            sets.setdefault(name, []).append(j)
    return [members for members in sets.values() if len(members) > 1]


def _correlated_sets(problem: Problem) -> list[list[int]]:
    """Hidden discrete covariates in groups whose noise is independent between groups."""
    names = [c.name for c in problem.discrete]
    group = list(range(len(names)))
    for part in _additive_parts(problem):
        for a, b in itertools.combinations([n for n in part.columns if n in names], 2):
            if part.covariance[part.columns.index(a)][part.columns.index(b)]:
                old, new = group[names.index(b)], group[names.index(a)]
                group = [new if g == old else g for g in group]
    return [[j for j, g in enumerate(group) if g == which] for which in dict.fromkeys(group)]


def _factors(problem: Problem, patterns: Floats, rows: Ints) -> Factors | None:
    """Densities of what was released, for the patterns given."""
    if not problem.discrete:
        return None
    tables: list[Floats] = []
    codes: list[Ints] = []
    scale = np.zeros(len(rows))
    for members in _correlated_sets(problem):
        support, code = np.unique(patterns[:, members], axis=0, return_inverse=True)
        table = _joint_table(problem, members, support, rows)
        top = table.max(axis=1)
        if np.isneginf(top).any():
            names = ", ".join(problem.discrete[j].name for j in members)
            raise DataError(f"The disclosure does not allow some values of {names}. It is not that of this table.")
        tables.append(np.exp(table - top[:, None]))
        codes.append(code.reshape(-1))
        scale += top
    return Factors(tables, codes, scale)


def _joint_table(problem: Problem, members: list[int], support: Floats, rows: Ints) -> Floats:
    """Log-densities of the members' released values given each of their combinations in `support`."""
    if len(members) == 1:
        covariate = problem.discrete[members[0]]
        if covariate.table is None or covariate.support is None:
            raise DataError(f"{covariate.name!r} has no known values.")
        return np.asarray(covariate.table[np.ix_(rows, np.searchsorted(covariate.support, support[:, 0]))])
    chosen = [problem.discrete[j] for j in members]
    parts = {id(p): p for c in chosen for p, _ in c.parts}
    part = next(iter(parts.values()))
    if len(parts) > 1 or not _simple(part) or any(c.levels for c in chosen):
        raise DataError(
            f"The noises on {', '.join(c.name for c in chosen)} are correlated, and clipped, rounded, growing or "
            "different between strata as well; such noise cannot be taken out. Leave one out, or use method `naive`."
        )
    z = np.column_stack([c.key for c in chosen])[rows]
    return gaussian_table(z, support, _covariance(part, [c.name for c in chosen]))


def _simple(part: ErrorPart) -> TypeGuard[Additive]:
    """Whether a part is plain normal noise for all records."""
    if not isinstance(part, Additive) or part.distribution != "gaussian":
        return False
    return not (part.where or part.rounded or part.bounds or part.grows)


def _hanging(patterns: Floats, discrete: Sequence[Covariate], w: Floats) -> Floats:
    """What of each pattern hangs on the exact covariates, shape (K, t): all of it where patterns and cells are few."""
    cells = len(np.unique(w[:1000], axis=0)) if np.isin(w, (0.0, 1.0)).all() else _CELLS + 1
    if w.shape[1] and cells <= _CELLS and len(patterns) * (w.shape[1] + 1) <= _FREE:
        return np.eye(len(patterns))[:, 1:]
    return _contrasts(patterns, discrete)


def _contrasts(patterns: Floats, discrete: Sequence[Covariate]) -> Floats:
    """Indicators of all values but the first of each hidden discrete covariate, shape (K, t)."""
    columns = [patterns[:, j] == value for j, c in enumerate(discrete) for value in np.unique(patterns[:, j])[1:]]
    return np.column_stack(columns).astype(np.float64) if columns else np.zeros((len(patterns), 0))


def _exact_effects(problem: Problem) -> Floats:
    """What the hidden covariates hang on, shape (n, q): cells of the exact ones where they are few, else columns."""
    exact = problem.exact
    if not exact or not (problem.discrete or problem.continuous):
        return np.zeros((problem.n, 0))
    found = distinct(np.column_stack([c.values for c in exact]))
    if len(found.points) <= _CELLS:
        order = np.lexsort(found.points.T[::-1])
        rank = np.empty(len(order), dtype=np.int64)
        rank[order] = np.arange(len(order))
        return np.eye(len(order))[rank[found.inverse]][:, 1:]
    from sfumato.data.formula import Factor

    terms = [(Factor(c.name),) for c in exact]
    columns = split_columns(
        terms, True, {c.name: c.levels for c in exact if c.levels}, [c.name for c in exact if not c.levels]
    )
    w = columns.product({c.name: c.values for c in exact}, problem.n)[:, 1:]
    sd = w.std(axis=0)
    return np.asarray((w - w.mean(axis=0))[:, sd > 0] / sd[sd > 0])


def _units(problem: Problem) -> tuple[Ints, Ints]:
    """Order of the rows by unit, and where each unit begins; a unit is a row of exact covariates and response."""
    n = problem.n
    if problem.outcome.released is not None:
        found = distinct(np.column_stack([*(c.values for c in problem.exact), problem.outcome.released]))
        if len(found.points) <= n / 2:
            counts = np.bincount(found.inverse)
            return np.argsort(found.inverse, kind="stable"), np.concatenate([[0], np.cumsum(counts)])
    return np.arange(n), np.arange(n + 1)


def build_mixture(problem: Problem) -> tuple[Mixture, Ints]:
    """The likelihood where all hidden covariates are discrete, and the row of the table that each of its rows is.

    Equal rows are joined, with their weights added, unless scores of each are wanted.

    Raises
    ------
    DataError
        Where there are too many patterns, or a released value is impossible.
    """
    patterns, possible = _patterns(problem)
    patterns = patterns[possible]
    rows, weight = np.arange(problem.n), problem.weight
    order, first = _units(problem)
    if not problem.keep_rows and len(first) - 1 < problem.n:
        rows, weight, first = _joined(problem, order, first)
    else:
        rows, weight = order, weight[order]
    units = rows[first[:-1]]
    w = _exact_effects(problem)[units]
    model = Mixture(
        problem.exact_part()[units],
        problem.pattern_part(patterns),
        problem.outcome.response.take(units),
        Patterns(_hanging(patterns, problem.discrete, w), w),
        _factors(problem, patterns, rows),
        first,
        weight,
    )
    return model, rows


def _joined(problem: Problem, order: Ints, first: Ints) -> tuple[Ints, Floats, Ints]:
    """One row for all that are equal in unit and released values, where that halves their number at least."""
    unit = np.repeat(np.arange(len(first) - 1), np.diff(first)).astype(np.float64)
    released = [np.nan_to_num(c.key[order], nan=-1e300) for c in problem.discrete]
    strata = [rows[order].astype(np.float64) for c in problem.discrete for _, rows in c.parts if not rows.all()]
    found = distinct(np.column_stack([unit, *released, *strata]))
    if len(found.points) > problem.n / 2:
        return order, problem.weight[order], first
    weight = np.bincount(found.inverse, weights=problem.weight[order]).astype(np.float64)
    by_unit = np.lexsort([*found.points.T[1:], found.points[:, 0]])
    counts = np.bincount(found.points[by_unit, 0].astype(np.int64), minlength=len(first) - 1)
    return order[found.first[by_unit]], weight[by_unit], np.concatenate([[0], np.cumsum(counts)])


def build_gaussian(problem: Problem) -> tuple[GaussianMixture, Ints]:
    """The likelihood where some hidden covariates are continuous, and the row of the table that each of its rows is.

    Raises
    ------
    FormulaError
        For products of two hidden continuous covariates.
    DataError
        As `build_mixture`.
    """
    patterns, possible = _patterns(problem)
    patterns = patterns[possible]
    names = [c.name for c in problem.continuous]
    owners = problem.columns.with_any(names)
    if any(len(found) > 1 for found in owners):
        raise FormulaError(
            f"The product of two noisy continuous covariates ({', '.join(names)}) has no likelihood here. Leave the "
            "interaction out, or use method `naive`."
        )
    rows, groups = _groups(problem)
    z = np.nan_to_num(np.column_stack([c.values for c in problem.continuous])[rows])
    log_node = _place_nodes(problem, rows, groups, z)
    contrasts, w = _contrasts(patterns, problem.discrete), _exact_effects(problem)[rows]
    free = len(patterns) <= _FREE_MEANS
    means = np.eye(len(patterns)) if free else np.column_stack([np.ones(len(patterns)), contrasts])
    model = GaussianMixture(
        problem.exact_part()[rows],
        problem.pattern_part(patterns),
        np.array([names.index(found[0]) if found else -1 for found in owners], dtype=np.int64),
        problem.outcome.response.take(rows),
        Patterns(_hanging(patterns, problem.discrete, w), w),
        _factors(problem, patterns, rows),
        z,
        means,
        groups,
        problem.weight[rows],
        log_node,
    )
    return model, rows


def _place_nodes(problem: Problem, rows: Ints, groups: list[Group], z: Floats) -> Floats | None:
    """Put nodes in the place of released values in `z`, and give the logarithm of their weights."""
    at = [(j, c) for j, c in enumerate(problem.continuous) if c.nodes is not None]
    if not at:
        return None
    ((j, covariate),) = at
    out = np.zeros(len(rows))
    for group in groups:
        if group.nodes > 1 and covariate.nodes is not None and covariate.log_weights is not None:
            records = rows[group.start : group.stop : group.nodes]
            z[group.start : group.stop, j] = covariate.nodes[records].ravel()
            out[group.start : group.stop] = covariate.log_weights[records].ravel()
    return out


def _expanded(problem: Problem) -> NDArray[np.bool_]:
    """Rows that stand for several nodes, shape (n,).

    Raises
    ------
    DataError
        Where two covariates need nodes, or there are too many rows for them.
    """
    special = [c for c in problem.continuous if c.nodes is not None]
    if len(special) > 1:
        raise DataError(
            f"The noises on {', '.join(c.name for c in special)} grow, are bounded, rounded or not normal; such noise "
            "can be taken out of one continuous covariate at a time. Leave the others out, or use method `naive`."
        )
    if not special or special[0].nodes is None:
        return np.zeros(problem.n, dtype=bool)
    expanded = ~np.isnan(special[0].nodes[:, 0])
    if expanded.sum() * NODES > MAX_NODES:
        raise DataError(
            f"The noise on {special[0].name!r} is not plain normal, and the integral over it takes {NODES} nodes for "
            "each record: more than memory is meant for. Fit a random sample of the rows, or use method `naive`."
        )
    return expanded


def _groups(problem: Problem) -> tuple[Ints, list[Group]]:
    """Rows in order of what was released of the continuous covariates with what noise, and the groups."""
    continuous = problem.continuous
    known = np.column_stack([~np.isnan(c.values) for c in continuous])
    told: dict[int, tuple[Additive, NDArray[np.bool_]]] = {}
    for c in continuous:
        told.update({id(p): (p, rows) for p, rows in c.parts if isinstance(p, Additive)})
    applies = [rows for _, rows in told.values()]
    expanded = _expanded(problem)
    kinds, of = np.unique(np.column_stack([known, *applies, expanded]), axis=0, return_inverse=True)
    of = of.reshape(-1)
    order = np.argsort(of, kind="stable")
    nodes = np.where(expanded, NODES, 1)
    rows = np.repeat(order, nodes[order])
    groups, start = [], 0
    special = [c.nodes is not None for c in continuous]
    for g, kind in enumerate(kinds):
        count = NODES if kind[-1] else 1
        stop = start + count * int((of == g).sum())
        seen = np.flatnonzero(kind[: len(continuous)])
        noise = np.zeros((len(continuous), len(continuous)))
        for (part, _), on in zip(told.values(), kind[len(continuous) : -1], strict=True):
            if on:
                noise += _covariance(part, [c.name for c in continuous])
        noise[special] = noise[:, special] = 0.0  # at its nodes, or within its bounds, a value is known
        groups.append(Group(start, stop, seen, noise[np.ix_(seen, seen)], count))
        start = stop
    return rows, groups


def _covariance(part: Additive, names: list[str]) -> Floats:
    """Covariance of the noise that a part puts on the columns `names`."""
    out = np.zeros((len(names), len(names)))
    at = [(i, part.columns.index(n)) for i, n in enumerate(names) if n in part.columns]
    for i, a in at:
        for j, b in at:
            out[i, j] = part.covariance[a][b]
    return out
