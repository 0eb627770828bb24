"""Files of policies, and what is wrong with them by line."""

import pytest

from sfumato.errors import DataError, FileError
from sfumato.gate.policies import read_policies


@pytest.mark.parametrize("head", ["", "policies:\n"])
def test_a_file_of_policies(tmp_path, head):
    lines = ["research: {interval: {count: 4, width: 10}}", "public: {preset: public}"]
    (tmp_path / "p.yaml").write_text(head + "\n".join(("  " if head else "") + line for line in lines))
    found = read_policies(tmp_path / "p.yaml")
    assert {name: one.interval.width for name, one in found.items()} == {"research": 10, "public": 20}


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("ok: {preset: acro}\nresearch: {interval: {count: 4, width: 4}}", "line 2"),
        ("ok: {preset: acro}\nresearch:\n  intervall: 3", "line 3"),
        ("research: [", "line"),
        ("[]", "mapping"),
        ("", "mapping"),
        ("policies: {}", "mapping"),
        ("research: {}", "criterion"),
    ],
)
def test_files_out_of_form(tmp_path, text, line):
    (tmp_path / "p.yaml").write_text(text)
    with pytest.raises(DataError, match=line):
        read_policies(tmp_path / "p.yaml")


def test_a_file_that_there_is_not(tmp_path):
    with pytest.raises(FileError):
        read_policies(tmp_path / "none.yaml")
