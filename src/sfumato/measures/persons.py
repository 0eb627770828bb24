"""Classes counted in people: several records of one person make nobody else look like that person."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from sfumato.data.dataset import Dataset
from sfumato.data.query import COUNT, WEIGHT, Counts
from sfumato.data.roles import Role

__all__ = ["PARTS", "PERSONS", "counted", "person_of"]

PERSONS = "sfumato:persons"
"""Different people of a combination of values; its records where no column says who they are about."""
PARTS = "sfumato:parts"
"""The same, where a person of several combinations counts in each of them for an equal part, 1 in all."""
_ROWS = "sfumato:rows"


def person_of(data: Dataset, by: Sequence[str] = ()) -> str | None:
    """The column that says whom records are about; None where there is none, or it is among the columns asked for.

    Parameters
    ----------
    data
        The table.
    by
        The columns asked for.
    """
    person = data.codebook.the(Role.PERSON)
    return None if person is None or person in by else person


def counted(data: Dataset, by: Sequence[str], weight: str | None = None) -> pl.DataFrame:
    """Count the records and the people of each combination of values.

    All records whose person is missing are taken for one person's, which makes no class too large.

    Parameters
    ----------
    data
        The table; its codebook says which column holds the person.
    by
        The columns.
    weight
        Column with sampling weights.

    Returns
    -------
    pl.DataFrame
        The columns `by`, then `COUNT` (records), with `weight` `WEIGHT` (the population: a person counts by the mean
        weight of the records there), `PERSONS` and `PARTS`; sorted by `by`.

    Examples
    --------
    >>> from sfumato.data.codebook import Codebook, Variable
    >>> from sfumato.engines.polars import PolarsDataset
    >>> visits = pl.DataFrame({"who": [1, 1, 2], "sex": ["f", "f", "m"]})
    >>> counted(PolarsDataset(visits, Codebook({"who": Variable(role="person"), "sex": Variable()})), ["sex"]).rows()
    [('f', 2, 1, 1.0), ('m', 1, 1, 1.0)]
    """
    person = person_of(data, by)
    if person is None:
        rows = data.ask(Counts(tuple(by), weight))
        return rows.with_columns(pl.col(COUNT).alias(PERSONS), pl.col(COUNT).cast(pl.Float64).alias(PARTS))
    each = data.ask(Counts((*by, person), weight)).rename({COUNT: _ROWS})
    parts = each.with_columns((1 / pl.len().over(person)).alias(PARTS))
    weights = () if weight is None else ((pl.col(WEIGHT) / pl.col(_ROWS)).sum().alias(WEIGHT),)
    told = (pl.col(_ROWS).sum().alias(COUNT), *weights, pl.len().cast(pl.Int64).alias(PERSONS), pl.col(PARTS).sum())
    return parts.group_by(by).agg(told).sort(by) if by else parts.select(told)
