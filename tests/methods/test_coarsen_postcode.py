import polars as pl
import pytest
from pydantic import ValidationError

import sfumato as sf
from sfumato.data.codebook import Codebook, Variable
from sfumato.data.disclosure import Coarsened
from sfumato.errors import DataError
from sfumato.methods.coarsen_postcode import CoarsenPostcode
from tests.methods.tables import run

LAWFUL = [CoarsenPostcode(columns=["g", "h"], to="area"), CoarsenPostcode(columns=["g"], to="area", invalid="keep")]
WRITTEN = ["EC1A 1BB", "m11ae", "W1A  0AX", "GIR 0AA", "EC1A", "Zyxomma", "", None]


def ran(values=WRITTEN, known=None, **how):
    book = Codebook({"p": Variable(**(known or {}))})
    return run(CoarsenPostcode(columns=["p"], **how), pl.DataFrame({"p": values}), book)


@pytest.mark.parametrize(
    ("to", "left"),
    [
        ("sector", ["EC1A 1", "M1 1", "W1A 0", "GIR 0", None, None, None, None]),
        ("district", ["EC1A", "M1", "W1A", "GIR", "EC1A", None, None, None]),
        ("area", ["EC", "M", "W", "GIR", "EC", None, None, None]),
    ],
)
def test_what_is_left_of_postcodes(to, left):
    done = ran(to=to)
    assert done.after.frame["p"].to_list() == left
    unfit = 3 if to == "sector" else 2
    assert done.steps[0].notes[1] == f"p: {unfit} values were no postcodes and became missing."


def test_what_becomes_of_values_that_are_no_postcodes():
    done = ran(["EC1A 1BB", "Zyxomma"], to="area", invalid="keep")
    assert done.after.frame["p"].to_list() == ["EC", "Zyxomma"]
    assert "leave as they are" in done.steps[0].warnings[0]
    with pytest.raises(DataError, match="no postcodes") as told:
        ran(to="area", invalid="error")
    assert "Zyxomma" not in str(told.value)
    assert "right column" in ran(["Zyxomma", "x", "EC1"], to="area").steps[0].warnings[0]


def test_missing_codes_stay_categories():
    done = ran(["EC1A 1BB", "-9"], {"missing": [{"code": -9, "label": "moved"}]}, to="area", invalid="error")
    assert done.after.frame["p"].to_list() == ["EC", "-9"]
    assert done.after.codebook["p"].missing[0].label == "moved"


def test_what_is_known_afterwards():
    known = {"role": "identifier", "kind": "geographic", "labels": {"EC1A 1BB": "x"}, "order": ["EC1A 1BB"]}
    new = ran(["EC1A 1BB"], known, to="sector").after.codebook["p"]
    assert (new.role, new.kind, new.labels, new.order) == ("key", "categorical", {}, ())
    (told,) = ran(to="sector").disclosure
    assert told == Coarsened(("p",), "to postcode sectors (EC1A 1)")


def test_columns_that_hold_no_texts_are_refused():
    step = CoarsenPostcode(columns=["p"], to="area")
    assert "postcodes are texts" in step.check(Codebook({"p": Variable(kind="integer")}))[0]
    assert "role household" in step.check(Codebook({"p": Variable(role="household")}))[0]
    with pytest.raises(DataError, match="holds numbers"):
        ran([1, 2], to="area")
    with pytest.raises(ValidationError):
        CoarsenPostcode(columns=["p"], to="unit")


def test_a_postcode_that_nobody_spoke_of_is_none_that_looks_like_an_identifier_afterwards():
    frame = pl.DataFrame({"post": [f"EC1A {i % 10}BB" for i in range(50)], "sex": ["f", "m"] * 25})
    step = CoarsenPostcode(columns=["post"], to="area")
    sf.Plan(variables={"sex": {"role": "key"}}, steps=[step]).check_roles(frame, Codebook())
