"""The households that are drawn from: coded, in an order that hangs on values alone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.data.codebook import Codebook
from sfumato.draws import Draws
from sfumato.errors import DataError
from sfumato.methods.synthesise.coding import Coded, Coding
from sfumato.methods.synthesise.copies import Synthesis
from sfumato.methods.synthesise.households.earlier import Count, at, counted
from sfumato.methods.synthesise.households.homes import Layout, in_order, is_shared
from sfumato.methods.synthesise.keys import StepKeys, blocks_of, digest_of

__all__ = ["Original", "by_value"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Words = NDArray[np.uint64]

FEW_HOUSEHOLDS = (
    "`min_leaf` is more than half of the {whole}s to draw from: no leaf could be told from another. Take a smaller "
    "`min_leaf`, or fewer strata."
)
FEW_MEMBERS = (
    "Fewer people live with a head of household than two leaves of `min_leaf` hold, so that no members can be drawn. "
    "Take a smaller `min_leaf` or fewer strata; or leave `households` out and drop the household's column."
)
FEW_ROWS = (
    "Fewer rows follow a person's first one than two leaves of `min_leaf` hold, so that no later rows can be drawn. "
    "Take a smaller `min_leaf` or fewer strata; or leave `persons` and `time` out and drop the person's column."
)
HEAD_SHARED = "`head` names column {head!r}, which is the same for all of each household: it does not say who is head."
TIME_SHARED = "`time` names column {time!r}, which is the same in all rows of each person: it does not order them."
TIME_TEXT = "`time` names column {time!r}, which is text here: say its kind, number or date, to have rows in its order."


class Original:
    """The households of a table, or stratum.

    Parameters
    ----------
    step
        What is drawn from what.
    frame, codebook
        The original.
    draws
        The release's keyed draws.
    household, record : ndarray of uint64, shape (n,)
        The unit of each record's household, and its own; of records any number where nothing is keyed on them.
    head
        The column that says who is head; None where the numbers do.
    time
        Where units are persons, and their rows the members: the column in whose order these are; rows without it last.
    stays
        Whether people stay and only some of their columns are drawn. Then members are ordered by what stays true alone,
        so that what is drawn for the first of them does not tell that their true values come first.

    Raises
    ------
    DataError
        Too few households or members, columns without any value, `head` that gives no order.
    """

    def __init__(
        self,
        step: Synthesis,
        frame: pl.DataFrame,
        codebook: Codebook,
        draws: Draws,
        household: Words,
        record: Words,
        head: str | None = None,
        *,
        time: str | None = None,
        stays: bool = False,
    ) -> None:
        if time is not None and not (frame.schema[time].is_numeric() or frame.schema[time].is_temporal()):
            raise DataError(TIME_TEXT.format(time=time))
        self.step, self.codebook, self.draws, self.time = step, codebook, draws, time
        self.names = (*step.given, *step.columns)
        coded = {name: step.coded(frame[name], codebook) for name in self.names}
        self.codings: dict[str, Coding] = {name: coding for name, (coding, _) in coded.items()}
        compared = {n: coded[n] for n in self.names if n in step.given or not stays}
        self.rows = in_order(frame, codebook, compared, household, record, time or head)
        """The row of the table that each row here is."""
        self.frame = frame[self.rows]
        self.columns = {name: at(column, self.rows) for name, (_, column) in coded.items()}
        self.units, size = np.unique(household, return_counts=True)
        self.layout, self.record = Layout(size.astype(np.int64)), record[self.rows]
        self.shared = tuple(n for n in self.names if is_shared(self.layout, self.columns[n]))
        """Columns that are the same for all members of each household; `own` are those that are not."""
        self.own = tuple(n for n in self.names if n not in self.shared)
        self._refuse(head)

    def _refuse(self, head: str | None) -> None:
        others = self.layout.people - len(self.units)
        if head in self.shared and others:
            raise DataError(HEAD_SHARED.format(head=head))
        if self.time in self.shared and others:
            raise DataError(TIME_SHARED.format(time=self.time))
        if not self.regressions and 2 * self.step.min_leaf > len(self.units):
            raise DataError(FEW_HOUSEHOLDS.format(whole="household" if self.time is None else "person"))
        if not self.regressions and self.own and 0 < others < 2 * self.step.min_leaf:
            raise DataError(FEW_MEMBERS if self.time is None else FEW_ROWS)

    @cached_property
    def rises(self) -> bool:
        """Whether no two rows of a person have the same time; rows without one aside."""
        time, whose = self.columns[self.time or ""], self.layout.whose
        both = (whose[1:] == whose[:-1]) & (time.state[1:] == 0) & (time.state[:-1] == 0)
        return bool((np.diff(time.number)[both] > 0).all())

    @property
    def regressions(self) -> bool:
        """Whether regressions draw every column; then they draw sizes, too."""
        return self.step.parametric.issuperset(self.step.columns)

    def drawn(self, names: Iterable[str]) -> tuple[str, ...]:
        """Those of some columns that are drawn."""
        return tuple(n for n in names if n in self.step.columns)

    def given(self, names: Iterable[str]) -> tuple[str, ...]:
        """Those of some columns that stay true."""
        return tuple(n for n in names if n in self.step.given)

    @cached_property
    def counts(self) -> list[Count]:
        """What the make-up is told by: of drawn columns first."""
        names = (*self.drawn(self.own), *self.given(self.own))
        return counted({n: self.columns[n] for n in names}, self.codings)

    @cached_property
    def drawn_counts(self) -> list[Count]:
        """Those of `counts` that are no rest."""
        return [count for count in self.counts if not count.rest]

    @cached_property
    def totals(self) -> dict[Count, Floats]:
        """The make-up of each household, shape (m,) for each count."""
        homes = len(self.layout.size)
        return {count: count.of(self.columns, self.layout.whose, homes) for count in self.counts}

    @cached_property
    def _strength(self) -> str:
        """What stands for parameters and the whole input in the draws: who is who, and who lives with whom."""
        columns, whose = self.columns, self.layout.whose
        word = blocks_of(self.draws, self.step.method, self.codings, columns, np.zeros(len(whose), np.uint64))[:, 0]
        home = np.zeros(len(self.layout.size), dtype=np.uint64)
        np.add.at(home, whose, word)
        return f"{self.step.strength}|{digest_of(self.draws, self.step.method, self.codings, columns, home[whose])}"

    def keys(self, whose: str, units: Words, households: Words) -> StepKeys:
        """Keyed draws.

        Parameters
        ----------
        whose
            For whom models are: their parameters are drawn apart.
        units
            Whom values are drawn for.
        households
            The unit of the household of each row that models are fitted to: its members weigh the same.
        """
        strength = f"{self._strength}|{whose}" if whose else self._strength
        return StepKeys(self.draws, self.step.method, strength, units, households)


def by_value(columns: Mapping[str, Coded], *units: Words) -> Ints:
    """Rows in an order that hangs on values alone; units part those that are equal in all."""
    told = {f"{i}{kind}": getattr(c, kind) for i, c in enumerate(columns.values()) for kind in ("state", "number")}
    table = pl.DataFrame(told | {f"unit {i}": own for i, own in enumerate(units)})
    return table.select(pl.arg_sort_by(table.columns)).to_series().to_numpy().astype(np.int64)
