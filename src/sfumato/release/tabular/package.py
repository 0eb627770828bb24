"""A table of totals as `datapackage.json` describes it, for programs, and with what only sfumato reads of it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from sfumato.report.tabular.papers import TablePapers
from sfumato.tables.axis import TOTAL
from sfumato.tables.table import (
    CELL_KEY,
    CONTRIBUTORS,
    LARGEST,
    LOWER,
    LOWER_LEVEL,
    PROVED,
    SECOND,
    STATUS,
    UPPER,
    UPPER_LEVEL,
    Table,
)

__all__ = ["DATA", "MORE", "WHOSE", "TableResource", "digest"]

DATA = "data.csv"
MORE = "data.contributions.csv"
"""What a file of a table has no columns for; in the custodian's folders alone."""
WHOSE = "data.contributors.csv"
"""What each contributor has in the finest cells; in the custodian's folders alone."""

_STATUSES = {
    "u": "unsafe, hidden",
    "x": "hidden beside unsafe cells",
    "s": "safe",
    "z": "published by the custodian's decision",
    "w": "a zero that nobody is behind",
}
_ABOUT = {
    CONTRIBUTORS: ("integer", "How many contribute to the cell."),
    LARGEST: ("number", "The largest contribution."),
    SECOND: ("number", "The second largest contribution."),
    LOWER_LEVEL: ("number", "How far below its value an unsafe cell must remain possible."),
    UPPER_LEVEL: ("number", "How far above its value an unsafe cell must remain possible."),
    LOWER: ("number", "Everybody can work out that a hidden cell is not less."),
    UPPER: ("number", "Everybody can work out that a hidden cell is not more."),
    CELL_KEY: ("number", "The cell's key, from 0 to below 1."),
    PROVED: ("integer", "Of unsafe cells: 0 where it is not proved that they hold, -1 where it is proved that not."),
}


def digest(content: bytes) -> str:
    """How a file is known again, as Frictionless writes it.

    Examples
    --------
    >>> digest(b"")[:14]
    'sha256:e3b0c44'
    """
    return f"sha256:{hashlib.sha256(content).hexdigest()}"


@dataclass(frozen=True)
class TableResource:
    """A table of totals in a package.

    Parameters
    ----------
    table
        The table.
    columns
        Columns of its file.
    content
        The file, byte by byte.
    papers
        What is told of it.
    beside
        Names and content of the files beside it, in the custodian's folders.
    """

    table: Table
    columns: tuple[str, ...]
    content: bytes
    papers: TablePapers
    beside: Mapping[str, bytes] = field(default_factory=dict)

    def to_plain(self) -> dict[str, Any]:
        """The resource for programs."""
        return {
            "name": "data",
            "path": DATA,
            "format": "csv",
            "mediatype": "text/csv",
            "encoding": "utf-8",
            "bytes": len(self.content),
            "hash": digest(self.content),
            "schema": {
                "fields": list(self._fields()),
                "missingValues": [""],
                "primaryKey": list(self.table.variables),
            },
        }

    def _fields(self) -> Iterator[dict[str, Any]]:
        for name in self.columns:
            if name in self.table.variables:
                yield {"name": name, "type": "string", "description": f"{TOTAL} where it is summed over."}
            elif name == self.table.value:
                yield {"name": name, "type": "number", "description": "The value; empty where it is not told."}
            elif name == STATUS:
                said = [{"value": letter, "label": text} for letter, text in self._statuses().items()]
                yield {"name": name, "type": "string", "categories": said}
            else:
                kind, text = _ABOUT[name]
                yield {"name": name, "type": kind, "description": text}

    def _statuses(self) -> dict[str, str]:
        """What letters mean; where all hidden cells have one, it tells nothing of them."""
        if (self.table.cells[STATUS] == "u").any():
            return _STATUSES
        return {letter: text for letter, text in _STATUSES.items() if letter != "u"} | {"x": "hidden"}

    def own(self) -> dict[str, Any]:
        """What only sfumato reads of it: hierarchies as child → parent, and what an analyst must know."""
        papers = self.papers
        told: dict[str, Any] = {
            "internal": papers.internal,
            "value": self.table.value,
            "hierarchies": {axis.name: list(axis.trees) for axis in self.table.axes},
            "method": papers.method,
            "rules": papers.rules,
            "figures": dict(papers.figures),
            "audit": dict(papers.audit),
            "passed": papers.ok,
            "proof": papers.proof,
            "tolerance": papers.tolerance,
            "reader": self._reader(),
            "must_know": list(papers.sentences),
            "disclosure": self.table.origin.disclosure.to_plain(),
        }
        if papers.internal:
            told["records"] = [n for n in ("weighted", "negative") if getattr(self.table.origin, n)]
        for name, path in (("more", MORE), ("contributors", WHOSE)):
            if path in self.beside:
                told[name] = {"path": path, "hash": digest(self.beside[path])}
        return {"table": {name: x for name, x in told.items() if not _nothing(x)}}

    def _reader(self) -> dict[str, Any] | None:
        """What readers were taken to know, so that an audit takes them to know the same."""
        known = self.papers.reader
        if known is None:
            return None
        letters = {} if known.threshold is None else {"threshold": known.threshold, "below": known.below}
        return known.to_plain() | letters


def _nothing(x: object) -> bool:
    return x is None or (isinstance(x, Mapping | list) and not x)
