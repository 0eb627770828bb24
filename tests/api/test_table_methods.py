"""Every method tried on one table."""

from __future__ import annotations

import polars as pl
import pytest

import sfumato as sf
from sfumato.api.protect_table import TableAsked
from sfumato.api.table_methods import table_methods
from sfumato.errors import DataError
from sfumato.release.secret import Secret

FRAME = pl.DataFrame(
    {
        "id": range(40),
        "sex": ["f", "m"] * 20,
        "ill": ["no"] * 39 + ["yes"],
        "sales": [1.5 + i % 7 for i in range(40)],
    }
)


def tried(folder, said=None, **more):
    told = (lambda what, share: said.append((what, share))) if said is not None else (lambda what, share: None)
    return table_methods(sf.read(FRAME), TableAsked(**more), folder, Secret(bytes(16)), progress=told)


@pytest.mark.slow
def test_each_says_what_it_loses(tmp_path):
    said: list[tuple[str, float]] = []
    found = {(one.method, one.way): one for one in tried(tmp_path, said, by=("sex", "ill"), record="id")}
    assert len(found) == 10
    optimal, quick = found["suppress", "optimal"], found["suppress", "elimination"]
    assert optimal.ok
    assert optimal.loss["hidden_value"] <= quick.loss["hidden_value"]
    assert found["round", "controlled"].loss["hidden"] == 0
    assert found["round", "controlled"].ok is None
    assert found["round", "conventional"].loss["change"] <= found["round", "controlled"].loss["change"]  # the nearest
    assert [share for _, share in said] == sorted(share for _, share in said)
    assert any("elimination" in what for what, _ in said)
    assert all(one.to_plain()["seconds"] >= 0 for one in found.values())


@pytest.mark.slow
def test_a_method_that_cannot_says_why_and_the_others_go_on(tmp_path):
    found = {(one.method, one.way): one for one in tried(tmp_path, by=("sex", "ill"), value="sales")}
    assert ("perturb", "auto") not in found  # nobody named the ids
    assert found["round", "barnardise"].loss is None
    assert "fractions" in found["round", "barnardise"].why
    assert found["suppress", "flow"].loss is not None


def test_a_table_that_cannot_be_built_is_told_once(tmp_path):
    with pytest.raises(DataError):
        tried(tmp_path, by=("sex",), value="ill")
