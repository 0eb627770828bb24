"""What the grammar of formulas reads, and above all what it refuses."""

from __future__ import annotations

import warnings

import pytest

from sfumato.data.grammar import MAX_DEPTH, MAX_LENGTH, Apply, Name, Value, read_formula
from sfumato.errors import FormulaError

X, Y, Z = Name("x"), Name("y"), Name("z")


def test_precedence_is_the_usual_one():
    assert read_formula("SibSp + Parch > 0") == Apply(">", (Apply("+", (Name("SibSp"), Name("Parch"))), Value(0)))
    assert read_formula("x + y * z") == Apply("+", (X, Apply("*", (Y, Z))))
    assert read_formula("x - y - z") == Apply("-", (Apply("-", (X, Y)), Z))
    assert read_formula("-x ** 2") == Apply("negative", (Apply("**", (X, Value(2))),))
    assert read_formula("not x == y or z") == Apply("or", (Apply("not", (Apply("==", (X, Y)),)), Z))
    assert read_formula("x or y and z") == Apply("or", (X, Apply("and", (Y, Z))))


def test_chained_comparison_is_both():
    assert read_formula("18 <= x < 65") == Apply("and", (Apply("<=", (Value(18), X)), Apply("<", (X, Value(65)))))


def test_membership():
    test = Apply("in", (X, Value("a"), Value("b")))
    assert read_formula("x in ['a', 'b']") == read_formula('x in ("a", "b")') == test
    assert read_formula("x not in ['a', 'b']") == Apply("not", (test,))
    assert read_formula("x in [-9, 1.5, true]") == Apply("in", (X, Value(-9), Value(1.5), Value(True)))


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("`monthly income`", "monthly income"),
        ("`a.b`", "a.b"),
        ("`class`", "class"),
        ("`true`", "true"),
        ("`__class__`", "__class__"),
        ("Größe", "Größe"),
        ("µg", "µg"),  # MICRO SIGN: a parser of Python would turn it into the Greek letter
        ("min", "min"),
        ("q0", "q0"),
    ],
)
def test_column_names_are_taken_as_they_stand(text, name):
    assert read_formula(text) == Name(name)


def test_texts_have_no_escapes():
    assert read_formula(r"'C:\new'") == Value(r"C:\new")
    assert read_formula('"it\'s"') == Value("it's")
    assert read_formula("'`x`'") == Value("`x`")


def test_numbers():
    assert read_formula("12") == Value(12)
    assert read_formula("1.5e3") == Value(1500.0)
    assert read_formula(".5") == Value(0.5)
    assert read_formula("-3") == Value(-3)


def test_a_formula_may_run_over_several_lines():
    assert read_formula("x +\n  y") == Apply("+", (X, Y))


HOSTILE = {
    "dunder attribute": "x.__class__",
    "attribute of a text": "''.join",
    "attribute of a bracket": "(x).real",
    "method call": "x.sum()",
    "import": "__import__('os')",
    "import statement": "import os",
    "call of a function that is not on the list": "open('/etc/passwd')",
    "eval": "eval('1')",
    "exec": "exec('x = 1')",
    "getattr": "getattr(x, '__class__')",
    "call of a call": "abs(x)(y)",
    "call of a text": "'abs'(x)",
    "call of a number": "1(2)",
    "call of a quoted column": "`abs`(x)",
    "call of true": "true(x)",
    "lambda": "lambda: 1",
    "lambda in a call": "abs(lambda q: q)",
    "conditional": "x if y else z",
    "walrus": "(x := 5)",
    "assignment": "x = 5",
    "keyword argument": "round(x, digits=2)",
    "starred argument": "min(*x)",
    "double starred argument": "min(x, **y)",
    "list comprehension": "[a for a in x]",
    "generator": "max(a for a in x)",
    "dictionary": "{'a': 1}",
    "set": "{1, 2}",
    "list": "[1, 2]",
    "tuple": "x, y",
    "empty brackets": "()",
    "subscript": "x[0]",
    "slice": "x[1:2]",
    "f-string": "f'{x}'",
    "bytes": "b'abc'",
    "raw text": "r'abc'",
    "joined texts": "'a' 'b'",
    "triple quotes": "'''a'''",
    "tower of powers": "9**9**9",
    "huge exponent": "x ** 1000000",
    "exponent from the data": "x ** y",
    "exponent that is computed": "x ** (1 + 1)",
    "too large a number": "1e999",
    "complex number": "1j",
    "hexadecimal": "0xff",
    "underscores in a number": "1_000",
    "matrix product": "x @ y",
    "bitwise and": "x & y",
    "bitwise or": "x | y",
    "bitwise not": "~x",
    "shift": "x << 2",
    "identity": "x is None",
    "none": "x == None",
    "await": "await x",
    "yield": "(yield x)",
    "ellipsis": "...",
    "semicolon": "x; y",
    "comment": "x # y",
    "line continuation": "x + \\\n y",
    "null byte": "x\x00",
    "lone surrogate": "x + \ud800",
    "membership in a column": "x in y",
    "membership in a bracket": "x in (1)",
    "membership in nothing": "x in []",
    "membership in a computed list": "x in [y, 1 + 1]",
    "membership in nested lists": "x in [[1], [2]]",
    "chained membership": "1 < x in [1, 2]",
    "computed middle of a chain": "1 < x + 1 < 2",
    "too few arguments": "min(x)",
    "too many arguments": "abs(x, y)",
    "digits from the data": "round(x, y)",
    "negative digits": "round(x, -1)",
    "missing operator": "x y",
    "open bracket": "(x",
    "open quote": "'x",
    "open backtick": "`x",
    "empty backticks": "``",
    "full stop": ".",
    "empty": "",
    "blank": "  \n ",
    "too long": "+".join(["x"] * (MAX_LENGTH // 2 + 1)),
    "deep brackets": "(" * 900 + "x" + ")" * 900,
    "deep sum": "x" + "+x" * (MAX_DEPTH + 1),
    "deep signs": "-" * 1900 + "x",
    "deep not": "not " * 400 + "x",
    "deep calls": "abs(" * 300 + "x" + ")" * 300,
    "parts that double": "max(x," * 20 + "x" + ")" * 20,
    "conditions that double": "if_else(" * 20 + "x == 1" + ", x == 1, y == 1)" * 20,
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_refuses(text):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(FormulaError) as refused:
            read_formula(text)
    assert refused.value.__cause__ is None
    assert len(str(refused.value)) < 900


@pytest.mark.parametrize("given", [None, 3, b"x", ["x"]])
def test_refuses_what_is_no_text(given):
    with pytest.raises(FormulaError, match="empty or no text"):
        read_formula(given)


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("x = 1", "write == to compare"),
        ("a.b", "backticks"),
        ("x & y", "write `and`"),
        ("x ^ 2", r"write \*\*"),
        ("1 if x else 2", r"if_else\(condition, x, y\)"),
        ("x is None", "is_missing"),
        ("sinh(x)", "no function 'sinh'. Functions: abs"),
        ("round(x, 1, 2)", r"round\(x, digits\)"),
        ("x in y", "list of constants"),
    ],
)
def test_says_what_to_write_instead(text, hint):
    with pytest.raises(FormulaError, match=hint):
        read_formula(text)


def test_a_long_score_is_no_deep_formula():
    text = " + ".join(f"item{i}" for i in range(MAX_DEPTH - 1))
    assert read_formula(text).operation == "+"
