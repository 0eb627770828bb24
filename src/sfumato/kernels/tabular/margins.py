"""Sets of margins, as sets of variables: which hold which, how they hang together, where they can be taken apart.

A set of variables is a whole number with a bit for each. A set of margins is decomposable where a tree joins them such
that a variable that stands in two of them stands in all between: then bounds of the cells have a closed form
(Dobra & Fienberg 2000, PNAS 97, 11885-11892). Where it is not, it may still be taken apart at margins that separate the
rest, and each part be bounded by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

__all__ = ["bits", "chordal_graphs", "chordal_with", "grown", "largest", "spanning", "split"]


def bits(mask: int) -> tuple[int, ...]:
    """The variables of a set, in rising order.

    Examples
    --------
    >>> bits(0b1101)
    (0, 2, 3)
    """
    return tuple(i for i in range(mask.bit_length()) if mask >> i & 1)


def largest(masks: Iterable[int]) -> tuple[int, ...]:
    """Those that no other one holds, the largest first.

    Examples
    --------
    >>> largest([0b11, 0b01, 0b110, 0b11])
    (3, 6)
    """
    kept: list[int] = []
    for mask in sorted(set(masks), key=lambda m: (-m.bit_count(), m)):
        if not any(mask & other == mask for other in kept):
            kept.append(mask)
    return tuple(kept)


def spanning(margins: Sequence[int]) -> tuple[tuple[int, ...], bool]:
    """What neighbours share in the tree of margins that shares most, and whether the margins are decomposable.

    They are where all margins together have as many variables, each counted as often as it stands, as their union and
    the shared ones (Bernstein & Goodman 1981, SIAM J. Comput. 10, 751-771).

    Parameters
    ----------
    margins
        None of which holds another.

    Returns
    -------
    tuple
        One shared set for each margin but the first, repeated as often as it is shared.

    Examples
    --------
    >>> spanning([0b011, 0b110])
    ((2,), True)
    >>> spanning([0b011, 0b110, 0b101])[1]
    False
    """
    if not margins:
        return (), True
    shared = [between for _, _, between in _tree(margins)]
    union = 0
    for margin in margins:
        union |= margin
    whole = sum(m.bit_count() for m in margins) - sum(s.bit_count() for s in shared)
    return tuple(shared), whole == union.bit_count()


def _tree(margins: Sequence[int]) -> list[tuple[int, int, int]]:
    """The tree of margins that shares most: one end, the other, and what they share."""
    best = {i: (0, margins[0] & margins[i]) for i in range(1, len(margins))}
    out = []
    while best:
        at = min(best, key=lambda i: (-best[i][1].bit_count(), i))
        near, shared = best.pop(at)
        out.append((near, at, shared))
        for i, (_, held) in best.items():
            closer = margins[at] & margins[i]
            if closer.bit_count() > held.bit_count():
                best[i] = at, closer
    return out


def split(margins: Iterable[int], known: Iterable[int]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Take a set of margins apart at known ones, as far as that goes.

    Parameters
    ----------
    margins
        Sets of variables about which something is told, which stay together.
    known
        Margins that are known in full: what lies within one may separate.

    Returns
    -------
    tuple
        The parts, and what separates them, as often as it does: one fewer than parts.

    Examples
    --------
    A ring of four variables, and a fifth that hangs on it:

    >>> split([0b00011, 0b00110, 0b01100, 0b01001, 0b11000], [0b00011, 0b00110, 0b01100, 0b01001, 0b11000])
    ((15, 24), (8,))
    """
    margins, known = largest(margins), largest(known)
    union = 0
    for margin in margins:
        union |= margin
    parts: list[int] = []
    between: list[int] = []
    waiting = [union]
    while waiting:
        part = waiting.pop()
        cut = _cut(part, margins, known)
        if cut is None:
            parts.append(part)
            continue
        inner, border = cut
        between.append(border)
        waiting += [inner | border, part & ~inner]
    order = sorted(parts, key=lambda m: (-m.bit_count(), m))
    return tuple(order), tuple(sorted(between))


def _cut(part: int, margins: Sequence[int], known: Sequence[int]) -> tuple[int, int] | None:
    """A set of variables that a known margin separates from others, and what of it does."""
    near = dict.fromkeys(bits(part), 0)
    for margin in margins:
        for i in bits(margin & part):
            near[i] |= margin & part
    for margin in largest(m & part for m in known):
        left = part & ~margin
        while left:
            inner = _connected(left & -left, left, near)
            rest = part & ~(inner | _border(inner, near))
            if rest:  # the border of what lies beyond is a smallest one
                beyond = _connected(rest & -rest, rest, near)
                return beyond, _border(beyond, near)
            left &= ~inner
    return None


def _border(inner: int, near: dict[int, int]) -> int:
    border = 0
    for i in bits(inner):
        border |= near[i]
    return border & ~inner


def _connected(start: int, within: int, near: dict[int, int]) -> int:
    found, fresh = start, start
    while fresh:
        reached = 0
        for i in bits(fresh):
            reached |= near[i]
        fresh = reached & within & ~found
        found |= fresh
    return found


def grown(
    cliques: Sequence[int], known: Sequence[int], fits: Callable[[int], bool]
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Put cliques of a chordal graph together along its tree, where what separates them is not known.

    Parameters
    ----------
    cliques
        None of which holds another.
    known
        What may separate.
    fits
        Whether a set of variables is small enough.

    Returns
    -------
    tuple
        The parts, and what separates them, as often as it does: one fewer than parts.

    Examples
    --------
    >>> grown([0b0011, 0b0110, 0b1100], [0b0100], lambda part: True)
    ((7, 12), (4,))
    """
    parts = list(cliques)
    tree = _tree(parts)
    group = list(range(len(parts)))
    between = []
    for i, j, shared in tree:
        a, b = group[i], group[j]
        if not any(shared & one == shared for one in known) and fits(parts[a] | parts[b]):
            parts[a] |= parts[b]
            group = [a if g == b else g for g in group]
        else:
            between.append(shared)
    kept = tuple(parts[g] for g in dict.fromkeys(group))
    return kept, tuple(between)


def chordal_graphs(n: int) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Every decomposable set of margins of n variables, each of which stands in one; the margin of all comes last.

    They are the cliques of all labelled graphs without a ring of four or more that no chord crosses: 18,154 for six
    variables (sequence A058862 of the OEIS).

    Yields
    ------
    tuple
        The margins, none of which holds another, and what separates them, as often as it does.

    Examples
    --------
    >>> [sum(1 for _ in chordal_graphs(n)) for n in (1, 2, 3, 4)]
    [1, 2, 8, 61]
    """
    pairs = [(i, j) for j in range(n) for i in range(j)]
    for graph in range(1 << len(pairs)):
        near = [0] * n
        for k, (i, j) in enumerate(pairs):
            if graph >> k & 1:
                near[i] |= 1 << j
                near[j] |= 1 << i
        found = _cliques(near)
        if found is not None:
            yield found


def chordal_with(near: Sequence[int], i: int, j: int) -> int | None:
    """The clique that a new edge of a chordal graph makes; None where the graph would not stay chordal.

    It does where every way from one end to the other leads through what is near to both (Deshpande, Garofalakis &
    Jordan 2001).

    Parameters
    ----------
    near
        By variable, those that it has an edge with.
    i, j
        The ends, which have none.

    Examples
    --------
    >>> chordal_with([0b010, 0b101, 0b010], 0, 2)
    7
    >>> chordal_with([0b0010, 0b0101, 0b1010, 0b0100], 0, 3) is None
    True
    """
    both = near[i] & near[j]
    everything = (1 << len(near)) - 1
    reached = _connected(1 << i, everything & ~both, dict(enumerate(near)))
    return None if reached >> j & 1 else both | 1 << i | 1 << j


def _cliques(near: Sequence[int]) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
    """Cliques and separators of a graph, by maximum cardinality search; None where it is not chordal."""
    n = len(near)
    seen, before = 0, -1
    cliques: list[int] = []
    between: list[int] = []
    while seen != (1 << n) - 1:
        at = max((i for i in range(n) if not seen >> i & 1), key=lambda i: ((near[i] & seen).bit_count(), -i))
        earlier = near[at] & seen
        if any(earlier & ~(near[i] | 1 << i) for i in bits(earlier)):
            return None
        if earlier.bit_count() <= before or not cliques:
            if cliques:
                between.append(earlier)
            cliques.append(earlier)
        cliques[-1] |= 1 << at
        seen |= 1 << at
        before = earlier.bit_count()
    return tuple(sorted(cliques, key=lambda m: (-m.bit_count(), m))), tuple(sorted(between))
