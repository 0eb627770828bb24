"""The arrays of a likelihood: patterns, joined rows, groups by what was released."""

import numpy as np
import polars as pl
import pytest
from scipy import stats

from sfumato.data.codebook import Codebook
from sfumato.data.disclosure import Additive, Misclassified
from sfumato.data.formula import parse_formula
from sfumato.errors import DataError
from sfumato.inference.assemble import MAX_PATTERNS, build_gaussian, build_mixture
from sfumato.inference.columns import split_columns
from sfumato.inference.covariates.known import read_covariate
from sfumato.inference.outcome import read_outcome
from sfumato.inference.problem import Problem


def problem(frame, formula, parts=(), family="probit", keep=False):
    """A problem of numeric covariates."""
    parsed = parse_formula(formula)
    names = parsed.columns[1:]
    book = Codebook()
    covariates = {n: read_covariate(frame, book, n, False, [p for p in parts if n in p.columns]) for n in names}
    outcome = read_outcome(frame, book, parsed.response, family, [p for p in parts if parsed.response in p.columns])
    return Problem(split_columns(parsed.terms, True, {}, names), covariates, outcome, np.ones(frame.height), keep)


RNG = np.random.default_rng(0)
FRAME = pl.DataFrame({n: RNG.integers(0, 2, 400) for n in ("y", "a", "b", "w")}).with_columns(
    x=pl.Series(RNG.normal(size=400)), v=pl.Series(RNG.normal(size=400))
)


def test_patterns_are_all_combinations():
    parts = [Misclassified(n, [[0.9, 0.1], [0.1, 0.9]]) for n in ("a", "b")]
    model, _ = build_mixture(problem(FRAME, "y ~ a*b", parts))
    np.testing.assert_array_equal(model.Q[:, 1:], [[0, 0, 0], [0, 1, 0], [1, 0, 0], [1, 1, 1]])


def test_equal_rows_are_joined_and_the_likelihood_stays():
    parts = [Misclassified(n, [[0.9, 0.1], [0.1, 0.9]]) for n in ("a", "b")]
    joined, rows = build_mixture(problem(FRAME, "y ~ a + b + w", parts))
    every, order = build_mixture(problem(FRAME, "y ~ a + b + w", parts, keep=True))
    assert len(joined.weight) == 16
    assert joined.weight.sum() == 400
    assert sorted(order.tolist()) == list(range(400))
    assert len(rows) == 16
    theta = 0.3 * np.random.default_rng(1).normal(size=joined.size)
    one, other = joined.look(theta), every.look(theta)
    assert one.log_likelihood == pytest.approx(other.log_likelihood, rel=1e-12)
    np.testing.assert_allclose(one.information, other.information, rtol=1e-9, atol=1e-9)


def test_exact_cells_have_probabilities_of_their_own():
    parts = [Misclassified("a", [[0.9, 0.1], [0.1, 0.9]])]
    few, _ = build_mixture(problem(FRAME, "y ~ a + w", parts))
    assert few.patterns.w.shape[1] == 1
    many, _ = build_mixture(problem(FRAME, "y ~ a + x + v", parts))
    assert many.patterns.w.shape == (400, 2)
    np.testing.assert_allclose(many.patterns.w.std(axis=0), 1)


def test_groups_have_the_same_components_and_noise():
    frame = FRAME.with_columns(x=pl.when(pl.int_range(400) >= 100).then("x"))
    parts = [
        Additive(("x", "v"), [[0.1, 0.02], [0.02, 0.2]], where={"w": 1}),
        Additive(("v",), [[0.3]], where={"w": 0}),
    ]
    model, rows = build_gaussian(problem(frame, "y ~ x + v", parts))
    kinds = {(tuple(g.seen), float(g.noise[-1, -1])) for g in model.groups}
    assert kinds == {((0, 1), 0.2), ((1,), 0.2), ((0, 1), 0.3), ((1,), 0.3)}
    assert model.groups[-1].stop == 400
    for group in model.groups:
        part = rows[group.start : group.stop]
        assert set(frame["w"].to_numpy()[part]) == {1 if group.noise[-1, -1] == 0.2 else 0}
        assert (frame["x"].is_null().to_numpy()[part] == (len(group.seen) == 1)).all()
    np.testing.assert_allclose(model.z[:, 1], frame["v"].to_numpy()[rows])


def test_too_many_patterns_are_told_before_work():
    names = [f"d{j}" for j in range(12)]
    frame = pl.DataFrame({"y": [0, 1], **{n: [0.2, 0.7] for n in names}})
    part = Additive(tuple(names), np.eye(12), values=(0, 1))
    with pytest.raises(DataError, match=f"more than {MAX_PATTERNS} combinations"):
        build_mixture(problem(frame, "y ~ " + " + ".join(names), [part]))


def test_impossible_values_are_told():
    part = Misclassified("a", [[1, 0, 0], [0, 1, 0], [0.5, 0.5, 0]], levels=(0, 1, 2))
    frame = FRAME.with_columns(a=pl.Series([2, *[0] * 399]))
    with pytest.raises(DataError, match="does not allow some values of a"):
        build_mixture(problem(frame, "y ~ a", [part]))


def test_correlated_and_clipped_noise_is_refused():
    part = Additive(("a", "b"), [[0.2, 0.1], [0.1, 0.2]], clipped=True)
    noisy = FRAME.with_columns((pl.col("a", "b") + 0.4 * pl.col("x")).clip(0, 1))
    with pytest.raises(DataError, match="correlated, and clipped"):
        build_mixture(problem(noisy, "y ~ a + b", [part]))


NOISE = np.array([[0.4, 0.15], [0.15, 0.3]])


@pytest.mark.parametrize("formula", ["y ~ x*v", "y ~ I(x^2) + v", "y ~ x:v + I(v^3) + a", "y ~ a:x + I(x^2):v"])
@pytest.mark.parametrize("missing", [False, True])
def test_powers_and_products_of_hidden_numbers_are_integrated(formula, missing):
    """At parameters off the maximum, against a sum over 200 × 200 points of the hidden values; to 3e-5."""
    frame = FRAME
    if missing:
        frame = frame.with_columns(
            x=pl.when(pl.int_range(400) > 1).then("x"), v=pl.when(pl.int_range(400) > 0).then("v")
        )
    whole = problem(frame, formula, [Additive(("x", "v"), NOISE)], "linear", keep=True)
    model, rows = build_gaussian(whole)
    p = model.E.shape[1]
    b, root = np.random.default_rng(2).normal(size=p) / 3, np.array([[0.7, 0.0], [0.2, 0.8]])
    means = np.column_stack([[0.2, -0.1], [0.3, 0.1]])  # constant and, where `a` is in the model, its slope
    A = means[: model.T.shape[1] + model.patterns.w.shape[1]]
    theta = model.join(b, np.array([-0.3]), np.zeros(0), A, (root @ root.T)[None])
    ours = {int(r): v for r, v in zip(rows[model.records], _log_records(model, theta), strict=True)}
    t = np.linspace(-6, 6, 200)
    grid = np.stack(np.meshgrid(t, t, indexing="ij"), axis=-1).reshape(-1, 2) @ root.T
    prior = np.exp(-0.5 * (t**2)[:, None] - 0.5 * (t**2)[None, :]).ravel() * (t[1] - t[0]) ** 2 / (2 * np.pi)
    names = [c.name for c in whole.continuous]
    for i, row in enumerate(frame.head(5).iter_rows(named=True)):
        w = model.patterns.w[np.flatnonzero(rows == i)[0]]
        x = grid + A[0] + (w @ A[1:] if len(w) else 0.0)
        values = {"a": np.full(len(x), float(row["a"])), **{n: x[:, j] for j, n in enumerate(names)}}
        eta = whole.columns.product(values, len(x)) @ b
        density = stats.norm.pdf(row["y"], eta, np.exp(-0.3))
        seen = [j for j, n in enumerate(names) if row[n] is not None]
        if seen:
            z = np.array([row[names[j]] for j in seen])
            order = [["x", "v"].index(names[j]) for j in seen]
            density = density * stats.multivariate_normal.pdf(x[:, seen] - z, cov=NOISE[np.ix_(order, order)])
        assert ours[i] == pytest.approx(np.log(density @ prior), abs=3e-5)


def _log_records(model, theta):
    return np.concatenate([block.log_l for block in model._blocks(theta)])
