from importlib.metadata import version

from tests.running.newest import differing, locked


def test_a_lock_is_read_with_its_markers(tmp_path):
    file = tmp_path / "dev.txt"
    file.write_text(
        "numpy==1.0 \\\n    --hash=sha256:ab \\\n    --hash=sha256:cd\n"
        "colorama==0.4 ; sys_platform == 'no such system' \\\n    --hash=sha256:ef\n"
    )
    assert list(locked(file)) == [("numpy", "1.0")]


def test_only_other_versions_are_told(tmp_path):
    file = tmp_path / "dev.txt"
    file.write_text(f"numpy==1.0\npolars=={version('polars')}\nno-such-package==2.0\n")
    assert differing(file) == [f"numpy 1.0 -> {version('numpy')}", "no-such-package 2.0 -> not here"]
