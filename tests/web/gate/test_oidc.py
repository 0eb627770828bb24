import time
from urllib.parse import parse_qs, urlsplit

import pytest
from joserfc import jwt
from joserfc.jwk import OctKey, RSAKey

from tests.web.gate.provider import Provider

BACK = "/login/oidc/callback"


@pytest.fixture
def provider():
    made = Provider()
    yield made
    made.close()


@pytest.fixture
def world(opened, provider, tmp_path):
    (tmp_path / "client").write_text("the client's own secret\n")
    oidc = f"{{issuer: '{provider.issuer}', client_id: gate, client_secret_file: client}}"
    return opened(f"server: {{oidc: {oidc}}}\n")


def led(client):
    answer = client.get("/login/oidc")
    assert answer.status_code == 303
    return answer.headers["location"]


@pytest.mark.slow
def test_somebody_comes_in_whom_the_provider_knows(world, provider):
    client = world.client()
    address = led(client)
    asked = parse_qs(urlsplit(address).query)
    assert asked["response_type"] == ["code"]
    assert asked["code_challenge_method"] == ["S256"]
    assert asked["redirect_uri"] == ["http://localhost/login/oidc/callback"]
    assert "openid" in asked["scope"][0]
    answer = client.get(BACK, params=provider.logs_in(address, "ann"))
    assert answer.status_code == 200
    assert "refresh" in answer.text
    assert provider.seen[0].startswith("Basic ")
    assert client.get("/me/releases").status_code == 200
    assert client.get("/users").status_code == 403


@pytest.mark.slow
def test_what_a_browser_brings_is_good_once(world, provider):
    client = world.client()
    brought = provider.logs_in(led(client), "ann")
    assert client.get(BACK, params=brought).status_code == 200
    assert client.get(BACK, params=brought).status_code == 403


@pytest.mark.few(2)
@pytest.mark.parametrize("who", ["nobody", "north", "public", "ANN", "", "gone"])
def test_whoever_is_no_user_here(world, provider, who):
    world.gate.add_user("gone", None, "analyst", "research")
    world.gate.remove_user("gone")
    client = world.client()
    assert client.get(BACK, params=provider.logs_in(led(client), who)).status_code == 403
    assert client.get("/me/releases").status_code == 401


@pytest.mark.slow
def test_a_login_that_another_browser_began(world, provider):
    other, client = world.client(), world.client()
    led(client)
    assert client.get(BACK, params=provider.logs_in(led(other), "ann")).status_code == 403
    assert world.client().get(BACK, params=provider.logs_in(led(other), "ann")).status_code == 403


@pytest.mark.few(3)
@pytest.mark.parametrize(
    "changed",
    [
        {"nonce": "another"},
        {"nonce": None},
        {"aud": "another"},
        {"aud": ["gate", "another"]},
        {"iss": "http://127.0.0.1:1"},
        {"exp": 1},
        {"exp": None},
        {"iat": 9_999_999_999},
        {"preferred_username": None},
        {"preferred_username": ["ann"]},
    ],
    ids=str,
)
def test_statements_that_prove_nothing(world, provider, changed):
    provider.claims = changed
    client = world.client()
    assert client.get(BACK, params=provider.logs_in(led(client), "ann")).status_code == 403


@pytest.mark.slow
def test_statements_of_somebody_else(world, provider):
    provider.key = RSAKey.generate_key(2048, {"kid": "1"}, private=True)
    client = world.client()
    assert client.get(BACK, params=provider.logs_in(led(client), "ann")).status_code == 403


@pytest.mark.slow
@pytest.mark.parametrize("header", [{"alg": "none"}, {"alg": "HS256", "kid": "1"}], ids=["none", "symmetric"])
def test_statements_that_anybody_can_sign(world, provider, header):
    """The provider's public key is no secret."""
    public = provider.known_key.as_pem(private=False)

    def statement(asked):
        claims = {
            "iss": provider.issuer,
            "sub": "1",
            "aud": "gate",
            "iat": int(time.time()),
            "exp": int(time.time()) + 60,
        }
        claims |= {"nonce": asked["nonce"], "preferred_username": "ann"}
        key = OctKey.import_key(public)
        return jwt.encode(header, claims, key, algorithms=[header["alg"]])

    provider.statement = statement
    client = world.client()
    assert client.get(BACK, params=provider.logs_in(led(client), "ann")).status_code == 403


@pytest.mark.slow
@pytest.mark.parametrize(
    "about", [{"issuer": "https://elsewhere.example"}, {"token_endpoint": "http://elsewhere.example/token"}], ids=str
)
def test_a_provider_that_is_not_what_it_should_be(world, provider, about):
    provider.about = about
    assert world.client().get("/login/oidc").status_code == 503


@pytest.mark.slow
@pytest.mark.parametrize(
    "query", [{}, {"code": "x"}, {"state": "x"}, {"error": "access_denied", "state": "x"}], ids=str
)
def test_coming_back_with_nothing(world, provider, query):
    client = world.client()
    led(client)
    assert client.get(BACK, params=query).status_code == 403


def test_no_provider_is_set_up(opened):
    client = opened().client()
    assert client.get("/login/oidc").status_code == 404
    client.cookies.set("sfumato_gate_oidc", "z")
    assert client.get(BACK, params={"state": "x", "code": "y"}).status_code == 404


@pytest.mark.slow
def test_another_claim(opened, provider):
    world = opened(f"server: {{oidc: {{issuer: '{provider.issuer}', client_id: gate, claim: email}}}}\n")
    world.gate.add_user("fay@example.org", None, "analyst", "research")
    for verified, status in ((None, 403), (False, 403), ("true", 403), (True, 200)):
        provider.claims = {"email": "fay@example.org", "email_verified": verified}
        client = world.client()
        assert client.get(BACK, params=provider.logs_in(led(client), "x")).status_code == status
    assert provider.seen[-1] == ""
