"""The Python door: what `import sfumato as sf` offers, with the report's renderer wired in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any, Literal

import numpy as np
import polars as pl

from sfumato.data.codebook import Codebook
from sfumato.data.disclosure import Disclosed, Disclosure
from sfumato.data.files import read_table
from sfumato.data.finding import Findings
from sfumato.engines.polars import PolarsDataset
from sfumato.errors import FileError
from sfumato.inference.fit import Method as FitMethod
from sfumato.inference.fit import fit as estimate
from sfumato.inference.outcome import Family as ModelFamily
from sfumato.inference.result import Fit
from sfumato.kernels.glm import Family
from sfumato.measures.risk.attackers import Attack
from sfumato.measures.risk.attacking import DEFAULT, Attacking, Metric
from sfumato.measures.risk.h_rank import HRank
from sfumato.release import assess
from sfumato.release import tune as tuning
from sfumato.release.analysis import Opened, open_releases
from sfumato.release.card import Card, read_card
from sfumato.release.conditions import Condition, parse_condition, parse_figure
from sfumato.release.limits import Limit
from sfumato.release.measure import Measuring
from sfumato.release.pairing import Align
from sfumato.release.papers import papers_beside
from sfumato.release.plan import Plan
from sfumato.release.protect import Release
from sfumato.release.protect import protect as run_plan
from sfumato.release.renaming import as_planned, record_of_both
from sfumato.release.run import Progress
from sfumato.release.secret import Secret
from sfumato.render.html import render

__all__ = ["card", "compare", "fit", "h_rank", "protect", "read", "risk", "tune"]


def _quiet(what: str) -> None:
    """Report no progress."""


def read(
    source: Any,
    *,
    codebook: Codebook | None = None,
    delimiter: str | None = None,
    encoding: str | None = None,
    decimal: str | None = None,
) -> PolarsDataset:
    """Read a table with what its file knows about the variables.

    Parameters
    ----------
    source
        Path of a CSV, Parquet, XLSX, SPSS .sav, Stata .dta, or SAS .sas7bdat or .xpt file; or any pandas, Polars,
        PyArrow or DuckDB frame.
    codebook
        What is known about the variables, in place of what the file says.
    delimiter, encoding, decimal
        Of a CSV file; found out if not given, and said in `notes`.

    Raises
    ------
    FileError, DataError
        Where it cannot be read.

    Examples
    --------
    >>> import polars as pl
    >>> read(pl.DataFrame({"age": [41, 35]})).columns
    ['age']
    """
    if isinstance(source, PolarsDataset):
        return source
    table = read_table(source, delimiter=delimiter, encoding=encoding, decimal=decimal)
    known = Codebook({**table.codebook, **(codebook or {})})
    return PolarsDataset(table.frame, known, table.suffix, table.notes)


def protect(
    plan: Plan | str | PathLike[str],
    data: Any,
    *,
    secret: bytes | Secret | None = None,
    model: str | None = None,
    family: Family | None = None,
    w1: float = 0.01,
    w2: float = 0.05,
    progress: Progress = _quiet,
) -> Release:
    """Protect a table as a plan says, and measure risk and utility.

    Parameters
    ----------
    plan
        A `Plan`, or the path of one.
    data
        What `read` gives or takes.
    secret
        At least 16 bytes that draws are keyed with. Without it `SFUMATO_SECRET` is taken; without that, one from the
        operating system, and the report says that the release cannot be made again.
    model, family
        The intended analysis, for instance `"asthma ~ bmi + C(sex)"` and `"logistic"`. By default the first outcome is
        explained by all other variables.
    w1, w2
        Widths of the robust Mahalanobis risk.
    progress
        Called with what is being done.

    Returns
    -------
    Release
        With `.data`, `.report`, `.disclosure` and `.write(folder)`.

    Raises
    ------
    PlanError
        With everything that is wrong with the plan for these data.

    Examples
    --------
    >>> import polars as pl
    >>> from sfumato import steps
    >>> rows = pl.DataFrame({"id": range(40), "age": [20 + i % 31 for i in range(40)]})
    >>> plan = Plan(variables={"id": {"role": "record"}, "age": {"kind": "integer"}},
    ...             steps=[steps.Centroids(columns=["age"], k=5)])
    >>> protect(plan, rows, secret=bytes(16)).data.columns
    ['id', 'age']
    """
    plan = plan if isinstance(plan, Plan) else Plan.load(plan)
    if not isinstance(secret, Secret):
        secret = Secret.find() if secret is None else Secret(secret)
    how = Measuring(w1=w1, w2=w2, model=model, family=family)
    return run_plan(plan, read(data), secret, how=how, renderer=render, progress=progress)


def risk(
    data: Any,
    protected: Any = None,
    *,
    columns: Sequence[str] | None = None,
    by: Sequence[str] | None = None,
    record: str | None = None,
    align: Align | None = None,
    plan: Plan | str | PathLike[str] | None = None,
    disclosure: Disclosure | None = None,
    attack: Sequence[str] | str | None = None,
    cap: int = 100,
    metric: Metric = "scaled",
    sample: int | None = None,
    fraction: float | None = None,
    file_order: bool = False,
    w1: float = 0.01,
    w2: float = 0.05,
    progress: Progress = _quiet,
) -> Findings:
    """Measure the risk of a table, or of a protected table against its original.

    Given two tables and no `record`, row i of one goes with row i of the other only if `align="row-order"` says so;
    unequal heights are then refused.

    Parameters
    ----------
    data, protected
        What `read` gives or takes.
    columns
        Numeric columns that an intruder knows.
    by
        Categorical columns that an intruder knows.
    record
        Column with the record's id; of a path into a release folder the one that its papers name.
    align
        `"row-order"`, or None.
    plan
        A plan with roles, kinds, preparing steps and limits.
    disclosure
        What the release tells of `protected`: attackers know it. Of a path into a release folder it is read there.
    attack
        Attackers whose h-rank is measured: `nearest`, `predicted`, `averaging:M`, `predicted:M`, `imprecise:S`,
        `household`. By default the first two, where the disclosure tells of noise, and the last where households share
        draws; `attack="worst"` in limits is their maximum.
    cap
        Count h up to this, at least 10.
    metric
        How attackers measure nearness: `scaled` by the original's standard deviations, `euclidean`, `mahalanobis`.
    sample
        Attack a fixed random sample of so many records.
    fraction
        Chance that a target is in the file at all; by default as the disclosure says.
    file_order
        Add the first 10, 50 and 90% of the file in its own order, to compare with published tables.
    w1, w2
        Widths of the robust Mahalanobis risk.

    Examples
    --------
    >>> import polars as pl
    >>> risk(pl.DataFrame({"sex": ["f", "f", "m", "m"]}), by=["sex"]).of("k_anonymity").value
    2.0
    """
    first, second = read(data), None if protected is None else read(protected)
    if disclosure is None and isinstance(protected, str | PathLike):
        papers = papers_beside(Path(protected))
        if papers is not None and second is not None:
            second, disclosure = as_planned(second, papers)
            if record is None and align is None and plan is None:
                record = record_of_both(papers, first, second)
    attacks = (attack,) if isinstance(attack, str) else tuple(attack or ())
    asked = attacks or fraction is not None or sample is not None or file_order
    attacking = Attacking(attacks or DEFAULT, cap, sample, metric, fraction, file_order) if asked else None
    return assess.risk(
        first,
        second,
        columns=columns,
        by=by,
        record=record,
        align=align,
        plan=_plan(plan),
        disclosure=disclosure,
        how=Measuring(w1=w1, w2=w2, attacking=attacking),
        progress=progress,
    )


def card(release: str | PathLike[str]) -> Card:
    """Read the noise card of a release: what was done to each variable, and what it does to an analysis.

    Parameters
    ----------
    release
        The folder that `protect` wrote.

    Returns
    -------
    Card
        With `.entries`, `.papers` (title, codebook, disclosure) and `.tidy()`.

    Raises
    ------
    FileError, DataError
        Where it is no release, or its data were changed.

    Examples
    --------
    >>> import tempfile, polars as pl
    >>> from sfumato import steps
    >>> rows = pl.DataFrame({"id": range(30), "age": [20.0 + i for i in range(30)]})
    >>> plan = Plan(variables={"id": {"role": "record"}}, steps=[steps.Noise(columns=["age"], sd=2)])
    >>> with tempfile.TemporaryDirectory() as place:
    ...     _ = protect(plan, rows, secret=bytes(16)).write(f"{place}/release")
    ...     [(entry.variable, entry.noise_sd) for entry in card(f"{place}/release").entries]
    [('age', 2.0)]
    """
    return read_card(Path(release))


def fit(
    formula: str,
    data: Any,
    disclosure: Disclosure | Disclosed | Sequence[Disclosed] | None = None,
    family: ModelFamily = "linear",
    method: FitMethod = "ml",
    *,
    weight: str | None = None,
    cluster: str | None = None,
    group: str | None = None,
    slope: str | None = None,
    level: float = 0.95,
    priors: Mapping[str, tuple[float, float]] | None = None,
    draws: int = 4000,
    seed: int = 0,
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
        `linear`, `probit`, `logit`, `poisson` or `ordered` (ordered probit).
    method
        `ml`: maximum likelihood. `bayes`: the same with priors. `calibration`, `moments`, `simex`: quick checks, each
        with its limits. `naive`: released values taken for true ones.
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
        For `bayes` and `simex`.

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
    opened = _opened(data, disclosure)
    return estimate(
        formula,
        opened.frame,
        opened.disclosure,
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
    )


def _opened(data: Any, disclosure: Disclosure | Disclosed | Sequence[Disclosed] | None) -> Opened:
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
        table = read(data)
        return Opened(table.frame, table.codebook, told)
    opened = open_releases(paths)
    return opened if disclosure is None else replace(opened, disclosure=told, complete=False)


def h_rank(
    true: Any,
    noisy: Any = None,
    *,
    columns: Sequence[str] | None = None,
    by: Sequence[str] | None = None,
    record: str | None = None,
    metric: Metric = "euclidean",
    cap: int | None = None,
    ties: Literal["expected", "keyed"] = "expected",
    attack: str = "nearest",
    disclosure: Disclosure | None = None,
    replications: int = 1,
    sample: int | None = None,
    fraction: float = 1.0,
    threads: int | None = None,
) -> HRank:
    """Measure how well each record is hidden from an attacker who knows its true values.

    Without `record`, row i of one table goes with row i of the other; unequal heights are refused. Nothing is divided
    by standard deviations unless `metric="scaled"`.

    Parameters
    ----------
    true, noisy
        What `read` gives or takes, or arrays of shape (n, p). Without `noisy`, releases are simulated as `disclosure`
        says, `replications` times.
    columns
        Numeric columns that the attacker knows; by default all that both tables have.
    by
        Categorical columns that the attacker knows.
    record
        Column with the record's id, on which the tables are joined.
    metric
        `euclidean`, `scaled` or `mahalanobis`.
    cap
        Count h up to this only; larger values are given as cap + 1.
    ties
        `expected`: the expectation over random choices among ties; `keyed`: one fixed choice.
    attack
        `nearest`, `predicted`, `averaging:M`, `predicted:M` or `imprecise:S`.
    disclosure
        How the noise was made.
    replications
        Number of releases that are simulated.
    sample
        Attack a fixed random sample of so many records.
    fraction
        Chance that a target is in the file at all.
    threads
        By default as many as there are cores.

    Returns
    -------
    HRank
        With `.h`, shape (n,), `.probability(t)` for P(h ≤ t) and `.tidy()`.

    Raises
    ------
    DataError
        For tables that do not fit together, and columns that are no numbers.

    References
    ----------
    Goldstein and Shlomo (2020), doi:10.2478/jos-2020-0005.

    Examples
    --------
    >>> import polars as pl
    >>> true = pl.DataFrame({"a": [0.0, 1.0, 3.0]})
    >>> noisy = pl.DataFrame({"a": [0.9, 1.2, 2.5]})
    >>> h_rank(true, noisy).h.tolist()
    [0.0, 1.0, 0.0]
    """
    return assess.h_rank(
        _table(true),
        None if noisy is None else _table(noisy),
        columns=columns,
        by=by,
        record=record,
        disclosure=disclosure,
        metric=metric,
        cap=cap,
        ties=ties,
        attack=Attack.parse(attack),
        replications=replications,
        sample=sample,
        fraction=fraction,
        threads=threads,
    )


def _table(source: Any) -> PolarsDataset:
    """A table, from an array too."""
    if isinstance(source, np.ndarray):
        array = source.astype(float).reshape(len(source), -1)
        source = pl.DataFrame({f"x{j + 1}": array[:, j] for j in range(array.shape[1])})
    return read(source)


def compare(
    before: Any,
    after: Any,
    *,
    columns: Sequence[str] | None = None,
    by: Sequence[str] | None = None,
    record: str | None = None,
    align: Align | None = None,
    plan: Plan | str | PathLike[str] | None = None,
    model: str | None = None,
    family: Family | None = None,
    progress: Progress = _quiet,
) -> Findings:
    """Measure what a protected table still says.

    Without `record` and `align` whole tables are compared, and `notes` say what could not be measured. Parameters as in
    `risk` and `protect`.

    Examples
    --------
    >>> import polars as pl
    >>> table = pl.DataFrame({"x": [1.0, 2.0, 3.0, 5.0]})
    >>> compare(table, table).of("u_main").value
    0.0
    """
    return assess.compare(
        read(before),
        read(after),
        columns=columns,
        by=by,
        record=record,
        align=align,
        plan=_plan(plan),
        how=Measuring(model=model, family=family),
        progress=progress,
    )


def tune(
    plan: Plan | str | PathLike[str],
    data: Any,
    *,
    parameter: str,
    range: tuple[float, float],
    limit: str | Limit | Sequence[str | Limit] | None = None,
    utility: str | Sequence[str] = (),
    replications: int | None = None,
    tolerance: float = 0.01,
    grid: int = 0,
    model: str | None = None,
    family: Family | None = None,
    w1: float = 0.01,
    w2: float = 0.05,
    progress: Progress = _quiet,
) -> tuning.Tuned:
    """Find the least noise, the smallest k, or the least of any other number of a plan, that meets limits.

    No secret is needed: figures are means over replications with public secrets, and the far end of each mean's 95%
    interval must meet its limit. It is assumed that figures rise or fall steadily with the parameter. The release that
    is made later has its own draw, which `protect` judges.

    Parameters
    ----------
    plan
        A `Plan`, or the path of one.
    data
        What `read` gives or takes.
    parameter
        `steps.<number from 0>.<parameter>`, with `.<column>` where the plan gives it by column.
    range
        Lowest and highest value.
    limit
        One limit or several, as text (`"h_rank[h<3] < 0.1"`, `"linkage_nearest[group=stratum] <= 0.2"`) or as the
        plan has them; by default the plan's own.
    utility
        Figures to report beside the risk, for instance `"delta[variable=bmi]"`; by default how far the coefficients of
        the intended analysis moved, or else `u_main`.
    replications
        Most runs at each value; by default 10, and 5 above 100,000 records.
    tolerance
        Share of the value to which it is found.
    grid
        How many values, evenly spread, are tried besides.
    model, family, w1, w2
        As in `protect`.
    progress
        Called with what is being done.

    Returns
    -------
    Tuned
        With `.value`, `.met`, `.path`, `.plan` and `.tidy()`.

    Raises
    ------
    PlanError, FormulaError
        Where the plan, the parameter, the range or a limit is wrong.
    DataError
        Where the data are not fit for a step at some value.

    Examples
    --------
    >>> import polars as pl
    >>> from sfumato import steps
    >>> rows = pl.DataFrame({"id": range(60), "age": [20 + 7 * i % 53 for i in range(60)]})
    >>> plan = Plan(variables={"id": {"role": "record"}, "age": {"role": "key", "kind": "integer"}},
    ...             steps=[steps.Centroids(columns=["age"], k=3, grouping="mdav")])
    >>> found = tune(plan, rows, parameter="steps.0.k", range=(3, 12), limit="linkage_nearest[group=overall] < 0.15")
    >>> found.met, found.plan.steps[0].k == found.value
    (True, True)
    """
    limits = [limit] if isinstance(limit, str | Limit) else limit or ()
    return tuning.tune(
        plan if isinstance(plan, Plan) else Plan.load(plan),
        read(data),
        parameter=parameter,
        between=range,
        limits=[Condition(each) if isinstance(each, Limit) else parse_condition(each) for each in limits],
        utility=[parse_figure(each) for each in ([utility] if isinstance(utility, str) else utility)],
        how=Measuring(w1=w1, w2=w2, model=model, family=family),
        replications=replications,
        tolerance=tolerance,
        grid=grid,
        progress=progress,
    )


def _plan(plan: Plan | str | PathLike[str] | None) -> Plan | None:
    return plan if plan is None or isinstance(plan, Plan) else Plan.load(plan)
