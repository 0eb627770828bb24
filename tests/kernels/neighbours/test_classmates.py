"""The nearest record of a person's class, against a search that compares everybody with everybody."""

import numpy as np
import pytest

from sfumato.kernels.neighbours.classmates import Known, chosen, own_shares


def people(seed, n=80, classes=5, gaps=0.1, step=0.5):
    rng = np.random.default_rng(seed)
    x = np.round(rng.normal(size=(n, 2)) / step) * step
    z = np.round((x + rng.normal(scale=0.4, size=x.shape)) / step) * step  # on a grid, so that distances tie
    a = rng.integers(0, 3, (n, 2))
    b = np.where(rng.random(a.shape) < 0.7, a, rng.integers(0, 3, a.shape))
    x[rng.random(x.shape) < gaps], z[rng.random(z.shape) < gaps] = np.nan, np.nan
    b[rng.random(b.shape) < gaps] = -1
    return Known(x, z, a, b, rng.integers(0, classes, n))


def distance(known, i, j, *, capped):
    """As the words of `own_shares` say it, one pair at a time."""
    told = 0.0
    for true, released in zip(known.a[i], known.b[j], strict=True):
        if true != released:
            told += 0.5 if capped and -1 in (true, released) else 1.0
    for true, released in zip(known.x[i], known.z[j], strict=True):
        if np.isnan(true) != np.isnan(released):
            told += 0.5 if capped else 1.0
        elif not np.isnan(true):
            told += min(abs(true - released), 3) / 3 if capped else (true - released) ** 2
    return told


@pytest.mark.parametrize("capped", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_it_finds_what_comparing_everybody_finds(seed, capped):
    known = people(seed)
    n = len(known.label)
    expected = []
    for i in range(n):
        of_class = [j for j in range(n) if known.label[j] == known.label[i]]
        told = {j: distance(known, i, j, capped=capped) for j in of_class}
        ties = [j for j in of_class if abs(told[j] - told[i]) <= 1e-9]
        expected.append(0.0 if min(told.values()) < told[i] - 1e-9 else 1 / len(ties))
    assert own_shares(known, np.arange(n), capped=capped) == pytest.approx(expected)
    assert own_shares(known, np.array([7, 3]), capped=capped) == pytest.approx([expected[7], expected[3]])


def test_who_is_looked_for_hangs_on_values_and_not_on_rows():
    known = people(4)
    order = np.random.default_rng(1).permutation(len(known.label))
    shuffled = Known(known.x[order], known.z[order], known.a[order], known.b[order], known.label[order])
    some, same = chosen(known, most=500), chosen(shuffled, most=500)
    assert 0 < len(some) < len(known.label)
    assert sorted(some.tolist()) == sorted(order[same].tolist())
