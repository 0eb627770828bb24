"""Column names that a format does not take: the papers of a release speak of its file."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest

import sfumato as sf
from sfumato.data.codebook import Codebook
from sfumato.data.disclosure import Additive, Averaged, Disclosure, Misclassified, Sampled
from sfumato.data.error_model import Growth
from sfumato.data.files import Table, write_table
from sfumato.errors import FileError
from sfumato.release.package.papers import read_papers
from sfumato.release.package.renaming import renamed_disclosure
from tests.reasons import nobody_knows

pytestmark = pytest.mark.usefixtures("few_measures")

N = 300
RNG = np.random.default_rng(1)
ROWS = pl.DataFrame({"id": np.arange(N), "x": RNG.normal(size=N), "edu": RNG.integers(1, 4, N)})
PLAN = sf.Plan(
    variables={
        "id": {"role": "record"},
        "x": {"role": "key", "kind": "continuous"},
        "edu": {"role": "key", "kind": "categorical"},
    },
    steps=[
        {"do": "noise", "columns": ["edu"], "variance": 0.2, "dummies": {"edu": [1, 2, 3]}},
        {"do": "noise", "columns": ["x"], "share": 0.1},
    ],
    unknown=nobody_knows("id"),
)
INDICATORS = ("edu_1", "edu_2", "edu_3")


def released(folder, suffix):
    path = folder / f"rows{suffix}"
    write_table(Table(ROWS, Codebook(), suffix), path)
    sf.protect(PLAN, path, secret=bytes(16)).write(folder / f"release{suffix}")
    return path, folder / f"release{suffix}"


@pytest.mark.parametrize("suffix", [".sav", ".dta", ".xpt"])
def test_papers_speak_of_the_file_that_lies_beside_them(tmp_path, suffix):
    _, release = released(tmp_path, suffix)
    papers = read_papers(release)
    assert set(papers.columns) == set(sf.read(papers.data).columns) == {"id", "x", *INDICATORS}
    assert set(INDICATORS) <= set(papers.codebook)
    assert papers.disclosure.parts[0].columns == INDICATORS
    assert papers.disclosure.parts[0].values.keys() == set(INDICATORS)
    assert papers.names == {"edu_1": "edu=1", "edu_2": "edu=2", "edu_3": "edu=3"}
    assert {e.variable for e in sf.card(release).entries} == {"x", *INDICATORS}
    assert sf.fit("x ~ edu_1 + edu_2", release).terms == ("Intercept", "edu_1", "edu_2")
    assert "edu_1" in (release / "report.html").read_text()


def test_attackers_find_as_many_whatever_the_format_calls_columns(tmp_path):
    found = {}
    for suffix in (".csv", ".sav"):
        path, release = released(tmp_path, suffix)
        lines = sf.risk(path, release / f"data{suffix}", plan=PLAN, record="id").select("h_rank", group="all")
        found[suffix] = {(f.at, f.attack): f.value for f in lines}
    assert found[".csv"]
    assert found[".sav"] == pytest.approx(found[".csv"], abs=1e-12)


def test_names_that_would_fall_together_are_refused_in_papers(tmp_path):
    _, release = released(tmp_path, ".sav")
    path = release / "datapackage.json"
    whole = json.loads(path.read_text())
    for names in ({"edu_1": "x"}, {"nope": "y"}, {"edu_1": "a", "edu_2": "a"}):
        whole["sfumato"]["names"] = names
        path.write_text(json.dumps(whole))
        with pytest.raises(FileError, match="not a description"):
            read_papers(release)


def test_every_place_that_names_a_column_is_renamed():
    noise = Additive(
        ("a b", "c"),
        [[1, 0], [0, 1]],
        values={"a b": (0, 1)},
        bounds={"a b": (0, 9)},
        rounded={"a b": 1.0},
        where={"a b": "a b"},
        grows={"a b": Growth(centre=0, scale=1, beyond=2)},
        indicators_of="a b",
    )
    parts = [
        noise,
        Misclassified("a b", [[1.0]], ["a b"], where={"a b": 1}),
        Averaged(
            columns=("a b",), by=("a b",), k=3, grouping="knn", rescaled=True, recentred=True, rounded=True,
            clipped=False, merged=("a b",),
        ),
        Sampled(fraction=0.5, by=("a b",), weight="a b"),
    ]  # fmt: skip
    whole = Disclosure(parts)
    there = renamed_disclosure(whole, {"a b": "a_b"})
    values = json.dumps(there.to_plain()).count('"a b"')
    assert values == 2  # the stratum's value and the category are data, no names
    assert renamed_disclosure(there, {"a_b": "a b"}) == whole
