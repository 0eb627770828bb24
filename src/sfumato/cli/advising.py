"""What `protect --advise` looks for and tells: the first edit of a plan that holds."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sfumato.cli.talk import write_out
from sfumato.data.dataset import Dataset
from sfumato.errors import DataError, FileError
from sfumato.plan.plan import Plan
from sfumato.progress import Progress
from sfumato.release.release import Release
from sfumato.release.several.release import TablesRelease

if TYPE_CHECKING:
    from sfumato.tuning.advising import Advised

__all__ = ["Advice", "advised_on", "refuse_advice"]

_SEVERAL = "--advise is of a plan of one table: protect each table of several with a plan of its own to get some."
_ALONE = "--out-plan is where the plan of --advise is written: give both."


@dataclass(frozen=True)
class Advice:
    """What was found.

    Parameters
    ----------
    found
        The edit that holds, or why none does.
    written
        Where the plan that holds was written.
    """

    found: Advised
    written: Path | None


def refuse_advice(plan: Plan, out_plan: Path | None, *, advise: bool, overwrite: bool) -> None:
    """Refuse options on advice that cannot be followed, before anything is run.

    Raises
    ------
    DataError
        For a plan of several tables, and `--out-plan` alone.
    FileError
        Where a plan is there already.
    """
    if out_plan is not None and not advise:
        raise DataError(_ALONE)
    if advise and plan.tables:
        raise DataError(_SEVERAL)
    if out_plan is not None and out_plan.exists() and not overwrite:
        raise FileError(f"{str(out_plan)!r} is there already: choose another path, or --overwrite.")


def advised_on(
    plan: Path, tables: Any, release: Release | TablesRelease, out_plan: Path | None, progress: Progress, **how: Any
) -> Advice | None:
    """Look for the first edit that holds, and write the plan that it makes.

    Parameters
    ----------
    plan
        Where the plan lies.
    tables
        The table.
    release
        What came of the plan, which stops.
    out_plan
        Where to write the plan that holds.
    progress
        Told what is tried.
    **how
        As `sf.advise` takes it.
    """
    from sfumato.api.advise import advise

    if not (isinstance(release, Release) and isinstance(tables, Dataset)):
        return None
    found = advise(plan, tables, report=release.report, progress=progress, **how)
    if found is None:
        return None
    if found.text is not None and out_plan is not None:
        write_out(found.text, out_plan)
    return Advice(found, out_plan if found.text is not None else None)
