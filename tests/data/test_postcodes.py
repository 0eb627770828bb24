import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.data.postcodes import PARTS, part_of

# area, district, sector; forms of BS 7666 and the special cases of Royal Mail's programmers' guide
CODES = {
    "M1 1AE": ("M", "M1", "M1 1"),  # A9
    "B33 8TH": ("B", "B33", "B33 8"),  # A99
    "CR2 6XH": ("CR", "CR2", "CR2 6"),  # AA9
    "DN55 1PT": ("DN", "DN55", "DN55 1"),  # AA99
    "W1A 0AX": ("W", "W1A", "W1A 0"),  # A9A
    "EC1A 1BB": ("EC", "EC1A", "EC1A 1"),  # AA9A
    "GIR 0AA": ("GIR", "GIR", "GIR 0"),
    "BF1 2AA": ("BF", "BF1", "BF1 2"),
    "JE2 3AB": ("JE", "JE2", "JE2 3"),
    "GY1 1AA": ("GY", "GY1", "GY1 1"),
    "IM9 9AA": ("IM", "IM9", "IM9 9"),
}
each = pytest.mark.parametrize(("code", "parts"), CODES.items())


@each
def test_the_parts_of_every_form(code, parts):
    assert tuple(part_of(code, part) for part in PARTS) == parts


@each
def test_case_and_spaces_tell_nothing(code, parts):
    letters = code.replace(" ", "")
    odd = (letters, letters.lower(), code.lower(), f"  {code}\t", " ".join(letters), code.replace(" ", "\u00a0"))
    for written in odd:
        assert tuple(part_of(written, part) for part in PARTS) == parts


@pytest.mark.parametrize(
    ("code", "parts"),
    [
        ("EC1A", ("EC", "EC1A", None)),
        ("M1", ("M", "M1", None)),
        ("EC", ("EC", None, None)),
        ("EC1 1", ("EC", "EC1", "EC1 1")),
        ("EC11", ("EC", "EC11", None)),  # a district too, so it is taken for one
        ("W1A1", ("W", "W1A", "W1A 1")),
        ("AB10 1", ("AB", "AB10", "AB10 1")),
    ],
)
def test_codes_that_are_partial_are_enough_for_what_is_broader(code, parts):
    assert tuple(part_of(code, part) for part in PARTS) == parts


@pytest.mark.parametrize(
    "nowhere",
    ["", " ", "ZZ99 3VZ", "QQ1 1AA", "75001", "12345-6789", "SW1A OAA", "EC1A 1B", "EC1A 1BBB", "GIR 1AA", "NPT 1AA",
     "EC1A 1CI", "London EC1A 1BB", "EC1 \u0661", "1BB", "A", "\u00e9"],
)  # fmt: skip
def test_what_is_no_postcode_has_no_part(nowhere):
    assert [part_of(nowhere, part) for part in PARTS] == [None] * 3


@given(st.text(alphabet=string.ascii_letters + string.digits + " -", max_size=10))
def test_a_part_is_the_beginning_of_what_was_written_and_has_itself_as_its_part(text):
    for part in PARTS:
        found = part_of(text, part)
        if found is not None:
            bare = text.upper().replace(" ", "")
            assert bare.startswith(found.replace(" ", ""))
            partial = len(bare) < 5 or bare[-1].isdigit()
            assert partial or len(bare) > len(found.replace(" ", ""))  # of a whole code letters are gone
            assert part_of(found, part) == found
