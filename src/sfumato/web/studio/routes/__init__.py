"""REST of the studio, a file for each thing that is asked of it."""

from __future__ import annotations

from sfumato.web.studio.routes import data, fit, plan, release, risk, work

__all__ = ["ROUTERS"]

ROUTERS = (plan.router, data.router, risk.router, work.router, release.router, fit.router)
"""One for each file."""
