"""The page `Policies`: what must hold for whom, and what other criteria would change, tried over the ledger."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from pydantic import ValidationError
from starlette.responses import Response

from sfumato.data.problems import problems_of
from sfumato.data.yaml import dump_yaml, load_yaml
from sfumato.errors import DataError, PlanError, SfumatoError
from sfumato.gate.policy import Policy
from sfumato.web.gate.pages.frame import problem, show, show_part, visitor_of
from sfumato.web.gate.pages.words import DECISIONS
from sfumato.web.gate.parts import TheGate, Who
from sfumato.web.layout.forms import Form, Given

__all__ = ["in_words", "router"]

router = APIRouter(include_in_schema=False)
_SHOWN = 50


@router.get("/pages/policies")
def policies_page(request: Request, gate: TheGate) -> Response:
    """Policies in force, in words and as they are written."""
    found = [
        {"name": name, "version": version, "words": in_words(policy), "text": written(policy)}
        for name, (version, policy) in sorted(gate.policy_versions().items())
    ]
    visitor = visitor_of(request)
    return show(
        request, "policies", "Policies", policies=found, keeper=visitor is not None and visitor.role == "steward"
    )


@router.post("/pages/policies/try")
def try_policy(request: Request, gate: TheGate, form: Form) -> Response:
    """What would have been decided otherwise; nothing is set."""
    try:
        name, policy = _read(form)
        tried = gate.try_policy(name, policy)
    except SfumatoError as error:
        return problem(request, error)
    return show_part(
        request,
        "policies_tried",
        name=name,
        tried=tried,
        text=form.one("text"),
        words=in_words(policy),
        changed=tried.changed[:_SHOWN],
        decisions=DECISIONS,
    )


@router.post("/pages/policies/set")
def set_policy(request: Request, gate: TheGate, who: Who, form: Form) -> Response:
    """Let it be in force from now on."""
    try:
        name, policy = _read(form)
        settled = gate.set_policy(name, policy, by=who.who)
    except SfumatoError as error:
        return problem(request, error)
    return show_part(request, "policies_done", name=name, words=in_words(policy), ledger=settled.ledger)


def _read(form: Given) -> tuple[str, Policy]:
    """A policy as a form has it: YAML, as in `gate.yaml`."""
    name = form.one("name")
    try:
        given, lines = load_yaml(form.one("text"))
    except PlanError as error:
        raise DataError("; ".join(map(str, error.problems))) from None
    if not name or not isinstance(given, dict):
        raise DataError("A policy has a name, and criteria such as `interval: {count: 4, width: 10}`.")
    try:
        return name, Policy.model_validate(given)
    except ValidationError as error:
        raise DataError("; ".join(map(str, problems_of(error, given, lines)))) from None


def written(policy: Policy) -> str:
    """A policy as `gate.yaml` has it."""
    plain = policy.model_dump(mode="json", exclude_defaults=True)
    if not (policy.interval or policy.attribution or policy.sap):  # rules on shares alone are said, or it asks nothing
        plain["dominance"] = list(policy.dominance)
    return dump_yaml(plain)


def in_words(policy: Policy) -> list[str]:
    """What a policy asks, in words.

    Examples
    --------
    >>> in_words(Policy(interval={"count": 4, "width": 10}, dominance="p(10)"))
    ['groups of 1 to 4 people cannot be told closer than 10', 'nobody weighs too much in a sum (p(10))']
    """
    out: list[str] = []
    if policy.interval:
        out.append(f"groups of 1 to {policy.interval.count} people cannot be told closer than {policy.interval.width}")
    if policy.attribution:
        rule = "all remain possible" if policy.attribution.rule == "any" else "two or more levels remain possible"
        out.append(f"of {', '.join(policy.attribution.variables)} {rule} for every group")
    if policy.dominance:
        out.append(f"nobody weighs too much in a sum ({', '.join(policy.dominance)})")
    if policy.sap:
        out.append(f"who knows {policy.sap.known} people finds a zero with probability {policy.sap.at_most:g} at most")
    if policy.noise:
        out.append(f"noisy answers together stay within a budget of {policy.noise.mu_at_most:g}")
    if policy.perturbed:
        out.append(f"tables may be had with noise of variance {policy.perturbed.variance:g}")
    out += _limits(policy)
    return out


def _limits(policy: Any) -> list[str]:
    out = []
    if policy.grants_per_day is not None:
        out.append(f"at most {policy.grants_per_day} grants a day")
    if policy.requests_per_day is not None:
        out.append(f"at most {policy.requests_per_day} requests a day")
    if policy.public is not None:
        after = f", or after {policy.public.grants} grants to others" if policy.public.grants else ""
        out.append(f"a public table stands in {policy.public.share:.0%} of the maximal releases{after}")
    return out
