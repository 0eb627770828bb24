"""`init --ask`: what others know, asked at a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    import polars as pl

    from sfumato.data.codebook import Codebook
    from sfumato.data.profile import Guess
    from sfumato.plan.wishes import Wishes
    from sfumato.render.layout import Command

__all__ = ["asked", "command_of", "refuse_asking"]

_ANSWERS = {"y": "yes", "n": "no", "o": "leave out"}
_WHY = "Why can nobody outside know them? The answer is published (20 to 300 characters)"


def refuse_asking(tables: int, edited: bool) -> None:
    """Refuse to ask where nobody can answer.

    Raises
    ------
    DataError
        Where this is no terminal, or there are several tables or an edited plan.
    """
    from sfumato.errors import DataError

    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise DataError("--ask asks questions, and this is no terminal. Say the same by --unknown, --keys, --because.")
    if tables > 1 or edited:
        raise DataError("--ask is for one table without an edited plan.")


def command_of(data: str, out: Path | None, typed: Mapping[str, Any]) -> Callable[[Wishes], Command]:
    """Gives the command that says what was answered.

    Parameters
    ----------
    data, out
        The data file and where the plan is written, as they were given.
    typed
        Options by which the file is read, as they were typed.
    """
    from sfumato.cli.commands import command

    def said(wishes: Wishes) -> Command:
        flags: dict[str, Any] = {} if wishes.purpose == "scientific-use" else {"for": wishes.purpose}
        for name in ("keys", "unknown", "sensitive", "outcome", "keep", "leave_out"):
            flags |= {name: ",".join(named)} if (named := getattr(wishes, name)) else {}
        single = ("because", "record", "person", "household")
        flags |= {name: each for name in single if (each := getattr(wishes, name))}
        return command("init", data, **flags, out=out, **typed)

    return said


def asked(
    frame: pl.DataFrame,
    codebook: Codebook,
    guesses: Sequence[Guess],
    wishes: Wishes,
    said: Callable[[Wishes], Command],
) -> Wishes:
    """Ask at most five questions, and give the wishes with the answers.

    Parameters
    ----------
    frame, codebook, guesses
        The table, and what is known of it.
    wishes
        What was said already.
    said
        The command that says the answers.
    """
    from sfumato.cli.talk import say
    from sfumato.measures.saying import percent
    from sfumato.render.layout import command_lines
    from sfumato.tuning.asking import what_hangs_on

    unknown, out = list(wishes.unknown), list(wishes.leave_out)
    for each in what_hangs_on(frame, codebook, guesses, wishes):
        text = f"Can anybody outside know {each.column}? If not, {percent(each.now)} found become {percent(each.then)}."
        answer = typer.prompt(f"{text} [y]es, [n]o, leave [o]ut", default="y", err=True, value_proc=_answer)
        unknown += [each.column] if answer == "n" else []
        out += [each.column] if answer == "o" else []
    because = wishes.because
    if unknown and because is None:
        because = typer.prompt(_WHY, err=True)
    told = replace(wishes, unknown=tuple(unknown), leave_out=tuple(out), because=because)
    say(["The same without questions:", *command_lines(said(told))])
    return told


def _answer(text: str) -> str:
    letter = text.strip().lower()[:1]
    if letter not in _ANSWERS:
        raise typer.BadParameter("answer y, n or o")
    return letter
