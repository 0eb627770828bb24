"""The Python door: what `import sfumato as sf` offers, with the report's renderer wired in."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import Any

from sfumato.data.codebook import Codebook
from sfumato.data.files import read_table
from sfumato.data.finding import Findings
from sfumato.engines.polars import PolarsDataset
from sfumato.kernels.glm import Family
from sfumato.release import assess
from sfumato.release.measure import Measuring
from sfumato.release.pairing import Align
from sfumato.release.plan import Plan
from sfumato.release.protect import Release
from sfumato.release.protect import protect as run_plan
from sfumato.release.run import Progress
from sfumato.release.secret import Secret
from sfumato.render.html import render

__all__ = ["compare", "protect", "read", "risk"]


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
        Column with the record's id.
    align
        `"row-order"`, or None.
    plan
        A plan with roles, kinds, preparing steps and limits.
    w1, w2
        Widths of the robust Mahalanobis risk.

    Examples
    --------
    >>> import polars as pl
    >>> risk(pl.DataFrame({"sex": ["f", "f", "m", "m"]}), by=["sex"]).of("k_anonymity").value
    2.0
    """
    second = None if protected is None else read(protected)
    return assess.risk(
        read(data),
        second,
        columns=columns,
        by=by,
        record=record,
        align=align,
        plan=_plan(plan),
        how=Measuring(w1=w1, w2=w2),
        progress=progress,
    )


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


def _plan(plan: Plan | str | PathLike[str] | None) -> Plan | None:
    return plan if plan is None or isinstance(plan, Plan) else Plan.load(plan)
