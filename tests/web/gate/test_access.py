"""Every route, every role, every credential, from the table; and the table is complete."""

import itertools

import pytest

from sfumato.gate.serving.doors import SCOPES
from sfumato.web.gate.access import ALL_SCOPES, ROLES, TABLE, Rule, Table
from sfumato.web.gate.application import routes
from sfumato.web.gate.watch import Watch
from tests.web.gate.conftest import USERS

BY_ROLE = {role: next(who for who, own in USERS.items() if own == role) for role in ROLES}
PAGES = {
    **{page: frozenset(ROLES) for page in ("datasets", "account", "logout")},
    **{page: frozenset({"analyst"}) for page in ("table", "analysis", "releases")},
    **{page: frozenset({"steward", "auditor"}) for page in ("people", "policies", "maximal", "ledger")},
    "queue": frozenset({"steward"}),
}
"""Section 10, by page."""
CREDENTIALS = [
    ("anonymous", "none"),
    *((role, "session") for role in ROLES),
    *((role, scope) for role in ROLES for scope in SCOPES[role]),
]


def reached(app):
    """Every route of an application by method, those in included routers too."""
    found = []

    def walk(routes):
        for route in routes:
            inner = getattr(route, "original_router", None)
            if inner is not None:
                walk(inner.routes)
            elif getattr(route, "routes", None):
                walk(route.routes)
            else:
                found.extend((method, route.path) for method in route.methods)

    walk(app.routes)
    return found


def test_every_route_stands_in_the_table_and_every_line_is_a_route(world):
    found = reached(routes(world.gate, Watch(world)))
    assert sorted(found) == sorted(TABLE)


def test_the_table_is_that_of_the_notes():
    """Section 10: what each role may reach at all."""
    anybody = {path for (_, path), rule in TABLE.items() if rule.anonymous}
    assert anybody == {
        "/health", "/metrics", "/login", "/login/oidc", "/login/oidc/callback", "/public", "/releases/{release}",
        "/", "/pages/login", "/pages/public", "/pages/releases/{release}",
    }  # fmt: skip
    for (method, path), rule in TABLE.items():
        first = path.split("/")[1]
        if first == "datasets" and method == "POST":
            assert rule.roles == ({"steward"} if "/chance" in path else {"analyst"})
        if path.endswith("/dependences"):
            assert rule.roles == {"steward", "auditor"}
        if first in ("users", "organisations", "groups", "sharing", "policies", "exceptions"):
            assert rule.roles == ({"steward", "auditor"} if method == "GET" else {"steward"})
        if first == "queue":
            assert rule.roles == {"steward"}
        if first == "pages":
            assert not rule.scopes  # pages are for who is logged in
            assert not rule.page or method == "GET"
            assert rule.roles <= PAGES.get(path.split("/")[2], frozenset()) or rule.anonymous
        if first == "ledger":
            assert (rule.roles, method) == ({"steward", "auditor"}, "GET")
        assert rule.anonymous or rule.roles
        assert rule.scopes <= ALL_SCOPES


LAST = ("/pages/login", "/logout", "/pages/logout")


def expected(rule: Rule, role: str, how: str) -> int | None:
    """What is to come of it: a status; None where the route is reached."""
    if rule.anonymous:
        return None
    if role == "anonymous":
        return 303 if rule.page else 401
    if role not in rule.roles:
        return 403
    return None if how == "session" or how in rule.scopes else 403


@pytest.mark.slow
@pytest.mark.parametrize(("role", "how"), CREDENTIALS)
def test_every_route_for_every_role_and_credential(world, role, how):
    if role == "anonymous":
        client = world.client()
    elif how == "session":
        client = world.session(BY_ROLE[role])
    else:
        client = world.client(world.gate.issue_token(BY_ROLE[role], [how])[1])
    outs = [line for line in TABLE.items() if line[0][1] in LAST]  # they end the session
    for (method, path), rule in [line for line in TABLE.items() if line not in outs] + outs:
        if path in LAST and how == "session":
            client = world.session(BY_ROLE[role])
        filled = path.format_map(dict.fromkeys(_names(path), "nothing"))
        answer = client.request(method, filled)
        wanted = expected(rule, role, how)
        if wanted is not None:
            assert answer.status_code == wanted, (method, path)
            shown = "text/html" if rule.page and wanted != 303 else "application/problem+json"
            assert answer.headers["content-type"].startswith((shown, "application/problem+json"))  # without htmx, JSON
        elif path.endswith("/releases/{release}"):
            if path.startswith("/pages/") and answer.headers["content-type"] != "application/problem+json":
                assert answer.status_code in (401, 403, 404)
                continue
            own = role == "analyst" and how in ("session", "releases")
            assert answer.status_code == (404 if own else 401 if role == "anonymous" else 403)
        else:
            told = answer.headers.get("content-type") == "application/problem+json" and answer.json()["detail"]
            shown = path == "/" or path.startswith("/pages/") or (method, path) == ("GET", "/login")
            allowed = (200, 204, 303, 503) if shown else (200, 204, 404, 422)  # 503: htmx and Pico CSS were not fetched
            assert answer.status_code in allowed, (method, path, told)


def _names(path):
    return [part.strip("{}") for part in path.split("/") if part.startswith("{")]


@pytest.mark.parametrize(
    ("method", "path"), [("GET", "/docs"), ("GET", "/redoc"), ("GET", "/datasets/"), ("GET", "/pages/")]
)
def test_what_does_not_stand_in_it_is_not_there(world, method, path):
    for client in (world.client(), world.client("eve"), world.client("ann")):
        assert client.request(method, path).status_code == 404


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "HEAD", "OPTIONS", "TRACE", "NONSENSE"])
def test_other_methods_are_refused(world, method):
    assert world.client("ann").request(method, "/me/releases").status_code == 405


def test_a_route_that_the_door_did_not_open_is_refused(world):
    """Were the table to be read otherwise than the routes are, nobody would come in."""
    app = routes(world.gate, Watch(world))
    from starlette.testclient import TestClient

    assert TestClient(app, "http://localhost").get("/users").status_code == 403


def test_the_table_finds_what_is_named_before_what_may_be_anything():
    rules = {("GET", "/a/{b}"): Rule(anonymous=True), ("GET", "/a/b"): Rule()}
    for order in itertools.permutations(rules):
        table = Table({key: rules[key] for key in order})
        assert table.find("GET", "/a/b")[0] == "/a/b"
        assert table.find("GET", "/a/c")[0] == "/a/{b}"
