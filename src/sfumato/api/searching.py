"""What `risk` is asked for beside sizes of groups: special uniques, their records, a log-linear model."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any

from sfumato.errors import DataError
from sfumato.kernels.classes.log_linear import Model
from sfumato.kernels.classes.special_uniques import Score
from sfumato.measures.measuring import Searching
from sfumato.measures.subject import Subject
from sfumato.release.special_records import refuse_place, write_special_records

__all__ = ["asked_for", "writing"]


def asked_for(
    special_uniques: bool, max_size: int | None, score: Score, log_linear: Model | None, fraction: float | None
) -> Searching | None:
    """How special uniques are searched; None where nobody asked for them.

    Raises
    ------
    DataError
        For what belongs to special uniques without these, or a model without the fraction.

    Examples
    --------
    >>> asked_for(True, 3, "factorial", None, None)
    Searching(max_size=3, score='factorial')
    """
    searching = Searching(max_size, score)
    if not special_uniques and searching != Searching():
        raise DataError("max_size and score belong to special uniques: ask for these as well (--special-uniques).")
    if log_linear is not None and fraction is None:
        raise DataError("A log-linear model needs fraction, the share of the population that the file holds.")
    return searching if special_uniques else None


def writing(
    path: str | PathLike[str] | None, record: str | None, searching: Searching | None, protected: Any
) -> Callable[[Subject], None] | None:
    """Write the list of special records, once they have been measured.

    Raises
    ------
    DataError
        Where they are not searched, or of which of two tables is not told.
    FileError
        Where the file would lie in a release folder, or cannot be written.

    Examples
    --------
    >>> writing(None, None, None, None) is None
    True
    """
    if path is None:
        return None
    if searching is None:
        raise DataError("records lists special uniques: ask for these as well (--special-uniques).")
    if protected is not None:
        raise DataError("records lists the special uniques of one table: measure the protected one without the other.")
    refuse_place(Path(path))
    return partial(write_special_records, path=Path(path), record=record)
