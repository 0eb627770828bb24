"""The table as it was read beside the released records, for measures of what was lost."""

from __future__ import annotations

from typing import Any, cast

import polars as pl

from sfumato.data.dataset import Dataset
from sfumato.data.hidden import leaving
from sfumato.data.remembered import Remembered
from sfumato.data.roles import IDS, Role
from sfumato.measures.subject import Subject

__all__ = ["columns_read", "columns_released", "released", "schema_of"]

_IDS = (*IDS, Role.IDENTIFIER)


def released(subject: Subject) -> Dataset:
    """The released records with all their columns, and with what was noted of their gaps where it was."""
    if subject.result is not None:
        return subject.result
    return subject.after.data if isinstance(subject.after, Remembered) else subject.after


def schema_of(data: Dataset) -> pl.Schema:
    """Types of a table's columns, wherever its rows are."""
    return pl.Schema(cast(Any, data).schema)


def columns_read(subject: Subject) -> list[str]:
    """The columns of the table as it was read, without identifiers and ids."""
    data = subject.read
    schema = schema_of(data)
    names = leaving(data.codebook)
    return [n for n in names if data.codebook[n].role not in _IDS and not schema[n].is_nested()]


def columns_released(subject: Subject) -> list[str]:
    """Those of these that are released."""
    there = schema_of(released(subject))
    return [n for n in columns_read(subject) if n in there and not there[n].is_nested()]
