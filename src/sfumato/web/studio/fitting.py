"""Models on releases that were received, as long work: begun, found again by what was asked, shown."""

from __future__ import annotations

import json
import tempfile
import time
from pathlib import Path
from typing import Any

from sfumato.web.problems import Problem
from sfumato.web.studio.jobs import Job
from sfumato.web.studio.source import Source
from sfumato.web.studio.studio import Studio
from sfumato.web.studio.tasks import Work

__all__ = ["begun", "found", "table", "told"]

_PATIENCE = 1.5
"""Seconds that an answer waits for a model: most are quicker, and need no progress."""
_GONE = "This model is not here any more: fit it again."


def found(studio: Studio, release: Path, formula: str, family: str) -> Job | None:
    """The newest work on a model of a release as it is on disk; None where it was not asked for yet.

    Raises
    ------
    FileError
        The release is gone.
    """
    source = _papers(release)
    stamp, options = source.stamp, {"formula": formula, "family": family}
    return next(
        (
            job
            for job in studio.jobs.all("fit")
            if (job.work.source, job.work.stamp, dict(job.work.options)) == (source, stamp, options)
            and (job.state != "done" or _at(job, "told.json").is_file())
        ),
        None,
    )


def begun(studio: Studio, release: Path, formula: str, family: str) -> Job:
    """Begin to fit a model, and wait a moment for it.

    Raises
    ------
    Problem
        409 with the job that runs; 507 where nothing can be written.
    FileError
        The release is gone.
    """
    source = _papers(release)
    options = {"formula": formula, "family": family}
    try:
        out = Path(tempfile.mkdtemp(prefix="fit-", dir=studio.temporary))
    except OSError:
        raise Problem(507, "The folder of temporary files cannot be written to: make room there.") from None
    try:
        job = studio.jobs.start(Work("fit", source, source.stamp, "", release, options, None, out))
    except Problem:
        out.rmdir()
        raise
    end = time.monotonic() + _PATIENCE
    while job.state == "running" and time.monotonic() < end and not studio.ending.is_set():
        time.sleep(0.01)
    return job


def told(job: Job) -> dict[str, Any]:
    """What pages show of a model.

    Raises
    ------
    Problem
        404 where it is not there any more.
    """
    said: dict[str, Any] = json.loads(_read(job, "told.json"))
    return said


def table(job: Job) -> bytes:
    """Its coefficients as CSV.

    Raises
    ------
    Problem
        404 where it is not there any more.
    """
    return _read(job, "coefficients.csv")


def _papers(release: Path) -> Source:
    """By what a release is known that was changed."""
    return Source(release / "datapackage.json")


def _at(job: Job, name: str) -> Path:
    assert job.work.out is not None
    return job.work.out / name


def _read(job: Job, name: str) -> bytes:
    try:
        return _at(job, name).read_bytes()
    except OSError:
        raise Problem(404, _GONE) from None
