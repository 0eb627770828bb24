"""Guesses of roles and kinds, on forms, names, and whole files."""

from __future__ import annotations

import datetime as dt

import numpy as np
import polars as pl
import pytest

from sfumato.data.codebook import Codebook, Variable
from sfumato.data.kinds import sniff_kinds
from sfumato.data.profile import profile
from sfumato.data.roles import Kind
from sfumato.examples import cohort, cohort_codebook


def guess(name, values, **known):
    (found,) = profile(pl.DataFrame({name: values}), Codebook({name: Variable.model_validate(known)} if known else {}))
    assert found.name == name
    assert found.reason
    return found


def outline(found):
    return (str(found.variable.role), str(found.variable.kind))


@pytest.mark.parametrize(
    ("name", "values", "expected"),
    [
        ("contact", ["a.b@example.org", "c@example.com", "d+e@mail.example.net"], ("identifier", "text")),
        ("site", ["https://example.org/a", "www.example.com"], ("identifier", "text")),
        ("host", ["192.0.2.1", "198.51.100.255"], ("identifier", "text")),
        ("host", ["2001:db8::1", "2001:0db8:0000:0000:0000:ff00:0042:8329"], ("identifier", "text")),
        ("x", ["07700 900123", "020 7946 0018", "+44 7700 900456"], ("identifier", "text")),
        ("x", ["AB 12 34 56 C", "ZY987654D"], ("identifier", "text")),
        ("x", ["943 476 5919", "401 023 2137"], ("identifier", "text")),
        ("x", [9434765919, 4010232137], ("identifier", "text")),
        ("home", ["QA1 1AA", "QB22 9ZZ", "Q1 2AB"], ("key", "geographic")),
        ("Surname", ["Zorvek", "Limtas", "Quobrel"], ("identifier", "text")),
        ("first_name", ["Zor", "Vek", "Zor", "Vek"], ("identifier", "text")),
        ("name", ["Zor Vek", "Lim Tas"], ("identifier", "text")),
        ("street address", ["1 High Road", "2 Low Road"], ("identifier", "text")),
        ("passport_no", [123456, 234567], ("identifier", "text")),
        ("mobile", [7700900123, 7700900124], ("identifier", "text")),
        ("dob", [dt.date(1990, 1, 1), dt.date(1991, 1, 1)], ("key", "date")),
        ("DateOfBirth", ["01/02/1990", "31/12/1991"], ("key", "date")),
        ("birth_year", [1990, 1991, 1992], ("key", "integer")),
        ("admitted", [dt.datetime(2020, 1, 1), dt.datetime(2021, 1, 1)], ("key", "date")),
        ("visit", ["2020-01-01", "2020-02-01"], ("key", "date")),
        ("visit", ["3 Jan 2020", "14 February 2021"], ("key", "date")),
        ("Latitude", [51.5, 52.25], ("key", "geographic")),
        ("lon", [-0.1, 1.25], ("key", "geographic")),
        ("easting", [412_345, 423_456], ("key", "geographic")),
        ("postcode_district", ["Q1", "Q2"], ("key", "geographic")),
        ("hiv_status", [0, 1, 0, 1], ("sensitive", "categorical")),
        ("monthlyIncome", [1200.5, 3400.25], ("sensitive", "continuous")),
        ("ethnic_group", ["a", "b", "a", "b"], ("key", "categorical")),
        ("religion", ["a", "b", "a", "b"], ("key", "categorical")),
        ("SexualOrientation", ["a", "b", "a", "b"], ("sensitive", "categorical")),
        ("sex", ["f", "m", "f", "m"], ("key", "categorical")),
        ("maternal_age", [20, 21, 25], ("key", "integer")),
        ("died", [0, 1, 0, 1], ("outcome", "categorical")),
        ("sampling_weight", [100.0, 250.0], ("weight", "integer")),
        ("wt", [0.8, 1.3, 0.95], ("weight", "continuous")),
        ("weight", [70.5, 81.0, 66.2], ("key", "continuous")),
        ("birth_weight", [3.1, 2.9, 4.0], ("key", "continuous")),
        ("weight", [3400, 2900, 4010], ("key", "integer")),
        ("severity", ["mild", "severe", "mild", "none", "none", "severe"], ("other", "ordinal")),
        ("band", ["18-29", "30-49", "50+", "18-29", "30-49", "50+"], ("other", "ordinal")),
        ("trace", [0.5, 0.25], ("key", "continuous")),  # no word of it is `race`; a number may be known to others
        ("drug_free", [None, None], ("other", "text")),
        ("item", [3, 1, 2, 1, 2, 3], ("other", "categorical")),
        ("school_name", ["North", "South", "North", "South"], ("key", "categorical")),
        ("flag", [True, False], ("other", "categorical")),
    ],
)
def test_one_column(name, values, expected):
    assert outline(guess(name, values)) == expected


def test_ten_digits_without_the_check_digit_are_no_nhs_numbers():
    rng = np.random.default_rng(1)
    assert guess("x", rng.integers(10**9, 10**10, 200)).variable.role != "identifier"


def test_free_text():
    texts = [f"The visit number {i} went well and all the questions were answered." for i in range(30)]
    found = guess("notes", texts)
    assert outline(found) == ("identifier", "text")
    assert "free text" in found.reason
    assert not found.certain


def test_order_of_a_known_scale_keeps_its_case():
    assert guess("x", ["Low", "High", "Low", "High"]).variable.order == (
        "Very low",
        "Low",
        "Medium",
        "High",
        "Very high",
    )


def test_missing_codes_are_only_proposed():
    found = guess("score", [*range(60), -9, -9])
    assert [m.code for m in found.variable.missing] == [-9]
    assert not found.certain
    assert "missing codes" in found.reason


def test_body_weight_says_what_to_write_for_the_other():
    assert "role weight" in guess("weight", [70.5, 81.0, 66.2]).reason
    assert "role key" in guess("weight", [0.8, 1.3, 0.95]).reason


def test_codes_in_a_decimal_type_are_codes():
    found = guess("x", [1.0, 2.0, 1.0, 2.0])
    assert found.variable.kind == Kind.CATEGORICAL
    assert found.reason.endswith("few different values")


def test_codes_are_not_taken_for_amounts():
    """Averages of codes mean nothing; whoever has amounts reads how to say so."""
    region = guess("REGION", [*range(1, 183)] * 2)
    assert outline(region) == ("key", "categorical")
    assert "kind integer" in region.reason
    assert outline(guess("sector", [*range(1, 90)] * 3)) == ("key", "categorical")
    assert outline(guess("age", [*range(18, 90)] * 2)) == ("key", "integer")
    assert guess("OCCUCODE", [*range(11, 60)] * 3).variable.kind == "categorical"


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("WEIGHT", [112.75, 118.5, 220.75, 420.0] * 20),  # weights of strata
        ("weight", [100] * 50),
        ("weight", [0.8, 1.3, 0.95]),
    ],
)
def test_sampling_weights_are_no_body_weights(name, values):
    assert guess(name, values).variable.role == "weight"


def test_one_weight_at_most_and_that_of_people():
    frame = pl.DataFrame({"household_weights": [0.5, 1.5] * 30, "sampling_weight": [1.5, 2.5, 3.5] * 20})
    found = {g.name: g for g in profile(frame, Codebook())}
    assert found["sampling_weight"].variable.role == "weight"
    assert found["household_weights"].leaves
    known = profile(frame, Codebook({"household_weights": Variable(role="weight")}))
    assert [str(g.variable.role) for g in known] == ["weight", "other"]


def test_numbers_without_a_negative_value_have_a_range():
    assert guess("income", [1.5, 0.0, 2.25]).variable.range == (0, None)
    assert guess("income", [1.5, -0.5, 2.25]).variable.range is None
    assert guess("income", [*range(60), -9, -9]).variable.range == (0, None)  # the codes are no amounts
    assert guess("income", [1.5, 2.5], range=(1, 5)).variable.range == (1, 5)
    assert guess("sex", [1, 2, 1, 2]).variable.range is None


def test_what_is_known_stays():
    found = guess("x", [1, 2, 1, 2], role="sensitive", kind="integer", label="Number of visits")
    known = Variable(role="sensitive", kind="integer", label="Number of visits", range=(0, None))
    assert found.variable == known
    assert found.certain
    assert guess("q7", [1, 2, 1, 2], label="Ever diagnosed with HIV").variable.private


# ---- ids of records and households -----------------------------------------------------------------------------------


def roles(frame, book=None):
    return {g.name: str(g.variable.role) for g in profile(frame, book or Codebook())}


def test_what_is_known_and_private_is_both():
    frame = pl.DataFrame({"race": ["a", "b"] * 20, "religion": ["c", "d"] * 20, "sex": ["f", "m"] * 20})
    known = Codebook({"race": Variable(role="key"), "sex": Variable(role="key")})
    race, religion, sex = (guess.variable for guess in profile(frame, known))
    assert (race.role, race.sensitive) == ("key", True)
    assert (religion.role, religion.sensitive) == ("key", True)
    assert (sex.role, sex.sensitive) == ("key", False)


def test_one_record_id_and_the_best_one():
    n = 30
    frame = pl.DataFrame(
        {
            "row": list(range(n)),
            "patient_id": [f"P{i * 37 % 101:04}" for i in range(n)],
            "sample_id": [f"S{i * 41 % 103:04}" for i in range(n)],
            "email": [f"p{i}@example.org" for i in range(n)],
        }
    )
    found = roles(frame)
    assert found == {"row": "key", "patient_id": "record", "sample_id": "identifier", "email": "identifier"}
    assert roles(frame.drop("patient_id"))["sample_id"] == "record"
    assert roles(frame.select("row"))["row"] == "record"


def test_a_known_record_column_is_the_only_one():
    frame = pl.DataFrame({"key": [1, 2, 3], "id": [4, 5, 6]})
    assert roles(frame, Codebook({"key": Variable(role="record")})) == {"key": "record", "id": "identifier"}


def test_amounts_are_no_record_ids():
    rng = np.random.default_rng(1)
    amounts = np.sort(rng.choice(10**7, 100, replace=False))
    assert roles(pl.DataFrame({"expenditure": amounts})) == {"expenditure": "key"}
    assert roles(pl.DataFrame({"income": np.arange(1, 101)})) == {"income": "sensitive"}


def test_ids_that_repeat_are_no_record_ids():
    assert roles(pl.DataFrame({"id": [1, 1, 2, 3]})) == {"id": "identifier"}
    assert roles(pl.DataFrame({"UTILITYID": [*range(40)] * 3, "paid": [*range(40)] * 3})) == {
        "UTILITYID": "identifier",
        "paid": "key",
    }


def test_household_repeats_and_is_one():
    home = [i // 2 for i in range(60)]
    frame = pl.DataFrame({"hh_id": home, "family_id": home, "household_size": [2] * 60, "household_income": home})
    assert roles(frame) == {
        "hh_id": "household",
        "family_id": "identifier",
        "household_size": "other",
        "household_income": "sensitive",
    }
    assert roles(pl.DataFrame({"household": list(range(60))}))["household"] != "household"


# ---- whole files -----------------------------------------------------------------------------------------------------


class TestTitanic:
    """The kinds that the published analysis needs, without a plan."""

    @pytest.fixture
    def frame(self, shared_data):
        return pl.read_csv(shared_data / "titanic.csv")

    def test_kinds(self, frame):
        kinds = {n: str(v.kind) for n, v in sniff_kinds(frame, Codebook()).items()}
        assert kinds == {
            "PassengerId": "integer",
            "Survived": "categorical",
            "Pclass": "categorical",
            "Name": "text",
            "Sex": "categorical",
            "Age": "continuous",
            "SibSp": "categorical",
            "Parch": "categorical",
            "Ticket": "text",
            "Fare": "continuous",
            "Cabin": "text",
            "Embarked": "categorical",
        }

    def test_roles(self, frame):
        found = roles(frame)
        assert found["PassengerId"] == "record"
        assert found["Survived"] == "outcome"
        assert {n for n, r in found.items() if r == "identifier"} == {"Name", "Ticket", "Cabin"}
        assert {n for n, r in found.items() if r == "key"} == {"Sex", "Age", "Fare"}

    def test_profile_and_sniff_agree(self, frame):
        sniffed = sniff_kinds(frame, Codebook())
        assert [g.variable.kind for g in profile(frame, Codebook())] == [v.kind for v in sniffed.values()]


@pytest.fixture(scope="module")
def people():
    return cohort(1000)


def test_cohort_without_a_codebook(people):
    """Of a file that says nothing, the guesses are the true roles, but for what only its maker can know."""
    truth = cohort_codebook()
    found = {g.name: g for g in profile(people, Codebook())}
    unknowable = {"score": "key", "asthma": "sensitive", "diagnosis": "key"}  # a diagnosis is to be kept private too
    for name, variable in truth.items():
        expected = unknowable.get(name, str(variable.role))
        assert str(found[name].variable.role) == expected, name
    for name in ("breastfed", "income", "score", "maternal_age"):
        codes = {m.code for m in truth[name].missing}
        assert {m.code for m in found[name].variable.missing} == codes, name


def test_cohort_kinds_agree_with_sniffing(people):
    known = Codebook({g.name: g.variable for g in profile(people, Codebook())})
    silent = Codebook({n: v.model_copy(update={"kind": None}) for n, v in known.items()})
    sniffed = sniff_kinds(people, silent)
    more = {Kind.GEOGRAPHIC, Kind.DATE, Kind.ORDINAL}  # what names and forms add
    for name, variable in known.items():
        assert variable.kind == sniffed[name].kind or variable.kind in more, name


def test_cohort_with_its_codebook(people):
    truth = cohort_codebook()
    found = {g.name: g.variable for g in profile(people, truth)}
    positive = {n: v.model_copy(update={"range": (0, None)}) for n, v in truth.items() if v.numeric and not v.range}
    positive = {n: v for n, v in positive.items() if v.role in ("key", "sensitive")}
    assert found == {**truth, **positive}
    assert all(g.certain for g in profile(people, truth) if g.variable.role != "other")


def test_row_order_changes_nothing(people):
    assert profile(people, Codebook()) == profile(people.sample(fraction=1, shuffle=True, seed=5), Codebook())


def test_reasons_hold_no_values():
    """Marked values in every kind of column; none may stand in a reason."""
    n = 60
    frame = pl.DataFrame(
        {
            "id": [f"MARK{i}" for i in range(n)],
            "name": [f"Markname Zor{i}" for i in range(n)],
            "email": [f"marked{i}@example.org" for i in range(n)],
            "group": ["markedgroup", "othermark"] * (n // 2),
            "income": [777_123.5 + i for i in range(n)],
            "weight": [77.125 + i / 7 for i in range(n)],
            "visits": [4321, 8765] * (n // 2),
            "comment": [f"A marked text of many words about the person number {i}" for i in range(n)],
        }
    )
    for found in profile(frame, Codebook()):
        said = found.reason.lower()
        assert "mark" not in said
        assert not any(digit in said for digit in "0123456789"), found
        assert "\n" not in said


def test_an_empty_table():
    frame = pl.DataFrame(schema={"id": pl.Int64, "name": pl.String, "x": pl.Float64})
    assert [g.reason for g in profile(frame, Codebook())] == ["it holds no values"] * 3
    assert profile(pl.DataFrame(), Codebook()) == ()


def test_unusual_types_are_left_as_they_are():
    frame = pl.DataFrame(
        {
            "household_id": [[1], [1], [2]],
            "weight": [{"kg": 1}] * 3,
            "phone": [b"0", b"0", b"1"],
            "dob": [dt.time(1)] * 3,
            "id": pl.Series([object(), object(), object()], dtype=pl.Object),
        }
    )
    assert {outline(g) for g in profile(frame, Codebook())} == {("other", "text")}


def test_every_column_is_told_before_it_is_looked_at():
    told = []
    profile(pl.DataFrame({"age": [31], "sex": ["m"]}), Codebook(), lambda *it: told.append(it))
    assert told == [("looking at age", 0.0), ("looking at sex", 0.5)]


def test_kinds_and_roles_do_not_hang_on_gaps():
    rng = np.random.default_rng(3)
    whole = pl.DataFrame(
        {"trt": rng.integers(1, 3, 300), "stage": rng.integers(1, 5, 300), "n": rng.integers(0, 90, 300)}
    )
    gone = pl.Series(rng.random(300) < 0.1)
    gaps = whole.select(pl.when(~gone).then(pl.all()))
    as_decimals = gaps.select(pl.all().cast(pl.Float64))
    told = [[(g.variable.role, g.variable.kind) for g in profile(t, Codebook())] for t in (whole, gaps, as_decimals)]
    assert told[0] == told[1] == told[2]
    assert [kind for _, kind in told[0]] == ["categorical", "categorical", "integer"]


def test_items_of_one_scale_have_one_role():
    rng = np.random.default_rng(3)
    items = {f"job{i}": rng.permuted([1, 2, 3, 4, 5] * 60) for i in range(1, 7)}
    frame = pl.DataFrame(items | {"job9": [i % 40 for i in range(300)]})
    found = {g.name: g for g in profile(frame, Codebook({"job2": Variable(role="key")}))}
    assert len({found[n].variable.role for n in items if n != "job2"}) == 1
    assert found["job2"].variable.role == "key"  # what is known stays
