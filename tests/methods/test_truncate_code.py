import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from sfumato.data.codebook import Codebook, Variable
from sfumato.data.disclosure import Coarsened
from sfumato.errors import DataError
from sfumato.methods.truncate_code import TruncateCode
from tests.methods.tables import run

LAWFUL = [
    TruncateCode(columns=["n", "g"], keep=1),
    TruncateCode(columns=["n"], keep=1, scheme="isco"),
    TruncateCode(columns=["n", "h"], drop=1, invalid="keep"),
]


def ran(values, known=None, **how):
    book = Codebook({"c": Variable(**(known or {"kind": "categorical"}))})
    return run(TruncateCode(columns=["c"], **how), pl.DataFrame({"c": values}, strict=False), book)


def cut(values, known=None, **how):
    return ran(values, known, **how).after.frame["c"].to_list()


def test_unit_groups_become_minor_groups():
    for how in ({"drop": 1}, {"keep": 3}):
        assert cut([2211, 2212, 5421, None], scheme="soc2020", **how) == ["221", "221", "542", None]
        assert cut(["2211", " 2212", "5421 ", None], scheme="soc2020", **how) == ["221", "221", "542", None]


def test_shorter_codes_stay():
    assert cut(["2211", "231", "22", "2"], scheme="soc2020", drop=1) == ["221", "231", "22", "2"]
    assert cut(["abcd", "ab"], keep=3) == ["abc", "ab"]


def test_codes_of_the_extended_classification():
    assert cut(["2211/01", "221102"], scheme="soc2020", drop=1) == ["221", "221"]
    assert cut(["2211/01"], scheme="soc2020", keep=4) == ["2211"]


def test_zeros_that_numbers_lost_are_put_back():
    """Armed forces are 0110, 0210 and 0310 of ISCO-08; 01.11 is growing of cereals in NACE and SIC 2007."""
    assert cut([110, 2211, 221], scheme="isco", keep=4) == ["0110", "2211", "221"]
    assert cut([110.0, None], scheme="isco", keep=2) == ["01", None]
    assert cut([1110, 47110], scheme="sic", keep=2) == ["01", "47"]
    assert cut([1110], scheme="sic", keep=2) == ["01"]
    assert cut([1110, 4711, 111], scheme="sic", keep=2) == ["11", "47", "01"]  # all are classes, of four digits
    assert cut(["0110", "01110"], scheme="sic", keep=2) == ["01", "01"]


def test_dots_and_slashes_are_no_characters_of_a_code():
    values = ["47.11/0", "47.11", "47110", "01.11", "1.11/0"]
    assert cut(values, scheme="sic", keep=3) == ["471", "471", "471", "011", "011"]
    diagnoses = ["I21.0", "i219", "I21", "I21.-", "A39.0\u2020", "C4A.1"]
    assert cut(diagnoses, scheme="icd10", drop=1) == ["I21", "I21", "I21", "I21", "A39", "C4A"]
    assert cut(["I21.0", "S72.001A"], scheme="icd10", keep=4) == ["I210", "S720"]


@pytest.mark.parametrize("values", [[-8, -9, 2211], ["-8", "-9", "2211"], [-8.0, -9.0, 2211.0]])
def test_negative_codes_stay_whether_or_not_they_are_known_to_be_missing(values):
    assert cut(values, scheme="soc2020", drop=1, invalid="error") == ["-8", "-9", "221"]
    known = {"kind": "categorical", "missing": [-8, {"code": -9, "label": "refused"}]}
    done = ran(values, known, scheme="soc2020", drop=1)
    assert done.after.frame["c"].to_list() == ["-8", "-9", "221"]
    assert [m.code for m in done.after.codebook["c"].missing] == ["-8", "-9"]


def test_what_becomes_of_values_that_are_no_codes():
    values = ["2211", "Zyxomma", "0", "12345"]
    assert cut(values, scheme="soc2020", drop=1) == ["221", None, None, None]
    done = ran(values, scheme="soc2020", drop=1, invalid="keep")
    assert done.after.frame["c"].to_list() == ["221", "Zyxomma", "0", "12345"]
    assert "leave as they are" in done.steps[0].warnings[0]
    with pytest.raises(DataError, match="no codes of the scheme") as told:
        ran(values, scheme="soc2020", drop=1, invalid="error")
    assert "Zyxomma" not in str(told.value)
    assert cut([47.11], scheme="sic", keep=2) == [None]  # 47.1 would be 47.1 or 47.10
    assert cut(["34.10", "49.10"], scheme="sic", keep=2) == [None, "49"]  # there is no division 34
    assert cut(["a", "bc"], drop=1) == [None, "b"]  # nothing would be left


def test_what_is_known_afterwards_and_told():
    known = {"role": "identifier", "kind": "integer", "labels": {2211: "x"}, "range": (0, 9999), "measure": "nominal"}
    new = ran([2211], known, scheme="soc2020", drop=1).after.codebook["c"]
    assert (new.role, new.kind, new.labels, new.range, new.measure) == ("key", "categorical", {}, None, None)
    (told,) = ran([2211], scheme="soc2020", drop=1).disclosure
    assert told == Coarsened(("c",), "to the first 3 characters of codes of SOC 2020")
    (told,) = ran(["abc"], drop=1).disclosure
    assert told.sentence() == "c: recoded to codes without their last characters (1)."


@pytest.mark.parametrize(
    "wrong",
    [
        {},
        {"keep": 1, "drop": 1},
        {"keep": 0},
        {"keep": 5, "scheme": "isco"},
        {"keep": 2, "scheme": "icd10"},
        {"drop": 4, "scheme": "soc2020"},
        {"drop": 2, "scheme": "icd10"},
        {"keep": 1, "scheme": "soc2010"},
    ],
)
def test_lengths_that_a_scheme_does_not_have(wrong):
    with pytest.raises(ValidationError):
        TruncateCode(columns=["c"], **wrong)


def test_amounts_dates_and_ids_are_refused():
    step = TruncateCode(columns=["c"], keep=1)
    assert "kind: categorical" in step.check(Codebook({"c": Variable(kind="continuous")}))[0]
    assert "role record" in step.check(Codebook({"c": Variable(role="record")}))[0]
    with pytest.raises(DataError, match="true and false"):
        ran([True], keep=1)


@pytest.mark.slow
@given(st.lists(st.from_regex(r"[1-9][0-9]{3}", fullmatch=True), min_size=1, max_size=20), st.integers(1, 3))
def test_a_cut_code_begins_the_code_and_numbers_are_cut_as_texts(codes, keep):
    left = cut(codes, scheme="isco", keep=keep)
    assert left == [code[:keep] for code in codes]
    assert left == cut([int(code) for code in codes], scheme="isco", keep=keep)
