"""What columns look like before and after: bands that hold no one's value, categories that name no rare one."""

from __future__ import annotations

import datetime

import numpy as np
import polars as pl

import sfumato as sf
from sfumato.data.codebook import Codebook, Variable
from sfumato.report.looks import looks, nice_edges


def table(column: pl.Series | list, **said):
    return sf.read(pl.DataFrame({"x": column}), codebook=Codebook({"x": Variable(**said)}))


def bars(before, after):
    return [(bar.label, bar.before, bar.after) for look in looks("x", before, after) for bar in look.bars]


def test_edges_are_round_and_cover_all_but_the_ends():
    rng = np.random.default_rng(1)
    for values in (rng.normal(50, 10, 1000), rng.exponential(3e5, 1000), rng.normal(0, 1e-6, 1000)):
        edges = nice_edges(values)
        width = edges[1] - edges[0]
        low, high = np.quantile(values, [0.01, 0.99])
        assert edges[0] <= low < edges[0] + width
        assert edges[-1] - width <= high <= edges[-1] * (1 + 1e-12)
        assert round(width / 10 ** np.floor(np.log10(width) + 1e-9), 6) in (1, 2, 5, 10)


def test_every_record_is_in_a_band_and_an_extreme_one_is_not_named():
    values = [*map(float, range(20, 70))] * 4 + [109.0, None]
    told = bars(table(values, kind="continuous"), table([v and v + 1 for v in values], kind="continuous"))
    assert told[-1] == ("missing", 1, 1)
    assert sum(before for _, before, _ in told) == sum(after for _, _, after in told) == len(values)
    assert not {"109", "110"} & set(str(told).replace("'", " ").split())
    assert told[-2][0].endswith("and over")


def test_missing_codes_are_missing_and_not_numbers():
    said = {"kind": "continuous", "missing": [{"code": -9}]}
    told = bars(table([1.0, 2.0, -9.0] * 5, **said), table([1.0, 2.0, -9.0] * 5, **said))
    assert told[-1] == ("missing", 5, 5)
    assert sum(before for label, before, _ in told if label != "missing") == 10


def test_categories_of_few_records_have_no_name():
    told = bars(table(["a"] * 6 + ["b"] * 4 + ["c"] * 3), table(["a"] * 6 + ["rest"] * 7))
    assert told == [("rest", 0, 7), ("a", 6, 6), ("others (2 different)", 7, 0)]


def test_what_becomes_bands_of_text_is_drawn_by_itself():
    before, after = table([20, 30] * 5, kind="integer"), table(["young", "old"] * 5, kind="categorical")
    found = list(looks("x", before, after))
    assert [look.picture for look in found] == ["bands", "categories"]
    assert all(bar.after is None for bar in found[0].bars)
    assert all(bar.before is None for bar in found[1].bars)


def test_of_ids_only_the_number_is_told():
    told = bars(table(["x1", "x2"] * 9, role="identifier"), table(["p1", "p2"] * 9, role="identifier"))
    assert told == [("different values", 2, 2)]


def test_dates_are_told_by_year():
    days = pl.Series([datetime.date(1980 + i % 3, 5, 2) for i in range(30)])
    told = bars(table(days, kind="date"), table(days, kind="date"))
    assert told == [("1980", 10, 10), ("1981", 10, 10), ("1982", 10, 10)]


def test_whole_numbers_that_are_held_as_decimals_have_their_labels():
    file = table([1.0] * 6 + [2.0] * 7, kind="categorical", labels={1: "female", 2.0: "male"})
    assert {label for label, *_ in bars(file, file)} == {"1 female", "2 male"}
