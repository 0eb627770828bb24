import json
import stat

from tests.e2e.command import sfumato


def test_a_secret_is_made_once_and_not_shown(tmp_path):
    done = sfumato("gate", "secret", "--out", "key", "--json", cwd=tmp_path)
    assert json.loads(done.stdout) == {"out": "key"}
    made = (tmp_path / "key").read_bytes()
    assert len(made) == 32
    assert stat.S_IMODE((tmp_path / "key").stat().st_mode) == 0o600
    assert made.hex() not in done.stdout + done.stderr
    again = sfumato("gate", "secret", "--out", "key", cwd=tmp_path)
    assert again.returncode == 2
    assert "never written over" in again.stderr
    assert (tmp_path / "key").read_bytes() == made
