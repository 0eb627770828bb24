"""What several copies tell together."""

import numpy as np
import polars as pl
import pytest

from sfumato.data.codebook import Codebook, Variable
from sfumato.data.finding import Finding, Findings
from sfumato.measures.intruding import Intruding, Knowledge
from sfumato.measures.known import Known
from sfumato.measures.risk.scenarios.copies import by_all_copies, nearest_of_all

BOOK = Codebook({"x": Variable(kind="continuous"), "g": Variable(kind="categorical")})


def drawn(m=3, n=40, seed=1):
    """Numbers off by noise, categories drawn anew for a third."""
    rng = np.random.default_rng(seed)
    people = pl.DataFrame({"x": rng.normal(size=n), "g": rng.choice(list("abc"), n)})
    copies = []
    for _ in range(m):
        other = np.where(rng.random(n) < 1 / 3, rng.choice(list("abc"), n), people["g"].to_numpy())
        table = pl.DataFrame({"x": people["x"] + pl.Series(rng.normal(0, 0.4, n)), "g": other.astype(str)})
        copies.append(Known(people, table, BOOK, ("x", "g")))
    return copies


@pytest.mark.parametrize("seed", range(5))
def test_the_nearest_in_the_mean_of_all_copies(seed):
    """Against the whole matrix of mean distances: Gower, ties shared."""
    copies = drawn(seed=seed)
    people = copies[0].people
    x, g = people["x"].to_numpy(), people["g"].to_numpy()
    far = np.zeros((40, 40))
    for copy in copies:
        far += np.abs(x[:, None] - copy.released["x"].to_numpy()[None]) / np.ptp(x)
        far += g[:, None] != copy.released["g"].to_numpy()[None]
    best = far <= far.min(axis=1, keepdims=True) + 1e-9
    wanted = (np.diag(best) / best.sum(axis=1)).mean()
    found = nearest_of_all(copies, ["x", "g"])
    assert found["value"] == pytest.approx(wanted, abs=1e-12)
    assert found["interval"][0] < wanted < found["interval"][1]
    assert found["baseline"] == 1.0


def test_only_the_one_line_changes():
    line = Finding("match_correct", group="nearest", attack="neighbour", value=0.1)
    other = Finding("match_correct", group="fellegi_sunter", attack="neighbour", value=0.2)
    means, copies = Findings((other, line), ("a note",)), drawn()
    found = by_all_copies(means, copies, Intruding(), "category")
    assert found[0] == other
    assert found[1].value == nearest_of_all(copies, ("x", "g"))["value"]
    assert found.notes == ("a note",)
    assert by_all_copies(means, copies[:1], Intruding(), "category") is means
    erring = Intruding(knows={"neighbour": Knowledge(error={"x": 1.0})})
    assert by_all_copies(means, copies, erring, "category") is means
