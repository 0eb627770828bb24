"""What linkers find, against whole matrices of pairs."""

import numpy as np
import polars as pl
import pytest

from sfumato.data.codebook import Codebook, Variable
from sfumato.measures.known import Known
from sfumato.measures.risk.linkers import linkers as module
from sfumato.measures.risk.linkers.coding import coded
from sfumato.measures.risk.linkers.linkers import LINKERS, chosen, link, scorings
from tests.kernels.linkers import plainly

BOOK = Codebook({"a": Variable(kind="categorical"), "b": Variable(kind="categorical"), "x": Variable(kind="integer")})
KEYS = ("a", "b", "x")


def table(n, seed):
    rng = np.random.default_rng(seed)
    return pl.DataFrame({"a": rng.integers(0, 5, n), "b": rng.integers(0, 4, n), "x": rng.integers(20, 60, n)})


def released(people, seed):
    rng = np.random.default_rng(seed)
    noisy = people.with_columns(x=pl.col("x") + pl.Series(rng.integers(-3, 4, people.height)))
    a = np.where(rng.random(people.height) < 0.2, rng.integers(0, 5, people.height), people["a"])
    return noisy.with_columns(a=pl.Series(a))


PEOPLE, OTHERS = table(60, 1), table(40, 2)
RELEASED = released(PEOPLE, 3)
FIELD = coded(Known(PEOPLE, RELEASED, BOOK, KEYS, control=OTHERS), KEYS)


def arrays(frame):
    return frame.select("a", "b").to_numpy().T.astype(np.int32), frame.select("x").to_numpy().T.astype(float)


def scores(name):
    """Scores of all pairs by the definition."""
    known, there = arrays(pl.concat([PEOPLE, OTHERS])), arrays(RELEASED)
    sd = [np.std(PEOPLE["x"].to_numpy())]
    if name == "nearest":
        return -plainly.gower(known, there, [np.ptp(PEOPLE["x"].to_numpy())], False)
    level = plainly.levels(known, there, sd, False)
    m, u = plainly.learn(level, [2, 2, 3], 1 / 100, 0.01 * 60)
    if name == "fellegi_sunter_best":
        own = np.arange(60)
        m = [
            np.maximum(np.bincount(x[own, own], minlength=w) / 60, 1e-9) for x, w in zip(level, [2, 2, 3], strict=True)
        ]
    return plainly.weights(known, there, level, m, u, (5, 4))


@pytest.mark.parametrize("name", LINKERS)
def test_each_linker_finds_what_its_definition_says(name):
    rows = np.arange(100)
    found = link(FIELD, rows, scorings(FIELD, rows), 0.6)[name]
    score = scores(name)
    best = score.max(axis=1)
    ring = score >= best[:, None] - 1e-6
    right = np.where(rows < 60, np.diag(np.pad(ring, ((0, 0), (0, 40)))), 0) / ring.sum(axis=1)
    assert found.right == pytest.approx(right, abs=1e-9)
    assert (found.alone == (ring.sum(axis=1) == 1)).all()
    if name != "nearest":
        w = 2.0**score
        posterior = 2.0**best / (w.sum(axis=1) + 60 * (1 - 0.6) / 0.6)
        assert 2.0**found.certain == pytest.approx(posterior, abs=1e-5)


def test_fewer_people_are_a_public_choice_by_id_and_not_by_place(monkeypatch):
    monkeypatch.setattr(module, "FEWEST", 10)
    people = table(500, 4).with_columns(id=pl.int_range(500))
    mixed = people.sample(fraction=1, shuffle=True, seed=6)
    one, two = (coded(Known(t, t, BOOK, KEYS, record="id"), KEYS) for t in (people, mixed))
    rows, others = chosen(one, 3000), chosen(two, 3000)
    assert 10 <= len(rows) < 500
    assert set(people["id"].gather(rows)) == set(mixed["id"].gather(others))
    assert len(chosen(one, 10**9)) == 500


def test_a_sample_finds_about_what_all_find(monkeypatch):
    monkeypatch.setattr(module, "FEWEST", 10)
    people = table(2000, 7)
    field = coded(Known(people, released(people, 8), BOOK, (*KEYS,)), KEYS)
    whole, part = np.arange(2000), chosen(field, 300_000)
    assert len(part) < 2000
    both = [link(field, rows, scorings(field, rows), 1.0)["fellegi_sunter"] for rows in (whole, part)]
    assert both[0].right.mean() == pytest.approx(both[1].right.mean(), abs=0.06)  # 4 sds of a sample of so many
