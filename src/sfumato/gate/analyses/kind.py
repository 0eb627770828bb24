"""What a kind of analysis is: one value in one file, which says all that the gate holds it to."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

__all__ = ["ACRO", "DATASHIELD", "NOTES", "Kind", "Response", "Threshold"]

Response = Literal["number", "binary", "count", "time", "category"]
Shape = Literal["table", "fit"]
Given = Literal["canonical", "sums", "joint", "none"]

ACRO = "ACRO 0.4, default risk appetite (Smith et al. 2023)"
DATASHIELD = "DataSHIELD, nfilter.* options (Gaye et al. 2014, doi:10.1093/ije/dyu188)"
NOTES = "sfumato: every level and response must stay as open as a cell of a table"


@dataclass(frozen=True)
class Threshold:
    """A figure that a fit must keep to.

    Parameters
    ----------
    name
        `residual_df`: records less coefficients, at least. `parameters`: coefficients for each record, at most.
        `levels`: records of each level, and of each level and side of a binary response, more than a policy's count,
        and the figure at least.
    value
        The figure; None where the policy has it.
    source
        Where it comes from.
    """

    name: Literal["residual_df", "parameters", "levels"]
    value: float | None
    source: str


_DF = Threshold("residual_df", 10, ACRO)
_PARAMETERS = Threshold("parameters", 0.33, DATASHIELD)
_LEVELS = Threshold("levels", None, NOTES)
_FITS: Mapping[str, tuple[Threshold, ...]] = {
    "": (_DF, _PARAMETERS, _LEVELS),
    "acro": (_DF, _LEVELS),
    "datashield": (_PARAMETERS, _LEVELS),
}


@dataclass(frozen=True)
class Kind:
    """A kind of analysis.

    Parameters
    ----------
    name
        As requests write it.
    title
        For people.
    statbarn
        The class of statistics that output checkers put it in (Green, Ritchie and White: *The statbarn*, PSD 2024).
    sentence
        What it tells, and what is looked at before it is given.
    example
        A formula.
    response
        What stands before `~`.
    shape
        `table`: it is a table of counts, decided as one. `fit`: it has coefficients.
    footprint
        Which tables give a fit exactly, where all its variables have codes: `canonical`: the response by each term, and
        all covariates together. `sums`: sums of the response by each term, the sum of its squares, and all covariates
        together. `joint`: all variables together. `none`: it is never exact.
    needs
        What a request has beside its formula: `event`, `cluster`, `probability`.
    thresholds
        By preset of a policy what must hold; the empty name is for all others.
    present
        What is made of the table's release, from it, the request and the codebook; None where it is the table.
    """

    name: str
    title: str
    statbarn: str
    sentence: str
    example: str
    response: Response
    shape: Shape = "fit"
    footprint: Given = "joint"
    needs: tuple[str, ...] = ()
    thresholds: Mapping[str, tuple[Threshold, ...]] = field(default_factory=lambda: _FITS)
    present: Callable[[Mapping[str, Any], Any, Any], dict[str, Any]] | None = None

    def limits(self, preset: str | None) -> tuple[Threshold, ...]:
        """What must hold under a policy of a preset."""
        return self.thresholds.get(preset or "", self.thresholds.get("", ()))
