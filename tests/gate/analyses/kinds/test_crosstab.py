from sfumato.gate.analyses.request import read_analysis
from sfumato.gate.analyses.tables import of_table, table_of
from tests.gate.analyses.people import records


def test_it_is_the_table():
    data = records()
    request = read_analysis(data, "crosstab", "sex ~ ward + smoker")
    assert table_of(request).label == "sex,smoker,ward"
    content = {"columns": ["sex", "smoker", "ward", "count"], "by": [], "rows": [["F", "no", "a", 9]]}
    assert of_table(content, request, data) == {**content, "analysis": request.to_plain()}
