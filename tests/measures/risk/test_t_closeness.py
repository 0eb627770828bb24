import numpy as np
import polars as pl
import pytest

import sfumato as sf
from sfumato.measures.risk.t_closeness import findings, t_equal
from sfumato.measures.subject import Classes

FRAME = pl.DataFrame({"ward": ["a"] * 4 + ["b"] * 4, "ill": ["x", "x", "x", "y", "y", "y", "y", None]})


def of_keys(*by):
    return [Classes("keys", by)]


def by_definition(frame, by, sensitive):
    """Half the sum over all values of |share in the class − share in the table|, written out."""
    table = frame.group_by(sensitive).len().rows()
    whole = {value: n / frame.height for value, n in table}
    out = {}
    for keys, part in frame.group_by(by):
        share = {value: n / part.height for value, n in part.group_by(sensitive).len().rows()}
        out[keys] = sum(abs(share.get(v, 0.0) - whole[v]) for v in whole) / 2
    return out


def test_by_hand():
    """Whole: x 3/7, y 4/7. Ward a: x 3/4: |3/4 − 3/7| = 9/28. Ward b: y 1: 3/7."""
    assert t_equal(sf.read(FRAME), ["ward"], "ill").rows() == [
        ("ward=b", pytest.approx(3 / 7, abs=1e-15)),
        ("ward=a", pytest.approx(9 / 28, abs=1e-15)),
    ]


def test_a_missing_value_as_a_category():
    """Whole: x 3/8, y 1/2, missing 1/8. Ward a: 3/4 − 3/8. Ward b: (3/4 − 1/2) + (1/4 − 1/8)."""
    found = t_equal(sf.read(FRAME), ["ward"], "ill", missing="category")
    assert found["t"].to_list() == [0.375, 0.375]


def test_equals_the_definition_in_any_order():
    rng = np.random.default_rng(5)
    frame = pl.DataFrame({"a": rng.integers(0, 5, 400), "b": rng.integers(0, 4, 400), "ill": rng.integers(0, 6, 400)})
    found = t_equal(sf.read(frame), ["a", "b"], "ill")
    expected = {f"a={a}, b={b}": t for (a, b), t in by_definition(frame, ["a", "b"], "ill").items()}
    assert dict(found.rows()) == pytest.approx(expected, abs=1e-12)
    assert found["t"].is_sorted(descending=True)
    shuffled = t_equal(sf.read(frame.sample(fraction=1, shuffle=True, seed=2)), ["a", "b"], "ill")
    assert shuffled["class"].to_list() == found["class"].to_list()


def test_the_worst_first():
    found = findings(sf.read(FRAME), of_keys("ward"), ["ill"], given=sf.read(FRAME))
    assert [(f.measure, f.variable, f.group) for f in found] == [
        ("t_equal", "ill", "keys"),
        ("t_equal", "ill", "ward=b"),
        ("t_equal", "ill", "ward=a"),
    ]
    assert all(f.value == f.baseline for f in found)
    assert found[0].value == pytest.approx(3 / 7)


@pytest.mark.parametrize(("rows", "by"), [(slice(0, 0), ["ward"]), (slice(None), []), (slice(-1, None), ["ward"])])
def test_nothing_to_measure(rows, by):
    data = sf.read(FRAME).map(lambda frame: frame[rows])
    found = findings(data, of_keys(*by), ["ill"])
    assert [(f.variable, f.value) for f in found] == [("ill", None)]
    assert found.notes
