"""The page Tables: a protected table of the records, what an attacker finds in it, what each method would lose."""

from __future__ import annotations

import json
from pathlib import Path
from time import monotonic, sleep
from typing import Annotated, Any
from urllib.parse import parse_qsl, urlsplit

from fastapi import APIRouter, Depends, Request, Response, UploadFile
from fastapi import Form as Field
from starlette.responses import HTMLResponse

from sfumato.errors import SfumatoError
from sfumato.web.layout.forms import Form
from sfumato.web.problems import Problem
from sfumato.web.studio.jobs import Job
from sfumato.web.studio.pages.frame import problem, show, show_part
from sfumato.web.studio.routes.parts import Of
from sfumato.web.studio.studio import Studio
from sfumato.web.studio.tabling import COLUMNS, FIELDS, MOST_BY, Chosen, Read, choices, kept, lines, read, sent, tree
from sfumato.web.studio.verdicts import facts, methods, notes, verdict

__all__ = ["router"]

router = APIRouter()
_AT_ONCE = 1.5
"""So many seconds are waited for a table before it is followed."""
_TASKS = ("table", "table_methods")


def _address(request: Request) -> Chosen:
    return Chosen.of(request.query_params.multi_items())


Address = Annotated[Chosen, Depends(_address)]


@router.get("/tables")
def page(request: Request, studio: Of, chosen: Address) -> HTMLResponse:
    """The page; form and table are fetched into it."""
    return show(request, studio, "tables", "Tables", query=chosen.query)


@router.get("/pages/tables/look")
def look(request: Request, studio: Of, chosen: Address) -> HTMLResponse:
    """The form, and the table if there is one."""
    if not chosen.stated and (job := _last(studio, "table")) is not None:
        chosen = Chosen(job.work.options["chosen"])
    found = read(studio, chosen) if chosen.stated else Read()
    return show_part(request, "tables_look", **_form(studio, chosen, found), **_result(studio, chosen, found))


@router.get("/pages/tables/result")
def result(request: Request, studio: Of, chosen: Address, done: str = "") -> HTMLResponse:
    """The table, or how far it is."""
    return show_part(request, "tables_result", **_result(studio, chosen, read(studio, chosen), focus=bool(done)))


@router.post("/pages/tables/run")
def run(request: Request, studio: Of, address: Address, form: Form) -> Response:
    """Protect a table; small ones come at once."""
    chosen = Chosen.of(form.fields) if form.fields else address
    found = read(studio, chosen)
    if found.asked is None:
        return _wrong(request, studio, chosen, found)
    job = _made(studio, found, "table")
    if job is None or job.state in ("failed", "cancelled"):
        try:
            job = studio.begin("table", _options(studio, chosen, found), runs_plan=False)
        except (SfumatoError, Problem) as error:
            return problem(request, error)
        _wait(job)
    if job.state == "failed":
        found.errors |= _where(job.message, chosen)
        if found.errors:
            return _wrong(request, studio, chosen, found)
    had = form.one("had") == "1"
    apart = _form(studio, chosen, found) if had else {}
    return show_part(
        request, "tables_done", had=had, **apart, **_result(studio, chosen, found, focus=job.state != "running")
    )


@router.get("/pages/tables/methods")
def compared(request: Request, studio: Of, chosen: Address, done: str = "") -> HTMLResponse:
    """What each method would lose, or how far that is."""
    return show_part(request, "tables_methods", **_compared(studio, chosen, read(studio, chosen)), focus=bool(done))


@router.post("/pages/tables/methods")
def compare(request: Request, studio: Of, chosen: Address) -> HTMLResponse:
    """Begin to try every method."""
    found = read(studio, chosen)
    if found.asked is None:
        return problem(request, "Protect the table first.")
    try:
        _wait(studio.begin("table_methods", _options(studio, chosen, found), runs_plan=False))
    except (SfumatoError, Problem) as error:
        return problem(request, error)
    return show_part(request, "tables_methods", **_compared(studio, chosen, found), focus=True)


@router.get("/pages/tables/table.csv")
def file(studio: Of, chosen: Address) -> Response:
    """The protected table, as the command writes it."""
    job = _made(studio, read(studio, chosen), "table")
    path = None if job is None or job.work.out is None else job.work.out / "table.csv"
    if job is None or job.state != "done" or path is None or not path.is_file():
        raise Problem(404, "There is no such table: protect it again.")
    headers = {"Content-Disposition": 'attachment; filename="table.csv"'}
    return Response(path.read_bytes(), 200, headers, "text/csv; charset=utf-8")


@router.post("/pages/tables/hierarchy")
def send(
    request: Request,
    studio: Of,
    which: Annotated[str, Field()] = "1",
    text: Annotated[str, Field()] = "",
    file: UploadFile | None = None,
) -> Response:
    """Keep a hierarchy that is sent or pasted, and choose it for a variable."""
    here = urlsplit(request.headers.get("HX-Current-URL", "")).query
    chosen = Chosen.of(parse_qsl(here))
    given = file.file.read() if file is not None and file.filename else text.encode()
    number = which if which in [str(i) for i in range(1, MOST_BY + 1)] else "1"
    try:
        if not given.strip():
            raise Problem(422, "Choose a file, or paste its text.")
        fallback = f"{chosen[f'by{number}'] or 'hierarchy'}.csv"
        named = sent(studio, (file.filename if file is not None else "") or fallback, given)
    except (SfumatoError, Problem) as error:
        return show_part(request, "tables_wrong", text=error.detail if isinstance(error, Problem) else str(error))
    query = Chosen.of({**chosen.fields, f"tree{number}": named}.items()).query
    return Response(status_code=204, headers={"HX-Redirect": f"/tables?{query}"})


@router.get("/pages/tables/hierarchy.csv")
def hierarchy(studio: Of, named: str) -> Response:
    """A hierarchy that was sent, to lie beside what the command line writes."""
    if not named.startswith("sent:"):
        raise Problem(404, "There is no such hierarchy.")
    content = tree(studio, named).read_bytes()
    headers = {"Content-Disposition": f'attachment; filename="{named.rpartition("/")[2]}"'}
    return Response(content, 200, headers, "text/csv; charset=utf-8")


def _wait(job: Job) -> None:
    until = monotonic() + _AT_ONCE
    while job.state == "running" and monotonic() < until:
        sleep(0.02)


def _options(studio: Studio, chosen: Chosen, found: Read) -> dict[str, Any]:
    assert found.asked is not None
    trees = [path for _, path in found.asked.hierarchies]
    stamps = [(info.st_size, info.st_mtime_ns) for info in (Path(path).stat() for path in trees)]
    return {"asked": found.asked.to_plain(), "trees": stamps, "chosen": dict(chosen.fields)}


def _last(studio: Studio, task: str) -> Job | None:
    """The newest work of a task on the file as it is."""
    job = studio.jobs.last(task)
    if job is None or (job.work.source, job.work.stamp) != (studio.opened.source, studio.opened.stamp):
        return None
    return job


def _made(studio: Studio, found: Read, task: str) -> Job | None:
    """The work that made, or makes, what is asked for."""
    job = _last(studio, task)
    if job is None or found.asked is None or job.work.secret != (studio.secret.value, studio.secret.repeatable):
        return None
    own, wanted = job.work.options, _options(studio, Chosen({}), found)
    return job if (own["asked"], own["trees"]) == (wanted["asked"], wanted["trees"]) else None


def _form(studio: Studio, chosen: Chosen, found: Read) -> dict[str, Any]:
    """What the form shows."""
    known = choices(studio)
    fields = chosen.fields if chosen.stated else {"n": "3", **chosen.fields}
    files = [(name, name) for name in known.files]
    files += [(name, kept(name)) for name in (chosen[f"tree{i}"] for i in range(1, MOST_BY + 1)) if "sent:" in name]
    return {
        "known": known,
        "files": list(dict.fromkeys(files)),
        "chosen": {name: fields.get(name, "") for name in FIELDS},
        "errors": {name: found.errors.get(name, "") for name in FIELDS},
        "first": next((name for name in FIELDS if name in found.errors), ""),
        "many": len(found.errors),
        "most": MOST_BY,
    }


def _result(studio: Studio, chosen: Chosen, found: Read, focus: bool = False) -> dict[str, Any]:
    """What is shown of the table that is asked for."""
    job, running = _made(studio, found, "table"), studio.jobs.running
    mine = running if running is not None and running.work.task == "table" else None
    told = _told(job)
    said = "" if job is None or job.state != "failed" else job.message
    asked = found.asked
    return {
        "asked": asked,
        "query": chosen.query,
        "running": mine,
        "other": running if mine is None and running is not None and running.work.task not in _TASKS else None,
        "job": job,
        "begin": asked is not None and job is None and running is None,
        "said": said,
        "told": told,
        "verdict": None if told is None or job is None or asked is None else verdict(asked, job.result or {}),
        "facts": [] if told is None or job is None or asked is None else facts(asked, job.result or {}, told),
        "notes": [] if job is None or job.result is None else notes(job.result),
        "lines": "" if asked is None else lines(studio, asked),
        "sent": [chosen[f"tree{i}"] for i in range(1, MOST_BY + 1) if "sent:" in chosen[f"tree{i}"]],
        "drawn": asked is not None and (asked.method == "perturb" or asked.way in ("random", "barnardise")),
        "repeatable": studio.secret.repeatable,
        "own": chosen["own"] == "on",
        "focus": focus,
        **_compared(studio, chosen, found),
    }


def _compared(studio: Studio, chosen: Chosen, found: Read) -> dict[str, Any]:
    """What is shown of the comparison of methods."""
    running = studio.jobs.running
    mine = running if running is not None and running.work.task == "table_methods" else None
    job = _made(studio, found, "table_methods")
    done = job.result if job is not None and job.state == "done" else None
    return {
        "query": chosen.query,
        "comparing": mine,
        "compared": None if done is None else methods(done["methods"]),
        "failed": "" if job is None or job.state != "failed" else job.message,
    }


def _told(job: Job | None) -> dict[str, Any] | None:
    """What the work handed over for the page."""
    path = None if job is None or job.work.out is None else job.work.out / "told.json"
    if job is None or job.state != "done" or path is None or not path.is_file():
        return None
    said: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return said


def _wrong(request: Request, studio: Studio, chosen: Chosen, found: Read) -> HTMLResponse:
    """The form anew, with what is wrong beside its fields; a table of another choice goes."""
    answer = show_part(request, "tables_refused", **_form(studio, chosen, found))
    answer.headers.update({"HX-Retarget": "#table-form", "HX-Reswap": "innerHTML"})
    return answer


def _where(message: str, chosen: Chosen) -> dict[str, str]:
    """The field that a message is about: the one whose column it names, if it is one alone."""
    if "code Total among others" in message:
        message += " Is the file a table of totals already? The command line protects it: sfumato table protect FILE."
    names = [name for name in FIELDS if name.startswith("by") or name in COLUMNS]
    found = [name for name in names if chosen[name] and f"{chosen[name]!r}" in message]
    return {found[0]: message} if len(found) == 1 else {}
