"""The commands of `sfumato gate`."""

from __future__ import annotations

import typer

from sfumato.cli.gate import decide, maximal, replay, simulate

__all__ = ["app"]

app = typer.Typer(
    name="gate",
    help="What may be told to whom: decisions that rest on proofs, remembered in a ledger.",
    epilog="Example: sfumato gate decide ward.csv --known age,sex --ask age,hiv --interval 4:10",
    no_args_is_help=True,
    rich_markup_mode=None,
)
app.command(epilog=decide.EXAMPLE)(decide.decide)
app.command(epilog=replay.EXAMPLE)(replay.replay)
app.command(epilog=maximal.EXAMPLE)(maximal.maximal)
app.command(epilog=simulate.EXAMPLE)(simulate.simulate)
