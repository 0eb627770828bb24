"""`sfumato gate secret`: what noise and draws are keyed with."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sfumato.cli.options import Json

__all__ = ["EXAMPLE", "secret"]

EXAMPLE = "Example: sfumato gate secret --out key"


def secret(
    out: Annotated[Path, typer.Option(help="File to write it to; one that is not there yet.")],
    json: Json = False,
) -> None:
    """Make a secret for a gate, or for releases of a data set. Only you can read its file; the secret is not shown."""
    from sfumato.cli.talk import print_json
    from sfumato.release.secret import make_secret

    make_secret(out)
    if json:
        print_json({"out": str(out)})
    else:
        print(f"Written: {out}. Keep a copy where nobody else comes: without it the same noise cannot be drawn again.")
