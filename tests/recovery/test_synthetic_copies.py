"""Intervals from synthetic copies, combined by the rule of their kind, hold the truth as often as they say."""

import numpy as np
import polars as pl
import pytest

from sfumato.data.codebook import Codebook, Variable
from sfumato.draws import Draws
from sfumato.inference.combine import combine
from sfumato.methods.synthesise.copies import Synthesis

NUMBERS = Codebook({name: Variable(kind="continuous") for name in ("x1", "x2", "x3", "y")})
M = 5


def copies_of(frame, columns, given, secret, *, parametric, proper, kind):
    own = frozenset(columns if parametric else ())
    step = Synthesis("synthesise", columns, given, {}, M, 5, False, proper, (), "", own)
    ids, draws = np.arange(frame.height, dtype=np.uint64), Draws(secret)
    if kind == "missing":
        return step.filled(frame, NUMBERS, draws, ids)
    return step.copied(frame, NUMBERS, draws, ids, None if kind == "partial" else ids + np.uint64(1))


def least_squares(frame, y, names):
    """Slopes and their variances."""
    X, response = frame.select(pl.lit(1.0), *names).to_numpy(), frame[y].to_numpy()
    inverse = np.linalg.inv(X.T @ X)
    slopes = inverse @ X.T @ response
    rest = response - X @ slopes
    return slopes[1:], np.diag(inverse)[1:] * (rest @ rest) / (len(X) - X.shape[1])


def combined(copies, y, names, rule, proper):
    estimates, variances = zip(*(least_squares(copy, y, names) for copy in copies), strict=True)
    return combine(estimates, variances, rule, proper=proper, df=copies[0].height - len(names) - 1)


KINDS = {
    "simple": ("full", False),
    "simple, proper": ("full", True),
    "partial": ("partial", False),
    "partial, proper": ("partial", True),
    "rubin": ("missing", False),
    "rubin, proper": ("missing", True),
}


def chain_of_normals(name, samples):
    """n = 500: coverage of both slopes of the third column within .93 to .97, and three standard errors of so many."""
    kind, proper = KINDS[name]
    columns, given = {
        "full": (("x1", "x2", "x3"), ()),
        "partial": (("x2", "x3"), ("x1",)),
        "missing": (("x2",), ("x1", "x3")),
    }[kind]
    truth, held, found = np.array([0.3, 0.5]), [], []
    for sample in range(samples):
        rng = np.random.default_rng([sample, 1])
        x1 = rng.normal(size=500)
        x2 = 0.5 * x1 + 0.9 * rng.normal(size=500)
        x3 = 0.3 * x1 + 0.5 * x2 + rng.normal(size=500)
        frame = pl.DataFrame({"x1": x1, "x2": x2, "x3": x3})
        if kind == "missing":
            frame = frame.with_columns(x2=pl.when(pl.Series(rng.random(500) >= 0.3)).then("x2"))
        secret = sample.to_bytes(16, "big")
        copies = copies_of(frame, columns, given, secret, parametric=True, proper=proper, kind=kind)
        copies = [frame.with_columns(copy) for copy in copies]
        got = combined(copies, "x3", ["x1", "x2"], name.partition(",")[0], proper)
        held.append((got.low <= truth) & (truth <= got.high))
        found.append(got.estimate)
    assert (np.abs(np.mean(held, axis=0) - 0.95) < 0.02 + 3 * np.sqrt(0.95 * 0.05 / samples)).all()
    np.testing.assert_allclose(np.mean(found, axis=0), truth, atol=0.02)


@pytest.mark.slow
@pytest.mark.parametrize("name", KINDS)
def test_a_chain_of_normals_by_regressions(name):
    chain_of_normals(name, 40)


@pytest.mark.nightly(of="tests/recovery/test_synthetic_copies.py::test_a_chain_of_normals_by_regressions")
@pytest.mark.parametrize("name", KINDS)
def test_a_chain_of_normals_by_regressions_over_400_samples(name):
    chain_of_normals(name, 400)


@pytest.mark.slow
def test_trees_of_two_thousand():
    """Two numbers and a 0/1 covariate: coverage of each slope at least .90, less two standard errors of 40 samples."""
    names, truth = ["x1", "x2", "x3"], np.array([0.5, 0.3, 0.5])
    held = []
    for sample in range(40):
        rng = np.random.default_rng([sample, 2])
        x1 = rng.normal(size=2000)
        x2 = 0.5 * x1 + rng.normal(size=2000)
        x3 = (rng.random(2000) < 1 / (1 + np.exp(-x1))).astype(float)
        y = 0.5 * x1 + 0.3 * x2 + 0.5 * x3 + rng.normal(size=2000)
        frame = pl.DataFrame({"x1": x1, "x2": x2, "x3": x3, "y": y})
        secret = sample.to_bytes(16, "big")
        copies = copies_of(frame, (*names, "y"), (), secret, parametric=False, proper=False, kind="full")
        got = combined(copies, "y", names, "simple", False)
        held.append((got.low <= truth) & (truth <= got.high))
    assert (np.mean(held, axis=0) > 0.90 - 2 * np.sqrt(0.9 * 0.1 / 40)).all()


def with_later_gaps(sample):
    """x2 is missing where x3, which is drawn after it, is large; some of x3 are missing too."""
    rng = np.random.default_rng([sample, 4])
    x1 = rng.normal(size=500)
    x2 = 0.5 * x1 + 0.9 * rng.normal(size=500)
    x3 = 0.3 * x1 + 0.5 * x2 + rng.normal(size=500)
    no_x3 = rng.random(500) < 0.15
    no_x2 = ~no_x3 & (rng.random(500) < 1 / (1 + np.exp(-1.5 * x3)))
    frame = pl.DataFrame({"x1": x1, "x2": x2, "x3": x3})
    gaps = {name: pl.when(pl.Series(~gone)).then(name) for name, gone in (("x2", no_x2), ("x3", no_x3))}
    return frame.with_columns(**gaps)


def gaps_that_hang_on_a_later_column(model, samples):
    """Coverage of both slopes within .93 to .97, and three standard errors of so many; one pass alone has none."""
    own = frozenset(("x2", "x3") if model == "regressions" else ())
    truth, ids = np.array([0.3, 0.5]), np.arange(500, dtype=np.uint64)

    def covered(sweeps, many):
        held, found = [], []
        for sample in range(many):
            frame, draws = with_later_gaps(sample), Draws(sample.to_bytes(16, "big"))
            step = Synthesis("synthesise", ("x2", "x3"), ("x1",), {}, M, 5, False, True, (), "", own, sweeps)
            copies = [frame.with_columns(copy) for copy in step.filled(frame, NUMBERS, draws, ids)]
            got = combined(copies, "x3", ["x1", "x2"], "rubin", True)
            held.append((got.low <= truth) & (truth <= got.high))
            found.append(got.estimate)
        return np.mean(held, axis=0), np.mean(found, axis=0)

    coverage, near = covered(5, samples)
    assert (np.abs(coverage - 0.95) < 0.02 + 3 * np.sqrt(0.95 * 0.05 / samples)).all()
    np.testing.assert_allclose(near, truth, atol=0.08)
    coverage, near = covered(0, 12)
    assert (coverage < 0.75).all()
    assert near[1] < 0.3


@pytest.mark.slow
@pytest.mark.parametrize("model", ["regressions", "trees"])
def test_gaps_that_hang_on_a_later_column(model):
    gaps_that_hang_on_a_later_column(model, 24)


@pytest.mark.nightly(of="tests/recovery/test_synthetic_copies.py::test_gaps_that_hang_on_a_later_column")
@pytest.mark.parametrize("model", ["regressions", "trees"])
def test_gaps_that_hang_on_a_later_column_over_60_samples(model):
    gaps_that_hang_on_a_later_column(model, 60)
