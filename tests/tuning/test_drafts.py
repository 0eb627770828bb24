"""The front door of drafts: where nothing is said of who knows what, all that leaves is exchanged within groups."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import sfumato as sf
from sfumato.data.codebook import Codebook
from sfumato.errors import DataError, SfumatoError
from sfumato.examples import cohort, cohort_codebook
from sfumato.plan.plan import Plan
from sfumato.plan.wishes import Wishes
from tests.drafted import drafted
from tests.release.brief import measured_briefly

FRAME = pl.DataFrame({"pid": range(100), "sex": ["f", "m"] * 50, "pay": [20 + i / 7 for i in range(100)]})


def step_of(text: str, name: str):
    (step,) = (step for step in Plan.from_yaml(text).steps if step.name == name)
    return step


def test_without_wishes_all_that_leaves_is_known_and_exchanged():
    told = drafted(FRAME)
    assert (told.method, told.known, told.unknown) == ("swap", ("sex", "pay"), ())
    assert told.group in (5, 8, 12, 20)
    assert step_of(told.text, "swap").columns == ("sex", "pay")
    assert told.tried.records == 100
    assert told.tried.linkage_nearest <= 0.2
    assert told.to_dict()["method"] == "swap"


def test_where_keys_are_named_these_alone_are_known():
    told = drafted(FRAME, wishes=Wishes(keys=("sex",)))
    assert (told.method, told.known, told.unknown, told.open) == ("keys", ("sex",), ("pay",), True)


@pytest.mark.parametrize("column", ["sex", "pay"])
def test_what_is_no_id_is_not_taken_for_one(column):
    with pytest.raises(DataError, match="no id of the records"):
        drafted(FRAME, wishes=Wishes(record=column))


@pytest.mark.parametrize("book", [Codebook(), pytest.param(cohort_codebook(), marks=pytest.mark.slow)])
def test_a_drafted_plan_holds_as_it_stands(book):
    frame = cohort(320)  # above 300 records a draft is tried four times, below ten times
    with measured_briefly("uniques_sample"):
        release = sf.protect(Plan.from_yaml(drafted(frame, book).text), frame, secret=bytes(16))
    assert release.verdict == "holds"
    assert not {"name", "nhs_number", "email", "comment"} & set(release.data.columns)
    assert {"id", "date_of_birth"} <= set(release.data.columns)
    assert release.data.frame.schema["date_of_birth"] != pl.Date
    assert [part.what for part in release.disclosure.parts if "income" in part.columns] == ["swapped"]


def test_every_variable_has_a_line_with_its_reason_and_no_value(one_draw):
    frame = cohort(120)
    text = drafted(frame).text
    for name in frame.columns:
        (line,) = [row for row in text.splitlines() if row.startswith(f"  {name}:")]
        assert "#" in line
    for column in ("name", "email", "postcode", "comment", "nhs_number"):
        assert not any(value in text for value in frame[column].drop_nulls() if len(value) > 3)


def test_odd_names_are_quoted(one_draw):
    frame = pl.DataFrame({"yes": [1, 2] * 30, "a: b": [0.5 * i for i in range(60)], 'say "hi"': ["x"] * 60})
    plan = Plan.from_yaml(drafted(frame).text)
    assert list(plan.variables) == frame.columns
    assert plan.title == "A title: with a colon"


def test_a_weight_is_exchanged_and_a_second_one_leaves():
    frame = pl.DataFrame({"wt": [0.5, 1.5] * 30, "household_wt": [0.25, 1.25] * 30, "x": [0.5 * i for i in range(60)]})
    release = sf.protect(Plan.from_yaml(drafted(frame).text), frame, secret=bytes(16))
    assert release.data.columns == ["wt", "x"]
    assert set(release.data.frame["wt"]) == {0.5, 1.5}, "weights are not drawn anew"


def test_any_name_will_do():
    """Names that a look at a column uses itself, or that a formula, YAML or a regular expression would misread."""
    rng = np.random.default_rng(2)
    names = ("records", "value", "code", "len", "missing", "count", "a b", "yes", "1", "region")
    frame = pl.DataFrame({n: rng.choice([11, 12, 13, 21, 22, 23, 31, 32, 33, 41, 42, 43], 200) for n in names})
    assert sf.protect(Plan.from_yaml(drafted(frame).text), frame, secret=bytes(16)).ok


def test_missing_codes_are_written_as_they_are():
    """Ranges too, and those of Stata by their letters; what is drafted means what the file does."""
    book = Codebook({"x": sf.Variable(missing=[{"low": -9, "high": -8}, {"code": -7, "label": "refused"}, ".a", "no"])})
    frame = pl.DataFrame({"x": [float(i % 37) for i in range(100)]})
    text = drafted(frame, book).text
    assert 'missing: [{low: -9.0, high: -8.0}, -7, ".a", "no"]' in text
    unnamed = [m.model_copy(update={"label": None}) for m in book["x"].missing]
    assert list(Plan.from_yaml(text).variables["x"].missing) == unnamed
    assert Plan.from_yaml(text).codebook(frame, book)["x"].missing == book["x"].missing


def test_dates_places_and_codes_leave_broader():
    rng = np.random.default_rng(4)
    n = 600
    homes = [f"{rng.choice(['LS', 'W', 'EH'])}{rng.integers(1, 4)} {i % 10}AB" for i in range(n)]
    frame = pl.DataFrame(
        {
            "dob": [f"{1 + i % 28:02}/{1 + i % 12:02}/{1940 + i % 60}" for i in range(n)],
            "home_postcode": homes,
            "soc": rng.choice([1111, 1112, 2211, 2212, 9273], n),
            "lat": rng.uniform(50, 51, n),
            "lon": rng.uniform(0, 1, n),
        }
    )
    told = drafted(frame)
    assert not any(home in told.text for home in homes)
    assert {one.column for one in told.left_out} == {"lat", "lon"}
    release = sf.protect(Plan.from_yaml(told.text), frame, secret=bytes(16))
    assert release.ok
    assert release.data.frame["soc"].drop_nulls().cast(pl.String).str.len_chars().max() <= 3
    assert release.data.frame["home_postcode"].drop_nulls().str.len_chars().max() <= 2


def test_dates_of_unknown_form_are_told():
    born = [f"{1 + i % 28:02}/{1 + i % 12:02}/{50 + i % 50}" for i in range(200)]
    told = drafted(pl.DataFrame({"dob": born, "sex": ["f", "m"] * 100}))
    assert [one.column for one in told.left_out] == ["dob"]
    assert "could not be told" in told.text


def test_ids_are_replaced():
    known = {"id": range(60), "hid": [i // 3 for i in range(60)], "sex": ["f", "m"] * 30}
    plan = Plan.from_yaml(drafted(pl.DataFrame(known | {"q1": [i % 3 for i in range(60)]})).text)
    new = {step.columns: step.format for step in plan.steps if step.name == "pseudonymise"}
    assert new == {("id",): "number", ("hid",): "number"}, "a step each: equal ids of both would get equal numbers"


def test_what_belongs_together_is_written_into_the_plan():
    weight = [1800 + 7 * (i % 290) for i in range(300)]
    frame = pl.DataFrame(
        {
            "bwt": weight,
            "low": [int(w < 2500) for w in weight],
            "sex": ["f", "m"] * 150,
            "age": [20 + i % 31 for i in range(300)],
        }
    )
    told = drafted(frame)
    assert step_of(told.text, "swap").together == (("bwt", "low"),)
    out = sf.protect(Plan.from_yaml(told.text), frame, secret=bytes(16)).data.frame
    assert ((out["bwt"] < 2500) == (out["low"] == 1)).all()


def test_too_few_records_are_said_and_refused():
    frame = FRAME.head(12)
    told = drafted(frame)
    assert "fewer than 15 records" in told.because
    assert told.text.startswith("# This file cannot be released in this way because")
    with pytest.raises(SfumatoError):
        sf.protect(Plan.from_yaml(told.text), frame, secret=bytes(16))


def test_public_use_asks_for_more():
    plans = [Plan.from_yaml(drafted(FRAME, wishes=Wishes(purpose=p)).text) for p in ("scientific-use", "public-use")]
    bounds = [{limit.measure: limit.at_most for limit in plan.limits} for plan in plans]
    assert bounds[0] == {"linkage_nearest": 0.2, "uniques_kept": 0.05}
    assert bounds[1] == {"linkage_nearest": 0.09, "uniques_kept": 0.02}


def test_a_column_that_can_be_guessed_too_well_leaves_but_no_outcome():
    """Of those alike nearly all have what only few others have: larger groups do not hide that."""
    rng = np.random.default_rng(6)
    n = 240
    frame = pl.DataFrame({"town": rng.choice(["a", "b", "c"], n), "age": rng.integers(20, 60, n), "ill": ["no"] * n})
    rare = rng.choice(n, 60, replace=False)
    frame = frame.with_columns(ill=pl.Series(["yes" if i in set(rare.tolist()) else "no" for i in range(n)]))
    kept = drafted(frame, wishes=Wishes(outcome=("ill",), keep=("age",)))
    assert {"ill", "age"} <= set(kept.kept)
