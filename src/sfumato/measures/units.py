"""Units of several rows, people and households, for attacks by somebody who knows all rows of one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.data.finding import Finding
from sfumato.data.publishable import Publishable
from sfumato.data.roles import Role
from sfumato.measures.subject import Subject

__all__ = ["TOO_MANY", "UNITS", "alike", "labels", "of_units", "released_units"]

Ints = NDArray[np.int64]

UNITS: Mapping[str, Role] = MappingProxyType({"person": Role.PERSON, "household": Role.HOUSEHOLD})
"""Attacks on units, and the role of the column that says which rows are of one unit."""
_FIGURES = ("uniques_sample", "linkage_nearest")
TOO_MANY = Publishable(
    "Who knows all rows of a person or household was not tried: the table is too large. A limit on what they find "
    "counts as not met."
)


def of_units(line: Finding) -> bool:
    """Whether a line is of somebody who knows all rows of a person or household.

    Examples
    --------
    >>> of_units(Finding("uniques_sample", attack="household")), of_units(Finding("h_rank", attack="household"))
    (True, False)
    """
    return line.measure in _FIGURES and line.attack in UNITS


def released_units(subject: Subject) -> Iterator[tuple[str, str]]:
    """Each attack with the released column that says which rows are of one unit.

    Parameters
    ----------
    subject
        With the released table.
    """
    for attack, role in UNITS.items():
        unit = subject.after.codebook.the(role)
        if unit is not None:
            yield attack, unit


def labels(gone: pl.Series, unit: pl.Series) -> Ints:
    """The unit of each row, 0, 1, …; a row whose unit is not known is one of its own.

    Parameters
    ----------
    gone
        Whether it is not known.
    unit
        The ids.

    Examples
    --------
    >>> labels(pl.Series([False, False, True, True]), pl.Series([7, 7, None, None])).tolist()
    [0, 0, 1, 2]
    """
    number = np.arange(len(unit), dtype=np.int64)
    known = unit.rank("dense").cast(pl.Int64).fill_null(0).to_numpy()
    own = np.where(gone.to_numpy(), number + len(unit) + 1, known)
    return np.unique(own, return_inverse=True)[1].astype(np.int64)


def alike(profile: Ints) -> Ints:
    """How many units have the profile of each.

    Parameters
    ----------
    profile : ndarray, shape (units,)
        From `sfumato.kernels.neighbours.units.profiles`.
    """
    return np.bincount(profile)[profile]
