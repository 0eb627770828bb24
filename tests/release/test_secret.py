import pytest

from sfumato.errors import SecretError
from sfumato.release.secret import VARIABLE, Secret

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
