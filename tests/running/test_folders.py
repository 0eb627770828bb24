import sys

import platformdirs
import pytest

from tests.running.folders import KEPT, cache_folder, new_folder


@pytest.mark.skipif(sys.platform not in ("linux", "darwin", "win32"), reason="other systems have other places")
@pytest.mark.parametrize("said", [{}, {"XDG_CACHE_HOME": "/somewhere/else"}])
def test_the_cache_is_where_platformdirs_says(said, monkeypatch):
    for name in ("SFUMATO_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in said.items():
        monkeypatch.setenv(name, value)
    assert str(cache_folder()) == platformdirs.user_cache_dir("sfumato")


def test_it_is_where_it_is_said_to_be(monkeypatch, tmp_path):
    monkeypatch.setenv("SFUMATO_CACHE", str(tmp_path))
    assert cache_folder() == tmp_path


def test_the_newest_runs_stay_and_so_does_what_has_passed(monkeypatch, tmp_path):
    monkeypatch.setenv("SFUMATO_CACHE", str(tmp_path))
    (tmp_path / "ci" / "passed").mkdir(parents=True)
    made = [new_folder(f"{i:040x}") for i in range(KEPT + 2)]
    assert [p.exists() for p in made] == [False] * 2 + [True] * KEPT
    assert made[0].name.endswith("000000000000")
    assert (tmp_path / "ci" / "passed").exists()
