"""The card of releases without noise; releases with noise are in test_papers.py."""

import polars as pl

import sfumato as sf


def test_other_steps_are_told_in_words_and_without_figures(tmp_path):
    rows = pl.DataFrame({"id": range(60), "age": [20.0 + i % 17 for i in range(60)], "name": ["x"] * 60})
    steps = [sf.steps.Drop(columns=["name"]), sf.steps.Centroids(columns=["age"], k=3)]
    sf.protect(sf.Plan(variables={"id": {"role": "record"}}, steps=steps), rows, secret=bytes(16)).write(tmp_path / "r")
    card = sf.card(tmp_path / "r")
    (entry,) = card.entries
    assert (entry.variable, entry.what, entry.noise_sd, entry.reliability) == ("age", "averaged", None, None)
    assert "most similar" in entry.sentence
    assert any("name" in sentence for sentence in card.to_plain()["sentences"])
