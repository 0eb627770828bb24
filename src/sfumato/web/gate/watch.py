"""A line of JSON and a count for each request: the route, the status, the role and the time. Nothing else is kept."""

from __future__ import annotations

import os
import sys
import time
from typing import Any

import structlog
from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector
from starlette.types import ASGIApp, Message, Receive, Scope, Send

__all__ = ["Watch"]

_FOLDER = "PROMETHEUS_MULTIPROC_DIR"
_STEPS = (0.05, 0.25, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0)


class Watch:
    """Logs and counts what an application answers.

    Parameters
    ----------
    log
        Where lines go; stderr where it is None.
    """

    def __init__(self, log: Any = None) -> None:
        self.log = structlog.wrap_logger(
            structlog.PrintLogger(log or sys.stderr),
            processors=[structlog.processors.TimeStamper(fmt="iso", utc=True), structlog.processors.JSONRenderer()],
        )
        self.registry = CollectorRegistry()
        self.requests = Counter("sfumato_requests", "Answers.", ["route", "status"], registry=self.registry)
        self.seconds = Histogram(
            "sfumato_request_seconds",
            "Time to the end.",
            ["route"],
            registry=self.registry,
            buckets=_STEPS,
        )

    def metrics(self) -> bytes:
        """What was counted, by all processes where they count together."""
        if os.environ.get(_FOLDER):
            together = CollectorRegistry()
            MultiProcessCollector(together)  # type: ignore[no-untyped-call]
            return generate_latest(together)
        return generate_latest(self.registry)

    def around(self, app: ASGIApp) -> ASGIApp:
        """The application, watched."""

        async def watched(scope: Scope, receive: Receive, send: Send) -> None:
            begun = time.monotonic()
            status = 0

            async def sent(message: Message) -> None:
                nonlocal status
                if message["type"] == "http.response.start":
                    status = int(message["status"])
                await send(message)

            try:
                await app(scope, receive, sent)
            finally:
                self._write(scope, status, time.monotonic() - begun)

        return watched

    def _write(self, scope: Scope, status: int, seconds: float) -> None:
        route = str(scope.get("sfumato.route", "-"))
        self.requests.labels(route, str(status)).inc()
        self.seconds.labels(route).observe(seconds)
        self.log.info(
            "request",
            method=scope["method"] if route != "-" else "-",
            route=route,
            status=status,
            role=str(scope.get("sfumato.role", "-")),
            ms=10 * round(100 * seconds),
        )
