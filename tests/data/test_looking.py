"""Personal data that have a form, within texts, in value labels, and as numbers."""

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.data.codebook import Codebook, Missing, Variable
from sfumato.data.detectors import looks_identifying
from sfumato.data.entities import KINDS
from sfumato.data.kinds import Facts
from sfumato.data.looking import Looking, in_words, telling
from sfumato.data.profile import profile
from sfumato.errors import DataError
from sfumato.plan.by_groups import exchange_of
from sfumato.plan.plan import Plan
from tests.drafted import drafted


def guess(values, looking=None, name="x", **known):
    book = Codebook({name: Variable.model_validate(known)} if known else {})
    more = {} if looking is None else {"looking": looking}
    (found,) = profile(pl.DataFrame({name: values}), book, **more)
    return found


CATEGORIES = ["none", "ring 020 7946 0958", "mail jo@example.org", "none"] * 10


def test_every_kind_has_its_words():
    assert set(Looking().sought) == set(KINDS)
    assert in_words([]) == ""
    assert telling(KINDS) == [kind for kind in KINDS if kind != "date"]


def test_few_texts_that_hold_personal_data_make_an_identifier():
    found = guess(CATEGORIES)
    assert (found.variable.role, found.variable.kind) == ("identifier", "text")
    assert "some texts hold e-mail addresses and telephone numbers" in found.reason
    assert found.found == {"email": 0.25, "phone": 0.25}
    assert not found.certain


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("she wrote from jo@example.org", "e-mail addresses"),
        ("see www.example.org", "web addresses"),
        ("logged in from 192.0.2.17 twice", "internet (IP) addresses"),
        ("call 07700 900123", "telephone numbers"),
        ("lives at 5 High Road LS2 9JT", "UK postcodes"),
        ("NHS no 943 476 5919", "NHS numbers"),
        ("NI AB 12 34 56 C", "national insurance numbers"),
        ("paid to GB82 WEST 1234 5698 7654 32", "account numbers (IBAN)"),
        ("card 4111 1111 1111 1111", "card numbers"),
    ],
)
def test_one_text_of_many_is_enough(text, words):
    found = guess([*(["nothing to tell"] * 99), text])
    assert found.variable.role == "identifier"
    assert words in found.reason


def test_dates_in_texts_are_told_and_name_nobody():
    found = guess(["before 3 May 1999", "later", "later", "before 3 May 1999"] * 5)
    assert found.variable.role == "other"
    assert "some texts hold dates" in found.reason


def test_free_text_says_what_was_found():
    texts = [f"visit number {i} went well and all the questions were answered" for i in range(40)]
    found = guess([*texts, "please write to jo@example.org about all of the questions"])
    assert found.variable.role == "identifier"
    assert "free text can name people" in found.reason
    assert "some texts hold e-mail addresses" in found.reason


def test_codes_that_look_like_something_by_chance_are_codes():
    codes = [f"{a}{b}{c}7QX" for a in "ABCDEFGH" for b in "QRSTVXZ" for c in "ABCD"] + ["LS29JT"]
    assert guess(codes).variable.role != "identifier"
    assert guess(["LS29JT", *["unknown", "none"] * 30]).variable.role == "other"
    assert guess(["07700900123", "none"] * 5).variable.role == "identifier"


@pytest.mark.parametrize("values", [[9434765919, 4010232137], ["9434765919", "401 023 2137"]])
@pytest.mark.parametrize("kind", [lambda v: v, lambda v: [float(str(x).replace(" ", "")) for x in v]])
def test_numbers_read_as_floats_are_found_too(values, kind):
    found = guess(kind(values))
    assert found.variable.role == "identifier"
    assert "check digit of an NHS number" in found.reason


@pytest.mark.parametrize("dtype", [pl.Int64, pl.Float64])
@pytest.mark.parametrize(
    ("values", "words"),
    [([7700900123, 7911123456, 7700900456], "telephone"), ([4111111111111111, 5500000000000004], "card")],
)
def test_telephone_and_card_numbers_as_numbers(dtype, values, words):
    assert words in guess(pl.Series(values, dtype=dtype)).reason


def test_large_amounts_are_none():
    assert guess([1_234_567_890 + 17 * i for i in range(50)]).variable.role != "identifier"
    assert guess([4_111_111_111_111_111 + i for i in range(50)]).variable.role != "identifier"


def test_labels_that_hold_personal_data_do_not_leave():
    labels = {1: "yes", 2: "no, ask jo@example.org"}
    found = guess([1, 2, 1, 2] * 10, labels=labels)
    assert found.leaves
    assert "some value labels hold e-mail addresses" in found.reason
    assert found.found_in_labels == {"email": 0.5}
    frame = pl.DataFrame({"x": [1, 2, 1, 2] * 10, "sex": ["f", "m"] * 20})
    book = Codebook({"x": Variable(labels=labels)})
    text = drafted(frame, book, "t").text
    assert "drop, columns: [x]" in text
    assert "jo@" not in text
    assert looks_identifying(Facts(frame["x"], book["x"]))


def test_labels_of_missing_codes_too():
    found = guess([1, 2, -9] * 10, missing=[Missing(code=-9, label="see jo@example.org")])
    assert found.leaves


def test_only_the_kinds_that_are_asked_for():
    assert guess(CATEGORIES, Looking(kinds=("iban",))).variable.role == "other"
    assert guess(CATEGORIES, Looking(kinds=("phone",))).found == {"phone": 0.25}
    with pytest.raises(DataError, match="'mail'.*email"):
        Looking(kinds=("mail",))


def test_from_which_share_on():
    assert guess(CATEGORIES, Looking(threshold=0.25)).variable.role == "identifier"
    below = guess(CATEGORIES, Looking(threshold=0.26))
    assert below.variable.role == "other"
    assert "some texts hold" in below.reason
    with pytest.raises(DataError, match="share"):
        Looking(threshold=2)


def test_how_many_values_are_looked_at():
    texts = [f"text {i}" for i in range(1000)] + ["mail jo@example.org"]
    assert guess(texts).found
    few = Facts(pl.Series("x", texts), Variable(), looking=Looking(sample=20))
    assert 0 < len(few.sample) < 60
    with pytest.raises(DataError, match="1 or more"):
        Looking(sample=0)


def test_a_file_name_that_names_somebody_is_no_title():
    frame = pl.DataFrame({"sex": ["f", "m"] * 30})
    assert Plan.from_yaml(drafted(frame, title="jo@example.org").text).title == "Untitled"
    assert Plan.from_yaml(drafted(frame, title="survey 2020").text).title == "survey 2020"


PERSONAL = ["jo@example.org", "020 7946 0958", "+44 7700 900123", "LS2 9JT", "943 476 5919", "GB82WEST12345698765432"]


@pytest.mark.slow
@given(
    st.sampled_from(PERSONAL),
    st.lists(st.sampled_from(["she", "said", "no", "twice", "(again)", "ärger", "at", "5"]), max_size=8),
    st.lists(st.sampled_from(["and", "then", "left", "über", "2nd"]), max_size=8),
    st.integers(0, 30),
)
def test_wherever_it_stands_it_is_found_and_stays_out_of_the_plan(personal, before, after, others):
    """In texts of any length, beside any number of others that hold nothing."""
    text = " ".join([*before, personal, "," if after else "", *after])
    frame = pl.DataFrame({"note": [text, *["nothing to say"] * others], "sex": ["f"] * (others + 1)})
    guesses = profile(frame, Codebook())
    assert guesses[0].variable.role in ("identifier", "key")
    plan = "\n".join(exchange_of(frame, guesses).lines(5, "scientific-use"))
    assert personal not in plan
    changed = [
        n
        for s in Plan.from_yaml(f"sfumato: 1\n{plan}").steps
        if s.name in ("drop", "coarsen_postcode")
        for n in s.columns
    ]
    assert "note" in changed
