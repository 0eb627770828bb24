"""Maximal safe releases against the auditor, who goes through all; see also `tests/golden/test_gate.py`."""

from itertools import combinations

import numpy as np
import polars as pl
import pytest

import sfumato as sf
from sfumato.errors import DataError
from sfumato.gate.maximal import maximal
from tests.gate.auditor import Joint, Told, World
from tests.late import late

pd = late("pandas")


def table(seed, names="ABC"):
    rng = np.random.default_rng(seed)
    cells = np.indices([2] * len(names)).reshape(len(names), -1)
    return pd.DataFrame({name: cells[i].astype(str) for i, name in enumerate(names)}).assign(
        n=rng.poisson(9, 2 ** len(names))
    )


def told_by(release):
    """All tables that a release gives, as a set."""
    return {frozenset(part) for one in release for k in range(len(one) + 1) for part in combinations(one, k)}


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("never", [False, True])
def test_all_hierarchical_releases_of_three_variables(seed, never):
    frame = table(seed)
    rule = ({"A": "0", "B": "0"},) if never else ()
    if never:
        frame.loc[(frame["A"] == "0") & (frame["B"] == "0"), "n"] = 0
    world = World({"v1": frame}, "n", {}, rule)
    tables = [own for k in range(4) for own in combinations("ABC", k)]
    releases = {}
    for many in range(1, 4):
        for own in combinations(tables, many):
            if not any(set(a) <= set(b) or set(b) <= set(a) for a, b in combinations(own, 2)):
                joint = Joint(world, [Told(tuple((v, None) for v in one)) for one in own])
                releases[own] = joint.interval_holds(3, 6)
    assert len(releases) == 19
    safe = [told_by(own) for own, holds in releases.items() if holds]
    largest = [one for one in safe if not any(one < other for other in safe)]
    found = maximal(sf.read(pl.from_pandas(frame)), (3, 6), kind="hierarchical", count="n", never=rule)
    assert (found.looked, found.safe, found.exhaustive) == (19, len(safe), True)
    assert sorted(map(sorted, map(told_by, found.releases)), key=str) == sorted(map(sorted, largest), key=str)
    for name, many in found.contained.items():
        assert many == sum(frozenset(name.split(",")) in one for one in largest)


def test_releases_that_were_searched_are_safe_and_none_can_take_an_edge_more():
    rng = np.random.default_rng(5)
    frame = pl.DataFrame({f"v{i}": rng.integers(0, 3, 400).astype(str) for i in range(7)})
    found = maximal(sf.read(frame), (4, 10), restarts=4)
    again = maximal(sf.read(frame.sample(fraction=1, shuffle=True, seed=1)), (4, 10), restarts=4)
    assert not found.exhaustive
    assert found.releases == again.releases
    assert 1 <= len(found.releases) <= 4
    for release in found.releases:
        *known, ask = [",".join(one) for one in release]
        assert sf.gate.decide(sf.read(frame), known=known, ask=ask, interval=(4, 10)).granted


def test_too_many_variables_or_none():
    frame = pl.DataFrame({name: ["1", "2"] * 20 for name in "ABCDEF"})
    with pytest.raises(DataError, match="5 variables"):
        maximal(sf.read(frame), (1, 2), kind="hierarchical")
    with pytest.raises(DataError, match="no variable"):
        maximal(sf.read(pl.DataFrame({"n": [1, 2]})), (1, 2), count="n")
    with pytest.raises(DataError, match="attribution"):
        maximal(sf.read(frame), attribution={"Q": "any"})
