"""Analyses that are tables: which table each of them is, and what is worked out from it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sfumato.gate.analyses.request import Request
from sfumato.gate.analyses.values import node_of
from sfumato.gate.margin import Margin
from sfumato.gate.records import Records

__all__ = ["of_table", "table_of"]


def table_of(request: Request) -> Margin:
    """The margin that an analysis is."""
    return Margin.of([node_of(name) for name in request.names], version=request.version)


def of_table(content: Mapping[str, Any], request: Request, records: Records) -> dict[str, Any]:
    """What is given: the table's content, with what the kind of analysis makes of it.

    Parameters
    ----------
    content
        The release of the table.
    request
        What was asked.
    records
        The data; the codebook alone is looked at.
    """
    made = dict(content) if request.kind.present is None else request.kind.present(content, request, records)
    return {**made, "analysis": request.to_plain()}
