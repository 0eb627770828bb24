import polars as pl
import pytest

from sfumato.measures.risk.class_size import average_class_size, findings

FRAME = pl.DataFrame({"sex": ["f", "m", "m", None, None, None, None, None, None]})


def test_average_first_then_the_smallest():
    found = findings(FRAME, ["sex"], before=FRAME.head(5))
    assert [(f.group, f.value, f.baseline) for f in found] == [
        (None, 3.0, pytest.approx(5 / 3)),
        ("sex=f", 1.0, 1.0),
        ("sex=m", 2.0, 2.0),
        ("sex missing", 6.0, 2.0),
    ]
    assert found.notes == ()


def test_a_class_that_the_original_did_not_have():
    found = findings(FRAME, ["sex"], before=FRAME.filter(pl.col("sex") == "m"))
    assert found.of("class_size", group="sex=f").baseline is None


def test_at_most_so_many_classes_are_listed():
    frame = pl.DataFrame({"id": range(300)})
    found = findings(frame, ["id"])
    assert len(found) == 201
    assert "200" in found.notes[0]
    assert len({f.group for f in found}) == 201


@pytest.mark.parametrize(("frame", "by"), [(FRAME.head(0), ["sex"]), (FRAME, [])])
def test_nothing_to_measure(frame, by):
    assert average_class_size(frame, by) is None
    found = findings(frame, by)
    assert [f.value for f in found] == [None]
    assert found.notes
