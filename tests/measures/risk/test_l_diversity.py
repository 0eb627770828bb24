import polars as pl
import pytest

from sfumato.data.codebook import Codebook, Variable
from sfumato.measures.risk.l_diversity import findings, l_distinct

FRAME = pl.DataFrame(
    {
        "ward": ["a", "a", "a", "b", "b", "c", "c"],
        "value": ["flu", "flu", "cold", "flu", None, None, None],
        "count": [1, 1, 1, 1, 1, 1, 1],
    }
)


def test_missing_values_are_ignored():
    """Ward c holds no value: nobody can learn one there."""
    assert l_distinct(FRAME, ["ward"], "value").rows() == [("ward=b", 1), ("ward=a", 2)]


def test_or_are_one_category():
    found = l_distinct(FRAME, ["ward"], "value", missing="category")
    assert found.rows() == [("ward=c", 1), ("ward=a", 2), ("ward=b", 2)]


def test_missing_codes_are_missing():
    frame = FRAME.with_columns(pl.col("value").fill_null("refused"))
    book = Codebook({"value": Variable(missing=["refused"])})
    assert l_distinct(frame, ["ward"], "value", book).equals(l_distinct(FRAME, ["ward"], "value"))


def test_keys_may_have_any_name():
    assert l_distinct(FRAME, ["count", "ward"], "value").rows() == [("count=1, ward=b", 1), ("count=1, ward=a", 2)]


def test_the_worst_first_for_each_variable():
    found = findings(FRAME, Codebook(), ["ward"], ["value", "count"], before=FRAME.head(4))
    assert [(f.variable, f.group, f.value, f.baseline) for f in found] == [
        ("value", None, 1.0, 1.0),
        ("value", "ward=b", 1.0, 1.0),
        ("value", "ward=a", 2.0, 2.0),
        ("count", None, 1.0, 1.0),
        ("count", "ward=a", 1.0, 1.0),
        ("count", "ward=b", 1.0, 1.0),
        ("count", "ward=c", 1.0, None),
    ]
    assert {f.measure for f in found} == {"l_distinct"}


def test_at_most_so_many_classes_are_listed():
    frame = pl.DataFrame({"id": range(300), "ill": [i % 2 for i in range(300)]})
    found = findings(frame, Codebook(), ["id"], ["ill"])
    assert len(found) == 201
    assert "200" in found.notes[0]


@pytest.mark.parametrize(("frame", "by"), [(FRAME.head(0), ["ward"]), (FRAME, []), (FRAME.tail(2), ["ward"])])
def test_nothing_to_measure(frame, by):
    found = findings(frame, Codebook(), by, ["value"])
    assert [(f.variable, f.value) for f in found] == [("value", None)]
    assert found.notes


def test_nothing_sensitive():
    assert not len(findings(FRAME, Codebook(), ["ward"], []))
