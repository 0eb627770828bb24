"""The studio's pages, a file for each, in the order of the work."""

from __future__ import annotations

from sfumato.web.studio.pages import (
    analyse,
    compare,
    data,
    deciding,
    opening,
    plan,
    protect,
    recode,
    release,
    risk,
    tables,
    trade_off,
)

__all__ = ["ROUTERS"]

ROUTERS = (
    plan.router,
    opening.router,
    data.router,
    risk.router,
    protect.router,
    recode.router,
    trade_off.router,
    compare.router,
    release.router,
    deciding.router,
    analyse.router,
    tables.router,
)
"""One for each file."""
