import os
import stat

import pytest

from sfumato.errors import FileError, SecretError
from sfumato.release.secret import VARIABLE, Secret, make_secret

RAW = bytes([0, 10, 32, 255] * 8)


def test_the_files_bytes_are_taken_as_they_are(tmp_path):
    file = tmp_path / "key"
    file.write_bytes(RAW + b"\n ")
    assert Secret.find(file, {}).value == RAW + b"\n "


def test_the_variable_is_hexadecimal_and_comes_after_the_file(tmp_path):
    file = tmp_path / "key"
    file.write_bytes(bytes(16))
    assert Secret.find(None, {VARIABLE: RAW.hex()}).value == RAW
    assert Secret.find(file, {VARIABLE: RAW.hex()}).value == bytes(16)


def test_one_that_is_drawn_cannot_be_repeated():
    first, second = Secret.find(None, {}), Secret.find(None, {})
    assert first.value != second.value
    assert not first.repeatable


@pytest.mark.parametrize("text", ["hunter2hunter2hunter2", "abc", "00" * 15])
def test_bad_ones_are_refused_and_not_shown(text):
    with pytest.raises(SecretError) as caught:
        Secret.find(None, {VARIABLE: text})
    assert text not in str(caught.value)


def test_a_file_that_is_missing_or_too_short(tmp_path):
    with pytest.raises(SecretError, match="cannot be read"):
        Secret.find(tmp_path / "none", {})
    short = tmp_path / "weak"
    short.write_bytes(b"short")
    with pytest.raises(SecretError, match="at least 16 bytes"):
        Secret.find(short, {})


def test_the_fingerprint_tells_secrets_apart_and_repr_tells_nothing():
    assert Secret(RAW).fingerprint == Secret(RAW).fingerprint
    assert Secret(RAW).fingerprint != Secret(RAW[::-1]).fingerprint
    assert RAW.hex() not in repr(Secret(RAW))
    assert repr(RAW) not in repr(Secret(RAW))


def test_a_secret_is_made_for_its_owner_alone(tmp_path):
    umask = os.umask(0)
    try:
        for name in ("key", "other"):
            make_secret(tmp_path / name)
    finally:
        os.umask(umask)
    assert stat.S_IMODE((tmp_path / "key").stat().st_mode) == 0o600
    made = [Secret.find(tmp_path / name).value for name in ("key", "other")]
    assert [len(one) for one in made] == [32, 32]
    assert made[0] != made[1]


def test_a_secret_is_never_written_over(tmp_path):
    (tmp_path / "key").write_bytes(b"an older secret")
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    for name, why in (("key", "never written over"), ("link", "never written over"), ("none/key", "No such file")):
        with pytest.raises(FileError, match=why):
            make_secret(tmp_path / name)
    assert (tmp_path / "key").read_bytes() == b"an older secret"
    assert not (tmp_path / "nowhere").exists()


def test_half_a_secret_is_none(tmp_path, monkeypatch):
    def full(file):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(FileError, match="No space left"):
        make_secret(tmp_path / "key")
    assert not (tmp_path / "key").exists()
