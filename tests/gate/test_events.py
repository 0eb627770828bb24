"""Events, one a line."""

import pytest

from sfumato.errors import DataError, FileError
from sfumato.gate.events import parsed_events, read_events


def test_lines_words_and_remarks(tmp_path):
    (tmp_path / "e.txt").write_text("# a day\n\nuser ann research # she\n  ask  ann A,B v2\n")
    found = read_events(tmp_path / "e.txt")
    assert [(one.word, one.arguments, one.line) for one in found] == [
        ("user", ("ann", "research"), 3),
        ("ask", ("ann", "A,B", "v2"), 4),
    ]


@pytest.mark.parametrize(
    "line",
    [
        "dance ann",
        "user ann",
        "user ann research x",
        "ask ann",
        "ask ann A v1 v2",
        "join ann",
        "version v2",
        "USER a b",
    ],
)
def test_lines_out_of_form(line):
    with pytest.raises(DataError, match="line 2"):
        parsed_events(["user bob research", line])


def test_what_cannot_be_read(tmp_path):
    (tmp_path / "e.txt").write_bytes(b"\xff\xfe\x00")
    for name in ("e.txt", "none.txt"):
        with pytest.raises(FileError):
            read_events(tmp_path / name)
