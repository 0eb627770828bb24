"""Read the noise card of a release."""

from __future__ import annotations

from os import PathLike
from pathlib import Path

from sfumato.release.package.card import Card, read_card

__all__ = ["card"]


def card(release: str | PathLike[str], table: str | None = None) -> Card:
    """Read the noise card of a release: what was done to each variable, and what it does to an analysis.

    Parameters
    ----------
    release
        The folder that `protect` wrote.
    table
        Of a release of several tables, which one.

    Returns
    -------
    Card
        With `.entries`, `.papers` (title, codebook, disclosure) and `.tidy()`.

    Raises
    ------
    FileError, DataError
        Where it is no release, or its data were changed.

    Examples
    --------
    >>> import tempfile, polars as pl
    >>> from sfumato import Plan, protect, steps
    >>> rows = pl.DataFrame({"id": range(30), "age": [20.0 + i for i in range(30)]})
    >>> plan = Plan(
    ...     variables={"id": {"role": "record"}},
    ...     steps=[steps.Noise(columns=["age"], sd=2)],
    ...     unknown=[{"columns": ["id"], "because": "numbers drawn for this release alone"}],
    ... )
    >>> with tempfile.TemporaryDirectory() as place:
    ...     _ = protect(plan, rows, secret=bytes(16)).write(f"{place}/release")
    ...     [(entry.variable, entry.noise_sd) for entry in card(f"{place}/release").entries]
    [('age', 2.0)]
    """
    return read_card(Path(release), table)
