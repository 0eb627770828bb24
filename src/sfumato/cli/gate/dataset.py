"""`sfumato gate dataset`: data sets and their versions."""

from __future__ import annotations

from typing import Annotated

import typer

from sfumato.cli.gate.running import Config, Steward, opened, told
from sfumato.cli.options import Json

__all__ = ["ADD", "LIST", "add", "list_"]

LIST = "Example: sfumato gate dataset list --config gate.yaml"
ADD = "Example: sfumato gate dataset add ward v2 --config gate.yaml"


def list_(config: Config, json: Json = False) -> None:
    """Show the data sets and their versions."""
    from sfumato.cli.talk import print_json

    with opened(config) as gate:
        found = {name: [version.name for version in own.versions] for name, own in gate.datasets().items()}
    if json:
        print_json({"datasets": found})
    else:
        for name, versions in found.items():
            print(f"{name}: {', '.join(versions)}")


def add(
    name: Annotated[str, typer.Argument(help="The data set.")],
    version: Annotated[str, typer.Argument(help="Name of the version, as the configuration has it.")],
    config: Config,
    by: Steward = None,
    json: Json = False,
) -> None:
    """Add a version that the configuration names; a table of a database is copied.

    Refused (exit status 1) where so few records came or went that tables of both versions would tell about them. Which
    dependences between columns it adds or ends is told, and who knows more than allowed since.
    """
    from sfumato.cli.talk import say
    from sfumato.errors import DataError
    from sfumato.gate.serving.core import COMMAND_LINE

    with opened(config) as gate:
        known = gate.config.datasets.get(name)
        if known is None or version not in known.versions:
            raise DataError(f"The configuration has no version {version!r} of a data set {name!r}.")
        added = gate.add_version(name, version, known.versions[version], by=by or COMMAND_LINE)
    say(added.notes)
    told(added, f"Version {version} of {name}", json)
