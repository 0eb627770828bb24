"""Speed of synthetic copies: trees and regressions, beside scikit-learn's fits of the same trees alone."""

from __future__ import annotations

import sys

import numpy as np
import polars as pl
from tests.real_data import real_data

from benchmarks.measure import cost, report_cost
from sfumato.data.codebook import Codebook
from sfumato.draws import Draws
from sfumato.methods.synthesise.copies import Synthesis

ORDER = [
    *("sex", "age", "race", "marital-status", "salary-class"),
    *("workclass", "occupation", "education", "native-country"),
]
SIXTH = [*ORDER[:5], ORDER[-1], *ORDER[5:-1]]


def adult(order: list[str]) -> pl.DataFrame:
    """The table, columns in an order."""
    return pl.read_csv(real_data() / "adult" / "adult.csv", separator=";").select(order)


def wide(n: int = 10**5) -> pl.DataFrame:
    """Fifteen columns that hang together, four of them numbers."""
    rng = np.random.default_rng(1)
    base = rng.normal(size=(n, 3))
    columns: dict[str, np.ndarray] = {}
    for j in range(15):
        score = base @ rng.normal(size=3) + rng.normal(size=n)
        if j in (1, 5, 9, 13):
            columns[f"x{j}"] = np.round(score, 3)
        else:
            levels = (2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 40)[len([c for c in columns if c[0] == "c"])]
            cuts = np.sort(rng.normal(0, 1.5, levels - 1))
            columns[f"c{j}"] = rng.permutation(levels)[np.digitize(score, cuts)]
    return pl.DataFrame({n: v if n[0] == "x" else v.astype(str) for n, v in columns.items()})


def run(frame: pl.DataFrame, copies: int, model: str) -> None:
    """Full synthesis, without what a release measures."""
    names = tuple(frame.columns)
    own = frozenset(names if model == "parametric" else ())
    step = Synthesis("synthesise", names, (), {}, copies, 5, False, False, (), "", own)
    units = np.arange(1, frame.height + 1, dtype=np.uint64)
    step.copied(frame, Codebook(), Draws(bytes(16)), units, units)


def peer(frame: pl.DataFrame) -> None:
    """The fourteen trees alone, without their draws: categories taken for numbers, which is less work than sets."""
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

    numbers = [frame[n].to_numpy() if n[0] == "x" else frame[n].rank("dense").to_numpy() for n in frame.columns]
    X = np.column_stack(numbers).astype(np.float32)
    for j in range(1, X.shape[1]):
        kind = DecisionTreeRegressor if frame.columns[j][0] == "x" else DecisionTreeClassifier
        kind(min_samples_leaf=5, random_state=0).fit(X[:, :j], X[:, j])


def main(case: str) -> None:
    """Run one case: data, model and copies."""
    data, model, copies = case.split("@")
    frame = wide() if data == "wide" else adult(SIXTH if data == "sixth" else ORDER)
    if model == "peer":
        report_cost(lambda: peer(frame))
        return
    run(frame.head(2000), 1, model)  # compile
    report_cost(lambda: run(frame, int(copies), model))


def rows() -> list[tuple[str, str, str, bool]]:
    """What was measured, the figure, the bar, and whether it holds."""
    base, trees, five = (cost("synthesis", f"wide@{case}") for case in ("peer@1", "cart@1", "cart@5"))
    large = cost("synthesis", "wide@parametric@1", repeats=1)
    ratio = trees.cpu / base.cpu
    return [
        *(_adult() if (real_data() / "adult").is_dir() else ()),
        ("scikit-learn's 14 trees, 10^5 × 15, fits alone", f"{base.cpu:.2f} CPU s", "baseline", True),
        ("  copies of it, one", f"{trees.cpu:.2f} CPU s, {ratio:.2f} × the fits", "≤ 1 ×", ratio <= 1),
        ("  five", f"{five.cpu:.2f} CPU s", "≤ 6 CPU s", five.cpu <= 6),
        ("  one, by regressions, up to 40 classes", f"{large.cpu:.1f} CPU s", "≤ 20 CPU s", large.cpu <= 20),
    ]


def _adult() -> list[tuple[str, str, str, bool]]:
    one, sixth = cost("synthesis", "adult@cart@1"), cost("synthesis", "sixth@cart@1")
    own = cost("synthesis", "adult@parametric@1")
    return [
        ("synthetic Adult, trees, one copy", f"{one.cpu:.2f} CPU s", "≤ 1 CPU s", one.cpu <= 1),
        ("  native-country sixth", f"{sixth.cpu:.2f} CPU s", "≤ 1 CPU s", sixth.cpu <= 1),
        ("  regressions", f"{own.cpu:.2f} CPU s", "told", True),
    ]


if __name__ == "__main__":
    main(sys.argv[1])
