"""t test."""

from sfumato.gate.analyses.kind import Kind

__all__ = ["KIND"]

KIND = Kind(
    "t",
    "t test",
    statbarn="statistical hypothesis tests",
    sentence="The difference of the means of two groups, with one variance for both.",
    example="cost ~ sex",
    response="number",
    footprint="sums",
)
