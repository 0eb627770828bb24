"""What the steps of a plan did to columns, as far as it must be known to measure what came of them."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Traces"]


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

    @property
    def compared(self) -> tuple[str, ...]:
        """What can be compared with what it was, where it is numbers before and after."""
        both = dict.fromkeys((*self.masked, *self.comparable))
        return tuple(name for name in both if name not in self.coarsened)
