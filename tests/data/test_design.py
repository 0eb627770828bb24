import numpy as np
import polars as pl
import pytest

from sfumato.data.codebook import Codebook, Variable
from sfumato.data.design import build_design, find_levels, is_factor, order_levels, stated_order
from sfumato.data.formula import parse_formula
from sfumato.errors import DataError
from tests.late import late

pd = late("pandas")
patsy = late("patsy")

N = 60


def table():
    rng = np.random.default_rng(0)
    columns = {
        "x": rng.normal(size=N),
        "z": rng.normal(size=N),
        "a": rng.integers(8, 11, N),
        "b": rng.choice(["u", "v"], N).tolist(),
        "c": rng.choice(["p", "q", "r"], N).tolist(),
    }
    return pl.DataFrame(columns)


def design(frame, terms, book=None, **more):
    formula = parse_formula(f"y ~ {terms}")
    return build_design(frame, book or Codebook(), formula.terms, intercept=formula.intercept, **more)


@pytest.mark.parametrize(
    "terms",
    [
        "1",
        "x",
        "0 + x",
        "C(a) + b",
        "a:b",
        "0 + b",
        "0 + b + c",
        "b:c",
        "b*c",
        "0 + b:c",
        "b + b:c",
        "c + b:c",
        "x:b",
        "x + x:b",
        "x*z*b",
        "0 + x:b:c",
        "c:b:x + b",
        "C(a)*b*c",
        "0 + x + b:c",
        "x:z:C(a)",
        "b:c:C(a)",
        "0 + b:c:C(a) + b:C(a)",
        "x*b + C(a):c",
        "x + I(x^2)",
        "I(x^2) + I(x^6)",
        "0 + I(x^3)",
        "b:I(x^2)",
        "0 + b:I(x^2)",
        "b*I(x^2)",
        "C(a)*I(x^2) + x:b",
        "x:b + I(x^2):b:c",
        "x:I(x^2) + z",
        "x*z + I(x^2)*I(z^2)",
        "I(a^2)",
    ],
)
def test_columns_and_labels_are_those_of_patsy(terms):
    frame = table()
    ours = design(frame, terms)
    theirs = patsy.dmatrix(terms.replace("^", "**"), frame.to_pandas(), return_type="dataframe")
    theirs.columns = theirs.columns.str.replace(" ** ", "^", regex=False)
    assert sorted(ours.labels) == sorted(theirs.columns)
    matrix = pd.DataFrame(ours.matrix(), columns=ours.labels)
    if "^" not in terms:
        np.testing.assert_array_equal(matrix[theirs.columns].to_numpy(), theirs.to_numpy())
    # a product of at most nine factors rounds at most nine times, by 1.1e-16 each, and pow once
    np.testing.assert_allclose(matrix[theirs.columns].to_numpy(), theirs.to_numpy(), rtol=2e-15)


def test_powers_are_those_of_numbers_worked_out_by_hand():
    frame = pl.DataFrame({"x": [2, -3, None, -9], "s": ["f", "m", "m", "f"]})
    ours = design(frame, "x + s:I(x^3) + x:I(x^2)", Codebook({"x": Variable(missing=[-9])}))
    assert ours.labels == ("Intercept", "x", "s[f]:I(x^3)", "s[m]:I(x^3)", "x:I(x^2)")
    assert ours.matrix().tolist() == [[1, 2, 8, 0, 8], [1, -3, 0, -27, -27]]
    assert ours.rows.tolist() == [True, True, False, False]


def test_names_that_need_backticks_have_powers():
    frame = pl.DataFrame({"body mass": [1.0, 3.0], "a^2": [2.0, 1.0]})
    ours = design(frame, "I(`body mass`^2):I(`a^2`^4)")
    assert ours.labels == ("Intercept", "I(body mass^2):I(a^2^4)")
    assert ours.matrix()[:, 1].tolist() == [16.0, 9.0]


@pytest.mark.parametrize("name", ["text", "yes", "code", "place", "rank"])
@pytest.mark.parametrize("terms", ["I({}^2)", "x:I({}^3)", "C({0}) + I({0}^2)"])
def test_a_power_of_a_factor_is_refused(name, terms):
    frame = pl.DataFrame(
        {"x": [1.0, 2.0], "text": ["4", "5"], "yes": [True, False], "code": [4, 5], "place": [4, 5], "rank": [4, 5]}
    )
    kinds = {"code": "categorical", "place": "geographic", "rank": "ordinal"}
    with pytest.raises(DataError, match=rf"I\({name}\^[23]\) is a power of a number, and column '{name}' holds cat"):
        design(frame, terms.format(name), Codebook({n: Variable(kind=kind) for n, kind in kinds.items()}))


def test_a_number_stands_in_c_and_in_a_power():
    assert design(pl.DataFrame({"x": [1, 2, 4]}), "C(x) + I(x^2)").matrix().tolist() == [
        [1, 0, 0, 1],
        [1, 1, 0, 4],
        [1, 0, 1, 16],
    ]


def test_powers_beyond_what_a_float_holds_are_refused():
    frame = pl.DataFrame({"x": [1.0, -1e60], "z": [0.0, 1e100]})
    assert np.isfinite(design(frame, "x + I(x^5) + I(z^3)").matrix()).all()
    for terms in ("I(x^6)", "I(x^4):z", "I(z^2):I(x^2)"):
        with pytest.raises(DataError, match="too large for a number"):
            design(frame, terms)
    assert design(frame.clear(), "I(x^6)").n == 0


def test_blocks_are_the_matrix_in_parts():
    whole = design(table(), "x*b*C(a)")
    y = np.arange(float(N))
    parts = list(whole.blocks(y, rows=7))
    np.testing.assert_array_equal(np.vstack([X for X, _ in parts]), whole.matrix())
    np.testing.assert_array_equal(np.concatenate([part for _, part in parts]), y)


def test_rows_without_a_value_are_left_out():
    frame = pl.DataFrame(
        {
            "x": [1.0, float("nan"), 3.0, 4.0, -9.0, 6.0],
            "s": ["a", "b", None, "b", "a", "refused"],
            "y": [1, 2, 3, None, 5, 6],
            "other": [None] * 6,
        }
    )
    book = Codebook({"x": Variable(missing=[-9]), "s": Variable(missing=["refused"])})
    ours = design(frame, "x + s", book, also=("y",))
    assert ours.rows.tolist() == [True, False, False, False, False, False]
    assert ours.left_out == pytest.approx(5 / 6)
    assert design(frame, "x + s", book).rows.tolist() == [True, False, False, True, False, False]
    assert design(frame, "x + s", book).labels == ("Intercept", "x", "s[T.b]")


def test_levels_are_fixed_by_the_original():
    before = pl.DataFrame({"g": ["a", "b", "c"]})
    after = pl.DataFrame({"g": ["c", "a", "0"]})
    fixed = design(before, "g").levels
    ours = design(after, "g", levels=fixed)
    assert ours.labels == ("Intercept", "g[T.b]", "g[T.c]", "g[T.0]")
    assert ours.matrix().tolist() == [[1, 0, 1, 0], [1, 0, 0, 0], [1, 0, 0, 1]]
    assert len(ours.notes) == 1
    assert "'g' has a category that the original lacks" in ours.notes[0]
    assert design(before, "g", levels=fixed).notes == ()


def test_a_reference_level_that_is_gone_is_noted():
    ours = design(pl.DataFrame({"g": ["b"]}), "g", levels={"g": ("a", "b")})
    assert ours.labels == ("Intercept", "g[T.b]")
    assert "reference category of 'g' does not occur" in ours.notes[0]


def test_whole_numbers_are_one_level_whatever_their_type():
    before, after = pl.DataFrame({"g": [1, 2, 10]}), pl.DataFrame({"g": [10.0, 2.0, 1.5]})
    fixed = design(before, "C(g)").levels
    assert fixed == {"g": ("1", "2", "10")}
    assert design(after, "C(g)", levels=fixed).labels == ("Intercept", "C(g)[T.2]", "C(g)[T.10]", "C(g)[T.1.5]")


@pytest.mark.parametrize(
    ("values", "variable", "levels"),
    [
        ([10, 9, 100], Variable(), ("9", "10", "100")),
        (["10", "9", "100"], Variable(), ("10", "100", "9")),
        ([True, False], Variable(), ("False", "True")),
        (
            ["low", "high", "odd", "mid"],
            Variable(kind="ordinal", order=("low", "mid", "high", "top")),
            ("low", "mid", "high", "odd"),
        ),
        ([3, 1, 2], Variable(kind="ordinal", order=(3, 2, 1)), ("3", "2", "1")),
        ([3.0, 1.0], Variable(kind="ordinal", order=(3, 1)), ("3", "1")),
        ([1, -1, None], Variable(missing=[-1]), ("1",)),
        ([None, None], Variable(), ()),
    ],
)
def test_levels_are_in_order(values, variable, levels):
    frame = pl.DataFrame({"g": values}, strict=False)
    assert find_levels(frame, Codebook({"g": variable}), "g") == levels


@pytest.mark.parametrize("dtype", [pl.Categorical, pl.Enum(["u", "v"])])
def test_categorical_types_are_read_as_text(dtype):
    frame = pl.DataFrame({"g": ["u", "v", "u"]}).with_columns(pl.col("g").cast(dtype))
    ours = design(frame, "g")
    assert ours.labels == ("Intercept", "g[T.v]")
    assert ours.matrix()[:, 1].tolist() == [0, 1, 0]


def test_an_enum_has_an_order_of_its_own_after_that_of_the_codebook():
    levels = pl.Enum(["low", "mid", "high", "top"])
    frame = pl.DataFrame({"g": pl.Series(["high", "low", "mid", None, "low"], dtype=levels)})
    assert find_levels(frame, Codebook(), "g") == ("low", "mid", "high")
    ours = design(frame, "g")
    assert ours.labels == ("Intercept", "g[T.mid]", "g[T.high]")
    assert ours.matrix()[:, 2].tolist() == [1, 0, 0, 0]
    book = Codebook({"g": Variable(kind="ordinal", order=("mid",))})
    assert find_levels(frame, book, "g") == ("mid", "low", "high")
    assert stated_order(levels, book, "g") == ("mid", "low", "high", "top")
    assert stated_order(pl.Categorical(), Codebook(), "g") == ()


def test_levels_that_nothing_orders_stay_as_they_come():
    book = Codebook({"g": Variable(kind="ordinal", order=(3, 1))})
    assert order_levels(pl.Int64(), book, "g", ["2", "1", "0", "3"]) == ("3", "1", "2", "0")


@pytest.mark.parametrize(
    ("dtype", "kind", "factor"),
    [
        (pl.String(), None, True),
        (pl.Boolean(), None, True),
        (pl.Float64(), None, False),
        (pl.Int64(), None, False),
        (pl.Int64(), "categorical", True),
        (pl.Int64(), "ordinal", True),
        (pl.Int64(), "geographic", True),
        (pl.Int64(), "integer", False),
        (pl.Boolean(), "integer", False),
    ],
)
def test_what_is_a_factor(dtype, kind, factor):
    assert is_factor("g", dtype, Codebook({"g": Variable(kind=kind)})) is factor


def test_c_around_a_factor_changes_its_label_only():
    frame = table()
    assert design(frame, "b + C(b)").labels == ("Intercept", "b[T.v]")
    assert design(frame, "C(b)").labels == ("Intercept", "C(b)[T.v]")


def test_no_rows_are_a_design():
    ours = design(table().clear(), "x + b")
    assert ours.matrix().shape[0] == 0
    assert ours.left_out == 0


@pytest.mark.parametrize(
    ("terms", "says"),
    [
        ("nosuch", "column 'nosuch', which the table does not have"),
        ("day", "numeric column is needed"),
        ("C(day)", "Derive a column first"),
        ("C(many)", "more than 1000 categories"),
        ("text", "numeric column is needed"),
        ("some*C(other)", "more than 1000 coefficients"),
    ],
)
def test_what_does_not_fit_is_refused(terms, says):
    n = 1001
    frame = pl.DataFrame(
        {
            "day": pl.Series([0] * n, dtype=pl.Date),
            "many": np.arange(n),
            "text": ["1"] * n,
            "some": [str(i % 40) for i in range(n)],
            "other": [i % 30 for i in range(n)],
        }
    )
    with pytest.raises(DataError, match=says):
        design(frame, terms, Codebook({"text": Variable(kind="continuous")}))


def test_messages_hold_no_value():
    frame = pl.DataFrame({"many": [f"planted{i}" for i in range(1001)]})
    with pytest.raises(DataError) as error:
        design(frame, "many")
    assert "planted" not in str(error.value)
