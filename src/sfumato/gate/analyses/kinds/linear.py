"""Linear regression."""

from sfumato.gate.analyses.kind import Kind

__all__ = ["KIND"]

KIND = Kind(
    "linear",
    "Linear regression",
    statbarn="coefficients of association",
    sentence="Coefficients of a linear model; residuals, fitted values and leverages are never given.",
    example="cost ~ age + C(ward)",
    response="number",
    footprint="sums",
)
