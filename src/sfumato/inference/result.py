"""A fitted model: what was estimated, what a naive analysis would have said, and what the noise cost."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.special import expit, ndtr, ndtri, stdtr, stdtrit

from sfumato.data.codebook import Codebook
from sfumato.data.pair import numbers
from sfumato.errors import DataError
from sfumato.inference.columns import Columns
from sfumato.inference.covariates.covariate import level_text
from sfumato.inference.outcome import Family
from sfumato.kernels.likelihood.response import Binary

if TYPE_CHECKING:
    from arviz import InferenceData

    from sfumato.inference.estimators.bayes import Posterior
    from sfumato.inference.hidden import Density

__all__ = ["Fit", "Second"]

_RULES = {
    "model": "from the model",
    "HC3": "HC3 (robust)",
    "Lin-Wei": "Lin-Wei (robust)",
    "CR1": "CR1 (by clusters)",
    "design": "design (with weights)",
}

Floats = NDArray[np.float64]

_STRONG = 3.0
"""An interval that is this many times as wide as without noise gets a sentence of its own."""


@dataclass(frozen=True)
class Second:
    """A second estimate, which assumes less than the first, and a test of whether the two agree.

    Parameters
    ----------
    method
        How it was found.
    terms, estimate, se
        Shape (p,).
    p
        Of the joint difference of the slopes; NaN where it cannot be tested.
    said
        The note on it among those of the fit, where the two disagree.

    Examples
    --------
    >>> Second("corrected", ("x",), np.array([0.4]), np.array([0.1]), 0.003).to_plain()["p"]
    0.003
    """

    method: str
    terms: tuple[str, ...]
    estimate: Floats
    se: Floats
    p: float
    said: str = ""

    def to_plain(self) -> dict[str, object]:
        """Plain values for JSON; null for what there is not."""
        rows = zip(self.terms, map(_or_none, self.estimate), map(_or_none, self.se), strict=True)
        terms = [{"term": term, "estimate": estimate, "se": se} for term, estimate, se in rows]
        return {"method": self.method, "terms": terms, "p": _or_none(self.p)}


def _or_none(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


@dataclass(frozen=True)
class Fit:
    """A model fitted to protected data.

    Parameters
    ----------
    formula, family, method
        What was fitted, and how.
    terms
        Names of the coefficients; thresholds of an ordered model stand last.
    estimate, se
        Shape (p,); NaN for a coefficient that the data do not determine, and for one without a finite maximum.
    covariance
        Of the estimates, shape (p, p).
    naive, naive_se
        What the same model says if the released values are taken for the true ones, shape (p,).
    reliability
        Share of each term's released variation that is true (squared correlation of released and true values), 0 to
        1, shape (p,); 1 for exact terms, NaN for the intercept.
    inflation
        How many times as large the standard errors are as without noise, shape (p,).
    n
        Records used.
    converged
        Whether the estimates could be found.
    log_likelihood
        At the estimates; NaN for methods without one.
    sigma
        Standard deviation of a linear model's errors, without the noise; NaN for other families.
    degrees
        Degrees of freedom of the intervals; infinite for a normal approximation.
    level
        Of the intervals.
    notes
        What a reader should know, each a sentence.
    columns, levels
        Columns of the design and levels of factors, for predictions.
    draws
        Draws of the posterior for method `bayes`, shape (D, p); intervals are then their quantiles.
    checks
        For `bayes`: `effective_draws`, and of draws by importance `pareto_k` of their weights (below .7 is good), of
        Markov chains `r_hat` (at most 1.01 is good) and the number of `divergences` (0 is good).
    posterior
        For `bayes`: what else was drawn; see `to_arviz`.
    variance, variance_se
        Of random effects, with standard errors: `Intercept`, and with a random slope `slope` and `covariance`; empty
        without them.
    slope
        Covariate of the random slope.
    profile
        Where the noise is so strong that estimates ± standard errors would mislead: ends of likelihood-ratio intervals
        at `level`, and p-values of no effect, shape (p, 3); also of terms without a finite maximum, whose interval is
        open on one side. NaN for terms that keep Wald's. An end that does not exist,
        because no value on that side is ruled out, is −∞ or ∞.
    hidden
        By hidden number, what its distribution given the other covariates was taken for, a mixture of normals: how many
        `components`, and their `weights`, `means` (at the exact covariates' means) and `sds`.
    densities
        By hidden number, the density of its true values beside the histogram of what was released.
    shape
        Sentences that say why that distribution was taken; see `hidden_sentences`.
    df
        Degrees of freedom of each term's interval, shape (p,), where synthetic copies were combined.
    rule, copies
        By which rule they were combined, and how many they are; an empty rule and 1 where there are none.
    se_rule
        Where the standard errors come from: `model`, `HC3`, `Lin-Wei`, `CR1` (by clusters) or `design` (with weights);
        None for draws.
    evidence
        By how many standard errors the hidden numbers vary more than noise alone would, and the rarest level of hidden
        categories is more frequent than 0; None where nothing is hidden, or something that `corrected` does not take.
    second
        Estimates that assume less, beside those of a likelihood.

    Examples
    --------
    >>> import sfumato.inference.fit as inference
    >>> table = pl.DataFrame({"x": [0.0, 1.0, 2.0, 3.0], "y": [1.0, 2.9, 5.1, 7.0]})
    >>> inference.fit("y ~ x", table).tidy()["estimate"].round(2).to_list()
    [0.97, 2.02]
    """

    formula: str
    family: Family
    method: str
    terms: tuple[str, ...]
    estimate: Floats
    covariance: Floats
    naive: Floats
    naive_se: Floats
    reliability: Floats
    inflation: Floats
    n: int
    converged: bool
    log_likelihood: float
    sigma: float
    degrees: float
    level: float
    notes: tuple[str, ...]
    columns: Columns = field(repr=False)
    levels: dict[str, tuple[str, ...]] = field(repr=False)
    draws: Floats | None = field(default=None, repr=False)
    checks: dict[str, float] = field(default_factory=dict)
    posterior: Posterior | None = field(default=None, repr=False)
    variance: dict[str, float] = field(default_factory=dict)
    variance_se: dict[str, float] = field(default_factory=dict)
    slope: str | None = None
    profile: Floats | None = field(default=None, repr=False)
    hidden: dict[str, dict[str, Any]] = field(default_factory=dict)
    densities: dict[str, Density] = field(default_factory=dict, repr=False)
    shape: tuple[str, ...] = field(default=(), repr=False)
    df: Floats | None = field(default=None, repr=False)
    rule: str = ""
    copies: int = 1
    se_rule: str | None = "model"
    evidence: float | None = None
    second: Second | None = None

    @property
    def se(self) -> Floats:
        """Standard errors, shape (p,)."""
        return np.sqrt(np.diagonal(self.covariance))

    @property
    def interval(self) -> Floats:
        """Lower and upper ends of the intervals, shape (p, 2); −∞ or ∞ where the data set no bound."""
        tail = (1 + self.level) / 2
        if self.draws is not None:
            return np.asarray(np.quantile(self.draws, [1 - tail, tail], axis=0).T)
        half = self._quantile(tail) * self.se
        wald = np.column_stack([self.estimate - half, self.estimate + half])
        return wald if self.profile is None else np.where(np.isnan(self.profile[:, :2]), wald, self.profile[:, :2])

    def _quantile(self, tail: float) -> Floats:
        """How many standard errors an interval's half is, for each term."""
        df = np.broadcast_to(self.degrees if self.df is None else self.df, self.estimate.shape)
        return np.where(np.isinf(df), ndtri(tail), stdtrit(np.where(np.isinf(df), 1.0, df), tail))

    @property
    def p_values(self) -> Floats:
        """Two-sided p-values of no effect, shape (p,), which agree with the intervals.

        For `bayes`, twice the smaller posterior share beside 0; of likelihood ratios for terms that have `profile`.
        """
        if self.draws is not None:
            above = (self.draws > 0).mean(axis=0)
            return np.asarray(2 * np.minimum(above, 1 - above))
        with np.errstate(divide="ignore", invalid="ignore"):
            size = -np.abs(self.estimate / self.se)
        df = np.broadcast_to(self.degrees if self.df is None else self.df, size.shape)
        wald = np.asarray(2 * np.where(np.isinf(df), ndtr(size), stdtr(np.where(np.isinf(df), 1.0, df), size)))
        return wald if self.profile is None else np.where(np.isnan(self.profile[:, 2]), wald, self.profile[:, 2])

    @property
    def state(self) -> str:
        """Empty where the fit is sound; else `NO ESTIMATE`, or `NOT CONVERGED` where figures stand that mean little."""
        if self.converged:
            return ""
        return "NO ESTIMATE" if np.isnan(self.estimate).all() else "NOT CONVERGED"

    @property
    def verdict(self) -> tuple[str, ...]:
        """The notes that nobody may miss: why there is no estimate, and that two estimates disagree."""
        reason = self.notes[:1] if self.state == "NO ESTIMATE" else ()
        other = "" if self.second is None else f"`{self.method}` and `{self.second.method}` disagree"
        return (*reason, *(note for note in self.notes if other and note.startswith(other)))

    @property
    def warnings(self) -> tuple[str, ...]:
        """The same as `notes`."""
        return self.notes

    def tidy(self) -> pl.DataFrame:
        """One row a term: term, estimate, se, low, high, p, naive, naive_se, reliability; df of copies.

        Where the data set no bound, `low` is −∞ or `high` is ∞; null is what there is not.
        """
        interval = self.interval
        return pl.DataFrame(
            {
                "term": list(self.terms),
                "estimate": self.estimate,
                "se": self.se,
                "low": interval[:, 0],
                "high": interval[:, 1],
                "p": self.p_values,
                "naive": self.naive,
                "naive_se": self.naive_se,
                "reliability": self.reliability,
            }
        ).with_columns(
            pl.exclude("term").fill_nan(None), *([] if self.df is None else [pl.Series("df", self.df).fill_nan(None)])
        )

    def to_plain(self) -> dict[str, object]:
        """Plain values for JSON: terms, n, converged, method, family, formula, notes, se_rule, evidence, second.

        `variance` and `hidden` where there are any.

        Of synthetic copies `rule`, `copies`, and `df` of each term, null where it is infinite. JSON has no infinity:
        `low` or `high` is null where the data set no bound on that side, and a note says so.
        """
        told = self.tidy()
        ends = [end for end in ("low", "high", "df") if end in told.columns]
        terms = told.with_columns(pl.when(pl.col(end).is_finite()).then(end) for end in ends)
        random = {"variance": self.variance, "variance_se": self.variance_se} if self.variance else {}
        return {
            "terms": terms.to_dicts(),
            "n": self.n,
            "converged": self.converged,
            "method": self.method,
            "family": self.family,
            "formula": self.formula,
            "notes": list(self.notes),
            "se_rule": self.se_rule,
            "evidence": self.evidence,
            "second": None if self.second is None else self.second.to_plain(),
            **random,
            **({"rule": self.rule, "copies": self.copies} if self.rule else {}),
            **({"hidden": self.hidden, "shape": list(self.shape)} if self.hidden else {}),
        }

    def to_arviz(self) -> InferenceData:
        """Draws of the posterior as arviz data, for its tables, checks and pictures.

        Group `posterior` has one variable for each term, and `sigma` for a linear model, with dimensions chain and
        draw; group `sample_stats` the log-density `lp`, and for Markov chains `diverging`. Draws by importance are
        exchangeable and stand as four chains for the sake of arviz's checks; attribute `chains_are` says so. No
        observed data are in it.

        Raises
        ------
        DataError
            For a method other than `bayes`, or a term called as arviz's own dimensions are.
        MissingExtra
            Without arviz: `pip install 'sfumato[mcmc]'`.

        Examples
        --------
        >>> import sfumato.inference.fit as inference
        >>> table = pl.DataFrame({"x": [0.0, 1.0, 2.0, 3.0, 4.0], "y": [1.0, 2.9, 5.1, 7.0, 8.8]})
        >>> data = inference.fit("y ~ x", table, method="bayes").to_arviz()
        >>> list(data.posterior.data_vars), dict(data.posterior.sizes)
        (['Intercept', 'x', 'sigma'], {'chain': 4, 'draw': 1000})
        """
        from importlib.metadata import version

        from sfumato.inference.estimators.bayes import inference_data

        if self.posterior is None:
            raise DataError("Only method `bayes` draws from a posterior. Fit with method `bayes`.")
        attributes = {
            "formula": self.formula,
            "family": self.family,
            "method": self.method,
            "inference_library": "sfumato",
            "inference_library_version": version("sfumato"),
        }
        return inference_data(self.posterior, self.terms, attributes)

    @property
    def rule_sentence(self) -> str:
        """Where the standard errors come from, as a line; empty for draws, which have no rule."""
        return "" if self.se_rule is None else f"Standard errors: {_RULES[self.se_rule]}."

    def hidden_sentences(self) -> tuple[str, ...]:
        """What the distribution of hidden numbers was taken for, and why."""
        return self.shape

    def noise_sentences(self) -> tuple[str, ...]:
        """Plain sentences on what the noise cost, for every term whose interval it widens notably."""
        told = []
        interval = self.interval
        for j, term in enumerate(self.terms):
            ratio = self.inflation[j]
            if not np.isfinite(ratio) or ratio < 1.2 or np.isinf(interval[j]).any():  # a note tells of the latter
                continue
            times = f"{ratio:.1f} times" if ratio < 100 else "more than 100 times"
            text = f"{term}: the interval is {times} as wide as without noise"
            if ratio >= _STRONG and interval[j, 0] < 0 < interval[j, 1]:
                text += "; the noise is too strong to say whether there is an effect"
            told.append(text + ".")
        return tuple(told)

    def summary(self) -> str:
        """The fit as text."""
        head = self._head()
        width = max(len(t) for t in (*self.terms, "term"))
        titles = ("estimate", "se", "low", "high", "p", "naive", "naive se", "reliability")
        lines = [head, "", f"{'term':<{width}}  " + "  ".join(f"{t:>10}" for t in titles)]
        for term, *numbers_ in self.tidy().iter_rows():
            cells = ("" if v is None else f"{v:.4g}" for v in numbers_)
            padded = (f"{c:>{max(10, len(t))}}" for c, t in zip(cells, titles, strict=True))
            lines.append(f"{term:<{width}}  " + "  ".join(padded))
        if self.variance:
            told = (f"{name} {value:.4g} (se {self.variance_se[name]:.3g})" for name, value in self.variance.items())
            lines += ["", "Variance between groups: " + ", ".join(told)]
        rule = [self.rule_sentence] if self.rule_sentence else []
        sentences = [*rule, *self.noise_sentences(), *self.hidden_sentences(), *self.notes]
        return "\n".join([*lines, *(["", *sentences] if sentences else [])])

    def _head(self) -> str:
        state = f"; {self.state}" if self.state else ""
        return f"{self.formula}: {self.family} model, method {self.method}, n = {self.n}{state}"

    def _repr_html_(self) -> str:
        """The table, and what the noise cost, for notebooks."""
        from html import escape

        rule = [self.rule_sentence] if self.rule_sentence else []
        sentences = [*rule, *self.noise_sentences(), *self.hidden_sentences(), *self.notes]
        told = "".join(f"<li>{escape(sentence)}</li>" for sentence in sentences)
        return f"<p><b>{escape(self._head())}</b></p>{self.tidy()._repr_html_()}<ul>{told}</ul>"

    def predict(self, frame: Any) -> Floats:
        """Predict the mean response (a probability, a mean, or an expected count) at true values of the covariates.

        Where effects are random, the mean is over the groups too. Hazards have no prediction.

        Parameters
        ----------
        frame
            A Polars or pandas frame, or a dict of lists, with a column for each covariate, of true values: noisy ones
            would give attenuated predictions.

        Returns
        -------
        ndarray, shape (n,), or (n, C) with a probability for each category of an ordered response
            NaN where a covariate is missing, and where a coefficient plays a part that has no estimate.

        Raises
        ------
        DataError
            For a missing column, a level that the model does not know, something that is no table, and family `cox`.
        """
        if self.family == "cox":
            raise DataError("Family `cox` has no predictions: a hazard ratio is the exponential of a coefficient.")
        frame = _table(frame)
        values = {name: self._values(frame, name) for name in self._names()}
        bad = np.zeros(frame.height, dtype=bool)
        for v in values.values():
            bad |= np.isnan(v)
        X = self.columns.product(values, frame.height)
        p = X.shape[1]
        gone = np.isnan(self.estimate[:p])
        bad |= (X[:, gone] != 0).any(axis=1)
        eta = np.where(bad, np.nan, X @ np.where(gone, 0.0, self.estimate[:p]))
        if self.family == "ordered":
            ends = np.concatenate([[-np.inf], self.estimate[p:], [np.inf]])
            return np.asarray(np.diff(ndtr(ends - eta[:, None]), axis=1))
        if self.family == "linear":
            return eta
        if self.variance:
            return self._over_groups(frame, eta)
        return np.asarray({"probit": ndtr, "logit": expit, "poisson": np.exp}[self.family](eta))

    def _over_groups(self, frame: pl.DataFrame, eta: Floats) -> Floats:
        """Probabilities averaged over the groups."""
        s = self._values(frame, self.slope) if self.slope else np.zeros(len(eta))
        v = self.variance
        spread = v["Intercept"] + 2 * v.get("covariance", 0.0) * s + v.get("slope", 0.0) * s**2
        with np.errstate(divide="ignore"):
            one = Binary(np.log(np.tile([0.0, 1.0], (len(eta), 1))), self.family == "logit")
        return np.asarray(np.exp(one.slope(eta[:, None], spread[:, None], np.zeros(0)).log_f[:, 0]))

    def _names(self) -> list[str]:
        return list(dict.fromkeys(name for parts in self.columns.parts for name, _ in parts))

    def _values(self, frame: pl.DataFrame, name: str) -> Floats:
        if name not in frame.columns:
            raise DataError(f"The prediction needs column {name!r}, which the table does not have.")
        if name not in self.levels:
            return np.asarray(numbers(frame, [name], Codebook())[:, 0])
        place = {level: float(i) for i, level in enumerate(self.levels[name])}
        texts = [None if v is None else level_text(v) for v in frame[name].to_list()]
        if any(t is not None and t not in place for t in texts):
            raise DataError(f"Column {name!r} has a category that the model does not know.")
        return np.array([np.nan if t is None else place[t] for t in texts])


def _table(frame: Any) -> pl.DataFrame:
    """A table, from what Polars takes for one."""
    if isinstance(frame, pl.DataFrame):
        return frame
    try:
        return pl.DataFrame(frame)
    except Exception:  # whatever it is, its words may quote cells
        raise DataError(
            "Predictions need a table: a Polars or pandas frame, or a dict of lists of one length."
        ) from None
