"""Quantile."""

from sfumato.gate.analyses.kind import Kind

__all__ = ["KIND"]

KIND = Kind(
    "quantile",
    "Quantile",
    statbarn="position",
    sentence=(
        "A quantile of a number, as the mean of neighbours around a noisy rank: no value of anybody stands in it alone."
    ),
    example="cost ~ 1",
    response="number",
    needs=("probability",),
)
