"""Correlation."""

from sfumato.gate.analyses.kind import Kind

__all__ = ["KIND"]

KIND = Kind(
    "correlation",
    "Correlation",
    statbarn="coefficients of association",
    sentence="Pearson's correlation of two numbers.",
    example="cost ~ stay",
    response="number",
    footprint="sums",
)
