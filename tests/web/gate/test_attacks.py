"""What the doors withstand: whatever comes, nothing of the records goes out but what was given."""

import json
import re

import pytest

from sfumato.web.gate.access import TABLE
from tests.web.gate.conftest import PASSWORD, USERS, ward

PLANTED = "Planted"
NUMBERS = ("98765.4321", "4242424")


def planted() -> str:
    """The ward, with a name, a number and an id that must not be seen; and a note of each."""
    lines = ward().splitlines()
    out = [lines[0] + ",note,income"]
    for i, line in enumerate(lines[1:]):
        note, income = f"{PLANTED} note {i}", 1000.5 + i
        if i == 7:
            line = line.replace("p7,", f"{PLANTED}Id,").rsplit(",", 1)[0] + f",{PLANTED}Name"
            income = float(NUMBERS[0])
        out.append(f"{line},{note},{income}")
    return "\n".join(out) + "\n"


@pytest.fixture
def hidden(made):
    return made(data=planted())


def seen(answer):
    return answer.text + str(dict(answer.headers))


@pytest.mark.slow
def test_no_planted_value_is_in_any_answer_line_or_count(hidden, capsys):
    world, told = hidden, []
    clients = {who: world.client(who) for who in USERS} | {"nobody": world.client()}
    bodies = [
        {"by": ["sex"]},
        {"by": ["name"]},
        {"by": ["note"]},
        {"by": ["income"]},
        {"by": ["id"]},
        {"by": [], "value": {"sum": "income"}},
        {"by": ["sex"], "value": {"mean": "income"}},
        {"by": ["region", "sex", "hiv"], "value": {"sum": "income"}},
        {"by": ["sex"], "where": {"name": ["x"]}},
        {"by": ["sex"], "where": {"note": ["x"]}},
        {"by": ["sex"], "weight": "income"},
        {"by": ["sex"], "version": "v2"},
        {"by": {"x": "y"}},
        [],
    ]
    for client in clients.values():
        told += [seen(client.post("/datasets/ward/tables", json=body)) for body in bodies]
        for (method, path), _ in TABLE.items():
            filled = re.sub(r"{\w+}", "ward", path)
            told.append(seen(client.request(method, filled)))
    out = capsys.readouterr()
    whole = "".join([*told, *world.log, out.out, out.err, world.client(client=("127.0.0.1", 1)).get("/metrics").text])
    for value in (PLANTED, *NUMBERS):
        assert value not in whole


@pytest.mark.parametrize(
    "content",
    [
        b"[" * 60_000,
        b'{"a":' * 10_000,
        b'{"by": ["\\ud800"]}',
        b'{"by": ["\xff"]}',
        b"\xff\xfe",
        b'{"by": [' + b"9" * 5000 + b"]}",
        b'{"by": ["sex"], "by": ["region"], "where": null}',
        b"null",
        b"",
        b"{",
    ],
    ids=lambda one: repr(one[:12]),
)
def test_bodies_that_nobody_means(world, content):
    headers = {"Content-Type": "application/json"}
    answer = world.client("ann").post("/datasets/ward/tables", content=content, headers=headers)
    assert answer.status_code in (400, 422)
    assert answer.headers["content-type"] == "application/problem+json"


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""])
def test_forms_of_other_sites_are_no_json(world, kind):
    """A page elsewhere can send these without asking first."""
    client = world.session("ann")
    body = json.dumps({"by": ["sex"]}).encode()
    answer = client.post("/datasets/ward/tables", content=body, headers={"Content-Type": kind})
    assert answer.status_code in (400, 422)


@pytest.mark.parametrize("name", ["next", "url", "redirect", "return_to", "target"])
def test_nothing_leads_elsewhere(world, name):
    client = world.client()
    for path in ("/login", "/login/oidc", "/login/oidc/callback", "/public"):
        for method in ("GET", "POST"):
            answer = client.request(method, path, params={name: "https://evil.example"}, json={})
            assert "evil" not in seen(answer)


@pytest.mark.parametrize(
    "path", ["/datasets/..%2f..%2fusers", "/releases/%00", "/datasets/a%0d%0aX: y", "/decisions/%ff", "/x" * 5000]
)
def test_odd_paths(world, path):
    for who in ("ann", "eve"):
        answer = world.client(who).get(path)
        assert answer.status_code in (403, 404, 422)
        assert "x" not in answer.headers


def test_ids_are_not_to_be_guessed(world):
    client = world.client("ann")
    told = [client.post("/datasets/ward/tables", json={"by": [by]}).json() for by in ("sex", "region")]
    ids = {one["id"] for one in told} | {one["release"]["id"] for one in told}
    assert len(ids) == 4
    assert all(re.fullmatch(r"[0-9a-f]{24}", one) for one in ids)


@pytest.mark.parametrize(
    "body",
    [
        {"kind": "crosstab", "formula": "sex ~ name"},
        {"kind": "crosstab", "formula": "name ~ sex"},
        {"kind": "logistic", "formula": "hiv ~ C(name)"},
        {"kind": "mixed", "formula": "cost ~ sex", "cluster": "name"},
        {"kind": "mean", "formula": "cost ~ sex", "where": {"name": ["x"]}},
    ],
    ids=str,
)
def test_no_analysis_is_made_of_identifiers(world, body):
    answer = world.client("ann").post("/datasets/ward/analyses", json=body)
    assert answer.status_code == 422
    assert world.client("ann").get("/me/releases").json()["items"] == []


def test_a_refusal_tells_the_criterion_alone(world):
    client = world.client("ann")
    for by in (["sex", "region", "hiv"], ["sex", "region", "hiv", "region@area"]):
        told = client.post("/datasets/ward/tables", json={"by": by}).json()
        assert set(told) == {"id", "decision", "reasons", "offers", "release", "ledger"}
        assert not {"stage", "work", "knowledge"} & set(json.dumps(told).split('"'))


def test_who_is_no_analyst_asks_nothing(world):
    for who in ("eve", "aud"):
        for client in (world.client(who), world.session(who)):
            assert client.post("/datasets/ward/tables", json={"by": ["sex"]}).status_code == 403


def test_a_token_of_somebody_who_lost_it_does_no_more(world):
    made = world.session("ann").post("/me/tokens", json={"scopes": ["tables"]}).json()
    client = world.client(made["token"])
    assert client.get("/datasets").status_code == 200
    world.gate.revoke_token("ann", made["id"])
    assert client.get("/datasets").status_code == 401


def test_a_cookie_of_a_token_and_a_token_of_a_cookie(world):
    """What opens one door opens no other."""
    login = world.gate.login("ann", PASSWORD)
    assert world.client(login.session).get("/datasets").status_code == 401
    client = world.client()
    client.cookies.set("sfumato_gate", world.tokens["ann"])
    assert client.get("/datasets").status_code == 401
