import numpy as np
import polars as pl
import pytest

import sfumato as sf
from sfumato.data.codebook import Codebook
from sfumato.engines.polars import PolarsDataset
from sfumato.errors import DataError
from sfumato.measures.measuring import Measuring
from sfumato.measures.risk import log_linear as module
from sfumato.measures.risk.log_linear import MEASURE, log_linear
from sfumato.measures.subject import Classes, Subject

KEYS = ("a", "b", "c")


def people(n=300, seed=2):
    """Two keys that go together, and a third."""
    rng = np.random.default_rng(seed)
    a = rng.integers(0, 8, n)
    return pl.DataFrame({"a": a, "b": (a + rng.integers(0, 3, n)) % 8, "c": rng.choice(["x", "y", None], n)})


def measured(frame, given=None, **how):
    classes = (Classes("keys", KEYS), Classes("strata", ("c",)))
    was = None if given is None else sf.read(given)
    return MEASURE.compute(Subject(PolarsDataset(frame, Codebook()), given=was, classes=classes, how=Measuring(**how)))


def by_hand(frame, fraction):
    """Independent keys: the product of their shares, a missing one a category of its own."""
    counts = frame.group_by(KEYS).len()
    alone = counts.filter(pl.col("len") == 1)
    means = np.full(alone.height, float(frame.height))
    for key in KEYS:
        shares = {k: n / frame.height for k, n in frame[key].value_counts().rows()}
        means *= [shares[v] for v in alone[key].to_list()]
    u = (1 - fraction) * means / fraction
    return np.exp(-u).sum(), (-np.expm1(-u) / u).sum()


def test_lines_and_baselines():
    frame, given = people(), people(seed=3)
    found = measured(frame, given, fraction=0.1, log_linear="main")
    wanted, was = by_hand(frame, 0.1), by_hand(given, 0.1)
    for name, value, baseline in zip(module.NAMES, wanted, was, strict=False):
        line = found.of(name)
        assert (line.value, line.baseline) == pytest.approx((value, baseline), rel=1e-9)
        assert line.group == "keys"
    assert [f.group for f in found.select("loglinear_fit")] == ["tau1", "tau2"]
    assert all(f.value > module.ENOUGH for f in found.select("loglinear_fit"))


def test_the_model_is_said_and_what_its_test_means():
    main = measured(people(), fraction=0.1, log_linear="main").notes
    assert "Log-linear model (main): main effects." in main
    assert any(note.endswith("Take --log-linear auto.") and "leaves out" in note for note in main)
    chosen = measured(people(), fraction=0.1, log_linear="auto")
    assert any("a × b" in note for note in chosen.notes)
    assert not any("leaves out" in note for note in chosen.notes)


def test_the_whole_population():
    frame = people()
    found = measured(frame, fraction=1.0, log_linear="auto")
    alone = (frame.group_by(KEYS).len()["len"] == 1).sum()
    assert [f.value for f in found] == [alone, alone, None, None]
    assert found.notes == (module.WHOLE,)


def test_without_what_it_needs_there_are_lines_without_values():
    """So a limit on them is one that is not met."""
    for frame, how in ((people(), {}), (people()[:0], {"fraction": 0.5})):
        found = measured(frame, **how)
        assert {f.value for f in found} == {None}
        assert len(found) == 4
        assert found.notes


def test_a_grid_that_is_too_large():
    frame = pl.DataFrame({key: range(300) for key in KEYS})
    with pytest.raises(DataError, match="10,000,000"):
        measured(frame, fraction=0.1, log_linear="main")
    assert {f.value for f in measured(frame, fraction=0.1)} == {None}


def test_an_original_that_is_too_large_gives_no_baseline():
    frame = people(3000)
    given = frame.with_columns(a=pl.int_range(3000), b=pl.int_range(3000))
    found = measured(frame, given, fraction=0.1, log_linear="main")
    assert all(f.value is not None and f.baseline is None for f in found)
    assert module.NO_BASELINE in found.notes


def test_what_is_refused():
    with pytest.raises(DataError, match="log_linear"):
        Measuring(log_linear="three-way")
    with pytest.raises(DataError, match="no column"):
        log_linear(sf.read(people()), ["nix"], 0.1)
    with pytest.raises(DataError, match="fraction"):
        log_linear(sf.read(people()), KEYS, 0.0)
