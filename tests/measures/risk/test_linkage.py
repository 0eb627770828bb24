"""Linkage against its definition, written out with a distance matrix."""

from itertools import permutations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.spatial.distance import cdist

from sfumato.data.codebook import Codebook
from sfumato.data.pair import Pair
from sfumato.kernels.neighbours import assignment
from sfumato.measures.risk import linkage
from sfumato.measures.risk.linkage import findings, linkage_nearest, linkage_one_to_one, unprotected_linkage

RNG = np.random.default_rng(7)
X = RNG.standard_normal((300, 3)) * [1, 10, 100]
Z = X + 0.2 * RNG.standard_normal(X.shape) * X.std(axis=0)
STRATUM = RNG.integers(0, 4, len(X))


def by_definition(x, z, stratum=None):
    stratum = np.zeros(len(x)) if stratum is None else stratum
    sd = x.std(axis=0)
    d = cdist((x / sd)[:, sd > 0], (z / sd)[:, sd > 0]) if (sd > 0).any() else np.zeros((len(x), len(x)))
    d[stratum[:, None] != stratum[None, :]] = np.inf
    ring = d <= d.min(axis=1, keepdims=True) * (1 + 1e-9)
    return np.mean(np.diag(ring) / ring.sum(axis=1))


lattice = st.integers(2, 25).flatmap(
    lambda n: st.tuples(
        arrays(np.float64, (n, 2), elements=st.integers(0, 4).map(float)),
        arrays(np.float64, (n, 2), elements=st.integers(0, 4).map(float)),
        arrays(np.int64, n, elements=st.integers(0, 2)),
    )
)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning", "ignore:divide by zero:RuntimeWarning")
@given(lattice)
def test_nearest_equals_the_definition_with_many_ties(tables):
    x, z, stratum = tables
    assert linkage_nearest(x, z) == pytest.approx(by_definition(x, z), abs=1e-12)
    assert linkage_nearest(x, z, stratum) == pytest.approx(by_definition(x, z, stratum), abs=1e-12)


@pytest.mark.parametrize("columns", [[0], [0, 1, 2]])
def test_nearest_equals_the_definition(columns):
    x, z = X[:, columns], Z[:, columns]
    assert linkage_nearest(x, z) == pytest.approx(by_definition(x, z), abs=1e-12)
    assert linkage_nearest(x, z, STRATUM) == pytest.approx(by_definition(x, z, STRATUM), abs=1e-12)
    assert linkage_nearest(x, z, STRATUM - 9) == linkage_nearest(x, z, STRATUM)


def test_the_stratum_helps_the_intruder():
    assert 0.05 < linkage_nearest(X, Z) < linkage_nearest(X, Z, STRATUM) < 0.95


def test_far_from_zero():
    """Values near 1e9 with a spread of 1: distances are of differences, not of values."""
    assert linkage_nearest(X / [1, 10, 100] + 1e9, Z / [1, 10, 100] + 1e9) == pytest.approx(
        linkage_nearest(X, Z), abs=0.01
    )


def test_neither_table_is_moved_by_its_own_moments():
    """Unlike the boxes of risk1: a release shifted by much is not linked."""
    assert linkage_nearest(X, Z + 50 * X.std(axis=0)) < 0.05


def test_release_of_k_twins_links_one_in_k():
    x = np.repeat(np.arange(10.0), 4)[:, None] + np.tile([0.0, 0.1, 0.2, 0.3], 10)[:, None]
    z = np.repeat(np.arange(10.0), 4)[:, None] + 0.15
    assert linkage_nearest(x, z) == pytest.approx(0.25)


@pytest.mark.slow
def test_row_order_changes_nothing():
    x, z = np.round(X / [1, 10, 100], 1), np.round(Z / [1, 10, 100], 1)
    order = RNG.permutation(len(x))
    for stratum, shuffled in ((None, None), (STRATUM, STRATUM[order])):
        assert linkage_nearest(x[order], z[order], shuffled) == pytest.approx(linkage_nearest(x, z, stratum), rel=1e-9)
        a, b = linkage_one_to_one(x, z, stratum, most=100), linkage_one_to_one(x[order], z[order], shuffled, most=100)
        assert b.value == pytest.approx(a.value, rel=1e-9)


def test_baseline_is_the_release_of_the_original():
    x = np.round(X / [1, 10, 100], 0)
    assert unprotected_linkage(x) == pytest.approx(linkage_nearest(x, x), rel=1e-12)
    assert unprotected_linkage(x, STRATUM) == pytest.approx(linkage_nearest(x, x, STRATUM), rel=1e-12)
    assert unprotected_linkage(x) < unprotected_linkage(x, STRATUM) < 1


def test_records_with_a_missing_value_are_left_out():
    x, z = X.copy(), Z.copy()
    x[0, 1], z[7, 0] = np.nan, np.nan
    whole = ~np.isin(np.arange(len(X)), [0, 7])
    assert linkage_nearest(x, z, STRATUM) == linkage_nearest(X[whole], Z[whole], STRATUM[whole])
    assert linkage_one_to_one(x, z).value == linkage_one_to_one(X[whole], Z[whole]).value


@pytest.mark.parametrize("x", [np.empty((0, 2)), np.full((3, 2), np.nan)])
def test_nothing_to_measure(x):
    assert linkage_nearest(x, x) is None
    assert unprotected_linkage(x) is None
    assert linkage_one_to_one(x, x).value is None


@pytest.mark.parametrize("x", [np.ones((8, 2)), np.empty((8, 0))])
def test_who_knows_nothing_guesses(x):
    """No column tells anybody apart: one in the number of records, or in that of the stratum."""
    stratum = np.array([0, 0, 0, 0, 1, 1, 1, 1])
    assert linkage_nearest(x, x + 1) == pytest.approx(1 / 8)
    assert linkage_nearest(x, x + 1, stratum) == pytest.approx(1 / 4)
    assert linkage_one_to_one(x, x + 1).value == pytest.approx(1 / 8)


def test_one_record_is_always_linked():
    assert linkage_nearest(X[:1], Z[:1]) == 1.0
    assert linkage_one_to_one(X[:1], Z[:1]).value == 1.0


# One to one.


def every_assignment(x, z):
    """Right links in the best of all assignments, by trying each."""
    d = cdist(x / x.std(axis=0), z / x.std(axis=0))
    rows = np.arange(len(x))
    best = min(permutations(rows), key=lambda p: d[rows, p].sum())
    return np.mean(np.array(best) == rows)


@pytest.mark.parametrize("seed", range(6))
def test_one_to_one_equals_trying_all(seed):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((7, 2))
    z = x + rng.standard_normal((7, 2))
    assert linkage_one_to_one(x, z).value == pytest.approx(every_assignment(x, z))


def test_one_to_one_within_strata():
    found = linkage_one_to_one(X, Z, STRATUM)
    parts = [linkage_one_to_one(X[s == STRATUM], Z[s == STRATUM]).value * (s == STRATUM).sum() for s in range(4)]
    # the sds of the parts differ a little from that of all, which may turn a link or two
    assert found.value == pytest.approx(sum(parts) / len(X), abs=0.03)
    assert found.value > linkage_one_to_one(X, Z).value
    assert found.interval is None


def test_assigning_all_beats_taking_the_nearest():
    assert linkage_one_to_one(X, Z).value > linkage_nearest(X, Z)


def test_twins_share_what_is_assigned():
    """Two people alike and three alike; releases in one pair and one triple. Whoever is right is so by chance only."""
    x = np.array([[0.0], [0.0], [5.0], [5.0], [5.0]])
    z = np.array([[1.0], [1.0], [4.0], [4.0], [4.0]])
    assert linkage_one_to_one(x, z).value == pytest.approx((2 * 1 / 2 + 3 * 1 / 3) / 5)
    assert linkage_one_to_one(x, z).baseline == pytest.approx(2 / 5)


def test_people_alike_with_unlike_releases():
    """Releases 0.9 and 1.1 go to the two people at 0 in either order: each is right with 1/2."""
    x = np.array([[0.0], [0.0], [5.0]])
    assert linkage_one_to_one(x, np.array([[0.9], [1.1], [5.0]])).value == pytest.approx(2 / 3)
    assert linkage_one_to_one(x, np.array([[1.1], [0.9], [5.0]])).value == pytest.approx(2 / 3)


def large(n=1500):
    """X and Z more than once over, each time a little apart."""
    times = n // len(X) + 1
    rng = np.random.default_rng(4)
    return (np.tile(t, (times, 1))[:n] + rng.normal(0, 0.3 * X.std(axis=0), (n, 3)) for t in (X, Z))


@pytest.mark.slow
def test_a_large_table_has_an_interval():
    x, z = large()
    found = linkage_one_to_one(x, z)
    assert found.sampled
    assert found.interval[0] < found.value < found.interval[1]
    assert found.interval[1] - found.interval[0] < 2 * 1.96 * 0.5 / assignment.PEOPLE**0.5 + 0.01
    assert not linkage_one_to_one(x, z, most=1500).sampled


@pytest.mark.slow
def test_a_large_table_gives_what_the_whole_assignment_gives():
    """A random sample of 1,000 would leave people with two thirds of their competitors and find more."""
    x, z = large(2200)
    found, whole = linkage_one_to_one(x, z), linkage_one_to_one(x, z, most=2200)
    assert whole.interval is None
    assert found.interval[0] - 0.02 < whole.value < found.interval[1]
    assert found.baseline == whole.baseline


def test_strata_that_can_be_assigned_whole_are_whatever_the_size_of_the_table():
    x, z = large()
    stratum = np.arange(1500) % 3
    found = linkage_one_to_one(x, z, stratum)
    assert not found.sampled
    assert found.interval is None
    assert found.value == linkage_one_to_one(x, z, stratum, most=1500).value


def test_of_a_table_half_of_which_is_twins_about_half_has_an_interval_of_its_own():
    """All of 750 equal people share a release: 1/750 each. The others are looked for as others are."""
    x = np.random.default_rng(1).normal(size=(1500, 2))
    x[:750] = x[0]
    found = linkage_one_to_one(x, x)
    assert found.baseline == pytest.approx(751 / 1500)
    assert found.value == pytest.approx(0.5, abs=4 * 0.5 / assignment.PEOPLE**0.5)


# Findings.


def pair(**how):
    names = ["a", "b", "c"]
    before = pl.DataFrame(X, schema=names, orient="row").with_columns(s=pl.Series(STRATUM))
    after = pl.DataFrame(Z, schema=names, orient="row").with_columns(s=pl.Series(STRATUM))
    return Pair(before, after, Codebook(), tuple(names), **how)


def test_findings_without_strata():
    found = findings(pair(aligned=True))
    assert [(f.measure, f.group, f.attack) for f in found] == [
        ("linkage_nearest", "overall", "nearest"),
        ("linkage_one_to_one", "overall", "one-to-one"),
    ]
    assert found[0].value == linkage_nearest(X, Z)
    assert found[1].value == linkage_one_to_one(X, Z).value
    assert [f.baseline for f in found] == [1.0, 1.0]
    assert found.notes == ()


def test_findings_with_strata_and_unscaled_centroids():
    found = findings(pair(by=("s",), aligned=True), unscaled=0.9 * Z, most=100)  # 75 in a stratum
    assert [(f.measure, f.group) for f in found] == [
        ("linkage_nearest", "overall"),
        ("linkage_nearest", "stratum"),
        ("linkage_nearest", "unscaled"),
        ("linkage_one_to_one", "overall"),
        ("linkage_one_to_one", "stratum"),
    ]
    values = {(f.measure, f.group): f.value for f in found}
    assert values["linkage_nearest", "stratum"] == linkage_nearest(X, Z, STRATUM)
    assert values["linkage_nearest", "unscaled"] == linkage_nearest(X, 0.9 * Z, STRATUM)
    assert values["linkage_one_to_one", "stratum"] == linkage_one_to_one(X, Z, STRATUM).value
    assert found.notes == (linkage.SAMPLED,)


def test_findings_without_strata_and_with_unscaled_centroids():
    found = findings(pair(aligned=True), unscaled=0.9 * Z)
    assert found.of("linkage_nearest", group="unscaled").value == linkage_nearest(X, 0.9 * Z)


def test_findings_where_there_is_nothing_to_measure():
    assert not len(findings(pair()))
    assert findings(pair()).notes == (linkage.NOT_ALIGNED,)
    empty = pl.DataFrame({"a": pl.Series([], dtype=pl.Float64)})
    found = findings(Pair(empty, empty, Codebook(), ("a",), aligned=True))
    assert {f.value for f in found} == {None}
    assert found.notes == (linkage.NO_RECORD,)
    missing = pl.DataFrame({"a": [None, 1.0, 2.0]})
    assert linkage.INCOMPLETE in findings(Pair(missing, missing, Codebook(), ("a",), aligned=True)).notes


def computed_elsewhere(values, seed):
    """The same values with other last bits, equal ones alike."""
    each, where = np.unique(values, return_inverse=True)
    moved = each * (1 + np.random.default_rng(seed).integers(-2, 3, each.shape) * 1.5e-16)
    return moved[where].reshape(values.shape)


LAST_BITS = (
    "tests/measures/risk/test_linkage.py::test_the_last_bits_choose_neither_among_equally_good_assignments_nor_a_sample"
)


@pytest.mark.parametrize(
    ("seed", "n", "most"),
    [
        *((1, 150, 150), (2, 150, 150), (3, 150, 150), (1, 500, 250)),
        *(pytest.param(seed, 500, 250, marks=pytest.mark.slow) for seed in (2, 3)),
        pytest.param(1, 1500, 1000, marks=pytest.mark.slow),
        *(pytest.param(seed, 1500, 1000, marks=pytest.mark.nightly(of=f"{LAST_BITS}[1-1500-1000]")) for seed in (2, 3)),
    ],
)
def test_the_last_bits_choose_neither_among_equally_good_assignments_nor_a_sample(n, most, seed, monkeypatch):
    """Of whole numbers very many assignments are equally good; of 500 people a fifth are looked for."""
    if n == 500:
        monkeypatch.setattr(assignment, "PEOPLE", 100)
    rng = np.random.default_rng(8)
    x = rng.integers(0, 12, (n, 2)).astype(float)
    z = (x + rng.integers(-3, 4, (n, 2))) / 7
    again, plain = (linkage_one_to_one(x, values, most=most) for values in (computed_elsewhere(z, seed), z))
    assert plain.sampled == (n > most)
    assert again.value == pytest.approx(plain.value, abs=1e-12)
