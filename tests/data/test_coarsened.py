import json

import pytest

import sfumato as sf
from sfumato.data.coarsened import Coarsened
from sfumato.data.disclosure import Disclosure
from sfumato.errors import DataError

BANDS = {"below 18": (None, 18), "18 to below 65": (18, 65), "65 and over": (65, None)}


@pytest.mark.parametrize(
    ("part", "sentence"),
    [
        (Coarsened(("a", "b"), "to broader categories"), "a, b: recoded to broader categories."),
        (Coarsened(("age",), bands=BANDS), "age: recoded into the bands below 18, 18 to below 65, 65 and over."),
        (Coarsened(("age",), how="into the bands x", bands={"x": (0, 1)}), "age: recoded into the bands x."),
        (
            Coarsened(("income",), bounds={"income": (None, 100_000)}),
            "income: values above 100,000 were set to it (top-coded).",
        ),
        (Coarsened(("x",), bounds={"x": (-0.5, None)}), "x: values below -0.5 were set to it (bottom-coded)."),
        (
            Coarsened(("x",), bounds={"x": (18, 23_456.5)}),
            "x: values below 18 were set to 18 (bottom-coded), and values above 23,456.5 to 23,456.5 (top-coded).",
        ),
        (Coarsened(("age",), rounded={"age": 5}), "age: rounded to multiples of 5."),
        (
            Coarsened(("age", "income"), bounds={"age": (None, 90)}, rounded={"income": 1000, "age": 0.1}),
            "age: values above 90 were set to it (top-coded), then rounded to multiples of 0.1; "
            "income: rounded to multiples of 1,000.",
        ),
    ],
)
def test_what_was_made_coarser_is_said(part, sentence):
    assert part.sentence() == sentence
    disclosure = Disclosure([part])
    assert Disclosure.from_plain(json.loads(json.dumps(disclosure.to_plain()))) == disclosure


def test_coarsened_is_read_from_papers_written_before_it_had_fields():
    told = Disclosure.from_plain([{"what": "coarsened", "columns": ["age"], "how": "into the bands young, old"}])
    assert told.sentences() == ("age: recoded into the bands young, old.",)
    assert told.parts[0] == sf.Coarsened(("age",), how="into the bands young, old")
    assert (told.parts[0].bands, told.parts[0].bounds, told.parts[0].rounded) == ({}, {}, {})


def test_the_fields_stand_in_json_as_lists_in_their_order():
    (plain,) = Disclosure([Coarsened(["age"], bands=BANDS)]).to_plain()
    assert json.loads(json.dumps(plain["bands"])) == {
        "below 18": [None, 18],
        "18 to below 65": [18, 65],
        "65 and over": [65, None],
    }
    assert list(plain["bands"]) == list(BANDS)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"columns": ()}, "at least 1"),
        ({"columns": "age"}, "a list is needed"),
        ({}, "nothing is said of age: give how, bands, bounds or rounded"),
        ({"columns": ("age", "b"), "rounded": {"age": 5}}, "nothing is said of b"),
        ({"bands": {"x": (2, 1)}}, "low below high"),
        ({"bands": {"x": (1, 1)}}, "low below high"),
        ({"bands": {"x": (None, None)}}, "one open side"),
        ({"bands": {"x": (None, 18), "y": (17.5, None)}}, "must not overlap"),
        ({"bands": {"y": (18, None), "x": (20, 30)}}, "must not overlap"),
        ({"bands": {"x": (0, 9), "y": (0, 9)}}, "must not overlap"),
        ({"bands": {"x": (None, 1), "y": (None, 2)}}, "must not overlap"),
        ({"bands": {"x": (0, float("nan"))}}, "finite"),
        ({"bands": {"x": (0, float("inf"))}}, "finite"),
        ({"bands": {"x": (0, 1, 2)}}, "no more than 2"),
        ({"bounds": {"age": (1, 0)}}, "low below high"),
        ({"bounds": {"age": (None, None)}}, "one open side"),
        ({"bounds": {"age": (None, float("-inf"))}}, "finite"),
        ({"bounds": {"b": (0, 1)}, "how": "so"}, "name b, not among columns"),
        ({"rounded": {"b": 1}, "how": "so"}, "name b, not among columns"),
        ({"rounded": {"age": 0}}, "positive multiples"),
        ({"rounded": {"age": -5}}, "positive multiples"),
        ({"rounded": {"age": float("nan")}}, "finite"),
        ({"bands": {"x": (0, 1)}, "rounded": {"age": 5}}, "a part of their own"),
        ({"how": "so", "values": {}}, "no such key"),
    ],
)
def test_coarsening_that_cannot_be_is_refused(given, says):
    with pytest.raises(DataError, match=f"^Coarsened: .*{says}"):
        Coarsened(**{"columns": ("age",), **given})
    with pytest.raises(DataError, match=says):
        Disclosure.from_plain([{"what": "coarsened", "columns": ["age"], **given}])


def test_bands_may_leave_gaps_and_stand_in_any_order():
    part = Coarsened(("x",), bands={"high": (10, None), "low": (0, 5), "middle": (5, 7)})
    assert part.sentence() == "x: recoded into the bands high, low, middle."


def test_where_another_step_recoded_too_only_words_stay():
    part = Coarsened(("a", "b"), bounds={"a": (0, None), "b": (None, 9)}, rounded={"b": 2})
    assert part.in_words(["c"]) == (part,)
    assert part.in_words(["a", "c"]) == (
        Coarsened(("a",), "to coarser values"),
        Coarsened(("b",), bounds={"b": (None, 9)}, rounded={"b": 2}),
    )
    assert part.in_words(["a", "b"]) == (Coarsened(("a", "b"), "to coarser values"),)
    words = Coarsened(("a", "b"), "to broader categories")
    assert words.in_words(["a"]) == (words,)
