"""The commands of `sfumato table`."""

from __future__ import annotations

import typer

from sfumato.cli.table import adjust, audit, bounds, build, perturb, protect, recode, round

__all__ = ["app"]

app = typer.Typer(
    name="table",
    help="Protected tables: build them from records, hide cells that tell of few, and audit what is handed out.",
    epilog="Example: sfumato table protect firms.csv --by industry,region --value turnover --rule 'n(3)' --out t.csv",
    no_args_is_help=True,
    rich_markup_mode=None,
)
app.command(epilog=build.EXAMPLE)(build.build)
app.command(epilog=protect.EXAMPLE)(protect.protect)
app.command(epilog=audit.EXAMPLE)(audit.audit)
app.command(epilog=bounds.EXAMPLE)(bounds.bounds)
app.command(epilog=perturb.EXAMPLE)(perturb.perturb)
app.command(epilog=recode.EXAMPLE)(recode.recode)
app.command(epilog=round.EXAMPLE)(round.round)
app.command(epilog=adjust.EXAMPLE)(adjust.adjust)
