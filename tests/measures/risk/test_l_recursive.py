import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.measures.risk.l_recursive import MEASURE, l_recursive_c
from sfumato.measures.subject import Classes, Subject
from tests.measures.tables import BY, distributions, records, table


def holds(counts, c, at):
    ordered = sorted(counts.values(), reverse=True)
    return ordered[0] < c * sum(ordered[at - 1 :])


@pytest.mark.slow
@given(records, st.sampled_from([1, 2, 3]))
def test_every_c_above_it_holds_and_none_below(rows, at):
    """By the definition of recursive (c, l)-diversity."""
    _, _, groups = distributions(rows)
    found = l_recursive_c(table(rows), BY, "ill", at)
    if not groups or any(len(g) < at for g in groups):
        assert found is None
        return
    assert all(holds(g, found * (1 + 1e-9), at) for g in groups)
    assert not all(holds(g, found, at) for g in groups) or not all(holds(g, found * (1 - 1e-9), at) for g in groups)


def test_the_most_frequent_value_comes_first():
    """Five, three and one: 5/(3 + 1) and 5/1."""
    rows = [(1, "x", "high")] * 3 + [(1, "x", "low")] + [(1, "x", "mid")] * 5
    assert l_recursive_c(table(rows), BY, "ill") == 1.25
    assert l_recursive_c(table(rows), BY, "ill", 3) == 5
    subject = Subject(table(rows), classes=(Classes("keys", BY),), sensitive=("ill",))
    assert [(f.at, f.value) for f in MEASURE.compute(subject)] == [(2, 1.25), (3, 5)]


def test_without_l_values_there_is_no_c():
    rows = [(1, "x", "low"), (1, "x", "mid"), (2, "x", "low")]
    subject = Subject(table(rows), classes=(Classes("keys", ("a",)),), sensitive=("ill",))
    found = MEASURE.compute(subject)
    assert [f.value for f in found] == [None, None]
    assert "no c" in found.notes[0]
