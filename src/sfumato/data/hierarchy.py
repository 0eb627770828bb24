"""Generalisation hierarchies: how far apart categories are."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from sfumato.data.codebook import Scalar, Variable
from sfumato.kernels.strata import Ladder

__all__ = ["category_ladder"]

_EVERYTHING = "everything"


def category_ladder(variable: Variable, categories: Sequence[Scalar | None]) -> Ladder:
    """Tell how far apart categories are, 0 to 1.

    With a hierarchy the distance of two is the lowest level at which both have the same broader category, as a share of
    its height; without one, or for categories that it does not list, it is 1 for any two that differ.

    Parameters
    ----------
    variable
        The variable that all are categories of.
    categories
        One for each stratum; None is missing.

    Examples
    --------
    >>> city = Variable(hierarchy={"Leeds": ("North",), "York": ("North",), "Bath": ("South",)})
    >>> ladder = category_ladder(city, ["Leeds", "Bath"])
    >>> ladder.far
    (0.0, 0.5, 1.0)
    >>> ladder.names
    (('Leeds', 'North', 'everything'), ('Bath', 'South', 'everything'))
    """
    height = max((len(above) for above in variable.hierarchy.values()), default=0) + 1
    names: dict[Scalar | None, tuple[Hashable, ...]] = {}
    for one in categories:
        if one not in names:
            above = () if one is None else variable.hierarchy.get(one, ())
            alone = [object() for _ in range(height - 1 - len(above))]
            names[one] = (one, *above, *alone, _EVERYTHING)
    return Ladder(tuple(names[one] for one in categories), tuple(level / height for level in range(height + 1)))
