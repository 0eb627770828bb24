"""The card of releases without noise; releases with noise are in test_papers.py."""

import polars as pl

import sfumato as sf
from tests.reasons import nobody_knows


def test_other_steps_are_told_in_words_and_without_figures(tmp_path):
    rows = pl.DataFrame({"id": range(60), "age": [20.0 + i % 17 for i in range(60)], "name": ["x"] * 60})
    steps = [sf.steps.Drop(columns=["name"]), sf.steps.Centroids(columns=["age"], k=3)]
    plan = sf.Plan(variables={"id": {"role": "record"}}, steps=steps, unknown=nobody_knows("id"))
    sf.protect(plan, rows, secret=bytes(16)).write(tmp_path / "r")
    card = sf.card(tmp_path / "r")
    (entry,) = card.entries
    assert (entry.variable, entry.what, entry.noise_sd, entry.reliability) == ("age", "averaged", None, None)
    assert "most similar" in entry.sentence
    assert any("name" in sentence for sentence in card.to_plain()["sentences"])


def test_strata_that_the_release_no_longer_shows_leave_the_reliability_open(tmp_path):
    rows = pl.DataFrame({"id": range(200), "x": [float(i * i % 97) for i in range(200)], "reg": ["n", "s"] * 100})
    steps = [sf.steps.Noise(columns=["x"], share=0.1, by=["reg"]), sf.steps.Drop(columns=["reg"])]
    variables = {"id": {"role": "record"}, "reg": {"kind": "categorical"}}
    plan = sf.Plan(variables=variables, steps=steps, unknown=nobody_knows("id"))
    sf.protect(plan, rows, secret=bytes(16)).write(tmp_path / "r")
    entries = [e for e in sf.card(tmp_path / "r").entries if e.variable == "x"]
    assert [e.reliability for e in entries] == [None, None]
    assert all(e.noise_sd > 0 for e in entries)
