"""Measure how well each record is hidden."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import polars as pl

from sfumato.api.read import read_whole
from sfumato.data.disclosure import Disclosure
from sfumato.engines.polars import PolarsDataset
from sfumato.measures.attacking import Metric
from sfumato.measures.risk.attackers.attackers import Attack
from sfumato.measures.risk.h_rank.h_rank import HRank
from sfumato.release import assess

__all__ = ["h_rank"]


def h_rank(
    true: Any,
    noisy: Any = None,
    *,
    columns: Sequence[str] | None = None,
    by: Sequence[str] | None = None,
    record: str | None = None,
    metric: Metric = "euclidean",
    cap: int | None = None,
    ties: Literal["expected", "keyed"] = "expected",
    attack: str = "nearest",
    disclosure: Disclosure | None = None,
    replications: int = 1,
    sample: int | None = None,
    fraction: float = 1.0,
    threads: int | None = None,
) -> HRank:
    """Measure how well each record is hidden from an attacker who knows its true values.

    Without a record column, row i of one table goes with row i of the other; unequal heights are refused, and so are
    ids that show another order. Nothing is divided by standard deviations unless `metric="scaled"`.

    Parameters
    ----------
    true, noisy
        What `read` gives or takes, or arrays of shape (n, p). Without `noisy`, releases are simulated as `disclosure`
        says, `replications` times.
    columns
        Numeric columns that the attacker knows; by default all that both tables have.
    by
        Categorical columns that the attacker knows.
    record
        Column with the record's id, on which the tables are joined; by default the one that a release names.
    metric
        `euclidean`, `scaled` or `mahalanobis`.
    cap
        Count h up to this only; larger values are given as cap + 1.
    ties
        `expected`: the expectation over random choices among ties; `keyed`: one fixed choice.
    attack
        `nearest`, `predicted`, `averaging:M`, `predicted:M` or `imprecise:S`.
    disclosure
        How the noise was made.
    replications
        Number of releases that are simulated.
    sample
        Attack a fixed random sample of so many records.
    fraction
        Chance that a target is in the file at all.
    threads
        By default as many as there are cores.

    Returns
    -------
    HRank
        With `.h`, shape (n,), in the order of the ids where tables are joined on them, else of rows;
        `.probability(t)` for P(h ≤ t) and `.tidy()`.

    Raises
    ------
    DataError
        For tables that do not fit together, and columns that are no numbers.

    References
    ----------
    Goldstein and Shlomo (2020), doi:10.2478/jos-2020-0005.

    Examples
    --------
    >>> import polars as pl
    >>> true = pl.DataFrame({"a": [0.0, 1.0, 3.0]})
    >>> noisy = pl.DataFrame({"a": [0.9, 1.2, 2.5]})
    >>> h_rank(true, noisy).h.tolist()
    [0.0, 1.0, 0.0]
    """
    return assess.h_rank(
        _table(true),
        None if noisy is None else _table(noisy),
        columns=columns,
        by=by,
        record=record,
        disclosure=disclosure,
        metric=metric,
        cap=cap,
        ties=ties,
        attack=Attack.parse(attack),
        replications=replications,
        sample=sample,
        fraction=fraction,
        threads=threads,
    )


def _table(source: Any) -> PolarsDataset:
    """A table, from an array too."""
    if isinstance(source, np.ndarray):
        array = source.astype(float).reshape(len(source), -1)
        source = pl.DataFrame({f"x{j + 1}": array[:, j] for j in range(array.shape[1])})
    return read_whole(source, "An attack on all records")
