import polars as pl
import pytest

import sfumato as sf
from sfumato.data.suppression import Suppression
from sfumato.measures.utility import suppressed


def test_shares():
    lines = suppressed.findings(Suppression(records=1, cells={"a": 2, "b": 0}, of=8))
    assert [(f.measure, f.variable, f.value) for f in lines] == [
        ("suppressed_records", None, 1 / 8),
        ("suppressed_cells", "a", 2 / 8),
        ("suppressed_cells", "b", 0),
    ]
    assert not len(suppressed.findings(Suppression(of=8)))
    assert not len(suppressed.findings(Suppression()))


def test_who_was_not_exchanged():
    (line,) = suppressed.findings(Suppression(of=8, unswapped=2) + Suppression(of=8, unswapped=0))
    assert (line.measure, line.value) == ("unswapped_records", 2 / 8)
    assert "25% of the records are of households at risk" in suppressed.MEASURE.say(
        suppressed.findings(Suppression(of=8, unswapped=2)), 1.0
    )
    (said,) = [figure for figure in suppressed.MEASURE.figures if figure.name == "unswapped_records"]
    assert said.published == "no"


def test_what_was_lost_is_said_once_and_elsewhere():
    assert suppressed.MEASURE.say(suppressed.findings(Suppression(1, {"a": 2}, 8)), 1.0) is None


def test_of_a_run():
    frame = pl.DataFrame({"id": range(20), "town": ["a"] * 18 + ["b"] * 2, "pay": [float(i) for i in range(20)]})
    plan = sf.Plan(
        variables={"id": {"role": "record"}, "town": {"role": "key"}},
        steps=[{"do": "suppress_strata", "by": ["town"], "min_count": 3, "max_suppressed": 0.2}],
    )
    found = sf.protect(plan, frame, secret=b"0123456789abcdef").report.findings
    (line,) = found.select("suppressed_records")
    assert line.value == pytest.approx(0.1)
    assert not found.select("suppressed_cells")
