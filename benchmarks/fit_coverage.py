"""How often the intervals of `fit` hold: designs with strong noise, odd errors, odd counts and odd covariates.

`python -m benchmarks.fit_coverage` prints the table of `docs/fit.md`, one line a row; with names of rows it takes those
alone. Each cell of a row is simulated from a seed of its own, so that equal options give equal figures.
"""

from __future__ import annotations

import argparse
import itertools
import math
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.data.disclosure import Additive, Disclosure, Misclassified
from sfumato.inference.fit import Family, Method, fit

Floats = NDArray[np.float64]
Law = Literal["gaussian", "laplace", "uniform"]

KURTOSIS: dict[Law, float] = {"gaussian": 0.0, "laplace": 3.0, "uniform": -1.2}
WITH_EXACT = 0.5
"""Correlation of the hidden number and the exact one beside it."""


@dataclass(frozen=True)
class Cell:
    """One design.

    Parameters
    ----------
    family
        Of the model.
    x
        Law of the hidden covariate, of variance 1: `normal`, `lognormal .6` (sd of the logarithm), `two peaks`; or
        `0/1 noise` and `0/1 exchanged`.
    errors
        Of the response: law of the errors, or of what multiplies the mean of the counts.
    n
        Records.
    share
        Share of the released variance that is noise; for a category what was done to it.
    slope
        True coefficient.
    noise
        Law of the noise.
    evidence
        In truth; then `share` follows from it.
    """

    family: Family
    x: str
    errors: str
    n: int
    share: float
    slope: float = 0.5
    noise: Law = "gaussian"
    evidence: float = 0.0

    @property
    def variance(self) -> float:
        """Of the noise."""
        if self.evidence:
            own = 1 - WITH_EXACT**2
            return own * math.sqrt(self.n / (2 + KURTOSIS[self.noise])) / self.evidence
        return self.share / (1 - self.share)

    @property
    def formula(self) -> str:
        """Of the model."""
        return ("Surv(time, event)" if self.family == "cox" else "y") + " ~ x + w"

    def generator(self, seed: int) -> np.random.Generator:
        """Random numbers of this cell."""
        return np.random.default_rng([seed, zlib.crc32(repr(self).encode())])

    def draw(self, rng: np.random.Generator) -> tuple[pl.DataFrame, Disclosure]:
        """A release of new records, and what is disclosed of it."""
        x = hidden(self.x, self.n, rng)
        spread = math.sqrt(1 - WITH_EXACT**2)
        centred = (x - 0.5) * 2 if self.x.startswith("0/1") else x
        w = WITH_EXACT * centred + spread * rng.normal(size=self.n)
        told, z = self.released(x, rng)
        return pl.DataFrame({**response(self, x, w, rng), "x": z, "w": w}), told

    def released(self, x: Floats, rng: np.random.Generator) -> tuple[Disclosure, Floats]:
        """What becomes of the hidden covariate."""
        if self.x == "0/1 exchanged":
            kept = 1 - self.share
            changed = rng.random(self.n) < self.share
            z = np.where(changed, 1 - x, x).astype(np.int64)
            told = Misclassified("x", [[kept, 1 - kept], [1 - kept, kept]], levels=(0, 1))
            return Disclosure([told]), z
        if self.x == "0/1 noise":
            z = np.clip(x + rng.normal(0, math.sqrt(self.share), self.n), 0, 1)
            return Disclosure([Additive(("x",), [[self.share]], clipped=True, values=(0, 1))]), z
        sd = math.sqrt(self.variance)
        draw = {"gaussian": rng.standard_normal, "laplace": rng.laplace, "uniform": rng.uniform}[self.noise]
        scale = {"gaussian": (), "laplace": (0, math.sqrt(0.5)), "uniform": (-math.sqrt(3), math.sqrt(3))}[self.noise]
        z = x + sd * draw(*scale, size=self.n)
        return Disclosure([Additive(("x",), [[sd**2]], distribution=self.noise)]), z


def hidden(law: str, n: int, rng: np.random.Generator) -> Floats:
    """Draw true values: mean 0 and variance 1, or 0 and 1 with a share of .4."""
    if law.startswith("0/1"):
        return (rng.random(n) < 0.4).astype(np.float64)
    if law == "normal":
        return rng.normal(size=n)
    if law == "two peaks":
        return rng.choice([-1.5, 1.0], n, p=[0.4, 0.6]) / 1.3229 + rng.normal(0, math.sqrt(1 - 1.5 / 1.75), n)
    s = float(law.split()[1])
    mean, sd = math.exp(s**2 / 2), math.sqrt(math.expm1(s**2)) * math.exp(s**2 / 2)
    return (np.exp(s * rng.normal(size=n)) - mean) / sd


def response(cell: Cell, x: Floats, w: Floats, rng: np.random.Generator) -> dict[str, Floats]:
    """Draw the response given true values."""
    n, eta = cell.n, cell.slope * x + 0.3 * w
    if cell.family == "linear":
        errors = {
            "normal": lambda: rng.normal(size=n),
            "sd by |x|": lambda: np.abs(x) * rng.normal(size=n),
            "exponential": lambda: rng.exponential(size=n) - 1,
            "t3": lambda: rng.standard_t(3, n) / math.sqrt(3),
        }[cell.errors]
        return {"y": 1 + eta + errors()}
    if cell.family == "poisson":
        more = {
            "Poisson": lambda: np.ones(n),
            "theta 1": lambda: rng.gamma(1, 1, n),
            "theta 4": lambda: rng.gamma(4, 1 / 4, n),
            "zeros": lambda: (rng.random(n) < 0.7) / 0.7,
        }[cell.errors]
        return {"y": rng.poisson(np.exp(0.5 + eta) * more()).astype(np.float64)}
    time, ends = rng.exponential(np.exp(-eta)), rng.exponential(2.0, n)
    return {"time": np.minimum(time, ends), "event": (time <= ends).astype(np.float64)}


@dataclass(frozen=True)
class Found:
    """What came of the draws of a cell, for the coefficient of the hidden covariate; NaN where there is no estimate.

    Parameters
    ----------
    cell
        The design.
    estimate : ndarray, shape (R,)
        By draw.
    inside : ndarray of bool, shape (R,)
        Whether the interval held the truth.
    """

    cell: Cell
    estimate: Floats
    inside: NDArray[np.bool_]

    @property
    def none(self) -> NDArray[np.bool_]:
        """Draws without an estimate."""
        return np.isnan(self.estimate)

    @property
    def bias(self) -> float:
        """Median, as a share of the truth; NaN where most draws have no estimate."""
        return float(np.median(self.estimate[~self.none]) / self.cell.slope - 1) if not self.none.all() else math.nan

    @property
    def coverage(self) -> float:
        """Among draws with an estimate."""
        return float(self.inside[~self.none].mean()) if not self.none.all() else math.nan

    @property
    def holds(self) -> float:
        """Among all draws, no estimate counted as holding."""
        return float((self.inside | self.none).mean())


def simulate(cell: Cell, draws: int, seed: int, method: Method = "auto") -> Found:
    """Fit a cell's draws."""
    rng = cell.generator(seed)
    estimate, inside = np.empty(draws), np.empty(draws, dtype=bool)
    for r in range(draws):
        fitted = fit(cell.formula, *cell.draw(rng), family=cell.family, method=method, complete=True)
        j = fitted.terms.index("x")
        low, high = fitted.interval[j]
        estimate[r] = fitted.estimate[j] if fitted.converged else np.nan
        inside[r] = low <= cell.slope <= high
    return Found(cell, estimate, inside)


@dataclass(frozen=True)
class Row:
    """A line of the table.

    Parameters
    ----------
    what
        As the table has it.
    cells
        That are pooled.
    ml
        Whether a likelihood is fitted too.
    """

    what: str
    cells: tuple[Cell, ...]
    ml: bool = True

    def line(self, draws: int, few: int, seed: int) -> str:
        """Simulate, and write the line."""
        found = [simulate(cell, draws, seed) for cell in self.cells]
        small = [f for f in found if f.cell.n < 1000]
        large = [f for f in found if f.cell.n >= 1000]
        evidence = any(f.cell.evidence for f in found)
        told = [f.holds if evidence else f.coverage for f in found]
        counted = np.concatenate([f.inside | f.none if evidence else f.inside[~f.none] for f in found])
        none = np.concatenate([f.none for f in found])
        cells = [
            self.what,
            _worst(large if large else small) + (f"; {_worst(small)}" if small and large else ""),
            f"{_share(float(counted.mean()))} ({_share(min(told))}–{_share(max(told))})",
            f"{none.mean():.1%}",
            self.likelihood(few, seed) if self.ml and few else "–",
        ]
        return "| " + " | ".join(cells) + " |"

    def likelihood(self, draws: int, seed: int) -> str:
        """What maximum likelihood does at n = 1,000, in short."""
        cells = [cell for cell in self.cells if cell.n == 1000] or [c for c in self.cells if c.n <= 1000]
        found = [simulate(cell, draws, seed, "ml") for cell in cells]
        told = [f.holds if f.cell.evidence else f.coverage for f in found]
        kept = [t for t in told if not math.isnan(t)]
        if not kept:
            return "no estimate"
        return f"{_worst(found)}; {_share(float(np.mean(kept)))} ({_share(min(kept))}–{_share(max(kept))})"


def _worst(found: list[Found]) -> str:
    """Largest median bias of cells in which half of the draws have an estimate, with its sign."""
    biases = [f.bias for f in found if f.none.mean() <= 0.5]
    return f"{max(biases, key=abs):+.1%}".replace("-", "−") if biases else "–"


def _share(share: float) -> str:
    return f"{share:.2f}".removeprefix("0")


SHARES = (0.1, 0.3, 0.5)
ERRORS = ("normal", "sd by |x|", "exponential", "t3")


def _linear(x: str) -> tuple[Cell, ...]:
    return tuple(Cell("linear", x, e, n, s) for e, n, s in itertools.product(ERRORS, (200, 1000, 5000), SHARES))


def _counts(x: str, laws: tuple[str, ...], sizes: tuple[int, ...]) -> tuple[Cell, ...]:
    return tuple(Cell("poisson", x, e, n, s, 0.4) for e, n, s in itertools.product(laws, sizes, SHARES))


def _evidence(slope: float, noise: Law) -> tuple[Cell, ...]:
    levels = (2.0, 3.0, 4.0, 6.0, 8.0, 10.0, 12.0, 14.0, 20.0)
    return tuple(Cell("linear", "normal", "normal", 300, 0.0, slope, noise, level) for level in levels)


def _other_noise(family: Family, noise: Law) -> tuple[Cell, ...]:
    laws = ERRORS if family == "linear" else ("theta 1", "Poisson")
    slope = 0.5 if family == "linear" else 0.4
    return tuple(
        Cell(family, x, e, 1000, s, slope, noise)
        for x, e, s in itertools.product(("normal", "lognormal 0.6"), laws, SHARES)
    )


def _cox(x: str, shares: tuple[float, ...] = SHARES) -> tuple[Cell, ...]:
    return tuple(Cell("cox", x, "", 1500, s, slope) for s, slope in itertools.product(shares, (0.5, 1.0)))


def _rows() -> Iterator[Row]:
    names = {
        "normal": "normal",
        "lognormal 0.6": "lognormal, .6",
        "lognormal 1.0": "lognormal, 1",
        "two peaks": "two peaks",
    }
    for x, name in names.items():
        yield Row(f"`linear`, x {name}", _linear(x))
    for noise in ("laplace", "uniform"):
        yield Row(f"`linear`, {noise.capitalize()} noise", _other_noise("linear", noise))  # type: ignore[arg-type]
    yield Row("`linear`, 0/1, noise .25 clipped", tuple(Cell("linear", "0/1 noise", e, 1000, 0.25) for e in ERRORS))
    yield Row("`poisson`, x normal", _counts("normal", ("theta 1", "theta 4", "zeros", "Poisson"), (200, 1000, 5000)))
    skewed = ("theta 1", "theta 4", "Poisson")
    yield Row("`poisson`, x lognormal, .6", _counts("lognormal 0.6", skewed, (300, 1000, 5000)))
    strong = tuple(Cell("poisson", "normal", e, 1000, 0.5, 0.8) for e in ("theta 1", "theta 4", "zeros", "Poisson"))
    yield Row("`poisson`, slope .8, share .5", strong)
    for noise in ("laplace", "uniform"):
        yield Row(f"`poisson`, {noise.capitalize()} noise", _other_noise("poisson", noise))  # type: ignore[arg-type]
    exchanged = tuple(Cell("poisson", "0/1 exchanged", e, 1500, 0.15) for e in ("theta 1", "Poisson"))
    yield Row("`poisson`, 0/1, 15% exchanged", exchanged, ml=False)
    for noise, slope in itertools.product(KURTOSIS, (0.5, 2.0)):
        name = "normal" if noise == "gaussian" else noise.capitalize()
        yield Row(f"evidence 2–20, slope {slope:g}, {name} noise", _evidence(slope, noise), ml=False)
    for x in ("normal", "lognormal 0.6", "two peaks"):
        yield Row(f"`cox`, x {names[x]}", _cox(x), ml=False)
    yield Row("`cox`, 0/1 exchanged", _cox("0/1 exchanged", (0.1, 0.15)), ml=False)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rows", nargs="*", help="Beginnings of rows; all without.")
    parser.add_argument("--draws", type=int, default=150)
    parser.add_argument("--few", type=int, default=20, help="Draws of likelihoods.")
    parser.add_argument("--seed", type=int, default=40)
    given = parser.parse_args()
    print("| | largest median bias, n ≥ 1,000; below | coverage, pooled (cells) | no estimate | `ml` |")
    print("| --- | --- | --- | --- | --- |")
    for row in _rows():
        if not given.rows or any(row.what.replace("`", "").startswith(name) for name in given.rows):
            print(row.line(given.draws, given.few, given.seed), flush=True)


if __name__ == "__main__":
    main()
