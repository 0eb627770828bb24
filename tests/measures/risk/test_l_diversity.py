import polars as pl
import pytest

import sfumato as sf
from sfumato.data.codebook import Codebook, Variable
from sfumato.measures.risk.l_diversity import findings, l_distinct
from sfumato.measures.subject import Classes

FRAME = pl.DataFrame(
    {
        "ward": ["a", "a", "a", "b", "b", "c", "c"],
        "value": ["flu", "flu", "cold", "flu", None, None, None],
        "count": [1, 1, 1, 1, 1, 1, 1],
    }
)


def of_keys(*by):
    return [Classes("keys", by)]


def test_missing_values_are_ignored_where_there_are_others():
    """Ward c holds no known value: that is what anybody learns of its people, and nothing else."""
    assert l_distinct(sf.read(FRAME), ["ward"], "value").rows() == [("ward=b", 1), ("ward=c", 1), ("ward=a", 2)]


def test_or_are_one_category():
    found = l_distinct(sf.read(FRAME), ["ward"], "value", missing="category")
    assert found.rows() == [("ward=c", 1), ("ward=a", 2), ("ward=b", 2)]


def test_missing_codes_are_missing():
    frame = FRAME.with_columns(pl.col("value").fill_null("refused"))
    book = Codebook({"value": Variable(missing=["refused"])})
    assert l_distinct(sf.read(frame, codebook=book), ["ward"], "value").equals(
        l_distinct(sf.read(FRAME), ["ward"], "value")
    )


def test_keys_may_have_any_name():
    assert l_distinct(sf.read(FRAME), ["count", "ward"], "value").rows() == [
        ("count=1, ward=b", 1),
        ("count=1, ward=c", 1),
        ("count=1, ward=a", 2),
    ]


def test_the_worst_first_for_each_variable():
    found = findings(sf.read(FRAME), of_keys("ward"), ["value", "count"], given=sf.read(FRAME.head(4)))
    assert [(f.variable, f.group, f.value, f.baseline) for f in found] == [
        ("value", "keys", 1.0, 1.0),
        ("value", "ward=b", 1.0, 1.0),
        ("value", "ward=c", 1.0, None),
        ("value", "ward=a", 2.0, 2.0),
        ("count", "keys", 1.0, 1.0),
        ("count", "ward=a", 1.0, 1.0),
        ("count", "ward=b", 1.0, 1.0),
        ("count", "ward=c", 1.0, None),
    ]
    assert {f.measure for f in found} == {"l_distinct"}


def test_at_most_so_many_classes_are_listed():
    frame = pl.DataFrame({"id": range(300), "ill": [i % 2 for i in range(300)]})
    found = findings(sf.read(frame), of_keys("id"), ["ill"])
    assert len(found) == 201
    assert "200" in found.notes[0]


@pytest.mark.parametrize(("rows", "by"), [(slice(0, 0), ["ward"]), (slice(None), []), (slice(-2, None), ["ward"])])
def test_nothing_to_measure(rows, by):
    data = sf.read(FRAME).map(lambda frame: frame[rows])
    found = findings(data, of_keys(*by), ["value"])
    assert [(f.variable, f.value) for f in found] == [("value", None)]
    assert found.notes


def test_a_sensitive_key_is_passed_over_where_it_is_one_of_the_columns():
    """Of its own classes everybody knows it; within the strata, which are others, it is still to be learnt."""
    found = findings(sf.read(FRAME), [Classes("keys", ("value", "ward")), Classes("strata", ("ward",))], ["value"])
    assert [(f.variable, f.group, f.value) for f in found if f.group in ("keys", "strata")] == [("value", "strata", 1)]


def test_nothing_sensitive():
    assert not len(findings(sf.read(FRAME), of_keys("ward"), []))
