import polars as pl
import pytest

import sfumato as sf
from sfumato.errors import DataError, FileError
from sfumato.release.package.analysis import open_releases
from tests.reasons import nobody_knows

pytestmark = pytest.mark.usefixtures("few_measures")

ROWS = pl.DataFrame(
    {
        "id": range(60),
        "age": [20.0 + i % 17 for i in range(60)],
        "fev": [1.0 + i % 7 / 10 for i in range(60)],
        "sex": ["f", "m"] * 30,
    }
)


def release(place, name, rows, columns, sd=1.0, record="record"):
    kinds = {n: {"kind": "continuous"} for n in rows.columns if n in ("age", "fev")}
    plan = sf.Plan(
        variables={"id": {"role": record}, **kinds},
        steps=[sf.steps.Noise(columns=columns, sd=sd)],
        unknown=nobody_knows("id"),
    )
    rows.write_csv(place / f"{name}.csv")
    sf.protect(plan, place / f"{name}.csv", secret=bytes(16)).write(place / name)
    return place / name


def test_one_release_comes_with_what_is_known_of_it(tmp_path):
    opened = open_releases([release(tmp_path, "one", ROWS, ["age"])])
    assert opened.frame.columns == ROWS.columns
    assert opened.codebook["age"].kind == "continuous"
    assert opened.disclosure.of("age")[0].sd.tolist() == [1]


def test_two_are_joined_on_the_id_whatever_their_order(tmp_path):
    one = release(tmp_path, "one", ROWS.select("id", "age", "sex"), ["age"])
    two = release(tmp_path, "two", ROWS.select("id", "fev").sample(fraction=1, shuffle=True, seed=1).head(50), ["fev"])
    opened = open_releases([one, two])
    assert opened.frame.height == 50
    assert opened.frame.columns == ["id", "age", "sex", "fev"]
    assert [p.columns for p in opened.disclosure] == [("age",), ("fev",)]
    after = pl.read_csv(two / "data.csv")
    assert opened.frame.select("id", "fev").sort("id").equals(after.select("id", "fev").sort("id"))


def test_columns_of_both_must_be_equal(tmp_path):
    one = release(tmp_path, "one", ROWS, ["age"])
    same = release(tmp_path, "same", ROWS.select("id", "fev", "sex"), ["fev"])
    with pytest.raises(DataError, match="'fev' differs"):
        open_releases([one, same])
    again = release(tmp_path, "again", ROWS.select("id", "age", "sex"), ["age"])
    assert len(open_releases([one, again]).disclosure) == 1, "an equal release repeats its draws"
    with pytest.raises(DataError, match="'age' differs"):
        open_releases([one, release(tmp_path, "stronger", ROWS.select("id", "age"), ["age"], sd=2.0)])


def test_other_people_are_refused_and_ids_of_other_types_are_joined(tmp_path):
    one = release(tmp_path, "one", ROWS.select("id", "age"), ["age"])
    others = release(tmp_path, "others", ROWS.select(pl.col("id") + 1000, "fev"), ["fev"])
    with pytest.raises(DataError, match="same people"):
        open_releases([one, others])
    text = release(tmp_path, "text", ROWS.select(pl.format("p{}", "id").alias("id"), "fev"), ["fev"])
    with pytest.raises(DataError, match="same people"):
        open_releases([one, text])
    mixed = pl.concat([ROWS.select(pl.col("id").cast(pl.String), "fev"), pl.DataFrame({"id": ["x"], "fev": [2.0]})])
    joined = open_releases([one, release(tmp_path, "mixed", mixed, ["fev"])])
    assert joined.frame.height == ROWS.height


def test_a_changed_file_is_not_the_one_described(tmp_path):
    one = release(tmp_path, "one", ROWS, ["age"])
    pl.read_csv(one / "data.csv").with_columns(age=pl.lit("x")).write_csv(one / "data.csv")
    with pytest.raises(DataError, match="differs in 'age'"):
        open_releases([one])
    with pytest.raises(FileError):
        open_releases([tmp_path])


def test_numbers_that_come_back_whole_are_the_ones_described(tmp_path):
    one = release(tmp_path, "one", ROWS.with_columns(fev=pl.col("fev").round(0)), ["age"])
    assert open_releases([one]).frame.height == 60
