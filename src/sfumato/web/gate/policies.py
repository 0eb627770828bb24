"""The criteria that are in force, and what others would change."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Body, Query

from sfumato.gate.policy import Policy
from sfumato.web.gate.answers import CHANGED
from sfumato.web.gate.parts import PathName, TheGate, Who

__all__ = ["router"]

router = APIRouter(tags=["policies"])
DryRun = Annotated[bool, Query(description="Say what would be decided otherwise, and set nothing.")]


@router.get("/policies")
def list_policies(gate: TheGate, who: Who) -> dict[str, Any]:
    """Policies in force."""
    found = gate.policy_versions()
    items = [
        {"id": name, "version": version, "policy": policy.model_dump(mode="json", exclude_defaults=True)}
        for name, (version, policy) in sorted(found.items())
    ]
    return {"items": items, "next": None}


@router.put("/policies/{policy}", responses=CHANGED)
def set_policy(
    policy: PathName, body: Annotated[Policy, Body()], gate: TheGate, who: Who, dry_run: DryRun = False
) -> dict[str, Any]:
    """Put criteria in force. `changed` are the decisions of the ledger that would be others under them."""
    tried = gate.try_policy(policy, body)
    if not dry_run:
        gate.set_policy(policy, body, by=who.who)
    return tried.to_plain()
