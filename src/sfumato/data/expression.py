"""The small, safe language of the `derive` step: arithmetic, comparisons, and/or, and a short list of functions.

====================  ==================================================================================
columns               `Age`, or in backticks where the name is no plain word: `` `monthly income` ``
constants             `12`, `1.5e3`, `'male'` or `"male"` (without escapes), `true`, `false`
arithmetic            `+ - * / // % **`; an exponent is a number between −10 and 10
comparison            `== != < <= > >=`, also chained (`18 <= Age < 65`); `in` and `not in` with a list of constants
logic                 `and`, `or`, `not`
functions             see `FUNCTIONS`
dates                 compared with `'2020-12-31'`, or subtracted, which gives days
====================  ==================================================================================

Missing values (null, NaN, user-missing codes) make the result missing; `and`, `or` and `not` follow three-valued logic.
So does whatever has no finite value: a division by zero, a logarithm of zero or less, a number too large. Truth values
count as 1 and 0 where a number is needed. Numbers are computed as floats, which are exact for whole numbers up to 2⁵³;
a result that is known to be whole comes out as an integer (missing where it does not fit in 64 bits). Dates with a time
of day count as their day.

A formula is read by `sfumato.data.grammar` and never run as code.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, cast

import polars as pl

from sfumato.data.codebook import Codebook
from sfumato.data.grammar import FUNCTIONS, Apply, Name, Node, Value, read_formula, refusal, walk
from sfumato.data.holding import holding
from sfumato.data.unseen import seen
from sfumato.errors import FormulaError

__all__ = ["FUNCTIONS", "Expression", "parse"]

_Type = Literal["boolean", "integer", "number", "text", "date", "unknown"]


@dataclass(frozen=True)
class Expression:
    """A formula that was checked against the grammar; a plain value.

    Parameters
    ----------
    text
        The formula as it was written.
    tree
        What it means.

    Examples
    --------
    >>> import polars as pl
    >>> from sfumato.data.codebook import Codebook
    >>> family = parse("SibSp + Parch > 0")
    >>> family.names, family.kind()
    (('SibSp', 'Parch'), 'boolean')
    >>> frame = pl.DataFrame({"SibSp": [1, 0, None], "Parch": [0, 0, 2]})
    >>> frame.select(Family=family.polars(Codebook(), frame.schema))["Family"].to_list()
    [True, False, None]
    """

    text: str
    tree: Node = field(repr=False)

    @property
    def names(self) -> tuple[str, ...]:
        """The columns that it uses, in the order in which they first stand there."""
        return tuple(dict.fromkeys(n.name for n in walk(self.tree) if isinstance(n, Name)))

    def kind(self) -> Literal["boolean", "number", "text", "date", "unknown"]:
        """What the result is, as far as the formula alone tells.

        `unknown` only where it depends on the columns, as in `coalesce(a, b)`.
        """
        result = _Types(self.text, None).of(self.tree)
        return "number" if result == "integer" else result

    def polars(self, codebook: Codebook, schema: Mapping[str, pl.DataType]) -> pl.Expr:
        """Give the formula as a Polars expression over the columns of a table.

        Parameters
        ----------
        codebook
            Says which codes stand for missing.
        schema
            Type of each column of the table.

        Returns
        -------
        polars.Expr
            Boolean, integer, float, string or date; null where the result is missing, never NaN or infinite.

        Raises
        ------
        FormulaError
            Where a column is not in `schema`, or has a type that does not go with what is done to it.
        """
        types = _Types(self.text, schema)
        result = types.of(self.tree)
        built = _Builder(types, codebook, schema).build(self.tree)
        return built.cast(pl.Int64, strict=False) if result == "integer" else built


def parse(text: str) -> Expression:
    """Read a formula, or say what in it is not allowed.

    Parameters
    ----------
    text
        The formula, at most 2,000 characters, operations nested at most 100 deep.

    Returns
    -------
    Expression

    Raises
    ------
    FormulaError
        Where the text is no formula of this grammar, or one that cannot be right whatever the columns are.

    Examples
    --------
    >>> parse("round(weight / (height / 100) ** 2, 1)").names
    ('weight', 'height')
    """
    tree = read_formula(text)
    _Types(text, None).of(tree)
    return Expression(text, tree)


_NUMERIC = frozenset({"boolean", "integer", "number", "unknown"})
_WHOLE = frozenset({"boolean", "integer"})
_ORDER = ("<", "<=", ">", ">=")
_COMPARE = ("in", "==", "!=", *_ORDER)
_LOGIC = ("and", "or", "not")
_KEEP_WHOLE = ("+", "-", "*", "%", "abs", "min", "max", "round", "negative")
_ALWAYS_WHOLE = ("//", "floor", "ceil", "year", "month", "length")


def _is_day(node: Node) -> bool:
    """Whether a constant is a text of the form YYYY-MM-DD that names a day."""
    if not (isinstance(node, Value) and isinstance(node.value, str) and len(node.value) == 10):
        return False
    try:
        datetime.date.fromisoformat(node.value)
    except ValueError:
        return False
    return True


class _Types:
    """Works out the type of every part of a formula; without a schema, columns are `unknown` and fit anywhere."""

    def __init__(self, text: str, schema: Mapping[str, pl.DataType] | None) -> None:
        self.text = text
        self.schema = schema

    def refuse(self, what: str) -> FormulaError:
        return refusal(self.text, what)

    def of(self, node: Node) -> _Type:
        """Give the type of `node`; raise where its parts do not go together."""
        if isinstance(node, Name):
            return self.column(node.name)
        if isinstance(node, Value):
            names: dict[type, _Type] = {bool: "boolean", str: "text", int: "integer", float: "number"}
            return names[type(node.value)]
        types = [self.of(argument) for argument in node.arguments]
        wanted = self.wanted(node, types)
        for argument, given, want in zip(node.arguments, types, wanted, strict=True):
            self.fits(node.operation, argument, given, want)
        return self.result(node, types, wanted)

    def column(self, name: str) -> _Type:
        if self.schema is None:
            return "unknown"
        if name not in self.schema:
            raise self.refuse(f"there is no column {name!r}. Columns: {seen(', '.join(self.schema))}.")
        dtype = self.schema[name]
        if dtype == pl.Null:
            return "unknown"
        if dtype == pl.Boolean:
            return "boolean"
        if dtype.is_numeric():
            return "integer" if dtype.is_integer() else "number"
        if dtype in (pl.String, pl.Categorical, pl.Enum):
            return "text"
        if dtype in (pl.Date, pl.Datetime):
            return "date"
        raise self.refuse(
            f"column {name!r} holds {holding(dtype)}; formulas take numbers, truth values, text and dates."
        )

    def wanted(self, node: Apply, types: Sequence[_Type]) -> Sequence[_Type]:
        """Type that each argument of `node` must have, or be turned into."""
        operation = node.operation
        if operation in _LOGIC:
            return ["boolean"] * len(types)
        if operation == "is_missing":
            return types
        if operation == "length":
            return ["text"]
        if operation == "if_else":
            return ["boolean", *[self.common(types[1:])] * 2]
        if operation == "coalesce":
            return [self.common(types)] * len(types)
        if operation in _COMPARE:
            return [self.comparable(node, types)] * len(types)
        days = operation == "-" and ("date" in types or any(_is_day(a) for a in node.arguments))
        if days or operation in ("year", "month"):
            return ["date"] * len(types)
        return ["number"] * len(types)

    @staticmethod
    def common(types: Sequence[_Type]) -> _Type:
        """The one type of several results: a number where all are numbers, else what the first other one is."""
        known = [t for t in types if t != "unknown"]
        if not known:
            return "unknown"
        if all(t == "boolean" for t in known):
            return "boolean"
        return next((t for t in known if t not in _NUMERIC), "number")

    def comparable(self, node: Apply, types: Sequence[_Type]) -> _Type:
        """The type in which the sides of a comparison are compared."""
        texts = [n for n, t in zip(node.arguments, types, strict=True) if t == "text"]
        if "date" in types:
            if all(_is_day(n) for n in texts):
                return "date"
            raise self.refuse("a date is compared with another date, or with a constant such as '2020-12-31'.")
        if not texts:
            return "number"
        if node.operation not in _ORDER:
            return "text"
        if "unknown" in types and all(_is_day(n) for n in texts):
            return "date"  # the column will have to be one
        raise self.refuse("texts are equal or not, they have no order; a date is compared with 'YYYY-MM-DD'.")

    def fits(self, operation: str, argument: Node, given: _Type, want: _Type) -> None:
        if want == given or "unknown" in (want, given) or (want == "number" and given in _NUMERIC):
            return
        if want == "date" and _is_day(argument) and operation in (*_COMPARE, "-"):
            return
        part = f"column {argument.name!r}" if isinstance(argument, Name) else "one side or argument"
        words = {"boolean": "a condition", "integer": "a number"}
        advice = "; write a comparison, for instance smoker == 1" if want == "boolean" else ""
        sign = "-" if operation == "negative" else operation
        have, need = words.get(given, f"a {given}"), words.get(want, f"a {want}")
        raise self.refuse(f"{sign!r} needs {need} here, and {part} is {have}{advice}.")

    @staticmethod
    def result(node: Apply, types: Sequence[_Type], wanted: Sequence[_Type]) -> _Type:
        operation = node.operation
        if operation in _COMPARE or operation in _LOGIC or operation == "is_missing":
            return "boolean"
        if operation in ("if_else", "coalesce"):
            branches = types[1:] if operation == "if_else" else types
            return "integer" if wanted[-1] == "number" and _WHOLE.issuperset(branches) else wanted[-1]
        if operation in _ALWAYS_WHOLE or (operation == "-" and wanted[0] == "date"):
            return "integer"
        if operation == "**":
            power = cast(Value, node.arguments[1]).value
            return "integer" if isinstance(power, int) and power >= 0 and types[0] in _WHOLE else "number"
        if operation == "round" and _digits(node) == 0:
            return "integer"
        return "integer" if operation in _KEEP_WHOLE and _WHOLE.issuperset(types) else "number"


def _digits(node: Apply) -> int:
    return cast(int, cast(Value, node.arguments[1]).value) if len(node.arguments) == 2 else 0


_DTYPES: Mapping[_Type, type[pl.DataType]] = {
    "boolean": pl.Boolean,
    "integer": pl.Float64,
    "number": pl.Float64,
    "text": pl.String,
    "date": pl.Date,
}


def _constant(value: bool | float | str | datetime.date) -> pl.Expr:
    """A whole column: Polars 2.1 gives a comparison of a literal text with an all-null column the wrong height."""
    return pl.repeat(value, pl.len())


def _finite(value: pl.Expr) -> pl.Expr:
    """Null where there is no finite value. Mentions `value` once: twice would double with every operation."""
    return value.replace([math.inf, -math.inf, math.nan], None)


def _if_else(condition: pl.Expr, x: pl.Expr, y: pl.Expr) -> pl.Expr:
    return pl.when(condition).then(x).when(~condition).then(y)  # neither where the condition is missing


def _of_all(choose: Callable[..., pl.Expr]) -> Callable[..., pl.Expr]:
    def function(*values: pl.Expr) -> pl.Expr:
        return pl.when(pl.all_horizontal(v.is_not_null() for v in values)).then(choose(*values))

    return function


_BUILD: Mapping[str, Callable[..., pl.Expr]] = {
    "+": lambda x, y: _finite(x + y),
    "-": lambda x, y: _finite(x - y),
    "*": lambda x, y: _finite(x * y),
    "/": lambda x, y: _finite(x / y),
    "//": lambda x, y: _finite(x / y).floor(),
    "%": lambda x, y: _finite(x % y),
    "**": lambda x, y: _finite(x**y),
    "negative": lambda x: -x,
    "==": lambda x, y: x == y,
    "!=": lambda x, y: x != y,
    "<": lambda x, y: x < y,
    "<=": lambda x, y: x <= y,
    ">": lambda x, y: x > y,
    ">=": lambda x, y: x >= y,
    "and": pl.all_horizontal,
    "or": pl.any_horizontal,
    "not": lambda x: ~x,
    "abs": lambda x: x.abs(),
    "min": _of_all(pl.min_horizontal),
    "max": _of_all(pl.max_horizontal),
    "floor": lambda x: x.floor(),
    "ceil": lambda x: x.ceil(),
    "log": lambda x: _finite(x.log()),
    "log10": lambda x: _finite(x.log10()),
    "exp": lambda x: _finite(x.exp()),
    "sqrt": lambda x: _finite(x.sqrt()),
    "if_else": _if_else,
    "is_missing": lambda x: x.is_null(),
    "coalesce": pl.coalesce,
    "year": lambda x: x.dt.year().cast(pl.Float64),
    "month": lambda x: x.dt.month().cast(pl.Float64),
    "length": lambda x: x.str.len_chars().cast(pl.Float64),
}


class _Builder:
    """Turns a tree into a Polars expression whose numbers are all Float64."""

    def __init__(self, types: _Types, codebook: Codebook, schema: Mapping[str, pl.DataType]) -> None:
        self.types = types
        self.codebook = codebook
        self.schema = schema

    def build(self, node: Node) -> pl.Expr:
        if isinstance(node, Name):
            return self.column(node.name)
        if isinstance(node, Value):
            return _constant(node.value if isinstance(node.value, bool | str) else float(node.value))
        wanted = self.types.wanted(node, [self.types.of(a) for a in node.arguments])
        if node.operation == "in":
            values = [self.constant(cast(Value, v), wanted[0]) for v in node.arguments[1:]]
            return self.argument(node.arguments[0], wanted[0]).is_in(values)
        if node.operation == "round":
            number = self.argument(node.arguments[0], "number")
            return _finite(number.round(_digits(node), mode="half_away_from_zero"))
        arguments = [self.argument(a, w) for a, w in zip(node.arguments, wanted, strict=True)]
        if node.operation == "-" and wanted[0] == "date":
            return (arguments[0] - arguments[1]).dt.total_days().cast(pl.Float64)
        return _BUILD[node.operation](*arguments)

    def argument(self, node: Node, want: _Type) -> pl.Expr:
        if want == "date" and isinstance(node, Value):
            return _constant(self.constant(node, want))
        built = self.build(node)
        return built if want == "unknown" else built.cast(_DTYPES[want])

    @staticmethod
    def constant(node: Value, want: _Type) -> datetime.date | str | float:
        if want == "date":
            return datetime.date.fromisoformat(cast(str, node.value))
        return cast(str, node.value) if want == "text" else float(node.value)

    def column(self, name: str) -> pl.Expr:
        dtype = self.schema[name]
        given, column = self.types.column(name), pl.col(name)
        if dtype == pl.Datetime:
            column = column.dt.date()
        elif given != "unknown":
            column = column.cast(_DTYPES[given])
        return pl.when(~self.codebook.missing(name, dtype)).then(column)
