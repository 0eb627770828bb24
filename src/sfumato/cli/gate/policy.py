"""`sfumato gate policy`: the criteria that are in force."""

from __future__ import annotations

from typing import Annotated

import typer

from sfumato.cli.gate.running import Config, opened, told
from sfumato.cli.options import Json

__all__ = ["LIST", "SET", "list_", "set_"]

LIST = "Example: sfumato gate policy list --config gate.yaml"
SET = "Example: sfumato gate policy set research --config gate.yaml"


def list_(config: Config, json: Json = False) -> None:
    """Show the policies in force."""
    from sfumato.cli.talk import print_json

    with opened(config) as gate:
        found = {
            name: policy.model_dump(mode="json", exclude_defaults=True) for name, policy in gate.policies().items()
        }
    if json:
        print_json({"policies": found})
    else:
        for name, told_ in found.items():
            print(f"{name}: {', '.join(f'{key} {value}' for key, value in told_.items())}")


def set_(
    name: Annotated[str, typer.Argument(help="The policy; its criteria are those of the configuration.")],
    config: Config,
    json: Json = False,
) -> None:
    """Put a policy in force as the configuration has it, from now on.

    What people know that a stricter policy would not have given stays known; they then get only what tells nothing more
    of a cell that is known too closely already.
    """
    from sfumato.errors import DataError

    with opened(config) as gate:
        if name not in gate.config.policies:
            raise DataError(f"The configuration has no policy {name!r}.")
        told(gate.set_policy(name, gate.config.policies[name]), f"Policy {name}", json)
