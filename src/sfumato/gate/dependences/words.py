"""Dependences in words, for stewards, and which of them a steward may call chance."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sfumato.gate.dependences.found import Dependence

__all__ = ["BY_CHANCE", "CONSEQUENCE", "KNOWN_SIGN", "chance_problems", "columns_in", "in_words", "joined", "sentence"]

BY_CHANCE = ("never", "tells_together")
"""The kinds that can fall so by chance; the others are arithmetic."""
CONSEQUENCE = "From then on a table may be given to someone whom this dependence would let see more."
"""What it means that something counts as chance."""
KNOWN_SIGN = "@(known)"
"""Behind the name of a column: whether its value is there or missing."""


def joined(names: Sequence[str]) -> str:
    """Names with commas and a last `and`.

    Examples
    --------
    >>> joined(["a", "b", "c"])
    'a, b and c'
    """
    return " and ".join(", ".join(names).rsplit(", ", 1))


def _named(column: str) -> str:
    return f"whether {column.removesuffix(KNOWN_SIGN)} is missing" if column.endswith(KNOWN_SIGN) else column


def columns_in(one: Dependence) -> tuple[str, ...]:
    """All columns of a dependence, in rising order."""
    return tuple(sorted({*one.of, *(() if one.to is None else (one.to,))}))


def in_words(kind: str, of: Sequence[str], to: str | None, version: str = "") -> str:
    """What hangs on what, by names of columns alone.

    Parameters
    ----------
    kind, of, to, version
        As in `Dependence`.

    Examples
    --------
    >>> in_words("tells", ["ward"], "hospital")
    'ward tells hospital'
    >>> in_words("never", ["age", "cost@(known)"], None, "v2")
    'some combinations of age and whether cost is missing never occur, in version v2 alone'
    """
    parts, whole = joined([_named(one) for one in of]), _named(to or "")
    words = {
        "tells": f"{parts} tells {whole}",
        "tells_together": f"{parts} together tell {whole}",
        "never": f"some combinations of {parts} never occur",
        "band": f"{whole} is a band of {parts}",
        "adds": f"{whole} adds up from {parts}",
    }[kind]
    return words + (f", in version {version} alone" if version else "")


def sentence(one: Dependence) -> str:
    """A dependence in words."""
    return in_words(one.kind, one.of, one.to, one.version)


def chance_problems(chance: Iterable[Sequence[str]], found: Sequence[Dependence]) -> list[str]:
    """What is wrong with calling dependences chance: nothing was found, or what was found is arithmetic.

    Parameters
    ----------
    chance
        Sets of columns.
    found
        All that was found.

    Examples
    --------
    >>> chance_problems([["a", "b"], ["c", "d"]], [Dependence("tells", ("a",), "b", 2, 9.5)])[0]
    '`chance` of a and b: it is arithmetic (a tells b). Only `never` and `tells_together` can be by chance.'
    """
    out = []
    for columns in chance:
        own = [one for one in found if set(columns_in(one)) == set(columns)]
        if not own:
            out.append(f"`chance` of {joined(columns)}: no dependence of these columns was found.")
        elif hard := [one for one in own if one.kind not in BY_CHANCE]:
            out.append(
                f"`chance` of {joined(columns)}: it is arithmetic ({sentence(hard[0])}). Only `never` and "
                "`tells_together` can be by chance."
            )
    return out
