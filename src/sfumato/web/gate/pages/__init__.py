"""The gate's pages, a file for each: they show what the same methods give that REST answers with."""

from __future__ import annotations

from sfumato.web.gate.pages import (
    account,
    analysis,
    datasets,
    ledger,
    login,
    maximal,
    people,
    policies,
    queue,
    releases,
    table,
)

__all__ = ["ROUTERS"]

ROUTERS = (
    *(login.router, datasets.router, table.router, analysis.router, releases.router, account.router),
    *(people.router, policies.router, queue.router, maximal.router, ledger.router),
)
"""One for each file."""
