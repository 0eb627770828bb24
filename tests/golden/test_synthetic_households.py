"""Synthetic households of a real survey: 1,000 households of `testdata`, as the R package sdcMicro has it.

What must come out is counted in the file itself: heads, partners and children of each household.
"""

import polars as pl
import pytest

from sfumato.data.codebook import Codebook, Variable
from sfumato.draws import Draws
from sfumato.engines.polars import PolarsDataset
from sfumato.methods.synthesise.method import Synthesise
from sfumato.release.run import run_steps

CODES = ("urbrur", "roof", "water", "relat", "sex", "hhcivil")
HEAD, PARTNER, CHILD = 1, 2, 3


@pytest.fixture(scope="module")
def survey(shared_data):
    return pl.read_csv(shared_data / "sdcmicro" / "testdata.csv").select("ori_hid", *CODES, "age", "income")


@pytest.fixture(scope="module")
def copies(survey):
    book = Codebook(
        {
            "ori_hid": Variable(role="household"),
            **dict.fromkeys(CODES, Variable(kind="categorical")),
            "age": Variable(kind="integer"),
            "income": Variable(kind="continuous"),
        }
    )
    step = Synthesise(households=True, head="relat", copies=5, smooth=True)
    assert step.check(book) == []
    ran = run_steps([step], PolarsDataset(survey, book), Draws(bytes(16)))
    assert "urbrur, roof, water." in ran.steps[0].notes[0]
    return ran.after.frame.partition_by("copy")


def of(table, relation, value):
    """The households whose members of a relation are so many."""
    held = pl.col("relat") == relation
    return (table.group_by("ori_hid").agg(held.sum())["relat"] == value).mean()


def ages(table):
    """Correlation of the ages of heads and partners."""
    told = [
        table.filter(pl.col("relat") == who).group_by("ori_hid").agg(pl.col("age").first()) for who in (HEAD, PARTNER)
    ]
    both = told[0].join(told[1], on="ori_hid", suffix="2")
    return both.select(pl.corr("age", "age2")).item()


def test_every_household_has_one_head_and_no_more_than_one_partner(survey, copies):
    """As in the file. Shares of 1,000 households are within four standard errors of the mean of five copies, .023."""
    for copy in copies:
        assert of(copy, HEAD, 1) == 1
        assert of(copy, PARTNER, 0) + of(copy, PARTNER, 1) > 0.995
        assert copy.group_by("ori_hid").agg(pl.col("water").n_unique())["water"].max() == 1
    for relation, value in ((PARTNER, 1), (CHILD, 0), (CHILD, 2), (CHILD, 4)):
        mean = sum(of(copy, relation, value) for copy in copies) / 5
        assert mean == pytest.approx(of(survey, relation, value), abs=0.023 + 0.01)  # trees see sizes a little coarsely


def test_partners_are_of_like_age(survey, copies):
    """A correlation of .916 of 805 couples has the standard error .006; leaves of five donors weaken it a little."""
    assert sum(map(ages, copies)) / 5 == pytest.approx(ages(survey), abs=0.03)
