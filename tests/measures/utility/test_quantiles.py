import numpy as np
import polars as pl
import pytest

import sfumato as sf
from sfumato.measures.utility.quantiles import PROBS, findings, quantiles


def of(values, probs=PROBS):
    """Quantiles of one column."""
    return quantiles(sf.read(pl.DataFrame({"x": values})), "x", probs)


@pytest.mark.parametrize("n", [1, 2, 5, 100, 101])
def test_type_7_by_its_definition(n):
    """With h = (n − 1) p: the value at floor(h), and the fraction of h of the way to the next."""
    x = np.random.default_rng(n).lognormal(size=n)
    ordered = sorted(x)
    for prob, found in zip(PROBS, of(x), strict=True):
        h = (n - 1) * prob
        low = int(h)
        high = min(low + 1, n - 1)
        assert found == pytest.approx(ordered[low] + (h - low) * (ordered[high] - ordered[low]), rel=1e-12)
        assert found == pytest.approx(np.quantile(x, prob), rel=1e-12)


def test_missing_values_take_no_part():
    assert of([float("nan"), 1.0, 3.0], (0.5,)) == (2.0,)
    assert of([float("nan")]) == (None,) * 5


def test_findings_have_one_line_for_each_probability():
    before, after = (sf.read(pl.DataFrame({"a": values})) for values in ([0.0, 1.0, 2.0], [0.0, 10.0]))
    found = findings(before, after, ["a"])
    assert [f.at for f in found] == [0.05, 0.25, 0.5, 0.75, 0.95]
    assert [f.value for f in found] == pytest.approx([0.5, 2.5, 5, 7.5, 9.5])
    assert [f.baseline for f in found] == pytest.approx([0.1, 0.5, 1, 1.5, 1.9])


def test_an_empty_column_is_said():
    data = sf.read(pl.DataFrame({"a": [1.0]}))
    found = findings(data, data.map(lambda frame: frame.clear()), ["a"])
    assert found[0].value is None
    assert found[0].baseline == 1
    assert "'a' has no value" in found.notes[0]
