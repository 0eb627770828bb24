"""Replace ids by keyed pseudonyms, which join within a scope and tell nothing across scopes."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any, ClassVar, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray
from pydantic import Field, field_validator

from sfumato.data.codebook import Codebook, Missing, Variable
from sfumato.data.holding import holding
from sfumato.data.query import Counts
from sfumato.data.roles import Kind, Role
from sfumato.draws import Purpose, units, written
from sfumato.errors import DataError
from sfumato.methods.base import Method, Stage, StepDraws
from sfumato.methods.generalising import code_text

__all__ = ["Pseudonymise"]

_Units = NDArray[np.uint64]
_PROJECT, _TABLE = "project", "table"


class Pseudonymise(Method):
    """Replace ids by pseudonyms that are keyed with the secret.

    Protects against anyone who would look an id up, who knows the method and the plan, and who can list every id that
    there may be (a plain hash of a health number is found by trying them all): without the secret nothing is found. Ids
    that are equal get equal pseudonyms within a scope, whatever the column's name and type, so that tables join; in two
    scopes they have nothing in common, which breaks the link. It does not protect what the other columns tell: equal
    counts of records by id, or columns that two tables share, link them again.

    It prepares. Steps that draw key their draws on the ids as they were, and stand before it.

    Parameters
    ----------
    columns
        The columns with ids; missing ones and missing codes stay.
    scope
        Where pseudonyms are the same: in all that is released with the secret (`project`), in this table of this plan
        alone (`table`), or wherever this name is given.
    format
        `code`: 32 hexadecimal digits. `number`: 1, 2, … in a keyed order of the ids of these columns, which joins with
        no other table or release.

    Examples
    --------
    >>> Pseudonymise(columns=("farm",), scope="interviews").sentence()
    'farm: ids were replaced by pseudonyms that are keyed with a secret, the same throughout the scope interviews.'
    """

    replaces: ClassVar[bool] = True

    do: Literal["pseudonymise"] = "pseudonymise"
    columns: tuple[str, ...] = Field(min_length=1)
    scope: str = _PROJECT
    format: Literal["code", "number"] = "code"

    @field_validator("scope")
    @classmethod
    def _named(cls, scope: str) -> str:
        if not scope.strip():
            raise ValueError("`scope` is project, table, or a name")
        return scope

    @property
    def keeps_gaps(self) -> bool:
        """An id that is missing stays so."""
        return True

    def check(self, codebook: Codebook) -> list[str]:
        """Weights are no ids, and numbers cannot stand beside codes that are none."""
        known = {n: codebook[n] for n in self.columns if n in codebook}
        weights = [n for n, v in known.items() if v.role == Role.WEIGHT]
        problems = super().check(codebook) + [f"column {n!r} has role weight, which is no id" for n in weights]
        problems += [
            f"column {n!r} is continuous, so it holds no ids. If it does, say so under variables: {n}: {{kind: "
            f"categorical}}"
            for n, v in known.items()
            if v.kind == Kind.CONTINUOUS
        ]
        if self.format == "number":
            problems += [
                f"{n!r} has missing codes that are no whole numbers, beside which numbers cannot stand: take format: "
                f"code"
                for n, v in known.items()
                if any(_number(code) is None for code in v.missing)
            ]
        return problems

    def describe(self, codebook: Codebook, states: tuple[Any, ...] = ()) -> Codebook:
        """An identifier is none any more; ids of records and households stay what they are, under other names."""
        return codebook.replace(**{n: self._described(codebook[n]) for n in self.columns})

    def _described(self, old: Variable) -> Variable:
        numbers = self.format == "number"
        codes = tuple(_numbered(m) if numbers else Missing(code=code_text(m), label=m.label) for m in old.missing)
        return Variable(
            role=Role.OTHER if old.role == Role.IDENTIFIER else old.role, kind=Kind.TEXT, label=old.label, missing=codes
        )

    def stage(self, codebook: Codebook, states: tuple[Any, ...]) -> Stage | None:
        """One pass, value by value, after a look at the different ids."""

        def fit(answers: Sequence[pl.DataFrame]) -> _Units:
            held = (
                a.filter(~codebook.missing(n, a.schema[n])).get_column(n)
                for n, a in zip(self.columns, answers, strict=True)
            )
            return np.unique(np.concatenate([_distinct(ids) for ids in held]))

        def transform(batch: pl.DataFrame, state: _Units, draws: StepDraws) -> pl.DataFrame:
            return batch.with_columns(self._replaced(n, batch, codebook, state, draws) for n in self.columns)

        return None if states else Stage(transform, tuple(Counts((n,)) for n in self.columns), fit)

    def _purpose(self, draws: StepDraws) -> Purpose:
        """What is drawn: of codes nothing but the scope counts, so that tables join by them; numbers join nowhere."""
        here = f"{draws.table} {draws.plan}"
        if self.format == "number":  # in the order of another table's numbers both could be laid beside each other
            return Purpose(self.name, " ".join(self.columns), strength=f"number {self.scope} {here}")
        own = {_PROJECT: _PROJECT, _TABLE: f"{_TABLE} {here}"}
        return Purpose(self.name, "", strength=own.get(self.scope, f"name {self.scope}"))

    def _replaced(
        self, column: str, batch: pl.DataFrame, codebook: Codebook, known: _Units, draws: StepDraws
    ) -> pl.Series:
        dtype = batch.schema[column]
        present = batch.select(~codebook.missing(column, dtype)).to_series()
        unit = units(batch[column].filter(present))
        new = self._codes(unit, draws) if self.format == "code" else self._numbers(unit, codebook, known, draws)
        rows = pl.Series(np.flatnonzero(present.to_numpy()), dtype=pl.UInt32)
        kept = self._kept(column, batch, codebook)
        return kept.scatter(rows, new) if len(new) else kept

    def _kept(self, column: str, batch: pl.DataFrame, codebook: Codebook) -> pl.Series:
        """The column with its missing codes alone."""
        dtype: pl.DataType = pl.String() if self.format == "code" else pl.Int64()
        value = pl.lit(None, dtype=dtype)
        for code in codebook[column].missing:
            is_code = code.expression(pl.col(column), batch.schema[column]).fill_null(False)
            if self.format == "code":
                value = pl.when(is_code).then(pl.lit(code_text(code))).otherwise(value)
            elif code.code is None:
                value = pl.when(is_code).then(pl.col(column).cast(pl.Int64, strict=False)).otherwise(value)
            else:
                value = pl.when(is_code).then(pl.lit(_number(code), dtype=pl.Int64)).otherwise(value)
        return (
            batch.select(pl.repeat(None, pl.len(), dtype=dtype).alias("sfumato:none"), pl.col(column))
            .select(pl.coalesce(value, "sfumato:none").alias(column))
            .to_series()
        )

    def _codes(self, unit: _Units, draws: StepDraws) -> pl.Series:
        """Both words of each unit's block, so that no two have the same."""
        import pyarrow as pa

        distinct, place = np.unique(unit, return_inverse=True)
        raw = draws.draws.words(distinct, self._purpose(draws)).astype(">u8").tobytes()
        blocks = pa.FixedSizeBinaryArray.from_buffers(pa.binary(16), len(distinct), [None, pa.py_buffer(raw)])
        codes = pl.Series(pl.from_arrow(blocks.cast(pa.binary()))).bin.encode("hex")
        return codes.gather(place.reshape(-1))

    def _numbers(self, unit: _Units, codebook: Codebook, known: _Units, draws: StepDraws) -> pl.Series:
        """Each unit's place in a keyed order of all of them, without numbers that are missing codes."""
        order = draws.draws.permutation(known, self._purpose(draws))
        codes = [code for n in self.columns for code in codebook[n].missing]
        free = itertools.islice((i for i in itertools.count(1) if not any(c.matches(i) for c in codes)), len(known))
        number = np.empty(len(known), dtype=np.int64)
        number[order] = np.fromiter(free, dtype=np.int64, count=len(known))
        return pl.Series(number[np.searchsorted(known, unit)], dtype=pl.Int64)

    def sentence(self) -> str:
        """That ids are others now, and where they are the same."""
        if self.format == "number":
            where = "numbers in a keyed order"
        else:
            same = {_PROJECT: "throughout the project", _TABLE: "in this table alone"}
            within = same.get(self.scope, f"throughout the scope {self.scope}")
            where = f"pseudonyms that are keyed with a secret, the same {within}"
        return f"{', '.join(self.columns)}: ids were replaced by {where}."

    def notes(self, states: tuple[Any, ...]) -> tuple[str, ...]:
        """How many ids there were."""
        return (f"{len(states[0])} different ids were replaced.",)


def _distinct(ids: pl.Series) -> _Units:
    """The units of different ids; refuses two texts that are hashed to one, and spans of time."""
    if ids.dtype == pl.Duration:
        raise DataError(f"Column {ids.name!r} holds {holding(ids.dtype)}, which are no ids.")
    unit = units(ids)
    if len(np.unique(unit)) < written(ids).n_unique():
        raise DataError(
            f"Two different ids of column {ids.name!r} have the same 64-bit hash, so they would get one pseudonym. "
            f"Number the ids first, and keep the list apart from the release."
        )
    return unit


def _number(code: Missing) -> int | None:
    """A missing code as a whole number, for a range its low end; None where it is none."""
    try:
        ends = [float(end) for end in ((code.low, code.high) if code.code is None else (code.code,)) if end is not None]
    except ValueError:
        return None
    return int(ends[0]) if all(end.is_integer() and abs(end) < 2**53 for end in ends) else None


def _numbered(code: Missing) -> Missing:
    """A code that stood in a text, as the number that it is."""
    return code if code.code is None else code.model_copy(update={"code": _number(code)})
