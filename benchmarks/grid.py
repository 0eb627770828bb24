"""Speed of fits of values on a public grid beside the same fits of values that were not rounded."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl

from benchmarks.measure import cost, report_cost
from sfumato.data.disclosure import Additive, Disclosure
from sfumato.inference.fit import fit
from sfumato.kernels.grid import noise_step, round_within

Work = tuple[str, pl.DataFrame, tuple[Additive, ...], dict[str, Any]]
BAR = 1.5


def covariate(family: str, n: int = 30_000) -> Work:
    """A response on a number with noise, and an exact one."""
    rng = np.random.default_rng(1)
    w, x = rng.normal(size=n), rng.normal(25, 4, n)
    eta = 0.1 * (x - 25) + 0.3 * w + rng.normal(size=n)
    y = eta if family == "linear" else (eta > 0).astype(float)
    return (
        "y ~ x + w",
        pl.DataFrame({"y": y, "w": w, "x": x + rng.normal(0, 2.8, n)}),
        (told("x", 2.8),),
        options(family),
    )


def binary(n: int = 10**5) -> Work:
    """A probit on a column of 0 and 1 with noise."""
    rng = np.random.default_rng(2)
    w, x = rng.normal(size=n), rng.integers(0, 2, n).astype(float)
    y = (0.5 * x + 0.3 * w - 0.2 + rng.normal(size=n) > 0).astype(float)
    part = Additive(("x",), [[0.2]], values=(0, 1))
    return "y ~ x + w", pl.DataFrame({"y": y, "w": w, "x": x + rng.normal(0, 0.2**0.5, n)}), (part,), options("probit")


def response(high: float | None, n: int = 30_000) -> Work:
    """A linear model of a response with noise, set to a bound above or not."""
    rng = np.random.default_rng(3)
    x, w = rng.normal(size=(2, n))
    y = np.minimum(0.5 * x - 0.3 * w + rng.normal(size=n) + rng.normal(0, 0.7, n), np.inf if high is None else high)
    bounds = {} if high is None else {"y": (None, high)}
    return "y ~ x + w", pl.DataFrame({"y": y, "x": x, "w": w}), (told("y", 0.7, bounds=bounds),), options("linear")


def bounded(n: int = 3_000) -> Work:
    """A probit on a number with noise that was set to bounds."""
    formula, table, _, more = covariate("probit", n)
    return formula, table.with_columns(pl.col("x").clip(15, 35)), (told("x", 2.8, bounds={"x": (15.0, 35.0)}),), more


def laplace(n: int = 1_500) -> Work:
    """A probit on a number with Laplace noise."""
    rng = np.random.default_rng(4)
    w, x = rng.normal(size=n), rng.normal(25, 4, n)
    y = (0.1 * (x - 25) + 0.3 * w + rng.normal(size=n) > 0).astype(float)
    table = pl.DataFrame({"y": y, "w": w, "x": x + rng.laplace(0, 2, n)})
    return "y ~ x + w", table, (told("x", 8**0.5, distribution="laplace"),), options("probit")


def told(column: str, sd: float, **more: Any) -> Additive:
    """What is said of the noise on one column."""
    return Additive((column,), [[sd**2]], **more)


def options(family: str) -> dict[str, Any]:
    """How the model is fitted."""
    return {"family": family}


CASES: dict[str, tuple[str, Callable[[], Work]]] = {
    "linear": ("linear, a noisy number", lambda: covariate("linear")),
    "probit": ("probit, a noisy number", lambda: covariate("probit")),
    "binary": ("probit, noisy 0 and 1", binary),
    "response": ("linear, a noisy response", lambda: response(None)),
    "capped": ("linear, a noisy response with a bound", lambda: response(1.5)),
    "bounded": ("probit, a noisy number with bounds", bounded),
    "laplace": ("probit, a number with Laplace noise", laplace),
}


def run(case: str) -> None:
    """One fit, of values as they are or rounded as `round_to: auto` does."""
    name, _, rounded = case.partition("-")
    formula, table, parts, more = CASES[name][1]()
    if rounded:
        for i, part in enumerate(parts):
            (column,), step = part.columns, noise_step(float(part.sd[0]))
            low, high = part.bounds.get(column, (None, None))
            ends = (-np.inf if low is None else low, np.inf if high is None else high)
            table = table.with_columns(pl.Series(column, round_within(table[column].to_numpy(), step, *ends)))
            parts = (*parts[:i], part.model_copy(update={"rounded": {column: step}}), *parts[i + 1 :])
    fit(formula, table.head(500), Disclosure(parts), **more)  # imports
    report_cost(lambda: fit(formula, table, Disclosure(parts), **more))


def rows() -> list[tuple[str, str, str, bool]]:
    """What was measured, the figure, the bar, and whether it holds."""
    found = []
    for name, (what, _) in CASES.items():
        plain, rounded = cost("grid", name), cost("grid", f"{name}-rounded")
        ratio = rounded.cpu / plain.cpu
        figure = f"{rounded.cpu:.2f} CPU s, not rounded {plain.cpu:.2f}, {ratio:.2f} ×"
        found.append((f"fit on a grid: {what}", figure, f"≤ {BAR} ×", ratio <= BAR))
    return found


if __name__ == "__main__":
    run(sys.argv[1])
