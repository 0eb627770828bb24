import pytest

from sfumato.data.codebook import Codebook, Missing, Variable
from sfumato.data.extended import CODES, LETTERS, meant, shown


def test_codes_are_those_of_stata():
    """Stata's manual, `help dta`: .a is +1.001000...X+3ff in hexadecimal, .z +1.01aX+3ff; all are finite."""
    assert CODES["a"] == float.fromhex("0x1.001p+1023")
    assert CODES["z"] == float.fromhex("0x1.01ap+1023")
    assert len(LETTERS) == 27


@pytest.mark.parametrize("letter", ["a", "z", "_"])
def test_there_and_back(letter):
    assert shown(meant(f".{letter}")) == f".{letter}"
    assert meant(f".{letter.upper()}") == meant(f".{letter}") == CODES[letter]


@pytest.mark.parametrize("code", [-9, 2.5, "refused", ".", "..", ".ab", ".5", True, None, 2.0**1023])
def test_other_codes_are_left_alone(code):
    assert meant(code) == code
    assert shown(code) == code


def test_codebooks_show_letters_and_mean_doubles():
    book = Codebook({"x": Variable(missing=[{"code": ".a", "label": "refused"}, -9])})
    assert book["x"].missing[0].code == CODES["a"]
    assert book["x"].missing[0] == Missing(code=CODES["a"], label="refused")
    assert "code: .a" in book.to_yaml()
    assert Codebook.from_yaml(book.to_yaml()) == book == Codebook.from_plain(book.to_plain())
