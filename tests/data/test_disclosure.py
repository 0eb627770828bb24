import pytest

from sfumato.data.disclosure import Additive, Averaged, Coarsened, Disclosure, Dropped, Imputed, Suppressed
from sfumato.errors import DataError

AVERAGED = Averaged(
    columns=("age", "fare"),
    by=("sex",),
    k=5,
    grouping="knn",
    rescaled=True,
    recentred=False,
    rounded=True,
    clipped=True,
)
ALL = Disclosure(
    (
        AVERAGED,
        Coarsened(columns=("age",), how="into the bands young, old"),
        Dropped(columns=("name",)),
        Imputed(columns=("age",), method="median"),
        Suppressed(columns=("sex",), rule="records in combinations of fewer than 5 were left out"),
    )
)


def test_plain_and_back_is_the_identity():
    assert Disclosure.from_plain(ALL.to_plain()) == ALL
    assert len(ALL) == 5


@pytest.mark.parametrize(
    ("update", "says"),
    [
        ({}, "the average of the 5 most similar records within each combination of sex; the spread was then restored"),
        ({"grouping": "mdav"}, "the average of 5 or more similar records"),
        ({"rescaled": False}, "the spread is smaller"),
        ({"recentred": True}, "the mean is kept"),
        ({}, "the mean may have moved"),
        ({"merged": ("sex",)}, "changed some categories of sex"),
        ({}, "values outside stated bounds"),
    ],
)
def test_sentences_say_what_was_done(update, says):
    assert says in AVERAGED.model_copy(update=update).sentence()


def test_every_part_has_its_sentence():
    assert all(sentence.endswith(".") for sentence in ALL.sentences())


def test_what_is_given_twice_was_done_twice():
    """The very same object and an equal one must not differ."""
    part = Additive(("bmi",), [[0.25]])
    same, equal = Disclosure([part, part]), Disclosure([part, Additive(("bmi",), [[0.25]])])
    assert same == equal
    assert len({id(p) for p in same}) == 2
    assert Disclosure([part]).parts[0] is part


@pytest.mark.parametrize("told", [AVERAGED, [AVERAGED], (AVERAGED,), Disclosure([AVERAGED])])
def test_parts_are_taken_for_a_disclosure(told):
    assert Disclosure.of_any(told) == Disclosure([AVERAGED])
    assert len(Disclosure.of_any(None)) == 0


@pytest.mark.parametrize("told", ["x", 5, {"columns": ["x"]}, ["x"], [AVERAGED, None]])
def test_what_is_no_disclosure_is_refused(told):
    with pytest.raises(DataError, match="disclosure"):
        Disclosure.of_any(told)
