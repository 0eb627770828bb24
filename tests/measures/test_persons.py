"""Classes of people of whom several records tell."""

import polars as pl
import pytest

from sfumato.data.codebook import Codebook, Variable
from sfumato.engines.duckdb import DuckDBDataset
from sfumato.engines.polars import PolarsDataset
from sfumato.measures.patterns import patterns, values
from sfumato.measures.persons import PARTS, PERSONS, counted
from sfumato.measures.risk.k_anonymity import k_anonymity
from sfumato.measures.risk.uniques import uniques_sample

BOOK = Codebook(
    {
        "who": Variable(role="person"),
        "sex": Variable(kind="categorical"),
        "nodes": Variable(kind="integer"),
        "ill": Variable(kind="categorical", role="sensitive"),
        "w": Variable(role="weight", kind="continuous"),
    }
)


def table(engine=PolarsDataset, book=BOOK, **columns):
    frame = pl.DataFrame(columns)
    return engine(frame, book.only(frame.columns))


@pytest.mark.parametrize("engine", [PolarsDataset, DuckDBDataset.of])
def test_two_records_of_one_person_are_a_class_of_one(engine):
    """As in a trial of the colon, where each patient has a record for relapse and one for death."""
    who, sex, nodes = [1, 1, 2, 2, 3, 3], list("ffffmm"), [2, 2, 2, 2, 5, 5]
    data = table(engine, who=who, sex=sex, nodes=nodes)
    assert k_anonymity(data, ["sex", "nodes"]) == 1
    assert uniques_sample(data, ["sex", "nodes"]) == pytest.approx(2 / 6)  # the records that are found
    rows = table(engine, BOOK.replace(who=Variable()), who=who, sex=sex, nodes=nodes)
    assert k_anonymity(rows, ["sex", "nodes"]) == 2
    assert uniques_sample(rows, ["sex", "nodes"]) == 0


def test_a_person_counts_once_in_each_class():
    told = counted(table(who=[1, 1, 1, 2, None, None], sex=["f", "f", "m", "f", "f", "f"]), ["sex"])
    assert told[PERSONS].to_list() == [3, 1]  # those whose ids are missing are taken for one
    assert told[PARTS].to_list() == [2.5, 0.5]


def test_a_population_is_of_persons():
    found = patterns(table(who=[1, 1, 2], sex=["f", "f", "f"], w=[10.0, 30.0, 5.0]), ["sex"])
    assert found.population.tolist() == [25.0]


def test_gaps_that_agree_with_several_records_of_a_person_count_that_person_once():
    columns = {"who": [1, 1, 2], "sex": ["f", None, "m"], "nodes": [1, 1, 2]}
    assert patterns(table(**columns), ["sex", "nodes"], "wildcard").alike.tolist() == [1, 1, 1]
    rows = table(book=BOOK.replace(who=Variable()), **columns)
    assert sorted(patterns(rows, ["sex", "nodes"], "wildcard").alike.tolist()) == [1, 2, 2]


def test_a_person_has_each_value_once():
    data = table(who=[1, 1, 1, 2], sex=["f"] * 4, ill=["yes", "yes", "no", "yes"])
    told = values(data, ["sex"], "ill")
    assert dict(zip(told.levels.to_list(), told.count.tolist(), strict=True)) == {"no": 1, "yes": 2}
    whole = patterns(data, ["sex"])
    assert (whole.alike.tolist(), whole.records.tolist()) == ([2.0], [4])


def test_without_a_person_records_are_counted():
    data = table(book=BOOK.replace(who=Variable()), who=[1, 1, 2], sex=["f", "f", "m"])
    told = counted(data, ["sex"])
    assert told["sfumato:count"].to_list() == told[PERSONS].to_list() == told[PARTS].to_list() == [2, 1]
