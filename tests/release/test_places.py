import numpy as np
import polars as pl
import pytest

from sfumato.data.codebook import Codebook, Variable
from sfumato.engines.polars import PolarsDataset
from sfumato.plan.plan import Plan
from sfumato.release.places import told_places

STEP = {"do": "swap_households", "geography": ["region", "district"], "keys": ["sex"], "similar": [["sex"]]}


def table(**columns):
    """400 households of two, their ids drawn, in random order."""
    rng = np.random.default_rng(1)
    region, district, ids = rng.integers(0, 4, 400), rng.integers(0, 5, 400), rng.permutation(400)
    frame = pl.DataFrame({"household": ids, "region": region, "district": district, "sex": rng.choice(["f", "m"], 400)})
    frame = frame.with_columns(**columns)
    return pl.concat([frame, frame]).sample(fraction=1, shuffle=True, seed=2)


def told(frame, *steps, **plan):
    book = Codebook({n: Variable(role="household") if n == "household" else Variable() for n in frame.columns})
    data = PolarsDataset(frame, book)
    return list(
        told_places(Plan(variables=dict(book), steps=[*steps, *([STEP] if not steps else [])], **plan), data, data)
    )


def test_ids_and_columns_that_say_nothing_of_places_are_no_worry():
    assert told(table(pay=pl.Series(np.random.default_rng(3).normal(size=400)))) == []


def test_ids_that_were_given_out_area_by_area_are():
    by_area = pl.struct("region", "district").rank("ordinal")
    (text,) = told(table(household=by_area))
    assert text.startswith("household gives exchanged households back")
    assert "pseudonymise" in text
    as_text = told(table(household=pl.format("R{}-{}", pl.col("region"), by_area)))
    assert len(as_text) == 1


@pytest.mark.parametrize("level", ["region", "district"])
def test_columns_that_name_the_place_are_and_not_when_they_move(level):
    index = {"region": pl.col("region") * 2.5, "district": pl.col("region") * 7.5 + pl.col("district")}[level]
    (text,) = told(table(index=index))
    assert text.startswith("index gives")
    assert told(table(index=index), {**STEP, "carry": ["index"]}) == []


def test_ids_that_are_replaced_afterwards_are_none():
    frame = table(household=pl.struct("region", "district").rank("ordinal"))
    assert told(frame, STEP, {"do": "pseudonymise", "columns": ["household"]}) == []


def test_the_order_of_the_input_is_where_it_leaves():
    frame = table().sort("region", "district")
    assert told(frame) == []
    (text,) = told(frame, order="input")
    assert text.startswith("The order of rows gives")
    assert told(table(), order="input") == []


def test_without_the_step_nothing_is_said():
    assert told(table(index=pl.col("region")), {"do": "drop", "columns": ["sex"]}) == []
