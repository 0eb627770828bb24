"""Speed of what is measured of synthetic copies: two hundred columns in pairs, and labels permuted for trees."""

from __future__ import annotations

import itertools
import sys

import numpy as np
import polars as pl

from benchmarks.measure import cost, report_cost

ROWS, COLUMNS = 30_000, 200


def _data() -> tuple[pl.DataFrame, pl.DataFrame]:
    random = np.random.default_rng(1)
    columns = {
        f"c{j}": random.normal(size=ROWS) if j % 2 else random.choice(list("abcdef"), ROWS) for j in range(COLUMNS)
    }
    original = pl.DataFrame(columns)
    return original, original[random.integers(0, ROWS, ROWS)]


def pairs() -> None:
    """Every pair of columns, as `compare` does."""
    from sfumato.data.codebook import Codebook
    from sfumato.data.pair import Pair
    from sfumato.measures.utility.table_ratio import findings

    findings(Pair(*TABLES, Codebook()))


def counted() -> None:
    """The cells of the same pairs by numpy, from codes that are there already."""
    random = np.random.default_rng(1)
    codes = random.integers(0, 6, (COLUMNS, 2 * ROWS))
    for i, j in itertools.combinations(range(COLUMNS), 2):
        cell = codes[i] * 6 + codes[j]
        np.bincount(cell[:ROWS], minlength=36), np.bincount(cell[ROWS:], minlength=36)


def trees(columns: int) -> None:
    """Trees beside chance, of so many columns."""
    from sfumato.data.codebook import Codebook
    from sfumato.data.pair import Pair
    from sfumato.measures.utility.pmse_ratio import ratio_of_trees

    ratio_of_trees(Pair(*(table[:, :columns] for table in TABLES), Codebook()))


def ten() -> None:
    """Ten columns."""
    trees(10)


def wide() -> None:
    """All columns."""
    trees(COLUMNS)


def apart() -> None:
    """U with interactions of nine categories of which some are rare, 298 coefficients."""
    from sfumato.data.codebook import Codebook
    from sfumato.measures.utility.propensity import propensity

    random = np.random.default_rng(2)
    levels = np.minimum(random.zipf(1.6, (9, TABLES[0].height)), 30)
    original = pl.DataFrame({f"c{j}": own.astype(str) for j, own in enumerate(levels)})
    copy = original[random.integers(0, original.height, original.height)]
    propensity(original, copy, Codebook(), interactions=True)


def newton() -> None:
    """The same regression by Newton's steps alone."""
    from sfumato.kernels.glm import fit
    from sfumato.measures.utility import propensity

    propensity.fit = lambda *given, many_columns, **how: fit(*given, **how)  # type: ignore[attr-defined]
    apart()


def rows() -> list[tuple[str, str, str, bool]]:
    """What was measured, the figure, the bar, and whether it holds."""
    found, baseline = cost("copies", "pairs"), cost("copies", "counted")
    share = found.cpu / baseline.cpu
    told = f"{found.cpu:.2f} CPU s, {share:.2f} × numpy, {found.memory:,.0f} MB"
    out = [
        ("cells of all pairs by numpy, 200 columns, 2 × 30,000 rows", f"{baseline.cpu:.2f} CPU s", "baseline", True),
        ("table_ratio of the same, coding too", told, "≤ 1 × numpy", share <= 1),
    ]
    fast, slow = cost("copies", "apart"), cost("copies", "newton")
    share = fast.cpu / slow.cpu
    out += [
        (
            "U with interactions by Newton's steps, 298 coefficients, 2 × 30,000 rows",
            f"{slow.cpu:.2f} CPU s",
            "baseline",
            True,
        ),
        ("  by gradients first", f"{fast.cpu:.2f} CPU s, {share:.2f} × Newton", "≤ 0.9 ×", share <= 0.9),
    ]
    for what, case, bar in (("10 columns", "ten", 5.0), ("200 columns", "wide", 15.0)):
        cpu = cost("copies", case).cpu
        out.append(
            (
                f"trees beside chance, {what}, labels permuted 50 times",
                f"{cpu:.1f} CPU s",
                f"≤ {bar:g} CPU s",
                cpu <= bar,
            )
        )
    return out


if __name__ == "__main__":
    named = {"pairs": pairs, "counted": counted, "ten": ten, "wide": wide, "apart": apart, "newton": newton}
    work = named[sys.argv[1]]
    TABLES = _data()
    if work is not counted:  # what is compiled is loaded first
        whole, TABLES = TABLES, tuple(table.head(100) for table in TABLES)  # type: ignore[assignment]
        work()
        TABLES = whole
    report_cost(work)
