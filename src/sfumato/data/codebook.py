"""The codebook: what is known about each variable of a table, apart from its values."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Annotated, Any

import polars as pl
from pydantic import (
    BeforeValidator,
    ConfigDict,
    Field,
    TypeAdapter,
    ValidationError,
    field_serializer,
    field_validator,
    model_validator,
)

from sfumato.data.described import Described
from sfumato.data.extended import meant, shown
from sfumato.data.problems import problems_of
from sfumato.data.roles import NOT_LEARNT, NUMERIC_KINDS, Kind, Role
from sfumato.data.yaml import dump_yaml, load_yaml, plain
from sfumato.errors import DataError, PlanError

__all__ = ["Codebook", "Missing", "Scalar", "Variable"]

Scalar = bool | int | float | str


class Missing(Described):
    """A user-missing code, or a closed range of them, with the reason that it stands for.

    Stata's `.a` to `.z` are written so, and are the doubles of `sfumato.data.extended` in columns of numbers. A code is
    a value which says *why* there is none (refused, not asked). It stays in the data as it is, never becomes a plain
    null unless it is said to be a `gap`, and never takes part in a mean.

    Parameters
    ----------
    code
        The value that stands for missing.
    low, high
        In place of `code`: lowest and highest value of a range of codes.
    label
        Why there is no value.
    gap
        Whether the code is read as a plain gap, as if the cell were empty: it is no category of its own then, neither
        in classes nor in steps, and does not stand in the release.

    Examples
    --------
    >>> Missing(code=-9, label="refused").matches(-9)
    True
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    code: Scalar | None = None
    low: float | None = None
    high: float | None = None
    label: str | None = None
    gap: bool = False

    @field_validator("code", mode="before")
    @classmethod
    def _meant(cls, code: Any) -> Any:
        """Take `.a` for Stata's extended missing value."""
        return meant(code)

    @field_serializer("code")
    def _shown(self, code: Scalar | None) -> Scalar | None:
        return shown(code)  # type: ignore[no-any-return]

    @model_validator(mode="after")
    def _one_of_both(self) -> Missing:
        ranged = self.low is not None and self.high is not None
        if (self.code is None) == (not ranged) or (self.code is not None and (self.low, self.high) != (None, None)):
            raise ValueError("a missing code is either `code`, or `low` with `high`")
        if self.low is not None and self.high is not None and self.low > self.high:
            raise ValueError("`low` of a missing range must not exceed `high`")
        return self

    def matches(self, value: object) -> bool:
        """Tell whether one plain value is this code."""
        if self.code is not None:
            return value == self.code
        return isinstance(value, int | float) and self.low is not None and self.low <= value <= (self.high or 0.0)

    def expression(self, column: pl.Expr, dtype: pl.DataType) -> pl.Expr:
        """Give the same test for a Polars column of type `dtype`."""
        if dtype.is_numeric() and not isinstance(self.code, str):
            if self.code is not None:
                return column == pl.lit(self.code)
            return column.is_between(pl.lit(self.low), pl.lit(self.high))
        if dtype == pl.Boolean and isinstance(self.code, bool):
            return column == pl.lit(self.code)
        if self.code is not None and not dtype.is_numeric():
            return column.cast(pl.String) == pl.lit(str(shown(self.code)))
        return pl.lit(False)


def _missing(value: Any) -> Any:
    """Let YAML say `missing: [-9, {low: -5, high: -1}]`."""
    if value is None or not isinstance(value, list | tuple):
        return value
    return tuple(v if isinstance(v, Missing | Mapping) else {"code": v} for v in value)


class Variable(Described):
    """What is known about one variable.

    Parameters
    ----------
    role
        What it means for disclosure.
    sensitive
        Whether nobody must learn it, beside its role `key`, `outcome` or `other`: a key that is known of some people
        is still to be kept from those who do not know it. The role `sensitive` says it already.
    kind
        What its values are; null where it is told from the data.
    label
        The question or description in words.
    labels
        Label of each coded value, keyed by the value.
    missing
        User-missing codes and ranges, beside those that the file marks.
    missing_from_file
        Whether the codes and ranges that the file marks as missing are so; a plan that wants fewer says false.
    unit
        Unit of measurement.
    range
        Lowest and highest possible value; null on a side is open. Used to report impossible values.
    order
        Values of an ordinal variable from lowest to highest.
    hierarchy
        Broader and broader categories of each value: `{Leeds: [Yorkshire, North], York: [Yorkshire, North]}`.
    measure
        Measure level as the file's format names it (`nominal`, `ordinal`, `scale`), kept for the way out.
    format
        Display format as the file's format names it, kept for the way out.
    multiple
        Of a released column: the number of which all its values are multiples, bounds and missing codes apart.

    Examples
    --------
    >>> Variable(role="key", kind="continuous", unit="years", missing=[-9]).missing[0].code
    -9
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    role: Role = Role.OTHER
    sensitive: bool = False
    kind: Kind | None = None
    label: str | None = None
    labels: dict[Scalar, str] = Field(default_factory=dict)
    missing: Annotated[
        tuple[Missing, ...], BeforeValidator(_missing, json_schema_input_type=tuple[Scalar | Missing, ...])
    ] = ()
    missing_from_file: bool = True
    unit: str | None = None
    range: tuple[float | None, float | None] | None = None
    order: tuple[Scalar, ...] = ()
    hierarchy: dict[Scalar, tuple[Scalar, ...]] = Field(default_factory=dict)
    measure: str | None = None
    format: str | None = None
    multiple: float | None = Field(default=None, gt=0)

    @model_validator(mode="after")
    def _may_be_learnt(self) -> Variable:
        if self.sensitive and self.role in NOT_LEARNT:
            raise ValueError(f"`sensitive: true` goes with the roles key, outcome and other, not with {self.role}")
        return self

    @model_validator(mode="after")
    def _sane_range(self) -> Variable:
        if self.range is not None:
            low, high = self.range
            if any(b is not None and not math.isfinite(b) for b in self.range):
                raise ValueError("`range` takes finite numbers, or null for an open side")
            if low is not None and high is not None and low > high:
                raise ValueError("`range` must be [low, high]")
        return self

    @property
    def numeric(self) -> bool:
        """Whether its values may be averaged."""
        return self.kind in NUMERIC_KINDS

    @property
    def private(self) -> bool:
        """Whether nobody must learn it: by its role, or because it is said to be sensitive beside it.

        Examples
        --------
        >>> Variable(role="sensitive").private, Variable(role="key", sensitive=True).private
        (True, True)
        """
        return self.role == Role.SENSITIVE or (self.sensitive and self.role not in NOT_LEARNT)

    def in_multiples(self, step: float | None) -> Variable:
        """What is known of numbers once they were rounded to a step: whole ones stay whole only if it is.

        Examples
        --------
        >>> age = Variable(kind="integer")
        >>> age.in_multiples(2.0).kind.value, age.in_multiples(0.5).kind.value
        ('integer', 'continuous')
        """
        whole = self.kind == Kind.INTEGER and step is not None and step.is_integer()
        return self.model_copy(update={"kind": Kind.INTEGER if whole else Kind.CONTINUOUS, "multiple": step})


class Codebook(Mapping[str, Variable]):
    """The variables of a table, in column order. A value: every change gives a new one.

    Examples
    --------
    >>> book = Codebook({"age": Variable(role="key", kind="integer"), "name": Variable(role="identifier")})
    >>> book.with_role("key")
    ('age',)
    >>> list(book.without("name"))
    ['age']
    """

    def __init__(self, variables: Mapping[str, Variable] | Iterable[tuple[str, Variable]] = ()) -> None:
        self._variables = dict(variables)

    def __getitem__(self, name: str) -> Variable:
        try:
            return self._variables[name]
        except KeyError:
            known = ", ".join(self._variables) or "none"
            raise DataError(f"There is no variable {name!r}. Variables: {known}.") from None

    def __contains__(self, name: object) -> bool:
        return name in self._variables

    def __iter__(self) -> Iterator[str]:
        return iter(self._variables)

    def __len__(self) -> int:
        return len(self._variables)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Codebook) and list(self.items()) == list(other.items())

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Codebook({', '.join(f'{n}: {v.role}/{v.kind}' for n, v in self.items())})"

    def with_role(self, *roles: Role | str) -> tuple[str, ...]:
        """Names of the variables that have one of `roles`."""
        return tuple(n for n, v in self.items() if v.role in {Role(r) for r in roles})

    @property
    def private(self) -> tuple[str, ...]:
        """Names of the variables that nobody must learn, whatever their role."""
        return tuple(n for n, v in self.items() if v.private)

    def the(self, role: Role) -> str | None:
        """Name of the one variable with `role` (record, household, weight), or None."""
        names = self.with_role(role)
        return names[0] if names else None

    def replace(self, /, **variables: Variable) -> Codebook:
        """A codebook in which `variables` are set, new ones last."""
        return Codebook(self._variables | variables)

    def without(self, *names: str) -> Codebook:
        """A codebook without the variables `names`."""
        return Codebook({n: v for n, v in self.items() if n not in names})

    def only(self, names: Iterable[str]) -> Codebook:
        """The variables `names`, in that order; unknown ones get an empty entry."""
        return Codebook({n: self._variables.get(n, Variable()) for n in names})

    def missing(self, name: str, dtype: pl.DataType) -> pl.Expr:
        """Expression that is true where `name` (a column of type `dtype`) holds no value.

        Null, NaN, and every user-missing code or range count.
        """
        column = pl.col(name)
        test = column.is_null()
        if dtype.is_float():
            test = test | column.is_nan()
        for code in self[name].missing if name in self else ():
            test = test | code.expression(column, dtype)
        return test.fill_null(True)

    def to_plain(self) -> dict[str, dict[str, Any]]:
        """Plain values for YAML or JSON; what is unset is left out."""
        return {n: plain(v.model_dump(exclude_defaults=True)) for n, v in self.items()}

    @classmethod
    def from_plain(cls, values: Mapping[str, Any]) -> Codebook:
        """Read what `to_plain` wrote."""
        return cls({str(n): Variable.model_validate(v or {}) for n, v in values.items()})

    def to_yaml(self) -> str:
        """The codebook as YAML, one line for each variable; the same form stands under `variables` in a plan."""
        return dump_yaml({"variables": self.to_plain()})

    @classmethod
    def from_yaml(cls, text: str) -> Codebook:
        """Read what `to_yaml` wrote.

        Raises
        ------
        PlanError
            With every problem at once.

        Examples
        --------
        >>> Codebook.from_yaml("variables:\\n  age: {role: key, kind: integer, missing: [-9]}\\n")
        Codebook(age: key/integer)
        """
        value, lines = load_yaml(text)
        if not isinstance(value, Mapping) or set(value) != {"variables"} or not isinstance(value["variables"], Mapping):
            raise PlanError(["a codebook is a mapping with the one key `variables`"])
        given = {"variables": {str(n): {} if v is None else v for n, v in value["variables"].items()}}
        try:
            return cls(_VARIABLES.validate_python(given)["variables"])
        except ValidationError as error:
            raise PlanError(problems_of(error, given, lines)) from None


_VARIABLES = TypeAdapter(dict[str, dict[str, Variable]])
