"""Fit a regression to protected data: the door of this layer."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import wraps
from typing import ParamSpec, TypeGuard, TypeVar, get_args

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.data.codebook import Codebook
from sfumato.data.disclosure import Disclosed, Disclosure
from sfumato.data.formula import Formula, parse_formula
from sfumato.data.pair import numbers
from sfumato.data.unseen import seen
from sfumato.errors import DataError
from sfumato.inference.beside import beside
from sfumato.inference.columns import split_columns
from sfumato.inference.corrected.choice import Choice, Method, choose
from sfumato.inference.corrected.estimate import corrected_fit, known_of, little_known
from sfumato.inference.corrected.obstacles import obstacle
from sfumato.inference.covariates.known import error_parts, read_covariate, strata_notes, which_are_factors
from sfumato.inference.covariates.moments import Hidden
from sfumato.inference.covariates.shape import MOST_PARTS
from sfumato.inference.estimators.naive import Naive, is_plain, naive_fit, refuse_far_from_zero, refuse_undetermined
from sfumato.inference.estimators.random_effects import (
    check_random,
    number_groups,
    read_slope,
)
from sfumato.inference.estimators.sandwich import StandardErrors, rule_of
from sfumato.inference.estimators.shapes import choose_shape
from sfumato.inference.estimators.survival import check_times, naive_hazards, refuse_likelihood, rule_of_hazards
from sfumato.inference.notes import told_notes, unspoken
from sfumato.inference.outcome import ALIASES, FAMILIES, Family, read_outcome, read_times, with_logarithm
from sfumato.inference.problem import Problem, check_correlations
from sfumato.inference.result import Fit
from sfumato.inference.work import Work, terms_of
from sfumato.progress import Progress, quiet, split

__all__ = ["METHODS", "Method", "fit"]

Floats = NDArray[np.float64]
METHODS: tuple[Method, ...] = get_args(Method)
_GONE = ("moments", "calibration", "simex")

_GAPS = (
    "{} records with a missing value were left out. That is right where whether a value is missing hangs on the "
    "covariates alone, and not on the response."
)
_ON_LINE = 1e-10
"""Errors this small beside the response are those of rounding."""
_FEW_CLUSTERS = 30
"""With fewer clusters, standard errors by clusters are too small."""


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
    method: Method = "auto",
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
    se: StandardErrors = "auto",
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
        `linear` (or `gaussian`), `probit`, `logit` (or `binomial`), `poisson`, `ordered` (ordered probit) or `cox`
        (proportional hazards, `Surv(time, event) ~ …`, ties by Efron's method).
    method
        `auto`: what suits the family and the noise. `corrected`: equations that are unbiased for those of the true
        data, for families linear, poisson and cox. `ml`: maximum likelihood. `bayes`: the same likelihood with priors,
        sampled by importance. `naive`: released values are taken for true ones, rows with missing values left out.
    codebook
        Kinds and missing codes of the columns.
    weight
        Column of sampling weights; standard errors are then those of a design with one stratum.
    cluster
        Column of clusters; standard errors then allow for dependence within them.
    level
        Of the intervals, between 0 and 1.
    priors
        For `bayes`: mean and standard deviation of a normal prior by term; the others get wide ones, see
        `sfumato.inference.estimators.bayes.sample_posterior`.
    draws, seed
        For `bayes`: how many draws, and what they start from. They hide nothing.
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
    se
        `auto`: standard errors of a likelihood are the model's; with clusters CR1, with weights those of a design of
        one stratum. `robust`: without clusters and weights HC3, which also holds where the model has the variance
        of the response wrong; not for `bayes` and with `group`. `Fit.se_rule` says which.
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
    model = parse_formula(formula, fitting=True)
    family = ALIASES.get(family, family)
    _check_options(family, method, level, priors, draws, seed, hidden)
    _check_se(se, method, group)
    _check_names(method, weight=weight, cluster=cluster, group=group, slope=slope)
    book, told = codebook or Codebook(), Disclosure.of_any(disclosure)
    check_times(model, family, method, group)
    check_random(model, family, "ml" if method == "auto" else method, group, slope, weight, cluster)
    _check_columns(data, (*model.columns, *(n for n in (weight, cluster, group) if n)))
    used, weights, clusters = _used_rows(data, book, model, weight, cluster, group)
    if model.logged:
        used = with_logarithm(used, book, model, told, family)
    problem = _assemble(model, used, book, told, family, weights)
    found = obstacle(problem, family, model.response)
    gaps: tuple[str, ...] = ()
    if method == "corrected" and found is not None and found.gaps:
        whole = problem.whole
        gaps = (_GAPS.format(problem.n - len(whole)),)
        used, clusters = used[whole], None if clusters is None else clusters[whole]
        problem, found = problem.complete(), None
    choice = choose(problem, family, method, found, group is not None)
    _check_choice(choice, problem, hidden, reduce_bias)
    method = choice.method
    robust = se == "robust" or method == "corrected" or (choice.fallen and family == "linear")
    rule = rule_of(weight, cluster, robust)
    problem = problem.by(rule_of_hazards(rule) if family == "cox" else rule)
    if choice.fallen and family == "poisson":
        problem = replace(problem, outcome=problem.outcome.over_dispersed())
    if family == "cox" and method == "ml":
        refuse_likelihood(problem)
    _check_problem(problem, model, family, clusters)
    if group is not None or not is_plain(problem, family, method):
        refuse_far_from_zero(problem)
    plain = naive_hazards(problem, clusters) if family == "cox" else naive_fit(problem, family, clusters)
    refuse_undetermined(plain, problem.columns)
    if plain.n <= len(problem.columns.labels):
        raise DataError("There are not more complete rows than coefficients. Leave terms out of the formula.")
    notes = told_notes(told, model, problem, used.height < data.height, cluster, group)
    notes = (*notes, *problem.outcome.notes, *strata_notes(used, book, told, model.columns))
    notes = (*notes, *choice.notes, *gaps)
    if not complete and method != "naive":
        notes = (*notes, *unspoken(told, model))
    if clusters is not None and clusters.max() < _FEW_CLUSTERS:
        notes = (*notes, f"There are fewer than {_FEW_CLUSTERS} clusters: standard errors are then too small.")
    choosing, fitting = split(progress, (2, 8))
    work = Work(model, family, problem, plain, clusters, level, notes, fitting, weight is not None, beside)
    if method == "naive" and group is None:
        return work.naive()
    if method == "corrected":
        return corrected_fit(work)
    known = None if found is not None or method == "naive" else known_of(work)
    evidence = None if known is None else known.together
    if method == "ml" and (why := little_known(known, "ml")):
        return replace(work.nothing("ml", why), evidence=evidence)
    check_correlations(problem, model.response)
    if not is_plain(problem, family, method):
        _refuse_line(plain, problem)
    groups = None if group is None else number_groups(used, group, told)
    if problem.continuous and method in ("ml", "bayes"):
        shape = hidden if isinstance(hidden, str) else int(hidden)
        work = replace(work, problem=choose_shape(problem, shape, groups, choosing))
    if groups is not None:
        random = work.random(method, groups, read_slope(problem, slope))
        return replace(random, slope=slope, evidence=evidence)
    fitted = work.likelihood("bayes" if method == "bayes" else "ml", priors or {}, draws, seed, reduce_bias)
    return replace(fitted, evidence=evidence)


def _check_choice(choice: Choice, problem: Problem, hidden: Hidden, reduce_bias: bool) -> None:
    """Refuse options of likelihoods where there is none, and likelihoods of what is no count."""
    if choice.method == "corrected" and (hidden != "auto" or not reduce_bias):
        raise DataError(
            "`hidden` and `reduce_bias` are for likelihoods; method `corrected` assumes no distribution of hidden "
            "numbers. Leave them out, or use method `ml`."
        )
    if choice.method in ("ml", "bayes") and not problem.outcome.counts:
        raise DataError(
            f"Method `{choice.method}` of family `poisson` needs exact counts as response. Use method `corrected`, "
            "which takes any numbers that have the mean."
        )


def _whole(number: object) -> TypeGuard[int]:
    return isinstance(number, int | np.integer) and not isinstance(number, bool)


def _check_options(
    family: str, method: str, level: float, priors: object, draws: int, seed: int, hidden: object
) -> None:
    if family not in FAMILIES:
        raise DataError(f"There is no family {family!r}. Families: {', '.join(FAMILIES)}.")
    if method in _GONE:
        raise DataError(
            f"There is no method {method!r} any more. Use `corrected`: its equations are unbiased for those of the "
            "true data, whatever the distribution of the hidden numbers."
        )
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


def _check_se(se: str, method: str, group: str | None) -> None:
    if se not in get_args(StandardErrors):
        raise DataError(f"There are no standard errors {se!r}. Choose: {', '.join(get_args(StandardErrors))}.")
    if se == "robust" and (method == "bayes" or group is not None):
        raise DataError(
            "Robust standard errors are not for method `bayes`, which has a posterior, nor for a model with `group`, "
            "whose records depend on each other. Leave out `se` (--se), or use `cluster` in place of `group`."
        )


def _check_names(method: str, **given: object) -> None:
    for option, name in given.items():
        if name is not None and not (isinstance(name, str) and name):
            raise DataError(f"`{option}` is the name of one column, as text.")
    if method == "bayes" and (given["weight"] or given["cluster"]):
        raise DataError(
            "Method `bayes` takes no weights and no clusters: a weighted sum of log-densities is no likelihood, and "
            "the records of a cluster are not independent. Use method `ml`, whose standard errors allow for both."
        )


def _check_problem(problem: Problem, model: Formula, family: Family, clusters: NDArray[np.int64] | None) -> None:
    """Refuse what no method can fit."""
    terms = terms_of(problem, family)
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


def _used_rows(
    frame: pl.DataFrame,
    codebook: Codebook,
    model: Formula,
    weight: str | None,
    cluster: str | None,
    group: str | None = None,
) -> tuple[pl.DataFrame, Floats, NDArray[np.int64] | None]:
    """Rows that have a response, weight, cluster and group; weights with mean 1; numbers of the clusters."""
    needed = [n for n in (*model.responses, weight, cluster, group) if n]
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
) -> Problem:
    factors = which_are_factors(frame, codebook, model, disclosure)
    covariates = {
        n: read_covariate(frame, codebook, n, factor, error_parts(disclosure, n)) for n, factor in factors.items()
    }
    levels = {n: c.levels for n, c in covariates.items() if c.levels}
    coded = model.intercept or family == "cox"  # whose baseline is one, whatever the formula says
    columns = split_columns(model.terms, coded, levels, [n for n in covariates if n not in levels])
    if coded and family in ("ordered", "cox"):  # thresholds and the baseline are the intercepts
        columns = type(columns)(columns.labels[1:], columns.parts[1:])
    if model.event is not None:
        outcome = read_times(frame, codebook, model.response, model.event, disclosure)
    else:
        outcome = read_outcome(frame, codebook, model.response, family, error_parts(disclosure, model.response))
    return Problem(columns, covariates, outcome, weights)
