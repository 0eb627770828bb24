"""Old and new ids side by side, for the custodian alone: whose record is whose, where a step replaced the ids."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path

import polars as pl

from sfumato.data.codebook import Codebook, Variable
from sfumato.data.files.atomic import replacing
from sfumato.data.hidden import ROW
from sfumato.data.roles import Role
from sfumato.draws import written
from sfumato.engines.polars import PolarsDataset
from sfumato.errors import DataError, FileError
from sfumato.plan.plan import Plan

__all__ = ["NO_CROSSWALK", "by_crosswalk", "crosswalk_of", "refuse_crosswalk", "writing_crosswalk"]

NEW = "released"
"""Name of the second column, with the ids of the release."""
NO_CROSSWALK = (
    "There is no crosswalk to write: no step replaces the record's ids (pseudonymise does), or the rows are not in "
    "memory."
)
_TWO_COLUMNS = (
    "A crosswalk has two columns, ids of the original and ids of the release, and no id twice: sfumato protect writes "
    "one (--crosswalk)."
)
_INSIDE = "The crosswalk says whose record is whose: it must not be in a release folder."


def crosswalk_of(plan: Plan, entering: PolarsDataset, after: PolarsDataset) -> pl.DataFrame | None:
    """Put old and new ids of a release side by side.

    Parameters
    ----------
    plan
        The plan, as bound.
    entering, after
        The table as it entered the plan and as it left it, both with the run's own numbers of records.

    Returns
    -------
    pl.DataFrame or None
        The record column with the old ids, then `released`, sorted by these; records that were left out are not in it.
        None where no step replaces the ids.
    """
    record = entering.codebook.the(Role.RECORD)
    if record is None or record not in after.columns:
        return None
    if not any(step.replaces and record in step.changes for step in plan.steps):
        return None
    old, new = entering.frame.select(ROW, record), after.frame.select(ROW, pl.col(record).alias(NEW))
    return old.join(new, on=ROW).drop(ROW).sort(NEW)


def refuse_crosswalk(path: str | PathLike[str] | None, folder: Path, *, overwrite: bool) -> None:
    """Refuse a path for a crosswalk that lies in a release, or where something is already.

    Parameters
    ----------
    path
        Where it is to be written; None where it is not.
    folder
        The release's folder.
    overwrite
        Whether an old crosswalk may be replaced.

    Raises
    ------
    FileError
        Before any work is done in vain.
    """
    if path is None:
        return
    target = Path(path)
    if target.resolve().is_relative_to(folder.resolve()) or (target.parent / "datapackage.json").exists():
        raise FileError(_INSIDE)
    if target.exists() and not overwrite:
        raise FileError(f"{str(target)!r} is there already. Choose another path, or replace it with --overwrite.")


@contextmanager
def writing_crosswalk(path: str | PathLike[str] | None, crosswalk: pl.DataFrame | None) -> Iterator[None]:
    """Write a crosswalk as a CSV file that only its owner may read, once what is done meanwhile has been done.

    Parameters
    ----------
    path
        Where to; None writes nothing.
    crosswalk
        Old and new ids.

    Raises
    ------
    FileError
        Where there is none, or it cannot be written.
    """
    if path is None:
        yield
        return
    if crosswalk is None:
        raise FileError(NO_CROSSWALK)
    with replacing(path) as temporary:
        temporary.chmod(0o600)
        temporary.write_bytes(crosswalk.write_csv().encode())
        yield


def by_crosswalk(
    data: PolarsDataset, plan: Plan, record: str | None, crosswalk: pl.DataFrame
) -> tuple[PolarsDataset, Plan, str]:
    """The original with the ids of its release, its plan without the steps that replace them, and the ids' column.

    Parameters
    ----------
    data
        The original table.
    plan
        The plan of the release, or an empty one.
    record
        Column with the record's id; by default called as the crosswalk's first.
    crosswalk
        Two columns: old and new ids. Records of the original that it does not name are in no release, and get an id of
        their own that none has.

    Raises
    ------
    DataError
        Where the crosswalk is none, or the original lacks the column.

    Examples
    --------
    >>> people = PolarsDataset(pl.DataFrame({"id": [1, 2], "age": [30, 40]}), Codebook())
    >>> by_crosswalk(people, Plan(), "id", pl.DataFrame({"id": [2, 1], "released": [1, 2]}))[0].frame["id"].to_list()
    ['2', '1']
    """
    if crosswalk.width != 2 or any(
        crosswalk[n].null_count() or crosswalk[n].is_duplicated().any() for n in crosswalk.columns
    ):
        raise DataError(_TWO_COLUMNS)
    record = record or crosswalk.columns[0]
    if record not in data.columns:
        raise DataError(f"The original has no column {record!r}, whose ids the crosswalk tells.")
    old, new = (written(crosswalk.to_series(i)).alias(n) for i, n in enumerate(("sfumato:old", "sfumato:new")))
    known = pl.DataFrame([old, new])
    ids = data.frame.with_columns(written(data.frame[record]).alias("sfumato:old"))
    named = ids.join(known, on="sfumato:old", how="left", maintain_order="left")
    in_none = pl.concat_str(pl.lit("sfumato:not released "), "sfumato:old")
    frame = named.with_columns(pl.coalesce("sfumato:new", in_none).alias(record)).drop("sfumato:old", "sfumato:new")
    steps = tuple(step for step in plan.steps if not (step.replaces and record in step.changes))
    book = Codebook({n: v for n, v in data.codebook.items() if n != record})
    said = {n: v if n != record else Variable(role=Role.RECORD) for n, v in plan.variables.items()}
    made = plan.model_copy(update={"steps": steps, "variables": said}).beside(plan)
    return PolarsDataset(frame, book, data.suffix), made, record
