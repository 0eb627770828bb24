"""Protect a table as a plan says, with the report's renderer wired in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from os import PathLike
from typing import TYPE_CHECKING, Any, TypedDict, Unpack, overload

from sfumato.api.earlier import of_plan, published
from sfumato.api.read import read_or_open, read_whole
from sfumato.errors import DataError
from sfumato.kernels.glm import Family
from sfumato.measures.measuring import Measuring
from sfumato.plan.binding import loaded
from sfumato.plan.plan import Plan
from sfumato.progress import Progress, quiet
from sfumato.release.protect import protect as run_plan
from sfumato.release.release import Release
from sfumato.release.secret import Secret
from sfumato.render.html import render

if TYPE_CHECKING:
    from sfumato.release.several.release import TablesRelease

__all__ = ["protect"]


_SEVERAL = (
    "A plan of several tables",
    "read each with engine='memory', or protect each with a plan of its own, with pseudonymise under one secret where "
    "they must join",
)


Earlier = str | PathLike[str] | Sequence[str | PathLike[str]] | None


class _Options(TypedDict, total=False):
    secret: bytes | Secret | None
    earlier: Earlier
    leaver: bool | None
    model: str | None
    family: Family | None
    w1: float
    w2: float
    progress: Progress


@overload
def protect(
    plan: Plan | str | PathLike[str], data: Mapping[str, Any], **options: Unpack[_Options]
) -> TablesRelease: ...
@overload
def protect(plan: Plan | str | PathLike[str], data: Any, **options: Unpack[_Options]) -> Release: ...
def protect(
    plan: Plan | str | PathLike[str],
    data: Any,
    *,
    secret: bytes | Secret | None = None,
    earlier: Earlier = None,
    leaver: bool | None = None,
    model: str | None = None,
    family: Family | None = None,
    w1: float = 0.01,
    w2: float = 0.05,
    progress: Progress = quiet,
) -> Release | TablesRelease:
    """Protect a table, or several, as a plan says, and measure risk and utility.

    Parameters
    ----------
    plan
        A `Plan`, or the path of one. Earlier releases that it names are read from where it says, seen from the
        directory that the program runs in.
    data
        What `read` gives or takes; for a plan with `tables` that of each table, by name.
    secret
        At least 16 bytes that draws are keyed with. Without it `SFUMATO_SECRET` is taken; without that, one from the
        operating system, and the report says that the release cannot be made again.
    earlier
        Earlier releases of the same people, newest first: a release folder or its data file, or several. What their
        steps disclosed is taken over where the plan has the same step, so that values that did not change keep their
        draws, and the documentation says so; it needs the same secret. They come before those that the plan names.
    leaver
        Whether the steps are run twice more, without one person, so that it is told how many others would be drawn anew
        in the next release (`redrawn`) and how nearly it would tell who left (`leaver`). None: where that is little
        work, which hangs on records, columns and steps alone.
    model, family
        The user's model, for instance `"asthma ~ bmi + C(sex)"` and `"logistic"`. By default the first outcome is
        explained by all other variables.
    w1, w2
        Widths of the robust Mahalanobis risk.
    progress
        Called with what is being done, in words without any value of the data, and the share of the work that is done
        before it, from 0 to 1: `lambda what, share: print(f"{share:.0%} {what}")`.

    Returns
    -------
    Release or TablesRelease
        With `.data`, `.report`, `.disclosure` and `.write(folder)`; of several tables with `.tables`, which holds the
        release of each, `.links`, `.report` and `.write(folder)`. All have `.ok`. Of data that stay where they are (a
        folder of Parquet parts, a PostgreSQL address, a Spark frame) the rows are made when `.write(folder)` writes
        them, in parts.

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
    plan = loaded(plan, data)
    if not isinstance(secret, Secret):
        secret = Secret.find() if secret is None else Secret(secret)
    how = Measuring(w1=w1, w2=w2, model=model, family=family)
    if isinstance(data, Mapping) or plan.tables:
        if not isinstance(data, Mapping):
            raise DataError(f"The plan is of several tables: give the data of each by name: {', '.join(plan.tables)}.")
        from sfumato.release.several.protect import protect_tables

        tables = {name: read_whole(table, *_SEVERAL) for name, table in data.items()}
        told = {name: published(plan.table(name), earlier, name) for name in plan.tables} if earlier else {}
        return protect_tables(
            plan, tables, secret, how=how, renderer=render, published=told, leaver=leaver, progress=progress
        )
    past, told_before = partial(of_plan, plan), published(plan, earlier)
    table = read_or_open(data)
    return run_plan(
        plan,
        table,
        secret,
        how=how,
        renderer=render,
        earlier=past,
        published=told_before,
        leaver=leaver,
        progress=progress,
    )
