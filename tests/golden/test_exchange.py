"""Whose row it is, on files of the field: who weighs agreements by rarity is right no more often than once in a group.

Source of the weights: Fellegi and Sunter (1969), doi:10.1080/01621459.1969.10501049: minus the logarithm of how often a
value stands.
"""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from sfumato.data.codebook import Codebook, Variable
from sfumato.data.profile import profile
from sfumato.draws import Draws
from sfumato.engines.polars import PolarsDataset
from sfumato.methods.swap.method import Swap
from sfumato.release.run import run_steps
from tests.real_data import real_data

GROUP = 5
FILES = ("titanic.csv", "sdcmicro/CASCrefmicrodata.csv", "sdcmicro/Tarragona.csv", "sdcmicro/testdata2.csv")


def columns_of(frame: pl.DataFrame) -> dict[str, Variable]:
    """What may be exchanged: all but names, ids and texts."""
    guesses = profile(frame, Codebook())
    kept = [g for g in guesses if not g.leaves and g.variable.kind not in ("text", "geographic")]
    return {g.name: g.variable for g in kept if g.variable.role not in ("identifier", "record", "household")}


def agreeing(true: pl.Series, out: pl.Series, amount: bool) -> np.ndarray:
    """The weight of each pair of a person and a row: numbers agree where they lie in one tenth of the file."""
    if amount:
        a, b = (side.cast(pl.Float64).fill_null(float("nan")).to_numpy() for side in (true, out))
        edges = np.unique(np.nanquantile(a, np.linspace(0, 1, 11)[1:-1]))
        a, b = np.digitize(a, edges), np.digitize(b, edges)
    else:
        a, b = (side.cast(pl.String).fill_null("?").to_numpy() for side in (true, out))
    values, place, times = np.unique(a, return_inverse=True, return_counts=True)
    assert len(values)
    return (a[:, None] == b[None, :]) * -np.log(times / len(a))[place][:, None]


@pytest.mark.parametrize("file", FILES)
def test_weighing_agreements_by_rarity_finds_nobody_in_a_group(file):
    """By all columns, by every second one, and by the first three."""
    frame = pl.read_csv(real_data() / file, infer_schema_length=None)
    variables = columns_of(frame)
    names = list(variables)
    step = Swap(columns=names, group=GROUP, perturb=0.02)
    data = PolarsDataset(frame.select(names), Codebook(variables))
    out = run_steps([step], data, Draws(bytes(range(32)))).after.frame
    weights = {n: agreeing(frame[n], out[n], variables[n].numeric) for n in names}
    n = frame.height
    bound = 1 / GROUP + 3 * np.sqrt(1 / GROUP * (1 - 1 / GROUP) / n)
    for known in (names, names[::2], names[:3]):
        score = sum(weights[name] for name in known)
        best = np.isclose(score, score.max(axis=1, keepdims=True))
        assert np.mean(np.diag(best) / best.sum(axis=1)) <= bound, known
