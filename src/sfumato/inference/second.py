"""A second estimate that assumes less, beside that of a likelihood, and whether the two agree."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from sfumato.inference.result import Fit, Second
from sfumato.kernels.agreement import compare

__all__ = ["Alternative", "with_second"]

Floats = NDArray[np.float64]

_DISAGREE = 0.01
"""A p-value below this is told."""


@dataclass(frozen=True)
class Alternative:
    """An estimate that assumes less than another of the same coefficients.

    Parameters
    ----------
    method
        How it was found.
    estimate, se
        Shape (p,).
    influence
        What each record of the table adds to it, shape (n, p); 0 for records that it left out.
    assumes
        What it assumes, as the end of a sentence that begins with its name.
    first_assumes
        What the other estimate assumes and this one does not, likewise.
    """

    method: str
    estimate: Floats
    se: Floats
    influence: Floats
    assumes: str
    first_assumes: str


def with_second(fitted: Fit, influence: Floats, other: Alternative, clusters: NDArray[np.int64] | None = None) -> Fit:
    """Put a second estimate beside a fit, and say so where the two disagree.

    Parameters
    ----------
    fitted
        The fit.
    influence : ndarray, shape (n, p)
        What each record adds to its coefficients: score times inverse derivative.
    other
        The second estimate.
    clusters : ndarray, shape (n,), optional
        Cluster of each record.
    """
    count = len(other.estimate)
    slopes = np.array([bool(parts) for parts in fitted.columns.parts])
    first, own = fitted.estimate[:count], influence[:, :count]
    p, _ = compare(first[slopes], own[:, slopes], other.estimate[slopes], other.influence[:, slopes], clusters)
    second = Second(other.method, fitted.terms[:count], other.estimate, other.se, p)
    if not p < _DISAGREE:
        return replace(fitted, second=second)
    apart = _apart(fitted, own, other, slopes, clusters)
    note = (
        f"`{fitted.method}` and `{other.method}` disagree (p {_text(p)}): {apart}. "
        f"`{fitted.method}` {other.first_assumes}; `{other.method}` {other.assumes}."
    )
    return replace(fitted, second=replace(second, said=note), notes=(*fitted.notes, note))


def _apart(
    fitted: Fit, own: Floats, other: Alternative, slopes: NDArray[np.bool_], clusters: NDArray[np.int64] | None
) -> str:
    """The terms that differ by themselves, or else the one that does most, with both figures."""
    alone = {}
    for j in np.flatnonzero(slopes):
        one = slice(j, j + 1)
        p, _ = compare(fitted.estimate[one], own[:, one], other.estimate[one], other.influence[:, one], clusters)
        if np.isfinite(p):
            alone[int(j)] = p
    told = [j for j, p in alone.items() if p < _DISAGREE] or sorted(alone, key=lambda j: alone[j])[:1]
    told = told or np.flatnonzero(slopes).tolist()
    return ", ".join(f"{fitted.terms[j]} {fitted.estimate[j]:.3g} and {other.estimate[j]:.3g}" for j in told)


def _text(p: float) -> str:
    return "< .001" if p < 0.001 else f"= {p:.3f}".replace("0.", ".")
