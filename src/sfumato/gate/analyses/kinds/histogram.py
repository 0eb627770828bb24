"""Histogram."""

from sfumato.gate.analyses.kind import Kind

__all__ = ["KIND"]

KIND = Kind(
    "histogram",
    "Histogram",
    statbarn="frequencies",
    sentence=(
        "How many lie in each band of a level. Decided as the table that it is; a number is asked for by a level "
        "of bands."
    ),
    example="`age@band10` ~ 1",
    response="category",
    shape="table",
    thresholds={},
)
