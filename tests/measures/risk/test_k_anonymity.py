import polars as pl
import pytest

import sfumato as sf
from sfumato.errors import DataError
from sfumato.measures.risk.k_anonymity import class_sizes, findings, k_anonymity
from sfumato.measures.subject import Classes

FRAME = pl.DataFrame(
    {"sex": ["f", "f", "m", "m", "m", None], "class": [1, 1, 1, 2, 2, 2], "size": [1.0, 1.0, 1.0, 1.0, 1.0, 1.0]}
)


def test_the_smallest_class():
    assert k_anonymity(sf.read(FRAME), ["class"]) == 3.0
    assert k_anonymity(sf.read(FRAME), ["sex", "class"]) == 1.0


def test_classes_are_named_and_come_smallest_first():
    """`class` and `size` are names of columns here, too."""
    assert class_sizes(sf.read(FRAME), ["class", "sex", "size"]).rows() == [
        ("class=1, sex=m, size=1.0", 1),
        ("class=2, sex missing, size=1.0", 1),
        ("class=1, sex=f, size=1.0", 2),
        ("class=2, sex=m, size=1.0", 2),
    ]


def test_null_and_nan_are_one_category_and_a_code_is_its_own():
    """The release shows which code stands where, so that people with different codes are not alike."""
    frame = pl.DataFrame({"a": [1.0, None, float("nan"), -9.0, -9.0, 2.0]})
    assert class_sizes(sf.read(frame), ["a"]).rows() == [("a=1.0", 1), ("a=2.0", 1), ("a=-9.0", 2)]  # no key, no class
    wider = frame.with_columns(b=pl.lit("x"))
    assert class_sizes(sf.read(wider), ["a", "b"]).rows() == [
        ("a=1.0, b=x", 1),
        ("a=2.0, b=x", 1),
        ("a missing, b=x", 2),
        ("a=-9.0, b=x", 2),
    ]


def test_no_two_classes_share_a_name():
    """Values may hold what separates names, or look like a missing one."""
    frame = pl.DataFrame({"a": ["x, b=y", "x", 'x"', "missing", None], "b": ["z", "y, b=z", "z", "z", "z"]})
    assert class_sizes(sf.read(frame), ["a", "b"])["class"].n_unique() == 5
    assert k_anonymity(sf.read(frame), ["a", "b"]) == 1.0


@pytest.mark.parametrize("dtype", [pl.Categorical, pl.Enum(["m", "f"])])
def test_categories_as_text(dtype):
    frame = FRAME.select(pl.col("sex").cast(dtype))
    assert class_sizes(sf.read(frame), ["sex"]).rows() == [("sex=f", 2), ("sex=m", 3)]


def test_row_order_changes_nothing():
    frame = pl.DataFrame({"a": [i % 7 for i in range(200)], "b": [i % 3 for i in range(200)]})
    assert class_sizes(sf.read(frame), ["a", "b"]).equals(
        class_sizes(sf.read(frame.sample(fraction=1, shuffle=True, seed=1)), ["a", "b"])
    )


def test_finding_beside_the_original():
    keys = [Classes("keys", ("class",))]
    found = findings(sf.read(FRAME), keys, given=sf.read(FRAME.head(4)))
    assert [(f.measure, f.group, f.value, f.baseline) for f in found] == [("k_anonymity", "keys", 3.0, 1.0)]
    assert findings(sf.read(FRAME), keys, given=sf.read(FRAME.select("sex")))[0].baseline is None


def test_a_line_for_each_group_of_classes():
    found = findings(sf.read(FRAME), [Classes("keys", ("sex", "class")), Classes("strata", ("class",))])
    assert [(f.group, f.value) for f in found] == [("keys", 1.0), ("strata", 3.0)]
    assert not len(findings(sf.read(FRAME), []))


@pytest.mark.parametrize(("rows", "by"), [(slice(0, 0), ["sex"]), (slice(None), [])])
def test_nothing_to_measure(rows, by):
    data = sf.read(FRAME).map(lambda frame: frame[rows])
    found = findings(data, [Classes("strata", tuple(by))])
    assert found[0].value is None
    assert found.notes


def test_unknown_key():
    with pytest.raises(DataError, match="no column 'age'"):
        k_anonymity(sf.read(FRAME), ["age"])
