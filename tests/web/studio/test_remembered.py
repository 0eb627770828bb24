"""What was computed once."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from sfumato.web.studio.remembered import Remembered


def test_who_asks_meanwhile_waits_for_the_same():
    kept, begun, calls = Remembered(2), threading.Event(), []

    def compute():
        calls.append(1)
        begun.wait(5)
        return 7

    with ThreadPoolExecutor(3) as pool:
        asked = [pool.submit(kept.get, "a", compute) for _ in range(3)]
        begun.set()
        assert [one.result() for one in asked] == [7, 7, 7]
    assert len(calls) == 1


def test_the_one_asked_for_longest_ago_goes():
    kept = Remembered(2)
    for key in ("a", "b", "a", "c"):
        kept.get(key, lambda key=key: key)
    assert kept.get("a", lambda: "again") == "a"
    assert kept.get("b", lambda: "again") == "again"


def test_what_raises_is_not_remembered():
    kept = Remembered(2)
    with pytest.raises(ValueError, match="no"):
        kept.get("a", lambda: (_ for _ in ()).throw(ValueError("no")))
    assert kept.get("a", lambda: 1) == 1
