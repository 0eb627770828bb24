"""What the steps of a plan did to columns, as far as it must be known to measure what came of them."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from sfumato.data.codebook import Codebook
from sfumato.data.roles import Role

__all__ = ["Traces", "keys_of", "other_types"]


@dataclass(frozen=True)
class Traces:
    """Columns by what steps did to them, each once, in the order of the steps.

    *Late* is what happens from the first step that masks; where none does, from the first that coarsens.

    Parameters
    ----------
    masked
        What masking steps change.
    strata
        What masking steps keep apart.
    coarsened
        What is coarsened late. Numbers that stay numbers are not among them.
    comparable
        Numbers that are coarsened late and stay numbers.
    replaced
        Ids in whose place other ones stand, late.
    changed
        What other steps than masking ones and replacing ones change late.
    late
        All that is changed late.
    keys
        What steps name as keys, whatever its role.
    known
        What the plan says that single intruders know.

    Examples
    --------
    >>> Traces(masked=("age", "pay"), comparable=("age", "visits")).compared
    ('age', 'pay', 'visits')
    """

    masked: tuple[str, ...] = ()
    strata: tuple[str, ...] = ()
    coarsened: tuple[str, ...] = ()
    comparable: tuple[str, ...] = ()
    replaced: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    late: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()
    known: tuple[str, ...] = ()

    @property
    def compared(self) -> tuple[str, ...]:
        """What can be compared with what it was, where it is numbers before and after."""
        both = dict.fromkeys((*self.masked, *self.comparable))
        return tuple(name for name in both if name not in self.coarsened)


def keys_of(traces: Traces, codebook: Codebook) -> tuple[str, ...]:
    """The released columns that an intruder may know, masked ones too: role key, or named as keys by a step."""
    return tuple(n for n in codebook if codebook[n].role == Role.KEY or n in traces.keys)


def other_types(traces: Traces, before: pl.Schema, after: pl.Schema) -> list[str]:
    """The columns that hold numbers before or after masking, and something else in the other table.

    Parameters
    ----------
    traces
        What the plan did to columns.
    before, after
        Types of the columns.
    """
    both = [n for n in traces.changed if n in before and n in after]
    known = [n for n in both if pl.Null not in (before[n], after[n])]
    return [n for n in known if _is_number(before[n]) != _is_number(after[n])]


def _is_number(dtype: pl.DataType) -> bool:
    return dtype.is_numeric() or dtype == pl.Boolean
