import polars as pl
import pytest
from pydantic import ValidationError

from sfumato.data.codebook import Codebook, Variable
from sfumato.errors import DataError
from sfumato.methods.recode import Recode
from tests.methods.tables import BOOK, run

LAWFUL = [
    Recode(columns=["n"], band=[30, 45], labels=["young", "middle", "old"]),
    Recode(columns=["n"], map={20: 1, 21: 1, 22: 2}, other="keep"),
    Recode(columns=["h"], map={"u": "v"}, other="missing"),
]


def test_recode_into_bands_keeps_missing_codes():
    ran = run(Recode(columns=["age"], band=[25, 40]))
    assert ran.after.frame["age"].to_list() == ["below 25", "25 to below 40", "-9", "40 and over"]
    described = ran.after.codebook["age"]
    assert described.order == ("below 25", "25 to below 40", "40 and over")
    assert described.missing[0].matches("-9")


def test_codes_of_decimal_columns_and_ranges_stay_missing():
    book = Codebook({"x": Variable(kind="continuous", missing=[-9, {"low": -5, "high": -4}])})
    ran = run(Recode(columns=["x"], band=[25]), pl.DataFrame({"x": [-9.0, -4.5, 20.0, None]}), book)
    assert ran.after.frame["x"].to_list() == ["-9", "-5 to -4", "below 25", None]
    missing = ran.after.frame.select(ran.after.codebook.missing("x", pl.String())).to_series()
    assert missing.to_list() == [True, True, False, True]


def test_top_coding_by_a_map_leaves_numbers():
    ran = run(Recode(columns=["age"], map={41: 40}))
    assert ran.after.codebook["age"].kind == "integer"


def test_a_cut_point_begins_its_band():
    frame = pl.DataFrame({"size": [24.9, 25.0, None]})
    ran = run(Recode(columns=["size"], band=[25], labels=["low", "high"]), frame, BOOK.only(["size"]))
    assert ran.after.frame["size"].to_list() == ["low", "high", None]


def test_recode_by_a_map():
    assert run(Recode(columns=["city"], map={"a": "z"})).after.frame["city"].to_list() == ["z", "b", "z", None]
    only = run(Recode(columns=["city"], map={"a": "z"}, other="missing"))
    assert only.after.frame["city"].to_list() == ["z", None, "z", None]
    numbers = run(Recode(columns=["age"], map={20: 1, 30: 1, 41: 2}))
    assert numbers.after.frame["age"].to_list() == [1, 1, -9, 2]
    text = run(Recode(columns=["age"], map={20: "young"}))
    assert text.after.frame["age"].to_list() == ["young", "30", "-9", "41"]
    with pytest.raises(DataError, match="does not list"):
        run(Recode(columns=["city"], map={"a": "z"}, other="error"))


@pytest.mark.parametrize(
    "wrong",
    [
        {},
        {"map": {1: 2}, "band": [1]},
        {"band": [3, 1]},
        {"band": [1], "labels": ["x"]},
        {"map": {1: 2}, "labels": ["x"]},
    ],
)
def test_recode_takes_one_way(wrong):
    with pytest.raises(ValidationError):
        Recode(columns=["age"], **wrong)
