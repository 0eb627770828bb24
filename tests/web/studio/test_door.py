"""The door of the studio: its cookie, where a request comes from, whose connection it is."""

import pytest

from sfumato.web.studio import door
from sfumato.web.studio.door import Keys, of_another_user
from tests.parts import needs
from tests.web.studio.conftest import HERE, PORT

COOKIE = f"sfumato_studio_{PORT}"


def test_a_token_opens_once(visit):
    stranger = visit.stranger()
    token = visit.studio.keys.token()
    opened = stranger.get("/", params={"token": token})
    assert opened.status_code == 200
    said = opened.headers["set-cookie"]
    assert said.startswith(COOKIE)
    assert {"HttpOnly", "SameSite=strict", "Path=/"} <= {part.strip() for part in said.split(";")}
    assert 'http-equiv="refresh" content="0;url=/data"' in opened.text
    assert stranger.get("/api/plan").status_code == 200
    assert visit.stranger().get("/", params={"token": token}).status_code == 403


def test_a_new_token_makes_the_one_before_void():
    keys = Keys()
    first, second = keys.token(), keys.token()
    assert keys.spend(first) is None
    assert keys.spend(second) is not None


@pytest.mark.parametrize("address", ["https://else.example/", "//else.example", "/a?b=<script>", "javascript:alert(1)"])
def test_a_token_leads_to_pages_of_the_studio_alone(visit, address):
    opened = visit.stranger().get("/", params={"token": visit.studio.keys.token(), "next": address})
    assert 'url=/data"' in opened.text
    assert address not in opened.text


@pytest.mark.parametrize(
    "path", ["/", "/data", "/api/plan", "/api/release.zip", "/static/x/app.css", "/favicon.ico", "/none"]
)
def test_without_the_cookie_nothing_is_had(visit, path):
    assert visit.stranger().get(path).status_code == 403


@needs("vendor")
def test_files_are_had_with_it(visit):
    page = visit.client.get("/data").text
    style = page.partition('<link rel="stylesheet" href="')[2].partition('"')[0]
    assert visit.client.get(style).status_code == 200
    assert visit.stranger().get(style).status_code == 403


def test_changes_need_the_header(visit):
    assert visit.client.post("/api/undo").status_code == 403
    assert visit.client.post("/api/undo", headers={"X-Sfumato": "1"}).status_code == 409


@pytest.mark.parametrize(
    "headers",
    [
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},  # another port of this machine: it sends the cookie
        {"Origin": "http://127.0.0.1:8766"},
        {"Origin": "null"},
        {"Host": "else.example"},
        {"Host": f"else.example:{PORT}"},
    ],
)
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_other_sites_are_refused(visit, method, headers):
    answer = visit.client.request(method, "/api/plan", headers={"X-Sfumato": "1", **headers})
    assert answer.status_code == 403


def test_the_address_may_be_opened_from_anywhere(visit):
    token = visit.studio.keys.token()
    opened = visit.stranger().get("/", params={"token": token}, headers={"Sec-Fetch-Site": "cross-site"})
    assert opened.status_code == 200


def test_its_own_pages_are_let_in(visit):
    for headers in ({"Sec-Fetch-Site": "same-origin"}, {"Sec-Fetch-Site": "none"}, {"Origin": HERE}):
        assert visit.client.get("/api/plan", headers=headers).status_code == 200


CONNECTIONS = """  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:C350 0100007F:{port:04X} 01 00000000:00000000 00:00000000 00000000  {uid}        0 77 1
"""


@pytest.mark.parametrize(("uid", "refused"), [("own", False), ("other", True)])
def test_connections_of_another_user_are_known(visit, monkeypatch, tmp_path, uid, refused):
    monkeypatch.setattr(door.os, "getuid", lambda: 1000)
    table = tmp_path / "tcp"
    table.write_text(CONNECTIONS.format(port=PORT, uid=1000 if uid == "own" else 1001))
    monkeypatch.setattr(door, "_CONNECTIONS", (table,))
    monkeypatch.setattr(door.sys, "platform", "linux")
    assert of_another_user({"client": ("127.0.0.1", 0xC350)}, PORT) is refused
    assert not of_another_user({"client": ("127.0.0.1", 0xC351)}, PORT)


def test_a_connection_of_another_user_gets_nothing_even_with_the_cookie(visit, monkeypatch):
    monkeypatch.setattr(door, "of_another_user", lambda scope, port: True)
    assert visit.client.get("/api/plan").status_code == 403
    assert visit.stranger().get("/", params={"token": visit.studio.keys.token()}).status_code == 403
