"""Logistic regression."""

from sfumato.gate.analyses.kind import Kind

__all__ = ["KIND"]

KIND = Kind(
    "logistic",
    "Logistic regression",
    statbarn="coefficients of association",
    sentence=(
        "Log odds ratios of a binary response. With all combinations of its covariates a model is their table, "
        "and is decided as it."
    ),
    example="died ~ age + C(ward)",
    response="binary",
    footprint="canonical",
)
