"""Mean."""

from sfumato.gate.analyses.kind import Kind

__all__ = ["KIND"]

KIND = Kind(
    "mean",
    "Mean",
    statbarn="linear aggregations",
    sentence="The mean of a number, of all or by the groups of one variable.",
    example="cost ~ 1",
    response="number",
    footprint="sums",
)
