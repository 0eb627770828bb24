"""Cox regression."""

from sfumato.gate.analyses.kind import Kind

__all__ = ["KIND"]

KIND = Kind(
    "cox",
    "Cox regression",
    statbarn="hazard and survival",
    sentence="Log hazard ratios of a time until an event.",
    example="weeks ~ age + C(ward)",
    response="time",
    needs=("event",),
)
