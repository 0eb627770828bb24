"""`sf.anonymise`: the levels of keys at which a table meets k-anonymity and its kin with the least loss."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from os import PathLike, fspath
from typing import Any

from pydantic import ValidationError

from sfumato.api.read import read_whole
from sfumato.data.files.hierarchies import HierarchyFiles
from sfumato.data.hierarchy import Hierarchy
from sfumato.data.plain_errors import plain_errors
from sfumato.data.unseen import seen
from sfumato.engines.polars import PolarsDataset
from sfumato.errors import DataError
from sfumato.methods.anonymise.method import Anonymise
from sfumato.plan.plan import Plan
from sfumato.plan.unknown import Unknown
from sfumato.progress import Progress, quiet
from sfumato.release.anonymising import Anonymisation, search, with_new_ids, with_step
from sfumato.release.several.choose import plan_for

__all__ = ["anonymise"]


def anonymise(
    data: Any,
    keys: Sequence[str],
    *,
    hierarchies: str | PathLike[str] | Mapping[str, Hierarchy] | None = None,
    plan: Plan | str | PathLike[str] | None = None,
    unknown: Sequence[Unknown | Mapping[str, Any]] = (),
    progress: Progress = quiet,
    **asked: Any,
) -> Anonymisation:
    """Find the level of each key at which a table meets what is asked with the least loss; nothing is written.

    Protects against an intruder who knows the keys of a person, see `sf.steps.Anonymise`, which has all that can be
    asked.

    Parameters
    ----------
    data
        What `read` gives or takes.
    keys
        The columns that an intruder may know.
    hierarchies
        Folder with a file for each key, or the hierarchies by key. A key without one stays or becomes `*`.
    plan
        What is done before: its steps run first, its limits stay. Without one, ids that would leave as they were, and
        that `unknown` does not name, are replaced by numbers in a keyed order.
    unknown
        What nobody outside knows, beside what the plan says of that: `{"columns": [...], "because": "..."}`.
    progress
        Called with what is being done and the share of the work that is done.
    **asked
        `k`, `suppression_limit`, `loss`, `sensitive`, `l`, `t` and all other parameters of the step.

    Returns
    -------
    Anonymisation
        With `.levels`, `.score`, `.suppressed`, `.optimal`, and `.plan`, which `sf.protect` takes.

    Raises
    ------
    EmptyRelease
        Where no levels meet what is asked.
    PlanError, DataError
        Where something asked for does not go together or does not fit the data.

    References
    ----------
    Sweeney (2002), doi:10.1142/S0218488502001648; Kohlmayer et al. (2012), doi:10.1109/SocialCom-PASSAT.2012.52.

    Examples
    --------
    >>> import polars as pl
    >>> people = pl.DataFrame({"age": [31, 32, 38, 39, 41, 44, 46, 47], "sex": list("mfmfmfmf")})
    >>> found = anonymise(people, ["age", "sex"], hierarchies={"age": Hierarchy.intervals(30, 49, [5, 10])}, k=2)
    >>> found.levels, found.suppressed
    ({'age': 2, 'sex': 0}, 0)
    """
    given = dict(hierarchies) if isinstance(hierarchies, Mapping) else {}
    files = None if hierarchies is None or given else HierarchyFiles(folder=fspath(hierarchies))  # type: ignore[arg-type]
    try:
        said = tuple(Unknown.model_validate(each) for each in unknown)
    except ValidationError as error:
        raise DataError("; ".join(f"unknown: {told}" for _, told in plain_errors(error, list(unknown)))) from None
    try:
        step = Anonymise(keys=tuple(keys), hierarchies=files, **asked)
    except ValidationError as error:
        found = plain_errors(error, {"keys": keys, **asked})
        told = (": ".join([*map(str, path), sentence]) for path, sentence in found)
        raise DataError("; ".join(told)) from None
    table = read_whole(data, "Searching for the best codings")
    if strange := [n for n in (*step.keys, *step.sensitive) if n not in table.columns]:
        raise DataError(
            f"There is no column {', '.join(map(repr, strange))}. Columns: {seen(', '.join(table.columns))}."
        )
    before = plan_for(plan, None, table) or Plan(title=_title(table))
    stated = before.model_copy(update={"unknown": (*before.unknown, *said)}).beside(before)
    made = search(table, with_step(stated, step, given), progress)
    return replace(made, plan=with_new_ids(made.plan, table)) if plan is None else made


def _title(table: PolarsDataset) -> str:
    return "Untitled" if table.source is None else table.source.stem
