"""What every method starts from, and how its findings become a `Fit`."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from sfumato.data.formula import Formula
from sfumato.errors import DataError
from sfumato.inference.estimators.bayes import sample_posterior
from sfumato.inference.estimators.bias import bias_by_noise
from sfumato.inference.estimators.likelihood_ratio import with_profile
from sfumato.inference.estimators.maximum_likelihood import Estimate, influences, maximum_likelihood
from sfumato.inference.estimators.naive import Naive, is_plain, leverages, naive_fit
from sfumato.inference.estimators.random_effects import RandomEstimate, fit_random, naive_problem
from sfumato.inference.estimators.sandwich import degrees
from sfumato.inference.estimators.survival import endless_hazards
from sfumato.inference.hidden import densities, describe_hidden
from sfumato.inference.outcome import Family
from sfumato.inference.problem import Problem
from sfumato.inference.result import Fit
from sfumato.inference.second import Alternative, with_second
from sfumato.kernels.likelihood.gaussian_mixture import GaussianMixture
from sfumato.kernels.likelihood.mixture import Mixture
from sfumato.kernels.likelihood.negative_binomial import MOST, NegativeBinomial
from sfumato.kernels.likelihood.response import Linear
from sfumato.progress import Progress, quiet, split

__all__ = ["Work", "terms_of"]

Floats = NDArray[np.float64]

_EXTREME = 8.0
"""A coefficient beyond this, times what its column varies given the others, is taken to have no finite maximum."""
_NO_ERROR = 1e-6
"""Errors this small beside the response are those of a likelihood that grows for ever as they vanish."""
NEGATIVE_BINOMIAL = (
    "The counts are assumed to be negative binomial given the true covariates, with the variance mean + mean²/theta; "
    "theta is {size:.3g}."
)
POISSON = (
    "The counts vary no more than Poisson's: theta of the negative binomial distribution grew without bound, and its "
    "limit was taken, Poisson's likelihood."
)
_PRIOR_SD = 2.5
"""Standard deviation of the prior on standardised coefficients where responses are separated; the scale of Gelman et
al. (2008), doi:10.1214/08-AOAS191."""


def terms_of(problem: Problem, family: str) -> tuple[str, ...]:
    """Names of the coefficients, and of the thresholds of an ordered model."""
    levels = problem.outcome.levels if family == "ordered" else ()
    return (*problem.columns.labels, *(f"{a}|{b}" for a, b in itertools.pairwise(levels)))


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


@dataclass(frozen=True)
class Work:
    """What every method starts from, and how its findings become a `Fit`.

    `beside` gives an estimate that assumes less than a likelihood, where there is one.
    """

    model: Formula
    family: Family
    problem: Problem
    plain: Naive
    clusters: NDArray[np.int64] | None
    level: float
    notes: tuple[str, ...]
    progress: Progress = quiet
    weighted: bool = False
    beside: Callable[[Work], Alternative | None] | None = None

    @property
    def groups(self) -> int | None:
        """Number of clusters; None without clusters."""
        return None if self.clusters is None else len(np.unique(self.clusters))

    @property
    def count(self) -> int:
        """Number of coefficients."""
        return len(self.problem.columns.labels)

    @property
    def terms(self) -> tuple[str, ...]:
        """Coefficients, and thresholds of an ordered model."""
        return terms_of(self.problem, self.family)

    def nothing(self, method: str, *notes: str) -> Fit:
        """No estimate: every figure but those of the naive fit is NaN, and the notes say why and what helps."""
        shown = len(self.terms)
        nan = np.full(shown, np.nan)
        fitted = self.result(method, nan, np.full((shown, shown), np.nan), np.nan, self.problem.n, False, self.notes)
        return replace(fitted, notes=(*notes, *self.notes), se_rule=None)

    @property
    def leverage(self) -> Floats | None:
        """Of each row in the naive fit, where standard errors need it."""
        return leverages(self.problem, self.plain) if self.problem.rule == "HC3" else None

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

    def likelihood(
        self,
        method: Literal["ml", "bayes"],
        priors: Mapping[str, tuple[float, float]],
        draws: int,
        seed: int,
        reduce_bias: bool,
    ) -> Fit:
        """Maximum likelihood, or the posterior around it."""
        known = self.family == "cox" or not self.plain.separated
        if method == "ml" and known and is_plain(self.problem, self.family, method):
            return self.plain_maximum()
        found, notes, held = self.maximum()
        if method == "bayes":
            return self.posterior(found, priors, draws, seed, held)
        if isinstance(found.model.response, NegativeBinomial):
            size = float(np.exp(found.theta[self.count]))
            if size >= MOST or np.isnan(found.covariance[self.count, self.count]):  # it has no finite maximum
                return self.as_poisson().likelihood(method, priors, draws, seed, reduce_bias)
            notes = (*notes, NEGATIVE_BINOMIAL.format(size=size))
        n, linear = self.problem.n, self.family == "linear"
        shown = len(self.terms)
        rule = self.problem.rule
        counted = linear and n > self.count and rule in ("model", "HC3")
        correction = n / (n - self.count) if counted else 1.0  # as least squares has it
        covariance = found.covariance[:shown, :shown] * (correction if rule == "model" else 1.0)
        sigma = float(np.exp(found.theta[self.count]) * np.sqrt(correction)) if linear else np.nan
        notes = (*notes, *found.notes)
        reduced = reduce_bias and found.converged and not held and rule in ("model", "HC3")
        bias = bias_by_noise(found, n) if reduced else np.zeros(shown)
        estimate = found.theta[:shown] - bias[:shown]
        fitted = self.result("ml", estimate, covariance, sigma, n, found.converged, notes, found)
        fitted = self.with_hidden(fitted, found.model, found.theta)
        if held:
            return fitted
        if rule == "model":
            fitted = with_profile(fitted, found, split(self.progress, (4, 6))[1], bias)
        return self.with_beside(fitted, found)

    def as_poisson(self) -> Work:
        """The same with Poisson's likelihood, where counts vary no more than its."""
        problem = replace(self.problem, outcome=self.problem.outcome.poisson())
        plain = naive_fit(problem, self.family, self.clusters)
        return replace(self, problem=problem, plain=plain, notes=(*self.notes, POISSON))

    def with_beside(self, fitted: Fit, found: Estimate) -> Fit:
        """Put an estimate that assumes less beside a likelihood's, where it can be had."""
        other = self.beside(self) if self.beside is not None and fitted.converged else None
        if other is None:
            return fitted
        return with_second(fitted, influences(self.problem, found), other, self.clusters)

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
        fitted = replace(fitted, reliability=exact, inflation=np.ones(self.count), log_likelihood=likelihood)
        return endless_hazards(fitted, self.problem) if plain.separated and self.family == "cox" else fitted

    def maximum(self) -> tuple[Estimate, tuple[str, ...], bool]:
        """The maximum, or with a weak prior where there is none; what is to be said; whether a prior was needed."""
        self.progress("the maximum of the likelihood", 0)
        start, spread = self.plain.estimate[: self.count], self.plain.spread
        if not self.plain.separated:
            found = maximum_likelihood(self.problem, start, self.plain.extra, self.clusters, leverage=self.leverage)
            _refuse_hidden_line(found, self.problem)
            spread = found.spread
            size = np.abs(found.theta[: self.count] * spread * self.plain.own).max(initial=0.0)
            if self.family in ("linear", "poisson") or (found.converged and size < _EXTREME):
                return found, self.notes, False
        penalty = (spread / _PRIOR_SD) ** 2
        zero = np.zeros(self.count)
        held = maximum_likelihood(self.problem, zero, self.plain.extra, self.clusters, penalty, self.leverage)
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
        rule, free = self.problem.rule, np.inf
        if method != "bayes":
            free = degrees(rule, self.family == "linear", n, self.count, self.groups)
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
            degrees=free,
            se_rule=None if method == "bayes" else rule,
            level=self.level,
            notes=notes,
            columns=self.problem.columns,
            levels={name: c.levels for name, c in self.problem.covariates.items() if c.levels},
        )
