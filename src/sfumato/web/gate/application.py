"""The gate's application: its routes, behind its door, in the shell."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from fastapi import Depends, FastAPI, Request
from fastapi.responses import Response
from starlette.types import ASGIApp

from sfumato.gate.service import Gate
from sfumato.web.gate import (
    analyses,
    budget,
    datasets,
    decisions,
    exceptions,
    health,
    ledger,
    metrics,
    oidc,
    people,
    policies,
    public,
    queue,
    releases,
    session,
    sharing,
    tables,
    tokens,
)
from sfumato.web.gate.access import TABLE, Table
from sfumato.web.gate.description import described
from sfumato.web.gate.door import Door, cookie_name
from sfumato.web.gate.pages import ROUTERS as PAGES
from sfumato.web.gate.pages.errors import refusal
from sfumato.web.gate.watch import Watch
from sfumato.web.problems import Problem
from sfumato.web.routing import quiet_app
from sfumato.web.shell import Face, application
from sfumato.web.static_files import StaticFiles

__all__ = ["ROUTERS", "face", "routes", "serve"]

ROUTERS = (
    *(datasets.router, tables.router, analyses.router, releases.router, decisions.router, budget.router),
    *(tokens.router, people.router, sharing.router, policies.router, queue.router, exceptions.router, ledger.router),
    *(public.router, session.router, oidc.router, health.router, metrics.router),
    *PAGES,
)
"""One for each file."""
STATIC = Path(__file__).parents[1] / "static"


def routes(gate: Gate, watch: Watch, static: StaticFiles | None = None) -> FastAPI:
    """The routes alone, without a door: for `face`, and for what describes them.

    Parameters
    ----------
    gate
        Which answers.
    watch
        Which counts.
    static
        Files that pages link to; those of `STATIC` where it is None.
    """
    app = quiet_app(
        _refused,
        title="sfumato gate",
        description="What may be told to whom. Bearer tokens, or a session with the header `X-Sfumato: 1` on changes.",
        version="1",
        dependencies=[Depends(_guard)],
    )
    for router in ROUTERS:
        app.include_router(router, include_in_schema=router is not oidc.router)  # a browser's way, answered by pages
    app.add_api_route("/openapi.json", lambda: described(app), methods=["GET"], include_in_schema=False)
    app.state.gate, app.state.watch = gate, watch
    app.state.static = static or StaticFiles([STATIC])
    app.state.secure = gate.config.server.secure
    return app


def face(gate: Gate, port: int | None = None, watch: Watch | None = None) -> Face:
    """The gate as a face of the shell.

    Parameters
    ----------
    gate
        Which answers.
    port
        Where it is served, by which its cookie is named.
    watch
        Which logs and counts.
    """
    seen = watch or Watch()
    server = gate.config.server
    static = StaticFiles([STATIC])
    return Face(
        "gate",
        routes(gate, seen, static),
        partial(
            Door,
            gate=gate,
            table=Table(TABLE),
            cookie=cookie_name(port, server.secure),
            refused=partial(refusal, static),
        ),
        static,
        hosts=server.hosts,
        secure=server.secure,
        watch=seen.around,
    )


def serve(gate: Gate, port: int | None = None, watch: Watch | None = None) -> ASGIApp:
    """What a server runs: see `face`."""
    return application(face(gate, port, watch))


def _guard(request: Request) -> None:
    """Refuse a route that is not the one that the door opened."""
    if getattr(request.scope.get("route"), "path", None) != request.scope.get("sfumato.route"):
        raise Problem(403, "This cannot be reached.")


def _refused(request: Request, problem: Problem) -> Response:
    return refusal(request.app.state.static, request.scope, problem)
