"""Residuals."""

from sfumato.gate.analyses.kind import Kind

__all__ = ["KIND"]

KIND = Kind(
    "residuals",
    "Residuals",
    statbarn="position",
    sentence=(
        "Parallel boxes of the residuals of a linear model, by what it fitted: whether they lie around zero, and are "
        "as wide, everywhere. Never points; each box has twenty people or more, and whiskers end at 5 and 95%."
    ),
    example="cost ~ age + C(ward)",
    response="number",
    footprint="none",
)
