"""Table of counts."""

from sfumato.gate.analyses.kind import Kind

__all__ = ["KIND"]

KIND = Kind(
    "crosstab",
    "Table of counts",
    statbarn="frequencies",
    sentence="How many there are of each combination. Decided as the table that it is.",
    example="sex ~ ward",
    response="category",
    shape="table",
    thresholds={},
)
