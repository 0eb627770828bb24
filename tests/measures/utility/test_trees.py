import numpy as np
import polars as pl
import pytest

from sfumato.data.codebook import Codebook, Variable
from sfumato.data.pair import Pair
from sfumato.errors import DataError
from sfumato.measures.utility import trees
from sfumato.measures.utility.propensity import propensity
from sfumato.measures.utility.trees import findings, u_trees


def table(n=400, seed=0):
    rng = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "id": rng.permutation(n),
            "x": rng.normal(size=n),
            "z": np.where(rng.random(n) < 0.1, np.nan, rng.lognormal(size=n)),
            "g": rng.choice(["a", "b", None], n).tolist(),
        }
    )


BOOK = Codebook({"id": Variable(role="record")})


def smoothed(frame):
    """Values move to the nearest of 30 spikes; mean and sd stay as they were."""
    x = frame["x"].to_numpy()
    edges = np.quantile(x, np.linspace(0, 1, 31)[1:-1])
    spikes = np.searchsorted(edges, x)
    z = np.array([x[spikes == s].mean() for s in spikes])
    z = (z - z.mean()) / z.std() * x.std() + x.mean()
    return frame.with_columns(x=pl.Series(z))


WAYS = [{"aligned": True}, {"aligned": True, "record": "id"}, {"record": "id"}, {}]


@pytest.mark.parametrize("how", WAYS)
def test_equal_tables_cannot_be_told_apart(how):
    frame = table()
    assert u_trees(frame, frame, BOOK, **how).u == 0
    if not how.get("aligned"):
        assert u_trees(frame, frame.sample(fraction=1, shuffle=True, seed=1), BOOK, **how).u == 0


@pytest.mark.parametrize("how", WAYS)
def test_row_order_changes_nothing(how):
    before = table()
    after = smoothed(before)
    plain = u_trees(before, after, BOOK, **how).u
    order = np.random.default_rng(2).permutation(before.height)
    assert u_trees(before[order], after[order], BOOK, **how).u == pytest.approx(plain, rel=1e-9)
    if not how.get("aligned"):
        assert u_trees(before[order], after, BOOK, **how).u == pytest.approx(plain, rel=1e-9)


@pytest.mark.parametrize("how", WAYS)
def test_trees_see_smoothing_that_regressions_miss(how):
    before = table(n=2000)
    after = smoothed(before)
    assert propensity(before, after, BOOK, interactions=True).u < 1e-4
    assert u_trees(before, after, BOOK, **how).u > 0.02


def test_tables_that_differ_by_chance_stay_near_zero():
    """The docstring's floor: about 0.004 at 1,000 records and 0.0005 at 10,000."""
    assert 0 < u_trees(table(1000, 1), table(1000, 2), BOOK).u < 0.008
    assert 0 < u_trees(table(10_000, 1), table(10_000, 2), BOOK).u < 0.001


def test_separable_tables_come_near_a_quarter():
    before = table()
    result = u_trees(before, before.with_columns(x=pl.col("x") + 100), BOOK, aligned=True)
    assert result.u == pytest.approx(0.25, abs=0.01)
    assert np.median(result.after) > 0.99
    assert np.median(result.before) < 0.01


def test_a_score_is_of_trees_that_have_not_seen_the_record():
    """x is unique to each record and says nothing else, so unseen records cannot be told apart; seen ones could."""
    n = 500
    before = pl.DataFrame({"x": np.random.default_rng(3).permutation(n) * 2.0})
    after = before + 1
    assert u_trees(before, after, BOOK, aligned=True).u < 0.02


def test_both_copies_of_a_record_are_chosen_or_none(monkeypatch):
    monkeypatch.setattr(trees, "MAX_RECORDS", 100)
    before = table(n=300)
    nearly = before.with_columns(
        pl.when(pl.col("id") == before["id"][0]).then(0).otherwise(pl.col("id") * 0 + 1).alias("one")
    )
    result = u_trees(before.with_columns(one=1), nearly, BOOK, record="id")
    assert result.u == pytest.approx(0, abs=1e-3)
    assert len(result.before) == len(result.after) == 100
    assert "chosen by a public hash" in result.note
    fewer = u_trees(before, before.head(150), BOOK, record="id")
    assert (len(fewer.before), len(fewer.after)) == (100, 50)


@pytest.mark.parametrize("n", [1, 2, 3])
def test_tiny_tables(n):
    assert u_trees(table(n), table(n, 5), BOOK, aligned=True).u == pytest.approx(0, abs=0.25)


def test_findings_are_one_line():
    before = table()
    after = smoothed(before)
    found = findings(Pair(before, after, BOOK, ("x",), aligned=True, record="id"))
    assert [f.measure for f in found] == ["u_trees"]
    assert found[0].value == u_trees(before, after, BOOK, aligned=True, record="id").u
    dropped = findings(Pair(before, after.drop("id"), BOOK, ("x",), aligned=True, record="id"))
    assert dropped[0].value > 0
    assert findings(Pair(before, after.clear(), BOOK)).of("u_trees").value is None


def test_aligned_tables_have_equal_heights():
    with pytest.raises(DataError, match="equal numbers of rows"):
        u_trees(table(3), table(4), BOOK, aligned=True)


def test_equal_tables_are_told_apart_by_guessing_alone():
    same = table(n=40)
    result = u_trees(same, same, BOOK, record="id")
    assert result.u == 0
    assert set(result.before) == set(result.after) == {0.5}
