import datetime as dt

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

import sfumato as sf
from sfumato.data.codebook import Codebook, Variable
from sfumato.data.disclosure import Coarsened
from sfumato.errors import DataError, PlanError
from sfumato.methods.coarsen_date import CoarsenDate
from sfumato.methods.derive import Derive
from tests.methods.tables import run

LAWFUL = [
    CoarsenDate(columns=["n"], to="month", format="excel"),
    CoarsenDate(columns=["n"], to="age", reference="1980-02-01", format="excel", top=80),
    CoarsenDate(columns=["n"], to="age_band", reference="1980-02-01", format="excel"),
]
DAYS = [dt.date(1958, 4, 3), None, dt.date(1920, 2, 29), dt.date(2020, 12, 31)]


def ran(values, more=None, known=None, **how):
    frame = pl.DataFrame({"d": values, **(more or {})}, strict=False)
    book = Codebook({n: Variable() for n in frame.columns}).replace(d=Variable(**(known or {})))
    return run(CoarsenDate(columns=["d"], **how), frame, book)


def coarse(values, *args, **how):
    return ran(values, *args, **how).after.frame["d"].to_list()


@pytest.mark.parametrize(
    ("to", "left"),
    [
        ("year", [1958, None, 1920, 2020]),
        ("decade", [1950, None, 1920, 2020]),
        ("quarter", ["1958-Q2", None, "1920-Q1", "2020-Q4"]),
        ("month", ["1958-04", None, "1920-02", "2020-12"]),
        ("week", ["1958-W14", None, "1920-W09", "2020-W53"]),
    ],
)
def test_what_is_left_of_dates(to, left):
    for values in (
        DAYS,
        [d and dt.datetime(d.year, d.month, d.day, 23, 59) for d in DAYS],
        [d and f"{d}" for d in DAYS],
    ):
        done = ran(values, to=to)
        assert done.after.frame["d"].to_list() == left
        assert done.after.codebook["d"].kind == ("integer" if isinstance(left[0], int) else "categorical")


def test_weeks_are_those_of_iso_8601():
    """The first of January may be in the last week of the year before."""
    days = [dt.date(y, 1, 1) for y in range(1990, 2024)]
    assert coarse(days, to="week") == ["{}-W{:02}".format(*d.isocalendar()[:2]) for d in days]


def test_ages_are_completed_years_and_the_highest_are_one():
    at = {"reference": "2020-12-31"}
    assert coarse(DAYS, to="age", **at) == [62, None, 90, 0]
    assert coarse(DAYS, to="age", top=None, **at) == [62, None, 100, 0]
    assert coarse(DAYS, to="age", top=60, **at) == [60, None, 60, 0]
    assert coarse(DAYS, to="age_band", **at) == ["60-64", None, "90 and over", "0-4"]
    assert coarse(DAYS, to="age_band", top=None, width=20, **at) == ["60-79", None, "100-119", "0-19"]
    assert coarse(DAYS, to="age_band", top=7, width=3, **at) == ["7 and over", None, "7 and over", "0-2"]
    assert CoarsenDate(columns=["d"], to="age", reference=dt.date(2020, 12, 31)).reference == "2020-12-31"


@pytest.mark.slow
@given(st.dates(dt.date(1900, 1, 1), dt.date(2000, 1, 1)), st.dates(dt.date(2000, 1, 1), dt.date(2024, 12, 31)))
def test_an_age_is_how_often_the_birthday_came_back(born, at):
    """Of 29 February on 1 March, where there is none."""

    def birthday(year):
        try:
            return born.replace(year=year)
        except ValueError:
            return dt.date(year, 3, 1)

    birthdays = sum(birthday(year) <= at for year in range(born.year + 1, at.year + 1))
    assert coarse([born], to="age", reference=str(at), top=None) == [birthdays]


def test_ages_at_the_date_in_another_column():
    at = [dt.date(2020, 4, 2), dt.date(2020, 4, 3), None]
    done = ran([DAYS[0]] * 3, {"seen": at}, to="age", reference="seen")
    assert done.after.frame["d"].to_list() == [61, 62, None]
    assert "had none in seen" in done.steps[0].notes[1]
    assert coarse(["03/04/1958"], {"seen": ["2020"]}, to="age", reference="seen") == [None]
    with pytest.raises(DataError, match="at its reference"):
        ran([DAYS[0]], {"seen": ["soon"]}, to="age", reference="seen")


def test_ages_that_cannot_be():
    for born in (dt.date(2021, 1, 1), dt.date(1880, 1, 1)):
        with pytest.raises(DataError, match="no age from 0 to 130"):
            ran([born], to="age", reference="2020-12-31")
        assert coarse([born], to="age", reference="2020-12-31", invalid="missing") == [None]


def test_a_text_with_two_readings_is_refused_where_they_differ():
    unclear = ["03/04/1958"]
    assert coarse(unclear, to="year") == [1958]
    assert coarse(unclear, to="quarter", day_first=True) == ["1958-Q2"]
    assert coarse(unclear, to="month", format="%m/%d/%Y") == ["1958-03"]
    assert coarse(unclear, to="age", reference="2000-06-01") == [42]
    for how in ({"to": "month"}, {"to": "age", "reference": "2000-03-15"}, {"to": "month", "invalid": "missing"}):
        with pytest.raises(DataError, match="day or the month first") as told:
            ran(unclear, **how)
        assert "1958" not in str(told.value).replace("31/12/1958", "")


def test_partial_dates_are_enough_for_what_is_broader_and_missing_for_what_is_finer():
    values = ["1958", "1958-04", "1958-04-03"]
    assert coarse(values, to="decade") == [1950] * 3
    assert coarse(values, to="year") == [1958] * 3
    done = ran(values, to="month")
    assert done.after.frame["d"].to_list() == [None, "1958-04", "1958-04"]
    assert "known less finely" in done.steps[0].notes[1]
    assert coarse(values, to="age", reference="2000-01-01") == [None, None, 41]


def test_numbers_are_excels_or_written_by_a_format():
    assert coarse([21278, 60, None], to="year", format="excel") == [1958, 1900, None]
    assert coarse([21278.75], to="month", format="excel") == ["1958-04"]
    assert coarse([19580403.0], to="quarter", format="%Y%m%d") == ["1958-Q2"]
    assert coarse([1958], to="decade", format="%Y") == [1950]
    with pytest.raises(DataError, match="format: excel"):
        ran([1958], known={"kind": "categorical"}, to="year")
    with pytest.raises(DataError, match="takes numbers"):
        ran(["21278"], to="year", format="excel")
    with pytest.raises(DataError, match="true and false"):
        ran([True], to="year")
    book = Codebook({"d": Variable(kind="integer")})
    assert "format: excel" in CoarsenDate(columns=["d"], to="year").check(book)[0]


def test_invalid_values_are_refused_without_telling_them_or_missing():
    with pytest.raises(DataError, match="values that are no dates") as told:
        ran(["1958", "Zyxomma"], to="year")
    assert "Zyxomma" not in str(told.value)
    done = ran(["1958", "Zyxomma", ""], to="year", invalid="missing")
    assert done.after.frame["d"].to_list() == [1958, None, None]
    assert "2 values were no dates" in done.steps[0].notes[1]


def test_missing_codes_stay_and_the_codebook_says_so():
    codes = {"missing": [{"code": -9, "label": "refused"}]}
    done = ran(["1958-04-03", "-9"], known=codes, to="year")
    assert done.after.frame["d"].to_list() == [1958, -9]
    assert (done.after.codebook["d"].missing[0].code, done.after.codebook["d"].missing[0].label) == (-9, "refused")
    done = ran(["1958-04-03", "-9"], known=codes, to="quarter")
    assert done.after.frame["d"].to_list() == ["1958-Q2", "-9"]
    assert done.after.codebook["d"].missing[0].code == "-9"
    ranged = {"missing": [{"low": -9, "high": -1}], "kind": "integer"}
    assert coarse([21278, -3], known=ranged, to="year", format="excel") == [1958, -3]
    assert coarse([21278, -3], known=ranged, to="month", format="excel") == ["1958-04", "-9 to -1"]
    done = ran(["1980-01-01", "-9"], known=codes, to="age_band", reference="2000-01-01")
    assert done.after.codebook["d"].order[-2:] == ("90 and over", "-9")


def test_missing_codes_that_the_result_cannot_hold_are_found_before_the_run():
    book = Codebook({"d": Variable(missing=["unknown"]), "e": Variable(missing=[88])})
    assert "no whole numbers" in CoarsenDate(columns=["d"], to="year").check(book)[0]
    assert CoarsenDate(columns=["d"], to="quarter").check(book) == []
    assert "taken for an age" in CoarsenDate(columns=["e"], to="age", reference="2000-01-01").check(book)[0]
    assert CoarsenDate(columns=["e"], to="age", reference="2000-01-01", top=80).check(book) == []


def test_an_identifier_becomes_a_key_and_ids_are_refused():
    book = Codebook(
        {"d": Variable(role="identifier", label="Born", format="DATE10", unit="days"), "id": Variable(role="record")}
    )
    new = CoarsenDate(columns=["d"], to="year").describe(book)["d"]
    assert (new.role, new.label, new.format, new.unit) == ("key", "Born", None, None)
    assert "role record" in CoarsenDate(columns=["id"], to="year").check(book)[0]


def test_bands_of_ages_are_told_as_intervals_and_ages_in_words():
    (told,) = ran(DAYS, to="age_band", reference="2020-12-31").disclosure
    assert told.bands["60-64"] == (60, 65)
    assert told.bands["90 and over"] == (90, None)
    assert told.sentence() == "d: recoded to bands of ages at 2020-12-31."
    (told,) = ran(DAYS, to="age", reference="2020-12-31").disclosure
    assert told == Coarsened(("d",), "to the age in completed years at 2020-12-31, 90 and over as 90")


@pytest.mark.parametrize(
    "wrong",
    [
        {"to": "age"},
        {"to": "year", "reference": "2020-12-31"},
        {"to": "age", "reference": "d"},
        {"to": "year", "format": "%d/%m"},
        {"to": "year", "format": "%d/%m/%Y", "day_first": True},
        {"to": "century"},
        {"to": "year", "top": 0},
    ],
)
def test_parameters_that_do_not_go_together(wrong):
    with pytest.raises(ValidationError):
        CoarsenDate(columns=["d"], **wrong)


def test_a_reference_that_is_no_column_is_found_before_the_run():
    found = CoarsenDate(columns=["d"], to="age", reference="2020-13-01").check(Codebook({"d": Variable()}))
    assert "no column '2020-13-01'" in found[0]


def people(n=60):
    days = [dt.date(1940, 1, 1) + dt.timedelta(days=300 * i) for i in range(n)]
    seen = [dt.date(2020, 1, 1) + dt.timedelta(days=i % 40) for i in range(n)]
    return pl.DataFrame({"id": range(n), "born": days, "seen": seen})


def warned(*steps, **variables):
    known = {"id": {"role": "record"}, "born": {"role": "key", "kind": "date"}, "seen": {"kind": "date"}, **variables}
    return " ".join(sf.protect(sf.Plan(variables=known, steps=steps), people(), secret=bytes(16)).report.warnings)


def test_dates_that_leave_beside_coarse_ones_are_warned_of():
    age = CoarsenDate(columns=["born"], to="age", reference="seen")
    assert "age in born leaves beside the date in seen" in warned(age)
    assert "seen leaves as exact dates" in warned(CoarsenDate(columns=["born"], to="year"))
    assert "dates" not in warned(age, CoarsenDate(columns=["seen"], to="year"))
    assert "dates" not in warned(CoarsenDate(columns=["born", "seen"], to="year"))


def test_what_was_computed_from_exact_dates_is_warned_of():
    late = Derive(column="late", formula="year(seen) * 12")
    said = warned(late, CoarsenDate(columns=["born", "seen"], to="year"))
    assert "late was computed from born and seen" in said


def test_texts_that_a_plan_calls_dates_may_be_in_any_form_that_the_step_reads():
    frame = pl.DataFrame({"d": ["31/12/1958", "25/04/1960"] * 5})
    book = Codebook({"d": Variable(kind="date")})
    plan = sf.Plan(variables={"d": {"kind": "date"}}, steps=[CoarsenDate(columns=["d"], to="year")])
    plan.check(book)
    plan.check_kinds(frame)
    with pytest.raises(PlanError, match="coarsen_date"):
        sf.Plan(variables={"d": {"kind": "date"}}).check_kinds(frame)
