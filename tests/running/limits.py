"""How long a test may take, for what runs tests and for what runs in them: the former needs no pytest."""

from __future__ import annotations

__all__ = ["LONG"]

LONG = {"slow": 300, "browser": 300, "nightly": 1200}
"""Seconds after which a test of these marks is taken for stuck; `timeout` in pyproject.toml is for all others."""
