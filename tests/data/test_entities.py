"""Numbers come from the public ranges for fiction (Ofcom), and from the standards' own examples (IBAN, NHS, cards)."""

import polars as pl
import pytest

from sfumato.data.entities import KINDS, Entity, find, found, joined, share_with

FOUND = [
    ("07700 900123", "phone"),
    ("020 7946 0958", "phone"),
    ("+44 (0)20 7946 0958", "phone"),
    ("0044 20 7946 0958", "phone"),
    ("0044 7700 900 123", "phone"),  # in groups of which a shorter number could be made
    ("00447700900123", "phone"),
    ("(0131) 496 0123", "phone"),
    ("+49 30 123456", "phone"),
    ("079 11 12 34 56", "phone"),  # odd groups: the library knows
    ("07911-123-456 ext 5", "phone"),
    ("7911123456.0", "phone"),  # read as a float, its 0 lost
    ("9434765919", "nhs_number"),
    ("943 476 5919", "nhs_number"),
    ("9434765919.0", "nhs_number"),
    ("4111 1111 1111 1111", "card"),
    ("5500000000000004", "card"),
    ("GB82 WEST 1234 5698 7654 32", "iban"),
    ("gb82west12345698765432", "iban"),
    ("AB 12 34 56 C", "ni_number"),
    ("AB123456C", "ni_number"),
    ("LS2 9JT", "postcode"),
    ("ls29jt", "postcode"),
    ("W1A 1AA", "postcode"),
    ("EC1A1BB", "postcode"),
    ("GIR 0AA", "postcode"),
    ("jo.o'neil+x@sub.example.co.uk", "email"),
    ("JO@EXAMPLE.ORG", "email"),
    ("jö@müller.example", "email"),
    ("http://www.example.org/x?u=jo@example.org", "url"),
    ("www.example.com", "url"),
    ("facebook.com/jo.bloggs", "url"),
    ("192.0.2.1", "ip"),
    ("2001:db8::1", "ip"),
    ("03/04/1958", "date"),
    ("3.4.58", "date"),
    ("1958-04-03", "date"),
    ("2024-01-01T10:00:00Z", "date"),
    ("19580403", "date"),
    ("3rd of April 1958", "date"),
    ("April 3, 1958", "date"),
    ("Sept 1958", "date"),
]
NOT_FOUND = [
    "AB07911123456X",  # a phone within an id
    "ID12345678",
    "12345678",
    "9434765918",  # the check digit is wrong
    "4111 1111 1111 1112",
    "GB83 WEST 1234 5698 7654 32",
    "a@b",
    "@handle",
    "std::cout",
    "12:30:45",
    "1.2.3.4.5",
    "256.1.1.1",
    "45/13/1958",
    "1,234,567",
    "3.14159265",
    "e.g. this.That",
    "Q1 9AA 9",
    "may 20",
    "",
]


@pytest.mark.parametrize(("text", "kind"), FOUND)
def test_what_has_a_form_is_found_alone_and_in_a_sentence(text, kind):
    assert find(text) == [Entity(kind, 0, len(text))]
    before = "she said: "
    (entity,) = find(f"{before}{text}, twice.")
    assert entity == Entity(kind, len(before), len(before) + len(text))


@pytest.mark.parametrize("text", NOT_FOUND)
def test_what_has_no_such_form_is_left(text):
    assert find(text) == []


def test_several_stand_side_by_side():
    text = "2/1/2010 07700 900123 07700 900124/020 7946 0958 4111 1111 1111 1111 12/26"
    assert [(e.kind, text[e.start : e.end]) for e in find(text)] == [
        ("date", "2/1/2010"),
        ("phone", "07700 900123"),
        ("phone", "07700 900124"),
        ("phone", "020 7946 0958"),
        ("card", "4111 1111 1111 1111"),
    ]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("０７７００ ９００１２３", "phone"),  # full width
        ("٠٧٧٠٠ ٩٠٠١٢٣", "phone"),  # Arabic digits
        ("07700‑900‑123", "phone"),  # hyphens that do not break
        ("LS2 9JT", "postcode"),
        ("jo\u200be@exa\u00admple.org", "email"),  # signs that nobody sees
        ("tel07700900123", "phone"),
    ],
)
def test_odd_signs_hide_nothing(text, kind):
    (entity,) = find(f"ﬁne, {text} é")  # places are those of the text as it is
    assert entity.kind == kind
    assert f"ﬁne, {text} é"[entity.start : entity.end].endswith(text[-5:])


def test_overlapping_finds_are_one_that_covers_both():
    spans = [Entity("url", 0, 9), Entity("email", 5, 20), Entity("ip", 6, 8), Entity("date", 20, 22)]
    assert joined(spans) == [Entity("email", 0, 20), Entity("date", 20, 22)]
    assert joined([]) == []


def test_shares_are_of_what_is_not_missing():
    texts = pl.Series(["LS2 9JT", "Leeds", None, "at LS2 9JT", "LS2 9JT, jo@example.org", None])
    shares = share_with(texts)
    assert list(shares) == list(KINDS)
    assert (shares["postcode"], shares["email"], shares["phone"]) == (0.75, 0.25, 0)
    assert share_with(pl.Series([9434765919, 1]))["nhs_number"] == 0.5
    assert share_with(pl.Series([9434765919.0, None, float("nan")]))["nhs_number"] == 1
    assert set(share_with(pl.Series([None, None], dtype=pl.String)).values()) == {0.0}
    assert share_with(texts, ["email"]) == {"email": 0.25}


@pytest.mark.parametrize("text", [text for text, _ in FOUND])
def test_the_quick_test_before_passes_every_text_that_holds_one(text):
    assert found(pl.Series([text, f"so {text}."])) == {t: find(t) for t in (text, f"so {text}.")}
