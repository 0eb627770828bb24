"""Poisson regression."""

from sfumato.gate.analyses.kind import Kind

__all__ = ["KIND"]

KIND = Kind(
    "poisson",
    "Poisson regression",
    statbarn="coefficients of association",
    sentence="Log rate ratios of a count.",
    example="visits ~ age + C(ward)",
    response="count",
    footprint="canonical",
)
