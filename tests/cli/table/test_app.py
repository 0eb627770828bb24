"""`sfumato table`: build, protect and audit as a user runs them."""

import json

import numpy as np
import polars as pl
import pytest
from tests.e2e.command import sfumato

import sfumato as sf

FIRMS = pl.DataFrame(
    {
        "town": ["a"] * 9 + ["b"] * 9 + ["c"] * 2,
        "kind": ["x", "y", "z"] * 6 + ["x", "y"],
        "turnover": [float(5 + i * i % 17) for i in range(20)],
    }
)


@pytest.fixture
def firms(tmp_path):
    FIRMS.write_csv(tmp_path / "firms.csv")
    return tmp_path


def run(folder, *arguments, status=0):
    done = sfumato("table", *arguments, cwd=folder)
    assert done.returncode == status, done.stderr
    return done


def test_a_table_is_built_with_its_margins(firms):
    told = json.loads(
        run(firms, "build", "firms.csv", "--by", "town,kind", "--value", "turnover", "--out", "t.csv", "--json").stdout
    )
    assert told == {"cells": 15, "variables": ["town", "kind"], "value": "turnover"}
    cells = pl.read_csv(firms / "t.csv")
    total = cells.filter((pl.col("town") == "Total") & (pl.col("kind") == "Total"))
    assert total["turnover"].item() == FIRMS["turnover"].sum()


@pytest.mark.slow
def test_a_table_is_protected_audited_and_read_again(firms):
    arguments = (
        "--by",
        "town,kind",
        "--value",
        "turnover",
        "--rule",
        "n(3)",
        "--out",
        "p.csv",
        "--internal",
        "j.csv",
        "--json",
    )
    told = json.loads(run(firms, "protect", "firms.csv", *arguments).stdout)
    assert {"cells", "primary", "secondary", "secondary_value", "optimal", "gap", "audit"} <= told.keys()
    assert told["audit"]["exact"] == 0
    assert told["primary"] > 0
    found = json.loads(run(firms, "audit", "p.csv", "--value", "turnover", "--against", "j.csv", "--json").stdout)
    assert found["audit"]["exact"] == 0
    assert "contributors" not in pl.read_csv(firms / "p.csv").columns
    again = json.loads(run(firms, "protect", "j.csv", "--value", "turnover", "--json").stdout)  # statuses are enough
    assert again["primary"] == told["primary"]


def test_an_unsafe_table_ends_with_one(firms):
    cells = "sex,count,status\nTotal,5,s\nf,,u\nm,4,s\n"
    (firms / "bad.csv").write_text(cells)
    told = json.loads(run(firms, "audit", "bad.csv", "--json", status=1).stdout)
    assert told["audit"]["exact"] == 1


def test_several_releases_are_one_attack(firms):
    (firms / "one.csv").write_text("town,count,status\nTotal,9,s\na,,u\nb,,x\n")
    (firms / "two.csv").write_text("town,count,status\nTotal,9,s\na,2,s\nb,7,s\n")
    run(firms, "audit", "one.csv")
    assert json.loads(run(firms, "audit", "one.csv", "two.csv", "--json", status=1).stdout)["audit"]["exact"] == 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("build", "firms.csv"), "--by"),
        (("protect", "firms.csv", "--by", "town", "--rule", "n(3"), "rule"),
        (("protect", "firms.csv", "--by", "nowhere", "--rule", "n(3)"), "nowhere"),
        (("protect", "firms.csv", "--by", "town"), "unsafe"),
        (("protect", "firms.csv", "--by", "town", "--rule", "n(3)", "--public"), "--tell-unsafe"),
        (("protect", "firms.csv", "--by", "town", "--rule", "n(3)", "--singletons"), "--reader"),
        (("protect", "firms.csv", "--by", "town", "--rule", "n(3)", "--method", "hypercube"), "elimination"),
        (("protect", "firms.csv", "--by", "town", "--rule", "n(3)", "--lower", "0"), "below 1"),
        (("audit", "nothing.csv"), "does not exist"),
        (("audit", "firms.csv", "--hierarchy", "act"), "VARIABLE=FILE"),
    ],
)
def test_bad_input_is_refused_in_words(firms, arguments, said):
    done = (
        run(firms, *arguments, "--out", "o.csv", status=2)
        if arguments[0] != "audit"
        else run(firms, *arguments, status=2)
    )
    assert said in done.stderr
    assert not (firms / "o.csv").exists()


def test_the_internal_table_is_refused_in_a_release_folder(firms):
    (firms / "release").mkdir()
    (firms / "release" / "datapackage.json").write_text("{}")
    (firms / "release" / "own").mkdir()
    for place in ("release/j.csv", "release/own/j.csv"):
        arguments = ("--by", "town", "--rule", "n(3)", "--internal", place)
        assert "release folder" in run(firms, "protect", "firms.csv", *arguments, status=2).stderr


def test_nothing_that_is_handed_out_tells_unsafe_cells_from_others(firms):
    """Not the letters, the page, the documentation, nor a count of one kind."""
    more = ("--by", "town,kind", "--rule", "n(3)", "--out", "out", "--internal", "judged", "--json")
    told = json.loads(run(firms, "protect", "firms.csv", *more).stdout)
    assert told["reader"] == {"letters": False, "least": 1, "whole": True, "contributor": False}
    assert told["primary"] > 0
    assert told["secondary"] > 0
    assert "u" not in pl.read_csv(firms / "out" / "data.csv")["status"].to_list()
    judged = pl.read_csv(firms / "judged" / "data.csv")["status"].to_list()
    assert (judged.count("u"), judged.count("x")) == (told["primary"], told["secondary"])
    papers = json.loads((firms / "out" / "datapackage.json").read_text())["sfumato"]["table"]
    words = json.dumps(papers)
    for name in ("primary", "secondary", "levels", "stages", "useless", "gap", "proof"):
        assert f'"{name}' not in words
    letters = (firms / "out" / "report.html").read_text()
    assert "■" not in letters
    assert "hidden: beside" not in letters


def test_the_audit_of_the_file_alone_finds_the_ends_that_stand_in_it(firms):
    """Counts, and sums of a file without documentation."""
    for value in ((), ("--value", "turnover")):
        run(firms, "protect", "firms.csv", "--by", "town,kind", *value, "--rule", "n(3)", "--out", "p.csv", "--json")
        told = json.loads(run(firms, "audit", "p.csv", *value, "--json").stdout)
        assert told["reader"]["least"] == (0 if value else 1)
        assert told["audit"]["exact"] == 0
        handed = sf.read_table(firms / "p.csv", value[1] if value else None)
        low, high = handed.column("lower"), handed.column("upper")
        found = sf.tables.audit(handed)
        assert np.allclose(found.lower[0], low, equal_nan=True)
        assert np.allclose(found.upper[0], high, equal_nan=True)


@pytest.mark.slow
def test_a_folder_goes_through_every_command(firms):
    """A folder knows its value and its hierarchies: nothing is said again."""
    by = ("--by", "town,kind", "--value", "turnover")
    run(firms, "build", "firms.csv", *by, "--out", "built")
    told = json.loads(
        run(firms, "protect", "built", "--rule", "n(3)", "--out", "out", "--internal", "judged", "--json").stdout
    )
    at_once = json.loads(run(firms, "protect", "firms.csv", *by, "--rule", "n(3)", "--json").stdout)
    assert told == at_once
    assert json.loads(run(firms, "audit", "out", "--against", "judged", "--json").stdout)["audit"]["exact"] == 0
    run(firms, "protect", "firms.csv", *by, "--rule", "n(3)", "--out", "p.csv")
    run(firms, "audit", "out", "p.csv", "--value", "turnover")
    assert (firms / "p.csv").read_bytes() == (firms / "out" / "data.csv").read_bytes()
    assert "--overwrite" in run(firms, "build", "firms.csv", *by, "--out", "built", status=2).stderr
    run(firms, "build", "firms.csv", *by, "--out", "built", "--overwrite")


@pytest.mark.slow
def test_a_plan_runs_before_the_table(firms):
    (firms / "plan.yaml").write_text(
        "sfumato: 1\nvariables: {town: {hierarchy: {a: [north], b: [north], c: [south]}}}\n"
        "steps: [{do: top_code, columns: [turnover], at: 10}]\nlimits: [{measure: k_anonymity, at_least: 99}]\n"
    )
    arguments = ("--by", "town", "--value", "turnover", "--plan", "plan.yaml", "--out", "t.csv")
    run(firms, "build", "firms.csv", *arguments)
    cells = dict(pl.read_csv(firms / "t.csv").select("town", "turnover").iter_rows())
    wanted = FIRMS.with_columns(pl.col("turnover").clip(upper_bound=10))
    assert cells["north"] == wanted.filter(pl.col("town") != "c")["turnover"].sum()
    run(firms, "protect", "firms.csv", *arguments, "--rule", "n(3)")


@pytest.mark.slow
def test_waivers_and_margins_are_options(firms):
    FIRMS.with_columns(gave=(pl.col("turnover") >= 20).cast(pl.Int8)).write_csv(firms / "gave.csv")
    by = ("--by", "town,kind", "--value", "turnover", "--rule", "p(50)", "--json")
    without = json.loads(run(firms, "protect", "gave.csv", *by).stdout)["primary"]
    assert json.loads(run(firms, "protect", "gave.csv", *by, "--waived", "gave").stdout)["primary"] < without
    run(firms, "build", "firms.csv", "--by", "town,kind", "--margins", "town", "--out", "t.csv")
    cells = pl.read_csv(firms / "t.csv")
    assert "Total" in cells["town"].to_list()
    assert "Total" not in cells["kind"].to_list()
    assert "--by" in run(firms, "protect", "t.csv", "--waived", "gave", "--rule", "n(3)", status=2).stderr


def test_a_hierarchy_of_no_variable_is_refused(firms):
    (firms / "t.csv").write_text("town,count,status\nTotal,9,s\na,,u\nb,,x\n")
    (firms / "tree.csv").write_text("code,parent\na,north\nb,north\n")
    assert "'twon'" in run(firms, "audit", "t.csv", "--hierarchy", "twon=tree.csv", status=2).stderr


@pytest.mark.slow
def test_a_file_beside_a_folder_needs_no_hierarchy(firms):
    """What a folder knows of a variable's levels holds for the files that are audited with it."""
    FIRMS.with_columns(region=pl.when(pl.col("town") == "a").then(pl.lit("n")).otherwise(pl.lit("s"))).write_csv(
        firms / "more.csv"
    )
    run(firms, "protect", "more.csv", "--by", "region>town,kind", "--rule", "n(3)", "--out", "out")
    (firms / "p.csv").write_bytes((firms / "out" / "data.csv").read_bytes())
    assert "additive" in run(firms, "audit", "p.csv", status=2).stderr
    for order in (("out", "p.csv"), ("p.csv", "out")):
        assert json.loads(run(firms, "audit", *order, "--json").stdout)["audit"]["exact"] == 0
