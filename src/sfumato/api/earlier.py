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
from sfumato.release.package.papers import papers_of, read_papers
from sfumato.release.package.renaming import as_planned

__all__ = ["of_plan", "opened_before", "several"]


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


def of_plan(plan: Plan) -> Before | None:
    """The earlier releases that a plan names, with the true values of each; those of the new release are the data."""
    if not plan.earlier:
        return None
    releases = [_release(each.release) for each in plan.earlier]
    truths = [read_whole(each.truth, "Measuring earlier releases") for each in plan.earlier]
    opened = before(releases, [truths[0], *truths], plan)
    return Before(opened.releases)
