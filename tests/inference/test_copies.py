"""Fits of synthetic copies, combined by what is disclosed."""

import numpy as np
import polars as pl
import pytest

import sfumato as sf
from sfumato.data.disclosure import Additive, Disclosure, Synthetic
from sfumato.errors import DataError
from sfumato.inference.combine import combine
from sfumato.inference.fit import fit


def copies(m=3, n=300, seed=1):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(m, n))
    y = 1 + 2 * x + rng.normal(size=(m, n))
    number = np.repeat(np.arange(1, m + 1), n)
    return pl.DataFrame({"copy": number, "x": x.ravel(), "y": y.ravel()})


def told(kind="full", m=3, **more):
    return Synthetic(columns=("x", "y"), kind=kind, copies=m, **more)


def one_by_one(frame, m=3):
    fits = [fit("y ~ x", frame.filter(pl.col("copy") == i + 1).drop("copy")) for i in range(m)]
    return np.array([f.estimate for f in fits]), np.array([f.se for f in fits]) ** 2, fits[0]


@pytest.mark.parametrize(
    ("kind", "how", "rule", "more"),
    [
        ("full", "auto", "simple", {}),
        ("full", "auto", "simple", {"ratio": 2.0}),
        ("full", "rrr", "rrr", {"proper": True}),
        ("partial", "auto", "partial", {}),
        ("missing", "auto", "rubin", {}),
    ],
)
def test_each_copy_is_fitted_as_a_release_of_its_own(kind, how, rule, more):
    frame = copies()
    found = sf.fit("y ~ x", frame, told(kind, **more), combine=how)
    q, u, first = one_by_one(frame)
    wanted = combine(q, u, rule, more.get("ratio", 1.0), more.get("proper", False), first.degrees)
    np.testing.assert_allclose(found.estimate, wanted.estimate, rtol=1e-12)
    np.testing.assert_allclose(found.se, wanted.se, rtol=1e-12)
    np.testing.assert_allclose(found.interval, np.column_stack([wanted.low, wanted.high]), rtol=1e-9)
    np.testing.assert_allclose(found.naive, first.estimate)
    plain = found.to_plain()
    assert (plain["rule"], plain["copies"]) == (rule, 3)
    assert all(term["df"] > 0 for term in plain["terms"])
    assert "df" in found.tidy().columns
    assert rule in found.notes[0]


@pytest.mark.slow
def test_noise_of_other_steps_is_taken_out_of_each_copy():
    rng = np.random.default_rng(3)
    frame = copies(n=3000)
    noisy = frame.with_columns(x=pl.col("x") + pl.Series(rng.normal(0, 0.7, frame.height)))
    found = sf.fit("y ~ x", noisy, Disclosure([Additive(("x",), [[0.49]]), told()]))
    assert abs(found.estimate[1] - 2) < 4 * found.se[1]
    assert found.naive[1] < 1.6


def test_rows_of_one_person_are_no_independent_ones():
    """Said wherever neither clusters nor effects of persons are in the model."""
    frame = copies(2).with_columns(who=pl.int_range(pl.len()) // 3)
    disclosure = [told(m=2, persons=True)]
    (note,) = [n for n in sf.fit("y ~ x", frame, disclosure).notes if "independent" in n]
    assert "Give the column of persons as `cluster`" in note
    for other in (
        sf.fit("y ~ x", frame, disclosure, cluster="who"),
        sf.fit("y ~ x", frame, disclosure, group="who"),
        sf.fit("y ~ x", frame, [told(m=2)]),
    ):
        assert not any("independent" in n for n in other.notes)


def test_one_copy_of_all_columns_will_do():
    frame = copies(1).drop("copy")
    found = sf.fit("y ~ x", frame, told(m=1))
    plain = fit("y ~ x", frame)
    np.testing.assert_allclose(found.se, plain.se * np.sqrt(2))
    assert (found.rule, found.copies) == ("simple", 1)


def test_a_release_without_copies_is_fitted_as_ever():
    frame = copies(1).drop("copy")
    found = sf.fit("y ~ x", frame)
    assert found.rule == ""
    assert "rule" not in found.to_plain()
    assert "df" not in found.tidy().columns


@pytest.mark.parametrize(
    ("part", "how", "match"),
    [
        (told("full"), "partial", "contradicts"),
        (told("full"), "rubin", "contradicts"),
        (told("partial"), "simple", "contradicts"),
        (told("missing"), "rrr", "contradicts"),
        (told("full"), "rrr", "proper"),
        (told("full", 4), "auto", "does not hold as many"),
        (told("full"), "mean", "no rule"),
        (None, "simple", "tells of none"),
    ],
)
def test_rules_that_contradict_the_disclosure(part, how, match):
    with pytest.raises(DataError, match=match):
        sf.fit("y ~ x", copies(), part, combine=how)


@pytest.mark.parametrize("kind", ["partial", "missing"])
def test_what_differs_between_copies_needs_two(kind):
    with pytest.raises(DataError, match="one alone"):
        sf.fit("y ~ x", copies(1).drop("copy"), told(kind, 1))


def test_a_category_that_a_copy_lacks():
    frame = copies().with_columns(
        g=pl.when(pl.int_range(pl.len()) % 3 == 0)
        .then(pl.lit("a"))
        .when(pl.col("copy") == 1)
        .then(pl.lit("b"))
        .otherwise(pl.when(pl.int_range(pl.len()) % 3 == 1).then(pl.lit("b")).otherwise(pl.lit("c")))
    )
    with pytest.raises(DataError, match="not in all of them"):
        sf.fit("y ~ g", frame, told())


def test_copies_have_no_second_estimate():
    """One copy alone may disagree with a second estimate; nothing is said of that, for the copies are combined."""
    frame, rng = copies(2, 2000, 4), np.random.default_rng(5)
    x = np.exp(frame["x"].to_numpy() * 0.8)
    x = (x - x.mean()) / x.std()
    y = rng.random(4000) < 1 / (1 + np.exp(-0.8 * x - 0.3 * x**2))
    frame = frame.with_columns(x=x + rng.normal(0, 0.7, 4000), y=y * 1)
    noise = Additive(("x",), [[0.49]])
    own = [fit("y ~ x", frame.filter(copy=i), Disclosure([noise]), "logit", "ml", hidden="normal") for i in (1, 2)]
    assert any(f.second.p < 0.01 for f in own)
    found = sf.fit("y ~ x", frame, Disclosure([told(m=2), noise]), "logit", "ml", hidden="normal")
    assert found.second is None
    assert not any("disagree" in note for note in found.notes)
