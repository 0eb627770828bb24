from collections import defaultdict

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.data.codebook import Codebook, Variable
from sfumato.data.finding import Finding, Findings
from sfumato.measures.known import Known
from sfumato.measures.risk.disclosive_correct import MEASURE, findings

BOOK = Codebook({"ill": Variable(role="sensitive", kind="categorical", missing=["unknown"])})
rows = st.lists(
    st.tuples(st.sampled_from([1, 2, None]), st.sampled_from(["no", "yes", "unknown", None])), min_size=1, max_size=9
)


def table(records):
    return pl.DataFrame(records, schema={"a": pl.Int64, "ill": pl.String}, orient="row")


def known(people, records, keys=("a",)):
    return Known(people, records, BOOK, keys, aligned=False)


def certain(people, records):
    """Counted one by one: what is missing is no value."""
    told = defaultdict(set)
    for key, value in records:
        if value not in (None, "unknown"):
            told[key].add(value)
    return sum(told[key] == {value} for key, value in people) / len(people)


@given(rows, rows)
def test_it_is_what_is_counted_one_by_one(people, records):
    line = findings(known(table(people), table(records)), ["ill"]).of("disclosive_correct", variable="ill")
    assert line.value == certain(people, records)
    assert line.baseline == certain(people, people)


def test_a_key_that_is_sensitive_is_told_by_the_other_keys():
    """Each pay has one illness, and a = 1 has both pays: who knows a and pay knows ill, who knows a cannot tell pay."""
    people = table([(1, "no"), (1, "yes")]).with_columns(pay=pl.Series([10, 20]))
    found = findings(known(people, people, ("a", "pay")), ["ill", "pay"])
    assert [(f.variable, f.value) for f in found] == [("ill", 1.0), ("pay", 0.0)]
    assert not found.notes


def test_the_only_key_is_told_by_nothing():
    people = table([(1, "no"), (1, "yes")])
    found = findings(known(people, people, ("ill",)), ["ill"])
    assert not found
    assert "only key" in found.notes[0]


@pytest.mark.parametrize(
    ("people", "keys"), [(table([]), ("a",)), (table([(1, "no")]), ("z",)), (table([(1, "no")]), ())]
)
def test_where_nothing_can_be_counted_it_says_so(people, keys):
    found = findings(known(people, table([(1, "no")]), keys), ["ill"])
    assert [(f.variable, f.value) for f in found] == [("ill", None)]
    assert len(found.notes) == 1


def test_a_variable_that_one_table_lacks_is_named():
    found = findings(known(table([(1, "no")]), table([(1, "no")]).drop("ill")), ["ill"])
    assert not found
    assert "ill" in found.notes[0]


def test_it_is_said_in_words():
    lines = Findings(
        tuple(Finding("disclosive_correct", n, value=v, baseline=0.5) for n, v in (("a", 0.1), ("b", 0.3)))
    )
    text = MEASURE.say(lines, 1.0)
    assert "30% of the people" in text
    assert "one value of b" in text
    assert [c.variable for c in MEASURE.complain(lines, 1.0)] == ["b"]
    assert MEASURE.say(Findings(), 1.0) is None
    assert MEASURE.complain(Findings(lines.lines[:1]), 1.0) == ()
