"""The command line, and the lines of Python, that do what a page does."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sfumato.data.unseen import shell_word
from sfumato.web.studio.source import Source

__all__ = ["called", "command", "python_read", "reading"]


def command(words: Iterable[str], options: Mapping[str, Any]) -> str:
    """A line for a shell.

    Parameters
    ----------
    words
        What stands first.
    options
        By name: a text, a number, a list of these, True for a switch; what is empty is left out.

    Examples
    --------
    >>> command(["sfumato", "fit", "my release"], {"formula": "y ~ x", "json": True, "table": None})
    "sfumato fit 'my release' --formula 'y ~ x' --json"
    """
    parts = [shell_word(word) for word in words]
    for name, value in options.items():
        for one in value if isinstance(value, list | tuple) else [value]:
            if one is None or one is False or one == "":
                continue
            parts.append(f"--{name}")
            if one is not True:
                parts.append(shell_word(str(one)))
    return " ".join(parts)


def reading(source: Source) -> dict[str, Any]:
    """How a file is read, as options of the command line; what is as always is left out."""
    options: dict[str, Any] = {}
    for name, value in source.how.items():
        if name == "header" and value is not None:
            options["header" if value else "no-header"] = True
        elif value not in (None, 0, "", False) or (name == "sheet" and value is not None):
            options[name.replace("_", "-")] = value
    return options


def called(function: str, given: Sequence[str], options: Mapping[str, Any]) -> str:
    """A call in Python; options that are None, False or empty are left out.

    Examples
    --------
    >>> called("sf.fit", ["'y ~ x'"], {"family": "logit", "weight": None})
    "sf.fit('y ~ x', family='logit')"
    """
    named = [f"{name}={value!r}" for name, value in options.items() if value not in (None, False, "", 0, [])]
    return f"{function}({', '.join([*given, *named])})"


def python_read(source: Source) -> str:
    """The call that reads a file."""
    how = {name: value for name, value in source.how.items() if name != "header"}
    call = called("sf.read", [repr(str(source.path))], how)
    header = source.how.get("header")
    return call if header is None else f"{call[:-1]}, header={header})"
