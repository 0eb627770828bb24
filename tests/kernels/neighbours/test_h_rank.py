from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from sfumato.errors import DataError
from sfumato.kernels.neighbours.h_rank import hidden_ranks, isolation

TIE = 1e-9


def squares(a, b):
    """Squared distances of all rows of `a` from all rows of `b`."""
    return np.square(a[:, None, :] - b[None, :, :]).sum(axis=2)


def distributions(released, truth, search=None, targets=None):
    """P(h = 0 … n − 1) for each target, by going through every choice the attacker might make; shape (m, n)."""
    n = len(truth)
    targets = np.arange(n) if targets is None else np.asarray(targets)
    search = truth[targets] if search is None else search
    to_released, to_truth = squares(search, released), squares(truth[targets], truth)
    out = np.zeros((len(targets), n))
    for k, i in enumerate(targets):
        tied = np.flatnonzero(to_released[k] <= to_released[k].min() * (1 + TIE))
        for j in tied:
            d = to_truth[k, j]
            if j == i:
                values = [0]
            elif d == 0:
                values = range(1, int((to_truth[k] == 0).sum()))
            else:
                closer = int((to_truth[k] < d * (1 - TIE)).sum())
                as_far = int((np.abs(to_truth[k] - d) <= d * TIE).sum())
                values = range(closer, closer + as_far)
            out[k, list(values)] += 1 / len(tied) / len(values)
    return out


def equal(found, expected, rel=0.0, abs=0.0, what=""):
    """As `pytest.approx` has it, many times as fast where there are very many numbers."""
    assert np.shape(found) == np.shape(expected)
    far = ~(np.abs(found - expected) <= np.maximum(rel * np.abs(expected), abs))
    assert not far.any(), (what, np.flatnonzero(far), np.asarray(found)[far], np.asarray(expected)[far])


def agree(found, expected, cap=None):
    """P(h ≤ t) for every t up to the cap, and the expectation."""
    n = expected.shape[1]
    below = expected.cumsum(axis=1)
    for t in range(n if cap is None else min(cap + 1, n)):
        equal(found.probability(t), below[:, t], abs=1e-12, what=f"P(h <= {t})")
    values = np.arange(n) if cap is None else np.minimum(np.arange(n), cap + 1)
    equal(found.h, expected @ values, rel=1e-12, abs=1e-12)


def noisy(n, p, share, seed=5):
    rng = np.random.default_rng(seed)
    truth = rng.normal(size=(n, p)) + 0.6 * rng.normal(size=(n, 1))
    return truth + rng.normal(size=(n, p)) * np.sqrt(share) * truth.std(axis=0), truth


def cases():
    rng = np.random.default_rng(6)
    for p in (1, 3, 5, 10):
        yield f"normal, {p} columns", *noisy(180, p, 0.3)
    whole = rng.integers(0, 4, (150, 2)).astype(float)
    yield "integers, integer noise", whole + rng.integers(-1, 2, whole.shape), whole
    yield "integers, released as normal", whole + rng.normal(size=whole.shape), whole
    binary = rng.integers(0, 2, (160, 3)).astype(float)
    yield "0/1, clipped", np.clip(binary + 0.5 * rng.normal(size=binary.shape), 0, 1), binary
    yield "0/1, some changed", np.where(rng.random(binary.shape) < 0.2, 1 - binary, binary), binary
    some = rng.normal(size=(140, 2))
    yield "normal, released rounded", np.round(some), some
    yield "normal, released as one point", np.zeros((90, 2)), some[:90]
    yield "normal, released as two points", np.sign(some[:, :1]) * np.ones((1, 2)), some
    twice = np.repeat(some[:50], rng.integers(1, 5, 50), axis=0)
    yield "twins, noise for each", twice + 0.2 * rng.normal(size=twice.shape), twice
    yield "twins, left as they are", twice, twice
    yield "thirds", np.round(some * 3) / 3, np.round(some * 3 + rng.normal(size=some.shape)) / 3
    yield "all equal", np.ones((20, 1)), np.ones((20, 1))
    yield "two", np.array([[0.0], [1.0]]), np.array([[1.0], [0.0]])
    yield "far off", 1e9 + np.round(4 * some), 1e9 + np.round(4 * some[::-1])


CASES = {name: (released, truth) for name, released, truth in cases()}


@cache
def expected(name):
    return distributions(*CASES[name])


@pytest.mark.parametrize("cap", [None, 0, 1, 5, 40, 10**9])
@pytest.mark.parametrize("name", CASES)
def test_the_distribution_equals_the_full_matrices(name, cap):
    released, truth = CASES[name]
    agree(hidden_ranks(released, truth, cap=cap), expected(name), cap)


@pytest.mark.slow
@given(
    st.integers(1, 3).flatmap(
        lambda p: st.integers(1, 30).flatmap(
            lambda n: st.tuples(*[arrays(np.float64, (n, p), elements=st.integers(0, 2).map(float))] * 2)
        )
    ),
    st.sampled_from([None, 0, 2, 7]),
)
def test_small_lattices_equal_the_full_matrices(tables, cap):
    agree(hidden_ranks(*tables, cap=cap), distributions(*tables), cap)


@pytest.mark.parametrize("cap", [None, 3])
@pytest.mark.parametrize("name", ["normal, 3 columns", "0/1, clipped", "integers, integer noise", "far off"])
def test_the_attacker_may_search_with_anything(name, cap):
    """Fewer columns than h is counted in, imprecise values, the same values for all; each for some targets only."""
    released, truth = CASES[name]
    rng = np.random.default_rng(7)
    targets = rng.integers(0, len(truth), 60)  # some twice
    for search in (
        truth[targets] + rng.integers(-1, 2, (60, truth.shape[1])),
        np.round(truth[targets]),
        np.tile(truth[:1], (60, 1)),
    ):
        found = hidden_ranks(released, truth, search=search, targets=targets, cap=cap)
        agree(found, distributions(released, truth, search, targets), cap)
    few = released[:, :1], truth, truth[targets, :1], targets
    agree(hidden_ranks(*few[:2], search=few[2], targets=targets, cap=cap), distributions(*few), cap)


def test_a_subset_of_targets_is_that_part_of_the_whole():
    for released, truth in CASES.values():
        targets = np.arange(len(truth))[::-2]
        whole, part = hidden_ranks(released, truth), hidden_ranks(released, truth, targets=targets)
        assert np.array_equal(part.h, whole.h[targets])
        assert np.array_equal(part.probability(2), whole.probability(2)[targets])


@pytest.mark.parametrize("name", CASES)
def test_a_cap_changes_no_probability_up_to_it(name):
    released, truth = CASES[name]
    whole = hidden_ranks(released, truth)
    for cap in (0, 2, 30):
        capped = hidden_ranks(released, truth, cap=cap)
        for t in (-1, 0, 0.5, 1, 2, 17, 30):
            if t <= cap:
                assert np.array_equal(capped.probability(t), whole.probability(t))
        assert (capped.h <= cap + 1).all()
        assert (capped.h <= whole.h * (1 + 1e-12)).all()


@pytest.mark.parametrize("ties", ["expected", "keyed"])
@pytest.mark.parametrize("name", CASES)
def test_row_order_changes_nothing(name, ties):
    released, truth = CASES[name]
    rng = np.random.default_rng(8)
    lot, turn = rng.integers(0, 2**64, len(truth), dtype=np.uint64), rng.permutation(len(truth))
    first = hidden_ranks(released, truth, ties=ties, lot=lot)
    second = hidden_ranks(released[turn], truth[turn], ties=ties, lot=lot[turn])
    assert np.array_equal(first.h[turn], second.h)
    assert np.array_equal(first.probability(1)[turn], second.probability(1))


@pytest.mark.parametrize("ties", ["expected", "keyed"])
@pytest.mark.parametrize("name", ["normal, 3 columns", "normal, released rounded", "0/1, clipped"])
def test_threads_change_nothing(name, ties):
    released, truth = CASES[name]
    lot = np.random.default_rng(9).integers(0, 2**64, len(truth), dtype=np.uint64)
    one, three = (hidden_ranks(released, truth, ties=ties, lot=lot, threads=k, cap=20) for k in (1, 3))
    assert np.array_equal(one.h, three.h)
    assert np.array_equal(one.probability(20), three.probability(20))


@pytest.mark.parametrize("cap", [None, 3])
@pytest.mark.parametrize("name", CASES)
def test_a_keyed_choice_is_one_that_the_attacker_might_make(name, cap):
    released, truth = CASES[name]
    chances = expected(name)
    lot = np.random.default_rng(10).integers(0, 2**64, len(truth), dtype=np.uint64)
    found = hidden_ranks(released, truth, ties="keyed", lot=lot, cap=cap)
    h = found.h.astype(int)
    assert np.array_equal(h, found.h)
    top = len(truth) if cap is None else cap + 1
    assert h.max() <= top
    told = np.flatnonzero(h < top)
    assert (chances[told, h[told]] > 0).all()
    if cap is not None:
        assert (chances[h == top][:, top:].sum(axis=1) > 0).all()
    assert np.array_equal(found.probability(2), (h <= 2).astype(float))


@pytest.mark.parametrize("name", ["0/1, clipped", "integers, integer noise", "all equal", "normal, released rounded"])
def test_keyed_choices_are_made_with_the_probabilities_of_the_expectation(name):
    """Over 100 keys, the number of each target's h ≤ t is binomial: all within 5 standard deviations."""
    released, truth = CASES[name]
    below = expected(name).cumsum(axis=1).clip(0, 1)
    rng = np.random.default_rng(11)
    times, counts = 100, np.zeros_like(below)
    for _ in range(times):
        lot = rng.integers(0, 2**64, len(truth), dtype=np.uint64)
        h = hidden_ranks(released, truth, ties="keyed", lot=lot).h
        counts += h[:, None] <= np.arange(below.shape[1])
    spread = np.sqrt(times * below * (1 - below)) + 1e-6
    assert (np.abs(counts - times * below) <= 5 * spread + 1).all()


def test_lots_that_follow_each_other_choose_independently():
    """Two records released as one point: each is taken by half of the targets, whatever pattern the lots have."""
    released, truth = np.zeros((4000, 1)), np.zeros((4000, 1))
    h = hidden_ranks(released, truth, ties="keyed", lot=np.arange(4000, dtype=np.uint64)).h
    assert h.mean() == pytest.approx(1999.5, abs=5 * 1154.7 / np.sqrt(4000))  # uniform on 0 … 3999, 5 SE
    assert abs(np.corrcoef(h[1:], h[:-1])[0, 1]) < 5 / np.sqrt(4000)


def test_categorical_data_in_bulk():
    """16 patterns, 10^5 records, left as they are: h is uniform on 0 … c − 1 for the c records of a pattern."""
    truth = np.random.default_rng(12).integers(0, 2, (100_000, 4)).astype(float)
    _, pattern, size = np.unique(truth, axis=0, return_inverse=True, return_counts=True)
    found = hidden_ranks(truth, truth)
    c = size[pattern.ravel()]
    equal(found.h, (c - 1) / 2, rel=1e-12)
    equal(found.probability(9), 10 / c, rel=1e-12)


@pytest.mark.slow
def test_one_point_for_all_records_is_no_trouble_with_a_cap():
    """Whoever sees one released point takes any record: h is uniform on 0 … n − 1."""
    truth = np.random.default_rng(13).normal(size=(20_000, 3))
    found = hidden_ranks(np.zeros((20_000, 3)), truth, cap=50)
    assert found.probability(50) == pytest.approx(51 / 20_000, rel=1e-12)
    assert len(found.component) == 2 * 20_000  # up to the cap, and above


def test_no_columns_and_few_rows():
    assert hidden_ranks(np.zeros((5, 0)), np.zeros((5, 0))).h.tolist() == [2.0] * 5
    assert hidden_ranks(np.zeros((5, 0)), np.zeros((5, 2)), search=np.zeros((2, 0)), targets=[1, 3]).h.tolist() == [
        2,
        2,
    ]
    one = hidden_ranks([[3.0]], [[7.0]])
    assert (one.h.tolist(), one.probability(0).tolist()) == ([0.0], [1.0])
    for p in (0, 2):
        none = hidden_ranks(np.zeros((0, p)), np.zeros((0, p)), cap=1)
        assert (none.h.shape, none.probability(1).shape) == ((0,), (0,))
    assert hidden_ranks([[3.0]], [[7.0]], targets=np.zeros(0, dtype=int)).h.shape == (0,)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"released": np.zeros((3, 2))}, "one released record for each"),
        ({"released": np.zeros(4)}, "two dimensions"),
        ({"released": np.zeros((4, 1))}, "as many columns"),
        ({"search": np.zeros((3, 2))}, "one search row for each"),
        ({"targets": [0, 4]}, "counted from 0"),
        ({"targets": [-1]}, "counted from 0"),
        ({"targets": [0.5]}, "row numbers"),
        ({"truth": np.full((4, 2), np.nan)}, "true records must be finite"),
        ({"search": np.full((4, 2), np.inf)}, "search rows must be finite"),
        ({"cap": -1}, "cap"),
        ({"ties": "keyed"}, "lot"),
        ({"ties": "keyed", "lot": np.zeros(3, dtype=np.uint64)}, "lot"),
        ({"threads": 0}, "threads"),
    ],
)
def test_what_does_not_fit_is_refused(given, message):
    with pytest.raises(DataError, match=message):
        hidden_ranks(**({"released": np.zeros((4, 2)), "truth": np.zeros((4, 2))} | given))


def test_nothing_is_said_above_the_cap():
    found = hidden_ranks([[1.0], [2.0]], [[1.0], [2.0]], cap=1)
    for t in (1.5, 2, np.nan):
        with pytest.raises(DataError, match="cap"):
            found.probability(t)


@pytest.mark.parametrize("name", CASES)
def test_isolation_equals_the_full_matrix(name):
    _, truth = CASES[name]
    d = squares(truth, truth)
    np.fill_diagonal(d, np.inf)
    assert isolation(truth) == pytest.approx(np.sqrt(d.min(axis=1)), rel=1e-12)


def test_isolation_of_few():
    assert isolation(np.zeros((0, 2))).shape == (0,)
    assert isolation([[1.0, 2.0]]).tolist() == [np.inf]
    assert isolation(np.zeros((3, 0))).tolist() == [0.0] * 3
