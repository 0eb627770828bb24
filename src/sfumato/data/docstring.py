"""What docstrings say: the one source of schema, reference and command line for what a thing and its parameters are."""

from __future__ import annotations

import inspect
import re

__all__ = ["parameters", "prose", "summary"]

_HEADING = re.compile(r"^(\S.*)\n-{3,}[ ]*$", re.MULTILINE)


def _sections(text: str) -> dict[str, str]:
    """The text above the first heading under "", and each section under its heading."""
    above, *rest = _HEADING.split(inspect.cleandoc(text))
    return {"": above.strip(), **dict(zip(rest[::2], rest[1::2], strict=True))}


def prose(text: str | None) -> str:
    """What a docstring says above its first section.

    Examples
    --------
    >>> prose('Leave columns out.\\n\\nMore words.\\n\\nParameters\\n----------\\nx\\n    A number.')
    'Leave columns out.\\n\\nMore words.'
    """
    return _sections(text or "")[""]


def summary(thing: object) -> str:
    """The first paragraph of a thing's docstring, in one line.

    Examples
    --------
    >>> summary(prose)
    'What a docstring says above its first section.'
    """
    return " ".join(prose(thing.__doc__).split("\n\n")[0].split())


def parameters(thing: object) -> dict[str, str]:
    """What the docstring of a function or class says of each parameter, each in one line.

    A class says also what the classes that it is made of say, unless it has its own word for a parameter. An entry may
    name several parameters, with commas between, and a type after a colon.

    Parameters
    ----------
    thing
        With a docstring in NumPy's style.

    Examples
    --------
    >>> parameters(parameters)
    {'thing': "With a docstring in NumPy's style."}
    """
    told: dict[str, str] = {}
    for one in reversed(thing.__mro__) if isinstance(thing, type) else (thing,):
        told |= _entries(_sections(one.__doc__ or "").get("Parameters", ""))
    return told


def _entries(section: str) -> dict[str, str]:
    words: dict[str, list[str]] = {}
    names: list[str] = []
    for line in section.splitlines():
        if line[:1].strip():
            names = [name.strip() for name in line.partition(" : ")[0].split(",")]
        for name in names:
            words.setdefault(name, []).extend(line.split() if line[:1].isspace() else ())
    return {name: " ".join(said) for name, said in words.items()}
