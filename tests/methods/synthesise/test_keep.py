"""What relations say, which of them are refused, and that copies keep them."""

import datetime

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from sfumato.data.codebook import Codebook, Variable
from sfumato.draws import Draws
from sfumato.engines.polars import PolarsDataset
from sfumato.errors import DataError
from sfumato.methods.synthesise.keep import in_order, read
from sfumato.methods.synthesise.lookup import Lookup
from sfumato.methods.synthesise.method import Synthesise
from sfumato.methods.synthesise.ordered import Order
from sfumato.release.run import run_steps

BOOK = Codebook(
    {
        "id": Variable(role="record", kind="integer"),
        "sex": Variable(role="key", kind="categorical"),
        "day": Variable(kind="integer", missing=[-9]),
        "futime": Variable(kind="continuous", missing=[-9]),
        "born": Variable(kind="date"),
        "seen": Variable(kind="date"),
        "district": Variable(role="key", kind="categorical"),
        "region": Variable(role="key", kind="categorical"),
        "home": Variable(role="household", kind="integer"),
    }
)
KEEP = ("day <= futime", "born < seen", "region of district")


def cohort(n=300, seed=1, exceptions=0):
    """Days before the end, dates of which one comes first, regions of districts; some are missing."""
    rng = np.random.default_rng(seed)
    end = np.round(rng.lognormal(5, 0.8, n), 1)
    day = np.floor(end * rng.beta(1, 1.5, n))
    born = rng.integers(-9000, 5000, n)
    district, first = rng.integers(0, 12, n), datetime.date(1990, 1, 1)
    region = np.where(np.arange(n) < exceptions, 9, district // 4)
    day[:exceptions] = end[:exceptions] + 5
    return pl.DataFrame(
        {
            "id": np.arange(n),
            "sex": rng.choice(["f", "m"], n),
            "day": np.where(rng.random(n) < 0.1, -9, day).astype(np.int64),
            "futime": np.where(rng.random(n) < 0.1, -9, end),
            "born": [first + datetime.timedelta(days=int(b)) for b in born],
            "seen": [first + datetime.timedelta(days=int(b)) for b in born + rng.integers(1, 9000, n)],
            "district": [f"D{d:02}" for d in district],
            "region": [f"R{r}" for r in region],
        }
    )


def run(frame, book=BOOK, secret=bytes(16), **more):
    book = Codebook({name: book[name] for name in frame.columns})
    step = Synthesise(**{"copies": 1} | more)
    assert step.check(book) == []
    return run_steps([step], PolarsDataset(frame, book), Draws(secret))


def broken(table, keep, book=BOOK):
    """How many records break each relation."""
    out = {}
    for text in keep:
        one = read(text, table.columns)
        counts = one.counted(table) if isinstance(one, Lookup) else None
        out[text] = one.broken(table, book) if counts is None else Lookup.broken(counts)
    return out


def within_ranges(table, frame, names=("day", "futime", "born", "seen")):
    for name in names:
        held, out = frame[name].filter(frame[name].cast(pl.Int64) != -9), table[name]
        out = out.filter(out.cast(pl.Int64) != -9)
        assert held.min() <= out.min()
        assert out.max() <= held.max()


NOTHING = dict.fromkeys(KEEP, 0)


def test_relations_are_read():
    assert read("a <= b") == Order("a", "b", False)
    assert read("first day<last day") == Order("first day", "last day", True)
    assert read(" region of district ") == Lookup("region", "district")
    assert read("date of birth <= date of death").names == ("date of birth", "date of death")
    assert read("place of date of birth", {"place", "date of birth"}).by == "date of birth"


@pytest.mark.parametrize("text", ["a >= b", "a = b", "a", "a <= b <= c", "of b", "<= b", ""])
def test_what_is_no_relation_is_refused(text):
    with pytest.raises(ValidationError, match="no relation"):
        Synthesise(keep=[text])


def test_what_is_looked_up_comes_after_what_tells_it():
    chain = [read("x of y"), read("y of z")]
    assert in_order(["x", "y", "a", "z", "b"], chain, ()) == ("a", "z", "y", "x", "b")
    assert in_order(["x", "y"], chain, ("x", "y")) == ("x", "y")


@pytest.mark.parametrize(
    ("keep", "more", "said"),
    [
        (["day <= nowhere"], {}, "no column 'nowhere'"),
        (["day <= born"], {}, "a date with a number"),
        (["sex <= day"], {}, "only numbers and dates"),
        (["day <= day"], {}, "twice"),
        (["id <= day"], {}, "neither drawn nor"),
        (["day <= futime", "futime < day"], {}, "circle of orders: day, futime"),
        (["region of district", "district of region"], {}, "circle of look-ups: district, region"),
        (["region of district", "region of sex"], {}, "told by several"),
        (["day <= futime", "day <= futime"], {}, "more than once"),
        (["day <= futime"], {"columns": ["sex"]}, "both columns stay true"),
        (["region of district"], {"columns": ["region"]}, "would give the true region"),
        (["region of district"], {"order": ["region", "district"]}, "`order` lists region before district"),
        (["region of district"], {"predictors": {"region": ["district"]}}, "`predictors` lists region"),
        (["region of day"], {"smooth": True}, "between donors"),
        (["day of district", "day <= futime"], {}, "stands in another relation"),
        (["region of futime", "day <= futime"], {}, "drawn as its difference from day"),
        (["day <= futime"], {"where": "missing", "columns": ["day"]}, "not for missing cells"),
        (["day <= futime"], {"by": ["day"]}, "in `by`"),
        (["day <= late"], {"derived": {"late": "futime + 1"}}, "computed by `derived`"),
        (
            ["region of district"],
            {"rules": [{"if": "sex == 'f'", "column": "region", "value": "R1"}]},
            "a rule settles region",
        ),
        (
            ["region of district"],
            {"columns": ["district"], "rules": [{"if": "sex == 'f'", "column": "district", "value": "D01"}]},
            "a rule settles district",
        ),
        (
            ["sex of day", "day <= futime"],
            {"rules": [{"if": "day > 5", "column": "futime", "value": 3}]},
            "bends where a rule settles futime",
        ),
    ],
)
def test_plans_that_cannot_be_kept_are_refused(keep, more, said):
    book = Codebook({name: variable for name, variable in BOOK.items() if name != "home"})
    assert any(said in problem for problem in Synthesise(copies=1, keep=keep, **more).check(book))


def test_all_problems_come_at_once():
    book = Codebook({name: variable for name, variable in BOOK.items() if name != "home"})
    problems = Synthesise(copies=1, keep=["day <= nowhere", "born <= day", "sex < futime"]).check(book)
    assert len(problems) == 3


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"smooth": True, "keep": KEEP[:2]},
        {"method": "parametric"},
        {"method": "parametric", "smooth": True, "proper": True},
        {"proper": True, "copies": 2},
        {"by": ("sex",)},
        {"order": ("futime", "seen")},
        {"rows": 450, "min_leaf": 20},
    ],
)
@pytest.mark.parametrize("exceptions", [0, 9])
def test_no_record_breaks_what_is_kept(more, exceptions):
    frame = cohort(exceptions=exceptions)
    if more.get("smooth") and more.get("method"):
        more = more | {"keep": KEEP}
        book = BOOK.replace(district=Variable(kind="categorical"))
    else:
        book = BOOK
    keep = more.get("keep", KEEP)
    out = run(frame, book, **{"keep": keep} | more).after.frame
    assert broken(out, keep) == dict.fromkeys(keep, 0)
    within_ranges(out, frame)


@pytest.mark.parametrize("columns", [("futime", "born"), ("day", "seen"), ("futime", "seen", "district", "region")])
def test_one_side_may_stay_true(columns):
    frame = cohort()
    keep = KEEP if "district" in columns else KEEP[:2]
    out = run(frame, columns=columns, keep=keep).after.frame
    assert broken(out, keep) == dict.fromkeys(keep, 0)
    within_ranges(out, frame)
    assert all(out[n].equals(frame[n]) for n in frame.columns if n not in columns)
    assert all(not out[n].equals(frame[n]) for n in columns)


@pytest.mark.parametrize("method", ["cart", "parametric"])
def test_what_tells_is_drawn_within_what_stays_true(method):
    frame = cohort(600)
    out = run(frame, columns=["district"], keep=["region of district"], method=method).after.frame
    assert (out["district"].str.slice(1).cast(int) // 4 == out["region"].str.slice(1).cast(int)).all()
    assert (out["district"] != frame["district"]).mean() > 0.3


def test_a_true_value_that_nothing_tells_is_refused():
    frame = cohort(600, exceptions=3)
    with pytest.raises(DataError, match="told by no value"):
        run(frame, columns=["district"], keep=["region of district"])


def test_only_some_records():
    frame = cohort()
    out = run(frame, columns=["futime"], where="sex == 'f'", keep=["day <= futime"]).after.frame
    assert broken(out, ["day <= futime"]) == {"day <= futime": 0}
    assert out.filter(pl.col("sex") == "m").equals(frame.filter(pl.col("sex") == "m"))


def test_strata_look_up_the_same():
    """Exceptions are many in one stratum; the commonest value of all counts."""
    frame = cohort(exceptions=40).with_columns(
        sex=pl.when(pl.int_range(pl.len()) < 60).then(pl.lit("f")).otherwise(pl.lit("m"))
    )
    out = run(frame, by=["sex"], keep=["region of district"]).after.frame
    assert broken(out, ["region of district"]) == {"region of district": 0}
    assert set(out["region"]) == {"R0", "R1", "R2"}


def test_exceptions_are_counted():
    notes = run(cohort(exceptions=9), keep=list(KEEP)).steps[0].notes
    frame = cohort(exceptions=9)
    day = broken(frame, KEEP[:1])[KEEP[0]]
    assert 5 <= day <= 9
    assert any(f"day <= futime: {day} records of the original break this relation" in note for note in notes)
    assert any("region of district: 9 records" in note for note in notes)
    assert not any("born" in note for note in notes)


def test_chains_leave_room():
    """a < m < b, where m is drawn last and whole: there is always a number between."""
    rng = np.random.default_rng(2)
    a = rng.integers(0, 60, 300)
    m = a + rng.integers(1, 5, 300)
    frame = pl.DataFrame({"id": np.arange(300), "a": a, "b": np.round(m + rng.uniform(0.1, 4, 300), 1), "m": m})
    book = Codebook({"id": BOOK["id"]} | {n: Variable(kind="continuous") for n in "abm"})
    for method in ("cart", "parametric"):
        out = run(frame, book, keep=["a < m", "m < b"], method=method, copies=2).after.frame
        assert (out["a"] < out["m"]).all()
        assert (out["m"] < out["b"]).all()


def test_a_rule_bends_what_was_drawn_before():
    frame = cohort()
    rules = [{"if": "sex == 'f'", "column": "futime", "value": 30.0}]
    out = run(frame, keep=["day <= futime"], rules=rules).after.frame
    women = out.filter(pl.col("sex") == "f")
    assert (women["futime"] == 30).all()
    assert (out.filter(pl.col("futime") != -9)["day"] <= out.filter(pl.col("futime") != -9)["futime"]).all()
    assert (women["day"] == 30).sum() > 10


def test_a_rule_that_contradicts_what_stays_true_is_refused():
    rules = [{"if": "sex == 'f'", "column": "futime", "value": 30.0}]
    with pytest.raises(DataError, match="contradicts day"):
        run(cohort(), columns=["futime"], keep=["day <= futime"], rules=rules)


def test_rules_that_contradict_each_other_are_refused():
    rules = [
        {"if": "sex == 'f'", "column": "day", "value": 50},
        {"if": "district != 'D05'", "column": "futime", "value": 30.0},
    ]
    with pytest.raises(DataError, match="contradicts day"):
        run(cohort(), keep=["day <= futime"], order=["sex", "district"], rules=rules)


def test_dates_and_times_are_not_mixed():
    frame = cohort().with_columns(pl.col("seen").cast(pl.Datetime("us")))
    with pytest.raises(DataError, match="cannot be compared"):
        run(frame, keep=["born < seen"])


@pytest.mark.parametrize("method", ["cart", "parametric"])
def test_households(method):
    rng = np.random.default_rng(4)
    size = rng.integers(1, 5, 120)
    whose = np.repeat(np.arange(120), size)
    moved = rng.integers(0, 40, 120)[whose]
    frame = pl.DataFrame(
        {
            "id": np.arange(len(whose)),
            "home": whose,
            "moved": moved,
            "age": moved + rng.integers(0, 50, len(whose)),
            "work": moved,
            "part": [f"P{m // 10}" for m in moved],
            "sex": rng.choice(["f", "m"], len(whose)),
        }
    ).with_columns(work=(pl.col("age") * rng.uniform(0, 1, len(whose))).floor().cast(pl.Int64))
    book = Codebook(
        {n: BOOK[n] for n in ("id", "home", "sex")}
        | {n: Variable(kind="integer") for n in ("moved", "age", "work")}
        | {"part": Variable(kind="categorical")}
    )
    keep = ["moved <= age", "work <= age", "part of moved"]
    out = run(frame, book, households=True, keep=keep, method=method).after.frame
    assert broken(out, keep, book) == dict.fromkeys(keep, 0)
    within_ranges(out, frame, ("moved", "age", "work"))
    with pytest.raises(DataError, match="same for all of each household"):
        run(frame, book, households=True, columns=["moved"], keep=["moved <= age"])


def test_the_distribution_stays():
    """Of 2,000: no worse than without, where a sample has a standard error of .013."""
    frame = cohort(2000)

    def told(table):
        there = table.filter((pl.col("day") >= 0) & (pl.col("futime") >= 0))
        x, y = np.log1p(there["day"].to_numpy()), np.log(there["futime"].to_numpy())
        return np.corrcoef(x, y)[0, 1], (there["day"] / there["futime"]).mean(), y.mean()

    for more in ({}, {"method": "parametric"}, {"smooth": True}):
        out = run(frame, columns=["day", "futime", "born", "seen"], keep=["day <= futime"], **more).after.frame
        assert np.allclose(told(out), told(frame), atol=0.08)


def test_nothing_changes_without_it():
    frame = cohort()
    assert run(frame, columns=["day"]).after.frame.equals(run(frame, columns=["day"], keep=[]).after.frame)


def test_draws_change_with_what_is_looked_up():
    """No draw stays where one value of the table changes, be it in another stratum."""
    frame = cohort().with_columns(sex=pl.when(district="D03").then(pl.lit("f")).otherwise("sex"))
    other = frame.with_columns(
        region=pl.when((pl.col("sex") == "f") & (pl.col("district") == "D03")).then(pl.lit("R7")).otherwise("region")
    )
    one, new = (
        run(f, by=["sex"], keep=["region of district"]).after.frame.filter(pl.col("sex") == "m") for f in (frame, other)
    )
    assert not one["day"].equals(new["day"])


numbers = st.integers(0, 9)


@settings(max_examples=25, deadline=None)
@given(
    rows=st.lists(st.tuples(numbers, numbers, numbers, st.booleans(), st.integers(0, 3)), min_size=24, max_size=60),
    smooth=st.booleans(),
    proper=st.booleans(),
    method=st.sampled_from(["cart", "parametric"]),
    order=st.permutations(["a", "b", "c"]),
    strict=st.booleans(),
    given_=st.sampled_from([(), ("a",), ("b",), ("c",)]),
    ruled=st.booleans(),
)
def test_law_no_record_breaks_keep_rules_or_derived(rows, smooth, proper, method, order, strict, given_, ruled):
    """Whatever the table: exceptions, missing values, few records."""
    a, b, c, gone, town = (np.array(part) for part in zip(*rows, strict=True))
    frame = pl.DataFrame(
        {
            "id": np.arange(len(rows)),
            "a": np.where(gone, -9, a),
            "b": b / 2,
            "c": np.where(gone & (c > 5), -9, c),
            "town": [f"T{t}" for t in town],
            "land": [f"L{(t + (x > 8)) % 2}" for t, x in zip(town, a, strict=True)],
        }
    )
    book = Codebook(
        {"id": BOOK["id"]}
        | {n: Variable(kind="continuous", missing=[-9]) for n in "abc"}
        | {n: Variable(kind="categorical") for n in ("town", "land")}
    )
    keep = [f"a {'<' if strict else '<='} b", "b <= c", "land of town"]
    rules = [{"if": "town == 'T1'", "column": order[-1], "value": 5}] if ruled and order[-1] not in given_ else []
    drawn = [n for n in ("town", *order, "land") if n not in given_]
    step = Synthesise(
        columns=drawn,
        order=["town", *(n for n in order if n in drawn)],
        copies=1,
        min_leaf=3,
        smooth=smooth,
        proper=proper,
        method=method,
        keep=keep,
        rules=rules,
        derived={"d": "a + 1"},
    )
    assert step.check(book) == []
    try:
        out = run_steps([step], PolarsDataset(frame, book), Draws(bytes(16))).after.frame
    except DataError as error:
        if given_ and any(said in str(error) for said in ("stay true", "stays true")):
            return  # what stays true leaves no room
        raise
    assert broken(out, keep, book) == dict.fromkeys(keep, 0)
    assert not rules or (out.filter(pl.col("town") == "T1")[order[-1]] == 5).all()
    assert out["d"].equals((out["a"] + 1).alias("d"), null_equal=True) or (out["a"] == -9).any()


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("`a b` <= `c d`", ("a b", "c d")),
        ("`a <= b` < `c = d`", ("a <= b", "c = d")),
        ("`part of town` of `part of street`", ("part of town", "part of street")),
        ("x of `a <= b`", ("x", "a <= b")),
        ("`a <= b` of x", ("a <= b", "x")),
        ("`x of y`  of  `y of z`", ("x of y", "y of z")),
        ('`größe "m"` <= it\'s', ('größe "m"', "it's")),
        ("`a`<`b`", ("a", "b")),
        ("` a` of b", (" a", "b")),
    ],
)
def test_names_in_backticks_are_read_whole(text, names):
    assert read(text).names == names


@pytest.mark.parametrize(
    "text", ["`a <= b", "`a b of c", "`` <= b", "`a` `b` <= c", "a`b <= c", "`a of b`", "`a <= b`"]
)
def test_backticks_that_do_not_close_are_refused(text):
    with pytest.raises(ValueError, match="is no relation that is kept"):
        read(text)


@pytest.mark.parametrize(("dtype", "sign"), [(pl.Int8, 1), (pl.UInt8, -1)])
def test_a_bound_beyond_what_a_type_can_hold_is_refused_without_a_value(dtype, sign):
    """Where a true bound leaves no room it is taken, but 601 is no number of eight bits, nor -1 one without sign."""
    one = pl.Series(np.arange(60) % 7)
    frame = pl.DataFrame({"id": np.arange(60), "a": (one * 100 if sign > 0 else one * 0), "b": one.cast(dtype)})
    book = Codebook({"id": BOOK["id"], "a": Variable(kind="integer"), "b": Variable(kind="integer")})
    keep = "a < b" if sign > 0 else "b < a"
    with pytest.raises(DataError, match="'b' by numbers beyond all that its type can hold, U?Int8") as caught:
        run(frame, book, columns=["b"], keep=[keep])
    assert not any(said in str(caught.value) for said in ("01", "-1"))
