"""Speed of protected fits beside the plain one."""

from __future__ import annotations

import sys

import numpy as np

from benchmarks.measure import cost, report_cost
from sfumato.kernels.protected.fit import Kind, fit, plain

_ROWS, _TERMS = 10**6, 10
KINDS: tuple[Kind, ...] = ("linear", "logistic", "poisson", "cox", "mixed")


def records(kind: str, rows: int) -> dict[str, np.ndarray]:
    """Ten covariates, half of them indicators, and a response of the kind."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(rows, _TERMS))
    X[:, ::2] = X[:, ::2] > 0.5
    eta = -1 + X @ np.linspace(-0.3, 0.3, _TERMS)
    if kind == "cox":
        time, left = rng.exponential(np.exp(-eta)), rng.exponential(2.0, size=rows)
        return {"X": X, "y": np.minimum(time, left), "event": time <= left}
    given = {"X": np.column_stack([np.ones(rows), X]), "y": eta + rng.logistic(size=rows)}
    if kind == "logistic":
        given["y"] = (given["y"] > 0).astype(float)
    elif kind == "poisson":
        given["y"] = rng.poisson(np.exp(eta)).astype(float)
    elif kind == "mixed":
        given["cluster"] = rng.integers(0, rows // 10, size=rows)
    return given


def run(kind: Kind, protected: bool, rows: int = _ROWS) -> object:
    """One fit; the rest is made before the clock starts."""
    rng, few = np.random.default_rng(2), records(kind, 5_000)
    keep, noise = rng.random(rows) < 0.95, rng.normal(size=records(kind, 10)["X"].shape[1])

    def work(given: dict[str, np.ndarray]) -> object:
        X, y, rest = given["X"], given["y"], {k: v for k, v in given.items() if k not in ("X", "y")}
        held = keep[: len(y)] if "cluster" not in rest else keep[rest["cluster"]]
        return fit(kind, X, y, keep=held, noise=noise, **rest) if protected else plain(kind, X, y, **rest)

    work(few)  # loops are compiled before
    given = records(kind, rows)
    report_cost(lambda: work(given))
    return given


def rows() -> list[tuple[str, str, str, bool]]:
    """What was measured, the figure, the bar, and whether it holds."""
    out = []
    for kind in KINDS:
        base, ours = cost("analyses", f"{kind}-plain"), cost("analyses", f"{kind}-protected")
        figure = f"{ours.cpu:.1f} CPU s, {ours.cpu / base.cpu:.1f} × plain, {ours.memory:.0f} MB"
        bar, holds = ("≤ 5 CPU s, ≤ 4 ×", ours.cpu <= min(5.0, 4 * base.cpu)) if kind == "logistic" else ("told", True)
        out.append((f"{kind} model, n = 10^6, 10 terms, plain", f"{base.cpu:.1f} CPU s", "baseline", True))
        out.append(("  protected", figure, bar, holds))
    return out


if __name__ == "__main__":
    name, _, how = sys.argv[1].partition("-")
    run(next(kind for kind in KINDS if kind == name), how == "protected")
