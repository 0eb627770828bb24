"""A studio: the file that is open, the plan, the secret, and the work that runs."""

from __future__ import annotations

import shutil
import tempfile
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sfumato.engines.claimed import Claimed
from sfumato.errors import PlanError, SfumatoError
from sfumato.errors import Problem as PlanProblem
from sfumato.web.problems import Problem
from sfumato.web.studio.beside import fingerprint
from sfumato.web.studio.door import Keys
from sfumato.web.studio.jobs import Job, Jobs
from sfumato.web.studio.planned import Planned, stands_alone
from sfumato.web.studio.source import Opened, Source
from sfumato.web.studio.tasks import Work

if TYPE_CHECKING:
    from sfumato.data.finding import Findings
    from sfumato.plan.plan import Plan
    from sfumato.release.secret import Secret

__all__ = ["SEVERAL", "Studio", "told"]

SEVERAL = (
    "A plan of several tables is run from the command line, with the folder of its files: "
    "sfumato protect PLAN FOLDER --out release"
)
"""What is said where such a plan would be run here."""


class Studio:
    """All that a studio knows. It holds no statistics: pages and REST ask `sfumato.api` through it.

    Parameters
    ----------
    folder
        Where it was started: files of it can be opened.
    source
        The file to begin with.
    plan
        The file of a plan to begin with; else one is drafted.
    secret
        What draws are keyed with.

    Attributes
    ----------
    keys
        What opens its door.
    jobs
        Long work.
    temporary
        A private folder, which goes with the studio.
    made
        A secret that was made and not yet downloaded: it does not count before.
    ending
        Set when it is told to stop: what streams ends.
    """

    def __init__(self, folder: Path, source: Source | None, plan: Path | None, secret: Secret) -> None:
        self.folder = folder
        self.secret = secret
        self.made: bytes | None = None
        self.keys = Keys()
        self.jobs = Jobs()
        self.ending = threading.Event()
        self._given = None if plan is None else _given(plan)
        self._opened = None if source is None else Opened(source)
        self._claimed = Claimed("sfumato-studio-")
        self.temporary = self._claimed.path
        self._lock = threading.Lock()
        self._planned: Planned | None = None
        self._before: Planned | None = None

    def open(self, source: Source, *, keep: bool = False, wait: bool = False) -> None:
        """Open a file in place of the one that is open.

        Parameters
        ----------
        source
            The file, and how it is read.
        keep
            Keep the plan as it is; else a plan is drafted for the file.
        wait
            Until it is read: where it cannot be, the one that is open stays.

        Raises
        ------
        FileError, DataError
            It cannot be read.
        """
        opened = Opened(source)
        if wait:
            _ = opened.table
        with self._lock:
            before, self._opened = self._opened, opened
            if not (keep and self._planned is not None):
                self._before = self._planned if before is not None and before.source.path == source.path else None
                self._planned = None
        if (job := self.jobs.running) is not None:  # it is of the file that was open
            self.jobs.cancel(job.id)
        if before is not None and before.source.path != source.path:
            self._forget(before.source.path)

    def _forget(self, path: Path) -> None:
        """Remove a file that was sent here, once another is open."""
        if path.parent.parent == self.uploads:
            shutil.rmtree(path.parent, ignore_errors=True)

    @property
    def uploads(self) -> Path:
        """The private folder of files that were sent here or invented."""
        return self.temporary / "files"

    @property
    def _made_for(self) -> Path:
        """The private folder of files that are made for the plan."""
        return self.temporary / "plan"

    @property
    def private(self) -> bool:
        """Whether the file that is open lies in the studio's private folder, which goes with it."""
        return self.temporary in self.opened.source.path.parents

    @property
    def opened(self) -> Opened:
        """The file that is open.

        Raises
        ------
        Problem
            409 where none is.
        """
        if self._opened is None:
            raise Problem(409, "No file is open: choose one on the page Data.")
        return self._opened

    @property
    def closed(self) -> bool:
        """Whether no file is open."""
        return self._opened is None

    @property
    def touched(self) -> bool:
        """Whether somebody wrote the plan, so that another file or draft in its place would lose work."""
        return self._planned is not None and self._planned.touched

    @property
    def beside(self) -> Path:
        """Where the plan is kept, if that is wanted: beside the data; of a file that was sent here, where it began."""
        return self.base / f"{self.opened.source.path.stem}.plan.yaml"

    @property
    def base(self) -> Path:
        """The folder that files which a drafted plan names are looked for in."""
        return self.folder if self.private else self.opened.source.path.parent

    @property
    def planned(self) -> Planned:
        """The plan; it waits for the draft where none was given."""
        while True:
            opened = self.opened
            with self._lock:
                if self._planned is not None:
                    return self._planned
                if self._given is not None:
                    (content, text, base), self._given = self._given, None
                    self._planned = Planned(text, base, self._made_for)
                    self._planned.read_from(content)
                    self._planned.given = True
                    return self._planned
            draft = opened.draft  # waited for while others may go on
            with self._lock:
                if self._planned is None and self._opened is opened:  # else another file was opened meanwhile
                    self._planned = Planned(draft.text, self.base, self._made_for)
                    if self._before is not None:
                        self._planned.follow(self._before)
                        self._before = None

    def problems(self, text: str) -> tuple[PlanProblem, ...]:
        """What is wrong with a text as a plan, and with what the data object to in it.

        Of a plan of several tables, the one is looked at whose file is open.
        """
        opened = self.opened
        try:
            plan = self.planned.parsed(text)
        except PlanError as error:
            return error.problems
        if not stands_alone(plan):
            return self._objections(plan)
        return opened.remember(("problems", text), lambda: self._objections(plan))

    def _objections(self, plan: Plan) -> tuple[PlanProblem, ...]:
        from sfumato.api.check import check

        try:
            table = self.opened.table
        except SfumatoError as error:
            return (PlanProblem(str(error)),)
        if plan.tables:
            name = self.table_of(plan)
            return () if name is None else check(plan.table(name), table)
        return check(plan, table)

    def table_of(self, plan: Plan) -> str | None:
        """The table of a plan of several whose file is open; None where none is, or the plan is of one table."""
        name = self.opened.source.path.name
        return next((table for table, one in plan.tables.items() if one.file == name), None)

    def risk_of(self, **named: Any) -> Findings:
        """The risk of the file as it is, by what an intruder knows; see `sfumato.api.risk.risk`."""
        from sfumato.api.risk import risk

        opened = self.opened
        key = tuple(sorted(named.items()))
        return opened.risks.get(key, lambda: risk(opened.table, **named))

    def begin(self, task: str, options: Mapping[str, Any], *, runs_plan: bool = True) -> Job:
        """Begin long work on the data and the plan as they are; work that does not run the plan needs none that can.

        Raises
        ------
        Problem
            422 with the plan's problems, or where the file was changed; 409 with the job that runs.
        """
        opened, planned = self.opened, self.planned
        if opened.changed:
            changed = "The file was changed since it was read. Read it again."
            raise Problem(422, changed, {"problems": [{"line": None, "message": changed}]})
        if (other := self.jobs.running) is not None:
            raise Problem(409, "Something else is being done. Wait for it, or cancel it.", {"job": other.id})
        if runs_plan and planned.plan.tables:
            raise Problem(422, SEVERAL, {"problems": []})
        if runs_plan and (found := self.problems(planned.text)):
            raise Problem(422, "The plan cannot run on these data.", {"problems": told(found)})
        try:
            out = Path(tempfile.mkdtemp(prefix=f"{task}-", dir=self.temporary))
        except OSError:
            raise Problem(507, "The folder of temporary files cannot be written to: make room there.") from None
        secret = (self.secret.value, self.secret.repeatable)
        text, base, files = planned.text, planned.base, fingerprint(planned.plan, planned.base)
        work = Work(task, opened.source, opened.stamp, text, base, dict(options), secret, out, files)
        try:
            return self.jobs.start(work)
        except Problem:
            out.rmdir()
            raise

    def released(self) -> Job:
        """The work that made the release which can be had: of the data, plan and secret as they are now.

        Raises
        ------
        Problem
            409 where there is none.
        """
        job = self.jobs.last("protect")
        if job is None or job.state != "done" or job.result is None:
            raise Problem(409, "There is no release yet: run the plan.")
        if job.result["release"] is None:
            undecided = job.result.get("verdict") == "undecided"
            why = "It is not decided who may know what" if undecided else "A limit does not hold"
            raise Problem(409, f"{why}, so that there is no release.")
        opened, work = self.opened, job.work
        then = (work.plan, work.source, work.stamp, work.secret)
        now = (self.planned.text, opened.source, opened.stamp, (self.secret.value, self.secret.repeatable))
        planned = self.planned
        if then != now or opened.changed or fingerprint(planned.plan, planned.base) != work.files:
            raise Problem(
                409,
                "The plan, its files, the data or the secret are not those of the last release: run the plan again.",
            )
        return job

    def close(self) -> None:
        """End the work, and remove all that was written for it."""
        self.ending.set()
        self.jobs.close()
        self._claimed.remove()


def told(problems: tuple[PlanProblem, ...]) -> list[dict[str, Any]]:
    """Problems of a plan as REST tells them: the line of the text, or null, and the sentence."""
    plain = []
    for problem in problems:
        message = f"{problem.place}: {problem.message}" if problem.place else problem.message
        plain.append({"line": problem.line, "message": message})
    return plain


def _given(plan: Path) -> tuple[bytes, str, Path]:
    """The bytes, the text and the folder of a plan that was named.

    Raises
    ------
    PlanError
        It is none.
    """
    from sfumato.plan.plan import Plan

    Plan.load(plan)  # with the command line's sentences
    content = plan.read_bytes()
    return content, content.decode("utf-8-sig"), plan.parent
