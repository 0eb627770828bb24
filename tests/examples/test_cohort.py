"""The invented cohort: obviously invented, complete, and with the relations that it says it has."""

from __future__ import annotations

import datetime as dt

import numpy as np
import polars as pl
import pytest

from sfumato.data.codebook import Codebook
from sfumato.data.kinds import sniff_kinds
from sfumato.data.roles import Kind
from sfumato.errors import DataError
from sfumato.examples import cohort, cohort_codebook
from sfumato.examples.cohort import PROBIT

BOOK = cohort_codebook()


@pytest.fixture(scope="module")
def people():
    return cohort(5000)


def present(frame, name):
    return frame.filter(~BOOK.missing(name, frame.schema[name]))


@pytest.mark.parametrize("n", [20, 21, 333])
def test_any_size(n):
    frame = cohort(n)
    assert frame.height == n
    assert frame.columns == list(BOOK)
    assert frame["id"].to_list() == list(range(1, n + 1))


@pytest.mark.parametrize("n", [0, 19, 1_000_001])
def test_refuses_sizes_out_of_range(n):
    with pytest.raises(DataError, match="between 20 and 1000000"):
        cohort(n)


def test_same_seed_same_table():
    assert cohort(100, seed=3).equals(cohort(100, seed=3))
    assert not cohort(100, seed=3).equals(cohort(100, seed=4))


def valid_nhs_number(digits):
    """The rule of the NHS data dictionary, digit by digit."""
    total = sum(int(d) * w for d, w in zip(digits[:9], range(10, 1, -1), strict=True))
    check = 11 - total % 11
    return check != 10 and int(digits[9]) == check % 11


def test_the_rule_for_nhs_numbers_itself():
    assert valid_nhs_number("9434765919")  # the example of the data dictionary
    assert not valid_nhs_number("9434765918")


def test_nhs_numbers_are_valid_unique_and_from_the_range_for_tests(people):
    numbers = people["nhs_number"].drop_nulls()
    assert numbers.str.contains(r"^999 \d{3} \d{4}$").all()
    assert all(valid_nhs_number(n.replace(" ", "")) for n in numbers)
    assert numbers.n_unique() == len(numbers)


def test_nobody_real(people):
    assert people["email"].drop_nulls().str.ends_with("@example.org").all()
    assert people["postcode"].str.contains(r"^Q[A-H]\d{1,2} \d[A-Z]{2}$").all()
    phones = people["comment"].str.extract(r"(0[\d ]+)", 1).drop_nulls()
    assert len(phones) > 50
    assert phones.str.contains(r"^07700 900\d{3}$").all()  # set aside for drama by the regulator


def test_some_comments_name_the_person(people):
    assert people.filter(pl.col("comment").str.contains(pl.col("name"), literal=True)).height > 50


def test_households_share_what_a_household_shares(people):
    shared = people.group_by("household").agg(pl.col("postcode", "region", "easting", "weight", "mould").n_unique())
    assert shared.drop("household").max().row(0) == (1, 1, 1, 1, 1)
    sizes = people.group_by("household").len()["len"]
    assert set(sizes) == {1, 2, 3, 4}
    surnames = people.group_by("household").agg(pl.col("name").str.split(" ").list.last().n_unique())
    assert surnames["name"].max() == 1


def test_relations_within_a_household(people):
    per = people.group_by("household").agg(pl.col("relation"))["relation"].to_list()
    assert all(r.count(1) == 1 and r.count(3) <= 1 for r in per)
    assert set(people["relation"]) == {1, 2, 3}
    assert people.filter(relation=3)["sex"].unique().to_list() == [2]


def test_ages_are_possible(people):
    mothers = people.filter(relation=3).select("household", born="date_of_birth")
    gap = (
        people.filter(pl.col("relation") < 3)
        .join(mothers, on="household")
        .select(age=(pl.col("date_of_birth") - pl.col("born")).dt.total_days() / 365.25, said="maternal_age")
    )
    assert (gap["age"] - gap["said"]).is_between(-0.01, 1.01).all()  # whole years; dates are whole days
    assert present(people, "maternal_age")["maternal_age"].is_between(15, 47).all()
    assert (people["interview_date"] > people["date_of_birth"]).drop_nulls().all()
    assert people["interview_date"].drop_nulls().is_between(dt.date(2022, 1, 1), dt.date(2023, 12, 31)).all()


def test_missing_codes_have_labels_and_occur(people):
    for name in ("breastfed", "income", "score", "maternal_age"):
        codes = {m.code for m in BOOK[name].missing}
        assert all(m.label for m in BOOK[name].missing)
        assert codes <= set(people[name])
        assert present(people, name)[name].min() >= 0
    assert people.filter(relation=3)["score"].unique().to_list() == [-8]
    for name in ("nhs_number", "email", "interview_date", "height", "bmi", "diagnosis", "comment"):
        assert 0 < people[name].null_count() < people.height


def test_values_have_labels(people):
    for name, variable in BOOK.items():
        if variable.labels:
            assert set(variable.labels) >= set(present(people, name)[name].unique())
    low, high = BOOK["score"].range
    assert present(people, "score")["score"].is_between(low, high).all()


def test_codebook_says_what_the_values_are(people):
    """Where the codebook's kind is one that values alone can tell, they tell the same (labels and codes are known)."""
    silent = Codebook({n: v.model_copy(update={"kind": None}) for n, v in BOOK.items()})
    told = sniff_kinds(people, silent)
    for name, variable in BOOK.items():
        if variable.kind != Kind.GEOGRAPHIC:
            assert told[name].kind == variable.kind, name
    assert [BOOK.the(r) for r in ("record", "household", "weight")] == ["id", "household", "weight"]


@pytest.mark.slow
def test_patterns_of_exposure_are_those_of_the_published_table():
    # Dataset A of the notes on noise: shares of smoker, breastfed, mould over 6,837 people, asthma or not.
    # The bound is 5 standard errors of a share of .3 at 2·10⁵, times 1.5 as mould is drawn by household.
    counts = {
        (0, 0, 0): 380 + 91,
        (0, 0, 1): 181 + 61,
        (0, 1, 0): 1691 + 348,
        (0, 1, 1): 1308 + 310,
        (1, 0, 0): 357 + 133,
        (1, 0, 1): 227 + 66,
        (1, 1, 0): 758 + 200,
        (1, 1, 1): 567 + 159,
    }
    assert sum(counts.values()) == 6837
    frame = cohort(200_000).filter(pl.col("breastfed") >= 0)
    rows = frame.group_by("smoker", "breastfed", "mould").len().iter_rows()
    found = {tuple(row[:3]): row[3] / frame.height for row in rows}
    for key, count in counts.items():
        assert found[key] == pytest.approx(count / 6837, abs=0.008)


@pytest.mark.slow
def test_asthma_follows_the_probit_model():
    import statsmodels.api as sm

    frame = cohort(100_000).filter(pl.col("breastfed") >= 0)
    fit = sm.Probit(
        frame["asthma"].to_numpy(), sm.add_constant(frame.select("smoker", "breastfed", "mould").to_numpy())
    ).fit(disp=0)
    assert (np.abs(fit.params - np.array(PROBIT)) < 4 * fit.bse).all()


def test_relations_are_realistic():
    frame = cohort(50_000).filter(pl.col("income") >= 0).drop_nulls(["height", "bmi"])
    by_sex = frame.group_by("sex").agg(pl.col("height").mean()).sort("sex")["height"]
    assert 11 < by_sex[0] - by_sex[1] < 16
    r = frame.select(
        pl.corr("income", "education", method="spearman").alias("education"),
        pl.corr("income", "bmi", method="spearman").alias("bmi"),
    ).row(0, named=True)
    assert r["education"] > 0.3
    assert r["bmi"] < -0.1
    assert frame["bmi"].skew() > 0.3
    # a heavy tail: the highest incomes are far beyond what a lognormal of the same quartiles would give
    logs = frame["income"].log()
    spread = (logs.quantile(0.75) - logs.quantile(0.25)) / 1.349
    assert logs.max() > logs.median() + 6 * spread
    first, second = (
        frame.filter(relation=k).group_by("household").agg(pl.col("height").first(), pl.col("sex").first())
        for k in (1, 2)
    )
    siblings = first.join(second, on=["household", "sex"])
    assert 0.25 < siblings.select(pl.corr("height", "height_right")).item() < 0.75


def test_weights_are_about_one(people):
    assert people["weight"].min() > 0
    assert people["weight"].mean() == pytest.approx(1, abs=1e-3)


@pytest.mark.slow
def test_the_largest_cohort():
    frame = cohort(1_000_000)
    assert frame["id"].n_unique() == frame.height
    numbers = frame["nhs_number"].drop_nulls()
    assert numbers.n_unique() == len(numbers)
