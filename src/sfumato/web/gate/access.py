"""Who may reach which route: one table. What does not stand in it cannot be reached."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from starlette.routing import compile_path

from sfumato.gate.serving.doors import SCOPES

__all__ = ["ALL_SCOPES", "ROLES", "TABLE", "Rule", "Table"]

ROLES = ("analyst", "steward", "auditor")
ALL_SCOPES = frozenset(scope for scopes in SCOPES.values() for scope in scopes)


@dataclass(frozen=True)
class Rule:
    """Who may reach a route.

    Parameters
    ----------
    roles
        Whose role is one of these.
    scopes
        With a token that has one of these; none where only who is logged in may.
    anonymous
        Everybody may, without a login too.
    loopback
        On this machine alone.
    timed
        Its answers leave at multiples of 250 ms.
    page
        It is a page: who is not logged in is led to the login, and what is wrong is told by a page.
    """

    roles: frozenset[str] = frozenset()
    scopes: frozenset[str] = frozenset()
    anonymous: bool = False
    loopback: bool = False
    timed: bool = False
    page: bool = False


def _rule(roles: str, scopes: str = "", **more: bool) -> Rule:
    return Rule(frozenset(roles.split()), frozenset(scopes.split()), **more)


_OPEN = Rule(anonymous=True)
_OPEN_PAGE = Rule(anonymous=True, page=True)
_ANY = Rule(frozenset(ROLES), ALL_SCOPES)
_KEEP = _rule("steward", "steward")
_READ = _rule("steward auditor", "steward audit")
_OWN = _rule("analyst steward auditor")
_PAGE, _FORM = _rule("analyst steward auditor", page=True), _OWN
_ASK_PAGE, _ASK_FORM = _rule("analyst", page=True), _rule("analyst")
_KEEP_PAGE, _KEEP_FORM = _rule("steward", page=True), _rule("steward")
_READ_PAGE, _READ_FORM = _rule("steward auditor", page=True), _rule("steward auditor")

TABLE: Mapping[tuple[str, str], Rule] = {
    ("GET", "/health"): _OPEN,
    ("GET", "/metrics"): Rule(anonymous=True, loopback=True),
    ("GET", "/openapi.json"): _ANY,
    ("POST", "/login"): _OPEN,
    ("POST", "/logout"): _OWN,
    ("GET", "/login/oidc"): _OPEN_PAGE,
    ("GET", "/login/oidc/callback"): _OPEN_PAGE,
    ("GET", "/public"): _OPEN,
    ("GET", "/releases/{release}"): _OPEN,  # those of the public; others' as `OWN_RELEASES` says
    ("GET", "/datasets"): _ANY,
    ("GET", "/datasets/{dataset}"): _ANY,
    ("GET", "/datasets/{dataset}/dependences"): _READ,
    ("POST", "/datasets/{dataset}/chance"): _KEEP,
    ("POST", "/datasets/{dataset}/chance/withdraw"): _KEEP,
    ("POST", "/datasets/{dataset}/tables"): _rule("analyst", "tables", timed=True),
    ("POST", "/datasets/{dataset}/analyses"): _rule("analyst", "analyses", timed=True),
    ("GET", "/decisions/{decision}"): _rule("analyst", "tables analyses releases"),
    ("GET", "/me/budget"): _rule("analyst", "tables analyses releases"),
    ("GET", "/me/releases"): _rule("analyst", "releases"),
    ("GET", "/me/tokens"): _OWN,
    ("POST", "/me/tokens"): _OWN,
    ("DELETE", "/me/tokens/{token}"): _OWN,
    ("GET", "/users"): _READ,
    ("POST", "/users"): _KEEP,
    ("DELETE", "/users/{user}"): _KEEP,
    ("GET", "/organisations"): _READ,
    ("POST", "/organisations"): _KEEP,
    ("PUT", "/organisations/{place}/members/{user}"): _KEEP,
    ("DELETE", "/organisations/{place}/members/{user}"): _KEEP,
    ("GET", "/groups"): _READ,
    ("POST", "/groups"): _KEEP,
    ("PUT", "/groups/{place}/members/{user}"): _KEEP,
    ("DELETE", "/groups/{place}/members/{user}"): _KEEP,
    ("GET", "/sharing"): _READ,
    ("POST", "/sharing"): _KEEP,
    ("DELETE", "/sharing/{giver}/{taker}"): _KEEP,
    ("GET", "/policies"): _READ,
    ("PUT", "/policies/{policy}"): _KEEP,
    ("GET", "/queue"): _KEEP,
    ("POST", "/queue/{request}"): _KEEP,
    ("GET", "/exceptions"): _READ,
    ("POST", "/exceptions"): _KEEP,
    ("POST", "/exceptions/{exception}/confirm"): _KEEP,
    ("GET", "/ledger"): _READ,
    ("GET", "/ledger/export"): _READ,
    ("GET", "/"): _OPEN_PAGE,
    ("GET", "/login"): _OPEN_PAGE,
    ("POST", "/pages/login"): _OPEN,
    ("POST", "/pages/logout"): _OWN,
    ("GET", "/pages/public"): _OPEN_PAGE,
    ("GET", "/pages/releases/{release}"): _OPEN_PAGE,  # as for the release itself
    ("GET", "/pages/datasets"): _PAGE,
    ("POST", "/pages/datasets/chance"): _KEEP_FORM,
    ("POST", "/pages/datasets/withdraw"): _KEEP_FORM,
    ("GET", "/pages/table"): _ASK_PAGE,
    ("POST", "/pages/table/parts"): _ASK_FORM,
    ("POST", "/pages/table/preview"): _ASK_FORM,
    ("POST", "/pages/table/ask"): _rule("analyst", timed=True),
    ("GET", "/pages/analysis"): _ASK_PAGE,
    ("POST", "/pages/analysis/kind"): _ASK_FORM,
    ("POST", "/pages/analysis/parts"): _ASK_FORM,
    ("POST", "/pages/analysis/ask"): _rule("analyst", timed=True),
    ("GET", "/pages/releases"): _ASK_PAGE,
    ("GET", "/pages/account"): _PAGE,
    ("POST", "/pages/account/token"): _FORM,
    ("POST", "/pages/account/revoke"): _FORM,
    ("GET", "/pages/people"): _READ_PAGE,
    ("POST", "/pages/people/foresee"): _KEEP_FORM,
    ("POST", "/pages/people/change"): _KEEP_FORM,
    ("POST", "/pages/people/add"): _KEEP_FORM,
    ("GET", "/pages/policies"): _READ_PAGE,
    ("POST", "/pages/policies/try"): _KEEP_FORM,
    ("POST", "/pages/policies/set"): _KEEP_FORM,
    ("GET", "/pages/queue"): _KEEP_PAGE,
    ("POST", "/pages/queue/settle"): _KEEP_FORM,
    ("POST", "/pages/queue/propose"): _KEEP_FORM,
    ("POST", "/pages/queue/confirm"): _KEEP_FORM,
    ("GET", "/pages/maximal"): _READ_PAGE,
    ("POST", "/pages/maximal/look"): _READ_FORM,
    ("POST", "/pages/maximal/recover"): _KEEP_FORM,
    ("GET", "/pages/ledger"): _READ_PAGE,
}
"""By method and route, who may reach it."""
OWN_RELEASES = _rule("analyst", "releases")
"""Who may reach releases that are not the public's; they get their own alone."""


class Table:
    """Rules, found by what is asked for.

    Parameters
    ----------
    rules
        By method and route.

    Examples
    --------
    >>> table = Table(TABLE)
    >>> table.find("GET", "/releases/7f3a")[0]
    '/releases/{release}'
    >>> table.find("GET", "/elsewhere"), table.find("PUT", "/health")
    (None, 'GET')
    """

    def __init__(self, rules: Mapping[tuple[str, str], Rule] = TABLE) -> None:
        self.rules = dict(rules)
        paths = dict.fromkeys(path for _, path in rules)
        order = sorted(paths, key=lambda path: ("{" in path, path))  # what is named stands before what may be anything
        self._paths: list[tuple[re.Pattern[str], str]] = [(compile_path(path)[0], path) for path in order]

    def find(self, method: str, path: str) -> tuple[str, Rule] | str | None:
        """The route and its rule; the methods that it has, where this is none of them; None where there is none."""
        held = [route for pattern, route in self._paths if pattern.match(path)]
        for route in held:
            if (method, route) in self.rules:
                return route, self.rules[method, route]
        return ", ".join(sorted(self._methods(held))) or None

    def _methods(self, routes: Iterable[str]) -> set[str]:
        wanted = set(routes)
        return {method for method, route in self.rules if route in wanted}
