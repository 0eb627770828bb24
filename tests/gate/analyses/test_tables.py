import polars as pl

from sfumato.gate.analyses.request import read_analysis
from sfumato.gate.analyses.tables import table_of
from sfumato.gate.margin import Margin, Node
from tests.gate.analyses.people import people, records

FRAME = people()
DATA = records(FRAME)


def test_a_table_is_its_variables():
    request = read_analysis(DATA, "crosstab", "sex ~ ward + `age@band`")
    assert table_of(request) == Margin.of([Node("sex"), Node("ward"), Node("age", "band")])


def test_survival_is_a_table_of_interval_event_and_groups():
    request = read_analysis(DATA, "survival", "weeks ~ ward", event="gone")
    assert table_of(request).label == "gone,ward,weeks"


def test_versions_are_kept():
    data = records(versions=[("v2", pl.concat([FRAME, FRAME.head(9).with_columns(id=pl.col("id") + 10**6)]))])
    assert table_of(read_analysis(data, "crosstab", "sex ~ ward")).version == "v2"
