"""Fit a regression to protected data: the door of this layer."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import wraps
from typing import Literal, ParamSpec, TypeGuard, TypeVar, get_args

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.data.codebook import Codebook
from sfumato.data.disclosure import Disclosed, Disclosure
from sfumato.data.formula import Formula, parse_formula
from sfumato.data.pair import numbers
from sfumato.data.unseen import seen
from sfumato.errors import DataError
from sfumato.inference.columns import split_columns
from sfumato.inference.covariates.known import error_parts, read_covariate, strata_notes, which_are_factors
from sfumato.inference.covariates.moments import Hidden
from sfumato.inference.covariates.shape import MOST_PARTS
from sfumato.inference.estimators.bayes import sample_posterior
from sfumato.inference.estimators.bias import bias_by_noise
from sfumato.inference.estimators.likelihood_ratio import with_profile
from sfumato.inference.estimators.maximum_likelihood import Estimate, maximum_likelihood
from sfumato.inference.estimators.naive import Naive, is_plain, naive_fit, refuse_far_from_zero, refuse_undetermined
from sfumato.inference.estimators.quick import calibration, moments, simex
from sfumato.inference.estimators.random_effects import (
    RandomEstimate,
    check_random,
    fit_random,
    naive_problem,
    number_groups,
    read_slope,
)
from sfumato.inference.estimators.shapes import choose_shape
from sfumato.inference.hidden import densities, describe_hidden
from sfumato.inference.notes import told_notes, unspoken
from sfumato.inference.outcome import FAMILIES, Family, read_outcome
from sfumato.inference.problem import Problem, check_correlations
from sfumato.inference.result import Fit
from sfumato.kernels.likelihood.gaussian_mixture import GaussianMixture
from sfumato.kernels.likelihood.mixture import Mixture
from sfumato.kernels.likelihood.response import Linear
from sfumato.progress import Progress, quiet, split

__all__ = ["METHODS", "Method", "fit"]

Floats = NDArray[np.float64]
Method = Literal["ml", "bayes", "calibration", "moments", "simex", "naive"]
METHODS: tuple[Method, ...] = get_args(Method)

_EXTREME = 8.0
"""A coefficient beyond this, times what its column varies given the others, is taken to have no finite maximum."""
_ON_LINE = 1e-10
"""Errors this small beside the response are those of rounding."""
_NO_ERROR = 1e-6
"""Errors this small beside the response are those of a likelihood that grows for ever as they vanish."""
_FEW_CLUSTERS = 30
"""With fewer clusters, standard errors by clusters are too small."""
_PRIOR_SD = 2.5
"""Standard deviation of the prior on standardised coefficients where responses are separated; the scale of Gelman et
al. (2008), doi:10.1214/08-AOAS191."""


P = ParamSpec("P")
T = TypeVar("T")


def _evaluated(work: Callable[P, T]) -> Callable[P, T]:
    """Refuse data at which numbers end, in place of an error of a library."""

    @wraps(work)
    def guarded(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            with np.errstate(divide="ignore", over="ignore", invalid="ignore"):  # steps that end there are not taken
                return work(*args, **kwargs)
        except (ArithmeticError, np.linalg.LinAlgError):
            raise DataError(
                "The likelihood of these data cannot be evaluated: there are too few records for the model, or the "
                "response lies on a line of the covariates. Leave terms out, or use method `naive`."
            ) from None

    return guarded


@_evaluated
def fit(
    formula: str,
    data: pl.DataFrame,
    disclosure: Disclosure | Disclosed | Sequence[Disclosed] | None = None,
    family: Family = "linear",
    method: Method = "ml",
    *,
    codebook: Codebook | None = None,
    weight: str | None = None,
    cluster: str | None = None,
    level: float = 0.95,
    priors: Mapping[str, tuple[float, float]] | None = None,
    draws: int = 4000,
    seed: int = 0,
    group: str | None = None,
    slope: str | None = None,
    complete: bool = False,
    hidden: Hidden = "auto",
    reduce_bias: bool = True,
    progress: Progress = quiet,
) -> Fit:
    """Fit a regression to released data, with the disclosed noise taken out.

    Estimates are of the relations among the true values. Standard errors hold what the noise cost. The model of the
    hidden covariates is part of the likelihood: free probabilities of their combinations (log-linear given exact
    covariates), and a mixture of normals with means linear in these for continuous ones. A missing covariate is missing
    at random given the others and the response.

    Parameters
    ----------
    formula
        `asthma ~ smoke + age:C(region)`, see `parse_formula`.
    data
        The released table.
    disclosure
        What the release says of its noise, or its parts; None takes every value for the true one.
    family
        `linear`, `probit`, `logit`, `poisson` or `ordered` (ordered probit).
    method
        `ml`: maximum likelihood. `bayes`: the same likelihood with priors, sampled by importance. Quick checks, each
        with its limits: `calibration` (weak effects), `moments` (linear models), `simex` (weak noise). `naive`:
        released values are taken for true ones, rows with missing values left out.
    codebook
        Kinds and missing codes of the columns.
    weight
        Column of sampling weights; standard errors are then of the sandwich form.
    cluster
        Column of clusters; standard errors then allow for dependence within them.
    level
        Of the intervals, between 0 and 1.
    priors
        For `bayes`: mean and standard deviation of a normal prior by term; the others get wide ones, see
        `sfumato.inference.estimators.bayes.sample_posterior`.
    draws, seed
        For `bayes` and `simex`: how many draws, and what they start from. They hide nothing.
    group
        Column whose categories share a random intercept, normal with the variance in `Fit.variance`; for families
        linear, probit and logit and methods `ml` and `naive`. Hidden numbers may vary between groups too; hidden
        categories are taken to be independent between rows given the exact covariates.
    slope
        Exact covariate of numbers whose coefficient is random between the groups as well.
    hidden
        What the distribution of hidden numbers given the other covariates is taken for: `auto`, a mixture of up to five
        normals, as many as the released values speak for; `normal`; or a number of normals.
    reduce_bias
        Whether `ml` takes off what noise on numbers adds to the bias of the likelihood's maximum, to first order; not
        with weights, clusters or groups.
    complete
        Whether the disclosure speaks of all that was done to the table, as that of a release folder does; else a note
        names the columns of the model that it does not speak of.
    progress
        Told how far the work is.

    Returns
    -------
    Fit

    Raises
    ------
    FormulaError
        For a formula outside the grammar, and terms that are collinear or that no record has.
    DataError
        For unknown columns, a response that does not suit the family or does not vary, noise that does not fit the
        data, weights that are not positive, clusters no more than coefficients, options that do not go together, powers
        and products of numbers far from zero, and data at which the likelihood cannot be evaluated.

    References
    ----------
    Carroll, Ruppert, Stefanski and Crainiceanu (2006), Measurement Error in Nonlinear Models, 2nd ed.,
    doi:10.1201/9781420010138. Louis (1982), doi:10.1111/j.2517-6161.1982.tb01203.x. Pinheiro and Bates (1995),
    doi:10.1080/10618600.1995.10474663 (random effects). Kosmidis and Lunardon (2024), doi:10.1093/jrsssb/qkad083 (bias
    of the maximum).

    Examples
    --------
    >>> from sfumato.data.error_model import Additive
    >>> rng = np.random.default_rng(1)
    >>> smoke = rng.integers(0, 2, 4000)
    >>> table = pl.DataFrame(
    ...     {"fev": 3 - 0.5 * smoke + rng.normal(0, 0.3, 4000), "smoke": smoke + rng.normal(0, 0.7, 4000)}
    ... )
    >>> noisy = Disclosure([Additive(("smoke",), [[0.49]], values=(0, 1))])
    >>> corrected = fit("fev ~ smoke", table, noisy)
    >>> corrected.estimate.round(1).tolist(), corrected.naive.round(1).tolist()
    ([3.0, -0.5], [2.8, -0.2])
    """
    model = parse_formula(formula)
    _check_options(family, method, level, priors, draws, seed, hidden)
    _check_names(method, weight=weight, cluster=cluster, group=group, slope=slope)
    book, told = codebook or Codebook(), Disclosure.of_any(disclosure)
    check_random(model, family, method, group, slope, weight, cluster)
    _check_columns(data, (*model.columns, *(n for n in (weight, cluster, group) if n)))
    used, weights, clusters = _used_rows(data, book, model, weight, cluster, group)
    problem = _assemble(model, used, book, told, family, weights, keep=bool(weight or cluster))
    _check_problem(problem, model, family, clusters)
    if group is not None or not is_plain(problem, family, method):
        refuse_far_from_zero(problem)
    plain = naive_fit(problem, family, clusters)
    refuse_undetermined(plain, problem.columns)
    if plain.n <= len(problem.columns.labels):
        raise DataError("There are not more complete rows than coefficients. Leave terms out of the formula.")
    notes = told_notes(told, model, problem, used.height < data.height, cluster, group)
    notes = (*notes, *problem.outcome.notes, *strata_notes(used, book, told, model.columns))
    if not complete and method != "naive":
        notes = (*notes, *unspoken(told, model))
    if clusters is not None and clusters.max() < _FEW_CLUSTERS:
        notes = (*notes, f"There are fewer than {_FEW_CLUSTERS} clusters: standard errors are then too small.")
    choosing, fitting = split(progress, (2, 8))
    work = _Work(model, family, problem, plain, clusters, level, notes, fitting)
    if method == "naive" and group is None:
        return work.naive()
    check_correlations(problem, model.response)
    if not is_plain(problem, family, method):
        _refuse_line(plain, problem)
    groups = None if group is None else number_groups(used, group, told)
    if problem.continuous and method in ("ml", "bayes", "calibration"):
        shape = hidden if isinstance(hidden, str) else int(hidden)
        work = replace(work, problem=choose_shape(problem, shape, groups, choosing))
    if groups is not None:
        found = work.random(method, groups, read_slope(problem, slope))
        return replace(found, slope=slope)
    if method in ("ml", "bayes"):
        return work.likelihood(method, priors or {}, draws, seed, reduce_bias)
    return work.quick(method, seed)


def _whole(number: object) -> TypeGuard[int]:
    return isinstance(number, int | np.integer) and not isinstance(number, bool)


def _check_options(
    family: str, method: str, level: float, priors: object, draws: int, seed: int, hidden: object
) -> None:
    if family not in FAMILIES:
        raise DataError(f"There is no family {family!r}. Families: {', '.join(FAMILIES)}.")
    if method not in METHODS:
        raise DataError(f"There is no method {method!r}. Methods: {', '.join(METHODS)}.")
    if not isinstance(level, int | float | np.floating) or not 0 < level < 1:
        raise DataError("The level of intervals is a number between 0 and 1, for instance 0.95.")
    if priors and method != "bayes":
        raise DataError("Only method `bayes` takes priors. Leave them out, or use it.")
    if priors and not isinstance(priors, Mapping):
        raise DataError("Priors are given by term, for instance {'smoke': (0, 0.5)}: mean and standard deviation.")
    if hidden not in ("auto", "normal") and not (_whole(hidden) and 1 <= hidden <= MOST_PARTS):
        raise DataError(f"`hidden` is 'auto', 'normal', or a number of normals from 1 to {MOST_PARTS}.")
    if not all(_whole(number) and number >= 0 for number in (draws, seed)):
        raise DataError("`draws` and `seed` are whole numbers from 0.")


def _check_names(method: str, **given: object) -> None:
    for option, name in given.items():
        if name is not None and not (isinstance(name, str) and name):
            raise DataError(f"`{option}` is the name of one column, as text.")
    if method == "bayes" and (given["weight"] or given["cluster"]):
        raise DataError(
            "Method `bayes` takes no weights and no clusters: a weighted sum of log-densities is no likelihood, and "
            "the records of a cluster are not independent. Use method `ml`, whose standard errors allow for both."
        )


def _terms(problem: Problem, family: str) -> tuple[str, ...]:
    """Names of the coefficients, and of the thresholds of an ordered model."""
    levels = problem.outcome.levels if family == "ordered" else ()
    return (*problem.columns.labels, *(f"{a}|{b}" for a, b in itertools.pairwise(levels)))


def _check_problem(problem: Problem, model: Formula, family: Family, clusters: NDArray[np.int64] | None) -> None:
    """Refuse what no method can fit."""
    terms = _terms(problem, family)
    if len(set(terms)) < len(terms):
        raise DataError("Two coefficients would be called the same. Rename a column, such as one called Intercept.")
    values = problem.outcome.values
    binary = family in ("probit", "logit") and problem.outcome.exact
    if ((family == "linear" or binary) and np.ptp(values) == 0) or (family == "poisson" and not values.any()):
        raise DataError(f"The response {model.response!r} does not vary; there is nothing to explain.")
    if clusters is not None and clusters.max() <= len(terms):
        raise DataError(
            "Standard errors by clusters need more clusters than the model has coefficients. Leave terms out, or leave "
            "out `cluster`."
        )


def _check_columns(frame: pl.DataFrame, names: Sequence[str]) -> None:
    unknown = [n for n in dict.fromkeys(names) if n not in frame.columns]
    if unknown:
        raise DataError(
            f"The model needs column {', '.join(map(repr, unknown))}, which the table does not have. "
            f"Columns: {seen(', '.join(frame.columns))}."
        )


def _refuse_line(plain: Naive, problem: Problem) -> None:
    if plain.sigma <= _ON_LINE * np.std(problem.outcome.values):
        raise DataError(
            "The response lies exactly on a line of the covariates, so that the likelihood has no maximum. Use method "
            "`naive`; `ml` fits such a line only where nothing is hidden, without weights and clusters."
        )


def _refuse_hidden_line(found: Estimate, problem: Problem) -> None:
    """Refuse where every response is on a line of some true values that the release allows for: σ went to 0."""
    if not (isinstance(found.model, Mixture) and isinstance(found.model.response, Linear) and problem.outcome.exact):
        return
    log_sigma = found.theta[found.model.E.shape[1]]
    if log_sigma <= np.log(_NO_ERROR * np.std(problem.outcome.values)):
        raise DataError(
            "With noise this strong every response may lie exactly on a line of the true covariates, so that the "
            "likelihood has no maximum. Use a family for categories where the response has few values, leave terms "
            "out, or use method `naive`."
        )


def _used_rows(
    frame: pl.DataFrame,
    codebook: Codebook,
    model: Formula,
    weight: str | None,
    cluster: str | None,
    group: str | None = None,
) -> tuple[pl.DataFrame, Floats, NDArray[np.int64] | None]:
    """Rows that have a response, weight, cluster and group; weights with mean 1; numbers of the clusters."""
    needed = [n for n in (model.response, weight, cluster, group) if n]
    missing = pl.any_horizontal([codebook.missing(n, frame.schema[n]) for n in needed])
    used = frame.filter(~missing)
    if not used.height:
        raise DataError(f"No row has a value in {', '.join(map(repr, needed))}.")
    weights = np.ones(used.height)
    if weight:
        weights = numbers(used, [weight], codebook)[:, 0]
        if np.any(weights <= 0):
            raise DataError(f"Weights must be positive; {weight!r} has others. Leave those rows out first.")
        weights = weights / weights.mean()
    clusters = None
    if cluster:
        clusters = used.select(pl.col(cluster).rank("dense")).to_series().to_numpy().astype(np.int64)
        if clusters.max() < 2:
            raise DataError(f"Cluster-robust standard errors need two clusters at least; {cluster!r} has one.")
    return used, weights, clusters


def _assemble(
    model: Formula,
    frame: pl.DataFrame,
    codebook: Codebook,
    disclosure: Disclosure,
    family: Family,
    weights: Floats,
    keep: bool,
) -> Problem:
    factors = which_are_factors(frame, codebook, model, disclosure)
    covariates = {
        n: read_covariate(frame, codebook, n, factor, error_parts(disclosure, n)) for n, factor in factors.items()
    }
    levels = {n: c.levels for n, c in covariates.items() if c.levels}
    intercept = model.intercept and family != "ordered"
    columns = split_columns(model.terms, model.intercept, levels, [n for n in covariates if n not in levels])
    if model.intercept and not intercept:  # the thresholds are the intercepts
        columns = type(columns)(columns.labels[1:], columns.parts[1:])
    outcome = read_outcome(frame, codebook, model.response, family, error_parts(disclosure, model.response))
    return Problem(columns, covariates, outcome, weights, keep)


@dataclass(frozen=True)
class _Work:
    """What every method starts from, and how its findings become a `Fit`."""

    model: Formula
    family: Family
    problem: Problem
    plain: Naive
    clusters: NDArray[np.int64] | None
    level: float
    notes: tuple[str, ...]
    progress: Progress = quiet

    @property
    def count(self) -> int:
        """Number of coefficients."""
        return len(self.problem.columns.labels)

    @property
    def terms(self) -> tuple[str, ...]:
        """Coefficients, and thresholds of an ordered model."""
        return _terms(self.problem, self.family)

    def naive(self) -> Fit:
        """The naive fit alone."""
        notes = self.notes
        if self.plain.separated:
            notes = (*notes, "The responses are separated by the covariates; the estimates have no finite maximum.")
        plain = self.plain
        return self.result("naive", plain.estimate, plain.covariance, plain.sigma, plain.n, plain.converged, notes)

    def random(self, method: str, group: NDArray[np.int64], slope: Floats | None) -> Fit:
        """A model with random effects, beside the same one for the released values."""
        if self.plain.separated:
            raise DataError("The responses are separated by the covariates; leave terms out, or leave out `group`.")
        naive, rows = naive_problem(self.problem)
        start = np.concatenate([self.plain.estimate, self.plain.extra])
        alone = fit_random(naive, group[rows], None if slope is None else slope[rows], start)
        found, notes, n = alone, self.notes, len(rows)
        problem = self.problem
        if method == "ml" and (problem.discrete or problem.continuous or not problem.outcome.exact):
            whole = replace(self, problem=replace(problem, keep_rows=True))
            without, notes, held = whole.maximum()
            if held:
                raise DataError("The noise is too strong for these data; leave terms out, or leave out `group`.")
            self.progress("random effects", 0.3)
            found, n = fit_random(whole.problem, group, slope, without.theta), self.problem.n
        fitted = self.random_result(method, found, alone, n, notes)
        return fitted if found is alone else self.with_hidden(fitted, without.model, found.theta[: without.model.size])

    def random_result(
        self, method: str, found: RandomEstimate, alone: RandomEstimate, n: int, notes: tuple[str, ...]
    ) -> Fit:
        """Findings for random effects as a `Fit`."""
        p = self.count
        sigma = float(np.exp(found.theta[p])) if self.family == "linear" else np.nan
        covariance = found.covariance[:p, :p]
        fitted = self.result(method, found.theta[:p], covariance, sigma, n, found.converged, (*notes, *found.notes))
        if method == "ml":
            fitted = replace(fitted, reliability=found.reliability, inflation=found.inflation)
        return replace(
            fitted,
            naive=alone.theta[:p],
            naive_se=np.sqrt(np.diagonal(alone.covariance)[:p]),
            log_likelihood=found.log_likelihood,
            degrees=np.inf,
            variance=found.variance,
            variance_se=found.variance_se,
        )

    def quick(self, method: str, seed: int) -> Fit:
        """A quick correction."""
        if method == "calibration":
            found = calibration(self.problem, self.family, self.plain, self.clusters)
        elif method == "moments":
            found = moments(self.problem, self.family, self.clusters)
        else:
            found = simex(self.problem, self.family, seed, progress=self.progress)
        notes = (*self.notes, *found.notes)
        return self.result(method, found.estimate, found.covariance, found.sigma, found.n, found.converged, notes)

    def likelihood(
        self,
        method: Literal["ml", "bayes"],
        priors: Mapping[str, tuple[float, float]],
        draws: int,
        seed: int,
        reduce_bias: bool,
    ) -> Fit:
        """Maximum likelihood, or the posterior around it."""
        if method == "ml" and is_plain(self.problem, self.family, method) and not self.plain.separated:
            return self.plain_maximum()
        found, notes, held = self.maximum()
        if method == "bayes":
            return self.posterior(found, priors, draws, seed, held)
        n, linear = self.problem.n, self.family == "linear"
        shown = len(self.terms)
        counted = linear and n > self.count and not self.problem.keep_rows
        correction = n / (n - self.count) if counted else 1.0  # as least squares has it
        covariance = found.covariance[:shown, :shown] * correction
        sigma = float(np.exp(found.theta[self.count]) * np.sqrt(correction)) if linear else np.nan
        notes = (*notes, *found.notes)
        reduced = reduce_bias and found.converged and not (held or self.problem.keep_rows)
        bias = bias_by_noise(found, n) if reduced else np.zeros(shown)
        estimate = found.theta[:shown] - bias[:shown]
        fitted = self.result("ml", estimate, covariance, sigma, n, found.converged, notes, found)
        fitted = self.with_hidden(fitted, found.model, found.theta)
        if held or self.problem.keep_rows:
            return fitted
        return with_profile(fitted, found, split(self.progress, (4, 6))[1], bias)

    def with_hidden(self, fitted: Fit, model: Mixture | GaussianMixture, theta: Floats) -> Fit:
        """Say of a fit what the distribution of hidden numbers was taken for."""
        if not isinstance(model, GaussianMixture):
            return fitted
        shape = self.problem.shape
        return replace(
            fitted,
            hidden=describe_hidden(self.problem, model, theta),
            densities=densities(self.problem, model, theta),
            shape=shape.told,
            notes=(*fitted.notes, *shape.notes),
            log_likelihood=fitted.log_likelihood - model.penalty(theta)[0],
        )

    def plain_maximum(self) -> Fit:
        """The plain fit where nothing is hidden; a linear one also is there where the response lies on a line."""
        plain = self.plain
        done = plain.converged
        fitted = self.result("ml", plain.estimate, plain.covariance, plain.sigma, plain.n, done, self.notes)
        exact = np.where([not parts for parts in self.problem.columns.parts], np.nan, 1.0)
        likelihood = plain.log_likelihood
        return replace(fitted, reliability=exact, inflation=np.ones(self.count), log_likelihood=likelihood)

    def maximum(self) -> tuple[Estimate, tuple[str, ...], bool]:
        """The maximum, or with a weak prior where there is none; what is to be said; whether a prior was needed."""
        self.progress("the maximum of the likelihood", 0)
        start, spread = self.plain.estimate[: self.count], self.plain.spread
        if not self.plain.separated:
            found = maximum_likelihood(self.problem, start, self.plain.extra, self.clusters)
            _refuse_hidden_line(found, self.problem)
            spread = found.spread
            size = np.abs(found.theta[: self.count] * spread * self.plain.own).max(initial=0.0)
            if self.family in ("linear", "poisson") or (found.converged and size < _EXTREME):
                return found, self.notes, False
        penalty = (spread / _PRIOR_SD) ** 2
        held = maximum_likelihood(self.problem, np.zeros(self.count), self.plain.extra, self.clusters, penalty)
        cause = (
            "The responses are separated by the covariates"
            if self.plain.separated
            else "The noise is too strong for these data"
        )
        note = (
            f"{cause}, so that the likelihood has no finite maximum; a normal prior with standard deviation "
            f"{_PRIOR_SD:g} on each standardised coefficient was added."
        )
        return held, (*self.notes, note), True

    def posterior(
        self, found: Estimate, priors: Mapping[str, tuple[float, float]], draws: int, seed: int, held: bool
    ) -> Fit:
        """The posterior around what maximum likelihood found, or was held at where it has no maximum."""
        if draws < 200:
            raise DataError("Method `bayes` needs at least 200 draws.")
        drawing = split(self.progress, (2, 8))[1]
        drawing("drawing from the posterior", 0)
        drawn = sample_posterior(self.problem, found, self.terms, priors, draws, seed, drawing)
        notes = (*self.notes, *drawn.notes)
        if held or not found.converged:
            cause = (
                "The responses are separated by the covariates"
                if self.plain.separated
                else "The noise is too strong for these data"
            )
            notes = (*notes, f"{cause}: the likelihood alone does not bound every coefficient, and the priors tell.")
        sigma = np.nan if drawn.sigma is None else float(drawn.sigma.mean())
        n = self.problem.n
        fitted = self.result("bayes", drawn.mean, drawn.covariance, sigma, n, drawn.trusted, notes, found)
        return replace(
            self.with_hidden(fitted, found.model, found.theta),
            inflation=drawn.inflation,
            log_likelihood=drawn.log_likelihood,
            draws=drawn.draws,
            checks=drawn.checks,
            posterior=drawn,
        )

    def result(
        self,
        method: str,
        estimate: Floats,
        covariance: Floats,
        sigma: float,
        n: int,
        converged: bool,
        notes: tuple[str, ...],
        found: Estimate | None = None,
    ) -> Fit:
        """Put findings beside the naive fit."""
        shown = len(self.terms)
        nothing = np.full(shown, np.nan)
        rest = np.full(shown - self.count, np.nan)
        return Fit(
            formula=str(self.model),
            family=self.family,
            method=method,
            terms=self.terms,
            estimate=estimate,
            covariance=covariance,
            naive=self.plain.estimate,
            naive_se=np.sqrt(np.diagonal(self.plain.covariance)),
            reliability=nothing if found is None else np.concatenate([found.reliability, rest]),
            inflation=nothing if found is None else found.inflation[:shown],
            n=n,
            converged=converged,
            log_likelihood=np.nan if found is None else found.log_likelihood,
            sigma=sigma,
            degrees=float(n - self.count) if self.family == "linear" and method != "bayes" else np.inf,
            level=self.level,
            notes=notes,
            columns=self.problem.columns,
            levels={name: c.levels for name, c in self.problem.covariates.items() if c.levels},
        )
