"""The default model: what utility is judged by where the user names no model."""

from __future__ import annotations

import polars as pl

from sfumato.data.codebook import Codebook
from sfumato.data.roles import IDS, Kind, Role
from sfumato.kernels.glm import Family

__all__ = ["default_model"]

_NOT_MODELLED = (*IDS, Role.IDENTIFIER, Role.WEIGHT, Role.OUTCOME)
_MAX_LEVELS = 20
_MAX_TERMS = 20


def default_model(before: pl.DataFrame, after: pl.DataFrame, codebook: Codebook) -> tuple[str, Family] | None:
    """Formula and family of the first outcome on all other variables, main effects only.

    Parameters
    ----------
    before, after
        Original and protected table.
    codebook
        What is known about their variables.

    Returns
    -------
    formula, family
        None where there is no outcome that a plain model fits, or nothing to explain it with.
    """
    common = [n for n in before.columns if n in after.columns and n in codebook]
    outcome = next((n for n in codebook.with_role(Role.OUTCOME) if n in common), None)
    if outcome is None:
        return None
    family: Family = "linear" if codebook[outcome].numeric else "logistic"
    if family == "logistic" and _levels(before, outcome, codebook) != 2:
        return None
    terms = [t for n in common if n != outcome and (t := _term(before, n, codebook)) is not None]
    if not terms or len(terms) > _MAX_TERMS:
        return None
    return f"{_quoted(outcome)} ~ {' + '.join(terms)}", family


def _term(frame: pl.DataFrame, name: str, codebook: Codebook) -> str | None:
    variable = codebook[name]
    if variable.role in _NOT_MODELLED or variable.kind in (Kind.TEXT, Kind.DATE, None):
        return None
    levels = _levels(frame, name, codebook)
    if levels < 2:
        return None
    if variable.numeric:
        return _quoted(name)
    return f"C({_quoted(name)})" if levels <= _MAX_LEVELS else None


def _levels(frame: pl.DataFrame, name: str, codebook: Codebook) -> int:
    present = pl.col(name).filter(~codebook.missing(name, frame.schema[name]))
    return int(frame.select(present.n_unique()).item())


def _quoted(name: str) -> str:
    return name if name.isidentifier() else f"`{name}`"
