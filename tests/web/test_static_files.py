import pytest
from starlette.testclient import TestClient

from sfumato.web.static_files import StaticFiles


@pytest.fixture
def files(tmp_path):
    (tmp_path / "a.css").write_text("p { color: red }")
    (tmp_path / "js").mkdir()
    (tmp_path / "js" / "b.js").write_text("export {}")
    (tmp_path / ".hidden").write_text("x")
    (tmp_path / "fetch.py").write_text("x")
    return StaticFiles([tmp_path])


def test_files_are_kept_for_as_long_as_they_last(files):
    client = TestClient(files, "http://localhost")
    for name, kind in (("a.css", "text/css"), ("js/b.js", "text/javascript")):
        answer = client.get(files.url(name))
        assert answer.status_code == 200
        assert answer.headers["content-type"].startswith(kind)
        assert "immutable" in answer.headers["cache-control"]


def test_a_changed_file_has_another_address(files, tmp_path):
    (tmp_path / "a.css").write_text("p { color: blue }")
    again = StaticFiles([tmp_path])
    assert again.url("js/b.js") != files.url("js/b.js")
    assert TestClient(again, "http://localhost").get(files.url("a.css")).status_code == 404


@pytest.mark.parametrize("name", [".hidden", "fetch.py", "../a.css", "js", "", "a.css/", "//a.css", "%2e%2e/a.css"])
def test_nothing_else_is_there(files, name):
    assert TestClient(files, "http://localhost").get(f"/static/{files.digest}/{name}").status_code == 404
    with pytest.raises(KeyError):
        files.url(name)


def test_files_are_read_alone(files):
    assert TestClient(files, "http://localhost").post(files.url("a.css")).status_code == 405


def test_files_are_packed_for_whoever_takes_them_so(files):
    client, address = TestClient(files, "http://localhost"), files.url("a.css")
    for takes, packed in (("gzip", True), ("br, gzip;q=0.5", True), ("gzip;q=0", False), ("identity", False)):
        answer = client.get(address, headers={"Accept-Encoding": takes})
        assert (answer.headers.get("content-encoding") == "gzip") is packed
        assert answer.headers["vary"] == "Accept-Encoding"
        assert answer.text == "p { color: red }"
