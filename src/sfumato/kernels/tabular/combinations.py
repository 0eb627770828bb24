"""Which combinations of groups can be, from what is said of combinations of codes; also by way of other variables.

What cannot be with one code, and cannot be without it either, cannot be: rules about variables that nobody asks for
tell of those that are asked for.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["LARGEST", "Rule", "TooManyCombinations", "projected"]

Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]
Rule = tuple[tuple[str, ...], Bools]
"""Variables in rising order, and which combinations of their codes can be, with an axis for each."""

LARGEST = 1 << 24
"""Combinations that are gone through at most for one variable."""


class TooManyCombinations(ValueError):
    """More combinations would have to be gone through at once than are allowed."""


def projected(rules: Sequence[Rule], groups: Mapping[str, tuple[Ints, int]], most: int = LARGEST) -> list[Rule]:
    """Rules about codes as rules about groups of some variables; the others are left out one by one.

    A combination of groups can be where one of codes that lies in it can. Rules about nothing but what can be are left
    out.

    Parameters
    ----------
    rules
        Which combinations of codes can be.
    groups
        By variable that is kept, the group of each code and how many groups there are.
    most
        Combinations that are gone through at most for one variable.

    Raises
    ------
    TooManyCombinations
        Where more than `most` combinations would have to be gone through at once.

    Examples
    --------
    No man is pregnant, and whoever is not pregnant is not in the maternity ward:

    >>> pregnant = (("pregnant", "sex"), np.array([[True, True], [True, False]]))  # (no, yes), (F, M)
    >>> ward = (("pregnant", "ward"), np.array([[True, False], [True, True]]))  # (other, maternity)
    >>> own = np.arange(2), 2
    >>> [(names, can.tolist()) for names, can in projected([pregnant, ward], {"sex": own, "ward": own})]
    [(('sex', 'ward'), [[True, True], [True, False]])]
    """
    left = [_renamed(rule, groups) for rule in rules]
    sizes = {name: size for names, can in rules for name, size in zip(names, can.shape, strict=True)}
    open_ = {name for name in sizes if name not in groups or groups[name][1] < sizes[name]}
    while open_:
        name = min(open_, key=lambda one: (_price(one, left, sizes), one))
        open_.remove(name)
        own = [rule for rule in left if name in rule[0]]
        left = [rule for rule in left if name not in rule[0]]
        if not own or (name not in groups and _always_open(name, own, sizes[name])):
            continue
        names, can = _joined(own, sizes, most)
        axis = names.index(name)
        if name in groups:
            place, many = groups[name]
            grouped = np.zeros((many, *np.delete(can.shape, axis)), dtype=bool)
            np.logical_or.at(grouped, place, np.moveaxis(can, axis, 0))
            can, sizes[name] = np.moveaxis(grouped, 0, axis), many
        else:
            can, names = np.asarray(can.any(axis=axis)), (*names[:axis], *names[axis + 1 :])
        left.append((names, can))
    return _merged([part for names, can in _merged(left) if not can.all() for part in _parts(names, can)])


def _renamed(rule: Rule, groups: Mapping[str, tuple[Ints, int]]) -> Rule:
    """Codes that have a group each, in the order of these groups."""
    names, can = rule
    for axis, name in enumerate(names):
        if name in groups and groups[name][1] == can.shape[axis]:
            can = np.take(can, np.argsort(groups[name][0]), axis=axis)
    return names, can


def _price(name: str, rules: Sequence[Rule], sizes: Mapping[str, int]) -> int:
    return math.prod(sizes[other] for other in {other for names, _ in rules if name in names for other in names})


def _always_open(name: str, rules: Sequence[Rule], size: int) -> bool:
    """Whether some code of a variable can be whatever the others are: rules exclude too few to exclude all."""
    closed = 0
    for names, can in rules:
        closed += int((~can).sum(axis=names.index(name)).max())
    return closed < size


def _joined(rules: Sequence[Rule], sizes: Mapping[str, int], most: int) -> Rule:
    """What all of several rules leave possible."""
    names = tuple(sorted({name for own, _ in rules for name in own}))
    shape = [sizes[name] for name in names]
    if math.prod(shape) > most:
        raise TooManyCombinations
    out = np.ones(shape, dtype=bool)
    for own, can in rules:
        out &= can.reshape([sizes[name] if name in own else 1 for name in names])
    return names, out


def _parts(names: tuple[str, ...], can: Bools) -> list[Rule]:
    """Rules about as few variables as possible that say the same together; the rule itself where there are none."""
    out: list[Rule] = []
    left = np.ones(can.shape, dtype=bool)
    for size in range(1, len(names)):
        for held in itertools.combinations(range(len(names)), size):
            away = tuple(i for i in range(len(names)) if i not in held)
            own = np.asarray(can.any(axis=away))
            if (own != left.any(axis=away)).any():
                out.append((tuple(names[i] for i in held), own))
                left &= np.expand_dims(own, away)
        if (left == can).all():
            return out
    return [(names, can)]


def _merged(rules: Sequence[Rule]) -> list[Rule]:
    """One rule for each set of variables."""
    out: dict[tuple[str, ...], Bools] = {}
    for names, can in rules:
        out[names] = out[names] & can if names in out else can
    return sorted(out.items(), key=lambda rule: rule[0])
