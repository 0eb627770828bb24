"""Categories put together by hand, level by level: what an editor of hierarchies does."""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Iterable, Mapping

from sfumato.data.hierarchy import EVERYTHING, Hierarchy
from sfumato.errors import DataError

__all__ = ["Broader", "apart", "category", "rare_together", "renamed", "together"]

Broader = Mapping[str, tuple[str, ...]]
"""By value, its broader categories from narrow to broad; none for a value that stays as it is."""

_LONGEST = 200


def category(value: str, above: tuple[str, ...], level: int) -> str:
    """The category of a value on a level; 0 is the value, and above its broadest category it keeps that.

    Examples
    --------
    >>> category("Leeds", ("North",), 1), category("Leeds", ("North",), 2)
    ('North', 'North')
    """
    return (value, *above)[min(level, len(above))]


def together(broader: Broader, values: Collection[str], level: int, name: str) -> dict[str, tuple[str, ...]]:
    """Give values one category on a level, in place of the one that they have there.

    Below that level they keep what they have. Above it they go with the category where it is there already; else they
    keep what they share.

    Parameters
    ----------
    broader
        The categories as they are.
    values
        Which values; one that is not among them is added.
    level
        From 1.
    name
        Of the category.

    Raises
    ------
    DataError
        Where nothing is chosen, the name cannot be one, or a category would lie under two broader ones.

    Examples
    --------
    >>> together({"Leeds": ("North",)}, ["York", "Hull"], 1, "North")
    {'Leeds': ('North',), 'York': ('North',), 'Hull': ('North',)}
    """
    name = _named(name)
    chosen = set(values)
    if not chosen:
        raise DataError("Choose the categories first.")
    new = dict(broader)
    there = (
        above[level:] for value, above in new.items() if value not in chosen and above[level - 1 : level] == (name,)
    )
    tail = next(there, None)
    if tail is None:
        tails = {new[value][level:] for value in chosen if value in new and len(new[value]) > level}
        tail = tails.pop() if len(tails) == 1 else ()
    for value in values:
        above = new.get(value, ())
        below = above[: level - 1]
        below += (below[-1] if below else value,) * (level - 1 - len(below))
        new[value] = _trimmed(value, (*below, name, *tail))
    return _sound(new)


def renamed(broader: Broader, level: int, old: str, name: str) -> dict[str, tuple[str, ...]]:
    """Give a category on a level another name; one that is there already takes it in.

    Examples
    --------
    >>> renamed({"Leeds": ("N",), "Bath": ("South",)}, 1, "N", "North")
    {'Leeds': ('North',), 'Bath': ('South',)}
    """
    values = [value for value, above in broader.items() if above[level - 1 : level] == (old,)]
    new = dict(broader)
    for value in values:  # where the next level only repeats it
        above = list(new[value])
        while len(above) > level and above[level] == old:
            above.pop(level)
        new[value] = tuple(above)
    return together(new, values, level, name)


def apart(broader: Broader, nodes: Iterable[tuple[int, str]]) -> dict[str, tuple[str, ...]]:
    """Dissolve categories, and take values out of theirs.

    What is below a category takes its place; a value (level 0) is a category of its own then.

    Parameters
    ----------
    broader
        The categories as they are.
    nodes
        Level and name of each.

    Raises
    ------
    DataError
        Where nothing of it is together.

    Examples
    --------
    >>> apart({"Leeds": ("North",), "York": ("North",)}, [(0, "York")])
    {'Leeds': ('North',), 'York': ()}
    """
    new = dict(broader)
    for level, name in sorted(set(nodes), reverse=True):
        for value, above in new.items():
            path = [value, *above]
            if level < len(path) and path[level] == name and (at := max(level, 1)) < len(path):
                path[at] = path[at - 1]
                new[value] = _trimmed(value, tuple(path[1:]))
    if new == dict(broader):
        raise DataError("Choose categories that hold others, or values that are in one.")
    return _sound(new)


def rare_together(
    broader: Broader, records: Mapping[str, int], level: int, least: int, name: str
) -> dict[str, tuple[str, ...]]:
    """Put the categories of a level that few records have into one.

    Parameters
    ----------
    broader
        The categories as they are.
    records
        How many records each value has.
    level
        From 1.
    least
        Fewest records of a category that stays.
    name
        Of the one.

    Raises
    ------
    DataError
        Where no category has fewer.

    Examples
    --------
    >>> rare_together({}, {"a": 9, "b": 2, "c": 1}, 1, 5, "Other")
    {'b': ('Other',), 'c': ('Other',)}
    """
    sizes: dict[str, int] = {}
    of = {value: category(value, broader.get(value, ()), level) for value in dict.fromkeys([*broader, *records])}
    for value, label in of.items():
        sizes[label] = sizes.get(label, 0) + records.get(value, 0)
    chosen = [value for value, label in of.items() if 0 < sizes[label] < least and label != name]
    if not chosen:
        raise DataError(f"No category has fewer than {least} records.")
    return together(broader, chosen, level, name)


def _named(name: str) -> str:
    name = name.strip()
    if not name or name == EVERYTHING:
        raise DataError("Give the category a name; * stands for everything.")
    if len(name) > _LONGEST or any(unicodedata.category(letter) == "Cc" for letter in name):
        raise DataError(f"The name of a category has at most {_LONGEST} letters, in one line.")
    return name


def _trimmed(value: str, above: tuple[str, ...]) -> tuple[str, ...]:
    """Without categories at the end that only repeat the one below."""
    while above and above[-1] == (above[-2] if len(above) > 1 else value):
        above = above[:-1]
    return above


def _sound(new: dict[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    Hierarchy(tuple((value, *above) for value, above in new.items()))
    return new
