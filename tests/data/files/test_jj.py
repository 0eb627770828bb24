import numpy as np
import pytest

from sfumato.data.files.jj import read_jj, write_jj
from sfumato.errors import DataError, FileError

TEXT = """0
3
0 5 5 s 0 10 0 0 0
1 3 3.5 u 0 10 1 2 0
2 2 2 z 0 10 0 0 0
1
0 3 : 0 (-1) 1 (1) 2 ( 1 )
"""


def test_a_problem(tmp_path):
    (tmp_path / "a.jj").write_text(TEXT)
    one = read_jj(tmp_path / "a.jj")
    assert one.status == ("s", "u", "z")
    assert one.matrix.toarray().tolist() == [[-1, 1, 1]]
    assert (one.cost[1], one.lower_level[1], one.upper_level[1]) == (3.5, 1, 2)
    write_jj(one, tmp_path / "b.jj")
    again = read_jj(tmp_path / "b.jj")
    assert np.array_equal(again.value, one.value)
    assert np.array_equal(again.matrix.toarray(), one.matrix.toarray())


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("0\n3\n", "1\n3\n", "line 1"),
        ("0\n3\n", "0\nthree\n", "line 2"),
        ("1 3 3.5 u", "1 3 3.5 q", "line 4"),
        ("1 3 3.5 u", "7 3 3.5 u", "line 4"),
        ("0 3 :", "0 2 :", "line 7"),
        ("0 3 :", "4 3 :", "right-hand side"),
        ("2 ( 1 )", "9 ( 1 )", "line 7"),
        ("1\n0 3", "2\n0 3", "ends too early"),
    ],
)
def test_other_files_are_refused(tmp_path, old, new, message):
    (tmp_path / "a.jj").write_text(TEXT.replace(old, new, 1))
    with pytest.raises(DataError, match=message):
        read_jj(tmp_path / "a.jj")


def test_no_file(tmp_path):
    with pytest.raises(FileError):
        read_jj(tmp_path / "a.jj")


def test_what_sdctable_writes_is_read(tmp_path):
    """The form of `createJJFormat` and `writeJJFormat`: right-hand sides 0.0, no blank before a bracket, bounds Inf."""
    lines = [
        "0",
        "3",
        "0 10 10 s 0 Inf 0 0 0",
        "1 4 4 u 0 15 1 2 0",
        "2 6 6 s 0 15 0 0 0",
        "1",
        "0.0 3 : 0(-1) 1(1) 2(1)",
    ]
    (tmp_path / "a.jj").write_text("\n".join(lines) + "\n")
    found = read_jj(tmp_path / "a.jj")
    assert found.matrix.toarray().tolist() == [[-1, 1, 1]]
    assert found.upper[0] == np.inf
    assert found.upper_level.tolist() == [0, 2, 0]
