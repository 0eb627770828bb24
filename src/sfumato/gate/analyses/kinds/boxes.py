"""Parallel boxes."""

from sfumato.gate.analyses.kind import NOTES, Kind, Threshold

__all__ = ["KIND", "LEAST", "PROBABILITIES"]

PROBABILITIES = (0.05, 0.25, 0.5, 0.75, 0.95)
"""Ends of the whiskers, of the box, and its middle: nothing beyond is told."""

LEAST = 20
"""People of a box, at least."""

KIND = Kind(
    "boxes",
    "Parallel boxes",
    statbarn="position",
    sentence=(
        "Five quantiles of a number, of all or by the groups of one variable, each as the mean of neighbours around a "
        "noisy rank. Whiskers end at 5 and 95%, and no single value is drawn."
    ),
    example="cost ~ ward",
    response="number",
    thresholds={"": (Threshold("levels", LEAST, f"{NOTES}; a box has 20 or more"),)},
)
