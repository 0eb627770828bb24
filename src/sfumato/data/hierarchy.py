"""Generalisation hierarchies: how far apart two categories are."""

from __future__ import annotations

from sfumato.data.codebook import Scalar, Variable

__all__ = ["category_distance"]


def category_distance(variable: Variable, a: Scalar | None, b: Scalar | None) -> float:
    """Distance of two categories, 0 to 1.

    With a hierarchy it is the lowest level at which both have the same broader category, as a share of its height;
    without one, or for categories that it does not list, it is 1 for any two that differ.

    Parameters
    ----------
    variable
        The variable that both are categories of.
    a, b
        The categories; None is missing.

    Examples
    --------
    >>> city = Variable(hierarchy={"Leeds": ("North",), "York": ("North",), "Bath": ("South",)})
    >>> category_distance(city, "Leeds", "York"), category_distance(city, "Leeds", "Bath")
    (0.5, 1.0)
    """
    if a == b:
        return 0.0
    if a is None or b is None or a not in variable.hierarchy or b not in variable.hierarchy:
        return 1.0
    above_a, above_b = variable.hierarchy[a], variable.hierarchy[b]
    height = max(len(above) for above in variable.hierarchy.values()) + 1
    for level, (x, y) in enumerate(zip(above_a, above_b, strict=False), start=1):
        if x == y:
            return level / height
    return 1.0
