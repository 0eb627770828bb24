"""The search that goes on until sums of hidden cells, contributors and whole numbers hold."""

import numpy as np
import polars as pl
import pytest

import sfumato as sf
from sfumato.errors import DataError
from sfumato.tables.protect import protect

KEY = bytes(range(32))


def firms(seed=3, n=26):
    rng = np.random.default_rng(seed)
    rows = {"a": rng.integers(0, 4, n), "b": rng.integers(0, 3, n), "x": rng.lognormal(2, 1.3, n).round(1)}
    return pl.DataFrame(rows).with_columns(pl.col("a", "b").cast(pl.String))


def table(seed=3):
    return sf.tables.build(sf.read(firms(seed)), ["a", "b"], "x")


@pytest.mark.parametrize("seed", range(3))
def test_a_contributor_finds_what_an_outsider_does_not_until_it_is_prevented(seed):
    outsider, inside = (protect(table(seed), ["n(2)", "p(15)"], reader=r) for r in ("outsider", "contributor"))
    assert outsider.ok  # what it leaves open is reported
    assert inside.ok
    assert (inside.audit.insider, inside.unions["unsafe"]) == (0, 0)
    assert inside.secondary_value >= outsider.secondary_value
    if outsider.audit.insider == 0 and outsider.unions["unsafe"] == 0:
        assert inside.secondary_value == outsider.secondary_value


def test_some_tables_need_it():
    done = [protect(table(seed), ["n(2)", "p(15)"], reader="outsider") for seed in range(3)]
    assert any(one.audit.insider or one.unions["unsafe"] for one in done)


@pytest.mark.slow
def test_how_good_a_pattern_is_goes_by_the_first_search():
    """Sums of hidden cells and contributors only add to what is asked: no pattern is cheaper than the first bound."""
    for seed in range(3):
        outsider, inside = (protect(table(seed), ["n(2)", "p(15)"], reader=r) for r in ("outsider", "contributor"))
        assert outsider.suppression.optimal
        assert inside.suppression.gap == pytest.approx(1 - outsider.secondary_value / inside.secondary_value, abs=1e-6)


@pytest.mark.slow
def test_the_same_secret_gives_the_same_pattern_and_another_one_may_not():
    one, same = (protect(table(), ["n(2)", "p(15)"], secret=KEY, reader="outsider") for _ in range(2))
    assert one.table.cells.equals(same.table.cells)
    assert one.keyed
    plain = protect(table(), ["n(2)", "p(15)"], reader="outsider")
    assert not plain.keyed
    assert plain.secondary_value <= one.secondary_value  # true values, whatever the costs
    assert any("secret" in note for note in plain.notes)
    assert not any("secret" in note for note in one.notes)
    others = [protect(table(), ["n(2)", "p(15)"], secret=bytes([k] * 16), reader="outsider") for k in range(1, 9)]
    assert any(not other.table.cells.equals(one.table.cells) for other in others)


def test_stages_end_in_the_pattern_that_is_handed_out():
    done = protect(table(), ["n(2)", "p(15)"], reader="outsider")
    assert done.stages[0]["name"] == "elimination"
    assert done.stages[-1]["secondary_value"] == done.secondary_value
    values = [stage["secondary_value"] for stage in done.stages[1:]]
    assert values == sorted(values, reverse=True)  # after flows have made it safe, each stage only makes it cheaper


def test_counts_have_no_unions_and_no_insiders():
    counts = sf.tables.build(sf.read(firms()), ["a", "b"])
    told = protect(counts, "n(3)").to_plain()
    assert told["unions"] is None
    assert told["insiders"] == {"exact": None, "below_level": None}
    assert told["reader"]["contributor"] is False


def test_a_table_file_without_ids_holds_against_who_is_alone_but_knows_no_unions():
    lines = table().cells.select("a", "b", "x", "contributors", "largest", "second")
    done = protect(sf.tables.Table.of(lines, "x"), ["n(2)", "p(15)"])
    assert done.unions is None
    assert done.reader.contributor
    assert done.audit.insider == 0


@pytest.mark.slow
def test_letters_hide_more_or_fail_with_a_way_out():
    rng = np.random.default_rng(0)
    people = pl.DataFrame({name: rng.integers(0, 3, 30).astype(str) for name in "abc"})
    counts = sf.tables.build(sf.read(people), "a,b,c")
    one, two = (protect(counts, "n(3)", tell_unsafe=told) for told in (False, True))
    assert one.ok
    assert set(one.table.cells["status"].unique()) == {"s", "x"}
    assert two.reader.of_letter("u") == (1, 2)
    if two.ok:
        assert two.secondary_value >= one.secondary_value
    else:
        assert any("Two letters" in way for way in two.ways_out)


def test_less_than_readers_know_is_refused():
    with pytest.raises(DataError, match="below 1"):
        protect(sf.tables.build(sf.read(firms()), "a,b"), "n(3)", lower=0)
