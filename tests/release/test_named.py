import polars as pl
import pytest

from sfumato.data.codebook import Codebook, Variable
from sfumato.data.roles import Role
from sfumato.errors import DataError
from sfumato.release.named import Named

FRAME = pl.DataFrame({"sex": ["f"], "age": [81], "ill": ["flu"], "w": [1.5], "home": [7]})
BOOK = Codebook(
    {
        "sex": Variable(role="key"),
        "age": Variable(role="outcome"),
        "ill": Variable(),
        "w": Variable(),
        "home": Variable(role="weight"),
    }
)


def test_roles_are_set_and_others_lose_them():
    told = Named(("age",), ("ill",), "w", "home").on(BOOK)
    assert {n: v.role for n, v in told.items()} == {
        "sex": Role.OTHER,
        "age": Role.KEY,
        "ill": Role.SENSITIVE,
        "w": Role.WEIGHT,
        "home": Role.HOUSEHOLD,
    }
    assert told["w"].numeric
    assert Named(sensitive=("ill",)).on(BOOK)["sex"].role == Role.KEY
    assert Named().on(BOOK) == BOOK
    assert not Named()
    assert Named(weight="w")


@pytest.mark.parametrize(
    ("named", "said"),
    [
        (Named(("sex", "nix")), "no column 'nix'"),
        (Named(("sex",), weight="nix"), "no column 'nix'"),
        (Named(("sex", "ill"), ("ill",)), "'ill': named as keys and as sensitive"),
        (Named(("sex", "sex")), "'sex': named twice"),
        (Named(("sex",), weight="sex"), "'sex': named twice"),
        (Named(weight="ill"), "'ill' is not numeric"),
    ],
)
def test_what_cannot_be(named, said):
    with pytest.raises(DataError, match=said) as caught:
        named.check(FRAME.schema)
    assert "81" not in str(caught.value)


@pytest.mark.parametrize("weights", [[1.0, 0.0], [-2.0, 1.0], [None, None], [float("inf"), 1.0]])
def test_weights_are_above_0(weights):
    rows = pl.LazyFrame({"w": weights}, schema={"w": pl.Float64})
    with pytest.raises(DataError, match="above 0, and column 'w'"):
        Named(weight="w").check_weights(rows, BOOK)


def test_weights_that_are_missing_are_none():
    rows = pl.LazyFrame({"w": [1.0, -9.0, None, float("nan")]})
    Named(weight="w").check_weights(rows, Codebook({"w": Variable(missing=[-9])}))
    Named().check_weights(rows, BOOK)
