import pytest

from sfumato.data.disclosure import Averaged, Coarsened, Disclosure, Dropped, Imputed, Suppressed

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
