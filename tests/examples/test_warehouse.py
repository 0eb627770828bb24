"""The invented warehouse: complete, the same everywhere, and with what makes a gate's work hard."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from sfumato.data.roles import Kind, Role
from sfumato.errors import DataError
from sfumato.examples import warehouse, warehouse_codebook, warehouse_levels, warehouse_never
from sfumato.gate.reading import records_of

BOOK = warehouse_codebook()
CLINICAL = [name for name in BOOK if BOOK[name].kind in (Kind.CATEGORICAL, Kind.ORDINAL) and name != "event"]


@pytest.fixture(scope="module")
def people():
    return warehouse(50_000)


@pytest.mark.parametrize("n", [100, 1001])
def test_any_size(n):
    frame = warehouse(n)
    assert frame.columns == list(BOOK)
    assert frame["id"].to_list() == list(range(1, n + 1))


@pytest.mark.parametrize("n", [0, 99, 5_000_001])
def test_refuses_sizes_out_of_range(n):
    with pytest.raises(DataError, match="between 100 and 5000000"):
        warehouse(n)


def test_same_seed_same_table():
    assert warehouse(500, seed=3).equals(warehouse(500, seed=3))
    assert not warehouse(500, seed=3).equals(warehouse(500, seed=4))


def test_draws_are_the_raw_words_of_the_generator():
    """Sex is the first draw: the upper 16 bits of each word against 52% of 65,536."""
    words = np.random.PCG64(7).random_raw(300)
    expected = ["F" if int(word) >> 48 < 52 * 65_536 // 100 else "M" for word in words]
    assert warehouse(300, seed=7)["sex"].to_list() == expected


def test_twelve_clinical_variables_of_two_to_twenty_codes(people):
    assert len(CLINICAL) == 12
    sizes = [people[name].n_unique() for name in CLINICAL]
    assert min(sizes) == 2
    assert max(sizes) == 20


def test_what_cannot_be_does_not_occur_and_nearly_does(people):
    [never] = warehouse_never()
    assert people.filter(*(pl.col(name) == code for name, code in never.items())).is_empty()
    assert people.filter(pl.col("pregnant") == "yes").height > 100


def test_some_values_are_missing(people):
    for name in ("deprivation", "smoker", "outcome", "bmi"):
        share = people.select(BOOK.missing(name, people.schema[name]).mean()).item()
        assert 0.005 < share < 0.1, name


def test_hiv_is_rare_and_sensitive(people):
    assert BOOK["hiv"].role == Role.SENSITIVE
    assert 0.002 < (people["hiv"] == "yes").mean() < 0.01


def test_cost_has_a_long_tail(people):
    cost = people["cost"]
    assert cost.min() > 0
    assert cost.mean() > 1.3 * cost.median()
    assert cost.skew() > 2


def test_things_hang_together(people):
    old = pl.col("age").cast(pl.String) >= "75-79"
    by = people.group_by(old.alias("old")).agg(
        pl.col("event").mean(), (pl.col("outcome") == "died").mean(), pl.col("comorbidity").mean()
    ).sort("old")  # fmt: skip
    for name in ("event", "outcome", "comorbidity"):
        assert by[name][1] > 1.5 * by[name][0]
    assert people.filter(pl.col("ward") == "maternity")["sex"].unique().to_list() == ["F"]
    assert people["time"].is_between(1, 730).all()
    assert people["stay"].is_between(0, 180).all()


def test_levels_cover_all_codes_and_some_do_not_nest():
    levels = warehouse_levels()
    told = records_of(warehouse(20_000), BOOK, record="id", levels=levels, never=warehouse_never())
    assert {variable for variable, _ in told.structure.levels} == set(levels)
    area, setting = levels["region"]["area"], levels["region"]["setting"]
    pairs = {(area[one], setting[one]) for one in area}
    assert len(pairs) > len(set(area.values())) > 1
    assert len(pairs) > len(set(setting.values())) > 1
