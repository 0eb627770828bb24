import polars as pl
import pytest

from sfumato.data.holding import holding


@pytest.mark.parametrize(
    ("dtype", "says"),
    [
        (pl.Float32(), "numbers"),
        (pl.Decimal(10, 2), "numbers"),
        (pl.String(), "text"),
        (pl.Enum(["PLANTED"]), "text"),
        (pl.Boolean(), "true and false"),
        (pl.Datetime("ms"), "dates with times"),
        (pl.List(pl.Enum(["PLANTED"])), "lists or records"),
        (pl.Binary(), "values that are no numbers, text or dates"),
    ],
)
def test_types_in_words(dtype, says):
    assert holding(dtype) == says
