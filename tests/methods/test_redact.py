import socket
import sys

import polars as pl
import pytest
from pydantic import ValidationError

from sfumato.data.codebook import Codebook, Variable
from sfumato.data.entities import KINDS
from sfumato.data.presidio import KINDS_OF_PRESIDIO, find_more
from sfumato.errors import DataError, MissingExtra, PlanError
from sfumato.methods.redact import NAMES_ARE_LEFT, Redact
from sfumato.plan.plan import Plan
from tests.methods.tables import run

LAWFUL = [Redact(columns=["g", "h"]), Redact(columns=["h"], entities=["phone"], replace={"phone": "***"})]
BOOK = Codebook({"notes": Variable(kind="text", missing=["07700 900124"])})


def redacted(*texts, book=BOOK, **more):
    return run(Redact(columns=["notes"], **more), pl.DataFrame({"notes": texts}, schema={"notes": pl.String}), book)


def test_what_has_a_form_is_replaced_by_a_word():
    ran = redacted(
        "Ring 07700 900123, or jo@example.org; NHS 943 476 5919!",
        "Nothing here.",
        None,
        "07700 900124",
        "at LS2 9JT since 3/4/1958, card 4111 1111 1111 1111",
    )
    assert ran.after.frame["notes"].to_list() == [
        "Ring [phone], or [email]; NHS [nhs number]!",
        "Nothing here.",
        None,
        "07700 900124",  # a missing code
        "at [postcode] since [date], card [card]",
    ]
    assert ran.steps[0].notes == (
        "notes: 2 records changed (card 1, date 1, email 1, nhs_number 1, phone 1, postcode 1).",
    )
    assert ran.steps[0].warnings == (NAMES_ARE_LEFT,)
    assert "nhs number" in ran.disclosure.sentences()[0]


def test_only_what_is_asked_for_and_in_the_words_of_the_plan():
    ran = redacted("07700 900123 jo@example.org", "", entities=["phone"], replace={"phone": "#"})
    assert ran.after.frame["notes"].to_list() == ["# jo@example.org", ""]


def test_overlapping_finds_leave_nothing_over():
    (text,) = redacted("see http://example.org/?to=jo@example.org&on=3/4/1958 now").after.frame["notes"]
    assert text == "see [url] now"


def test_a_long_cell_and_odd_signs():
    texts = ("x " * 50_000 + "jo@example.org", "tel ０７７００\u00a0９００１２３ é")
    long, odd = redacted(*texts).after.frame["notes"]
    assert long.endswith(" x [email]")
    assert odd == "tel [phone] é"


def test_an_identifier_stays_one_for_names_may_be_left():
    step = Redact(columns=["notes"])
    with pytest.raises(PlanError, match="'notes' is an identifier and no step drops or replaces it"):
        Plan(steps=[step]).check(Codebook({"notes": Variable(role="identifier", kind="text")}))
    Plan(steps=[step]).check(BOOK)


def test_labels_that_could_hold_what_was_replaced_go():
    book = Codebook(
        {"notes": Variable(kind="categorical", labels={"07700 900123": "his mobile"}, order=("07700 900123",))}
    )
    after = redacted("07700 900123", book=book).after.codebook["notes"]
    assert (after.labels, after.order) == ({}, ())


def test_what_is_unknown_or_no_text_is_refused():
    with pytest.raises(ValidationError, match=f"there is no entity names; entities: {', '.join(KINDS)}"):
        Redact(columns=["notes"], entities=["names"])
    with pytest.raises(ValidationError, match="`replace` names card, not among `entities`"):
        Redact(columns=["notes"], entities=["phone"], replace={"card": "x"})
    with pytest.raises(DataError, match="Column 'notes' holds numbers; redact takes texts: drop leaves"):
        run(Redact(columns=["notes"]), pl.DataFrame({"notes": [7700900123.0]}), Codebook({"notes": Variable()}))


def test_presidio_finds_more_without_a_model_and_without_the_network(monkeypatch):
    def refuse(*args, **more):
        raise AssertionError("the network was asked")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    monkeypatch.setattr(socket, "create_connection", refuse)
    ran = redacted(
        "jo@example.org, wallet 1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2, AB51 ABC, 00:1B:44:11:3A:B7, 943 476 5919, LS2 9JT",
        "Jo Bloggs of Garrowick",
        None,
        engine="presidio",
    )
    assert ran.after.frame["notes"].to_list() == [
        "[email], wallet [wallet], [vehicle], [mac], [nhs number], [postcode]",
        "Jo Bloggs of Garrowick",  # no model, so no names
        None,
    ]
    assert "spacy" not in {name for name in sys.modules if name == "spacy.lang.en"}
    only = redacted("AB51 ABC 07700 900123", engine="presidio", entities=["vehicle"])
    assert only.after.frame["notes"].to_list() == ["[vehicle] 07700 900123"]


def test_without_presidio_the_line_that_installs_it_is_given(monkeypatch):
    monkeypatch.setattr("sfumato.data.presidio.find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match=r"pip install 'sfumato\[pii\]'"):
        Redact(columns=["notes"], engine="presidio").check(BOOK)


def test_what_stands_across_pieces_is_found():
    text = "x" * 795 + " jo@example.org " + "y" * 3000 + " AB51 ABC"
    assert [e.kind for e in find_more(text)] == ["email", "vehicle"]
    assert {"vehicle", "mac", "wallet"} == set(KINDS_OF_PRESIDIO) - set(KINDS)
