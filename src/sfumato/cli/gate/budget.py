"""`sfumato gate budget`: what is left to somebody."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from sfumato.cli.gate.running import Config, chosen_dataset, opened
from sfumato.cli.options import Json

if TYPE_CHECKING:
    from sfumato.gate.service import Budget

__all__ = ["EXAMPLE", "budget"]

EXAMPLE = "Example: sfumato gate budget ann --config gate.yaml"


def budget(
    who: Annotated[str, typer.Argument(help="Who asks; public for the public.")],
    config: Config,
    dataset: Annotated[str | None, typer.Option(help="The data set, where there are several.")] = None,
    json: Json = False,
) -> None:
    """Show what is left to somebody: of the budget of noise, and of the day. Nothing is counted for it."""
    from sfumato.cli.talk import print_json

    with opened(config) as gate:
        left = gate.budget(who, chosen_dataset(gate, dataset))
    if json:
        print_json(left.to_plain())
    else:
        print("\n".join(_told(left)))


def _told(left: Budget) -> list[str]:
    said = [f"Noise: {left.mu:.2f} of {left.mu_at_most:g} is used, what others may pass on included."]
    noisy = left.perturbed
    if noisy is None:
        said.append("Tables with noise: none can be had.")
    elif noisy.left:
        said.append(
            f"Tables with noise: {noisy.left} more, of variance {noisy.variance:g}; the next one uses {noisy.cost:.2f}."
        )
    else:
        said.append("Tables with noise: none more; those that were given can be had again.")
    said.append("Models with noise: what one uses comes with its answer.")
    for what, many in (("Requests", left.requests_left), ("Grants", left.grants_left)):
        said.append(f"{what} today: {'no limit' if many is None else f'{many} left'}.")
    return said
