"""What a change to a plan should bring about: measures ask for it, methods say how they would do it."""

from __future__ import annotations

from enum import Enum

__all__ = ["Aim"]


class Aim(Enum):
    """What a change to a plan should bring about.

    A measure names the aim that would mend its figure (`sfumato.measures.measure.Figure.aim`); a method names what in
    its own step would serve it (`sfumato.methods.base.Remedy`). So neither has to know the other.

    Examples
    --------
    >>> Aim.FURTHER.value
    'values further from the truth, records harder to find'
    """

    FURTHER = "values further from the truth, records harder to find"
    UNSOLVED = "releases that cannot be solved for the values they were made of"
    ALIKE = "more people with equal keys"
    DIVERSE = "groups in which people differ in what must not be learnt"
    TOGETHER = "releases that tell no more together than one"
    GENTLER = "less loss"
    READ = "a category that cannot be read off"
    KEPT = "fewer values that stay as they were"
    BOUNDS = "no impossible values"
    APART = "people who stand apart hidden as well as the rest"
    MEANS = "means as they were"
    SPREAD = "spreads as they were"
    TABLES = "tables that are harder to tell apart"
