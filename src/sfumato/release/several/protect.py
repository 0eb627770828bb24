"""From a plan of several tables and their data to releases: run and measure each, then look for what links them."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from importlib.metadata import version

from sfumato.engines.polars import PolarsDataset
from sfumato.errors import DataError, PlanError, Problem
from sfumato.measures.measuring import Measuring
from sfumato.plan.binding import entered
from sfumato.plan.plan import Plan
from sfumato.progress import Progress, quiet, split, within
from sfumato.release.protect import protect
from sfumato.release.secret import Secret
from sfumato.release.several.joined import joined_refusals
from sfumato.release.several.links import (
    in_file_order,
    link_problems,
    link_sentences,
    released_problems,
    search,
    undeclared,
    warnings,
)
from sfumato.release.several.release import TablesRelease
from sfumato.release.taking import Published
from sfumato.report.report import Renderer, TablesReport

__all__ = ["protect_tables"]

_LOOKING = 0.1
"""How long looking for links takes, as a share of what the tables take."""


def protect_tables(
    plan: Plan,
    data: Mapping[str, PolarsDataset],
    secret: Secret,
    *,
    how: Measuring | None = None,
    renderer: Renderer | None = None,
    published: Mapping[str, Sequence[Published]] | None = None,
    leaver: bool | None = None,
    progress: Progress = quiet,
) -> TablesRelease:
    """Run a plan of several tables, measure what came of each, and look for links between them.

    Parameters
    ----------
    plan
        A plan with `tables`.
    data
        Each table of the plan, by name; they are left as they were.
    secret, how, renderer, leaver, progress
        As in `sfumato.release.protect.protect`.
    published
        Of each table what earlier releases say of it, newest first.

    Raises
    ------
    PlanError
        Where the plan cannot run on these columns; every problem of every table at once.
    DataError
        Where data are not fit for a step.
    """
    _refuse_others(plan, data)
    _refuse_problems(plan, data)
    tables, searching = split(progress, [1 - _LOOKING, _LOOKING])
    releases = {}
    for name, part in zip(plan.tables, split(tables, [max(data[n].frame.height, 1) for n in plan.tables]), strict=True):
        one = within(part, name)
        try:
            told = (published or {}).get(name, ())
            releases[name] = protect(
                plan.table(name),
                data[name],
                secret,
                how=how,
                renderer=renderer,
                published=told,
                leaver=leaver,
                progress=one,
            )
        except DataError as error:
            error.args = (f"Table {name}: {error}",)
            raise
    released = {name: release.table for name, release in releases.items()}
    if missing := list(released_problems(plan, released)):
        raise PlanError(missing)
    found = search(plan, released, searching)
    report = TablesReport(
        title=plan.title,
        created=datetime.date.today(),
        version=version("sfumato"),
        tables={name: release.report for name, release in releases.items()},
        links=link_sentences(plan, tuple(releases)),
        plan_yaml=plan.to_yaml(),
        fingerprint=secret.fingerprint,
        repeatable=secret.repeatable,
        refusals=(*dict.fromkeys(undeclared(found)), *in_file_order(plan, released), *joined_refusals(plan, released)),
        warnings=(*warnings(plan, released), *found.notes),
    )
    return TablesRelease(releases, found, report, plan, renderer)


def _refuse_others(plan: Plan, data: Mapping[str, object]) -> None:
    """Refuse data that are not the plan's tables."""
    missing, strange = [n for n in plan.tables if n not in data], [n for n in data if n not in plan.tables]
    problems = [f"there are no data for table {n!r}" for n in missing]
    problems += [f"the plan has no table {n!r}; tables: {', '.join(plan.tables)}" for n in strange]
    if problems:
        raise PlanError(problems)


def _refuse_problems(plan: Plan, data: Mapping[str, PolarsDataset]) -> None:
    """Refuse a plan that cannot run, with what is wrong with every table."""
    problems = list(link_problems(plan))
    for name in plan.tables:
        try:
            entered(plan.table(name), data[name])
        except PlanError as error:
            problems += [
                Problem(
                    p.message, p.line, ("tables", name, *p.path), ", ".join(filter(None, (f"table {name}", p.place)))
                )
                for p in error.problems
            ]
    if problems:
        raise PlanError(problems)
