"""Random intercepts."""

from sfumato.gate.analyses.kind import Kind

__all__ = ["KIND"]

KIND = Kind(
    "mixed",
    "Random intercepts",
    statbarn="coefficients of association",
    sentence=(
        "A linear model with an intercept of its own for each cluster; whole clusters are left out, bounded and "
        "weighted together."
    ),
    example="cost ~ age",
    response="number",
    needs=("cluster",),
)
