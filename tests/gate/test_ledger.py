import hashlib
import json
from dataclasses import replace

import pytest

from sfumato.errors import DataError
from sfumato.gate.ledger import GENESIS, Entry, chained, first_fault, from_line, read_head, to_line

AT = "2026-01-01T00:00:00.000000Z"


def chain(many: int = 5) -> list[Entry]:
    out: list[Entry] = []
    for i in range(many):
        out.append(chained(out[-1] if out else None, "request", "ann", "ward", {"i": i, "é": ["1/3"]}, at=AT))
    return out


def test_hash_is_sha256_of_the_rest() -> None:
    entry = chain(1)[0]
    text = (
        '{"at":"2026-01-01T00:00:00.000000Z","body":{"i":0,"é":["1/3"]},"dataset":"ward","kind":"request",'
        f'"previous":"{"0" * 64}","seq":1,"who":"ann"}}'
    )
    assert entry.hash == hashlib.sha256(text.encode()).hexdigest()
    assert entry.previous == GENESIS


def test_whole_chain_has_no_fault() -> None:
    entries = chain()
    assert first_fault(entries) is None
    assert first_fault(entries, entries[2].head) is None
    assert first_fault([], None) is None
    assert first_fault([], (0, GENESIS)) is None


def test_changed_entry_is_named() -> None:
    entries = chain()
    entries[2] = replace(entries[2], who="bob")
    assert "Entry 3 was changed" in str(first_fault(entries))


def test_entry_that_was_changed_with_its_hash_is_named_by_the_next() -> None:
    entries = chain()
    entries[2] = chained(entries[1], "request", "bob", "ward", {}, at=AT)
    assert "Entry 4 does not follow" in str(first_fault(entries))
    assert "entry 3 was changed" in str(first_fault(entries))


def test_missing_entry_is_named() -> None:
    entries = chain()
    assert "Entry 3 is missing" in str(first_fault(entries[:2] + entries[3:]))
    assert "Entry 1 is missing" in str(first_fault(entries[1:]))
    assert "Entry 2 stands twice" in str(first_fault([*entries[:2], entries[1]]))


def test_missing_tail_shows_by_a_head_that_was_seen() -> None:
    entries = chain()
    assert first_fault(entries[:3]) is None
    assert "The end is missing" in str(first_fault(entries[:3], entries[4].head))
    assert "The end is missing" in str(first_fault([], entries[4].head))


def test_rewritten_chain_shows_by_a_head_that_was_seen() -> None:
    other = [chained(None, "user", "eve", "", {}, at=AT)]
    assert first_fault(other) is None
    assert "Entry 1 was replaced" in str(first_fault(other, chain()[0].head))


def test_floats_are_refused() -> None:
    with pytest.raises(ValueError, match="floats"):
        chained(None, "request", "ann", "ward", {"work": 0.5})
    with pytest.raises(ValueError, match="kind"):
        chained(None, "other", "ann", "ward", {})


def test_lines_go_out_and_come_in() -> None:
    entries = chain()
    assert [from_line(to_line(one)) for one in entries] == entries
    with pytest.raises(DataError, match="Line 7"):
        from_line("{}", 7)
    wrong = json.loads(to_line(entries[0])) | {"seq": "1"}
    with pytest.raises(DataError, match="'seq'"):
        from_line(json.dumps(wrong))
    # a float that was written in shows as a change, and stops nothing
    odd = json.loads(to_line(entries[0])) | {"body": {"i": 0.5}}
    assert "Entry 1 was changed" in str(first_fault([from_line(json.dumps(odd))]))


def test_heads_are_read() -> None:
    entry = chain(1)[0]
    assert read_head(f"1:{entry.hash}") == entry.head
    for wrong in ("1", "x:" + entry.hash, "1:abc", "", "²:" + entry.hash):
        with pytest.raises(DataError):
            read_head(wrong)
