"""The shell: headers, hosts, origins, bodies, and what is told of errors."""

import asyncio
from concurrent.futures import ThreadPoolExecutor

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, StreamingResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from sfumato.errors import DataError
from sfumato.web import shell
from sfumato.web.shell import CSP, Face, application, is_loopback
from sfumato.web.static_files import StaticFiles

PLANTED = "planted-value-of-somebody"


async def said(request: Request):
    return JSONResponse({"bytes": len(await request.body())})


async def fails(request: Request):
    raise ValueError(PLANTED)


async def refuses(request: Request):
    raise DataError("There is no variable 'x'.")


async def breaks(request: Request):
    async def parts():
        yield b"a"
        raise ValueError(PLANTED)

    return StreamingResponse(parts())


def shown(**more):
    routes = [
        Route("/", said, methods=["GET", "POST", "PUT", "DELETE"]),
        Route("/fails", fails),
        Route("/refuses", refuses),
        Route("/breaks", breaks),
    ]
    face = Face("none", Starlette(routes=routes), lambda app: app, StaticFiles([]), **more)
    return TestClient(application(face), "http://localhost:8750", raise_server_exceptions=False)


def test_every_answer_has_the_headers():
    client = shown()
    for path in ("/", "/fails", "/nothing", "/static/x"):
        headers = client.get(path).headers
        assert headers["content-security-policy"] == CSP
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"
        assert headers["cache-control"] == "no-store"
        assert headers["cross-origin-resource-policy"] == "same-origin"
        assert "strict-transport-security" not in headers
        assert "server" not in headers
    assert "strict-transport-security" in shown(secure=True).get("/").headers


def test_the_policy_of_pages_is_that_of_the_notes():
    assert CSP == (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    )


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("localhost", 200),
        ("localhost:1", 200),
        ("127.0.0.1:8750", 200),
        ("[::1]:8750", 200),
        ("gate.example.org", 200),
        ("GATE.example.org:443", 200),
        ("example.org", 400),
        ("localhost.example.org", 400),
        ("gate.example.org.evil.example", 400),
        ("evil.example@localhost", 400),
        ("localhost:port", 400),
        ("[::1", 400),
        ("", 400),
        ("127.0.0.2", 400),
    ],
)
def test_hosts(host, status):
    assert shown(hosts=("gate.example.org",)).get("/", headers={"Host": host}).status_code == status


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),
        ({"Sec-Fetch-Site": "same-origin"}, 200),
        ({"Sec-Fetch-Site": "none"}, 200),
        ({"Sec-Fetch-Site": "same-site"}, 403),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Origin": "http://localhost:8750"}, 200),
        ({"Origin": "http://localhost:8751"}, 403),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": ""}, 403),
        ({"Origin": "http://localhost:8750", "Sec-Fetch-Site": "cross-site"}, 403),
        ({"Origin": "http://evil.example", "Sec-Fetch-Site": "same-origin"}, 403),
    ],
    ids=str,
)
def test_changes_come_from_here(headers, status):
    client = shown()
    for method in ("POST", "PUT", "DELETE"):
        assert client.request(method, "/", headers=headers).status_code == status
    assert client.get("/", headers=headers).status_code == 200


def test_bodies_are_small():
    client = shown()
    assert client.post("/", content=b"x" * 65536).json() == {"bytes": 65536}
    assert client.post("/", content=b"x" * 65537).status_code == 413
    parts = (b"x" * 1000 for _ in range(100))  # which says no length
    assert client.post("/", content=parts).status_code == 413
    assert client.post("/", content=b"x", headers={"Content-Length": "many"}).status_code == 413
    assert shown(largest=lambda method, path: None).post("/", content=b"x" * 200_000).json() == {"bytes": 200_000}


def test_bodies_come_soon(monkeypatch):
    monkeypatch.setattr(shell, "_SLOWEST", 0.05)
    sent = []

    async def drips():
        await asyncio.sleep(0.02)
        return {"type": "http.request", "body": b"x", "more_body": True}

    async def send(message):
        sent.append(message)

    scope = {
        "type": "http", "method": "POST", "path": "/", "raw_path": b"/", "query_string": b"", "root_path": "",
        "headers": [(b"host", b"localhost")], "client": ("127.0.0.1", 1), "server": ("127.0.0.1", 80), "scheme": "http",
        "http_version": "1.1",
    }  # fmt: skip
    with ThreadPoolExecutor(1) as beside:  # a browser's loop may run in this thread
        beside.submit(asyncio.run, shown().app(scope, drips, send)).result()
    assert sent[0]["status"] == 408


@pytest.mark.parametrize(("path", "status"), [("/fails", 500), ("/refuses", 500), ("/nothing", 404)])
def test_errors_say_nothing_of_the_data(path, status, caplog):
    answer = shown().get(path)
    assert answer.status_code == status
    assert PLANTED not in answer.text + caplog.text


def test_an_answer_that_breaks_off(capsys, caplog):
    client = shown()
    client.get("/breaks")
    out = capsys.readouterr()
    assert PLANTED not in out.out + out.err + caplog.text


def test_there_are_no_sockets():
    from starlette.websockets import WebSocketDisconnect

    with pytest.raises(WebSocketDisconnect), shown().websocket_connect("/"):
        pass


@pytest.mark.parametrize(
    ("client", "headers", "is_so"),
    [
        ("127.0.0.1", {"host": "localhost"}, True),
        ("::1", {"host": "[::1]:8750"}, True),
        ("10.0.0.1", {"host": "localhost"}, False),
        ("127.0.0.1", {"host": "gate.example.org"}, False),
        ("127.0.0.1", {"host": "localhost", "x-forwarded-for": "127.0.0.1"}, False),
        ("127.0.0.1", {"host": "localhost", "forwarded": "for=127.0.0.1"}, False),
        ("127.0.0.1", {"host": "localhost", "via": "1.1 proxy"}, False),
    ],
)
def test_who_is_on_this_machine(client, headers, is_so):
    plain = [(name.encode(), value.encode()) for name, value in headers.items()]
    assert is_loopback({"type": "http", "client": (client, 1), "headers": plain}) is is_so
