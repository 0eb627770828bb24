"""Fill in what is missing: each gap is drawn given all other columns, those that have gaps too (chained equations)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from sfumato.methods.synthesise.coding import Coded, Coding
from sfumato.methods.synthesise.model import Drawing, Fit, Keys, Told
from sfumato.methods.synthesise.sequence import Forced

__all__ = ["Gaps"]

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
Rows = NDArray[np.uint32]


@dataclass(frozen=True)
class Gaps:
    """A table with gaps.

    Parameters
    ----------
    codings, columns
        How columns are coded, and all of them: those that help to draw, and those that are filled in.
    gone
        Which rows have a gap, of each column that is filled in, in the order in which they are drawn.
    order : ndarray of uint32, shape (n,)
        The rows in an order that does not hang on the table's.
    predictors
        For a column, those that it is drawn from; all others where it is not listed.
    fit
        Gives how the model of a column is fitted.
    sweeps
        How often all gaps are drawn again, given all other columns as they were filled in.
    forced
        Rules for a column; they settle its gaps, and records of which they are true take no part in its fit.
    """

    codings: Mapping[str, Coding]
    columns: Mapping[str, Coded]
    gone: Mapping[str, Flags]
    order: Rows
    predictors: Mapping[str, tuple[str, ...]]
    fit: Callable[[str], Fit]
    sweeps: int
    forced: Mapping[str, Sequence[Forced]]

    def filled(self, keys: Keys, copy: int, weights: Mapping[str, Floats] | None = None) -> dict[str, Coded]:
        """The columns of one copy, without gaps.

        Parameters
        ----------
        keys
            Keyed draws.
        copy
            Number of the copy.
        weights
            Of a Bayesian bootstrap, for the columns whose models are fitted to one, shape (n,).

        Notes
        -----
        A first pass draws each column from those without gaps and those that were filled in before; then every gap is
        drawn again given the whole record as it stands, `sweeps` times. Models are always fitted to the records that
        have a value. A gap may therefore hang on any other column, also on one with gaps that is drawn later. Where one
        column alone has gaps the first pass sees all others, and nothing is drawn again.

        References
        ----------
        van Buuren (2007), doi:10.1177/0962280206074463.
        """
        holed = [name for name, rows in self.gone.items() if rows.any()]
        told = {name: Told(self.codings[name], self.columns[name]) for name in self.columns if name not in holed}
        for sweep in range(1 + (self.sweeps if len(holed) > 1 else 0)):
            for name in holed:
                seen = [n for n in self.predictors.get(name, tuple(self.columns)) if n in told and n != name]
                own = None if weights is None else weights.get(name)
                new = self._drawn(name, [told[n] for n in seen], own, Drawing(keys, name, copy, 0, None, sweep))
                told[name] = Told(self.codings[name], self._settled(name, new, told))
        return {name: told[name].column for name in self.gone}

    def _drawn(self, name: str, predictors: Sequence[Told], weights: Floats | None, draws: Drawing) -> Coded:
        """A column with its gaps drawn, from these predictors."""
        column, gone = self.columns[name], self.gone[name]
        ruled = np.zeros(len(gone), dtype=np.bool_)
        for rule in self.forced.get(name, ()):
            ruled |= rule.original
        known = self.order[~gone[self.order]]
        free = known[~ruled[known]]
        known = free if len(free) else known
        there = Coded(column.state[known], column.number[known])
        own = None if weights is None else weights[known]
        model = self.fit(name)(there, [told.at(known) for told in predictors], self.codings[name], own)
        drawn = model.draw([told.at(gone) for told in predictors], replace(draws, rows=int(gone.sum()), chosen=gone))
        state, number = column.state.copy(), column.number.copy()
        state[gone], number[gone] = drawn.state, drawn.number
        return Coded(state, number)

    def _settled(self, name: str, column: Coded, told: Mapping[str, Told]) -> Coded:
        """The column with the values that rules demand, in its gaps."""
        there = {n: own.column for n, own in told.items()} | {name: column}
        state, number = column.state, column.number
        for rule in self.forced.get(name, ()):
            held = rule.applies(there) & self.gone[name]
            state, number = np.where(held, rule.state, state), np.where(held, rule.number, number)
        return Coded(state, number)
