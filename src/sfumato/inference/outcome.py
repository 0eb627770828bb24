"""What is known of a model's response: exact, released with noise, misclassified, or set to a bound."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.data.codebook import Codebook, Variable
from sfumato.data.design import is_factor, stated_order
from sfumato.data.disclosure import Coarsened, Disclosure, Suppressed, Synthetic
from sfumato.data.error_model import Additive
from sfumato.data.formula import Formula
from sfumato.data.pair import numbers
from sfumato.errors import DataError
from sfumato.inference.covariates.bands import read_bands
from sfumato.inference.covariates.covariate import Covariate, ErrorPart
from sfumato.inference.covariates.known import error_parts, read_covariate, told_rows
from sfumato.inference.covariates.noisy import law_of, refuse_misfit
from sfumato.kernels.likelihood.negative_binomial import NegativeBinomial
from sfumato.kernels.likelihood.response import Binary, Linear, Ordered, Poisson, Response, Silent

__all__ = ["ALIASES", "FAMILIES", "Family", "Outcome", "read_outcome", "read_times", "with_logarithm"]

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Family = Literal["linear", "probit", "logit", "poisson", "ordered", "cox"]

ALIASES: dict[str, Family] = {"gaussian": "linear", "binomial": "logit"}
"""Other names of families."""
FAMILIES: tuple[Family, ...] = ("linear", "probit", "logit", "poisson", "ordered", "cox")
MOST_CATEGORIES = 50
"""Most categories of an ordered response."""
_KEEPING = (Suppressed, Synthetic)
"""Disclosed steps that leave the values that are there as they were, or that whole copies are fitted after."""


@dataclass
class Outcome:
    """The response of a model.

    Parameters
    ----------
    response
        As the likelihood takes it, n units.
    plain
        As it would be used without thought.
    values
        The numbers, 0/1, or codes of categories of `plain`, shape (n,).
    exact
        Whether it was released as it is.
    released
        What was released, shape (n,): rows with equal values here have equal likelihoods. None where that is not so.
    levels
        Categories as text; empty for numbers.
    parts
        What the disclosure says of its noise.
    notes
        What a reader should know of how it was read.
    event
        Of a response of times, which are `values`: whether each ended with the event, shape (n,).
    """

    response: Response
    plain: Response
    values: Floats
    exact: bool
    released: Floats | None
    levels: tuple[str, ...] = ()
    parts: tuple[ErrorPart, ...] = ()
    notes: tuple[str, ...] = ()
    event: Bools | None = None

    def over_dispersed(self) -> Outcome:
        """Counts with a negative binomial likelihood in place of Poisson's, which is its limit."""
        counts = NegativeBinomial(self.values)
        return replace(self, response=counts, plain=counts)

    def poisson(self) -> Outcome:
        """Counts with Poisson's likelihood."""
        counts = Poisson(self.values)
        return replace(self, response=counts, plain=counts)

    def take(self, rows: NDArray[np.int64]) -> Outcome:
        """The responses of some records."""
        return replace(
            self,
            response=self.response.take(rows),
            plain=self.plain.take(rows),
            values=self.values[rows],
            released=None if self.released is None else self.released[rows],
            event=None if self.event is None else self.event[rows],
        )

    @property
    def counts(self) -> bool:
        """Whether a response of family `poisson` is one of counts, as a likelihood needs it; else True."""
        if not isinstance(self.response, Poisson):
            return True
        return self.exact and bool(np.all(self.values == np.round(self.values)))

    @property
    def noise(self) -> Floats:
        """Variance of the noise on a response of a linear model, shape (n,); 0 for others."""
        return self.response.noise if isinstance(self.response, Linear) else np.zeros(len(self.values))


def read_outcome(
    frame: pl.DataFrame, codebook: Codebook, name: str, family: Family, parts: Sequence[ErrorPart]
) -> Outcome:
    """Read the response of a model from a table in which no row lacks it.

    Parameters
    ----------
    frame, codebook
        The released table.
    name
        The column.
    family
        The model.
    parts
        What was disclosed of its noise.

    Raises
    ------
    DataError
        Where the response does not suit the family.

    Examples
    --------
    >>> table = pl.DataFrame({"y": [0, 1]})
    >>> read_outcome(table, Codebook(), "y", "probit", []).exact
    True
    """
    if family in ("probit", "logit"):
        return _binary(frame, codebook, name, family, parts)
    if family == "ordered":
        return _ordered(frame, codebook, name, parts)
    banded = next((p for p in parts if isinstance(p, Coarsened)), None)
    if banded and family == "linear":
        return _banded(frame, codebook, name, banded, parts)
    values = numbers(frame, [name], codebook)[:, 0]
    if family == "poisson":
        return _rates(name, values, parts)
    return _linear(name, values, told_rows(frame, codebook, name, parts))


def with_logarithm(
    frame: pl.DataFrame, codebook: Codebook, model: Formula, disclosure: Disclosure, family: str
) -> pl.DataFrame:
    """Put the logarithm in the place of a response that is written `log(y)`.

    Parameters
    ----------
    frame, codebook
        The released table, without rows that lack the response.
    model
        The formula.
    disclosure
        What was disclosed of the table.
    family
        `linear`.

    Raises
    ------
    DataError
        For other families, values that are not above 0, and a response that was changed before its release: noise on a
        number is none on its logarithm.

    Examples
    --------
    >>> from sfumato.data.formula import parse_formula
    >>> model = parse_formula("log(y) ~ x", fitting=True)
    >>> with_logarithm(pl.DataFrame({"y": [1.0], "x": [2.0]}), Codebook(), model, Disclosure(), "linear")["y"].item()
    0.0
    """
    name = model.response
    if family != "linear":
        raise DataError(f"Family `{family}` takes no logarithm of the response. Use `linear`, or leave `log` out.")
    if error_parts(disclosure, name):
        raise DataError(
            f"{name!r} was changed before its release, and what can be taken out of it cannot be taken out of its "
            "logarithm. Ask the custodian to derive the logarithm before the noise."
        )
    values = numbers(frame, [name], codebook)[:, 0]
    if np.any(values <= 0):
        raise DataError(f"{name!r} has values that are not above 0, which have no logarithm.")
    return frame.with_columns(pl.Series(name, np.log(values)))


def _rates(name: str, values: Floats, parts: Sequence[ErrorPart]) -> Outcome:
    """Counts, or any numbers with a mean above 0; released with noise they may lie below 0."""
    for part in parts:
        if not isinstance(part, Additive) or name in {*part.bounds, *part.grows, *part.coarse}:
            raise DataError(
                f"The response {name!r} was cut off, rounded, banded or given noise that hangs on its value, which "
                "family `poisson` cannot take out. Use family `linear`, or method `naive`."
            )
    if not parts and np.any(values < 0):
        raise DataError(f"Family `poisson` needs a response of numbers from 0; {name!r} has others.")
    rates = Poisson(values)
    return Outcome(rates, rates, values, not parts, None if parts else values, parts=tuple(parts))


def read_times(frame: pl.DataFrame, codebook: Codebook, time: str, event: str, disclosure: Disclosure) -> Outcome:
    """Read a response of times from a table in which no row lacks time or event.

    Parameters
    ----------
    frame, codebook
        The released table.
    time, event
        Its columns.
    disclosure
        What the release says of its noise.

    Raises
    ------
    DataError
        Where one of them was changed, times are not above 0, the event is not told by 0 and 1, or there is none.

    Examples
    --------
    >>> table = pl.DataFrame({"days": [3, 5], "died": [1, 0]})
    >>> read_times(table, Codebook(), "days", "died", Disclosure()).event.tolist()
    [True, False]
    """
    changed = [n for n in (time, event) if any(not isinstance(p, _KEEPING) for p in disclosure.of(n))]
    if changed:
        raise DataError(
            f"Family `cox` needs times and events as they were, and {changed[0]!r} was changed before the release. Ask "
            "the custodian for one that leaves time and event alone."
        )
    values, code = numbers(frame, [time], codebook)[:, 0], _events(frame, codebook, event)
    if not (np.isfinite(values).all() and np.all(values > 0)):
        raise DataError(f"Family `cox` needs times above 0; {time!r} has others. Leave those rows out first.")
    if not np.isin(code, (0.0, 1.0)).all():
        raise DataError(f"Family `cox` needs an event of 0 and 1, or of true and false; {event!r} is not.")
    if not code.any():
        raise DataError(f"Nobody has the event {event!r}; there is nothing to explain.")
    silent = Silent(len(values))
    return Outcome(silent, silent, values, True, None, event=code == 1)


def _events(frame: pl.DataFrame, codebook: Codebook, event: str) -> Floats:
    dtype = frame.schema[event]
    if not (dtype.is_numeric() or dtype == pl.Boolean):
        raise DataError(f"Family `cox` needs an event of 0 and 1, or of true and false; {event!r} is not.")
    return np.asarray(numbers(frame, [event], codebook)[:, 0])


def _table(covariate: Covariate) -> Floats:
    """Density of what was released given each true category, scaled to a largest of 1."""
    if covariate.table is not None:
        return np.asarray(covariate.table)
    raise DataError(
        f"{covariate.name!r} is a response of categories, and its disclosure does not say which values it can take. "
        "Give `values`."
    )


def _released(found: Covariate) -> Floats | None:
    """Numbers that tell the released values apart, where all rows have the same noise."""
    return found.key if all(rows.all() for _, rows in found.parts) else None


def _binary(frame: pl.DataFrame, codebook: Codebook, name: str, family: Family, parts: Sequence[ErrorPart]) -> Outcome:
    factor = is_factor(name, frame.schema[name], codebook) and not frame.schema[name].is_numeric()
    found = read_covariate(frame, codebook, name, factor, parts)
    logit = family == "logit"
    values = np.clip(np.round(found.naive), 0, 1) if not found.exact else found.values
    if found.exact:
        codes = np.unique(values)
        if not np.isin(codes, (0.0, 1.0)).all():
            raise DataError(f"Family `{family}` needs a response of 0 and 1, or of two categories; {name!r} is not.")
    elif found.support is None or len(found.support) != 2 or not np.array_equal(found.support, [0.0, 1.0]):
        raise DataError(f"Family `{family}` needs a response whose true values are 0 and 1; {name!r} is not.")
    with np.errstate(divide="ignore"):
        sure = np.log(np.column_stack([1 - values, values]))
    plain = Binary(sure, logit)
    response = plain if found.exact else Binary(_table(found), logit)
    return Outcome(response, plain, values, found.exact, _released(found), found.levels, tuple(parts))


def _ordered(frame: pl.DataFrame, codebook: Codebook, name: str, parts: Sequence[ErrorPart]) -> Outcome:
    book = _with_band_order(codebook, name, parts)
    found = read_covariate(frame, book, name, True, parts)
    count = len(found.levels)
    if not 2 <= count <= MOST_CATEGORIES:
        raise DataError(f"Family `ordered` needs a response of 2 to {MOST_CATEGORIES} categories; {name!r} is not.")
    values, notes = found.naive, _order_notes(frame.schema[name], book, name, found.levels)
    plain = Ordered(np.eye(count)[values.astype(int)])
    if found.exact:
        return Outcome(plain, plain, values, True, values, found.levels, notes=notes)
    table = _table(found)
    q = np.exp(table - table.max(axis=1, keepdims=True))
    return Outcome(Ordered(q), plain, values, False, _released(found), found.levels, tuple(parts), notes)


def _with_band_order(codebook: Codebook, name: str, parts: Sequence[ErrorPart]) -> Codebook:
    """A codebook that orders the labels of disclosed bands, where it did not order the column."""
    known = codebook[name] if name in codebook else Variable()
    bands = next((p.bands for p in parts if isinstance(p, Coarsened) and p.bands), None)
    if bands is None or known.order:
        return codebook
    order = sorted(bands, key=lambda label: -math.inf if (low := bands[label][0]) is None else low)
    return codebook.replace(**{name: known.model_copy(update={"order": tuple(order)})})


def _order_notes(dtype: pl.DataType, codebook: Codebook, name: str, levels: tuple[str, ...]) -> tuple[str, ...]:
    """A warning where texts stand in the order of the alphabet because nothing states another."""
    stated = set(levels) <= set(stated_order(dtype, codebook, name))
    if stated or dtype.is_numeric() or dtype == pl.Boolean or list(levels) != sorted(levels):
        return ()
    return (
        f"The categories of {name!r} were taken in alphabetical order; state another as `order` in the codebook or as "
        "an Enum.",
    )


def _linear(name: str, values: Floats, told: Sequence[tuple[ErrorPart, Bools]]) -> Outcome:
    none = np.full(len(values), np.nan)
    plain = Linear(values, np.zeros(len(values)), none, none)
    if not told:
        return Outcome(plain, plain, values, True, None)
    noise, low, high = np.zeros(len(values)), none.copy(), none.copy()
    for part, rows in told:
        _add_noise(name, values, part, rows, noise, low, high)
    refuse_misfit(name, values, [(p, rows) for p, rows in told if isinstance(p, Additive)])
    return Outcome(Linear(values, noise, low, high), plain, values, False, None, (), tuple(p for p, _ in told))


def _banded(frame: pl.DataFrame, codebook: Codebook, name: str, part: Coarsened, parts: Sequence[ErrorPart]) -> Outcome:
    """Numbers of which a band was released."""
    if len(parts) > 1:
        raise DataError(
            f"The response {name!r} was recoded to bands and changed in another way as well; such a response has no "
            "likelihood here. Family `ordered` takes the bands for categories."
        )
    found = read_bands(frame, codebook, name, part)
    none, nothing = np.full(frame.height, np.nan), np.zeros(frame.height)
    plain = Linear(found.middle, nothing, none, none)
    exact = Linear(found.middle, nothing, found.low, found.high)
    return Outcome(exact, plain, found.middle, False, None, (), tuple(parts))


def _add_noise(
    name: str, values: Floats, part: ErrorPart, rows: Bools, noise: Floats, low: Floats, high: Floats
) -> None:
    """Add one part to the noise on each value, and to the intervals of values at a bound or rounded."""
    if not isinstance(part, Additive):
        raise DataError(f"{name!r} was misclassified; a linear model needs a response of numbers.")
    if name in part.grows or (part.bounds and name in part.values):
        raise DataError(
            f"The noise on the response {name!r} hangs on its true value (it grows, or clips few values), which a "
            "linear model cannot take out. Use family `probit` or `logit` for a response of 0 and 1."
        )
    noise[rows] += part.covariance[part.columns.index(name)][part.columns.index(name)]
    law = law_of(part, name)
    if name not in part.coarse:  # fine rounding is a little more noise, between bounds too
        noise[rows] += law.rounded**2 / 12
    at = rows if name in part.coarse else rows & ((values <= law.low) | (values >= law.high))
    low[at], high[at] = law.interval(values[at])
