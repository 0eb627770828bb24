"""The documentation of an exchange says who was taken to know what: the true values of all that was exchanged."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest

import sfumato as sf

RNG = np.random.default_rng(7)
N = 200
FRAME = pl.DataFrame(
    {
        "id": np.arange(N),
        "sex": RNG.choice(["f", "m"], N),
        "age": RNG.integers(20, 70, N),
        "ill": RNG.choice(["yes", "no"], N, p=[0.3, 0.7]),
        "town": RNG.choice(["a", "b"], N),
    }
)
PLAN = """
sfumato: 1
title: people
variables:
  id: {role: record}
  ill: {role: sensitive, kind: categorical}
  town: {kind: categorical}
steps:
  - {do: swap, columns: [sex, age, ill], group: 5, perturb: 0.02}
  - {do: pseudonymise, columns: [id], scope: table, format: number}
limits:
  - {measure: linkage_nearest, group: released, at_most: 0.5}
  - {measure: uniques_kept, at_most: 0.9}
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("release") / "r"
    sf.protect(sf.Plan.from_yaml(PLAN), FRAME, secret=bytes(16)).write(path)
    return path


def test_the_package_lists_what_leaves_as_it_was_and_what_was_masked(folder):
    text = (folder / "datapackage.json").read_text()
    known = next(part["known"] for part in _parts(json.loads(text)) if "known" in part)
    assert known["released"] == ["town"]
    assert sorted(known["masked"]) == ["age", "ill", "sex"]


def test_the_report_says_it_in_words(folder):
    text = " ".join((folder / "report.html").read_text().split())
    assert "Who was taken to know what" in text
    assert "True values of what was masked</dt><dd>sex, age, ill</dd>" in text
    assert "Of people whose true values in all released columns are known, " in text
    assert "without that person&#39;s own record, the record tells" in text.replace("'", "&#39;")


def _parts(told):
    """Every mapping of a document, the outer ones first."""
    yield from [told] if isinstance(told, dict) else []
    for each in told.values() if isinstance(told, dict) else told if isinstance(told, list) else ():
        yield from _parts(each)


@pytest.mark.parametrize(("size", "told"), [(4, True), (1, False)])
def test_who_knows_all_rows_of_a_household_is_tried_where_its_id_leaves(size, told):
    """Whoever knows a household finds its rows by how many they are, wherever their values come from."""
    plan = PLAN.replace("  id: {role: record}", "  id: {role: record}\n  home: {role: household}")
    plan = plan.replace("columns: [id], scope", "columns: [id, home], scope")
    frame = FRAME.with_columns(home=pl.int_range(pl.len()) // size)
    release = sf.protect(sf.Plan.from_yaml(plan), frame, secret=bytes(16))
    found = release.report.findings.select("linkage_nearest", group="released")
    assert any(f.attack == "household" for f in found) == told
