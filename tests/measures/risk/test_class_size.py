import polars as pl
import pytest

import sfumato as sf
from sfumato.measures.risk.class_size import average_class_size, findings
from sfumato.measures.subject import Classes

FRAME = pl.DataFrame({"sex": ["f", "m", "m", *["x"] * 6]})


def of_keys(*by):
    return [Classes("keys", by)]


def test_average_first_then_the_smallest():
    found = findings(sf.read(FRAME), of_keys("sex"), given=sf.read(FRAME.head(5)))
    assert [(f.group, f.value, f.baseline) for f in found] == [
        ("keys", 3.0, pytest.approx(5 / 3)),
        ("sex=f", 1.0, 1.0),
        ("sex=m", 2.0, 2.0),
        ("sex=x", 6.0, 2.0),
    ]
    assert found.notes == ()


def test_a_class_that_the_original_did_not_have():
    found = findings(sf.read(FRAME), of_keys("sex"), given=sf.read(FRAME.filter(pl.col("sex") == "m")))
    assert found.of("class_size", group="sex=f").baseline is None


def test_at_most_so_many_classes_are_listed():
    frame = pl.DataFrame({"id": range(300)})
    found = findings(sf.read(frame), of_keys("id"))
    assert len(found) == 201
    assert "200" in found.notes[0]
    assert len({f.group for f in found}) == 201


def test_each_group_has_its_mean_and_equal_columns_are_told_of_once():
    """Nine records in three classes of sex; the two groups' classes are the same ones."""
    found = findings(sf.read(FRAME), [Classes("keys", ("sex",)), Classes("strata", ("sex",))])
    assert [(f.group, f.value) for f in found] == [
        ("keys", 3.0),
        ("sex=f", 1.0),
        ("sex=m", 2.0),
        ("sex=x", 6.0),
        ("strata", 3.0),
    ]


def test_keys_in_another_order_are_the_same_classes():
    frame = sf.read(FRAME.with_columns(ward=pl.lit("a")))
    found = findings(frame, [Classes("keys", ("sex", "ward")), Classes("strata", ("ward", "sex"))])
    assert [f.group for f in found].count("sex=f, ward=a") == 1
    assert "ward=a, sex=f" not in [f.group for f in found]


@pytest.mark.parametrize(("rows", "by"), [(slice(0, 0), ["sex"]), (slice(None), [])])
def test_nothing_to_measure(rows, by):
    data = sf.read(FRAME).map(lambda frame: frame[rows])
    assert average_class_size(data, by) is None
    found = findings(data, of_keys(*by))
    assert [f.value for f in found] == [None]
    assert found.notes
