"""What plan and file together say of a variable, and whether the data can be so."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from sfumato.data.codebook import Codebook, Missing, Variable
from sfumato.data.extended import shown
from sfumato.data.files.infer import infer
from sfumato.data.roles import Kind

__all__ = ["merged", "nameless", "unfit"]


def unfit(values: pl.Series, variable: Variable) -> str | None:
    """Why a column cannot be of the kind stated; None where it can."""
    if variable.numeric and not (values.dtype.is_numeric() or values.dtype in (pl.Boolean, pl.Null)):
        if values.null_count() == values.len():
            return None
        return "some of its cells are text: mend them, give them codes under `missing`, or state another kind"
    if variable.kind == Kind.INTEGER and values.dtype.is_float():
        present = values.drop_nulls().drop_nans()
        if (present != present.round()).any():
            return "it holds fractions: state continuous"
    texts = values.dtype == pl.String and values.null_count() < values.len()
    if variable.kind == Kind.DATE and texts and not infer(values)[0].dtype.is_temporal():
        return (
            "some of its texts are no dates in ISO 8601, which are written 2020-12-31, 2020-12-31 12:30 or "
            "2020-12-31T12:30:00: write them so, state kind text, drop the column, or say how they are written in a "
            "step coarsen_date (`format`)"
        )
    if variable.order and values.dtype == pl.String:
        known = {str(v) for v in variable.order} | {str(shown(m.code)) for m in variable.missing}
        if not set(values.drop_nulls().unique()) <= known:
            return "`order` does not list all its values"
    return None


def merged(said: Variable | None, known: Variable) -> Variable:
    """The plan's word where it says something, else what the file knows; missing codes are those of both."""
    if said is None:
        return known
    update = {name: getattr(said, name) for name in said.model_fields_set}
    of_file = known.missing if said.missing_from_file else ()
    update |= {"missing": _joined(said.missing, of_file), "missing_from_file": True}
    return known.model_copy(update=update)


def nameless(book: Codebook, said: Mapping[str, Variable]) -> Codebook:
    """A codebook whose categories are those that the plan names alone; missing codes of the file are plain gaps.

    Examples
    --------
    >>> told = nameless(Codebook({"ward": Variable(labels={1: "Ely"}, missing=[-9])}), {})["ward"]
    >>> told.labels, told.missing
    ({}, (Missing(code=-9, low=None, high=None, label=None, gap=True),))
    """
    return Codebook({name: _nameless(variable, said.get(name, Variable())) for name, variable in book.items()})


def _nameless(variable: Variable, said: Variable) -> Variable:
    own = {(m.code, m.low, m.high): m for m in said.missing}
    of_file = {"gap": True, "label": None}
    codes = tuple(own.get((m.code, m.low, m.high), m.model_copy(update=of_file)) for m in variable.missing)
    return variable.model_copy(update={"labels": said.labels, "order": said.order, "missing": codes})


def _joined(said: tuple[Missing, ...], known: tuple[Missing, ...]) -> tuple[Missing, ...]:
    """The codes of a plan, then those that only the file has; a label is the file's where the plan gives none."""
    of_file = {(m.code, m.low, m.high): m for m in known}
    of_plan = {(m.code, m.low, m.high): m for m in said}
    labels = {key: m.label for key, m in of_file.items()}
    named = {key: m.model_copy(update={"label": m.label or labels.get(key)}) for key, m in of_plan.items()}
    return (*named.values(), *(m for key, m in of_file.items() if key not in of_plan))
