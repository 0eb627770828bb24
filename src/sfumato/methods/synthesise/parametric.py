"""Draw a column from regressions: which category it is, or whether there is a number; then the number."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from sfumato.kernels.synthesis.linear import Line, fit_line
from sfumato.kernels.synthesis.logit import Logit, fit_logit
from sfumato.kernels.synthesis.ordered import Ordered, fit_ordered
from sfumato.kernels.threads import one_thread
from sfumato.methods.synthesise.coding import Coded, Coding
from sfumato.methods.synthesise.model import Drawing, Limits, Told
from sfumato.methods.synthesise.regressors import Regressors, regressors

__all__ = ["Parametric", "fit_parametric"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]

_FEW = 20
"""Numbers with no more values than that are drawn by an ordered logit."""
_HEAVY = 0.1
"""A value that a larger share of the records has is a category, whatever the column's kind."""
_TRIES = 20
"""How often a number is drawn that a row may not get, before none is taken to be left."""
_CLASSES = 8
"""Most classes that one logit tells apart from the rest."""


@dataclass(frozen=True)
class _Choice:
    """Classes, by logits: the commonest among them and the rest; then the commonest of the rest; and so on."""

    logits: tuple[tuple[Regressors, Logit, Ints], ...]
    only: int

    def draw(self, predictors: Sequence[Told], draws: Drawing, proper: bool) -> Ints:
        out = np.full(draws.rows, self.only)
        left = np.arange(draws.rows)
        for i, (seen, logit, classes) in enumerate(self.logits):
            u = draws.uniform(f"state {i}")[left]
            parameters = draws.numbered(f"parameters of state {i}", logit.many()) if proper else None
            own = predictors if len(left) == draws.rows else [told.at(left) for told in predictors]
            drawn = logit.draw(seen.of(own, len(left)), u, parameters)
            out[left] = classes[drawn]
            left = left[classes[drawn] < 0]
            if not len(left):
                break
        return out


@dataclass(frozen=True)
class _Values:
    """Values that have an order: numbers, or states."""

    values: Floats
    model: tuple[Regressors, Ordered | Line] | None
    smooth: bool

    def draw(self, predictors: Sequence[Told], draws: Drawing, rows: Flags, proper: bool) -> Floats:
        if self.model is None:
            return np.full(int(rows.sum()), self.values[0])
        seen, model = self.model
        own = predictors if rows.all() else [told.at(rows) for told in predictors]
        X, u = seen.of(own, int(rows.sum())), draws.uniform("number")[rows]
        parameters = draws.numbered("parameters of number", model.many()) if proper else None
        if isinstance(model, Line):
            return model.draw(X, u, parameters, smooth=self.smooth)
        drawn: Floats = self.values[model.draw(X, u, parameters)]
        return drawn


@dataclass(frozen=True)
class Parametric:
    """Regressions of one column. Confidential: they hold true values.

    Parameters
    ----------
    states, numbers
        State and number of each class.
    which
        The model of the classes.
    inner
        The model of what is drawn within class 0, whose state or number it gives; None where there is no such class.
    of_states
        Whether it gives states.
    proper
        Whether parameters are drawn before values.
    """

    states: Ints
    numbers: Floats
    which: _Choice
    inner: _Values | None
    of_states: bool
    proper: bool

    def draw(self, predictors: Sequence[Told], draws: Drawing, within: Limits | None = None) -> Coded:
        """Draw the column for rows with these predictors; numbers beyond limits are drawn again."""
        with one_thread():
            return self._drawn(predictors, draws) if within is None else self._within(predictors, draws, within)

    def _within(self, predictors: Sequence[Told], draws: Drawing, within: Limits) -> Coded:
        state, number = np.zeros(draws.rows, dtype=np.int64), np.full(draws.rows, np.nan)
        left = np.ones(draws.rows, dtype=np.bool_)
        for again in range(_TRIES):
            own = predictors if left.all() else [told.at(left) for told in predictors]
            new = self._drawn(own, replace(draws.of(left), again=again))
            held = (new.state > 0) | ((new.number >= within[0][left]) & (new.number <= within[1][left]))
            rows = np.flatnonzero(left)[held]
            state[rows], number[rows] = new.state[held], new.number[held]
            left[rows] = False
            if not left.any():
                break
        return Coded(state, number)

    def _drawn(self, predictors: Sequence[Told], draws: Drawing) -> Coded:
        chosen = self.which.draw(predictors, draws, self.proper)
        state, number = self.states[chosen], self.numbers[chosen]
        within = chosen == 0
        if self.inner is not None and within.any():
            values = self.inner.draw(predictors, draws, within, self.proper)
            if self.of_states:
                state[within] = values.astype(np.int64)
            else:
                number[within] = values
        return Coded(state, number)


def fit_parametric(
    target: Coded, predictors: Sequence[Told], coding: Coding, *, smooth: bool = False, proper: bool = False
) -> Parametric:
    """Fit the regressions of a column.

    Numbers by linear regression of their normal scores; numbers of few values, and categories that have an order, by an
    ordered logit; other categories, missing codes and values that many share by logits. All have main effects alone: of
    numbers the score and its square.

    Parameters
    ----------
    target
        The column.
    predictors
        The columns that it is drawn from.
    coding
        How the column is coded.
    smooth
        Whether numbers between the true ones are drawn.
    proper
        Whether parameters are drawn before values, from (near to) their posterior.

    Notes
    -----
    Of more than nine classes the eight commonest and the rest are told apart, and then those of the rest among the
    records that have them. What a relation has beside main effects is lost.
    """
    with one_thread():
        return _fitted(target, predictors, coding, smooth, proper)


def _fitted(target: Coded, predictors: Sequence[Told], coding: Coding, smooth: bool, proper: bool) -> Parametric:
    within, of_states = _ordered_part(target, coding)
    single = np.unique(np.column_stack([target.state, target.number])[~within], axis=0)
    states = np.concatenate([[0], single[:, 0].astype(np.int64)])
    numbers = np.concatenate([[0.0], single[:, 1]])
    code = np.zeros(len(within), dtype=np.int64)
    for i, (state, number) in enumerate(single):
        code[~within & (target.state == state) & (target.number == number)] = i + 1
    inner = None
    if within.any():
        own = (target.state if of_states else target.number)[within].astype(np.float64)
        part = predictors if within.all() else [told.at(within) for told in predictors]
        inner = _values(own, part, few=of_states, smooth=smooth)
    return Parametric(states, numbers, _choice(code, predictors, proper), inner, of_states, proper)


def _ordered_part(target: Coded, coding: Coding) -> tuple[Flags, bool]:
    """The rows whose values have an order, and whether these are states."""
    if len(coding.edges):
        within = target.state == 0
        values, place, many = np.unique(target.number[within], return_inverse=True, return_counts=True)
        if len(values) > _FEW:
            within[np.flatnonzero(within)[many[place] > _HEAVY * len(within)]] = False
        return within, False
    known = np.array([value is not None for value in coding.special])
    return known[target.state - 1] & coding.ordered, True


def _choice(code: Ints, predictors: Sequence[Told], proper: bool) -> _Choice:
    classes, many = np.unique(code, return_counts=True)
    order = classes[np.argsort(-many, kind="stable")]
    logits, rows = [], np.arange(len(code))
    while len(order) > 1:
        now = order[: _CLASSES if len(order) > _CLASSES + 1 else None]
        rest = order[len(now) :]
        place = np.full(int(classes.max()) + 1, len(now))
        place[now] = np.arange(len(now))
        y, width = place[code[rows]], len(now) + (len(rest) > 0)
        own = predictors if len(rows) == len(code) else [told.at(rows) for told in predictors]
        seen, X = regressors(own, np.eye(width)[y] - np.bincount(y, minlength=width) / len(y))
        logits.append((seen, fit_logit(X, y, width, information=proper), np.concatenate([now, [-1]])))
        rows, order = rows[y == len(now)], rest
    return _Choice(tuple(logits), int(classes[0]))


def _values(y: Floats, predictors: Sequence[Told], *, few: bool, smooth: bool) -> _Values:
    values, code = np.unique(y, return_inverse=True)
    if len(values) == 1:
        return _Values(values, None, smooth)
    rank = code - code.mean()
    seen, X = regressors(predictors, rank[:, None])
    model = fit_ordered(X, code, len(values)) if few or len(values) <= _FEW else fit_line(X, y)
    return _Values(values, (seen, model), smooth)
