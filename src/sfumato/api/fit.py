"""Fit a regression to protected data."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any

import polars as pl

from sfumato.api.read import read_whole
from sfumato.data.disclosure import Disclosed, Disclosure
from sfumato.data.formula import parse_formula
from sfumato.errors import FileError
from sfumato.inference.copies import Combine, fit_copies
from sfumato.inference.covariates.moments import Hidden
from sfumato.inference.estimators.sandwich import StandardErrors
from sfumato.inference.fit import Method as FitMethod
from sfumato.inference.fit import fit as estimate
from sfumato.inference.outcome import Family as ModelFamily
from sfumato.inference.result import Fit
from sfumato.progress import Progress, quiet, split
from sfumato.release.package.analysis import Opened, open_releases

__all__ = ["fit"]


def fit(
    formula: str,
    data: Any,
    disclosure: Disclosure | Disclosed | Sequence[Disclosed] | None = None,
    family: ModelFamily = "linear",
    method: FitMethod = "auto",
    *,
    weight: str | None = None,
    cluster: str | None = None,
    group: str | None = None,
    slope: str | None = None,
    level: float = 0.95,
    priors: Mapping[str, tuple[float, float]] | None = None,
    draws: int = 4000,
    seed: int = 0,
    hidden: Hidden = "auto",
    reduce_bias: bool = True,
    se: StandardErrors = "auto",
    table: str | None = None,
    combine: Combine = "auto",
    progress: Progress = quiet,
) -> Fit:
    """Fit a regression to protected data, with the disclosed noise taken out, beside what a naive analysis says.

    Parameters
    ----------
    formula
        `"asthma ~ smoke + age:C(region)"`, in sfumato's own small grammar.
    data
        The path of a release folder, or several such paths, which are joined on the record id: the disclosure is then
        read there. Or what `read` gives or takes.
    disclosure
        How the noise was made, or the parts of that; without one every value is taken for the true one.
    family
        `linear` (or `gaussian`), `probit`, `logit` (or `binomial`), `poisson`, `ordered` (ordered probit) or `cox`
        (proportional hazards), whose formula is `"Surv(time, event) ~ age"`.
    method
        `auto`: what suits the family and the noise. `ml`: maximum likelihood. `bayes`: the same with priors. `naive`:
        released values taken for true ones.
    weight, cluster
        Column of sampling weights, and column of clusters within which records depend on each other.
    group, slope
        Column whose categories share a random intercept, and an exact covariate whose slope differs between them; for
        `linear`, `probit` and `logit` with methods `ml` and `naive`.
    level
        Of the intervals.
    priors
        For `bayes`: mean and standard deviation of a normal prior by term.
    draws, seed
        For `bayes`: how many draws, and what they start from.
    hidden
        What the distribution of hidden numbers given the other covariates is taken for: `auto`, a mixture of up to five
        normals, as many as the released values speak for; `normal`; or a number of normals. See `Fit.hidden`.
    reduce_bias
        Whether `ml` takes off what noise on numbers adds to the bias of the likelihood's maximum.
    se
        `auto`: the model's standard errors for a likelihood, CR1 with clusters, those of a design with weights.
        `robust`: HC3 where there are neither. `Fit.se_rule` says which.
    table
        Of a release of several tables, which one.
    combine
        By which rule the fits of synthetic copies are combined: `simple`, `rrr`, `partial`, `rubin`, or the one that
        suits what the release discloses. See `sfumato.combine`.
    progress
        Called with what is being done and the share of the work that is done.

    Returns
    -------
    Fit
        With `.tidy()`, `.summary()`, `.predict(table)` and `.notes`.

    Raises
    ------
    FormulaError, DataError
        Where the model cannot be fitted to these data, or a folder is no release or not as its papers describe it.

    References
    ----------
    Carroll, Ruppert, Stefanski and Crainiceanu (2006), doi:10.1201/9781420010138.

    Examples
    --------
    >>> import polars as pl
    >>> from sfumato import Additive
    >>> table = pl.DataFrame({"x": [float(i % 10) for i in range(200)]})
    >>> table = table.with_columns(y=2 * pl.col("x") + pl.Series([i * 7 % 11 - 5.0 for i in range(200)]))
    >>> [round(b, 1) for b in fit("y ~ x", table, Disclosure([Additive(("x",), [[1.0]])])).tidy()["estimate"]]
    [-1.4, 2.3]
    """
    columns = {
        *parse_formula(formula, fitting=True).columns,
        *(n for n in (weight, cluster, group, slope) if n is not None),
    }
    columns |= {
        n for part in Disclosure.of_any(disclosure) for n in (*getattr(part, "by", ()), *getattr(part, "where", ()))
    }
    opened = _opened(data, disclosure, table, columns)
    told = opened.disclosure.synthetic
    parts = iter(split(progress, [1.0] * (told.copies if told else 1)))

    def one(frame: pl.DataFrame, known: Disclosure) -> Fit:
        return estimate(
            formula,
            frame,
            known,
            family,
            method,
            codebook=opened.codebook,
            weight=weight,
            cluster=cluster,
            group=group,
            slope=slope,
            level=level,
            priors=priors,
            draws=draws,
            seed=seed,
            complete=opened.complete,
            hidden=hidden,
            reduce_bias=reduce_bias,
            se=se,
            progress=next(parts),
        )

    return fit_copies(one, opened.frame, opened.disclosure, combine)


def _opened(
    data: Any,
    disclosure: Disclosure | Disclosed | Sequence[Disclosed] | None,
    name: str | None,
    columns: Collection[str],
) -> Opened:
    """Data with their disclosure, from release folders or from a table."""
    several = isinstance(data, list | tuple)
    given = data if several else [data]
    paths = [Path(path) for path in given] if all(isinstance(path, str | PathLike) for path in given) else []
    for path in paths:
        if not path.exists() or (several and not path.is_dir()):
            what = "is no release folder" if path.exists() else "does not exist"
            raise FileError(f"{str(path)!r} {what}. Give the folder that `sfumato protect` wrote.")
    told = Disclosure.of_any(disclosure)
    if not paths or not paths[0].is_dir():
        table = read_whole(
            data, "Fitting a model", "give the folder of a release, of which only the columns of the formula are read"
        )
        return Opened(table.frame, table.codebook, told)
    opened = open_releases(paths, name, columns)
    return opened if disclosure is None else replace(opened, disclosure=told, complete=False)
