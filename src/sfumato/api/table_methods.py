"""What each method would lose of a table: all of them tried on the same records, one after another."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any

from sfumato.api.protect_table import Making, Method, TableAsked
from sfumato.errors import SfumatoError
from sfumato.progress import Progress, quiet, split, within
from sfumato.release.secret import Secret

if TYPE_CHECKING:
    from sfumato.data.dataset import Dataset

__all__ = ["SECONDS", "Tried", "table_methods"]

SECONDS = 20.0
"""For so long each method may look for something better."""
_TRIED: tuple[tuple[Method, str], ...] = (
    ("suppress", "optimal"),
    ("suppress", "flow"),
    ("suppress", "elimination"),
    ("round", "controlled"),
    ("round", "conventional"),
    ("round", "random"),
    ("round", "barnardise"),
    ("adjust", "auto"),
    ("recode", "branches"),
    ("perturb", "auto"),
)


@dataclass(frozen=True)
class Tried:
    """What became of one method.

    Parameters
    ----------
    method, way
        As in `TableAsked`.
    seconds
        How long it took.
    loss
        As `TableMade.plain_loss`; None where it failed.
    ok
        Whether its audit was passed; None where it has none.
    why
        What the method said where it failed, or what else must be known of its figures.
    """

    method: str
    way: str
    seconds: float
    loss: dict[str, Any] | None
    ok: bool | None
    why: str = ""

    def to_plain(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return dict(vars(self))


def table_methods(
    data: Dataset, asked: TableAsked, folder: Path, secret: Secret, *, progress: Progress = quiet
) -> list[Tried]:
    """Try every method on a table, and say what each would lose.

    Parameters
    ----------
    data
        The records.
    asked
        The table; its `method` and `way` do not matter. Noise by cell keys is tried where `record` is given.
    folder
        Where what is written meanwhile lies.
    secret
        What draws are keyed with.
    progress
        Called with the method that is tried, and the share of them that are done.

    Returns
    -------
    list of Tried
        In the order that the commands tell of the methods.

    Raises
    ------
    DataError, FormulaError, FileError
        The table cannot be built at all.

    Notes
    -----
    Each method protects from something else, so that what they lose is not all that tells them apart.

    Examples
    --------
    >>> import tempfile
    >>> import polars as pl
    >>> from sfumato.api.read import read
    >>> people = read(pl.DataFrame({"sex": ["f"] * 5 + ["m"]}))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     tried = table_methods(people, TableAsked(("sex",)), Path(folder), Secret(bytes(16)))
    >>> tried[0].method, tried[0].way, tried[0].loss["hidden"], tried[0].ok
    ('suppress', 'optimal', 2, True)
    """
    progress("building the table", 0)
    making = Making(data, replace(asked, seconds=SECONDS), folder, secret, quick=True)
    _ = making.built  # what is wrong with it is told once
    tried = [one for one in _TRIED if asked.record or one[0] != "perturb"]
    out = []
    for (method, way), part in zip(tried, split(progress, [1] * len(tried)), strict=True):
        part(f"trying {method}, {way}", 0)
        begun = monotonic()
        try:
            made = making.made(method, way, "tried.csv", SECONDS, within(part, f"{method}, {way}"))
        except SfumatoError as error:
            out.append(Tried(method, way, monotonic() - begun, None, None, str(error)))
            continue
        ok = getattr(made.done, "ok", None)
        loss = made.plain_loss()
        why = "" if made.file is not None else "The audit failed: cells can still be worked out."
        if not why and loss["hidden"] == loss["cells"]:
            why = "It hid every cell: there was no time for a better pattern, or there is none."
        out.append(Tried(method, way, monotonic() - begun, loss, ok, why))
    return out
