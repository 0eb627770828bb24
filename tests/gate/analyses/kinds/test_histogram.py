from sfumato.gate.analyses.request import read_analysis
from sfumato.gate.analyses.tables import table_of
from tests.gate.analyses.people import records


def test_it_is_the_table_of_one_level():
    assert table_of(read_analysis(records(), "histogram", "`age@band` ~ 1")).label == "age@band"
