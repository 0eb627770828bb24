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
        ("y ~ (a + b):(a + b)", "y ~ a + b + a:b"),
        ("y ~ a*(a + b)", "y ~ a + b + a:b"),
        ("y ~ C(a):C(a)", "y ~ C(a)"),
        ("y ~ I(a^2)", "y ~ I(a^2)"),
        ("y ~ I(a**2) + I (\n`a` ** 2 )", "y ~ I(a^2)"),
        ("y ~ I(a^6) + a", "y ~ I(a^6) + a"),
        ("y ~ b:I(a^2)", "y ~ b:I(a^2)"),
        ("y ~ C(b)*I(a^2)", "y ~ C(b) + I(a^2) + C(b):I(a^2)"),
        ("y ~ a:I(a^2)", "y ~ a:I(a^2)"),
        ("y ~ (a + I(a^2)):b", "y ~ a:b + I(a^2):b"),
        ("y ~ I + I:C(C) + I(I^2)", "y ~ I + I(I^2) + I:C(C)"),
        ("y ~ I(`a^2`^3) + `I(a^2)`", "y ~ I(`a^2`^3) + `I(a^2)`"),
        ("y ~ I(`a b (c`^2):I(`a b (c`^3)", "y ~ I(`a b (c`^2):I(`a b (c`^3)"),
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


@pytest.mark.parametrize(
    ("text", "means", "responses"),
    [
        ("Surv(time, event) ~ a + C(b)", "Surv(time, event) ~ a + C(b)", ("time", "event")),
        (" Surv ( `a b`,\nevent )~ a", "Surv(`a b`, event) ~ a", ("a b", "event")),
        ("Surv(Surv, C) ~ Surv2", "Surv(Surv, C) ~ Surv2", ("Surv", "C")),
        ("Surv ~ a", "Surv ~ a", ("Surv",)),
    ],
)
def test_reads_times(text, means, responses):
    formula = parse_formula(text, fitting=True)
    assert str(formula) == means
    assert formula.responses == responses
    assert formula.columns[: len(responses)] == responses
    assert parse_formula(str(formula), fitting=True) == formula


@pytest.mark.parametrize(
    "text",
    [
        "Surv(t) ~ a",
        "Surv(t, e, s) ~ a",
        "Surv(t, t) ~ a",
        "Surv(t, e) ~ a + t",
        "Surv(t, e) ~ C(e)",
        "Surv(t, e) + 1 ~ a",
        "Surv(t, C(e)) ~ a",
        "Surv(t, 1) ~ a",
        "y ~ Surv(t, e)",
        "Surv(t, e) ~ Surv(a, b)",
        "Surv(t, e) ~ a ~ b",
        "Surv(t, e)",
    ],
)
def test_refuses_other_times(text):
    with pytest.raises(FormulaError):
        parse_formula(text, fitting=True)


def test_refuses_times_where_nobody_expects_them():
    with pytest.raises(FormulaError, match="`cox`"):
        parse_formula("Surv(t, e) ~ a")


def test_gives_terms_as_columns_with_a_flag():
    formula = parse_formula("Survived ~ Age*C(Pclass) - 1")
    assert formula == Formula(
        "Survived", ((Factor("Age"),), (Factor("Pclass", True),), (Factor("Age"), Factor("Pclass", True))), False
    )
    assert formula.columns == ("Survived", "Age", "Pclass")
    assert parse_formula("y ~ Age:I(Age^2)").terms == ((Factor("Age"), Factor("Age", power=2)),)
    assert parse_formula("y ~ Age + I(Age^2)").columns == ("y", "Age")


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("y ~ a:a", "I(a^2)"),
        ("y ~ a*a", "I(a^2)"),
        ("y ~ a:a:a", "I(a^3)"),
        ("y ~ b + (a:c*a)", "I(a^2)"),
        ("y ~ (a:b)*(a:c)", "I(a^2)"),
        ("y ~ `a b`:`a b`", "I(`a b`^2)"),
        ("y ~ I(a^2):I(a^2)", "I(a^4)"),
        ("y ~ I(a^3)*I(a^3)", "I(a^6)"),
    ],
)
def test_a_column_times_itself_is_refused_with_what_may_be_meant(text, meant):
    with pytest.raises(FormulaError, match="stands twice in one product") as error:
        parse_formula(text)
    assert f"Write {meant} for a power" in str(error.value)
    with pytest.raises(FormulaError, match="Write it once; powers go up to 6"):
        parse_formula("y ~ I(a^4):I(a^4)")


@pytest.mark.parametrize("text", ["y ~ a^2", "y ~ a**2", "y ~ (a + b)^2", "y ~ a + I(b)^2"])
def test_a_power_outside_i_is_refused_with_how_to_write_it(text):
    with pytest.raises(FormulaError, match=r"write I\(a\^2\)|I\(\) holds one column"):
        parse_formula(text)


HOSTILE = [
    "__import__('os').system('true')",
    "y ~ __import__('os')",
    "y ~ __import__(os)",
    "y ~ exec(a)",
    "y ~ eval(a)",
    "y ~ open(a)",
    "y ~ I(a)",
    "y ~ I()",
    "y ~ I(^2)",
    "y ~ I(2)",
    "y ~ I(a^)",
    "y ~ I(a^0)",
    "y ~ I(a^1)",
    "y ~ I(a^7)",
    "y ~ I(a^02)",
    "y ~ I(a^22)",
    "y ~ I(a^-1)",
    "y ~ I(a^+2)",
    "y ~ I(a^2.5)",
    "y ~ I(a^2e0)",
    "y ~ I(a^999999999)",
    "y ~ I(a**999999999)",
    "y ~ I(a^٢)",
    "y ~ I(a^²)",
    "y ~ I(a²)",
    "y ~ I(a^(2))",
    "y ~ I(a^b)",
    "y ~ I(1^2)",
    "y ~ I(2^2)",
    "y ~ I(a^2^2)",
    "y ~ I(a**2**2)",
    "y ~ I(a*^2)",
    "y ~ I(a* *2)",
    "y ~ I(a ^ 2",
    "y ~ I(a^2))",
    "y ~ I((a)^2)",
    "y ~ I(I(a^2)^2)",
    "y ~ I(C(a)^2)",
    "y ~ I(a:b^2)",
    "y ~ I(a + b)",
    "y ~ I(a^2 + b)",
    "y ~ I(a^2, b)",
    "y ~ I(a.b^2)",
    "y ~ I(-a^2)",
    "y ~ I(`a``b`^2)",
    "y ~ I(``^2)",
    "y ~ I(`a\nb`^2)",
    "y ~ I(`a^2)",
    "y ~ I(a^2)(b)",
    "y ~ I(a^2)I(b^2)",
    "y ~ I(a^2)b",
    "y ~ bI(a^2)",
    "y ~ 2I(a^2)",
    "y ~ 2*I(a^2)",
    "y ~ - I(a^2)",
    "y ~ `I`(a^2)",
    "y ~ C(I(a^2))",
    "y ~ C(a^2)",
    "y ~ i(a^2)",
    "y ~ I[a^2]",
    "y ~ I(y^2)",
    "I(y^2) ~ a",
    "I(a^2)",
    "y ~ " + ":".join(f"I(a^{k})" for k in range(2, 7)) + ":a:b",
    "y ~ " + "I(" * 900 + "a" + "^2)" * 300,
    "y ~ " + "I(" * 30 + "a" + "^2)" * 30,
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
    assert str(parse_formula("y ~ I(a**2)*C(b)")) == "y ~ I(a^2) + C(b) + I(a^2):C(b)"


def test_long_sums_are_read():
    assert len(parse_formula("y ~ " + "+".join(f"x{i}" for i in range(300))).terms) == 300
    assert len(parse_formula("y ~ " + "+".join("a" for _ in range(990))).terms) == 1
    assert len(parse_formula("y ~ (" + "+".join("a" for _ in range(900)) + "):b").terms) == 1


def test_a_name_that_cannot_be_written_is_refused():
    with pytest.raises(FormulaError, match="backtick"):
        str(Formula("y", ((Factor("a`b"),),)))


@given(st.text(alphabet="yab012CI^~+-*:()` .,[]'\"\\", max_size=40) | st.text(max_size=40))
def test_any_text_is_read_or_refused(text):
    try:
        formula = parse_formula(text)
    except FormulaError:
        return
    assert parse_formula(str(formula)) == formula


NAMES = st.text(st.characters(blacklist_characters="`\n", blacklist_categories=["Cs"]), min_size=1, max_size=6)


KINDS = st.one_of(st.tuples(st.just(True)), st.tuples(st.just(False), st.integers(1, 6)))


@given(
    st.sampled_from(["a", "`a b`"]), st.sampled_from(["^", "**"]), st.text(alphabet="0123456789.-+e^*( )ab", max_size=5)
)
def test_i_takes_a_whole_number_from_2_to_6_and_nothing_else(name, sign, exponent):
    text = f"y ~ I({name}{sign}{exponent})"
    if exponent.strip() in ("2", "3", "4", "5", "6"):
        assert str(parse_formula(text)) == f"y ~ I({name}^{exponent.strip()})"
    else:
        with pytest.raises(FormulaError):
            parse_formula(text)


@given(st.lists(st.lists(st.tuples(NAMES, KINDS), min_size=1, max_size=3), max_size=4), NAMES, st.booleans())
def test_every_formula_survives_its_text(terms, response, intercept):
    factors = [tuple(dict.fromkeys(Factor(name, *kind) for name, kind in term if name != response)) for term in terms]
    distinct = {frozenset(term): term for term in factors if term}
    ordered = tuple(sorted(distinct.values(), key=len))
    formula = Formula(response, ordered, intercept or not ordered)
    assert parse_formula(str(formula)) == formula


def test_a_logarithm_stands_before_the_tilde_alone():
    formula = parse_formula("log( `my pay` ) ~ x", fitting=True)
    assert (formula.response, formula.logged, formula.columns) == ("my pay", True, ("my pay", "x"))
    assert parse_formula(str(formula), fitting=True) == formula
    with pytest.raises(FormulaError, match="Only `fit` takes the logarithm"):
        parse_formula("log(y) ~ x")
    with pytest.raises(FormulaError, match="C\\(\\) and I\\(\\) are the only functions"):
        parse_formula("y ~ log(x)", fitting=True)
