import numpy as np
import pytest
from scipy.stats import chi2 as distribution

from sfumato.gate.analyses.kinds.chi2 import present
from sfumato.gate.analyses.request import read_analysis
from tests.gate.analyses.people import records

DATA = records()


def told(rows, formula="smoker ~ ward"):
    content = {"columns": ["smoker", "ward", "count"], "by": [["smoker", ""], ["ward", ""]], "rows": rows}
    return present(content, read_analysis(DATA, "chi2", formula), DATA)


TABLE = np.array([[30, 50, 20], [60, 40, 50]])
ROWS = [[s, w, int(TABLE[i, j])] for i, s in enumerate(("no", "yes")) for j, w in enumerate("abc")]


def test_pearsons_statistic():
    """By its definition; missing values take no part."""
    expected = TABLE.sum(1, keepdims=True) * TABLE.sum(0) / TABLE.sum()
    wanted = ((TABLE - expected) ** 2 / expected).sum()
    for rows in (ROWS, [*ROWS, ["(missing)", "a", 7], ["(missing)", "b", 1]]):
        found = told(rows)["statistics"]
        assert float(found["chi2"]) == pytest.approx(wanted)
        assert found["df"] == 2
        assert float(found["p"]) == pytest.approx(distribution.sf(wanted, 2))


def test_empty_lines_take_no_part():
    rows = [row for row in ROWS if row[1] != "c"] + [["no", "c", 0], ["yes", "c", 0]]
    assert told(rows)["statistics"]["df"] == 1


def test_one_line_has_no_statistic():
    assert "statistics" not in told([row for row in ROWS if row[0] == "no"])


def test_the_other_way_round_it_is_the_same():
    assert told(ROWS, "ward ~ smoker")["statistics"] == told(ROWS)["statistics"]
