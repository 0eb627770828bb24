import numpy as np
import polars as pl
import pytest

from sfumato.data.codebook import Codebook, Variable
from sfumato.data.disclosure import Averaged, Disclosure
from sfumato.data.pair import Pair
from sfumato.draws import Draws
from sfumato.engines.polars import PolarsDataset
from sfumato.measures.risk import reconstruction
from sfumato.measures.risk.reconstruction import ALL, AT, LARGEST, SD, findings
from sfumato.methods.centroids import Centroids
from sfumato.release.run import run_steps

BOOK = Codebook(
    {
        "pay": Variable(role="sensitive", kind="continuous"),
        "age": Variable(role="key", kind="continuous"),
        "sex": Variable(role="key", kind="categorical"),
    }
)


def people(n=500, seed=0):
    rng = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "id": np.arange(n),
            "pay": np.exp(1.5 * rng.normal(size=n) + 10),
            "age": rng.normal(45, 15, n),
            "sex": rng.choice(["f", "m"], n).tolist(),
        }
    )


def released(frame, columns=("pay",), **how):
    """The pair that a release of centroids makes, and what it discloses."""
    step = Centroids(columns=columns, **{"k": 3, "round_to": None, **how})
    ran = run_steps([step], PolarsDataset(frame, BOOK), Draws(bytes(16)))
    by = tuple(how.get("by", ()))
    return Pair(frame, ran.after.frame, BOOK, columns, by, aligned=True, record="id"), ran.disclosure


def shares(found, variable="pay"):
    return {(f.group, f.at): (f.value, f.baseline) for f in found if f.variable == variable}


def test_lines():
    found = findings(*released(people(120), ("pay", "age"), by=("sex",)))
    assert [(f.variable, f.group, f.at) for f in found] == [
        (n, g, at) for n in ("pay", "age") for g in (ALL, LARGEST, SD) for at in AT
    ]
    assert {f.attack for f in found} == {"inversion"}
    assert all(0 <= f.value <= 1 and 0 <= f.baseline <= 1 and f.interval is None for f in found)
    assert not found.notes


@pytest.mark.slow
def test_one_column_comes_back():
    told = shares(findings(*released(people(seed=2))))
    for group, at in ((ALL, 0.01), (ALL, 0.05), (SD, 0.01)):
        value, baseline = told[group, at]
        assert value > baseline + 0.1, (group, at)


@pytest.mark.slow
def test_the_baseline_is_what_the_release_itself_shows():
    pair, disclosure = released(people(200))
    off = np.abs(pair.z - pair.x)[:, 0]
    told = shares(findings(pair, disclosure))
    assert told[ALL, 0.05][1] == pytest.approx(np.mean(off <= 0.05 * pair.x[:, 0]))
    assert told[SD, 0.01][1] == pytest.approx(np.mean(off <= 0.01 * pair.x[:, 0].std(ddof=1)))
    top = np.argsort(-pair.x[:, 0])[:10]
    assert told[LARGEST, 0.05][1] == pytest.approx(np.mean(off[top] <= 0.05 * pair.x[top, 0]))


@pytest.mark.slow
def test_disjoint_groups_give_nothing_to_solve():
    found = findings(*released(people(120), grouping="mdav"))
    assert all(f.value == f.baseline for f in found)
    assert reconstruction.DISJOINT in found.notes
    assert "gives nobody more than it shows" in reconstruction.MEASURE.say(found, 1.0)
    solved = findings(*released(people(120)))
    assert "solves it for what it was made of" in reconstruction.MEASURE.say(solved, 1.0)


def test_missing_values_are_left_out():
    frame = people(120).with_columns(pay=pl.when(pl.col("id") % 7 > 0).then("pay"))
    assert all(f.value is not None for f in findings(*released(frame)))


def test_nothing_there():
    pair, disclosure = released(people(60))
    assert not len(findings(pair, Disclosure()))
    other = Averaged(
        columns=("weight",), k=3, grouping="knn", rescaled=True, recentred=True, rounded=False, clipped=False
    )
    assert not len(findings(pair, Disclosure([other])))
    apart = Pair(pair.before, pair.after, BOOK, ("pay",))
    assert findings(apart, disclosure).notes == (reconstruction.NOT_ALIGNED,)
    empty = pair.before.with_columns(pay=pl.lit(None, pl.Float64))
    found = findings(Pair(empty, pair.after, BOOK, ("pay",), aligned=True), disclosure)
    assert {f.value for f in found} == {None}
    assert found.notes == (reconstruction.NO_RECORD,)


@pytest.mark.slow
@pytest.mark.parametrize("strata", [1, 6])
def test_of_a_large_table_a_part_is_attacked(strata, monkeypatch):
    """Shares of the part agree with those of the whole: neither the truth nor the order of rows chooses it."""
    frame = people(240, seed=2).with_columns(sex=(pl.col("id") % strata).cast(pl.String))
    pair, disclosure = released(frame, by=("sex",))
    whole = shares(findings(pair, disclosure))
    for name, value in (("MOST_ALONE", 120), ("MOST", 120), ("BLOCK", 80)):
        monkeypatch.setattr(reconstruction, name, value)
    found = findings(pair, disclosure)
    assert reconstruction.SAMPLED in found.notes
    part = shares(found)
    assert part[ALL, 0.05][0] > whole[ALL, 0.05][1] + 0.05  # far above the release itself, as the whole is
    line = next(f for f in found if f.group == ALL and f.at == 0.05)
    assert line.interval[0] <= line.value <= line.interval[1]
    order = np.random.default_rng(0).permutation(240)
    mixed = Pair(pair.before[order], pair.after[order], BOOK, ("pay",), ("sex",), aligned=True)
    for place, told in shares(findings(mixed, disclosure)).items():
        assert np.array(told, float) == pytest.approx(np.array(part[place], float), rel=1e-9, nan_ok=True), place


def test_what_cannot_be_tried_has_no_value(monkeypatch):
    monkeypatch.setattr(reconstruction, "MOST_ALONE", 30)
    monkeypatch.setattr(reconstruction, "MOST", 30)
    frame = people(400).with_columns(sex=(pl.col("id") % 40).cast(pl.String))
    found = findings(*released(frame, by=("sex",)))
    assert {f.value for f in found if f.group == LARGEST} == {None}
    assert any("pay" in note for note in found.notes)
