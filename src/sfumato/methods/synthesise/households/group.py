"""Members at some places of their households: the models of their columns, and draws from them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from sfumato.methods.synthesise.coding import Coded, Coding
from sfumato.methods.synthesise.model import Drawing, Keys, Model, Told
from sfumato.methods.synthesise.sequence import Target, bent, fitted, followed, settled

__all__ = ["Group"]

Floats = NDArray[np.float64]


class Group:
    """The models of some members' columns. Confidential: they hold true values.

    Parameters
    ----------
    targets
        What is drawn, in order.
    codings, original
        How columns are coded, and those of the original's members at these places, in an order that hangs on values.
    weights
        The weights of a copy's Bayesian bootstrap, where parameters are drawn; None where they are not.
    """

    def __init__(
        self,
        targets: Sequence[Target],
        codings: Mapping[str, Coding],
        original: Mapping[str, Coded],
        weights: Callable[[int], Floats] | None = None,
    ) -> None:
        self._targets, self._codings, self._weights = tuple(targets), codings, weights
        self._told = {name: Told(codings[name], column) for name, column in original.items()}
        self._models: dict[tuple[str, int], Model] = {}

    def draw(
        self,
        fixed: Mapping[str, Coded],
        copy: int,
        keys: Keys,
        rows: int,
        most: Mapping[str, Floats] = MappingProxyType({}),
    ) -> dict[str, Coded]:
        """Draw the columns of members of a copy.

        Parameters
        ----------
        fixed
            What they are drawn from that is there already.
        copy, keys, rows
            Which copy, its draws for these members, and how many they are.
        most
            For a column the largest number that each member may have.
        """
        own = dict(fixed)
        told = {name: Told(self._codings[name], column, self._told[name]) for name, column in fixed.items()}
        for target in self._targets:
            name = target.name
            if target.like:
                like = self._told[target.like].column
                own[name] = followed(like, self._told[name].column, own[target.like])
            else:
                model = self._model(target, copy)
                drawn = model.draw([told[n] for n in target.seen], Drawing(keys, name, copy, rows))
                own[name] = settled(target, own, drawn)
                if name in most:
                    own[name] = _no_more(own[name], most[name])
            for n in (name, *bent(target, self._targets, own, self._codings)):
                told[n] = Told(self._codings[n], own[n], self._told[n])
        return {target.name: own[target.name] for target in self._targets}

    def _model(self, target: Target, copy: int) -> Model:
        """The model of a column: fitted once, or anew for each copy where its parameters are drawn by weights."""
        anew = self._weights is not None and target.weighted
        key = target.name, copy if anew else -1
        if key not in self._models:
            weights = self._weights(copy) if self._weights is not None and target.weighted else None
            self._models[key] = fitted(target, self._codings, self._told, weights)
        return self._models[key]


def _no_more(column: Coded, most: Floats) -> Coded:
    """A column whose numbers end at some others."""
    return Coded(column.state, np.where(column.state == 0, np.minimum(column.number, most), column.number))
