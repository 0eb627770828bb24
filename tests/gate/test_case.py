"""What a set of margins comes to."""

import polars as pl
import pytest

from sfumato.gate.case import Case
from sfumato.gate.decide import margin_of
from sfumato.gate.margin import Margin, Node
from sfumato.gate.reading import records_of
from sfumato.gate.structure import LIFE

ROWS = pl.DataFrame(
    {
        "id": range(120),
        "A": ["x", "y", "z"] * 40,
        "B": ["p", "q"] * 60,
        "few": [1, 2, 3, 4] * 30,
        "many": [float(i) for i in range(120)],
    }
)
LEVELS = {"A": {"top": {"x": "1", "y": "1", "z": "2"}, "end": {"x": "1", "y": "2", "z": "2"}}}


@pytest.fixture(scope="module")
def records():
    later = ROWS.with_columns(pl.col("id") + 1)
    return records_of(ROWS, record="id", levels=LEVELS, versions=[("v2", later)], search=False)


def case(records, *tables, version="v1"):
    return Case.of(records, [margin_of(one, records, version) for one in tables])


def names(case):
    return sorted(",".join(map(str, clique)) for clique in case.known)


def test_what_another_margin_gives_is_left_out(records):
    told = case(records, "A,B", "A", "A@top,B", "")
    assert names(told) == ["A,B"]
    assert told.joint_cells == 6


def test_levels_of_one_variable_are_refined_together(records):
    told = case(records, "A@top", "A@end,B")
    assert told.joint_cells == 3 * 2
    assert told.given == ((Node("A", "end"), Node("A", "top")),)


def test_one_version_is_not_cut_and_two_are(records):
    assert names(case(records, "A", version="v2")) == ["A"]
    both = Case.of(records, [margin_of("A", records), margin_of("", records, "v2")])
    assert names(both) == [f"{LIFE}@v1,A", f"{LIFE}@v2"]
    assert both.joint_cells == 3 * 3
    assert both.scope.total == 240  # one record each is in one version alone; 119 were changed


@pytest.mark.parametrize(
    ("tables", "known", "sums"),
    [
        (["few|B"], ["B,few"], 0),
        (["many|B"], ["B"], 1),
        (["many|B", "A"], ["A", "B"], 1),
        (["many|B", "many"], ["B,many", "many"], 0),
    ],
)
def test_sums_of_few_values_or_beside_their_variable_are_counts(records, tables, known, sums):
    told = case(records, *tables)
    assert names(told) == [one for one in known if one != "many" or "B,many" not in known]
    assert len(told.sums) == sums


def test_weights_count_like_sums(records):
    told = Case.of(records, [Margin.of([Node("B")], value="many", weight="few")])
    assert names(told) == ["B,few"]
    assert [(one.value, one.weight) for one in told.sums] == [("many", "few"), ("", "few")]
    assert not told.counted


def test_a_number_that_adds_up_is_told_by_its_values_too():
    """Once two columns of a relation are told, all are by all that any is told by: a count of values tells sums."""
    rows = pl.DataFrame({"A": ["x", "y"] * 40, "B": ["p", "p", "q", "q"] * 20, "fee": [1.0, 2.0, 3.0, 4.0] * 20})
    rows = rows.with_columns(drugs=pl.Series([100.0 + 1.37 * i for i in range(80)]))
    records = records_of(rows.with_columns(cost=pl.col("fee") + pl.col("drugs")))
    assert [one.of for one in records.found if one.kind == "adds"]
    by_a, by_b = Node("A"), Node("B")
    case = Case.of(records, [Margin.of([by_a, Node("fee")]), Margin.of([by_b], "cost")])
    assert {(margin.nodes, margin.value) for margin in case.sums} >= {
        ((by_a,), "drugs"),
        ((by_b,), "drugs"),
        ((by_a,), "cost"),
    }
