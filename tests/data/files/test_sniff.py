import codecs

import pytest

from sfumato.data.files.sniff import decode, sniff_delimiter
from sfumato.errors import FileError

GERMAN = "Name;Straße;Größe\nMüller;Königsallee;1,82\nJäger;Schönhauser Weg;1,75\n"
POLISH = "imię;nazwisko;miasto\nŁukasz;Wójcik;Łódź\nŻaneta;Dąbrowska;Gdańsk\nGrażyna;Świątek;Kraków\n"
RUSSIAN = "имя;город;возраст\nИван;Москва;31\nОльга;Новгород;27\n"


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        (GERMAN, "utf-8"),
        (GERMAN, "utf-8-sig"),
        (GERMAN, "utf-16"),
        (GERMAN, "utf-16-le"),
        (GERMAN, "utf-16-be"),
        (GERMAN, "cp1252"),
        (GERMAN, "latin-1"),
        ("a;b\n5 €;„quoted“ – ‘text’\n", "cp1252"),
        (POLISH, "cp1250"),
        (RUSSIAN, "cp1251"),
        (RUSSIAN, "koi8_r"),
        ("only,ascii\n1,2\n", "ascii"),
    ],
)
def test_the_encoding_is_found(text, encoding):
    data, told, sure = decode(text.encode(encoding))
    assert data.decode() == text
    assert text.encode(encoding).decode(told).removeprefix("\ufeff") == text
    assert sure == encoding.startswith(("utf", "ascii"))


def test_big_endian_with_a_mark():
    data = codecs.BOM_UTF16_BE + GERMAN.encode("utf-16-be")
    assert decode(data)[0].decode() == GERMAN
    assert decode(data, "utf-16")[0].decode() == GERMAN


@pytest.mark.parametrize("encoding", ["utf-8", "UTF8", "utf-8-sig", "utf_8"])
def test_a_mark_is_no_part_of_the_text(encoding):
    assert decode(codecs.BOM_UTF8 + b"a\n1\n", encoding)[0] == b"a\n1\n"


def test_a_given_encoding_is_used():
    assert decode("é".encode("cp1252"), "cp1252") == ("é".encode(), "cp1252", True)
    assert decode("é".encode(), "cp1252")[0].decode() == "Ã©"


@pytest.mark.parametrize(
    ("data", "encoding", "word"),
    [
        (b"a\nPLANTED\xff\n", "utf-8", "bytes that are no text"),
        (b"a\nPLANTED\x81\n", "cp1252", "bytes that are no text"),
        (b"abc", "utf-16", "bytes that are no text"),
        (b"a\n1\n", "klingon", "no encoding 'klingon'"),
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", None, "binary|no text"),
        (b"PK\x03\x04\x14\0\0\0\x08\0PLANTED", None, "binary|no text"),
    ],
)
def test_what_does_not_fit_is_refused(data, encoding, word):
    with pytest.raises(FileError, match=word) as caught:
        decode(data, encoding)
    assert "PLANTED" not in str(caught.value)


@pytest.mark.parametrize("sign", [",", ";", "\t", "|"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_the_delimiter_is_found(sign, end):
    others = "".join(s for s in ",;\t|" if s != sign)
    rows = [["id", "text", "x"], ["1", f'"has {others} and {sign}"', "2"], ["2", '"two\nlines"', "3"]]
    assert sniff_delimiter(end.join(sign.join(row) for row in rows) + end) == sign


def test_decimal_commas_do_not_mislead():
    assert sniff_delimiter("id;x;y\n1;1,5;2,5\n2;3,5;4,5\n") == ";"


def test_one_ragged_line_does_not_mislead():
    assert sniff_delimiter("a,b,c\n1,2,3\n1,2\n1,2,3\n") == ","


def test_a_single_column_gets_a_delimiter_that_divides_nothing():
    assert sniff_delimiter("x\n1\n2\n") == ","
    assert sniff_delimiter("x\n1,5\n2,5\n") == ";"
    assert sniff_delimiter("x;y\n1\n2\n") == ","


def test_a_header_alone():
    assert sniff_delimiter("a;b;c\n") == ";"
