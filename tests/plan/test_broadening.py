"""Keys are broadened until few people stand nearly alone, by rules that show no rare value."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from sfumato.data.codebook import Variable
from sfumato.plan.broadening import broaden

KEY = Variable(role="key", kind="categorical")


def sizes(frame, found):
    """Records in each combination of what `found` makes of the keys."""
    made = []
    for name, form in found.forms.items():
        column = pl.col(name)
        if form.leaves:
            continue
        if form.keep:
            column = pl.when(column.is_in(list(form.keep))).then(column)
        if form.band:
            column = pl.lit(pl.Series(np.searchsorted(form.band, frame[name].to_numpy(), side="right")))
        made.append(column.alias(name))
    return frame.select(made).group_by(pl.all()).len()["len"] if made else pl.Series([frame.height])


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(5)
    n = 3000
    return pl.DataFrame(
        {
            "sex": rng.choice(["f", "m"], n),
            "town": [f"town {int(v)}" for v in rng.zipf(1.6, n).clip(max=500)],
            "job": rng.choice(list("abcdefghij"), n),
            "age": rng.integers(18, 90, n),
            "name": [f"name {i}" for i in range(n)],
        }
    )


@pytest.mark.parametrize("smallest", [5, 10])
def test_few_are_left_in_small_combinations(frame, smallest):
    found = broaden(frame, dict.fromkeys(frame.columns, KEY), ["age"], smallest=smallest)
    size = sizes(frame, found)
    small = size.filter(size < smallest).sum()
    assert small <= 0.05 * frame.height
    assert found.some_small == (small > 0)
    assert found.forms["name"].leaves
    assert found.left == tuple(n for n in frame.columns if n != "name")


def test_no_rare_category_is_named(frame):
    found = broaden(frame, dict.fromkeys(frame.columns, KEY), ["age"], smallest=10)
    counts = dict(frame["town"].value_counts().iter_rows())
    assert found.forms["town"].keep
    assert all(counts[v] >= 0.01 * frame.height for v in found.forms["town"].keep)


def test_cut_points_are_round(frame):
    cuts = broaden(frame.select("age"), {"age": KEY}, ["age"], smallest=5).forms["age"].band
    assert cuts == tuple(sorted(set(cuts)))
    assert 2 < len(cuts) <= 7
    assert all(c == round(c) for c in cuts)


def test_what_is_broad_enough_stays_as_it_is(frame):
    found = broaden(frame.select("sex", "job"), {"sex": KEY, "job": KEY}, smallest=10)
    assert not any(form.keep or form.leaves for form in found.forms.values())
    assert not found.some_small


def test_missing_codes_keep_categories_of_their_own():
    frame = pl.DataFrame({"x": [1] * 50 + [2] * 50 + [-9] * 3 + [None] * 50})
    book = {"x": KEY.model_copy(update={"missing": Variable(missing=[-9]).missing})}
    found = broaden(frame, book, smallest=5, share=0.0)
    assert found.forms["x"].leaves  # nothing can hide the three
    assert broaden(frame, book, smallest=5).left == ("x",)


def test_row_order_changes_nothing(frame):
    keys = dict.fromkeys(frame.columns, KEY)
    shuffled = frame.sample(fraction=1, shuffle=True, seed=2)
    assert broaden(frame, keys, ["age"], smallest=5) == broaden(shuffled, keys, ["age"], smallest=5)


def test_a_table_of_few_people_keeps_nothing():
    found = broaden(pl.DataFrame({"sex": ["f", "m"]}), {"sex": KEY}, smallest=5)
    assert found.left == ()
    assert not found.some_small
