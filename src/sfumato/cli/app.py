"""All commands."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import typer
import typer.main

from sfumato.cli import (
    anonymise,
    assess,
    card,
    check_links,
    demo,
    fit,
    init,
    measures,
    methods,
    protect,
    schema,
    serve,
    studio,
    tune,
)
from sfumato.cli.gate import app as gate
from sfumato.cli.table import app as table

__all__ = ["app", "command_line"]

app = typer.Typer(
    name="sfumato",
    help="Statistical disclosure control: share what sensitive data say without giving away whom they are about.",
    epilog="Example: sfumato init cohort.csv --out plan.yaml",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


@app.callback()
def _root(
    version: bool = typer.Option(
        False, "--version", help="Print the version.", is_eager=True, callback=schema.show_version
    ),
) -> None:
    pass


app.command(epilog=demo.EXAMPLE)(demo.demo)
app.command(epilog=init.EXAMPLE)(init.init)
app.command(epilog=protect.EXAMPLE)(protect.protect)
app.command(epilog=assess.RISK_EXAMPLE)(assess.risk)
app.command(epilog=assess.COMPARE_EXAMPLE)(assess.compare)
app.command(epilog=check_links.EXAMPLE)(check_links.check_links)
app.command(epilog=anonymise.EXAMPLE)(anonymise.anonymise)
app.add_typer(table.app)
app.add_typer(gate.app)
app.command(epilog=serve.EXAMPLE)(serve.serve)
app.command(epilog=studio.EXAMPLE)(studio.studio)
app.command(epilog=tune.EXAMPLE)(tune.tune)
app.command(epilog=card.EXAMPLE)(card.card)
app.command(epilog=fit.EXAMPLE)(fit.fit)
app.command(epilog=measures.EXAMPLE)(measures.measures)
app.command(epilog=methods.EXAMPLE)(methods.methods)
app.command(epilog=schema.EXAMPLE)(schema.schema)


@cache
def command_line() -> Callable[..., Any]:
    """Every command with its options, read off the functions' annotations once in a process."""
    return typer.main.get_command(app)
