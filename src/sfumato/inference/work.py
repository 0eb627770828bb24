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
from sfumato.inference.estimators.priors import SLOPE
from sfumato.inference.estimators.random_effects import RandomEstimate, fit_random, naive_problem
from sfumato.inference.estimators.sandwich import degrees
from sfumato.inference.estimators.separation import endless_intervals, recession_of, separation_note
from sfumato.inference.estimators.survival import endless_hazards
from sfumato.inference.hidden import densities, describe_hidden
from sfumato.inference.outcome import Family
from sfumato.inference.problem import Problem
from sfumato.inference.result import Fit
from sfumato.inference.second import Alternative, with_second
from sfumato.kernels.likelihood.gaussian_mixture import GaussianMixture
from sfumato.kernels.likelihood.mixture import Mixture
from sfumato.kernels.likelihood.negative_binomial import MOST, NegativeBinomial
from sfumato.kernels.likelihood.recession import Recession
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
_LIMIT = "The other figures are those at that limit."
_LIKELIHOOD_RATIO = "Their intervals, open where no value is ruled out, and p-values are those of likelihood ratios."
_UNSETTLED = (
    "The likelihood did not converge, so that there is no estimate: covariates tell some responses all but for sure, "
    "or columns are of very different size. Take broader categories, leave terms out, or use method `bayes` with a "
    "prior that you state."
)
_NO_RATIO = f"They have no interval and no p-value, for with {{}} a likelihood ratio means nothing. {_LIMIT}"


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
        plain, notes = self.plain, self.notes
        if plain.recession is not None:
            notes = (*notes, self.separated(plain.recession, f"They have no interval and no p-value. {_LIMIT}"))
        elif plain.separated and self.family == "cox":
            notes = (*notes, "Events are separated by the covariates; some estimates have no finite maximum.")
        elif plain.separated:
            return self.nothing("naive", _UNSETTLED)
        return self.result("naive", plain.estimate, plain.covariance, plain.sigma, plain.n, plain.converged, notes)

    def separated(self, recession: Recession, why: str) -> str:
        """What is said of terms without a finite maximum."""
        shown = len(self.terms)
        return separation_note(self.problem.columns, self.terms, recession.lost[:shown].tolist(), why)

    def random(self, method: str, group: NDArray[np.int64], slope: Floats | None) -> Fit:
        """A model with random effects, beside the same one for the released values."""
        problem, plain, notes = self.problem, self.plain, self.notes
        if plain.separated and plain.recession is None:
            return self.nothing(method, _UNSETTLED)
        naive, rows = naive_problem(problem)
        start = np.concatenate([plain.start, plain.extra])
        slopes = None if slope is None else slope[rows]
        alone = fit_random(naive, group[rows], slopes, start, plain.recession)
        found, recession, without = alone, plain.recession, None
        lack = None if alone.reached or method == "naive" else _UNSETTLED
        if method == "ml" and (problem.discrete or problem.continuous or not problem.outcome.exact):
            whole = replace(self, problem=replace(problem, keep_rows=True))
            recession = recession_of(problem, self.family) if plain.separated else None
            without = whole.maximum(recession)
            lack = whole.lack(without, recession)
            if lack is None:
                self.progress("random effects", 0.3)
                found = fit_random(whole.problem, group, slope, without.theta, recession)
                lack = None if found.reached else _UNSETTLED
        if recession is not None:
            notes = (*notes, self.separated(recession, _NO_RATIO.format("random effects")))
        n = len(rows) if without is None else problem.n
        notes = notes if without is None else (*notes, *without.notes)
        fitted = self.random_result(method, found, alone, n, notes)
        if lack is not None:
            return replace(self.nothing(method, lack), naive=fitted.naive, naive_se=fitted.naive_se)
        return fitted if without is None else self.with_hidden(fitted, without.model, found.theta[: without.model.size])

    def random_result(
        self, method: str, found: RandomEstimate, alone: RandomEstimate, n: int, notes: tuple[str, ...]
    ) -> Fit:
        """Findings for random effects as a `Fit`."""
        p = self.count
        sigma = float(np.exp(found.theta[p])) if self.family == "linear" else np.nan
        covariance = found.covariance[:p, :p]
        estimate = np.where(np.isnan(np.diagonal(covariance)), np.nan, found.theta[:p])
        fitted = self.result(method, estimate, covariance, sigma, n, found.converged, (*notes, *found.notes))
        if method == "ml":
            fitted = replace(fitted, reliability=found.reliability, inflation=found.inflation)
        return replace(
            fitted,
            naive=np.where(np.isnan(np.diagonal(alone.covariance)[:p]), np.nan, alone.theta[:p]),
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
        if method == "bayes":
            return self.posterior(*self.anchored(), priors, draws, seed)
        if is_plain(self.problem, self.family, method) and (self.family == "cox" or not self.plain.separated):
            return self.plain_maximum()
        recession = recession_of(self.problem, self.family) if self.plain.separated else None
        found, notes = self.maximum(recession), self.notes
        if isinstance(found.model.response, NegativeBinomial):
            size = float(np.exp(found.theta[self.count]))
            if size >= MOST or np.isnan(found.covariance[self.count, self.count]):  # it has no finite maximum
                return self.as_poisson().likelihood(method, priors, draws, seed, reduce_bias)
            notes = (*notes, NEGATIVE_BINOMIAL.format(size=size))
        if (lack := self.lack(found, recession)) is not None:
            return self.nothing(method, lack)
        n, linear = self.problem.n, self.family == "linear"
        shown = len(self.terms)
        rule = self.problem.rule
        counted = linear and n > self.count and rule in ("model", "HC3")
        correction = n / (n - self.count) if counted else 1.0  # as least squares has it
        covariance = found.covariance[:shown, :shown] * (correction if rule == "model" else 1.0)
        sigma = float(np.exp(found.theta[self.count]) * np.sqrt(correction)) if linear else np.nan
        reduced = reduce_bias and found.converged and recession is None and rule in ("model", "HC3")
        bias = bias_by_noise(found, n) if reduced else np.zeros(shown)
        estimate = np.where(np.isnan(np.diagonal(covariance)), np.nan, found.theta[:shown] - bias[:shown])
        fitted = self.result("ml", estimate, covariance, sigma, n, found.converged, (*notes, *found.notes), found)
        fitted = self.with_hidden(fitted, found.model, found.theta)
        if recession is not None:
            return self.endless(fitted, found, recession)
        if rule == "model":
            fitted = with_profile(fitted, found, split(self.progress, (4, 6))[1], bias)
        return self.with_beside(fitted, found)

    def endless(self, fitted: Fit, found: Estimate, recession: Recession) -> Fit:
        """The fit with intervals of the terms that have no finite maximum."""
        if self.problem.rule in ("CR1", "design"):
            what = "weights" if self.weighted else "clusters"
            return replace(fitted, notes=(*fitted.notes, self.separated(recession, _NO_RATIO.format(what))))
        shown = len(self.terms)
        start = np.concatenate([self.plain.start, self.plain.extra])
        widths = np.ones(shown)
        widths[: self.count] = 1 / np.where(found.spread > 0, found.spread, 1.0)
        profile = endless_intervals(found, recession, shown, start, self.level, widths)
        why = _LIKELIHOOD_RATIO
        if np.isnan(profile[recession.lost[:shown]]).any():
            why += " Where there is none, the likelihood could not be followed."
        return replace(fitted, profile=profile, notes=(*fitted.notes, self.separated(recession, f"{why} {_LIMIT}")))

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

    def maximum(self, recession: Recession | None = None) -> Estimate:
        """The maximum, or the supremum where there is none."""
        self.progress("the maximum of the likelihood", 0)
        plain = self.plain
        start = np.zeros(self.count) if plain.separated else plain.start
        found = maximum_likelihood(
            self.problem, start, plain.extra, self.clusters, leverage=self.leverage, recession=recession
        )
        _refuse_hidden_line(found, self.problem)
        return found

    def lack(self, found: Estimate, recession: Recession | None) -> str | None:
        """Why a likelihood gives no estimate; None where it gives one."""
        problem = self.problem
        hidden = [c.name for c in (*problem.discrete, *problem.continuous)]
        hidden += [] if problem.outcome.exact else [self.model.response]
        if not hidden:
            return None if found.reached and (recession is not None or not self.plain.separated) else _UNSETTLED
        if found.reached and not self.is_extreme(found, recession):
            return None
        return (
            f"The noise on {', '.join(hidden)} is too strong for these data: a finite maximum of the likelihood was "
            "not found, so that there is no estimate. Take broader categories, leave terms out, or use method `bayes` "
            "with a prior that you state."
        )

    def is_extreme(self, found: Estimate, recession: Recession | None) -> bool:
        """Whether a coefficient is so large that it is taken to have no finite maximum."""
        finite = np.ones(self.count, dtype=bool) if recession is None else ~recession.lost[: self.count]
        size = np.abs(found.theta[: self.count] * found.spread * self.plain.own)[finite].max(initial=0.0)
        return self.family != "linear" and not size < _EXTREME

    def anchored(self) -> tuple[Estimate, bool]:
        """The maximum, or where there is none that with the priors of `bayes` on slopes; and whether it took them."""
        if not self.plain.separated:
            found = self.maximum()
            if self.family == "linear" or self.lack(found, None) is None:
                return found, False
        spread = self.plain.spread if self.plain.separated else found.spread
        zero, penalty = np.zeros(self.count), (spread / SLOPE) ** 2
        return maximum_likelihood(self.problem, zero, self.plain.extra, self.clusters, penalty), True

    def posterior(
        self, found: Estimate, held: bool, priors: Mapping[str, tuple[float, float]], draws: int, seed: int
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
