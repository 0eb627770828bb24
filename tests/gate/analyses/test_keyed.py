"""Who is looked at."""

import math

import numpy as np
import polars as pl

from sfumato.draws import Draws
from sfumato.gate.analyses.keyed import subsample
from sfumato.gate.margin import Node
from sfumato.gate.reading import records_of
from tests.gate.analyses.people import SECRET, asked, records

DATA = records()
DRAWS = Draws(SECRET)


def of(formula="died ~ age + sex", **more):
    return asked("logistic", formula, DATA, **more)


def test_scopes_of_the_same_people_share_the_subsample():
    """How many are looked at tells: all records by another spelling leave out the same ones."""
    spelled = of(where={Node("sex"): ["F", "M"]})
    kept = subsample(of(), DRAWS, DATA.words)
    np.testing.assert_array_equal(kept, subsample(spelled, DRAWS, DATA.words))
    np.testing.assert_array_equal(kept, subsample(of("died ~ ward"), DRAWS, DATA.words))
    other = subsample(of("gone ~ age + sex"), DRAWS, DATA.words)
    assert (kept != other).any()
    share = kept.mean()
    assert abs(share - 0.95) < 4 * math.sqrt(0.95 * 0.05 / len(kept))


def test_whole_clusters_are_left_out():
    own = asked("mixed", "cost ~ age", DATA, cluster="gp")
    kept = subsample(own, DRAWS, DATA.words)
    by_cluster = pl.DataFrame({"c": own.cluster, "kept": kept}).group_by("c").agg(pl.col("kept").n_unique())
    assert by_cluster["kept"].max() == 1
    assert not kept.all()


def test_people_of_a_line_of_counts_are_drawn_apart():
    frame = pl.DataFrame({"y": ["a", "b"] * 2, "x": ["p", "p", "q", "q"], "n": [3000, 2000, 1000, 4000]})
    data = records_of(frame, count="n", secret=SECRET)
    kept = subsample(asked("logistic", "y ~ x", data), DRAWS, data.words)
    for line in np.split(kept, [3000, 5000, 6000]):
        assert abs(line.mean() - 0.95) < 5 * math.sqrt(0.95 * 0.05 / len(line))
