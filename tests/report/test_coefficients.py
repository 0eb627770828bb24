"""Names of coefficients that may be published."""

from __future__ import annotations

import polars as pl
import pytest

from sfumato.data.codebook import Codebook, Variable
from sfumato.report.coefficients import public_names

FRAME = pl.DataFrame(
    {
        "Pclass": [1, 2, 3] * 20,
        "Sex": ["male", "female"] * 30,
        "Family": [True, False, False] * 20,
        "Age": [float(i) for i in range(60)],
        "rare": ["common"] * 51 + ["Zyx"] * 9,
        "flag": [1] * 3 + [0] * 57,
    }
)
BOOK = Codebook({"Pclass": Variable(kind="categorical"), "Sex": Variable(kind="categorical")})


def names(*labels: str) -> list[str | None]:
    return list(public_names(labels, FRAME, BOOK, 10).values())


def test_categories_are_numbered_in_sorted_order():
    assert names("Intercept", "Age", "C(Pclass)[T.3]", "C(Sex)[T.male]", "Sex[T.female]", "C(Family)[T.True]") == [
        "Intercept",
        "Age",
        "Pclass, category 3 of 3",
        "Sex, category 2 of 2",
        "Sex, category 1 of 2",
        "Family, category 2 of 2",
    ]


def test_terms_may_be_joined():
    assert names("Age:C(Pclass)[T.2]", "C(Pclass)[T.2]:C(Sex)[T.male]") == [
        "Age × Pclass, category 2 of 3",
        "Pclass, category 2 of 3 × Sex, category 2 of 2",
    ]


def test_powers_are_written_out():
    assert names("I(Age^2)", "C(Pclass)[T.2]:I(Age^3)", "Age:I(Age^2)") == [
        "Age × Age",
        "Pclass, category 2 of 3 × Age × Age × Age",
        "Age × Age × Age",
    ]
    assert names("I(flag^2)", "I(Height^2)", "I(Age^7)", "I(Age)", "I(Age^2)x") == [None] * 5


@pytest.mark.parametrize("label", ["C(rare)[T.Zyx]", "rare[T.common]", "Age:rare[T.Zyx]", "flag"])
def test_what_rests_on_fewer_than_ten_records_has_no_name(label):
    assert names(label) == [None]


def test_the_intercept_is_published_only_where_all_others_are():
    assert names("Intercept", "Age", "flag") == [None, "Age", None]


@pytest.mark.parametrize(
    "label", ["C(Pclass)[T.4]", "Height", "Age:", "", "log(Age)", "C(Pclass)[T.2]x", "Age[T.3.5]:Zyx"]
)
def test_what_cannot_be_read_has_no_name(label):
    assert names(label) == [None]


def test_a_category_cannot_pass_for_a_column():
    """The category `x]:Zyx[T.y` looks like a term on a column Zyx, of which there is none."""
    frame = pl.DataFrame({"ward": ["a"] * 10 + ["x]:Zyx[T.y"] * 10})
    named = public_names(("C(ward)[T.x]:Zyx[T.y]",), frame, Codebook(), 10)
    assert list(named.values()) == ["ward, category 2 of 2"]


def test_names_in_backticks_and_missing_codes():
    frame = pl.DataFrame({"my ward": [1] * 12 + [2] * 12 + [-9] * 3, "age": range(27)})
    book = Codebook({"my ward": Variable(kind="categorical", missing=[-9])})
    assert public_names(("C(`my ward`)[T.2]", "`my ward`[T.2]"), frame, book, 10) == {
        "C(`my ward`)[T.2]": "my ward, category 2 of 2",
        "`my ward`[T.2]": "my ward, category 2 of 2",
    }


def test_it_reads_the_labels_that_models_give():
    from sfumato.measures.utility.model import fit_model

    labels = fit_model(FRAME, BOOK, "Age ~ C(Pclass)*Sex + Family + C(rare) + I(flag^2)", "linear").labels
    named = public_names(labels, FRAME, BOOK, 10)
    assert {label for label, name in named.items() if name is None} == {"Intercept", "C(rare)[T.common]", "I(flag^2)"}


def test_small_cells_of_an_interaction_count():
    frame = pl.DataFrame({"g": ["a", "b"] * 20, "h": ["c"] * 35 + ["d"] * 5})
    assert public_names(("g[T.b]:h[T.d]", "g[T.b]"), frame, Codebook(), 10) == {
        "g[T.b]:h[T.d]": None,
        "g[T.b]": "g, category 2 of 2",
    }
