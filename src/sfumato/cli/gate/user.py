"""`sfumato gate user`: people who may ask, and those who keep the gate."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from sfumato.cli.gate.running import Config, opened, told
from sfumato.cli.options import Json

__all__ = ["ADD", "PASSWORD", "REMOVE", "add", "password", "remove"]

ADD = "Example: sfumato gate user add ann --organisation north --role analyst --policy research --config gate.yaml"
PASSWORD = "Example: sfumato gate user password ann --config gate.yaml"
REMOVE = "Example: sfumato gate user remove ann --config gate.yaml"


def add(
    name: Annotated[str, typer.Argument(help="An id; it is never given again.")],
    policy: Annotated[str, typer.Option(help="Name of their policy.")],
    config: Config,
    organisation: Annotated[str | None, typer.Option(help="Which they join at once.")] = None,
    role: Annotated[Literal["analyst", "steward", "auditor"], typer.Option(help="What they may do.")] = "analyst",
    json: Json = False,
) -> None:
    """Declare a user, and print a password for the first login. It is shown once, and kept as a hash alone."""
    from sfumato.cli.talk import print_json, say

    with opened(config) as gate:
        password = gate.add_user(name, organisation, role, policy)
    if json:
        print_json({"id": name, "role": role, "password": password})
    else:
        print(password)
        say([f"The password of {name} for the first login. It is not shown again."])


def password(
    name: Annotated[str, typer.Argument(help="The user.")],
    config: Config,
    json: Json = False,
) -> None:
    """Print a password for one login, for somebody who forgot theirs. All their sessions end."""
    from sfumato.cli.talk import print_json, say

    with opened(config) as gate:
        made = gate.reset_password(name)
    if json:
        print_json({"id": name, "password": made})
    else:
        print(made)
        say([f"The password of {name} for the next login. It is not shown again."])


def remove(
    name: Annotated[str, typer.Argument(help="The user.")],
    config: Config,
    json: Json = False,
) -> None:
    """Take somebody's account and memberships. What they know stays known, and the last steward stays."""
    with opened(config) as gate:
        told(gate.remove_user(name), f"Remove {name}", json)
