"""The studio's pages, a file for each, in the order of the work."""

from __future__ import annotations

from sfumato.web.studio.pages import data, plan, protect

__all__ = ["ROUTERS"]

ROUTERS = (plan.router, data.router, protect.router)
"""One for each file."""
