"""Talking to people on stderr and to programs on stdout."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rich.console import Console

from sfumato.cli.options import Reading
from sfumato.data.dataset import Parted
from sfumato.data.files.atomic import refuse_link, replacing
from sfumato.data.finding import Findings
from sfumato.data.unseen import seen
from sfumato.engines.polars import PolarsDataset, held
from sfumato.errors import FileError
from sfumato.render.layout import Following

__all__ = [
    "finish",
    "open_source",
    "open_table",
    "print_json",
    "print_screen",
    "refuse_same",
    "say",
    "telling_unlisted",
    "write_out",
]

_COLOURS = {
    r"^HOLDS(?=  )": "bold green",
    r"^EXCEEDED(?=  )|(exceeded|not measured)$": "bold red",
    r"^UNDECIDED(?=  )": "bold yellow",
    r"^(DRAFTED|RISK|LOST)(?=  )": "bold",
    r"^ (Who attacks|Column|What moved most|Key) .*$": "bold",
}


def say(lines: Sequence[str]) -> None:
    """Tell the user something, on stderr."""
    for line in lines:
        print(seen(line, lines=True), file=sys.stderr)


def refuse_same(output: Path | None, *inputs: Path | None) -> None:
    """Refuse to write over what is read, or through a symbolic link, before any work is done in vain.

    Raises
    ------
    FileError
        Where the output is one of the inputs or a link.
    """
    if output is not None:
        refuse_link(output)
    if output is not None and output.resolve() in {p.resolve() for p in inputs if p is not None}:
        raise FileError(f"{str(output)!r} is read by this command, so it is not written over. Choose another path.")


def open_table(path: Path, how: Reading) -> PolarsDataset:
    """Read a table and tell what was found out about its file."""
    from sfumato.api.opening import in_memory
    from sfumato.api.read import SAMPLE

    return in_memory(open_source(str(path), how), "This command", SAMPLE)


def open_source(source: str, how: Reading) -> PolarsDataset | Parted:
    """Read a table, or open one that stays where it is, and tell what was found out about its file."""
    from sfumato.api.opening import Opening, on_this_machine, opened, stays_where_it_is
    from sfumato.api.read import read
    from sfumato.cli.working import working

    place = on_this_machine(source)
    path = Path(place)
    with working() as progress:
        if stays_where_it_is(place, how.engine):
            progress("opening the data", 0)
            table = opened(place, Opening(how.engine, how.memory, how.temp, how.max_stratum))
            say(table.notes if held(table) else ())
            return table
        progress(f"reading {path.name}", 0)
        data: PolarsDataset = read(path, **how.of_files())
    say(data.notes)
    return data


def print_json(value: dict[str, Any]) -> None:
    """Print one JSON object to stdout; in ASCII where that is not UTF-8."""
    other = not (sys.stdout.encoding or "utf-8").lower().startswith("utf")
    print(json.dumps(value, ensure_ascii=other, allow_nan=False))


def print_screen(lines: Sequence[str]) -> None:
    """Print a screen to stdout; colours say nothing that words do not."""
    from sfumato.render.text import plain_text

    console = Console()
    for line in lines:
        text = plain_text(line)
        for words, style in _COLOURS.items():
            text.highlight_regex(words, style)
        console.print(text, soft_wrap=True)


def write_out(text: str, out: Path | None) -> None:
    """Write a text to a file, whole or not at all, or to stdout."""
    if out is None:
        print(text, end="")
    else:
        with replacing(out) as temporary:
            temporary.write_bytes(text.encode())
        say([f"Written: {out}"])


@contextmanager
def telling_unlisted(path: Path | None) -> Iterator[None]:
    """Write values that no hierarchy lists to the custodian's report, where one is asked for; messages have none."""
    from sfumato.methods.generalising import Unlisted

    try:
        yield
    except Unlisted as error:
        if path is not None:
            told = [f"{key}\t{value}\t{n}" for key, values in error.values.items() for value, n in values.items()]
            write_out("\n".join(["Values that no hierarchy lists: key, value, records", *told, ""]), path)
        raise


def finish(
    findings: Findings, screen: Sequence[str], following: Following, as_json: bool, *, verbose: bool, **more: Any
) -> None:
    """Print what was measured, and on stderr what could not be; leave with status 1 where a limit does not hold.

    Parameters
    ----------
    findings
        All of them.
    screen
        Its screen.
    following
        What to do next.
    as_json
        Whether to print JSON.
    verbose
        Whether to print every finding and note below the screen.
    **more
        For a program alone.
    """
    import typer

    from sfumato.render.screen import few
    from sfumato.render.text import show

    if as_json:
        print_json({**more, **findings.to_plain(), "next": following.plain})
        say([] if findings.ok else ["A limit of the plan is exceeded."])
    else:
        say(few(findings.notes, "note", every=verbose))
        print_screen(screen)
        if verbose:
            show(findings, Console())
    if not findings.ok:
        raise typer.Exit(1)
