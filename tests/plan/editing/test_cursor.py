import pytest

from sfumato.plan.editing.cursor import cursor_at

TEXT = """\
sfumato: 1
variables:
  "a: b": {role: key}
steps:
- {do: drop, columns: [x,
    y]}
- do: derive
  formula: |
    steps: {
  by: ['it''s', z]
limits: []
"""


@pytest.mark.parametrize(
    ("line", "column", "keys", "word"),
    [
        (1, 1, [None], ""),
        (1, 4, [None], "sfu"),
        (3, 18, ["variables", "a: b", "role"], ""),
        (5, 25, ["steps", None, "columns", None], "x"),
        (6, 6, ["steps", None, "columns", None], "y"),
        (7, 10, ["steps", None, "do"], "der"),
        (10, 18, ["steps", None, "by", None], "z"),
        (11, 2, [None], "l"),
        (12, 1, [None], ""),
    ],
)
def test_what_is_open(line, column, keys, word):
    for eol in ("\n", "\r\n"):
        found = cursor_at(TEXT.replace("\n", eol), line, column)
        assert ([frame.key for frame in found.frames], found.word) == (keys, word)


@pytest.mark.parametrize(("line", "column"), [(9, 9), (0, 1), (13, 1), (1, 0), (1, 9999)])
def test_where_nothing_can_be_said(line, column):
    assert cursor_at(TEXT, line, column) is None
