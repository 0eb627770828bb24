"""The command line: parse, call, print. No statistics here."""

from __future__ import annotations

import gc
import os
import sys
import warnings

TYPE_CHECKING = False  # what is imported here is imported before Ctrl-C is caught, so it is next to nothing
if TYPE_CHECKING:
    from typing import Any

    import typer

    from sfumato.cli.stopping import Stopping

__all__ = ["EXIT", "STOPPED", "main"]

EXIT = 130
"""Exit status of a process that was stopped."""
STOPPED = "Stopped. Nothing half-written is left behind."
_MANY = 2_000_000
"""Objects after which memory is searched for cycles: what libraries leave for good when imported is walked through by
every search, the last of which, at exit, is spared too. Together that is a third of a short run."""


def main() -> None:
    """Run the command line and leave with its exit status. Takes over the signals and standard streams of the process.

    0: done. 1: a limit is exceeded, or nothing is left to release. 2: misuse or unfit data, with a message. 70: a fault
    of its own. 130: stopped.
    """
    gc.set_threshold(_MANY)
    try:
        from sfumato.cli.stopping import Stopping
        from sfumato.cli.streams import set_apart

        out = set_apart()
        stopping = Stopping()
        stopping.catch()
        status = _work(stopping, out)
    except KeyboardInterrupt:
        print(STOPPED, file=sys.stderr)
        status = EXIT
    if "duckdb" not in sys.modules:  # its library tells, at exit, of all that was not searched for
        gc.freeze()
    sys.exit(status)


def _work(stopping: Stopping, out: int) -> int:
    """Do what is asked, tell what came of it, and give the exit status."""
    from sfumato.cli.streams import Streams

    streams = Streams(out)
    warnings.showwarning = _warn
    try:
        status = _run()
    except BaseException as error:  # a panic of Polars is no Exception, and what a library makes of Ctrl-C may be any
        status = EXIT if stopping.asked else _failed(error)
    stopping.over()
    if stopping.asked or status == EXIT:
        status = EXIT
        print(STOPPED, file=sys.stderr)
    return streams.end(status)


def _warn(message: Warning | str, category: type[Warning], *where: Any, **more: Any) -> None:
    """Say what we warn of on purpose as everything else is said; other warnings as Python does."""
    from sfumato.data.unseen import seen
    from sfumato.errors import SfumatoWarning

    if issubclass(category, SfumatoWarning):
        print(f"sfumato: {seen(str(message), lines=True)}", file=sys.stderr)
    else:
        _PLAINLY(message, category, *where, **more)


_PLAINLY = warnings.showwarning


def _run() -> int:
    if sys.argv[1:] == ["--version"]:  # before anything heavy is imported
        from importlib.metadata import version

        print(f"sfumato {version('sfumato')}")
        return 0
    from sfumato.cli.app import command_line

    return int(command_line()(standalone_mode=False) or 0)


def _failed(error: BaseException) -> int:
    """Tell what we raise on purpose, and usage errors; of anything else its type alone: its text may hold data."""
    import typer

    from sfumato.data.unseen import seen
    from sfumato.errors import EmptyRelease, LimitExceeded, SfumatoError

    if isinstance(error, SfumatoError):
        print(f"sfumato: {seen(str(error), lines=True)}", file=sys.stderr)
        return 1 if isinstance(error, EmptyRelease | LimitExceeded) else 2
    if isinstance(error, KeyboardInterrupt | typer.Abort):
        return EXIT
    if isinstance(error, typer.TyperException) and (show := getattr(error, "show", None)):
        _in_plain_words(error)
        show()
        return 2
    if os.environ.get("SFUMATO_DEBUG"):
        raise error
    print(
        f"sfumato: a fault of its own ({type(error).__name__}). SFUMATO_DEBUG=1 shows where, "
        "and may show data values: do not pass it on unread.",
        file=sys.stderr,
    )
    return 70


def _in_plain_words(error: typer.TyperException) -> None:
    """Say what is wrong with an option's value as plans' errors are said, in place of pydantic's words."""
    from pydantic import ValidationError

    from sfumato.data.plain_errors import plain_errors

    if isinstance(cause := error.__cause__, ValidationError):
        error.message = "; ".join(sentence for _, sentence in plain_errors(cause, None))
