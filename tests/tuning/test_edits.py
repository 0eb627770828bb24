"""Edits of a plan: each is a plan that can be read, differs from it, and keeps its limits."""

import polars as pl
import pytest

import sfumato as sf
from sfumato.engines.polars import PolarsDataset
from sfumato.tuning.edits import KINDS, Ground
from tests.release.brief import measured_briefly

PLAN = """
sfumato: 1
title: people
variables:
  id: {role: record}
  town: {role: key, kind: categorical}
  born: {role: key, kind: date}
  age: {kind: integer}
  income: {kind: integer}
steps:
  - {do: coarsen_date, columns: [born], to: month}
  - {do: recode, columns: [age], band: [20, 30, 40, 50, 60]}
  - {do: centroids, columns: [income], k: 3, by: [town]}
  - {do: noise, columns: [height], share: 0.1}
  - {do: pram, columns: [sex], retention: 0.9}
unknown:
  - {columns: [shoe, hat], because: nobody but us has measured it}
limits:
  - {measure: k_anonymity, at_least: 90}
order: input
"""


@pytest.fixture(scope="module")
def ground():
    n = 60
    frame = pl.DataFrame(
        {
            "id": range(n),
            "town": ["Ash", "Elm"] * 30,
            "street": (["High"] * 40 + ["Low"] * 15 + ["Mill"] * 5),
            "born": pl.date_range(pl.date(1950, 1, 1), pl.date(1950, 1, 1) + pl.duration(days=n - 1), eager=True),
            "age": [20 + i % 40 for i in range(n)],
            "income": [100 + 7 * i for i in range(n)],
            "height": [150.0 + i % 30 for i in range(n)],
            "sex": ["f", "m"] * 30,
            "shoe": [36 + i % 9 for i in range(n)],
            "hat": [50 + i % 8 for i in range(n)],
        }
    )
    plan = sf.Plan.from_yaml(PLAN)
    with measured_briefly("uniques_sample"):
        report = sf.protect(plan, frame, secret=bytes(16)).report
    return Ground(PLAN, plan, report, PolarsDataset(frame, plan.codebook(frame, sf.Codebook({}))))


def words(ground, place):
    return [version.words for version in KINDS[place].versions(ground)]


def test_every_version_is_a_plan_that_keeps_limits_and_differs(ground):
    versions = [version for kind in KINDS for version in kind.versions(ground)]
    assert len({version.text for version in versions}) == len(versions)
    for version in versions:
        limits = sf.Plan.from_yaml(version.text).limits
        assert limits[: len(ground.plan.limits)] == ground.plan.limits
        assert version.text != PLAN


def test_kinds_come_in_order_and_get_stronger(ground):
    assert words(ground, 0) == ["rows leave in an order that tells nothing and new ids for id"]
    assert [w.split(" in ")[0] for w in words(ground, 1)] == ["k 5", "k 8", "k 12", "k 20", "k 30"]
    assert words(ground, 2)[0] == "to quarter in step 1 (coarsen_date); band 30, 50 in step 2 (recode)"
    assert words(ground, 3) == [f"merge categories of fewer than {n} records (street)" for n in (10, 30)]
    assert words(ground, 4) == ["by nothing in step 3 (centroids)"]
    assert words(ground, 5)[0] == "share 0.15 in step 4 (noise); retention 0.6 in step 5 (pram)"
    assert words(ground, 6)[0].startswith("exchange street, ")


def test_a_column_that_is_left_out_is_no_longer_said_to_be_unknown(ground):
    without = {version.words: sf.Plan.from_yaml(version.text) for version in KINDS[7].versions(ground)}
    for said, plan in without.items():
        (gone,) = plan.steps[-1].changes
        assert said == f"leave {gone} out"
        assert all(gone not in each.columns for each in plan.unknown)
    assert all(len(plan.unknown) == 1 for plan in without.values())
