"""The page Release: which limits hold, what to try, the reports, the secret, and the ways to take the release away."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from fastapi import APIRouter, Request, Response, UploadFile
from starlette.responses import HTMLResponse

from sfumato.errors import FileError, PlanError, SecretError, SfumatoError
from sfumato.plan.editing.apply import apply
from sfumato.web.layout.forms import Form, Given
from sfumato.web.problems import Problem
from sfumato.web.shell import CSP
from sfumato.web.studio.jobs import Job
from sfumato.web.studio.lines import called, command, python_read, reading
from sfumato.web.studio.modelling import FAMILIES, intended
from sfumato.web.studio.pages.frame import change, problem, show, show_part
from sfumato.web.studio.routes.parts import Of
from sfumato.web.studio.studio import Studio

__all__ = ["begun", "is_stale", "result_later", "router", "run_lines", "told"]

router = APIRouter()
_REPORT = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'self'"
)
_SECRET_BYTES, _MOST_SECRET = 32, 1 << 20


@router.get("/release")
def page(request: Request, studio: Of, model: str = "", family: str = "", force: str = "") -> HTMLResponse:
    """The page; what came of the last run is fetched into it."""
    chosen = {"model": model, "family": family, "force": force}
    answer = show(request, studio, "release", "Release", closed=studio.closed, chosen=chosen, families=FAMILIES)
    answer.headers["Content-Security-Policy"] = f"{CSP}; frame-src 'self'"
    return answer


@router.get("/pages/release/result")
def result(request: Request, studio: Of) -> HTMLResponse:
    """What runs, or what came of the last run."""
    return show_part(request, "release_result", **_result(studio))


@router.post("/pages/release/run")
def run(request: Request, studio: Of, form: Form) -> HTMLResponse:
    """Begin to run the plan."""
    refused = begun(request, studio, form)
    return show_part(request, "release_result", **_result(studio)) if refused is None else refused


def begun(request: Request, studio: Studio, form: Given) -> HTMLResponse | None:
    """Begin to run the plan as a form says; what is wrong, where it cannot be."""
    model = intended(studio, form.one("model"), form.one("family"))
    try:
        studio.begin("protect", model | {"force": form.one("force") == "on"})
    except (SfumatoError, Problem) as error:
        return problem(request, _with_problems(error))
    return None


@router.post("/pages/release/try")
def try_(request: Request, studio: Of, form: Form) -> Any:
    """Make a change that the advice names."""
    number, which = form.one("number"), form.one("which")
    job = studio.jobs.last("protect")
    tries = [] if job is None else told(job)["tries"]
    try:
        edit = tries[int(number)]["edits"][int(which)]
    except (ValueError, IndexError):
        return problem(request, "This advice is of another run: load the page again.")
    return change(
        request,
        studio,
        lambda: studio.planned.change("*", lambda text: apply(text, _edit(edit))),
        "release_result",
        **result_later(studio),
    )


@router.get("/pages/release/report/{which}")
def report(studio: Of, which: str) -> Response:
    """A report of the last run, for a frame: with the policy of its own, in pages of the studio alone."""
    job = studio.jobs.last("protect")
    path = None if job is None or job.work.out is None else job.work.out / _REPORTS.get(which, "none")
    if job is None or job.state != "done" or path is None or not path.is_file():
        raise Problem(404, "There is no such report: run the plan.")
    headers = {"Content-Security-Policy": _REPORT}
    return Response(path.read_bytes(), 200, headers, "text/html; charset=utf-8")


_REPORTS = {"external": "release/report.html", "internal": "internal.html"}


@router.get("/pages/release/secret")
def secret(request: Request, studio: Of) -> HTMLResponse:
    """Which secret draws are keyed with, never the secret itself."""
    return show_part(request, "release_secret", **_secret(studio))


@router.post("/pages/release/secret/make")
def make(request: Request, studio: Of) -> HTMLResponse:
    """Draw a secret; it counts once it was downloaded, for without its file nobody would hold it."""
    studio.made = secrets.token_bytes(_SECRET_BYTES)
    return show_part(request, "release_secret", **_secret(studio))


@router.get("/pages/release/secret/file")
def take(studio: Of) -> Response:
    """The secret that was made, once."""
    from sfumato.release.secret import Secret

    value, studio.made = studio.made, None
    if value is None:
        raise Problem(404, "The secret was downloaded already; it is given once.")
    studio.secret = Secret(value)
    headers = {"Content-Disposition": 'attachment; filename="sfumato.key"'}
    return Response(value, 200, headers, "application/octet-stream")


@router.post("/pages/release/secret")
async def load(request: Request, studio: Of, key: UploadFile) -> HTMLResponse:
    """Take the secret of a file."""
    from sfumato.release.secret import Secret

    value = await key.read(_MOST_SECRET + 1)
    if len(value) > _MOST_SECRET:
        return problem(request, f"The file is larger than {_MOST_SECRET:,} bytes; is it the right file?")
    try:
        studio.secret, studio.made = Secret(value), None
    except (SecretError, ValueError) as error:
        return problem(request, str(error))
    return show_part(request, "release_secret", **_secret(studio))


@router.post("/pages/release/write")
def write(request: Request, studio: Of, form: Form) -> HTMLResponse:
    """Write the folder of the last run."""
    from sfumato.api.place import place

    try:
        job = studio.released()
        assert job.work.out is not None
        target = _below(studio.folder, form.one("folder"))
        place(job.work.out / "release", target, overwrite=form.one("overwrite") == "on")
    except (SfumatoError, Problem) as error:
        return problem(request, error)
    return show_part(request, "release_written", folder=str(target))


def _below(start: Path, typed: str) -> Path:
    """A folder as it was typed: absolute, or below where the studio was started.

    Raises
    ------
    FileError
        Where it is neither.
    """
    if not typed or "\0" in typed:
        raise FileError("Say where the release is to be written: the name of a new folder.")
    path = Path(typed).expanduser()
    if not path.is_absolute() and ".." in path.parts:
        raise FileError("A folder that is not below the one where the studio was started is given by its whole path.")
    return start / path


_NAMES = (
    "running",
    "other",
    "job",
    "told",
    "tries",
    "refusal",
    "stale",
    "earlier",
    "reports",
    "lines",
    "python",
    "repeatable",
)


def result_later(studio: Studio) -> dict[str, Callable[[], Any]]:
    """What the part says of the last run once a change has been made."""
    return {name: partial(lambda wanted: _result(studio)[wanted], name) for name in _NAMES}


def _result(studio: Studio) -> dict[str, Any]:
    """What the part says of the last run."""
    running, job = studio.jobs.running, studio.jobs.last("protect")
    mine = running is not None and running.work.task == "protect"
    done = job is not None and job.state == "done"
    said = told(job) if job is not None and done else None
    refusal = None
    try:
        studio.released()
    except Problem as error:
        refusal = error.detail
    stale = done and job is not None and is_stale(studio, job)
    out = None if job is None else job.work.out
    ended = job is not None and job.state in ("failed", "cancelled")
    return {
        "running": running if mine else None,
        "other": None if mine else running,
        "job": job,
        "told": said,
        "tries": [] if said is None else _tries(studio, said, stale),
        "refusal": refusal,
        "stale": stale,
        "earlier": ended and any(one.state == "done" and one.result for one in studio.jobs.all("protect")),
        "reports": [name for name, path in _REPORTS.items() if done and out is not None and (out / path).is_file()],
        "repeatable": job is not None and job.work.secret is not None and job.work.secret[1],
        **run_lines(studio, job),
    }


def is_stale(studio: Studio, job: Job) -> bool:
    """Whether the plan or the data were changed since."""
    return (job.work.plan, job.work.stamp) != (studio.planned.text, studio.opened.stamp)


def _tries(studio: Studio, said: dict[str, Any], stale: bool) -> list[dict[str, Any]]:
    """What to try; a change has a button where it can be made in the plan as it is, without a new problem."""
    text, known = studio.planned.text, len(studio.problems(studio.planned.text))
    shown = []
    for one in said["tries"]:
        buttons = []
        for which, edit in enumerate(one["edits"]):
            try:
                good = len(studio.problems(apply(text, _edit(edit)))) <= known
            except PlanError:
                good = False
            if good and not stale:
                buttons.append({"which": which, "text": _worded(edit)})
        shown.append({"sentence": one["sentence"], "buttons": buttons})
    return shown


def _edit(edit: dict[str, Any]) -> dict[str, Any]:
    """An edit of the advice, as the plan takes it."""
    if edit["value"] is None:
        return {"op": "remove", "path": edit["path"]}
    return {"op": "set", "path": edit["path"], "value": edit["value"]}


def _worded(edit: dict[str, Any]) -> str:
    _, step, name, *column = edit["path"]
    where = f" of {column[0]}" if column else ""
    to = "left out" if edit["value"] is None else json.dumps(edit["value"], ensure_ascii=False).strip('"')
    return f"Step {step + 1}: {name}{where} {'' if edit['value'] is None else '= '}{to}"


def run_lines(studio: Studio, job: Job | None, **also: str) -> dict[str, str]:
    """The command line, with other options too, and the lines of Python that repeat a run."""
    options = {} if job is None else dict(job.work.options)
    source, plan = studio.opened.source, studio.beside.name
    repeatable = studio.secret.repeatable
    more = {name: options.get(name) for name in ("model", "family", "force")}
    how = {"out": "release", "secret-file": "sfumato.key" if repeatable else None, **more, **also, **reading(source)}
    model = {name: options.get(name) for name in ("model", "family")}
    given = [f"sf.Plan.load({plan!r})", python_read(source)]
    key = ['secret=Path("sfumato.key").read_bytes()'] if repeatable else []
    lines = [
        *(["from pathlib import Path", ""] if repeatable else []),
        "import sfumato as sf",
        "",
        f"release = {called('sf.protect', [*given, *key], model)}",
        called("release.write", ["'release'"], {"force": options.get("force")}),
    ]
    return {"lines": command(["sfumato", "protect", plan, str(source.path)], how), "python": "\n".join(lines)}


def _secret(studio: Studio) -> dict[str, Any]:
    return {
        "repeatable": studio.secret.repeatable,
        "fingerprint": studio.secret.fingerprint if studio.secret.repeatable else None,
        "made": studio.made is not None,
    }


def told(job: Job) -> dict[str, Any]:
    """What a run handed over for pages; empty where it is gone."""
    path = None if job.work.out is None else job.work.out / "told.json"
    if path is None or not path.is_file():
        nothing: dict[str, Any] = dict.fromkeys(
            ("tries", "plots", "families", "warnings", "notes", "undecided", "ids"), ()
        )
        return nothing | {"verdict": None}
    said: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return said


def _with_problems(error: SfumatoError | Problem) -> SfumatoError | Problem | str:
    """What is wrong, with the first things that the data object to."""
    problems = error.more.get("problems") if isinstance(error, Problem) else None
    if not isinstance(error, Problem) or not isinstance(problems, list) or not problems:
        return error
    return (
        f"{error.detail} " + " ".join(f"{one['message']}." for one in problems[:3]) + " The plan beside has them all."
    )
