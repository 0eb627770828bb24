"""The command line: parse, call, print. No statistics here."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    import typer

__all__ = ["main"]


def main() -> None:
    """Run the command line and leave with its exit status.

    0: done. 1: a limit is exceeded. 2: misuse or unfit data, with a message. 70: a fault of its own. 130: stopped.
    """
    if sys.argv[1:] == ["--version"]:  # before anything heavy is imported
        from importlib.metadata import version

        print(f"sfumato {version('sfumato')}")
        return
    try:
        sys.exit(_run())
    except KeyboardInterrupt:
        print("Stopped. Nothing was left behind.", file=sys.stderr)
        sys.exit(130)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)


def _run() -> int:
    from sfumato.errors import EmptyRelease, LimitExceeded, SfumatoError

    try:
        from sfumato.cli.app import app

        return int(app(standalone_mode=False) or 0)
    except SfumatoError as error:
        print(f"sfumato: {error}", file=sys.stderr)
        return 1 if isinstance(error, EmptyRelease | LimitExceeded) else 2
    except Exception as error:
        return _fault(error)


def _fault(error: Exception) -> int:
    """Show usage errors as their library words them, anything else by its type alone: its text may hold data."""
    import typer

    if isinstance(error, typer.Abort):
        raise KeyboardInterrupt from None
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
