"""Speed of fits whose hidden numbers are not normal, vary between groups, or have noise that is not."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl

from benchmarks.measure import cost, report_cost
from sfumato.data.disclosure import Additive, Disclosure
from sfumato.inference.fit import fit

Work = tuple[str, pl.DataFrame, Disclosure, dict[str, Any]]


def skewed(n: int = 2000) -> Work:
    """A lognormal number with as much noise as half its variance, in a probit."""
    rng = np.random.default_rng(1)
    w, x = rng.normal(size=n), rng.lognormal(0, 0.8, n)
    y = (-0.5 + 0.5 * x + 0.3 * w + rng.normal(size=n) > 0).astype(float)
    variance = float(np.var(x)) / 2
    table = pl.DataFrame({"y": y, "w": w, "x": x + rng.normal(0, variance**0.5, n)})
    return "y ~ x + w", table, Disclosure([Additive(("x",), [[variance]])]), {"family": "probit"}


def normal() -> Work:
    """The same, taken for normal."""
    formula, table, told, options = skewed()
    return formula, table, told, options | {"hidden": "normal"}


def grouped() -> Work:
    """A logit with a random intercept for 40 groups of 10, and a number that varies between them."""
    rng = np.random.default_rng(2)
    group = np.repeat(np.arange(40), 10)
    x = rng.normal(size=40)[group] + rng.normal(size=400)
    eta = -0.3 + 0.6 * x + 0.7 * rng.normal(size=40)[group]
    y = (eta + rng.logistic(size=400) > 0).astype(float)
    table = pl.DataFrame({"y": y, "school": group, "x": x + rng.normal(0, 0.7, 400)})
    return "y ~ x", table, Disclosure([Additive(("x",), [[0.49]])]), {"family": "logit", "group": "school"}


def ordered() -> Work:
    """An ordered probit of four categories with a noisy number."""
    rng = np.random.default_rng(3)
    x, w = rng.normal(size=(2, 1500))
    y = np.digitize(0.5 * x + 0.3 * w + rng.normal(size=1500), [-0.8, 0.0, 0.9])
    table = pl.DataFrame({"y": y, "w": w, "x": x + rng.normal(0, 0.7, 1500)})
    return "y ~ x + w", table, Disclosure([Additive(("x",), [[0.49]])]), {"family": "ordered"}


def laplace() -> Work:
    """Laplace noise on a normal number."""
    rng = np.random.default_rng(4)
    x, w = rng.normal(size=(2, 1500))
    y = (0.5 * x + 0.3 * w + rng.normal(size=1500) > 0).astype(float)
    table = pl.DataFrame({"y": y, "w": w, "x": x + rng.laplace(0, 0.5, 1500)})
    return "y ~ x + w", table, Disclosure([Additive(("x",), [[0.5]], distribution="laplace")]), {"family": "probit"}


CASES: dict[str, Callable[[], Work]] = {
    "skewed": skewed,
    "normal": normal,
    "grouped": grouped,
    "ordered": ordered,
    "laplace": laplace,
}


def run(case: str) -> None:
    """One fit, after a small one that imports what it needs."""
    formula, table, told, options = CASES[case]()
    fit(formula, table.head(300), told, **options)
    report_cost(lambda: fit(formula, table, told, **options))


def rows() -> list[tuple[str, str, str, bool]]:
    """What was measured, the figure, the bar, and whether it holds."""
    cpu = {case: cost("hidden", case).cpu for case in CASES}
    ratio = cpu["skewed"] / cpu["normal"]
    return [
        ("fit, a number taken for normal, n = 2,000", f"{cpu['normal']:.2f} CPU s", "baseline", True),
        ("  lognormal, as a mixture of normals", f"{cpu['skewed']:.2f} CPU s, {ratio:.1f} ×", "≤ 8 ×", ratio <= 8),
        *(
            (f"  {what}", f"{cpu[case]:.2f} CPU s", f"≤ {bar} CPU s", cpu[case] <= bar)
            for case, what, bar in (
                ("grouped", "random-intercept logit, 40 × 10", 0.5),
                ("ordered", "ordered probit, n = 1,500", 0.4),
                ("laplace", "Laplace noise, n = 1,500", 1.0),
            )
        ),
    ]


if __name__ == "__main__":
    run(sys.argv[1])
