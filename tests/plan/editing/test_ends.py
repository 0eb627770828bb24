import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.plan.editing.ends import keep_ends

MIXED = "a: 1\r\nb: 2\nc: 3\r\rd: 4\r\n"


@pytest.mark.parametrize(
    ("before", "typed", "kept"),
    [
        ("a\nb\n", "a\r\nc\r\nb\r\n", "a\nc\nb\n"),
        ("a\r\nb", "a\nb\nc", "a\r\nb\r\nc"),
        ("a\rb\r", "a\nc\nb\n", "a\rc\rb\r"),
        (MIXED, "a: 1\nb: 2\nnew: 1\nc: 3\n\nd: 4\n", "a: 1\r\nb: 2\nnew: 1\r\nc: 3\r\rd: 4\r\n"),
        ("a\r\n", "", ""),
        ("", "a\n", "a\n"),
        ("\r\n", "a", "a"),
    ],
)
def test_lines_that_were_there_keep_their_ends(before, typed, kept):
    assert keep_ends(before, typed) == kept


@given(st.lists(st.tuples(st.sampled_from(["", "a", "b: 1", "é"]), st.sampled_from(["\n", "\r\n"])), max_size=12))
def test_what_a_page_makes_of_a_text_is_the_text_again(lines):
    text = "".join(line + end for line, end in lines)
    assert keep_ends(text, text.replace("\r\n", "\n")) == text
    assert keep_ends(text, text.replace("\r\n", "\n").replace("\n", "\r\n")) == text
