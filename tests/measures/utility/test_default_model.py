import polars as pl

from sfumato.data.codebook import Codebook, Variable
from sfumato.measures.utility.default_model import default_model

FRAME = pl.DataFrame(
    {
        "id": [1, 2, 3, 4],
        "asthma": [0, 1, 0, 1],
        "bmi": [20.0, 25.0, 30.0, 22.0],
        "sex": ["f", "m", "f", "m"],
        "my note": ["a", "b", "c", "d"],
        "all one": [1.0, 1.0, 1.0, 1.0],
        "birth weight": [3.1, 3.2, 3.3, 3.4],
    }
)
BOOK = Codebook(
    {
        "id": Variable(role="record", kind="integer"),
        "asthma": Variable(role="outcome", kind="categorical"),
        "bmi": Variable(kind="continuous"),
        "sex": Variable(kind="categorical"),
        "my note": Variable(kind="text"),
        "all one": Variable(kind="continuous"),
        "birth weight": Variable(kind="continuous"),
    }
)


def test_the_outcome_is_explained_by_all_that_can_explain_it():
    assert default_model(FRAME, FRAME, BOOK) == ("asthma ~ bmi + C(sex) + `birth weight`", "logistic")


def test_a_number_is_explained_linearly():
    book = BOOK.replace(bmi=Variable(role="outcome", kind="continuous"), asthma=Variable(kind="categorical"))
    assert default_model(FRAME, FRAME, book) == ("bmi ~ C(asthma) + C(sex) + `birth weight`", "linear")


def test_no_outcome_or_one_with_three_values_means_no_analysis():
    assert default_model(FRAME, FRAME, BOOK.without("asthma")) is None
    three = FRAME.with_columns(asthma=pl.Series([0, 1, 2, 2]))
    assert default_model(three, three, BOOK) is None
    assert default_model(FRAME, FRAME.drop("asthma"), BOOK) is None
