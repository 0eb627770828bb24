import json

import numpy as np
import pytest

from sfumato.data.disclosure import Disclosure, Sampled, Swapped
from sfumato.data.error_model import Additive, Growth, Misclassified
from sfumato.errors import DataError


def test_the_short_forms_of_the_python_door():
    one = Additive(("smoke",), [[0.2]], values=(0, 1))
    assert one.values == {"smoke": (0, 1)}
    assert not one.clipped
    clipped = Additive(("a", "b"), np.diag([0.2, 0.1]), clipped=True)
    assert clipped.bounds == {"a": (0, 1), "b": (0, 1)}
    assert clipped.values == {"a": (0, 1), "b": (0, 1)}
    assert Additive(("a",), [[1]], True, {"a": (0, 1, 2)}).values == {"a": (0, 1, 2)}
    assert Additive(["a"], [[1.0]], bounds={"a": (10, None)}).clipped
    assert Misclassified("r", [[0.9, 0.1], [0.2, 0.8]]).levels is None


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Additive(("a",), [[-1]]), "negative"),
        (lambda: Additive(("a", "b"), [[1, 2], [2, 1]]), "semi-definite"),
        (lambda: Additive(("a", "b"), [[1, 0.5], [0.4, 1]]), "symmetric"),
        (lambda: Additive(("a", "b"), [[1]]), "one row"),
        (lambda: Additive(("a", "a"), [[1, 0], [0, 1]]), "only once"),
        (lambda: Additive(("a",), [[1]], values={"b": (0, 1)}), "not among columns"),
        (lambda: Additive(("a",), [["x"]]), "list of rows"),
        (lambda: Additive(("a",), 3), "list of rows"),
        (lambda: Additive(("a",), [[float("nan")]]), "finite"),
        (lambda: Additive((), []), "at least 1"),
        (lambda: Misclassified("r", [[0.5, 0.6], [0, 1]]), "sum to 1"),
        (lambda: Misclassified("r", [[1.5, -0.5], [0, 1]]), "from 0 to 1"),
        (lambda: Misclassified("r", [[1, 0]]), "square"),
        (lambda: Misclassified("r", [[1, 0], [0, 1]], levels=["a"]), "levels"),
        (lambda: Disclosure.from_plain([{"what": "additive", "columns": ["a"], "covariance": [[-1]]}]), "negative"),
        (lambda: Disclosure.from_plain([{"what": "hidden"}]), "not a disclosure"),
        (lambda: Disclosure.from_plain("text"), "not a disclosure"),
    ],
)
def test_what_is_no_error_model_is_refused(make, message):
    with pytest.raises(DataError, match=message):
        make()


def test_a_singular_covariance_is_allowed():
    assert Additive(("a", "b"), [[1, 2], [2, 4]]).sd.tolist() == [1, 2]


def test_every_part_goes_through_json_and_comes_back():
    parts = [
        Additive(("a", "b"), [[1, 0.5], [0.5, 2]], bounds={"a": (None, 3)}, rounded={"b": 0.1}, where={"sex": "f"}),
        Additive(("c",), [[1]], grows={"c": Growth(centre=1, scale=2, beyond=2)}, distribution="laplace"),
        Additive(("r=A", "r=B"), [[1, 0], [0, 1]], True, indicators_of="r", draw_by="household"),
        Misclassified("r", [[0.9, 0.1], [0.2, 0.8]], levels=["A", "B"], where={"sex": None}),
        Swapped(columns=("x",), window=0.05),
        Sampled(fraction=0.5),
    ]
    disclosure = Disclosure(parts)
    assert Disclosure.from_plain(json.loads(json.dumps(disclosure.to_plain()))) == disclosure


def test_sentences_name_no_category_and_stand_once_for_all_strata():
    parts = [Additive(("bmi",), [[v]], where={"ward": w}) for v, w in ((1.0, "Zyxomma"), (2.0, "Plover"))]
    (sentence,) = Disclosure(parts).sentences()
    assert "ward" in sentence
    assert "Zyxomma" not in sentence


def test_one_columns_part():
    both = Additive(("a", "b"), [[1, 0.5], [0.5, 4]], bounds={"a": (0, 1)}, values={"a": (0, 1)})
    assert both.of("b") == Additive(("b",), [[4]])
    assert both.of("a") == Additive(("a",), [[1]], clipped=True)


def test_growth_begins_where_it_says():
    growth = Growth(centre=10, scale=2, beyond=1.5)
    np.testing.assert_allclose(growth.factor(np.array([10, 13, 7, 16, 4])), [1, 1, 1, 2, 2])


def test_misclassification_says_what_stays():
    assert "probability 80%" in Misclassified("r", [[0.8, 0.2], [0.2, 0.8]]).sentence()
    assert "between 80% and 90%" in Misclassified("r", [[0.9, 0.1], [0.2, 0.8]]).sentence()


COVARIANCE = [[4.0, 1.0], [1.0, 9.0]]


def test_fine_rounding_is_a_little_more_noise_by_sheppard():
    """Variances gain g²/12, covariances nothing."""
    smooth = Additive(("a", "b"), COVARIANCE, rounded={"a": 0.4, "b": 0.6}).smooth
    np.testing.assert_allclose(smooth.matrix, [[4 + 0.16 / 12, 1], [1, 9.03]], rtol=1e-15)
    assert (smooth.rounded, smooth.coarse) == ({}, ())


@pytest.mark.parametrize(
    ("more", "left"),
    [
        ({"rounded": {"a": 0.41, "b": 0.6}}, {"a": 0.41}),  # more than a fifth of 2
        ({"rounded": {"a": 0.4}, "bounds": {"a": (0.0, None)}}, {"a": 0.4}),
        ({"rounded": {"a": 0.4}, "grows": {"a": Growth(centre=0, scale=1, beyond=2)}}, {"a": 0.4}),
        ({}, {}),
    ],
)
def test_rounding_that_is_coarse_or_of_other_noise_stays_as_it_is_told(more, left):
    part = Additive(("a", "b"), COVARIANCE, **more)
    assert part.smooth.rounded == left
    assert part.smooth.matrix[0, 0] == 4
    laplace = Additive(("a",), [[4.0]], rounded={"a": 0.1}, distribution="laplace")
    assert laplace.smooth == laplace
    assert laplace.coarse == ()


def test_rounding_of_values_without_noise_is_coarse():
    assert Additive(("a",), [[0.0]], rounded={"a": 1e-6}).coarse == ("a",)
