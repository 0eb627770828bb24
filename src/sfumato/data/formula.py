"""Model formulas: `outcome ~ age + I(age^2) + C(region)`, read into our own small tree and never run as code.

A model of times has two columns before ~: `Surv(time, event)`.

The text is cut into tokens here; Python's parser sees only a skeleton of operators and placeholders (it knows their
precedence), and what it gives back is rebuilt as terms. Whatever is not listed is refused.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from sfumato.errors import FormulaError

__all__ = [
    "MAX_DEPTH",
    "MAX_FACTORS",
    "MAX_LENGTH",
    "MAX_POWER",
    "MAX_TERMS",
    "SURVIVAL",
    "Factor",
    "Formula",
    "Term",
    "parse_formula",
]

MAX_LENGTH = 2_000
"""Longest formula, in characters."""
MAX_DEPTH = 20
"""Deepest nesting of parentheses."""
MAX_TERMS = 500
"""Most terms, once every `*` is written out."""
MAX_FACTORS = 6
"""Most columns in one interaction."""
MAX_POWER = 6
"""Highest exponent in I()."""
_MAX_PRODUCTS = 200
SURVIVAL = "Surv(time, event)"
"""How the response of a model of times is written."""

_GRAMMAR = (
    "Write it as: outcome ~ a + C(b) + a:b + a*b + I(a^2). Allowed are names of columns (in backticks where they hold "
    "anything but letters, digits and _), C() for a column of categories, I(a^2) for a power of a number, up to "
    f"I(a^{MAX_POWER}), + : * and parentheses, and `0 +` or `- 1` for no intercept."
)
_TOKEN = re.compile(
    r"(?P<space>\s+)|`(?P<quoted>[^`\n]+)`|(?P<word>[^\W\d]\w*)|(?P<number>\d[\w.]*)|(?P<sign>\*\*|[-+:*()~])"
)
_POWER = re.compile(
    r"I\s*\(\s*(?:`(?P<quoted>[^`\n]+)`|(?P<word>[^\W\d]\w*))\s*(?:\^|\*\*)\s*"
    rf"(?P<exponent>[2-{MAX_POWER}])\s*\)"
)
_COLUMN = r"\s*(?:`(?P<quoted{0}>[^`\n]+)`|(?P<word{0}>[^\W\d]\w*))\s*"
_SURVIVAL = re.compile(rf"\s*Surv\s*\({_COLUMN.format(1)},{_COLUMN.format(2)}\)\s*(?=~)")
_LOGARITHM = re.compile(rf"\s*log\s*\({_COLUMN.format(1)}\)\s*(?=~)")
_NAMES = ("word", "quoted")
_HINTS = {
    ".": "there are no attributes and no decimals; put a column name with a dot in backticks",
    "[": "there are no subscripts and no lists",
    "'": "there are no texts; put a column name in backticks",
    '"': "there are no texts; put a column name in backticks",
    "`": "a name in backticks needs a backtick on either side and no line break",
    ",": "C() takes one column and nothing else",
    "^": "write I(a^2) for the square of a column, a*b for two columns and their interaction",
    "**": "write I(a^2) for the square of a column, a*b for two columns and their interaction",
    "/": "write a + a:b",
    "=": "the outcome stands before ~",
}


class Factor(NamedTuple):
    """One column in a term.

    Parameters
    ----------
    name
        The column.
    categorical
        Whether `C()` stands around it, so that its values are categories whatever their type.
    power
        Exponent, 1 to `MAX_POWER`; above 1 it is written `I(name^power)` and takes a column of numbers.

    Examples
    --------
    >>> str(Factor("bmi", power=2))
    'I(bmi^2)'
    """

    name: str
    categorical: bool = False
    power: int = 1

    def __str__(self) -> str:
        text = f"C({_quoted(self.name)})" if self.categorical else _quoted(self.name)
        return text if self.power == 1 else f"I({text}^{self.power})"


Term = tuple[Factor, ...]
"""The product of one or several columns."""


@dataclass(frozen=True)
class Formula:
    """A model: its response, its terms (main effects first), and whether it has an intercept.

    `event` is the second column of a response `Surv(time, event)`, whose first is `response`; else None. `logged` says
    that the response is the logarithm of its column.

    Examples
    --------
    >>> str(Formula("y", ((Factor("a"),), (Factor("a"), Factor("b", True))), intercept=False))
    'y ~ 0 + a + a:C(b)'
    """

    response: str
    terms: tuple[Term, ...]
    intercept: bool = True
    event: str | None = None
    logged: bool = False

    def __str__(self) -> str:
        parts = [":".join(map(str, term)) for term in self.terms]
        if not self.intercept:
            parts.insert(0, "0")
        response = _quoted(self.response)
        if self.event is not None:
            response = f"Surv({response}, {_quoted(self.event)})"
        response = f"log({response})" if self.logged else response
        return f"{response} ~ {' + '.join(parts or ['1'])}"

    @property
    def responses(self) -> tuple[str, ...]:
        """The columns before ~: one, or time and event."""
        return (self.response,) if self.event is None else (self.response, self.event)

    @property
    def columns(self) -> tuple[str, ...]:
        """Every column that it uses, each once, those before ~ first."""
        return tuple(dict.fromkeys((*self.responses, *(f.name for term in self.terms for f in term))))


def parse_formula(text: str, fitting: bool = False) -> Formula:
    """Read the text of a model formula.

    Parameters
    ----------
    text
        At most `MAX_LENGTH` characters: `outcome ~ a + C(b) + a:b + a*b`. `a:b` is the interaction, `a*b` is
        `a + b + a:b`; `I(a^2)` (or `I(a**2)`) is a power, with a whole exponent from 2 to `MAX_POWER`; `0 +` or `- 1`
        leaves the intercept out; `y ~ 1` has nothing else. Names with odd characters stand in backticks.
    fitting
        Whether `Surv(time, event)` or `log(y)` may stand before ~, which only `fit` takes.

    Returns
    -------
    Formula
        Equal terms stand once, main effects before interactions. `(a + b):(a + b)` is `a + b + a:b`, as in R.

    Raises
    ------
    FormulaError
        For anything else. Says what is allowed. `a:a` and `a*a` are refused, since R takes them for `a` and others for
        a square.

    Examples
    --------
    >>> str(parse_formula("asthma ~ age*C(sex) + `body mass`"))
    'asthma ~ age + C(sex) + `body mass` + age:C(sex)'
    >>> str(parse_formula("asthma ~ bmi + C(sex):I(bmi**2)"))
    'asthma ~ bmi + C(sex):I(bmi^2)'
    >>> parse_formula("Surv(days, died) ~ age", fitting=True).responses
    ('days', 'died')
    """
    if not isinstance(text, str) or not text.strip():
        raise _refusal("A model formula is a text; this one is empty or no text.")
    if len(text) > MAX_LENGTH:
        raise _refusal(f"A model formula has at most {MAX_LENGTH} characters.")
    times, logarithm = _SURVIVAL.match(text), _LOGARITHM.match(text)
    if times and not fitting:
        raise _refusal(f"{SURVIVAL} is the response of family `cox` of `fit`, and of nothing else.")
    if logarithm and not fitting:
        raise _refusal("Only `fit` takes the logarithm of an outcome; derive it as a column before.")
    found = times or logarithm
    tokens = _tokens(text[found.end() :] if found else text)
    signs = [token.text for token in tokens if token.kind == "sign"]
    if signs.count("~") != 1:
        raise _refusal("A model formula has exactly one ~ between the outcome and the rest.")
    if signs.count("*") + signs.count(":") > _MAX_PRODUCTS:
        raise _refusal(f"A model formula has at most {_MAX_PRODUCTS} signs * and :.")
    at = tokens.index(_Token("sign", "~"))
    left, right = tokens[:at], tokens[at + 1 :]
    responses = [found[f"quoted{i}"] or found[f"word{i}"] for i in ((1, 2) if times else (1,))] if found else []
    if not found:
        if len(left) != 1 or left[0].kind not in _NAMES:
            raise _refusal("Before ~ stands the name of one column, and nothing else.")
        responses = [left[0].text]
    terms, intercept = _Reader(right).read()
    if any(f.name in responses for term in terms for f in term):
        raise _refusal("The outcome must not stand on both sides of ~.")
    if len(set(responses)) < len(responses):
        raise _refusal(f"{SURVIVAL} takes two columns; here they are the same.")
    return Formula(responses[0], terms, intercept, responses[1] if times else None, logarithm is not None)


def _refusal(what: str) -> FormulaError:
    return FormulaError(f"{what} {_GRAMMAR}")


def _quoted(name: str) -> str:
    if "`" in name or "\n" in name:
        raise _refusal("The name of a column in a model formula has no backtick and no line break; rename the column.")
    return name if re.fullmatch(r"[^\W\d]\w*", name) else f"`{name}`"


class _Token(NamedTuple):
    """A piece of the text: word, quoted, number, sign, or power (whose text is the column)."""

    kind: str
    text: str
    exponent: int = 1


def _tokens(text: str) -> list[_Token]:
    """Cut into tokens. `C` before a parenthesis is a sign; `I(a^2)` is one token, as nothing else may stand in it."""
    tokens: list[_Token] = []
    at = 0
    while at < len(text):
        power = _POWER.match(text, at)
        match = power or _TOKEN.match(text, at)
        sign = text[at] if match is None else match.group()
        if match is None or sign == "**":
            hint = f": {_HINTS[sign]}" if sign in _HINTS else ""
            raise _refusal(f"{sign!r} is not allowed in a model formula{hint}.")
        at = match.end()
        if power:
            tokens.append(_Token("power", power["quoted"] or power["word"], int(power["exponent"])))
            continue
        if sign == "(" and tokens and tokens[-1].kind in _NAMES:
            tokens[-1] = _function(tokens[-1])
        kind = str(match.lastgroup)
        if kind != "space":
            tokens.append(_Token(kind, match.group(kind)))
    return tokens


def _function(token: _Token) -> _Token:
    """The name before a parenthesis, where it is C."""
    if token == _Token("word", "I"):
        raise _refusal(f"I() holds one column, ^ and a whole number from 2 to {MAX_POWER}, and nothing else: I(a^2).")
    if token == _Token("word", "Surv"):
        raise _refusal(f"{SURVIVAL} stands alone before ~, with the names of two columns in it.")
    if token != _Token("word", "C"):
        raise _refusal("C() and I() are the only functions of a model formula; derive other columns before.")
    return _Token("sign", "C")


class _Reader:
    """Reads what stands right of ~."""

    def __init__(self, tokens: Sequence[_Token]) -> None:
        self.tokens = tokens
        self.factors: list[Factor] = []

    def read(self) -> tuple[tuple[Term, ...], bool]:
        """The terms in order of their size, and whether there is an intercept."""
        found: list[Term] = []
        said: list[bool] = []  # what the numbers say of the intercept
        for part, negative in self.summands(self.tree()):
            number = self.number(part)
            if negative and number != 1:
                raise _refusal("A minus stands only before 1.")
            if number is None:
                found = _distinct([*found, *self.terms(part)])
            else:
                said.append(number == 1 and not negative)
        if len(said) > 1 or not (found or said == [True]):
            raise _refusal("After ~ stand columns, or 1 alone, and at most one statement on the intercept.")
        return tuple(sorted(found, key=len)), said != [False]

    def tree(self) -> ast.expr:
        """Python's view of the skeleton; `:` is `**` in it, which binds tighter than `*`."""
        skeleton, depth = [], 0
        for kind, token, exponent in self.tokens:
            depth += {"(": 1, ")": -1}.get(token, 0) if kind == "sign" else 0
            if depth > MAX_DEPTH:
                raise _refusal(f"Parentheses are nested at most {MAX_DEPTH} deep.")
            if kind in (*_NAMES, "power"):
                skeleton.append(f"q{len(self.factors)}")
                self.factors.append(Factor(token, power=exponent))
            elif kind == "number":
                if token not in ("0", "1"):
                    raise _refusal("The only numbers are `0 +` and `- 1`, for no intercept, and that in I(a^2).")
                skeleton.append(token)
            else:
                skeleton.append("**" if token == ":" else token)
        try:
            return ast.parse(" ".join(skeleton), mode="eval").body
        except (SyntaxError, ValueError, MemoryError, RecursionError):
            raise _refusal("This is not a model formula; look for a missing + or parenthesis.") from None

    def summands(self, tree: ast.expr) -> list[tuple[ast.expr, bool]]:
        """What is added, each with whether a minus stands before it. A loop, so that a long sum needs no deep stack."""
        parts: list[tuple[ast.expr, bool]] = []
        while isinstance(tree, ast.BinOp) and isinstance(tree.op, ast.Add | ast.Sub):
            parts.extend(reversed(self.signed(tree.right, isinstance(tree.op, ast.Sub))))
            tree = tree.left
        parts.extend(reversed(self.signed(tree, False)))
        return parts[::-1]

    def signed(self, tree: ast.expr, negative: bool) -> list[tuple[ast.expr, bool]]:
        if isinstance(tree, ast.UnaryOp) and isinstance(tree.op, ast.USub) and not negative:
            return [(tree.operand, True)]
        if isinstance(tree, ast.BinOp) and isinstance(tree.op, ast.Add | ast.Sub) and not negative:
            return self.summands(tree)
        return [(tree, negative)]

    @staticmethod
    def number(tree: ast.expr) -> int | None:
        return tree.value if isinstance(tree, ast.Constant) and isinstance(tree.value, int) else None

    def terms(self, tree: ast.expr) -> list[Term]:
        """The terms of one summand, or of what stands in parentheses."""
        match tree:
            case ast.Name(id=placeholder) if placeholder != "C":
                return [(self.factor(placeholder),)]
            case ast.Call(func=ast.Name(id="C"), args=[ast.Name(id=placeholder)], keywords=[]) if placeholder != "C":
                return [(self.category(placeholder),)]
            case ast.BinOp(op=ast.Add()):
                parts = self.summands(tree)
                if any(negative for _, negative in parts):
                    raise _refusal("A minus stands only before 1, in the sum after ~.")
                return _distinct([term for part, _ in parts for term in self.terms(part)])
            case ast.BinOp(left=left, op=ast.Pow() | ast.Mult() as sign, right=right):
                _refuse_squares(self.multiplied(tree))
                one, other = self.terms(left), self.terms(right)
                both = _products(one, other)
                return both if isinstance(sign, ast.Pow) else _distinct([*one, *other, *both])
            case ast.Constant():
                raise _refusal("0 and 1 stand in the sum after ~ only, not within a product.")
        raise _refusal("Something here is neither a column, C() of a column, a power, a sum nor a product.")

    def factor(self, placeholder: str) -> Factor:
        return self.factors[int(placeholder[1:])]

    def category(self, placeholder: str) -> Factor:
        name, _, power = self.factor(placeholder)
        if power > 1:
            raise _refusal("C() takes a column and no power of one.")
        return Factor(name, categorical=True)

    def multiplied(self, tree: ast.expr) -> list[Factor]:
        """Numbers that are multiplied with one another as they are written: none of those in sums or in C()."""
        match tree:
            case ast.Name(id=placeholder) if placeholder != "C":
                return [self.factor(placeholder)]
            case ast.BinOp(left=left, op=ast.Pow() | ast.Mult(), right=right):
                return self.multiplied(left) + self.multiplied(right)
        return []


def _refuse_squares(factors: Sequence[Factor]) -> None:
    """Refuse a:a: R takes it for a, and who writes it may mean the square."""
    for factor in factors:
        if (count := factors.count(factor)) > 1:
            power = factor.power * count
            meant = f"Write {factor._replace(power=power)} for a power of it, else write it once"
            high = f"Write it once; powers go up to {MAX_POWER}"
            raise _refusal(f"{factor} stands twice in one product. {meant if power <= MAX_POWER else high}.")


def _products(one: list[Term], other: list[Term]) -> list[Term]:
    """The product of every term of one with every term of the other."""
    if len(one) * len(other) > MAX_TERMS:
        raise _refusal(f"A model has at most {MAX_TERMS} terms, every * written out.")
    return _distinct([tuple(dict.fromkeys((*a, *b))) for a in one for b in other])


def _distinct(terms: Sequence[Term]) -> list[Term]:
    """Each term once, as it was written first."""
    found: dict[frozenset[Factor], Term] = {}
    for term in terms:
        found.setdefault(frozenset(term), term)
    if len(found) > MAX_TERMS:
        raise _refusal(f"A model has at most {MAX_TERMS} terms, every * written out.")
    if any(len(term) > MAX_FACTORS for term in found):
        raise _refusal(f"An interaction is of at most {MAX_FACTORS} columns.")
    return list(found.values())
