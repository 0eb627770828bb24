"""All commands."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import typer
import typer.main
from typer.core import TyperGroup

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


class _Commands(TyperGroup):
    """All commands; of one that there is not it is said what the word of the field is called here."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        if args and self.get_command(ctx, args[0]) is None and not args[0].startswith("-"):
            from sfumato.methods.registry import methods
            from sfumato.plan.field_words import command_meant

            if (meant := command_meant(args[0], methods())) is not None:
                ctx.fail(f"No such command {args[0]!r}. Did you mean {meant}?")
        return super().resolve_command(ctx, args)


app = typer.Typer(
    name="sfumato",
    cls=_Commands,
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
