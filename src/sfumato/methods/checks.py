"""What several methods find wrong with a step before any data are touched, or with what it left."""

from __future__ import annotations

from collections.abc import Sequence

from sfumato.data.codebook import Codebook
from sfumato.data.roles import IDS, Kind, Role

__all__ = ["few_missing", "role_problems", "strata_problems", "whole_unit"]

_NOT_CHANGED = (*IDS, Role.IDENTIFIER, Role.WEIGHT)


def whole_unit(codebook: Codebook) -> str | None:
    """The column with the ids of those who stay or go as a whole: of households, else of persons; None without one.

    Examples
    --------
    >>> from sfumato.data.codebook import Variable
    >>> whole_unit(Codebook({"who": Variable(role="person")}))
    'who'
    """
    return codebook.the(Role.HOUSEHOLD) or codebook.the(Role.PERSON)


def few_missing(columns: Sequence[str], threshold: str) -> tuple[str, ...]:
    """A warning for columns in which a step made fewer records missing than it would leave of any value.

    Examples
    --------
    >>> few_missing(["cell"], "min_population")[0].split(":")[0]
    'cell'
    >>> few_missing([], "k")
    ()
    """
    if not columns:
        return ()
    return (
        f"{', '.join(columns)}: fewer records than `{threshold}` were made missing, so that missing itself says where "
        f"they belong. Make all values coarser, so that none is made missing, or leave these records out.",
    )


def role_problems(codebook: Codebook, columns: Sequence[str]) -> list[str]:
    """A sentence for each of `columns` that stands for more than its values: ids, names, sampling weights.

    Examples
    --------
    >>> from sfumato.data.codebook import Variable
    >>> role_problems(Codebook({"id": Variable(role="record")}), ["id"])
    ["column 'id' has role record, which this step must not change"]
    """
    roles = {n: codebook[n].role for n in columns if n in codebook}
    return [
        f"column {n!r} has role {r}, which this step must not change" for n, r in roles.items() if r in _NOT_CHANGED
    ]


def strata_problems(codebook: Codebook, by: Sequence[str]) -> list[str]:
    """A sentence for each column of `by` that makes no strata.

    Examples
    --------
    >>> from sfumato.data.codebook import Variable
    >>> strata_problems(Codebook({"sex": Variable(kind="categorical")}), ["sex"])
    []
    """
    problems = []
    for name in (n for n in by if n in codebook):
        if codebook[name].role in (*IDS, Role.IDENTIFIER):
            problems.append(f"column {name!r} in by has role {codebook[name].role}; strata need categories")
        elif codebook[name].kind == Kind.CONTINUOUS:
            problems.append(f"column {name!r} in by is continuous; strata need categories (recode it with `band`)")
    return problems
