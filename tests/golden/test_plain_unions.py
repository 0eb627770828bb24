"""The auditor of unions, against tables that are worked out by hand."""

import polars as pl

from tests.golden.plain_reader import read
from tests.golden.plain_unions import insiders, unions, unsafe, unsafe_unions

TREES = {"a": [{"A": "Total", "A1": "A", "A2": "A", "B": "Total", "C": "Total"}]}
FILE = "a,value,status\nTotal,100,s\nA,,x\nA1,,x\nA2,30,s\nB,,x\nC,40,s\n"


def test_hidden_totals_are_replaced_by_their_hidden_parts():
    """Total less C is A and B; A2 is known, so that A1 and B are told together."""
    assert unions(read(FILE, "value"), TREES) == {frozenset([("A",), ("B",)]), frozenset([("A1",), ("B",)])}


def test_what_one_firm_has_in_several_cells_is_taken_together():
    firms = [
        ("A1", "f", 12.0),
        ("A1", "g", 3.0),
        ("B", "f", 15.0),
        ("A2", "h", 10.0),
        ("A2", "i", 10.0),
        ("A2", "j", 10.0),
    ]
    firms += [("C", "k", 20.0), ("C", "l", 12.0), ("C", "m", 8.0)]
    records = pl.DataFrame(firms, schema=["a", "firm", "value"], orient="row")
    published = read(FILE, "value")
    outside, inside = unsafe_unions(published, TREES, records, "value", 3, 10)
    assert outside == [frozenset([("A1",), ("B",)])]  # f and g, two firms in all
    assert ("firm f", frozenset([("A1",)])) in inside  # f is alone in B, and g's part is told
    held = records.with_columns(holding=pl.when(pl.col("firm") == "g").then(pl.lit("k")).otherwise(None))
    assert unsafe_unions(published, TREES, held, "value", 2, 10)[0] == [
        frozenset([("A1",), ("B",)])
    ]  # f and the holding


def test_rules_as_they_are_written():
    assert unsafe({"f": 1.0, "g": 1.0}, 3, 10)
    assert unsafe({"f": 100.0, "g": 50.0, "h": 9.9}, 3, 10)
    assert not unsafe({"f": 100.0, "g": 50.0, "h": 10.0}, 3, 10)  # a tie is safe


def test_an_insider_takes_away_what_is_his():
    records = pl.DataFrame(
        [("A1", "f", 12.0), ("A1", "g", 3.0), ("B", "f", 15.0), ("A2", "h", 30.0), ("C", "k", 40.0)],
        schema=["a", "firm", "value"],
        orient="row",
    )
    published = read(FILE, "value")
    assert insiders(published, TREES, records, "value", [("A1",)]) == [("firm f", ("A1",))]
    others = records.with_columns(firm=pl.when(pl.col("a") == "B").then(pl.lit("i")).otherwise("firm"))
    assert insiders(published, TREES, others, "value", [("B",)]) == []
