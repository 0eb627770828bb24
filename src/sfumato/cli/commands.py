"""Commands to paste: what a user typed, with what leads on in its place."""

from __future__ import annotations

from itertools import count
from pathlib import Path
from typing import Any

from sfumato.data.unseen import shell_word
from sfumato.render.layout import Command

__all__ = ["command", "next_plan", "options"]

_TO_FILL_IN = '"..."'
"""What a person writes in place of three dots may have blanks."""


def command(name: str, *arguments: str | Path | None, **given: Any) -> Command:
    """A command in parts, each quoted as a shell needs it.

    Parameters
    ----------
    name
        The command.
    *arguments
        Its arguments; None is left out.
    **given
        Options by the names of Python; None and False are left out, True is a flag.

    Examples
    --------
    >>> " ".join(command("protect", "my plan.yaml", "a.csv", out="release", overwrite=True, model=None))
    "sfumato protect 'my plan.yaml' a.csv --out release --overwrite"
    """
    return (f"sfumato {name}", *(shell_word(str(each)) for each in arguments if each is not None), *options(**given))


def options(**given: Any) -> Command:
    """Options of a command, as in `command`.

    Examples
    --------
    >>> options(out="release", no_header=True, sheet=None, because="...")
    ('--out release', '--no-header', '--because "..."')
    """
    said = {f"--{name.replace('_', '-')}": each for name, each in given.items() if each is not None}
    return tuple(
        flag if one is True else f"{flag} {_TO_FILL_IN if one == '...' else shell_word(str(one))}"
        for flag, each in said.items()
        for one in (each if isinstance(each, list) else [each])
        if one is not False
    )


def next_plan(plan: Path) -> Path:
    """Where the next version of a plan could be written: no file has that name.

    Examples
    --------
    >>> str(next_plan(Path("plan.yaml"))), str(next_plan(Path("study/plan2.yaml")))
    ('plan2.yaml', 'study/plan3.yaml')
    """
    stem = plan.stem.rstrip("0123456789")
    first = int(plan.stem[len(stem) :] or 1) + 1
    names = (plan.with_name(f"{stem}{number}{plan.suffix}") for number in count(first))
    return next(path for path in names if not path.exists())
