"""Bayesian fit: the likelihood of `ml` with proper priors, sampled by importance or by Markov chains."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import DataError, MissingExtra
from sfumato.inference.estimators.coordinates import Coordinates
from sfumato.inference.estimators.maximum_likelihood import TOLERANCE, Estimate
from sfumato.inference.estimators.priors import Prior, build_prior
from sfumato.inference.problem import Problem
from sfumato.kernels.likelihood.gaussian_mixture import GaussianMixture
from sfumato.kernels.likelihood.maximisation import Value, bfgs, differences, inverse, newton, roots
from sfumato.kernels.likelihood.mixture import Mixture
from sfumato.kernels.likelihood.response import Binary, Linear, Poisson
from sfumato.kernels.sampling.convergence import bulk_effective, split_r_hat
from sfumato.kernels.sampling.hamiltonian import hamiltonian_chains
from sfumato.kernels.sampling.importance import TRUSTED, Sample, adapted_sample
from sfumato.progress import Progress, quiet

if TYPE_CHECKING:
    from arviz import InferenceData

__all__ = ["CHAINS", "Posterior", "inference_data", "sample_posterior"]

Floats = NDArray[np.float64]

CHAINS = 4
"""Markov chains; draws by importance are dealt out to as many."""
AGREE = 1.01
"""Chains agree where R-hat is at most this (Vehtari et al. 2021)."""
ENOUGH = 400
"""Draws worth fewer independent ones than this get a note (Vehtari et al. 2021)."""
_CELLS = 2_000_000  # rows times patterns at which chains take some ten minutes
_LEAST = 1e-6
_EDGE = 0.05  # of the released values' standard deviation


@dataclass(frozen=True)
class Posterior:
    """Draws of the posterior, of equal weight, chain after chain.

    Parameters
    ----------
    draws : ndarray, shape (D, s)
        Of the coefficients and thresholds shown.
    sigma : ndarray, shape (D,), or None
        Of the standard deviation of a linear model's errors.
    log_density : ndarray, shape (D,)
        Of the whole posterior at the draws, up to a constant.
    diverging : ndarray of bool, shape (D,), or None
        Paths that lost their energy; None without Markov chains.
    sampler
        `importance`, or `hamiltonian` for Markov chains.
    mean, covariance
        Of the coefficients, shapes (s,) and (s, s).
    inflation : ndarray, shape (s,)
        Posterior standard deviations over those without noise under the same prior; NaN where these are not at hand.
    log_likelihood
        At the mean.
    checks
        Of importance: `effective_draws`, and `pareto_k` (below .7 is good). Of chains: `effective_draws` (bulk, the
        smallest over the coefficients), `r_hat` (the largest over all parameters; at most 1.01 is good), `divergences`.
    trusted
        Whether k or R-hat are good.
    notes
        What a reader should know.
    """

    draws: Floats
    sigma: Floats | None
    log_density: Floats
    diverging: NDArray[np.bool_] | None
    sampler: Literal["importance", "hamiltonian"]
    mean: Floats
    covariance: Floats
    inflation: Floats
    log_likelihood: float
    checks: dict[str, float]
    trusted: bool
    notes: tuple[str, ...]


def sample_posterior(
    problem: Problem,
    found: Estimate,
    terms: Sequence[str],
    priors: Mapping[str, tuple[float, float]],
    number: int = 4000,
    seed: int = 0,
    progress: Progress = quiet,
) -> Posterior:
    """Sample the posterior of a model that maximum likelihood has fitted.

    Draws come from a t distribution around the posterior's mode and are weighted; where the weights are not to be
    trusted, from one with the moments of the weighted draws. Where that does not do either, four Hamiltonian Markov
    chains sample the same density. Hidden covariates are summed or integrated out of it, so that no chain has to draw
    them record by record: this mixes far better than Gibbs sampling of the complete data.

    Priors are normal where given. Elsewhere they are wide, and such that the posterior is proper whatever the noise:

    - slopes: normal around 0, with standard deviation 2.5 over that of the true column (times that of the response in a
      linear model);
    - intercept and thresholds, at the mean of the covariates: normal around 0 with standard deviation 10 (in a linear
      model around the mean of the response, with 10 of its standard deviations);
    - σ of a linear model: flat;
    - probabilities of the patterns of hidden discrete covariates: uniform on their simplex. Where they hang on exact
      covariates, this is so at 0 (indicators) or at the mean (numbers) of these, and the log odds for an indicator or a
      standard deviation are normal around 0 with standard deviation 2.5;
    - means of hidden continuous covariates: normal around that of the released values, with 10 of their standard
      deviations; the root of their covariance: flat. Those of a mixture's parts have the penalty of one record each as
      well (see `GaussianMixture.penalty`).

    Parameters
    ----------
    problem
        The model with its data.
    found
        What maximum likelihood found.
    terms
        Names of the coefficients and thresholds, shape (s,).
    priors
        Mean and standard deviation by term.
    number
        Of draws.
    seed
        Of the draws, which hide nothing.
    progress
        Told of the draws of Markov chains.

    Raises
    ------
    DataError
        For a prior on an unknown term, or with a standard deviation that is not positive.
    """
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    coordinates = Coordinates.of(found.model)
    target = _Target(found.model, coordinates, build_prior(problem, found, terms, priors))
    rng = np.random.default_rng(seed)
    with threadpool_limits(1, "blas"), np.errstate(all="ignore"):  # proposals may go where numbers overflow
        mode, covariance = _mode(target, _inner(found, problem, coordinates))
        sample = adapted_sample(target.log_densities, mode, covariance, number, rng)
        if sample.trusted or not _affordable(found.model):
            drawn = _from_importance(target, sample, number, rng)
        else:
            drawn = _from_chains(target, sample, covariance, number, rng, len(terms), progress)
        return _told(target, problem, found, drawn, len(terms), bool(priors))


@dataclass(frozen=True)
class _Target:
    """The density to sample, of the coordinates v."""

    model: Mixture | GaussianMixture
    coordinates: Coordinates
    prior: Prior

    def value(self, v: Floats) -> tuple[float, Floats]:
        """Log-density and gradient; −∞ where numbers end."""
        found = self.look(v, False)
        return found.log_likelihood, found.gradient

    def look(self, v: Floats, information: bool = True) -> Value:
        """The same with the information, for a model of continuous covariates by the scores' products."""
        theta, prior = self.coordinates.theta(v[None])[0], self.prior
        try:
            if isinstance(self.model, Mixture):
                seen = self.model.look(theta, information)
                log_l, gradient, matrix = seen.log_likelihood, seen.gradient, seen.information
                bent = gradient
            else:
                log_l, gradient, matrix = self.model.evaluate(theta, information)
                bent = np.zeros_like(gradient)
        except (ValueError, ArithmeticError, np.linalg.LinAlgError):
            return Value(-np.inf, np.zeros_like(v), np.eye(len(v)))
        if information:
            matrix = self.coordinates.information(v, bent, matrix) + prior.information
        density = log_l + float(prior.log_density(v[None])[0])
        return Value(density, self.coordinates.gradient(v, gradient) + prior.gradient(v), matrix)

    def log_densities(self, v: Floats) -> Floats:
        """Log-density at many coordinates, shape (D, P) → (D,)."""
        prior, thetas = self.prior.log_density(v), self.coordinates.theta(v)
        if isinstance(self.model, Mixture):
            return np.asarray(prior + self.model.log_likelihoods(thetas))
        return np.asarray(prior + np.array([self._likelihood(theta) for theta in thetas]))

    def _likelihood(self, theta: Floats) -> float:
        try:
            return float(self.model.log_likelihoods(theta[None])[0])
        except (ValueError, ArithmeticError, np.linalg.LinAlgError):
            return -np.inf


@dataclass(frozen=True)
class _Drawn:
    """Draws of all coordinates, folded, shape (D, P), with what is known of them."""

    v: Floats
    log_density: Floats
    mean: Floats
    covariance: Floats
    sampler: Literal["importance", "hamiltonian"]
    checks: dict[str, float]
    diverging: NDArray[np.bool_] | None = None


def _inner(found: Estimate, problem: Problem, coordinates: Coordinates) -> Floats:
    """Where to begin the ascent: the maximum of the likelihood, drawn inside where it lies on an edge."""
    model, theta = found.model, found.theta.copy()
    logs = np.concatenate([[0.0], theta[coordinates.patterns]])
    logs = np.maximum(logs - logs.max(), -np.log(max(float(model.weight.sum()), 2.0)))
    theta[coordinates.patterns] = logs[1:] - logs[0]
    sd = [np.nanstd(problem.outcome.values)] if isinstance(model.response, Linear) else []
    sd += [np.nanstd(c.latent) for c in problem.continuous]
    theta[coordinates.scales] = np.maximum(theta[coordinates.scales], np.log(_EDGE * np.array(sd)))
    return coordinates.place(theta)


def _mode(target: _Target, start: Floats) -> tuple[Floats, Floats]:
    """The posterior's mode, and the covariance of the normal approximation there."""
    if isinstance(target.model, Mixture):
        top, value = newton(target.look, start, TOLERANCE)
        return top.theta, _by_size(value.information)
    top = bfgs(target.look, start)
    steps = roots(target.look(top.theta).information)
    return top.theta, _by_size(differences(lambda v: target.value(v)[1], top.theta, steps))


def _by_size(information: Floats) -> Floats:
    """The inverse of an information, in which directions that go uphill count by their size, so that none is lost."""
    scale = np.sqrt(np.maximum(np.abs(np.diagonal(information)), 1e-300))
    values, vectors = np.linalg.eigh(information / np.outer(scale, scale))
    half = vectors / np.sqrt(np.maximum(np.abs(values), _LEAST * np.abs(values).max())) / scale[:, None]
    return np.asarray(half @ half.T)


def _affordable(model: Mixture | GaussianMixture) -> bool:
    """Whether some 40,000 gradients can be waited for; a cell of a continuous covariate costs that of 20 without."""
    cells = len(model.weight) * len(model.Q)
    if isinstance(model, GaussianMixture):
        by_nodes = isinstance(model.response, Poisson) or (isinstance(model.response, Binary) and model.response.logit)
        cells *= 200 if by_nodes else 20
    return cells <= _CELLS


def _from_importance(target: _Target, sample: Sample, number: int, rng: np.random.Generator) -> _Drawn:
    """Weighted draws, drawn again with equal weight."""
    v = target.coordinates.folded(sample.draws)
    mean = sample.weights @ v
    gap = v - mean
    at = sample.chosen(number, rng)
    checks = {"effective_draws": sample.effective, "pareto_k": sample.k}
    covariance = gap.T @ (gap * sample.weights[:, None])
    return _Drawn(v[at], sample.log_density[at], mean, covariance, "importance", checks)


def _from_chains(
    target: _Target,
    sample: Sample,
    covariance: Floats,
    number: int,
    rng: np.random.Generator,
    shown: int,
    progress: Progress,
) -> _Drawn:
    """Markov chains, begun at draws by importance whose weights are made more even."""
    share = np.sqrt(sample.weights)
    at = rng.choice(len(share), CHAINS, p=share / share.sum())
    root = np.asarray(np.linalg.cholesky(covariance), dtype=np.float64)
    chains = hamiltonian_chains(target.value, sample.draws[at], root, -(-number // CHAINS), rng, progress=progress)
    v = target.coordinates.folded(chains.draws.reshape(-1, len(root)))
    draws = v.reshape(chains.draws.shape)
    checks = {
        "effective_draws": min(bulk_effective(draws[:, :, j]) for j in range(shown)),
        "r_hat": max(split_r_hat(draws[:, :, j]) for j in range(len(root))),
        "divergences": float(chains.diverging.sum()),
    }
    diverging = chains.diverging.ravel()
    return _Drawn(v, chains.log_density.ravel(), v.mean(axis=0), np.cov(v.T), "hamiltonian", checks, diverging)


def _told(target: _Target, problem: Problem, found: Estimate, drawn: _Drawn, shown: int, informed: bool) -> Posterior:
    """What is shown of the draws, with what is to be said of them."""
    model, covariance = target.model, np.atleast_2d(drawn.covariance)[:shown, :shown]
    trusted, notes = _judged(drawn.checks)
    sigma = drawn.v[:, model.E.shape[1]] if isinstance(model.response, Linear) else None
    theta = target.coordinates.theta(drawn.mean[None])
    return Posterior(
        drawn.v[:, :shown],
        sigma,
        drawn.log_density,
        drawn.diverging,
        drawn.sampler,
        drawn.mean[:shown],
        covariance,
        np.sqrt(np.diagonal(covariance) / _without_noise(target, problem, found, theta[0], shown, informed)),
        float(model.log_likelihoods(theta)[0]),
        drawn.checks,
        trusted,
        notes,
    )


def _judged(checks: Mapping[str, float]) -> tuple[bool, tuple[str, ...]]:
    """Whether draws are to be trusted, and what is to be said of them."""
    if "pareto_k" in checks and not checks["pareto_k"] <= TRUSTED:
        return False, (
            f"The importance weights have a heavy tail (Pareto k is above {TRUSTED:g}): the posterior is far from "
            "normal, there are too many records for Markov chains, and these figures are not to be trusted. Compare "
            "with `ml`, or fit a random sample of the rows.",
        )
    if "r_hat" in checks and not checks["r_hat"] <= AGREE:
        return False, (
            f"The Markov chains do not agree (R-hat is above {AGREE:g}): these figures are not to be trusted. Ask for "
            "more `draws`, give narrower `priors`, or fit fewer hidden covariates.",
        )
    notes = []
    if not checks["effective_draws"] >= ENOUGH:
        notes.append(f"The draws are worth fewer than {ENOUGH} independent ones. Ask for more `draws`.")
    if checks.get("divergences"):
        notes.append(
            "Some paths of the Markov chains diverged: there may be places that they do not reach. Give narrower "
            "`priors`."
        )
    return True, tuple(notes)


def _without_noise(
    target: _Target, problem: Problem, found: Estimate, theta: Floats, shown: int, informed: bool
) -> Floats:
    """Posterior variances that the true covariates and responses would have given, by the normal approximation."""
    model = target.model
    p = model.E.shape[1] + model.response.extra
    if isinstance(model, Mixture) and problem.outcome.exact:
        complete = model.look(theta).complete[:p, :p] + target.prior.information[:p, :p]
        return np.asarray(np.diagonal(inverse(complete)[0])[:shown])
    if informed:  # the complete information is only at hand without the prior, and inverted
        return np.full(shown, np.nan)
    return np.asarray(np.diagonal(found.covariance)[:shown] / found.inflation[:shown] ** 2)


def inference_data(posterior: Posterior, terms: Sequence[str], attributes: Mapping[str, str | float]) -> InferenceData:
    """The draws for arviz, one variable for each term, and `sigma`.

    Draws by importance are exchangeable; they are dealt out to four chains, so that arviz's checks can be made.

    Parameters
    ----------
    posterior
        The draws.
    terms
        Names of the coefficients and thresholds.
    attributes
        What to keep beside them.

    Raises
    ------
    MissingExtra
        Without arviz.
    DataError
        For a term with a name that arviz uses itself.
    """
    import warnings

    try:
        with warnings.catch_warnings():  # it announces its next version once a day
            warnings.filterwarnings("ignore", r"\s*ArviZ is undergoing a major refactor", FutureWarning)
            import arviz
    except ImportError:
        raise MissingExtra("Data for arviz", "mcmc") from None
    taken = [n for n in terms if n in ("chain", "draw", *(("sigma",) if posterior.sigma is not None else ()))]
    if taken:
        raise DataError(f"The term {', '.join(taken)} has a name that arviz data use themselves. Rename the column.")
    length = len(posterior.draws) // CHAINS

    def by_chain(values: Floats | NDArray[np.bool_]) -> Floats | NDArray[np.bool_]:
        return values[: CHAINS * length].reshape(CHAINS, length)

    variables = {term: by_chain(posterior.draws[:, j]) for j, term in enumerate(terms)}
    if posterior.sigma is not None:
        variables["sigma"] = by_chain(posterior.sigma)
    stats = {"lp": by_chain(posterior.log_density)}
    if posterior.diverging is not None:
        stats["diverging"] = by_chain(posterior.diverging)
    how = "Markov chains" if posterior.sampler == "hamiltonian" else "exchangeable draws, dealt out"
    kept = {**attributes, "sampler": posterior.sampler, "chains_are": how, **posterior.checks}
    data: InferenceData = arviz.from_dict(variables, sample_stats=stats, attrs=kept, posterior_attrs=kept)
    return data
