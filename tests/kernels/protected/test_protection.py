"""What protects, in every kind of fit: noise of the size that is told, and records that cannot move estimates far."""

import numpy as np
import pytest

from sfumato.errors import DataError
from sfumato.kernels.protected.fit import draws_of, fit
from tests.kernels.protected.designs import KINDS, records, subsample

SMOOTH = [kind for kind in KINDS if kind != "quantile"]
WILD = 1e7


def arguments(kind, n, seed):
    rng = np.random.default_rng(seed)
    given, _ = records(kind, n, rng)
    return given, subsample(given, rng), draws_of(kind, given["X"].shape[1])


@pytest.mark.parametrize("kind", SMOOTH)
@pytest.mark.parametrize("tau", [1.0, 2.0])
def test_noise_adds_the_variance_that_is_told(kind, tau):
    """Each direction of noise moves the estimates by one column of a root of the added covariance."""
    given, keep, size = arguments(kind, 700, 1)
    moved = []
    for direction in np.eye(size):
        up, down = (fit(kind, **given, keep=keep, noise=s * direction, tau=tau).estimate for s in (1, -1))
        moved.append((up - down) / 2)
    told = fit(kind, **given, keep=keep, noise=np.zeros(size), tau=tau).se_added
    np.testing.assert_allclose(np.sqrt(np.square(moved).sum(axis=0)), told, rtol=0.1)


@pytest.mark.parametrize("tau", [1.0, 2.0])
def test_noise_of_a_quantile_moves_its_rank(tau):
    """Ranks are normal with standard deviation τ / 2; one rank is 1 / 1,500 of this range."""
    y, rng = np.linspace(0, 1, 1500), np.random.default_rng(1)
    found = [
        fit("quantile", np.ones((1500, 1)), y, keep=np.ones(1500, dtype=bool), noise=rng.normal(size=1), tau=tau)
        for _ in range(800)
    ]
    spread = np.std([f.estimate[0] for f in found])
    assert spread == pytest.approx(tau / 2 / 1500, rel=0.2)  # ranks are whole numbers: that adds to so small a spread
    assert np.mean([f.se_added[0] for f in found]) == pytest.approx(tau / 2 / 1500, rel=0.1)


def with_one_more(kind, given, keep, change):
    """The same with one more unit, a copy of the first but for what is changed."""
    first = given["cluster"] == 0 if kind == "mixed" else np.arange(len(given["y"])) == 0
    more = {name: values[first].copy() for name, values in given.items()}
    if kind == "mixed":
        more["cluster"][:] = given["cluster"].max() + 1
    change(more)
    joined = {name: np.concatenate([given[name], more[name]]) for name in given}
    return joined, np.append(keep, np.ones(len(more["y"]), dtype=bool))


def wild_response(kind, more):
    more["y"][:] = {"logistic": 1.0, "probit": 1.0}.get(kind, WILD)
    if kind == "cox":
        more["event"][:] = False


def wild_design(kind, more):
    more["X"][:, -1] = WILD


def far_inside(kind, more):
    """As far as numbers may lie, where the response contradicts them."""
    more["X"][:, -1] = 1.0 if kind in ("mean", "t") else 6.0
    more["y"][:] = {"logistic": 0.0, "probit": 0.0, "poisson": 40.0, "cox": 30.0}.get(kind, -2.0)
    if kind == "cox":
        more["event"][:] = False


@pytest.mark.parametrize("kind", SMOOTH)
@pytest.mark.parametrize("change", [wild_response, wild_design, far_inside])
def test_one_unit_moves_no_estimate_by_more_than_its_bound(kind, change):
    """One standard deviation of noise at τ = 1; a fifth more for what it changes of scales and slopes.

    The variance of its score is at most that of the noise too, and scales move a little with it.
    """
    if change is wild_design and kind in ("mean", "t"):
        pytest.skip("there is no number in the design")
    given, keep, size = arguments(kind, 900, 2)
    without = fit(kind, **given, keep=keep, noise=np.zeros(size), tau=1.0)
    joined, held = with_one_more(kind, given, keep, lambda more: change(kind, more))
    found = fit(kind, **joined, keep=held, noise=np.zeros(size), tau=1.0)
    assert np.all(np.abs(found.estimate - without.estimate) <= 1.2 * without.se_added)
    assert np.all(np.abs(found.se**2 - without.se**2) <= 1.2 * without.se_added**2 + 0.05 * without.se**2)
    np.testing.assert_allclose(found.se_added, without.se_added, rtol=0.1)


def test_one_record_moves_a_quantile_by_one_place():
    y = np.arange(1000.0)
    keep, other = np.ones(1000, dtype=bool), y.copy()
    other[3] = WILD
    one, two = (fit("quantile", y[:, None], z, keep=keep, noise=np.zeros(1), tau=1.0) for z in (y, other))
    assert abs(one.estimate[0] - two.estimate[0]) <= 1


@pytest.mark.parametrize("kind", KINDS)
def test_records_outside_the_subsample_change_nothing(kind):
    given, keep, size = arguments(kind, 400, 3)
    one = fit(kind, **given, keep=keep, noise=np.ones(size) / 2)
    changed = {name: values.copy() for name, values in given.items()}
    changed["y"][~keep] = 1 - changed["y"][~keep] if kind in ("logistic", "probit") else 7.0
    two = fit(kind, **changed, keep=keep, noise=np.ones(size) / 2)
    assert one.estimate.tolist() == two.estimate.tolist()
    assert one.se.tolist() == two.se.tolist()
    assert one.tau == two.tau


def test_a_subsample_holds_whole_clusters():
    given, keep, size = arguments("mixed", 50, 4)
    keep = keep.copy()
    keep[np.argmax(np.bincount(given["cluster"])[given["cluster"]])] ^= True
    with pytest.raises(DataError, match="whole clusters"):
        fit("mixed", **given, keep=keep, noise=np.zeros(size))
