import struct

from sfumato.data.codebook import Missing, Variable
from sfumato.data.extended import CODES, LETTERS
from sfumato.data.files.extended import extended_missing, letters_of, with_codes


def test_the_doubles_are_those_that_stata_stores():
    """Stata's manual, `help dta`, gives the bytes of a double's missing values: 7fe0 0000… is `.`, 7fe0 01… `.a`."""
    assert struct.pack(">d", CODES["a"]).hex() == "7fe0010000000000"
    assert struct.pack(">d", CODES["b"]).hex() == "7fe0020000000000"
    assert struct.pack(">d", CODES["z"]).hex() == "7fe01a0000000000"
    assert len(set(CODES.values())) == 27
    assert all(LETTERS[code] == letter for letter, code in CODES.items())


def test_letters_among_numbers():
    assert with_codes([1, "a", None, "Z", "_", 2.5]) == [1, CODES["a"], None, CODES["z"], CODES["_"], 2.5]


def test_codes_that_occur_or_have_a_label():
    labels, missing = extended_missing({1: "yes", "c": "refused"}, {"b", "a"})
    assert labels == {1: "yes"}
    assert missing == (
        Missing(code=CODES["a"], label=".a"),
        Missing(code=CODES["b"], label=".b"),
        Missing(code=CODES["c"], label="refused"),
    )
    assert extended_missing({}, {"A", "_"}, upper=True)[1][0].label == ".A"


def test_letters_of_a_variable():
    variable = Variable(missing=[-9, "a", {"low": 1, "high": 2}, CODES["q"]])
    assert letters_of(variable) == {CODES["q"]: "q"}
