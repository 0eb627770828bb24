"""Folders of processes that are no more are removed, and no others."""

import os

import pytest

from sfumato.engines.claimed import claimed
from sfumato.errors import FileError


def test_what_nobody_holds_is_swept(tmp_path):
    own, held = claimed("mine-", tmp_path)
    for name in ("mine-killed", "other-killed", "mine-new", "mine-old"):
        (tmp_path / name).mkdir()
    for name in ("mine-killed", "other-killed"):
        (tmp_path / name / "lock").touch()
    os.utime(tmp_path / "mine-old", (0, 0))
    (tmp_path / "mine-link").symlink_to(tmp_path / "other-killed")
    again, other = claimed("mine-", tmp_path)
    names = {"mine-link", "mine-new", "other-killed", own.name, again.name}
    assert {path.name for path in tmp_path.iterdir()} == names
    os.close(held)
    os.close(other)


def test_where_none_can_be_made(tmp_path):
    with pytest.raises(FileError, match="nowhere"):
        claimed("mine-", tmp_path / "nowhere")
