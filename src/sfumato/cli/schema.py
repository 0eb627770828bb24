"""`sfumato schema` and `sfumato --version`."""

from __future__ import annotations

import json

import typer

from sfumato.cli.options import Out

__all__ = ["EXAMPLE", "schema", "show_version"]

EXAMPLE = "Example: sfumato schema --out plan.schema.json"


def schema(out: Out = None) -> None:
    """Print the JSON Schema of plans, from which editors complete and check."""
    from sfumato.cli.talk import write_out
    from sfumato.plan.plan import Plan

    write_out(json.dumps(Plan.json_schema(), indent=2) + "\n", out)


def show_version(wanted: bool) -> None:
    """Print the version and leave."""
    if wanted:
        from importlib.metadata import version

        print(f"sfumato {version('sfumato')}")
        raise typer.Exit
