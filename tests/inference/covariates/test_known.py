import numpy as np
import polars as pl
import pytest
from scipy import stats

from sfumato.data.codebook import Codebook, Variable
from sfumato.data.disclosure import Additive, Disclosure, Misclassified
from sfumato.data.formula import parse_formula
from sfumato.errors import DataError, FormulaError
from sfumato.inference.covariates.known import read_covariate, strata_notes, stratum_rows, which_are_factors
from sfumato.inference.fit import fit

BOOK = Codebook()


def test_exact_columns_are_as_they_are():
    table = pl.DataFrame({"x": [1.5, 2.5], "s": ["m", "f"]})
    number, text = read_covariate(table, BOOK, "x", False, []), read_covariate(table, BOOK, "s", True, [])
    assert number.exact
    assert number.values.tolist() == [1.5, 2.5]
    assert text.exact
    assert text.levels == ("f", "m")
    assert text.values.tolist() == [1, 0]


def test_missing_values_of_few_kinds_are_hidden_discrete_ones():
    found = read_covariate(pl.DataFrame({"x": [0, None, 1]}), BOOK, "x", False, [])
    assert not found.exact
    np.testing.assert_array_equal(np.exp(found.table), [[1, 0], [1, 1], [0, 1]])


def test_missing_values_of_many_kinds_are_hidden_continuous_ones():
    found = read_covariate(pl.DataFrame({"x": [*np.arange(20.0), None]}), BOOK, "x", False, [])
    assert found.table is None
    assert found.variance.tolist() == [0.0] * 21


def test_missing_codes_of_the_codebook_count():
    book = Codebook({"x": Variable(missing=[-9])})
    found = read_covariate(pl.DataFrame({"x": [0, -9, 1]}), book, "x", False, [])
    assert np.isnan(found.values[1])


def test_strata_have_noise_of_their_own():
    table = pl.DataFrame({"x": [0.3, 0.3, 0.0], "s": ["f", "m", "u"]})
    parts = [Additive(("x",), [[v]], values=(0, 1), where={"s": s}) for s, v in (("f", 0.25), ("m", 1.0))]
    found = read_covariate(table, BOOK, "x", False, parts)
    np.testing.assert_allclose(found.table[0], stats.norm([0, 1], 0.5).logpdf(0.3))
    np.testing.assert_allclose(found.table[1], stats.norm([0, 1], 1.0).logpdf(0.3))
    np.testing.assert_array_equal(np.exp(found.table[2]), [1, 0])  # no part speaks of u: exact
    assert stratum_rows(table, {"s": "m"}).tolist() == [False, True, False]


def test_which_are_factors():
    table = pl.DataFrame({"y": [1, 2, 3], "d": [0, 1, 0], "z": [0.1, 0.9, 1.0], "g": [1, 2, 3], "s": ["a", "b", "c"]})
    book = Codebook({n: Variable(kind="categorical") for n in "dzgs"})
    told = Disclosure([Additive(("z",), [[0.1]], values=(0, 1))])
    formula = parse_formula("y ~ d + z + g + s")
    assert which_are_factors(table, book, formula, told) == {"d": False, "z": False, "g": True, "s": True}
    assert which_are_factors(table, book, parse_formula("y ~ C(d)"), told) == {"d": True}
    with pytest.raises(FormulaError, match="with and without"):
        which_are_factors(table, BOOK, parse_formula("y ~ d + C(d)"), told)


X = pl.DataFrame({"x": [0.0, 1.0, 5.0], "s": ["a", "b", "a"]})


@pytest.mark.parametrize(
    ("name", "factor", "parts", "says"),
    [
        ("x", False, [Additive(("x",), [[0.1]]), Misclassified("x", np.eye(3))], "both misclassified"),
        ("x", False, [Additive(("x",), [[0.1]], values=(0, 1))] * 2, "more than once"),
        ("x", False, [Additive(("x",), [[0.1]], values=v) for v in ((0, 1), (0, 2))], "different sets"),
        ("x", True, [Additive(("x",), [[0.1]])], "stands in C"),
        ("x", False, [Additive(("x",), [[99.0]])], "larger than all the variation"),
        ("x", False, [Additive(("x",), [[0.0]], bounds={"x": (None, 4)})], "beyond the bounds"),
        ("s", False, [Misclassified("s", np.eye(2))], "no numbers"),
        ("s", True, [Misclassified("s", np.eye(3))], "not those of its disclosed matrix"),
        ("s", True, [Misclassified("s", np.eye(2), levels=("a", "c"))], "not those of its disclosed matrix"),
    ],
)
def test_what_does_not_fit_is_refused(name, factor, parts, says):
    with pytest.raises(DataError, match=says):
        read_covariate(X, BOOK, name, factor, parts)


@pytest.mark.parametrize(
    ("values", "dtype", "where", "rows"),
    [
        ([1.0, 2.0, None], pl.Float64, "1", [1, 0, 0]),
        ([1.0, 2.5, float("nan")], pl.Float64, 2.5, [0, 1, 0]),
        ([1.0, 2.0, float("nan")], pl.Float64, None, [0, 0, 1]),
        ([1, 200, 0], pl.UInt8, -1, [0, 0, 0]),
        ([1, 200, 0], pl.UInt8, True, [1, 0, 0]),
        ([1, 200, 0], pl.UInt8, "true", [1, 0, 0]),
        ([1, 200, 0], pl.UInt8, "north", [0, 0, 0]),
        ([True, False, None], pl.Boolean, 1, [1, 0, 0]),
        ([True, False, None], pl.Boolean, "False", [0, 1, 0]),
        ([True, False, None], pl.Boolean, None, [0, 0, 1]),
        ([True, False, None], pl.Boolean, "b", [0, 0, 0]),
        (["1", "01", "a"], pl.String, 1, [1, 0, 0]),
        (["1", "01", "a"], pl.String, 1.0, [1, 0, 0]),
        (["true", "FALSE", "0"], pl.String, False, [0, 1, 1]),
        (["a", "b", None], pl.Enum(["b", "a"]), "a", [1, 0, 0]),
        (["a", "b", None], pl.Categorical, 1, [0, 0, 0]),
        ([[1], [2], [1]], pl.List(pl.Int64), 1, [0, 0, 0]),
    ],
)
def test_strata_are_found_in_whatever_type_the_file_has(values, dtype, where, rows):
    table = pl.DataFrame({"g": pl.Series(values, dtype=dtype, strict=False)})
    assert stratum_rows(table, {"g": where}).tolist() == [bool(r) for r in rows]


G = pl.DataFrame({"x": [0.3, 0.4, None, 1.2], "s": ["A", "B", "C", "A"]})


def by_stratum(*names, values=(0, 1)):
    return [Additive(("x",), [[0.25]], values=values, where={"s": s}) for s in names]


def test_strata_of_another_table_are_refused():
    for other in (by_stratum("a", "b"), by_stratum("A", "b"), by_stratum("A", "b", "C")):
        with pytest.raises(DataError, match="no record is in"):
            read_covariate(G, BOOK, "x", False, other)
        with pytest.raises(DataError, match="no record is in"):
            fit("x ~ s", G, Disclosure([p.model_copy(update={"values": {}}) for p in other]))
    assert read_covariate(G, BOOK, "x", False, by_stratum("A", "B", "other")).table.shape == (4, 2)


def test_records_outside_all_strata_are_told():
    told = Disclosure(by_stratum("A"))
    (note,) = strata_notes(G, BOOK, told, ["x", "s"])
    assert "strata of s" in note
    assert "values of x are taken for exact" in note
    assert strata_notes(G, BOOK, Disclosure(by_stratum("A", "B")), ["x", "s"]) == ()  # C has no value
    rounded = Additive(("x",), [[0.01]], values=(0, 1))
    assert "only what is said of all records" in strata_notes(G, BOOK, Disclosure([*told, rounded]), ["x"])[0]
    rng = np.random.default_rng(0)
    table = pl.DataFrame({"x": rng.normal(size=60), "s": ["A", "B"] * 30, "y": rng.normal(size=60)})
    notes = fit("y ~ x", table, Disclosure(by_stratum("A", values=()))).notes
    assert any("taken for exact" in note for note in notes)
