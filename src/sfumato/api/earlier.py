"""Open earlier releases and the true values that they are measured against."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import Any

from sfumato.api.read import read_whole
from sfumato.data.disclosure import Disclosure
from sfumato.engines.polars import PolarsDataset
from sfumato.errors import FileError
from sfumato.plan.plan import Plan
from sfumato.release.earlier import Before, before
from sfumato.release.package.papers import all_papers, papers_beside, papers_of, read_papers
from sfumato.release.package.renaming import as_planned
from sfumato.release.taking import Published

__all__ = ["of_plan", "opened_before", "published", "several"]


def several(given: Any) -> list[Any]:
    """One thing or a list of them as a list; None is none."""
    if given is None:
        return []
    return list(given) if isinstance(given, list | tuple) else [given]


def opened_before(earlier: Any, truth: Any, plan: Plan | None, now: PolarsDataset | None = None) -> Before | None:
    """Open earlier releases with their true values; None where there are none.

    Parameters
    ----------
    earlier
        A release folder, its data file or a table, or several of these, newest first.
    truth
        True values: what `read` takes, or several, newest first.
    plan
        The new release's plan.
    now
        True values of the new release where they are known already.

    Raises
    ------
    FileError, DataError
        Where something cannot be read or does not go together.
    """
    releases, truths = several(earlier), several(truth)
    if not releases:
        if truths:
            raise FileError("True values (--truth, truth=) are for earlier releases: name these too (--earlier).")
        return None
    return before(
        [_release(each) for each in releases],
        [read_whole(each, "Measuring earlier releases") for each in truths],
        plan,
        now,
    )


def _release(source: Any) -> tuple[PolarsDataset, Disclosure]:
    """An earlier release, with what it tells."""
    if isinstance(source, str | PathLike) and Path(source).is_dir():
        source = read_papers(Path(source)).data
    data = read_whole(source, "Measuring earlier releases")
    papers = papers_of(data)
    return (data, Disclosure()) if papers is None else as_planned(data, papers)


def published(plan: Plan, earlier: Any, table: str | None = None) -> tuple[Published, ...]:
    """What earlier releases say of themselves: those that are given, newest first, then those that the plan names.

    Parameters
    ----------
    plan
        The new release's plan.
    earlier
        A release folder or its data file, or several of these.
    table
        Which table of releases of several; folders that lack it are passed over.

    Raises
    ------
    FileError
        Where something that is given is no release, or cannot be read.
    """
    named = {Path(each.release).resolve(): bool(each.truth) for each in plan.earlier}
    given = [each for each in several(earlier) if Path(each).resolve() not in named]
    found = (
        *(_published(each, table, False) for each in given),
        *(_published(each.release, table, bool(each.truth)) for each in plan.earlier),
    )
    return tuple(each for each in found if each is not None)


def _published(source: str | PathLike[str], table: str | None, measured: bool) -> Published | None:
    """The papers of a release and its plan, without its rows; None of a release of other tables."""
    path = Path(source)
    if table is not None and path.is_dir():
        papers = next((each for each in all_papers(path) if each.table == table), None)
        if papers is None:
            return None
    else:
        papers = papers_beside(path) if path.is_file() else read_papers(path)
    if papers is None:
        return Published(str(source), "", measured=measured)
    return Published.of(papers, str(source), measured)


def of_plan(plan: Plan) -> Before | None:
    """The earlier releases that a plan names with true values; those of the new release are the data."""
    named = [each for each in plan.earlier if each.truth]
    if not named:
        return None
    releases = [_release(each.release) for each in named]
    truths = [read_whole(each.truth, "Measuring earlier releases") for each in named]
    opened = before(releases, [truths[0], *truths], plan)
    return Before(opened.releases)
