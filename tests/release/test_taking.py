"""What steps take over from an earlier release: from its folder, in memory and off it, and what is said of it."""

import json
import re
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

import sfumato as sf
from sfumato.api.read import read_whole
from sfumato.cli.app import app
from sfumato.data.publishable import published
from sfumato.errors import FileError
from sfumato.plan.plan import Plan
from sfumato.release.prepared import Prepared
from sfumato.release.taking import Published, Taking
from tests.release.brief import measured_briefly, sketched

SECRET, OTHER = bytes(range(16)), bytes(range(1, 17))
OPEN = [{"columns": "others", "because": "answers that were given to us alone, which nobody else holds"}]
VARIABLES = {
    "id": {"role": "record"},
    "pay": {"role": "sensitive", "kind": "continuous"},
    "age": {"role": "key", "kind": "integer"},
    "q": {"role": "other", "kind": "continuous"},
    "r": {"role": "other", "kind": "continuous"},
    "town": {"role": "other", "kind": "categorical"},
    "side": {"role": "other", "kind": "categorical"},
    "rent": {"role": "other", "kind": "continuous"},
    "size": {"role": "other", "kind": "continuous"},
}
STEPS = [
    {"do": "top_code", "columns": ["rent"], "largest": 9, "replace": "mean"},
    {"do": "recode", "columns": ["size"], "band": {"n": 4}},
    {"do": "noise", "columns": ["pay"], "share": 0.1, "grow": 2},
    {"do": "noise", "columns": ["q", "r"], "share": 0.2, "correlated": True},
    {"do": "noise", "columns": ["age"], "share": 0.2, "by": ["side"]},
]
INVARIANT = {"do": "pram", "columns": ["town"], "retention": 0.7, "invariant": True}


def people(n=200):
    rng = np.random.default_rng(2)
    return pl.DataFrame(
        {
            "id": np.arange(1, n + 1),
            "pay": rng.lognormal(3, 1, n).round(3),
            "age": rng.normal(50, 15, n).round(),
            "q": rng.normal(0, 9, n),
            "r": rng.normal(0, 9, n),
            "town": rng.choice(["Acle", "Bude", "Ceres"], n),
            "side": rng.choice(["east", "west"], n),
            "rent": rng.lognormal(6, 1, n).round(1),
            "size": rng.normal(70, 20, n).round(1),
        }
    )


GONE = int(people().sort("pay")["id"][-1])
"""Who earns most."""


def plan(*steps, **more):
    return Plan.model_validate({"sfumato": 1, "variables": VARIABLES, "unknown": OPEN, "steps": steps, **more})


def rest():
    return people().filter(pl.col("id") != GONE)


def rows(release):
    return release.table.frame.filter(pl.col("id") != GONE).sort("id")


@pytest.fixture(scope="module")
def first(tmp_path_factory):
    """A release of everybody, and its folder."""
    folder = tmp_path_factory.mktemp("taking") / "first"
    with measured_briefly(), sketched():
        release = sf.protect(plan(*STEPS, INVARIANT), people(), secret=SECRET)
        release.write(folder, force=True)
    return release, folder


def again(folder, data=None, made=None, secret=SECRET):
    with measured_briefly(), sketched():
        return sf.protect(
            made or plan(*STEPS, INVARIANT), rest() if data is None else data, secret=secret, earlier=folder
        )


def test_without_it_the_one_who_earns_most_moves_everybody_and_with_it_nobody(first):
    release, folder = first
    then, now = rows(release), rows(again(None))
    assert all((then[n] != now[n]).mean() > 0.9 for n in ("pay", "q", "r"))
    taken = again(folder)
    assert rows(taken).equals(then)
    assert taken.report.disclosure == release.report.disclosure
    assert taken.report.plan_yaml == release.report.plan_yaml
    assert rows(again(folder / "data.parquet")).equals(then)


def test_it_is_said_and_published_by_step_and_columns(first, tmp_path):
    _, folder = first
    release = again([folder])
    said = [text for text in published(release.report.warnings) if "taken over" in text]
    assert [text.split(" was ")[0] for text in said] == [
        "top_code: what the release discloses of rent",
        "recode: what the release discloses of size",
        "noise: what the release discloses of pay",
        "noise: what the release discloses of q, r",
        "noise: what the release discloses of age",
        "pram: what the release discloses of town",
    ]
    with sketched():
        release.write(tmp_path / "next", force=True)
    papers = (tmp_path / "next" / "datapackage.json").read_text()
    assert said[0] in json.loads(json.dumps(papers))
    for file in (tmp_path / "next").iterdir():
        assert str(folder) not in file.read_text(errors="replace")


def test_the_newest_release_that_has_the_same_step_is_taken(first, tmp_path):
    """The second has another share for q and r, and lacks pay: those are taken from the first."""
    release, folder = first
    steps = [STEPS[3] | {"share": 0.3}, INVARIANT]
    with measured_briefly(), sketched():
        sf.protect(plan(*steps), people().head(150), secret=SECRET).write(tmp_path / "second", force=True)
    third = again([tmp_path / "second", folder])
    assert rows(third).drop("town").equals(rows(release).drop("town"))
    (matrix,) = third.report.disclosure.of("town")[-1:]
    assert matrix != release.report.disclosure.of("town")[-1]
    fourth = again(tmp_path / "second")
    (untaken,) = [text for text in fourth.report.warnings if text.startswith("noise: nothing") and "q, r" in text]
    assert "no earlier release with the same secret has the same step" in untaken
    assert untaken not in published(fourth.report.warnings)


def test_another_secret_gains_nothing_which_is_said(first):
    _, folder = first
    other = again(folder, secret=OTHER)
    assert any("another secret" in text for text in other.report.warnings)
    assert not any("taken over" in text for text in published(other.report.warnings))
    with measured_briefly(), sketched():
        assert rows(other).equals(rows(sf.protect(plan(*STEPS, INVARIANT), rest(), secret=OTHER)))


def test_a_tail_of_too_few_and_bands_of_too_few_are_learned_anew(first):
    """Of nine at the top four are left; k is five."""
    _, folder = first
    fewer = people().sort("rent").head(195)
    release = again(folder, fewer)
    (said,) = [text for text in release.report.warnings if text.startswith("top_code: nothing")]
    assert "too few records are left" in said
    top = release.table.frame["rent"]
    assert (top == top.max()).sum() >= 5


def test_strata_that_are_new_learn_their_own(first):
    release, folder = first
    more = pl.concat([people(), people().head(40).with_columns(pl.lit("north").alias("side"), pl.col("id") + 1000)])
    steps = STEPS[4:]
    with measured_briefly(), sketched():
        new = sf.protect(plan(*steps), more, secret=SECRET, earlier=folder)
    there = new.table.frame.filter(pl.col("id") <= 200).sort("id")
    assert there["age"].equals(release.table.frame.sort("id")["age"])
    assert {part.where["side"] for part in new.report.disclosure.of("age")} == {"east", "north", "west"}


def test_new_categories_are_no_part_of_an_earlier_matrix(first):
    _, folder = first
    more = people().with_columns(pl.when(pl.col("id") > 180).then(pl.lit("Diss")).otherwise("town").alias("town"))
    with measured_briefly(), sketched():
        new = sf.protect(plan(INVARIANT), more, secret=SECRET, earlier=folder)
    assert [text for text in new.report.warnings if text.startswith("pram: nothing was taken over for town")]


@pytest.mark.slow
def test_rows_that_are_not_in_memory_take_the_same(first, tmp_path):
    release, folder = first
    parts = tmp_path / "parts"
    parts.mkdir()
    for i, part in enumerate((rest().head(90), rest().tail(109))):
        part.write_parquet(parts / f"{i}.parquet")
    again(folder, parts).write(tmp_path / "out", force=True)
    made = pl.read_parquet(tmp_path / "out" / "data" / "*.parquet").sort("id")
    then = rows(release)
    for n in then.columns:
        assert made[n].cast(pl.String).to_list() == then[n].cast(made.schema[n]).cast(pl.String).to_list()


def test_a_plan_names_earlier_releases_without_their_true_values(first, monkeypatch):
    release, folder = first
    monkeypatch.chdir(folder.parent)
    made = plan(*STEPS, INVARIANT, earlier=[{"release": "first"}])
    new = again(None, made=made)
    assert rows(new).equals(rows(release))
    (said,) = [text for text in new.report.warnings if "was not measured (differencing)" in text]
    assert said.startswith("What first tells")
    assert said not in published(new.report.warnings)
    assert new.report.findings.select("differencing").lines == ()
    assert made.digest == plan(*STEPS, INVARIANT).digest


def test_from_the_command_line(first, tmp_path, monkeypatch):
    _, folder = first
    monkeypatch.setenv("SFUMATO_SECRET", SECRET.hex())
    (tmp_path / "plan.yaml").write_text(plan(*STEPS, INVARIANT).to_yaml())
    rest().write_csv(tmp_path / "new.csv")
    named = [str(tmp_path / n) for n in ("plan.yaml", "new.csv")]
    with measured_briefly(), sketched():
        done = CliRunner().invoke(
            app, ["protect", *named, "--out", str(tmp_path / "r2"), "--earlier", str(folder), "--force", "--verbose"]
        )
    assert done.exit_code == 0, done.output
    assert "taken over" in " ".join(done.output.split())
    made = pl.read_csv(tmp_path / "r2" / "data.csv").sort("id")
    then = pl.read_parquet(folder / "data.parquet").filter(pl.col("id") != GONE).sort("id")
    for n in then.columns:
        assert made[n].to_list() == then[n].to_list()
    assert "earlier" not in (tmp_path / "r2" / "plan.yaml").read_text()


def test_what_is_no_release_is_refused_and_one_without_a_plan_said(first, tmp_path):
    with pytest.raises(FileError, match="no release"):
        again(tmp_path)
    people().write_csv(tmp_path / "plain.csv")
    bare = again(tmp_path / "plain.csv")
    assert any("there is no plan of its own beside the data" in text for text in bare.report.warnings)


def test_a_step_that_learns_nothing_says_nothing(first):
    _, folder = first
    fixed = {"do": "noise", "columns": ["pay"], "sd": 2}
    release = again(folder, made=plan(fixed))
    assert not [text for text in release.report.warnings if re.match(r"noise: (nothing was|what the)", text)]


def test_which_releases_are_looked_at():
    step, other = (plan(STEPS[i]).steps[0] for i in (2, 3))
    taking = Taking("ab", (Published("new", "ab", (other,)), Published("older", "cd", (step,)), Published("plain", "")))
    assert taking.told(other) == ()
    assert taking.told(step) is None
    said = taking.warnings()
    assert len(said) == 3
    assert "older" in said[0]
    assert "another secret" in said[0]
    assert "plain" in said[1]


@pytest.mark.slow
def test_each_of_several_tables_takes_from_its_own(tmp_path):
    def table(column):
        known = {"id": {"role": "record"}, column: {"role": "other", "kind": "continuous"}}
        return {"variables": known, "steps": [{"do": "noise", "columns": [column], "share": 0.2}]}

    tables = {"a": {"file": "a.csv", **table("pay")}, "b": {"file": "b.csv", **table("q")}}
    made = Plan.model_validate({"sfumato": 1, "tables": tables, "links": [{"from": "a", "to": "b", "on": ["id"]}]})
    data = {"a": people().select("id", "pay"), "b": people().select("id", "q")}
    with measured_briefly(), sketched():
        first = sf.protect(made, data, secret=SECRET)
        first.write(tmp_path / "first", force=True)
        fewer = {name: frame.filter(pl.col("id") != GONE) for name, frame in data.items()}
        new = sf.protect(made, fewer, secret=SECRET, earlier=tmp_path / "first")
    for name in data:
        assert rows(new.tables[name]).equals(rows(first.tables[name]))


def test_a_release_is_compared_with_what_it_was_made_from_by_its_own_cuts(first, tmp_path):
    """Bands and a mean that were taken over are those of its papers, whatever the secret; else all would be changed."""
    _, folder = first
    rest().write_csv(tmp_path / "new.csv")
    again(folder).write(tmp_path / "new", force=True)
    there, released = (read_whole(tmp_path / name, "A test") for name in ("new.csv", "new/data.parquet"))
    for after, same in ((released, True), (replace(released, source=None), False)):
        before = Prepared.prepare(there, after, plan(*STEPS, INVARIANT)).before.frame
        both = before.join(released.frame, on="id")
        assert both["size"].equals(both["size_right"]) is same
        assert both["rent"].to_list() == both["rent_right"].to_list() or not same
