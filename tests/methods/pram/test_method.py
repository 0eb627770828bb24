import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal
from pydantic import ValidationError

from sfumato.data.codebook import Codebook, Variable
from sfumato.data.disclosure import Disclosure
from sfumato.draws import Draws
from sfumato.engines.polars import PolarsDataset
from sfumato.errors import DataError
from sfumato.methods.pram.method import Pram
from sfumato.release.run import run_steps

TRIPLE = [[0.9, 0.05, 0.05], [0.1, 0.8, 0.1], [0.2, 0.2, 0.6]]
LAWFUL = [
    Pram(columns=["g", "h"], retention=0.7),
    Pram(columns=["h"], retention=0.75, invariant=True),
    Pram(columns=["h"], retention=0.8, invariant=True, by=["g"], min_count=1),
    Pram(columns=["h"], matrix=TRIPLE, levels=["w", "v", "u"]),
]

CODE = Variable(kind="categorical", missing=[-9])
BOOK = Codebook(
    {
        "id": Variable(role="record", kind="integer"),
        "home": Variable(role="household", kind="integer"),
        "region": Variable(kind="categorical"),
        "code": CODE,
        "sex": Variable(kind="categorical"),
        "bmi": Variable(kind="continuous"),
    }
)
SHARES = {"A": 0.4, "B": 0.3, "C": 0.2, "D": 0.1}


def survey(n=200_000, seed=1):
    rng = np.random.default_rng(seed)
    sex = rng.choice(["f", "m"], n)
    code = np.where(sex == "f", rng.choice([1, 2, 3], n, p=[0.5, 0.3, 0.2]), rng.choice([1, 2], n, p=[0.4, 0.6]))
    return pl.DataFrame(
        {
            "id": np.arange(n),
            "home": np.arange(n) // 3,
            "region": rng.choice(list(SHARES), n, p=list(SHARES.values())),
            "code": np.where(rng.random(n) < 0.05, -9, code),
            "sex": sex,
            "bmi": rng.normal(size=n),
        }
    )


BIG = survey()
SMALL = BIG.head(600)


def ran(step, frame=SMALL, book=BOOK, secret=bytes(16)):
    assert step.check(book) == []
    return run_steps([step], PolarsDataset(frame, book), Draws(secret))


def crossed(before, after, levels):
    """How many of each true level (row) came out as each released one (column)."""
    return np.array([[((before == a) & (after == b)).sum() for b in levels] for a in levels])


def assert_follows(part, before, after):
    """The empirical matrix is the disclosed one within 4 standard errors; what is impossible never happens."""
    counts = crossed(before, after, part.levels)
    n = counts.sum(axis=1, keepdims=True)
    standard_error = np.sqrt(part.array * (1 - part.array) / np.maximum(n, 1))
    assert np.all(np.abs(counts / np.maximum(n, 1) - part.array)[n[:, 0] > 0] <= 4 * standard_error[n[:, 0] > 0])


# Law 6


def test_retention_is_the_diagonal_and_the_rest_is_spread_equally():
    done = ran(Pram(columns=["region"], retention=0.8), BIG)
    (part,) = done.disclosure
    assert part.levels == ("A", "B", "C", "D")
    assert np.allclose(part.array, np.full((4, 4), 0.2 / 3) + np.eye(4) * (0.8 - 0.2 / 3))
    assert_follows(part, BIG["region"], done.after.frame["region"])


def test_a_given_matrix_is_followed_in_the_order_of_the_levels():
    step = Pram(columns=["code"], matrix=TRIPLE, levels=[3, 1, 2])
    done = ran(step, BIG)
    (part,) = done.disclosure
    assert part.levels == (1, 2, 3)
    # row 3 of the plan is for level 2: it becomes row 2, its entries for 3, 1, 2 go to 1, 2, 3
    assert part.matrix[1] == (0.2, 0.6, 0.2)
    assert_follows(part, BIG["code"], done.after.frame["code"])


def test_invariant_keeps_the_margin_and_the_share_of_cells():
    done = ran(Pram(columns=["region"], retention=0.8, invariant=True), BIG)
    (part,) = done.disclosure
    before, after = BIG["region"], done.after.frame["region"]
    assert_follows(part, before, after)
    n = len(before)
    p = np.array([(before == v).mean() for v in SHARES])
    assert np.allclose(part.array.T @ p, p, atol=0.001)  # half a unit of the third digit, times what moves
    released = np.array([(after == v).mean() for v in SHARES])
    # the variance of a released share given the data is Σ p_i R_ij (1 − R_ij) / n
    standard_error = np.sqrt(p @ (part.array * (1 - part.array)) / n)
    assert np.all(np.abs(released - p) <= 4 * standard_error + 0.001)
    assert (before == after).mean() == pytest.approx(0.8, abs=4 * np.sqrt(0.16 / n) + 0.001)


def test_within_strata_each_keeps_its_own_margin_and_its_zeros():
    done = ran(Pram(columns=["code"], retention=0.7, invariant=True, by=["sex"]), BIG)
    women, men = done.disclosure
    assert (women.where, men.where) == ({"sex": "f"}, {"sex": "m"})
    for part in (women, men):
        rows = (BIG["sex"] == part.where["sex"]) & (BIG["code"] != -9)
        before, after = BIG["code"].filter(rows), done.after.frame["code"].filter(rows)
        assert_follows(part, before, after)
        assert (before == after).mean() == pytest.approx(0.7, abs=4 * np.sqrt(0.21 / len(before)) + 0.0015)
    assert 3 not in done.after.frame.filter(pl.col("sex") == "m")["code"]


def test_columns_are_drawn_independently():
    done = ran(Pram(columns=["region", "code", "sex"], retention=0.6), BIG)
    moved = [
        (BIG[n] != done.after.frame[n]).filter(BIG["code"] != -9).cast(pl.Float64).to_numpy()
        for n in ("region", "code", "sex")
    ]
    r = np.corrcoef(moved)[np.triu_indices(3, 1)]
    assert np.all(np.abs(r) < 4 / np.sqrt(len(moved[0])))
    assert [part.column for part in done.disclosure] == ["region", "code", "sex"]


# Draws


def test_another_secret_or_strength_is_an_independent_draw_an_equal_one_the_same():
    step = Pram(columns=["sex"], retention=0.7)
    first = ran(step, BIG).after.frame
    assert first.equals(ran(step, BIG).after.frame)
    moved = (first["sex"] != BIG["sex"]).to_numpy()
    for other in (
        ran(step, BIG, secret=bytes(15) + b"x"),
        ran(Pram(columns=["sex"], retention=0.71), BIG),
    ):
        also = (other.after.frame["sex"] != BIG["sex"]).to_numpy()
        assert abs(np.corrcoef(moved, also)[0, 1]) < 4 / np.sqrt(BIG.height)


def test_a_corrected_value_gets_a_new_draw_and_leaves_the_others_alone():
    """Half of the As are corrected to B: whether the old value stayed tells nothing of whether the new one does."""
    step = Pram(columns=["region"], retention=0.5)
    wrong = (pl.col("region") == "A") & (pl.col("id") % 2 == 0)
    corrected = SMALL.with_columns(region=pl.when(wrong).then(pl.lit("B")).otherwise("region"))
    one, two = ran(step).after.frame["region"], ran(step, corrected).after.frame["region"]
    same = (SMALL["region"] == corrected["region"]).to_numpy()
    assert (one == two).filter(pl.Series(same)).all()
    stayed = (one == "A").to_numpy()[~same], (two == "B").to_numpy()[~same]
    assert abs(np.corrcoef(*stayed)[0, 1]) < 4 / np.sqrt((~same).sum())


def test_a_stratum_whose_matrix_stays_keeps_its_draws():
    """Else an update elsewhere would give a second, independent draw to average with."""
    step = Pram(columns=["code"], retention=0.8, invariant=True, by=["sex"])
    men = pl.col("sex") == "m"
    changed = SMALL.with_columns(code=pl.when(men & (pl.col("code") == 2)).then(1).otherwise("code"))
    assert changed.filter(men)["code"].n_unique() == 2  # a single value and the missing code
    one, two = ran(step).after.frame, ran(step, changed).after.frame
    assert_frame_equal(one.filter(~men), two.filter(~men))


def test_a_household_shares_its_draw():
    frame = SMALL.with_columns(sex=pl.lit("f")).with_columns(
        sex=pl.when(pl.col("home") % 2 == 0).then(pl.lit("m")).otherwise("sex")
    )
    done = ran(Pram(columns=["sex"], retention=0.6, draw_by="household"), frame)
    assert done.after.frame.group_by("home").agg(pl.col("sex").n_unique())["sex"].max() == 1
    assert 0.1 < (done.after.frame["sex"] != frame["sex"]).mean() < 0.7
    assert done.disclosure.parts[0].draw_by == "household"


# Types, missing values


@pytest.mark.parametrize(
    "dtype", [pl.String, pl.Enum(["D", "C", "B", "A"]), pl.Categorical, pl.Boolean, pl.Int8, pl.Float64, pl.UInt16]
)
def test_every_type_of_category_keeps_its_type(dtype):
    values = SMALL["region"] if dtype not in (pl.Boolean, pl.Int8, pl.Float64, pl.UInt16) else SMALL["id"] % 2
    frame = SMALL.with_columns(region=values.cast(dtype).scatter(3, None))
    done = ran(Pram(columns=["region"], retention=0.5), frame)
    out = done.after.frame["region"]
    assert out.dtype == frame.schema["region"]
    assert out[3] is None
    assert out.null_count() == 1
    assert 0.4 < (out == frame["region"]).mean() < 0.6
    levels = done.disclosure.parts[0].levels
    assert levels == (tuple("ABCD") if values.dtype == pl.String else (0, 1))
    assert Disclosure.from_plain(done.disclosure.to_plain()) == done.disclosure


def test_equal_categories_get_equal_draws_whatever_their_type():
    frame = SMALL.with_columns(region=pl.col("id") % 3)
    out = [
        ran(Pram(columns=["region"], retention=0.5), frame.with_columns(pl.col("region").cast(t))).after.frame["region"]
        for t in (pl.Int64, pl.Float64, pl.UInt8)
    ]
    assert out[0].to_list() == out[1].to_list() == out[2].to_list()


def test_missing_values_stay():
    frame = SMALL.with_columns(code=pl.when(pl.col("id") % 7 == 0).then(float("nan")).otherwise("code"))
    done = ran(Pram(columns=["code"], retention=0.5), frame)
    out = done.after.frame["code"]
    assert (out.is_nan() == frame["code"].is_nan()).all()
    assert ((out == -9) == (frame["code"] == -9)).all()
    assert done.disclosure.parts[0].levels == (1, 2, 3)


def test_a_level_that_the_data_lack_may_come_out():
    step = Pram(columns=["sex"], retention=0.5, levels=["f", "m", "x"])
    done = ran(step)
    assert set(done.after.frame["sex"]) == {"f", "m", "x"}
    assert np.allclose(np.diagonal(done.disclosure.parts[0].array), 0.5)
    numbers = SMALL.with_columns(region=(pl.col("id") % 2).cast(pl.String))
    assert set(ran(Pram(columns=["region"], retention=0.5, levels=[0, 1, 2]), numbers).after.frame["region"]) == {
        "0",
        "1",
        "2",
    }


def test_a_single_category_stays_and_the_custodian_is_told():
    frame = SMALL.with_columns(region=pl.lit("A"))
    done = ran(Pram(columns=["region"], retention=0.5), frame)
    assert done.after.frame.equals(frame)
    assert "stays as it is" in done.steps[0].notes[0]
    whole = SMALL.with_columns(code=pl.when(pl.col("sex") == "m").then(1).otherwise(pl.col("id") % 2))
    told = ran(Pram(columns=["code"], retention=0.7, invariant=True, by=["sex"]), whole)
    assert "single category in 1 strata" in told.steps[0].notes[0]
    assert "singular" in ran(Pram(columns=["sex"], retention=0.5)).steps[0].notes[0]


def test_missing_strata_are_strata():
    frame = SMALL.with_columns(sex=pl.when(pl.col("id") % 3 > 0).then("sex"))
    done = ran(Pram(columns=["region"], retention=0.8, invariant=True, by=["sex"]), frame)
    assert [part.where["sex"] for part in done.disclosure] == [None, "f", "m"]
    floats = frame.with_columns(sex=pl.col("sex").replace_strict({"f": 1.0, "m": float("nan")}, default=None))
    done = ran(Pram(columns=["region"], retention=0.8, invariant=True, by=["sex"]), floats)
    assert [part.where["sex"] for part in done.disclosure] == [None, 1.0]
    assert 0.7 < (done.after.frame["region"] == frame["region"]).mean() < 0.9


# Bad input


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({}, "either `retention` or `matrix`"),
        ({"retention": 0.8, "matrix": [[1]]}, "either `retention` or `matrix`"),
        ({"retention": 0}, "greater than 0"),
        ({"retention": -0.1}, "greater than 0"),
        ({"retention": 80}, "less than or equal to 1"),
        ({"retention": float("nan")}, "finite"),
        ({"matrix": [[0.9, 0.2], [0.2, 0.8]]}, "sum to 1"),
        ({"matrix": [[1.1, -0.1], [0.2, 0.8]]}, "from 0 to 1"),
        ({"matrix": [[0.9, 0.1]]}, "square"),
        ({"matrix": []}, "a row for each"),
        ({"matrix": [[0.9, 0.1], [0.1, 0.9]], "levels": ["a"]}, "each of its `levels`"),
        ({"matrix": [[0.9, 0.1], [0.1, 0.9]], "invariant": True}, "give `retention`"),
        ({"matrix": {"sex": [[1]]}}, "not among columns"),
        ({"retention": 0.8, "levels": ["a", "a"]}, "each once"),
        ({"retention": 0.8, "by": ["region"]}, "only once"),
        ({"retention": 0.8, "by": ["sex"]}, "`by` changes nothing without `invariant: true`: write that, or leave"),
        ({"columns": ["region", "sex"], "matrix": [[1]]}, "one for each"),
        ({"columns": ["region", "sex"], "matrix": {"sex": [[1]]}}, "none for region"),
        ({"columns": ["region", "sex"], "retention": 0.8, "levels": ["a"]}, "one for each"),
        ({"retention": 0.8, "secret": "x"}, "Extra inputs"),
    ],
)
def test_parameters_that_make_no_sense(wrong, says):
    with pytest.raises(ValidationError, match=says):
        Pram(**{"columns": ["region"], **wrong})


@pytest.mark.parametrize(
    ("column", "says"),
    [
        ("bmi", "add `noise`, or `recode` it into bands"),
        ("id", "role record"),
        ("home", "role household"),
        ("nobody", "there is no column 'nobody'"),
    ],
)
def test_columns_that_are_no_categories(column, says):
    assert any(says in p for p in Pram(columns=[column], retention=0.8).check(BOOK))


def test_dates_and_text_are_sent_elsewhere():
    book = Codebook({**BOOK, "day": Variable(kind="date"), "note": Variable(kind="text")})
    problems = Pram(columns=["day", "note"], retention=0.8).check(book)
    assert "`swap`" in problems[0]
    assert "`drop`" in problems[1]


def test_draws_need_ids_and_strata_categories():
    book = BOOK.without("id", "home")
    assert "role: record" in Pram(columns=["region"], retention=0.8).check(book)[0]
    assert "role: household" in Pram(columns=["region"], retention=0.8, draw_by="household").check(book)[0]
    assert "continuous" in Pram(columns=["region"], retention=0.8, invariant=True, by=["bmi"]).check(BOOK)[0]


RARE = SMALL.with_columns(region=pl.when(pl.col("id") == 5).then(pl.lit("zqrare")).otherwise("region"))
DATES = SMALL.with_columns(region=pl.date(2024, 1, 1))


@pytest.mark.parametrize(
    ("step", "frame", "says"),
    [
        ({"retention": 0.8, "levels": ["A", "B", "C", "D"]}, RARE, "does not list"),
        ({"retention": 0.8, "levels": [True, False]}, SMALL, "do not fit"),
        ({"matrix": [[0.5, 0.5], [0.5, 0.5]]}, RARE, "another number"),
        ({"retention": 0.8, "invariant": True}, RARE, r"min_count \(3\)"),
        ({"retention": 0.8, "invariant": True, "min_count": 1, "min_stratum": 1000}, RARE, r"min_stratum \(1000\)"),
        ({"retention": 0.1, "invariant": True}, SMALL, "higher retention"),
        ({"retention": 0.8}, DATES, "holds dates"),
        ({"retention": 0.8}, SMALL.with_columns(region=pl.lit(None, pl.String)), "no value at all"),
        ({"retention": 0.8}, SMALL.with_columns(region=pl.col("id").cast(pl.String)), "more than 200 categories"),
        (
            {"retention": 0.8, "levels": ["A", "B", "C", "D", "E"]},
            SMALL.with_columns(pl.col("region").cast(pl.Enum(list("ABCD")))),
            "cannot take all",
        ),
    ],
)
def test_data_that_do_not_fit_are_refused_without_telling_them(step, frame, says):
    with pytest.raises(DataError, match=says) as told:
        ran(Pram(columns=["region"], **step), frame)
    assert "zqrare" not in str(told.value)
    assert "600" not in str(told.value)


def test_small_strata_are_not_told():
    frame = SMALL.with_columns(sex=pl.when(pl.col("id") < 5).then(pl.lit("zqx")).otherwise("sex"))
    with pytest.raises(DataError, match="combinations of sex") as told:
        ran(Pram(columns=["region"], retention=0.8, invariant=True, by=["sex"]), frame)
    assert "zqx" not in str(told.value)


def test_an_empty_table_is_left_alone_where_the_levels_are_given():
    step = Pram(columns=["region"], retention=0.8, levels=["A", "B"])
    assert ran(step, SMALL.clear()).after.frame.equals(SMALL.clear())


def test_rare_categories_that_are_told_get_a_note_unless_the_plan_lists_them():
    frame = pl.DataFrame({"id": range(100), "g": ["a"] * 60 + ["b"] * 39 + ["c"]})
    book = Codebook({"id": Variable(role="record", kind="integer"), "g": Variable(kind="categorical")})

    def notes(**more):
        step = Pram(columns=["g"], retention=0.8, **more)
        return run_steps([step], PolarsDataset(frame, book), Draws(bytes(16))).steps[0].notes

    assert any("are rare" in note for note in notes())
    assert not any("are rare" in note for note in notes(levels=["a", "b", "c"]))
