"""More than is known, such that bounds have a closed form: margins of a graph that no ring without a chord is left in.

Whoever knows margins knows no more than who knows the margins of all cliques of a chordal graph in which each of them
lies. For these the least and the most of every cell have a closed form and are reached (Dobra & Fienberg 2000, PNAS 97,
11885-11892): what is safe there is safe.
"""

from __future__ import annotations

from collections.abc import Sequence

from sfumato.kernels.tabular.margins import bits, largest, spanning

__all__ = ["covered", "triangulated", "without"]


def triangulated(margins: Sequence[int], size: Sequence[int]) -> tuple[int, ...]:
    """Cliques of a chordal graph in which every margin lies: fewest edges are added, then the smallest tables.

    Parameters
    ----------
    margins
        Sets of variables, as bits.
    size
        How many codes each variable has.

    Returns
    -------
    tuple of int
        The cliques, none of which holds another, the largest first.

    Examples
    --------
    A ring of four variables gets the chord that makes the smaller tables:

    >>> triangulated([0b0011, 0b0110, 0b1100, 0b1001], [2, 9, 2, 9])
    (7, 13)
    """
    near = _neighbours(margins)
    cliques = []
    while near:
        at = min(near, key=lambda i: _price(i, near, size))
        cliques.append(near[at] | 1 << at)
        _leave_out(at, near)
    return largest(cliques)


def without(margins: Sequence[int], gone: int, size: Sequence[int]) -> tuple[int, ...]:
    """What margins come to when some variables are left out, one by one: their neighbours then hang together.

    Variables that hang on nothing that is left are left out without a trace.

    Examples
    --------
    >>> without([0b0011, 0b0110, 0b1000], 0b0010, [2, 2, 2, 2])
    (5, 8)
    """
    near = _neighbours(margins)
    made = [margin & ~gone for margin in margins]
    while left := [i for i in near if gone >> i & 1]:
        at = min(left, key=lambda i: _price(i, near, size))
        made.append(near[at] & ~gone)
        _leave_out(at, near)
    return largest(mask for mask in made if mask)


def _neighbours(margins: Sequence[int]) -> dict[int, int]:
    near: dict[int, int] = {}
    for margin in margins:
        for i in bits(margin):
            near[i] = near.get(i, 0) | margin & ~(1 << i)
    return near


def _leave_out(at: int, near: dict[int, int]) -> None:
    around = near.pop(at)
    for i in bits(around):
        near[i] = (near[i] | around) & ~(1 << i | 1 << at)


def _price(i: int, near: dict[int, int], size: Sequence[int]) -> tuple[int, int, int]:
    around = near[i]
    missing = sum((around & ~(near[j] | 1 << j)).bit_count() for j in bits(around))
    table = size[i]
    for j in bits(around):
        table *= size[j]
    return missing, table, i


def covered(margins: Sequence[int], size: Sequence[int]) -> tuple[tuple[int, ...], tuple[int, ...], bool]:
    """The cliques of such a graph, what separates them, and whether they are no more than the margins.

    Returns
    -------
    cliques, separators, exact
        One separator fewer than cliques, repeated as often as it separates; the empty set separates what hangs on
        nothing.

    Examples
    --------
    >>> covered([0b011, 0b110], [2, 2, 2])
    ((3, 6), (2,), True)
    >>> covered([0b011, 0b110, 0b101], [2, 2, 2])
    ((7,), (), False)
    """
    cliques = triangulated(margins, size)
    between, _ = spanning(cliques)
    exact = all(any(clique & margin == clique for margin in margins) for clique in cliques)
    return cliques, between, exact
