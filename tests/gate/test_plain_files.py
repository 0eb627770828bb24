import pytest

from sfumato.errors import DataError, FileError
from sfumato.gate.plain_files import read_plain


def test_values_with_their_lines_or_what_is_wrong(tmp_path):
    path = tmp_path / "p.yaml"
    path.write_text("a: 1\nb: [2]\n")
    value, lines = read_plain(path, "policies")
    assert value == {"a": 1, "b": [2]}
    assert lines["b",] == 2
    path.write_text("a: [planted\n")
    with pytest.raises(DataError, match=r"p\.yaml") as error:
        read_plain(path, "policies")
    assert "planted" not in str(error.value)
    with pytest.raises(FileError, match="levels in 'nosuch"):
        read_plain(tmp_path / "nosuch.yaml", "levels")
