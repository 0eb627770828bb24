import threading

import pytest

from sfumato.errors import DataError, LimitReached
from sfumato.gate.serving import passwords


@pytest.fixture
def quick_hashes():
    """None are quick here."""


@pytest.mark.slow
def test_a_password_and_its_hash():
    """With the work that it has in earnest: RFC 9106's second choice, 64 MiB and three rounds."""
    kept = passwords.hashed("correct horse battery")
    assert "$m=65536,t=3," in kept
    assert kept.startswith("$argon2id$")
    assert passwords.matches("correct horse battery", kept)
    assert not passwords.matches("correct horse batterz", kept)
    assert not passwords.matches("correct horse battery", None)
    assert not passwords.matches("correct horse battery", "no hash")


@pytest.mark.parametrize("text", ["short", "x" * 201, "a password of ann's", "a line\nof two words"])
def test_what_is_no_password(text):
    with pytest.raises(DataError):
        passwords.checked_password(text, "ann")


def test_two_at_once(monkeypatch):
    """Six come, and no more than two are worked out at a time: each waits for a second one to be there."""
    running, most = [], []
    both = threading.Barrier(2)

    class Slow:
        def hash(self, text):
            running.append(text)
            both.wait(30)
            most.append(len(running))
            both.wait(30)
            running.remove(text)
            both.wait(30)
            return "x"

    monkeypatch.setattr(passwords, "_hasher", Slow)
    threads = [threading.Thread(target=passwords.hashed, args=(str(i),)) for i in range(6)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert len(most) == 6
    assert max(most) <= passwords.AT_ONCE == 2


def test_who_waits_too_long_is_told(monkeypatch):
    monkeypatch.setattr(passwords, "_WAIT", 0.01)
    with passwords._Turn(), passwords._Turn(), pytest.raises(LimitReached), passwords._Turn():
        pass
