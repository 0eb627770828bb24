import numpy as np
import polars as pl
import pytest

import sfumato as sf
from sfumato.data.codebook import Codebook
from sfumato.engines.duckdb import DuckDBDataset
from sfumato.engines.polars import PolarsDataset
from sfumato.errors import DataError, SecretError
from sfumato.tables import Flex, Table, build, perturb

SECRET = bytes(range(32))
RESERVED = {"contributors", "largest", "second", "cell_key", "status", "lower_level", "upper_level"}


def people(n=3000, seed=0):
    rng = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "id": np.arange(n),
            "town": rng.choice(list("abcdefgh"), n, p=[0.3, 0.2, 0.2, 0.1, 0.1, 0.06, 0.03, 0.01]),
            "age": rng.integers(0, 40, n).astype(str),
            "sex": rng.choice(["f", "m"], n),
            "income": rng.lognormal(7, 1, n).round(2),
        }
    )


def keyed(frame, by="town,age,sex", value=None, engine=PolarsDataset, **options):
    return build(engine(frame, Codebook()), by, value, record="id", secret=SECRET, **options)


@pytest.mark.parametrize("engine", [PolarsDataset, DuckDBDataset.of], ids=["polars", "duckdb"])
def test_keys_are_the_same_for_any_order_engine_and_type_of_ids(engine):
    frame = people(400)
    told = keyed(frame).cells
    assert keyed(frame.sample(fraction=1.0, shuffle=True, seed=3), engine=engine).cells.equals(told)
    assert keyed(frame.with_columns(pl.col("id").cast(pl.String)), engine=engine).cells.equals(told)


def test_a_key_is_the_sum_of_its_parts_keys_in_whatever_table():
    frame = people(800)
    small, large = keyed(frame, "town"), keyed(frame)
    both = small.cells.join(large.cells.filter(age="Total", sex="Total").select("town", other="cell_key"), on="town")
    assert both.height == 9
    assert both["cell_key"].equals(both["other"], check_names=False)
    parts = large.cells.filter((pl.col("town") != "Total") & (pl.col("age") != "Total") & (pl.col("sex") != "Total"))
    whole = sum(int(x * 2**53) for x in parts["cell_key"]) % 2**53
    assert int(large.cells.filter(town="Total", age="Total", sex="Total")["cell_key"][0] * 2**53) == whole
    nested = frame.with_columns(half=pl.col("town").replace_strict(dict(zip("abcdefgh", "xxxxyyyy", strict=True))))
    chain = keyed(nested, "half>town").cells
    assert chain.filter(town="Total")["cell_key"][0] == small.cells["cell_key"][0]


def test_the_same_cell_has_the_same_noise_in_every_table():
    frame = people()
    one, other = perturb(keyed(frame, "town,sex")).table, perturb(keyed(frame)).table
    both = one.cells.join(other.cells.filter(age="Total"), on=["town", "sex"], suffix="_other")
    assert both.height == 27
    assert both["count"].equals(both["count_other"], check_names=False)


def test_noise_over_many_cells_has_mean_nothing_and_the_variance():
    table = keyed(people(40_000, 1), "town,age,sex", margins=False)
    big = table.values > 8
    noise = (perturb(table).table.values - table.values)[big]
    n = len(noise)
    assert n > 500
    # five standard errors; the fourth moment of changes of 5 at most and variance 3 is 27 at most
    assert abs(noise.mean()) < 5 * np.sqrt(3 / n)
    assert abs(noise.var() - 3) < 5 * np.sqrt(27 / n)
    assert np.abs(noise).max() <= 5


@pytest.mark.slow
def test_noise_of_nested_cells_that_differ_by_a_record_is_independent():
    rng = np.random.default_rng(4)
    n = 20_000
    whole, record = rng.random(n), rng.random(n)  # keys of records are even, and so are the keys of sums
    rows = {"cell": [f"{i:05}" for i in range(n)], "count": np.full(n, 40)}
    one = perturb(Table.of(pl.DataFrame(rows | {"cell_key": whole}))).table.values - 40
    rows["count"] -= 1
    other = perturb(Table.of(pl.DataFrame(rows | {"cell_key": (whole - record) % 1}))).table.values - 39
    # five standard errors of a correlation, and of a variance with a fourth moment below 3 * 6^2
    assert abs(np.corrcoef(one, other)[0, 1]) < 5 / np.sqrt(n)
    assert np.var(one - other) == pytest.approx(6.0, abs=5 * np.sqrt(3 * 36 / n))


def test_nothing_but_codes_and_the_value_leaves(tmp_path):
    table = keyed(people(), "town,sex", "income")
    for given in (keyed(people(), "town,sex"), table):
        done = perturb(given)
        assert set(done.table.cells.columns) == {"town", "sex", given.value}
        for out in ("one.csv", "folder"):
            sf.hand_out(done, tmp_path / out, overwrite=True)
        texts = [path.read_text() for path in [tmp_path / "one.csv", *(tmp_path / "folder").iterdir()]]
        planted = [repr(x) for x in given.cells["cell_key"].to_list()]
        planted += [f"{x:.2f}" for x in given.cells["largest"].to_list()] if "largest" in given.cells.columns else []
        assert not [x for x in planted for text in texts if x in text]
        assert not (RESERVED - {"status"}) & set(texts[0].split("\n")[0].split(","))
        assert sf.read_table(tmp_path / "folder").cells.equals(done.table.cells)


def test_what_is_told_of_it():
    table = keyed(people(), "town,age")
    done = perturb(table)
    told, old, new = done.to_plain(), table.values, done.table.values
    assert (told["method"], told["D"], told["V"], told["js"]) == ("cell_key", 5, 3.0, 2)
    assert told["changed"] == np.sum(old != new)
    assert told["largest_change"] == np.max(np.abs(old - new)) <= 5
    assert told["d1"] == pytest.approx(np.mean(np.abs(old - new)))
    assert told["d2"] == pytest.approx(np.mean(np.abs(old - new) / old))
    assert told["d3"] == pytest.approx(np.mean(np.abs(np.sqrt(old) - np.sqrt(new))))
    assert told["false_zeros"] == np.sum(new == 0) > 0
    assert told["false_nonzeros"] == 0
    assert not np.isin(new, [1, 2]).any()
    sums = dict.fromkeys(table.cells["town"].unique(), 0.0)
    for town, age, x in done.table.cells.rows():
        sums[town] += x if age != "Total" else -x
    assert told["additivity_gap"] >= max(map(abs, sums.values())) > 0


def test_a_zero_stays_a_zero():
    rows = {"sex": ["Total", "f", "m"], "count": [400, 400, 0], "cell_key": [0.999, 0.999, 0.999]}
    assert perturb(Table.of(pl.DataFrame(rows))).table.values.tolist()[2] == 0


def test_weighted_counts_go_by_the_number_of_records():
    frame = people().with_columns(w=pl.lit(2.5))
    table = keyed(frame, "town,sex", weight="w")
    with pytest.raises(DataError, match="--weighted"):
        perturb(table)
    plain = perturb(keyed(frame, "town,sex")).table.values
    assert perturb(table, weighted=True).table.values == pytest.approx(2.5 * plain, abs=0.05)


def test_sums_are_perturbed_by_their_largest_contributions():
    table = keyed(people(), "town,sex", "income")
    done = perturb(table, flex=Flex(shares=(1.0, 0.5)))
    change = np.abs(done.table.values - table.values)
    assert done.method == "cell_key_magnitude"
    assert done.to_plain()["js"] is None
    assert np.all(change <= 5 * 0.3 * (table.column("largest") + 0.5 * table.column("second")) + 0.01)
    assert np.mean(change > 0) > 0.9
    with pytest.raises(DataError, match="sfumato:largest 4"):
        perturb(table, flex=Flex(shares=(1.0, 0.5, 0.2, 0.1)))


def test_without_keys_values_or_contributions_nothing_is_done():
    rows = {"sex": ["f", "m"], "count": [3, 4]}
    for more, said in [
        ({}, "--cell-keys"),
        ({"cell_key": [0.5, None]}, "every cell"),
        ({"cell_key": [0.5, 1.0]}, "every cell"),
        ({"cell_key": [0.5, 0.2], "count": [1.5, 2]}, "whole"),
        ({"cell_key": [0.5, 0.2], "count": [None, 2]}, "lacks the values"),
    ]:
        with pytest.raises(DataError, match=said):
            perturb(Table.of(pl.DataFrame(rows | more)))
    with pytest.raises(DataError, match="'largest' is missing"):
        perturb(Table.of(pl.DataFrame({"sex": ["f"], "v": [1.5], "cell_key": [0.5]}), "v"))


def test_ids_that_are_missing_or_stand_twice_and_a_missing_secret():
    frame = people(50)
    with pytest.raises(DataError, match="in several rows"):
        keyed(pl.concat([frame, frame[:1]]))
    with pytest.raises(DataError, match="in several rows"):
        keyed(pl.concat([frame, frame[:1].with_columns(sex=pl.lit("x"))]))
    with pytest.raises(DataError, match="missing values"):
        keyed(frame.with_columns(id=pl.when(pl.col("id") > 3).then(pl.col("id"))))
    data = PolarsDataset(frame, Codebook())
    with pytest.raises(SecretError, match="--secret-file"):
        build(data, "town", record="id")
    with pytest.raises(DataError, match="`record`"):
        build(data, "town", secret=SECRET)
    with pytest.raises(DataError, match="several records"):
        build(PolarsDataset(frame.with_columns(n=2), Codebook()), "town", record="id", secret=SECRET, count="n")


def test_perturbed_sums_have_nine_digits():
    """Sums of full doubles: each keeps its own nine, the small ones too; what is told of them is the rest's."""
    frame = people().with_columns(income=pl.col("income") * np.pi)
    table = keyed(frame, "town,age", "income")
    done = perturb(table).table.values
    assert all(float(f"{v:.9g}") == v for v in done)
    assert np.mean([float(f"{v:.6g}") != v for v in done]) > 0.9
    assert not any(float(f"{v:.9g}") == v for v in table.values[table.values > 0][:20])
