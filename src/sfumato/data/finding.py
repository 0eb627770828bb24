"""Findings: one line of every report, and the collection of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, overload

import polars as pl

from sfumato.data.support import Support

__all__ = ["Finding", "Findings"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One measured figure.

    Parameters
    ----------
    measure
        Name of the measure, for instance `risk1`.
    variable
        The variable, coefficient or pair that it is about.
    group
        The part of the table: a stratum, `overall`, a decile.
    at
        The parameter that it was taken at: a width, a probability, a threshold.
    attack
        The named attack that it is a risk under.
    value
        The figure; None where it cannot be had (the reason is among `Findings.notes`).
    interval
        95% interval where the figure is estimated.
    baseline
        The same figure for the comparison: the unprotected table, or an attacker who guesses.
    limit
        The limit that the plan sets.
    ok
        Whether the limit holds; None without a limit.
    """

    measure: str
    variable: str | None = None
    group: str | None = None
    at: float | None = None
    attack: str | None = None
    value: float | None = None
    interval: tuple[float, float] | None = None
    baseline: float | None = None
    limit: float | None = None
    ok: bool | None = None

    def to_plain(self) -> dict[str, Any]:
        """The ten fixed keys of the JSON form."""
        plain = asdict(self)
        plain["interval"] = None if self.interval is None else list(self.interval)
        return plain


_SCHEMA: dict[str, Any] = {
    "measure": pl.String,
    "variable": pl.String,
    "group": pl.String,
    "at": pl.Float64,
    "attack": pl.String,
    "value": pl.Float64,
    "interval": pl.List(pl.Float64),
    "baseline": pl.Float64,
    "limit": pl.Float64,
    "ok": pl.Boolean,
}


@dataclass(frozen=True)
class Findings(Sequence[Finding]):
    """Findings in order, with notes on what could not be measured and why.

    Parameters
    ----------
    lines
        The findings.
    notes
        What could not be measured, and why.
    classes
        By group of findings the columns whose combinations it looks at, where they are known.
    supports
        What synthetic copies support, where that was asked for; else None.

    Examples
    --------
    >>> found = Findings((Finding("risk1", value=0.04), Finding("delta", variable="Age", value=0.01)))
    >>> found.of("delta", variable="Age").value
    0.01
    """

    lines: tuple[Finding, ...] = ()
    notes: tuple[str, ...] = ()
    classes: Mapping[str, tuple[str, ...]] = field(default_factory=dict, compare=False, repr=False)
    supports: tuple[Support, ...] | None = field(default=None, compare=False, repr=False)

    @overload
    def __getitem__(self, index: int) -> Finding: ...
    @overload
    def __getitem__(self, index: slice) -> Findings: ...
    def __getitem__(self, index: int | slice) -> Finding | Findings:
        return replace(self, lines=self.lines[index]) if isinstance(index, slice) else self.lines[index]

    def __len__(self) -> int:
        return len(self.lines)

    def __iter__(self) -> Iterator[Finding]:
        return iter(self.lines)

    def __add__(self, other: Findings) -> Findings:
        return Findings.together((self, other))

    @classmethod
    def together(cls, parts: Iterable[Findings]) -> Findings:
        """All of `parts`, one after another; a note that several share stands once."""
        parts = tuple(parts)
        notes = dict.fromkeys(note for part in parts for note in part.notes)
        classes = {group: by for part in parts for group, by in part.classes.items()}
        return cls(tuple(line for part in parts for line in part.lines), tuple(notes), classes)

    def select(self, measure: str, **where: Any) -> Findings:
        """The lines of `measure` whose fields equal `where`."""
        return Findings(
            tuple(f for f in self if f.measure == measure and all(getattr(f, k) == v for k, v in where.items()))
        )

    def of(self, measure: str, **where: Any) -> Finding:
        """The first line of `measure` whose fields equal `where`.

        Raises
        ------
        LookupError
            Where there is none.
        """
        found = self.select(measure, **where)
        if not found:
            known = ", ".join(sorted({f.measure for f in self}))
            raise LookupError(f"no finding {measure!r} with {where}; measures here: {known}")
        return found[0]

    @property
    def ok(self) -> bool:
        """Whether every limit holds."""
        return all(f.ok is not False for f in self)

    def to_plain(self) -> dict[str, Any]:
        """The JSON form: every finding, notes, and grades where they were asked for."""
        graded = {} if self.supports is None else {"supports": [one.to_plain() for one in self.supports]}
        return {"findings": [f.to_plain() for f in self], "notes": list(self.notes), **graded}

    def tidy(self) -> pl.DataFrame:
        """A frame with the ten fixed columns, one row a finding."""
        return pl.DataFrame([f.to_plain() for f in self], schema=_SCHEMA)

    def _repr_html_(self) -> str:
        return str(self.tidy()._repr_html_())
