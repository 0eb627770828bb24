"""`sfumato studio`: a plan made in the browser."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from sfumato.cli.options import (
    Decimal,
    Delimiter,
    Encoding,
    Header,
    Json,
    NameBlank,
    Reading,
    SecretFile,
    Sheet,
    SkipRows,
)

__all__ = ["EXAMPLE", "studio"]

EXAMPLE = "Example: sfumato studio cohort.sav"


def studio(
    data: Annotated[Path | None, typer.Argument(help="The data file; else one is chosen in the browser.")] = None,
    plan: Annotated[Path | None, typer.Option("--plan", help="A plan to go on with; else one is drafted.")] = None,
    port: Annotated[int, typer.Option(min=0, max=65535, help="Where it listens; 0 for any that is free.")] = 0,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open the browser.")] = True,
    secret_file: SecretFile = None,
    json: Json = False,
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    decimal: Decimal = None,
    header: Header = None,
    skip_rows: SkipRows = 0,
    sheet: Sheet = None,
    name_blank: NameBlank = False,
) -> None:
    """Look at a file, make a plan, run it and look at what comes of it, in the browser of this machine.

    It speaks to this machine and to you alone: the address that it prints opens it once, and Enter prints a new one. It
    runs until it is stopped (Ctrl-C).
    """
    import os
    import sys

    from sfumato.cli.talk import print_json, say
    from sfumato.release.secret import Secret

    run_studio, each_line, leave = _server()
    how = Reading(delimiter, encoding, decimal, header, skip_rows, sheet, name_blank).of_files()

    def begun(new: Callable[[], str], private: Path) -> None:
        first = new()
        if json:
            print_json({"url": first, "pid": os.getpid()})
        else:
            say([f"The studio is at {first}", "This address opens it once. Enter prints a new one, Ctrl-C ends it."])
        sys.stdout.flush()
        if browser and not json:
            _show(first, private)
        if not json and sys.stdin is not None and sys.stdin.isatty():
            each_line(lambda: say([f"The studio is at {new()}"]))

    run_studio(data, plan, Secret.find(secret_file), how, port, begun)
    leave(0)


def _server() -> tuple[Any, Any, Any]:
    """What serves it, where the extra and the files of others are there.

    Raises
    ------
    MissingExtra, FileError
        With the line to run.
    """
    from sfumato.errors import FileError, MissingExtra

    try:
        from sfumato.web.layout.rendering import VENDOR
        from sfumato.web.server import leave
        from sfumato.web.studio.application import STATIC
        from sfumato.web.studio.running import each_line, run_studio
    except ModuleNotFoundError as error:  # pragma: no cover - tests have the extra
        if (error.name or "").startswith("sfumato"):
            raise
        raise MissingExtra("The studio", "studio") from None
    if not all((STATIC / name).is_file() for name in VENDOR):
        raise FileError(
            "The studio's pages need two files that are not here (htmx, Pico CSS). In a clone run: make vendor"
        )
    return run_studio, each_line, leave


def _show(address: str, private: Path) -> None:
    """Open the browser at an address, by way of a private file: the process list shows what a browser is given."""
    import functools
    import os
    import webbrowser

    page = private / "open.html"
    with open(page, "w", encoding="utf-8", opener=functools.partial(os.open, mode=0o600)) as file:
        file.write(f'<!doctype html><meta charset="utf-8"><meta http-equiv="refresh" content="0;url={address}">')
    webbrowser.open(page.as_uri())
