"""`sfumato gate init`: the store of a gate, made or brought up to date."""

from __future__ import annotations

from sfumato.cli.gate.running import Config, Steward
from sfumato.cli.options import Json

__all__ = ["EXAMPLE", "init"]

EXAMPLE = "Example: sfumato gate init --config gate.yaml"


def init(config: Config, by: Steward = None, json: Json = False) -> None:
    """Make the store that a configuration names, or bring it to the newest form, and take over what is new.

    New data sets, versions and policies become entries of the ledger. Policies that are in force stay: `sfumato gate
    policy set` changes them. What hangs together in the data is searched, and told; what the configuration calls chance
    waits for a second steward; new, it needs `--by`.
    """
    from sfumato.cli.gate.running import opened
    from sfumato.cli.talk import print_json, say
    from sfumato.cli.working import working
    from sfumato.gate.config import read_config
    from sfumato.gate.service import Gate
    from sfumato.gate.serving.core import COMMAND_LINE

    known = read_config(config)
    with working() as progress:
        progress("reading the data sets", 0)
        added = Gate.init(known, by=by or COMMAND_LINE)
    with opened(config) as gate:
        datasets = {name: [version.name for version in own.versions] for name, own in gate.datasets().items()}
        seq, digest = gate.head()
        other = gate.other_policies()
    if json:
        new = [{"dataset": one.dataset, "version": one.version, **one.to_plain()} for one in added]
        ledger = {"seq": seq, "hash": digest}
        print_json({"datasets": datasets, "ledger": ledger, "other_policies": other, "taken_over": new})
    else:
        shown = "; ".join(f"{name} ({', '.join(own)})" for name, own in datasets.items()) or "none"
        print(f"The store is ready. Data sets: {shown}. {seq} entries in the ledger.")
    say(
        [note for one in added for note in one.notes]
        + [
            f"Policy {name!r} is in force otherwise than written: `sfumato gate policy set {name}` sets it."
            for name in other
        ]
    )
