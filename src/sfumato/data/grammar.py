"""From the text of a formula to a tree: the reading half of `sfumato.data.expression`.

A formula is never run as code. It is cut into tokens here, Python's parser sees only a skeleton of operators and
placeholders (it knows their precedence), and what it gives back is rebuilt, node by node, as a tree of our own.
Whatever is not on the lists below is refused.
"""

from __future__ import annotations

import ast
import itertools
import keyword
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import cast

from sfumato.errors import FormulaError

__all__ = ["FUNCTIONS", "MAX_DEPTH", "MAX_LENGTH", "Apply", "Name", "Node", "Value", "read_formula", "refusal", "walk"]

MAX_LENGTH = 2_000
"""Longest formula, in characters."""
MAX_DEPTH = 100
"""Deepest nesting of operations."""
_MAX_SIZE = 5_000  # parts of a tree once every repeated part is written out, see _check_size
_MAX_EXPONENT = 10

FUNCTIONS: Mapping[str, tuple[int, int | None, str]] = {
    "abs": (1, 1, "abs(x)"),
    "min": (2, None, "min(x, y, ...)"),
    "max": (2, None, "max(x, y, ...)"),
    "round": (1, 2, "round(x) or round(x, digits), halves away from zero"),
    "floor": (1, 1, "floor(x)"),
    "ceil": (1, 1, "ceil(x)"),
    "log": (1, 1, "log(x), natural"),
    "log10": (1, 1, "log10(x)"),
    "exp": (1, 1, "exp(x)"),
    "sqrt": (1, 1, "sqrt(x)"),
    "if_else": (3, 3, "if_else(condition, x, y)"),
    "is_missing": (1, 1, "is_missing(x)"),
    "coalesce": (2, None, "coalesce(x, y, ...), the first that is not missing"),
    "year": (1, 1, "year(date)"),
    "month": (1, 1, "month(date)"),
    "length": (1, 1, "length(text)"),
}
"""Every function of a formula: fewest and most arguments (None is any number), and how it is written."""


@dataclass(frozen=True, slots=True)
class Value:
    """A constant of a formula."""

    value: bool | int | float | str

    @property
    def is_number(self) -> bool:
        """Whether it is a number; true and false are none."""
        return isinstance(self.value, int | float) and not isinstance(self.value, bool)


@dataclass(frozen=True, slots=True)
class Name:
    """A column of a formula."""

    name: str


@dataclass(frozen=True, slots=True)
class Apply:
    """An operator or a function with its arguments, left to right.

    `negative` is the unary minus; `in` has the tested value first and the constants of the list after it.
    """

    operation: str
    arguments: tuple[Node, ...]


Node = Value | Name | Apply


def read_formula(text: str) -> Node:
    """Read the text of a formula.

    Parameters
    ----------
    text
        The formula, at most `MAX_LENGTH` characters.

    Returns
    -------
    Value, Name or Apply

    Raises
    ------
    FormulaError
        Where the text is no formula of this grammar.

    Examples
    --------
    >>> read_formula("2 * SibSp")
    Apply(operation='*', arguments=(Value(value=2), Name(name='SibSp')))
    """
    if not isinstance(text, str) or not text.strip():
        raise FormulaError("A formula is a text such as 'SibSp + Parch > 0'; this one is empty or no text.")
    if len(text) > MAX_LENGTH:
        raise FormulaError(f"A formula has at most {MAX_LENGTH} characters. Derive it in several steps.")
    tree = _Reader(text).read()
    _check_size(text, tree)
    return tree


def refusal(text: str, what: str) -> FormulaError:
    """Make the error that says what is wrong with the formula `text`."""
    shown = "".join(c if c.isprintable() else " " for c in (text if len(text) <= 80 else text[:77] + "..."))
    return FormulaError(f'Formula "{shown}": {what}')


def walk(node: Node) -> Iterator[Node]:
    """Give `node` and all its parts, left to right."""
    yield node
    if isinstance(node, Apply):
        for argument in node.arguments:
            yield from walk(argument)


def _check_size(text: str, tree: Node) -> None:
    """Refuse a tree that grows too large where it is written out: three functions mention an argument twice."""

    def size(node: Node) -> int:
        if not isinstance(node, Apply):
            return 1
        sizes = [size(argument) for argument in node.arguments]
        twice = {"if_else": sizes[0], "min": sum(sizes), "max": sum(sizes)}
        return min(1 + sum(sizes) + twice.get(node.operation, 0), _MAX_SIZE + 1)

    if size(tree) > _MAX_SIZE:
        raise refusal(text, "conditions, min or max are nested too deep. Derive it in several steps.")


_TOKEN = re.compile(
    r"""(?P<space>\s+)
      | (?P<number>(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)
      | (?P<word>[^\W\d]\w*)
      | (?P<text>'[^'\n]*'|"[^"\n]*")
      | (?P<quoted>`[^`\n]+`)
      | (?P<sign>\*\*|//|<=|>=|==|!=|[-+*/%()<>,\[\]])""",
    re.VERBOSE,
)
_KEYWORDS = frozenset({"and", "or", "not", "in"})
_TRUTH = {"true": True, "True": True, "false": False, "False": False}
_RESERVED = frozenset(keyword.kwlist) - _KEYWORDS - set(_TRUTH) | {"null", "NULL"}
_HINTS = {
    "=": "write == to compare",
    ".": "put a column name with a dot in backticks; there are no attributes",
    "&": "write `and`",
    "|": "write `or`",
    "!": "write `not`, or != to compare",
    "~": "write `not`",
    "^": "write ** for a power",
    "`": "a column name in backticks needs a backtick on either side",
    "'": "a text needs a quote on either side",
    '"': "a text needs a quote on either side",
    "if": "write if_else(condition, x, y)",
    "else": "write if_else(condition, x, y)",
    "is": "write == to compare, or is_missing(x)",
    "None": "write is_missing(x)",
    "null": "write is_missing(x)",
    "NULL": "write is_missing(x)",
}
_OPERATORS: Mapping[type[ast.AST], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.Pow: "**",
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.And: "and",
    ast.Or: "or",
}


class _Reader:
    """Reads one formula."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.leaves: list[tuple[str, str]] = []  # kind and text of the token that each placeholder stands for

    def refuse(self, what: str) -> FormulaError:
        return refusal(self.text, what)

    def read(self) -> Node:
        skeleton = self.skeleton()
        try:
            body = ast.parse(skeleton, mode="eval").body
        except (SyntaxError, ValueError, MemoryError, RecursionError):
            raise self.refuse(
                "this is not a formula. Look for a missing operator, comma or bracket; a formula looks like "
                "SibSp + Parch > 0, or if_else(age < 18, 'child', 'adult')."
            ) from None
        return self.node(body, 1)

    def skeleton(self) -> str:
        """The formula with a placeholder for every name, number and text."""
        parts, at = [], 0
        while at < len(self.text):
            match = _TOKEN.match(self.text, at)
            if match is None:
                raise self.refuse(f"{self.text[at]!r} is not allowed here{self.hint(self.text[at])}.")
            kind, token = cast(str, match.lastgroup), match.group()
            if kind == "word" and token in _RESERVED:
                raise self.refuse(f"{token!r} is not a word of formulas{self.hint(token)}; a column goes in backticks.")
            if kind == "sign" or token in _KEYWORDS:
                parts.append(token)
            elif kind != "space":
                parts.append(f"q{len(self.leaves)}")
                self.leaves.append((kind, token))
            at = match.end()
        return " ".join(parts)

    @staticmethod
    def hint(token: str) -> str:
        return f": {_HINTS[token]}" if token in _HINTS else ""

    def node(self, tree: ast.AST, depth: int) -> Node:
        """Rebuild one node of Python's tree as ours."""
        if depth > MAX_DEPTH:
            raise self.refuse(f"operations are nested more than {MAX_DEPTH} deep. Derive it in several steps.")
        match tree:
            case ast.Name(id=placeholder):
                return self.leaf(*self.leaves[int(placeholder[1:])])
            case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
                return self.binary(_OPERATORS[type(op)], self.node(left, depth + 1), self.node(right, depth + 1))
            case ast.BoolOp(op=op, values=values):
                return Apply(_OPERATORS[type(op)], tuple(self.node(v, depth + 1) for v in values))
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return Apply("not", (self.node(operand, depth + 1),))
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return self.negative(self.node(operand, depth + 1))
            case ast.UnaryOp(op=ast.UAdd(), operand=operand):
                return Apply("+", (Value(0), self.node(operand, depth + 1)))
            case ast.Compare():
                return self.compare(tree, depth)
            case ast.Call():
                return self.call(tree, depth)
            case ast.Tuple() | ast.List():
                raise self.refuse("a list stands only after `in` or `not in`.")
        raise self.refuse("only arithmetic, comparisons, and/or/not and the functions of the list are allowed.")

    def leaf(self, kind: str, token: str) -> Node:
        if kind == "number":
            number = float(token)
            if not math.isfinite(number):
                raise self.refuse("a number is too large.")
            return Value(int(token) if token.isdigit() and number < 2**53 else number)
        if kind == "text":
            return Value(token[1:-1])
        if kind == "quoted":
            return Name(token[1:-1])
        return Value(_TRUTH[token]) if token in _TRUTH else Name(token)

    def binary(self, operation: str, left: Node, right: Node) -> Node:
        if operation == "**":
            small = isinstance(right, Value) and right.is_number and abs(float(right.value)) <= _MAX_EXPONENT
            if not small:
                raise self.refuse(f"an exponent is a number between -{_MAX_EXPONENT} and {_MAX_EXPONENT}.")
        return Apply(operation, (left, right))

    @staticmethod
    def negative(operand: Node) -> Node:
        if isinstance(operand, Value) and operand.is_number:
            return Value(-cast(float, operand.value))
        return Apply("negative", (operand,))

    def compare(self, tree: ast.Compare, depth: int) -> Node:
        if any(isinstance(op, ast.In | ast.NotIn) for op in tree.ops):
            return self.member(tree, depth)
        terms = [self.node(t, depth + 1) for t in (tree.left, *tree.comparators)]
        if any(isinstance(t, Apply) for t in terms[1:-1]):
            raise self.refuse("the middle of a chained comparison is a column or a constant; else write `and`.")
        if not all(type(op) in _OPERATORS for op in tree.ops):
            raise self.refuse("comparisons are ==, !=, <, <=, >, >=, in and not in.")
        pairs = tuple(
            Apply(_OPERATORS[type(op)], pair) for op, pair in zip(tree.ops, itertools.pairwise(terms), strict=True)
        )
        return pairs[0] if len(pairs) == 1 else Apply("and", pairs)

    def member(self, tree: ast.Compare, depth: int) -> Node:
        values = tree.comparators[0]
        if len(tree.ops) > 1 or not isinstance(values, ast.Tuple | ast.List) or not values.elts:
            raise self.refuse("after `in` comes a list of constants, for instance: region in ['north', 'south'].")
        constants = tuple(self.node(v, depth + 1) for v in values.elts)
        if not all(isinstance(c, Value) for c in constants):
            raise self.refuse("a list after `in` holds only constants: numbers, quoted texts, true and false.")
        test = Apply("in", (self.node(tree.left, depth + 1), *constants))
        return test if isinstance(tree.ops[0], ast.In) else Apply("not", (test,))

    def call(self, tree: ast.Call, depth: int) -> Node:
        kind, name = self.leaves[int(tree.func.id[1:])] if isinstance(tree.func, ast.Name) else ("", "")
        if kind != "word" or name not in FUNCTIONS:
            known = "; ".join(form for _, _, form in FUNCTIONS.values())
            what = f"there is no function {name!r}" if kind == "word" else "only a function's name stands before '('"
            raise self.refuse(f"{what}. Functions: {known}.")
        fewest, most, form = FUNCTIONS[name]
        starred = tree.keywords or any(isinstance(a, ast.Starred) for a in tree.args)
        if starred or len(tree.args) < fewest or (most is not None and len(tree.args) > most):
            raise self.refuse(f"{name} is written {form}.")
        arguments = tuple(self.node(a, depth + 1) for a in tree.args)
        if name == "round" and len(arguments) == 2:
            digits = arguments[1]
            if not (isinstance(digits, Value) and type(digits.value) is int and 0 <= digits.value <= 10):
                raise self.refuse("the digits of round are a whole number between 0 and 10.")
        return Apply(name, arguments)
