"""The laws that our own methods and measures keep, for those that other packages bring."""

from __future__ import annotations

from sfumato.testing.laws import Law, laws
from sfumato.testing.tables import PEOPLE, people, with_missing

__all__ = ["PEOPLE", "Law", "laws", "people", "with_missing"]
