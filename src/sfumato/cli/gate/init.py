"""`sfumato gate init`: the store of a gate, made or brought up to date."""

from __future__ import annotations

from sfumato.cli.gate.running import Config
from sfumato.cli.options import Json

__all__ = ["EXAMPLE", "init"]

EXAMPLE = "Example: sfumato gate init --config gate.yaml"


def init(config: Config, json: Json = False) -> None:
    """Make the store that a configuration names, or bring it to the newest form, and take over what is new.

    New data sets, versions and policies become entries of the ledger. Policies that are in force stay: `sfumato gate
    policy set` changes them.
    """
    from sfumato.cli.gate.running import opened
    from sfumato.cli.talk import print_json, say
    from sfumato.cli.working import working
    from sfumato.gate.config import read_config
    from sfumato.gate.service import Gate

    known = read_config(config)
    with working() as progress:
        progress("reading the data sets", 0)
        Gate.init(known)
    with opened(config) as gate:
        datasets = {name: [version.name for version in own.versions] for name, own in gate.datasets().items()}
        seq, digest = gate.head()
        other = gate.other_policies()
    if json:
        print_json({"datasets": datasets, "ledger": {"seq": seq, "hash": digest}, "other_policies": other})
    else:
        shown = "; ".join(f"{name} ({', '.join(own)})" for name, own in datasets.items()) or "none"
        print(f"The store is ready. Data sets: {shown}. {seq} entries in the ledger.")
    say(
        [
            f"Policy {name!r} is in force otherwise than written: `sfumato gate policy set {name}` sets it."
            for name in other
        ]
    )
