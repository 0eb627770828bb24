import ast
import builtins

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.data.formula import Factor, Formula, parse_formula
from sfumato.errors import FormulaError


@pytest.mark.parametrize(
    ("text", "means"),
    [
        ("y ~ a", "y ~ a"),
        ("y~a+b", "y ~ a + b"),
        ("y ~ 1", "y ~ 1"),
        ("y ~ 1 + a", "y ~ a"),
        ("y ~ 0 + a", "y ~ 0 + a"),
        ("y ~ a - 1", "y ~ 0 + a"),
        ("y ~ -1 + a", "y ~ 0 + a"),
        ("y ~ a + 0", "y ~ 0 + a"),
        ("y ~ (0 + a)", "y ~ 0 + a"),
        ("y ~ a*b", "y ~ a + b + a:b"),
        ("y ~ a:b + a", "y ~ a + a:b"),
        ("y ~ a + a + C(a)", "y ~ a + C(a)"),
        ("y ~ b:a + a:b", "y ~ b:a"),
        ("y ~ a:a", "y ~ a"),
        ("y ~ a*b*c", "y ~ a + b + c + a:b + a:c + b:c + a:b:c"),
        ("y ~ a*b:c", "y ~ a + b:c + a:b:c"),
        ("y ~ a:b*c", "y ~ c + a:b + a:b:c"),
        ("y ~ (a + b):C(c)", "y ~ a:C(c) + b:C(c)"),
        ("y ~ (a + (b + c))", "y ~ a + b + c"),
        ("y ~ C + C (a)", "y ~ C + C(a)"),
        ("`a b` ~ `x.y` + C(`x~y (z)`)", "`a b` ~ `x.y` + C(`x~y (z)`)"),
        ("class ~ lambda + import", "class ~ lambda + import"),
        ("größe ~ 年齢", "größe ~ 年齢"),
        ("ﬁsh ~ x", "ﬁsh ~ x"),
        ("y ~\n a +\t b", "y ~ a + b"),
    ],
)
def test_reads(text, means):
    formula = parse_formula(text)
    assert str(formula) == means
    assert parse_formula(str(formula)) == formula


def test_gives_terms_as_columns_with_a_flag():
    formula = parse_formula("Survived ~ Age*C(Pclass) - 1")
    assert formula == Formula(
        "Survived", ((Factor("Age"),), (Factor("Pclass", True),), (Factor("Age"), Factor("Pclass", True))), False
    )
    assert formula.columns == ("Survived", "Age", "Pclass")


HOSTILE = [
    "__import__('os').system('true')",
    "y ~ __import__('os')",
    "y ~ __import__(os)",
    "y ~ exec(a)",
    "y ~ eval(a)",
    "y ~ open(a)",
    "y ~ I(a)",
    "y ~ np.log(a)",
    "y ~ a.b",
    "y ~ a.__class__",
    "y ~ a[0]",
    "y ~ [a for a in b]",
    "y ~ {a}",
    "y ~ (a, b)",
    "y ~ lambda: 1",
    "y ~ lambda a: a",
    "y ~ 'a'",
    'y ~ "a"',
    "y ~ f'{a}'",
    "y ~ b'a'",
    "y ~ a if b else c",
    "y ~ a and b",
    "y ~ not a",
    "y ~ a < b",
    "y ~ (a := b)",
    "y ~ a = b",
    "y ~ a; b",
    "y ~ a\\b",
    "y ~ a # b",
    "y ~ a @ b",
    "y ~ a ** b",
    "y ~ a * * b",
    "y ~ a / b",
    "y ~ a // b",
    "y ~ a % b",
    "y ~ a ^ b",
    "y ~ a | b",
    "y ~ ~a",
    "y ~ a - b",
    "y ~ a - 0",
    "y ~ --1",
    "y ~ +a",
    "y ~ 2",
    "y ~ 2*a",
    "y ~ 1.0",
    "y ~ 1e9",
    "y ~ 0x1",
    "y ~ ١",
    "y ~ (a + 1):b",
    "y ~ 1:a",
    "y ~ 0 + 1",
    "y ~ 0",
    "y ~ a - 1 - 1",
    "y ~ C()",
    "y ~ C(a, b)",
    "y ~ C(a, levels=b)",
    "y ~ C(*a)",
    "y ~ C(C(a))",
    "y ~ C(a + b)",
    "y ~ C(1)",
    "y ~ C(a)(b)",
    "y ~ (a)(b)",
    "y ~ (C)(a)",
    "y ~ `C`(a)",
    "y ~ `C` (a)",
    "y ~ q0(a)",
    "y ~ `a",
    "y ~ ``",
    "y ~ `a\nb`",
    "y ~ a b",
    "y ~ a ++",
    "y ~ (a",
    "y ~ a)",
    "y ~ ()",
    "y ~ a::b",
    "y ~",
    "~ a",
    "y",
    "",
    "  ",
    "y ~ a ~ b",
    "y ~ y",
    "y ~ C(y)",
    "C(y) ~ a",
    "y + z ~ a",
    "1 ~ a",
    "y ~ a\x00",
    "y ~ a\u200b",
    "y ~ " + "(" * 30 + "a" + ")" * 30,
    "y ~ " + "(" * 900 + "a" + ")" * 900,
    "y ~ " + "*".join("abcdefghijkl"),
    "y ~ " + ":".join("abcdefg"),
    "y ~ (" + "+".join(f"a{i}" for i in range(30)) + "):(" + "+".join(f"b{i}" for i in range(30)) + ")",
    "y ~ a" + "*a" * 900,
    "y ~ a" + ":a" * 900,
    "y ~ " + "a + " * 3000 + "a",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_refuses_and_says_what_is_allowed(text):
    with pytest.raises(FormulaError, match="Allowed are names of columns"):
        parse_formula(text)


@pytest.mark.parametrize("text", [None, 1, b"y ~ a", ["y ~ a"]])
def test_refuses_what_is_no_text(text):
    with pytest.raises(FormulaError):
        parse_formula(text)


def test_nothing_is_compiled_or_run(monkeypatch):
    """Python's compiler is asked for a tree only."""

    def only_trees(source, filename, mode, flags=0, *rest, **named):
        assert flags & ast.PyCF_ONLY_AST
        return plain(source, filename, mode, flags, *rest, **named)

    def never(*args, **named):
        raise AssertionError

    plain = builtins.compile
    monkeypatch.setattr(builtins, "compile", only_trees)
    monkeypatch.setattr(builtins, "eval", never)
    monkeypatch.setattr(builtins, "exec", never)
    assert str(parse_formula("y ~ a*C(b)")) == "y ~ a + C(b) + a:C(b)"


def test_long_sums_are_read():
    assert len(parse_formula("y ~ " + "+".join(f"x{i}" for i in range(300))).terms) == 300
    assert len(parse_formula("y ~ " + "+".join("a" for _ in range(990))).terms) == 1
    assert len(parse_formula("y ~ (" + "+".join("a" for _ in range(900)) + "):b").terms) == 1


def test_a_name_that_cannot_be_written_is_refused():
    with pytest.raises(FormulaError, match="backtick"):
        str(Formula("y", ((Factor("a`b"),),)))


@given(st.text(alphabet="yab01C~+-*:()` .,[]'\"\\", max_size=40) | st.text(max_size=40))
def test_any_text_is_read_or_refused(text):
    try:
        formula = parse_formula(text)
    except FormulaError:
        return
    assert parse_formula(str(formula)) == formula


NAMES = st.text(st.characters(blacklist_characters="`\n", blacklist_categories=["Cs"]), min_size=1, max_size=6)


@given(st.lists(st.lists(st.tuples(NAMES, st.booleans()), min_size=1, max_size=3), max_size=4), NAMES, st.booleans())
def test_every_formula_survives_its_text(terms, response, intercept):
    factors = [tuple(dict.fromkeys(Factor(*f) for f in term if f[0] != response)) for term in terms]
    distinct = {frozenset(term): term for term in factors if term}
    ordered = tuple(sorted(distinct.values(), key=len))
    formula = Formula(response, ordered, intercept or not ordered)
    assert parse_formula(str(formula)) == formula
