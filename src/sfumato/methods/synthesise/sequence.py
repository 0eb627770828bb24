"""Draw one column after the other, each from its model given those before it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.data.hidden import HIDDEN
from sfumato.errors import DataError
from sfumato.methods.synthesise.bounded import Bounded, Bounding
from sfumato.methods.synthesise.coding import Coded, Coding
from sfumato.methods.synthesise.model import Drawing, Fit, Keys, Model, Told

__all__ = ["Forced", "Target", "bent", "drawn", "fitted", "followed", "settled"]

CONTRADICTED = (
    "A rule settles column {column!r} so that in some synthetic records it contradicts {other}, to which `keep` holds "
    "it, and which stays true or is settled by a rule, too. Change the rule or `keep`."
)
Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class Forced:
    """A value that some rows have by a rule.

    Parameters
    ----------
    original : ndarray of bool, shape (n,)
        To which rows of the original it applies; they take no part in the fit.
    applies
        To which rows of a copy it applies, from the columns that are drawn.
    state, number
        The value, as it is coded.
    """

    original: Flags
    applies: Callable[[Mapping[str, Coded]], Flags]
    state: int
    number: float


@dataclass(frozen=True)
class Target:
    """A column that is drawn.

    Parameters
    ----------
    name
        The column.
    predictors
        The columns that its model looks at, all of which stand before it.
    fit
        How its model is fitted.
    like
        The column that it is one to one with, and that is drawn before it; empty where there is none.
    forced
        Rules.
    weighted
        Whether a proper model is one that is fitted anew for each copy, with weights; else it draws its parameters.
    bounding
        Columns between which it is drawn; None where it is not bounded.
    """

    name: str
    predictors: tuple[str, ...]
    fit: Fit
    like: str = ""
    forced: tuple[Forced, ...] = ()
    weighted: bool = True
    bounding: Bounding | None = None

    @property
    def seen(self) -> tuple[str, ...]:
        """The columns that its model is given: the predictors, then those that its bounds hang on."""
        return (*self.predictors, *(() if self.bounding is None else self.bounding.columns))

    def model(self, column: Coded, seen: Sequence[Told], coding: Coding, weights: Floats | None) -> Model:
        """Fit its model.

        Parameters
        ----------
        column, coding
            The column, and how it is coded.
        seen
            The columns that the model is given.
        weights
            Of a Bayesian bootstrap.
        """
        if self.bounding is None:
            return self.fit(column, seen, coding, weights)
        return Bounded(self.fit, self.bounding, column, seen, coding, weights)


def drawn(
    targets: Sequence[Target],
    codings: Mapping[str, Coding],
    original: Mapping[str, Coded],
    fixed: Mapping[str, Coded],
    rows: int,
    copies: int,
    keys: Keys,
    *,
    proper: bool = False,
) -> list[dict[str, Coded]]:
    """Draw the columns of every copy.

    Parameters
    ----------
    targets
        What is drawn, in order.
    codings, original
        How columns are coded, and the original, in an order of its rows that hangs on their values alone.
    fixed
        Columns of the synthetic rows that stay true.
    rows, copies
        How many synthetic rows a copy has, and how many copies there are.
    keys
        Keyed draws.
    proper
        Whether models are fitted anew for each copy, to a Bayesian bootstrap; those that draw their parameters do so.

    Returns
    -------
    list
        Of each copy its columns by name.
    """
    made: list[dict[str, Coded]] = [dict(fixed) for _ in range(copies)]
    told = {name: Told(codings[name], column) for name, column in original.items()}
    kept = {name: Told(codings[name], column, told[name]) for name, column in fixed.items()}
    new = [dict(kept) for _ in range(copies)]
    anew = proper and any(target.weighted for target in targets)
    weights = [keys.weights(copy) if anew else None for copy in range(copies)]
    for target in targets:
        model: Model | None = None
        for copy in range(copies):
            own = made[copy]
            if target.like:
                own[target.name] = followed(original[target.like], original[target.name], own[target.like])
            else:
                if model is None or (proper and target.weighted):
                    model = fitted(target, codings, told, weights[copy] if target.weighted else None)
                predictors = [new[copy][name] for name in target.seen]
                new_values = model.draw(predictors, Drawing(keys, target.name, copy, rows))
                own[target.name] = settled(target, own, new_values)
            for name in (target.name, *bent(target, targets, own, codings)):
                new[copy][name] = Told(codings[name], own[name], told[name])
    return made


def fitted(
    target: Target,
    codings: Mapping[str, Coding],
    told: Mapping[str, Told],
    weights: Floats | None,
) -> Model:
    """The model of a column, of the rows that no rule settles."""
    column, predictors = told[target.name].column, [told[name] for name in target.seen]
    free = np.ones(len(column.state), dtype=bool)
    for rule in target.forced:
        free &= ~rule.original
    if not free.all() and free.any():
        column = Coded(column.state[free], column.number[free])
        predictors = [own.at(free) for own in predictors]
        weights = None if weights is None else weights[free]
    return target.model(column, predictors, codings[target.name], weights)


def settled(target: Target, own: Mapping[str, Coded], column: Coded) -> Coded:
    """A drawn column with the values that rules demand."""
    state, number = column.state, column.number
    for rule in target.forced:
        held = rule.applies(own)
        state, number = np.where(held, rule.state, state), np.where(held, rule.number, number)
    return Coded(state, number)


def bent(target: Target, targets: Sequence[Target], own: dict[str, Coded], codings: Mapping[str, Coding]) -> list[str]:
    """Bend earlier columns to what a rule has settled, so that bounds hold; the names of those that changed.

    Parameters
    ----------
    target
        The column that was drawn last.
    targets
        All that is drawn.
    own
        The columns that are there, which are changed.
    codings
        How columns are coded.

    Raises
    ------
    DataError
        A rule that contradicts what stays true, or another rule.
    """
    if target.bounding is None or not target.forced:
        return []
    drawn = {one.name: one for one in targets if one.name in own}
    edges = [(one.name, b) for one in drawn.values() if one.bounding for b in one.bounding.bounds]
    rows, moved, todo = held(target, own), dict[str, None](), [target.name]
    while todo:
        name = todo.pop(0)
        for bounded, bound in edges:
            if name not in (bounded, bound.column):
                continue
            other = bound.column if name == bounded else bounded
            there = rows & (own[name].state == 0) & (own[other].state == 0)
            limit = (bound.back if name == bounded else bound.of)(
                codings[name].rounded(own[name].number[there]), codings[other]
            )
            number = codings[other].rounded(own[other].number[there])
            most = (name == bounded) != bound.upper  # what a lower bound bounds is the most that it may be
            wrong = there.copy()
            wrong[there] = number > limit if most else number < limit
            if not wrong.any():
                continue
            if other == target.name or other not in drawn or (held(drawn[other], own) & wrong).any():
                raise DataError(CONTRADICTED.format(column=target.name, other=other.removeprefix(HIDDEN)))
            new = own[other].number.copy()
            new[there] = np.minimum(number, limit) if most else np.maximum(number, limit)
            own[other] = Coded(own[other].state, new)
            moved[other] = None
            todo.append(other)
    if moved and any(_breaks(one, own) for one in drawn.values() if one.forced):
        raise DataError(CONTRADICTED.format(column=target.name, other=", ".join(moved)))
    return list(moved)


def _breaks(target: Target, own: Mapping[str, Coded]) -> bool:
    """Whether a column is no longer as rules have settled it."""
    column = own[target.name]
    wanted = settled(target, own, column)
    return bool(np.any((wanted.state != column.state) | (wanted.number != column.number)))


def held(target: Target, own: Mapping[str, Coded]) -> Flags:
    """The rows in which a rule settles a column."""
    rows = np.zeros(len(own[target.name].state), dtype=np.bool_)
    for rule in target.forced:
        rows |= rule.applies(own)
    return rows


def followed(like: Coded, own: Coded, drawn_like: Coded) -> Coded:
    """The column that is one to one with another, from that one's drawn states."""
    partner = np.zeros(int(like.state.max()) + 1, dtype=np.int64)
    partner[like.state] = own.state
    return Coded(partner[drawn_like.state], np.zeros(len(drawn_like.state)))
