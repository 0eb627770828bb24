"""What an attacker works out of protected tables as they are handed out."""

from __future__ import annotations

from sfumato.tables.audit.audit import Audit, audit

__all__ = ["Audit", "audit"]
