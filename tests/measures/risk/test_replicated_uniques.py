from collections import Counter

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.data.codebook import Codebook
from sfumato.data.finding import Finding, Findings
from sfumato.engines.polars import PolarsDataset
from sfumato.measures.known import Known
from sfumato.measures.risk.replicated_uniques import MEASURE, findings
from sfumato.measures.subject import Subject

rows = st.lists(st.tuples(st.sampled_from([1, 2, None]), st.sampled_from(["x", "y", None])), min_size=1, max_size=9)


def table(records):
    return pl.DataFrame(records, schema={"a": pl.Int64, "b": pl.String}, orient="row")


def known(people, records, keys=("a", "b"), aligned=False):
    return Known(people, records, Codebook(), keys, aligned)


@given(rows, rows)
def test_it_is_what_is_counted_one_by_one(people, records):
    there, found = Counter(people), Counter(records)
    line = findings(known(table(people), table(records))).of("replicated_uniques")
    assert line.value == sum(there[r] == 1 and found[r] == 1 for r in people) / len(people)
    assert line.baseline == sum(there[r] == 1 for r in people) / len(people)


def test_a_key_that_one_table_lacks_is_not_known():
    people, records = table([(1, "x"), (1, "y")]), table([(1, "x")]).drop("b")
    assert findings(known(people, records)).of("replicated_uniques").value == 0.0
    assert findings(known(people, records, ("a", "b", "c"))).of("replicated_uniques").baseline == 0.0


@pytest.mark.parametrize(
    ("people", "keys"), [(table([]), ("a",)), (table([(1, "x")]), ("z",)), (table([(1, "x")]), ())]
)
def test_where_nothing_can_be_counted_it_says_so(people, keys):
    found = findings(known(people, table([(1, "x")]), keys))
    assert [f.value for f in found] == [None]
    assert len(found.notes) == 1


def test_it_is_measured_where_records_are_nobody_s_or_somebody_asks():
    people = table([(1, "x")])
    for aligned, asked, wanted in ((False, (), True), (True, (), False), (True, ("replicated_uniques",), True)):
        intruder = known(people, people, aligned=aligned)
        subject = Subject(PolarsDataset(people, Codebook()), intruder=intruder, asked=frozenset(asked))
        assert MEASURE.can(subject)
        assert MEASURE.wanted(subject) is wanted


def test_it_is_said_in_words():
    line = Finding("replicated_uniques", value=0.25, baseline=0.5)
    assert MEASURE.say(Findings((line,)), 1.0).startswith("25% of the people are alone with their keys")
    assert "(without protection: 50%)" in MEASURE.say(Findings((line,)), 1.0)
    assert [c.urgent for c in MEASURE.complain(Findings((line,)), 1.0)] == [True]
    assert MEASURE.complain(Findings((Finding("replicated_uniques", value=0.1),)), 1.0) == ()
    assert MEASURE.say(Findings(), 1.0) is None
