"""Formulas against a plain-Python interpreter, and the rules on missing values and types."""

from __future__ import annotations

import datetime as dt
import math

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.data.codebook import Codebook, Variable
from sfumato.data.expression import parse
from sfumato.errors import FormulaError

BOOK = Codebook({"a": Variable(missing=[-9, {"low": -99, "high": -90}]), "t": Variable(missing=["refused"])})
SCHEMA = {"a": pl.Int8, "b": pl.Float64, "c": pl.UInt8, "t": pl.String, "f": pl.Boolean}


def run(text, frame, book=BOOK):
    return frame.with_columns(_r=parse(text).polars(book, frame.schema))["_r"]


# ---- a plain interpreter of (operation, part, ...) tuples, row by row, None for missing ------------------------------


def finite(f, *x):
    """What a function of numbers gives; missing where any is missing or the result is not finite."""
    if None in x:
        return None
    try:
        value = f(*(float(v) for v in x))
    except (ZeroDivisionError, ValueError, OverflowError):
        return None
    return value if isinstance(value, float) and math.isfinite(value) else None


def floored(x, y):
    return float(math.floor(x / y))


def power(x, y):
    value = x**y
    return value if not isinstance(value, complex) else math.nan


def half_away(x):
    return math.copysign(math.floor(abs(x) + 0.5), x)


NUMERIC = {
    "+": lambda x, y: x + y,
    "-": lambda x, y: x - y,
    "*": lambda x, y: x * y,
    "/": lambda x, y: x / y,
    "//": floored,
    "%": lambda x, y: x - y * math.floor(x / y),
    "**": power,
    "negative": lambda x: -x,
    "abs": abs,
    "floor": lambda x: float(math.floor(x)),
    "ceil": lambda x: float(math.ceil(x)),
    "round": half_away,
    "min": min,
    "max": max,
    "log": math.log,
    "log10": math.log10,
    "exp": math.exp,
    "sqrt": math.sqrt,
}
COMPARE = {
    "==": lambda x, y: x == y,
    "!=": lambda x, y: x != y,
    "<": lambda x, y: x < y,
    "<=": lambda x, y: x <= y,
    ">": lambda x, y: x > y,
    ">=": lambda x, y: x >= y,
}


def interpret(node, row):
    kind, *parts = node
    if kind == "constant":
        return parts[0]
    if kind == "column":
        return row[parts[0]]
    if kind == "in":
        value = interpret(parts[0], row)
        return None if value is None else value in parts[1]
    values = [interpret(p, row) for p in parts]
    if kind in NUMERIC:
        return finite(NUMERIC[kind], *values)
    if kind in COMPARE:
        return None if None in values else COMPARE[kind](*values)
    if kind == "and":
        return False if False in values else None if None in values else True
    if kind == "or":
        return True if True in values else None if None in values else False
    if kind == "not":
        return None if values[0] is None else not values[0]
    if kind == "if_else":
        return None if values[0] is None else values[1] if values[0] else values[2]
    if kind == "is_missing":
        return values[0] is None
    assert kind == "coalesce"
    return next((v for v in values if v is not None), None)


def write(node):
    """The same tree as text; brackets everywhere, so that precedence is tested elsewhere."""
    kind, *parts = node
    if kind == "constant":
        return repr(parts[0])
    if kind == "column":
        return f"`{parts[0]}`"
    if kind == "in":
        return f"({write(parts[0])} in {parts[1]!r})"
    texts = [write(p) for p in parts]
    if kind in ("not", "negative"):
        return f"({'not' if kind == 'not' else '-'} {texts[0]})"
    if len(texts) == 2 and (kind in COMPARE or kind in ("and", "or") or not kind[0].isalpha()):
        return f"({texts[0]} {kind} {texts[1]})"
    return f"{kind}({', '.join(texts)})"


TEXTS = st.one_of(
    st.just(("column", "t")),
    st.tuples(st.just("constant"), st.sampled_from(["x", "y", "it is"])),
)
CONSTANTS = [0, 1, 2, 7, 0.5, 2.25]
ONE = ["negative", "abs", "floor", "ceil", "round", "sqrt"]
TWO = ["+", "-", "*", "/", "//", "%", "min", "max", "coalesce"]


@st.composite
def numbers(draw, depth=4):
    """A tree that gives a number; every branch ends after `depth` operations."""
    choice = draw(st.integers(0, 5)) if depth else draw(st.integers(0, 1))
    if choice == 0:
        return ("column", draw(st.sampled_from("abc")))
    if choice == 1:
        return ("constant", draw(st.sampled_from(CONSTANTS)))
    if choice == 2:
        return (draw(st.sampled_from(ONE)), draw(numbers(depth - 1)))
    if choice == 3:
        return ("if_else", draw(conditions(depth - 1)), draw(numbers(depth - 1)), draw(numbers(depth - 1)))
    return (draw(st.sampled_from(TWO)), draw(numbers(depth - 1)), draw(numbers(depth - 1)))


@st.composite
def conditions(draw, depth=4):
    """A tree that gives a truth value."""
    choice = draw(st.integers(0, 7)) if depth else draw(st.integers(0, 3))
    if choice == 0:
        return ("column", "f")
    if choice == 1:
        return ("constant", draw(st.booleans()))
    if choice == 2:
        return (draw(st.sampled_from(["==", "!="])), draw(TEXTS), draw(TEXTS))
    if choice == 3:
        return ("in", draw(TEXTS), ["x", "q"])
    if choice == 4:
        return (draw(st.sampled_from(list(COMPARE))), draw(numbers(depth - 1)), draw(numbers(depth - 1)))
    if choice == 5:
        return (draw(st.sampled_from(["and", "or"])), draw(conditions(depth - 1)), draw(conditions(depth - 1)))
    if choice == 6:
        return ("in", draw(numbers(depth - 1)), [1, -2, 0.5])
    kind = draw(st.sampled_from(["not", "is_missing"]))
    return (kind, draw(conditions(depth - 1)))


ROWS = st.lists(
    st.fixed_dictionaries(
        {
            "a": st.sampled_from([None, -9, -95, 0, 1, 2, 3, -4, 100, 127]),
            "b": st.sampled_from([None, math.nan, 0.0, 1.0, -2.5, 0.5, 3.75, 1e300]),
            "c": st.sampled_from([None, 0, 1, 5, 255]),
            "t": st.sampled_from([None, "x", "y", "z", "refused"]),
            "f": st.sampled_from([None, True, False]),
        }
    ),
    min_size=1,
    max_size=6,
)


def known(row):
    """The row with everything that counts as missing as None."""
    return {
        "a": None if row["a"] in (-9, -95) else row["a"],
        "b": None if row["b"] is None or math.isnan(row["b"]) else row["b"],
        "c": row["c"],
        "t": None if row["t"] == "refused" else row["t"],
        "f": row["f"],
    }


def same(got, expected, rel=1e-12):
    if expected is None or got is None:
        return got is expected
    if isinstance(expected, bool) or isinstance(got, bool | str):
        return got == expected
    return math.isclose(got, expected, rel_tol=rel, abs_tol=1e-12)


@pytest.mark.slow
@given(tree=st.one_of(numbers(), conditions()), rows=ROWS)
@settings(max_examples=300, deadline=None)
def test_agrees_with_a_plain_interpreter(tree, rows):
    frame = pl.DataFrame(rows, schema=SCHEMA)
    for row, value in zip(rows, run(write(tree), frame).to_list(), strict=True):
        expected = interpret(tree, known(row))
        if isinstance(expected, float) and expected.is_integer() and abs(expected) >= 2**53:
            continue  # beyond what a whole number promises; the overflow test below looks there
        assert same(value, expected), (write(tree), row)


@pytest.mark.slow
@given(
    function=st.sampled_from(["log", "log10", "exp", "sqrt"]),
    exponent=st.sampled_from([-10, -2, -0.5, 0, 0.5, 1, 2, 3, 10]),
    rows=ROWS,
)
@settings(max_examples=100, deadline=None)
def test_functions_agree_with_the_math_module(function, exponent, rows):
    # 1e-12: two mathematical libraries may differ in the last bits
    frame = pl.DataFrame(rows, schema=SCHEMA)
    column = ("column", "b")
    for tree in [
        (function, column),
        ("**", column, ("constant", exponent)),
        (function, ("-", column, ("column", "c"))),
    ]:
        for row, value in zip(rows, run(write(tree), frame).to_list(), strict=True):
            assert same(value, interpret(tree, known(row))), (write(tree), row)


# ---- tables of particular rules --------------------------------------------------------------------------------------

FRAME = pl.DataFrame(
    {
        "sibsp": [1, 0, None, -9],
        "parch": [0, 0, 2, 1],
        "x": [2.5, -2.5, math.nan, 0.0],
        "t": ["a", "bb", None, "Größe"],
        "smoker": [True, False, None, True],
        "born": [dt.date(1990, 2, 28), dt.date(2000, 12, 31), None, dt.date(1985, 7, 1)],
        "seen": [dt.datetime(1990, 3, 1, 23, 59), dt.datetime(2020, 1, 1), dt.datetime(2020, 1, 1), None],
        "odd name": [1, 2, 3, 4],
        "empty": [None] * 4,
    }
)
MISSING = Codebook({"sibsp": Variable(missing=[-9])})


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("sibsp + parch > 0", [True, False, None, None]),
        ("sibsp == -9", [False, False, None, None]),
        ("is_missing(sibsp)", [False, False, True, True]),
        ("is_missing(x) and parch == 2", [False, False, True, False]),
        ("coalesce(sibsp, 7)", [1, 0, 7, 7]),
        ("coalesce(empty, t)", ["a", "bb", None, "Größe"]),
        ("1 / parch", [None, None, 0.5, 1.0]),
        ("sibsp / sibsp", [1.0, None, None, None]),
        ("0 < parch < 2", [False, False, False, True]),
        ("parch in [0, 2]", [True, True, True, False]),
        ("parch not in (0, 2)", [False, False, False, True]),
        ("t in ['a', 'c']", [True, False, None, False]),
        ("t == 'Größe' or smoker", [True, False, None, True]),
        ("smoker or true", [True, True, True, True]),
        ("smoker and false", [False, False, False, False]),
        ("smoker == 1", [True, False, None, True]),
        ("smoker + (parch > 0)", [1, 0, None, 2]),
        ("if_else(parch > 0, 'yes', 'no')", ["no", "no", "yes", "yes"]),
        ("if_else(smoker, parch, x)", [0.0, -2.5, None, 1.0]),
        ("length(t)", [1, 2, None, 5]),
        ("round(x)", [3, -3, None, 0]),
        ("round(x / 10, 1)", [0.3, -0.3, None, 0.0]),
        ("x // 1", [2, -3, None, 0]),
        ("parch % 2 == 1", [False, False, False, True]),
        ("-parch ** 2", [0, 0, -4, -1]),
        ("2 * `odd name` + 1", [3, 5, 7, 9]),
        ("year(born)", [1990, 2000, None, 1985]),
        ("month(seen)", [3, 1, 1, None]),
        ("seen - born", [1, 6940, None, None]),
        ("born >= '1990-02-28'", [True, True, None, False]),
        ("born in ['2000-12-31']", [False, True, None, False]),
        ("born - '1990-01-01'", [58, 4017, None, -1645]),
        ("empty + 1", [None] * 4),
        ("empty and smoker", [None, False, None, None]),
        ("3", [3] * 4),
    ],
)
def test_examples(text, expected):
    assert run(text, FRAME, MISSING).to_list() == expected


@pytest.mark.parametrize(
    ("text", "dtype"),
    [
        ("sibsp + parch", pl.Int64),
        ("sibsp", pl.Int64),
        ("min(sibsp, parch) * 2 - 1", pl.Int64),
        ("sibsp ** 2", pl.Int64),
        ("sibsp ** -2", pl.Float64),
        ("sibsp / parch", pl.Float64),
        ("sibsp + 0.5", pl.Float64),
        ("x", pl.Float64),
        ("round(x)", pl.Int64),
        ("round(x, 1)", pl.Float64),
        ("if_else(smoker, 1, 0)", pl.Int64),
        ("if_else(smoker, 1, 0.5)", pl.Float64),
        ("sibsp > 0", pl.Boolean),
        ("t", pl.String),
        ("born", pl.Date),
        ("seen", pl.Date),
        ("coalesce(born, seen)", pl.Date),
    ],
)
def test_type_of_the_result(text, dtype):
    assert run(text, FRAME, MISSING).dtype == dtype


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("SibSp + Parch > 0", "boolean"),
        ("a + b", "number"),
        ("length(a)", "number"),
        ("if_else(a == 1, 'x', 'y')", "text"),
        ("coalesce(a, b)", "unknown"),
        ("a", "unknown"),
        ("is_missing(a)", "boolean"),
        ("a in ['x']", "boolean"),
    ],
)
def test_kind_without_a_schema(text, kind):
    assert parse(text).kind() == kind


def test_small_integers_do_not_wrap_round():
    frame = pl.DataFrame({"a": pl.Series([100], dtype=pl.Int8), "b": pl.Series([1], dtype=pl.UInt8)})
    assert run("a + a", frame, Codebook()).to_list() == [200]
    assert run("b - 2", frame, Codebook()).to_list() == [-1]


def test_what_overflows_is_missing():
    frame = pl.DataFrame({"big": [1e300], "n": [2**62]})
    for text in ["big * big", "exp(big)", "big ** 2", "-big * big", "big / 1e-300", "n * n", "floor(big)"]:
        assert run(text, frame, Codebook()).to_list() == [None], text


def test_infinity_does_not_pass_through_a_chain():
    frame = pl.DataFrame({"a": [1.0], "zero": [0.0]})
    assert run("1 / (a / zero)", frame, Codebook()).to_list() == [None]
    assert run("a / zero > 5", frame, Codebook()).to_list() == [None]
    assert run("zero * log(zero)", frame, Codebook()).to_list() == [None]


def test_names_come_once_in_their_order():
    assert parse("b + a * b > `c d`").names == ("b", "a", "c d")


def test_is_a_value():
    assert parse("a + 1") == parse("a + 1")
    assert hash(parse("a + 1")) == hash(parse("a + 1"))
    assert parse("a + 1") != parse("a + 2")


@pytest.mark.parametrize("text", ["1 + 'a'", "'a' and true", "1 and true", "'a' < 'b'", "abs('a')", "year(1)", "not 1"])
def test_what_cannot_be_right_is_refused_without_a_table(text):
    with pytest.raises(FormulaError):
        parse(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("t + 1", "'\\+' needs a number here, and column 't' is a text"),
        ("t == 1", "'==' needs a text"),
        ("parch == 'a'", "'==' needs a text here, and column 'parch' is a number"),
        ("parch and smoker", "column 'parch' is a number; write a comparison"),
        ("not parch", "column 'parch' is a number"),
        ("t < 'b'", "no order"),
        ("t < '2020-01-01'", "no order"),
        ("born > 3", "needs a date"),
        ("born > 'yesterday'", "YYYY-MM-DD"),
        ("born in ['2020-02-30']", "2020-12-31"),
        ("born + 1", "column 'born' is a date"),
        ("year(t)", "column 't' is a text"),
        ("length(parch)", "column 'parch' is a number"),
        ("if_else(smoker, t, 1)", "needs a text"),
        ("coalesce(parch, t)", "column 'parch' is a number"),
        ("coalesce(born, '2020-01-01')", "needs a date"),
        ("min(t, t)", "column 't' is a text"),
        ("nobody + 1", "no column 'nobody'. Columns: sibsp, parch"),
        ("lists == 1", "column 'lists' holds lists"),
    ],
)
def test_types_are_checked_before_the_data(text, message):
    schema = dict(FRAME.schema) | {"lists": pl.List(pl.Int64)}
    with pytest.raises(FormulaError, match=message):
        parse(text).polars(Codebook(), schema)


def test_categories_compare_by_their_text():
    frame = pl.DataFrame({"e": ["low", "high", None]}).with_columns(
        c=pl.col("e").cast(pl.Categorical), e=pl.col("e").cast(pl.Enum(["low", "high"]))
    )
    assert run("e == 'low'", frame, Codebook()).to_list() == [True, False, None]
    assert run("c in ['high', 'never seen']", frame, Codebook()).to_list() == [False, True, None]


def test_the_deepest_formula_that_is_read_also_runs():
    frame = pl.DataFrame({"x": [1.0, None]})
    assert run("+".join(["x"] * 99), frame, Codebook()).to_list() == [99.0, None]
    assert run("(" * 97 + "x" + "+1)" * 97, frame, Codebook()).to_list() == [98.0, None]
    chain = "if_else(x < 0, 0, " * 60 + "x" + ")" * 60
    assert run(chain, frame, Codebook()).to_list() == [1.0, None]
