"""Speed of blanking cells, of counting with missing keys and of individual risks, on files of 10^6 records."""

from __future__ import annotations

import sys

import numpy as np

from benchmarks.measure import cost, report_cost
from sfumato.kernels.classes.cell_suppression import suppress_cells
from sfumato.kernels.classes.individual_risk import individual_risk
from sfumato.kernels.classes.missing_keys import count_with_missing

VALUES = (2, 5, 7, 12, 30, 8, 14, 2, 40)
"""Values of the nine keys, as many as in a census extract; the more frequent the lower."""


def patterns(records: int) -> tuple[np.ndarray, np.ndarray]:
    """Distinct patterns of independent keys, and how many records have each."""
    rng = np.random.default_rng(1)
    columns = []
    for values in VALUES:
        share = 1 / np.arange(1, values + 1) ** 2
        columns.append(rng.choice(values, records, p=share / share.sum()))
    packed, counts = np.unique(np.ravel_multi_index(columns, VALUES), return_counts=True)
    return np.column_stack(np.unravel_index(packed, VALUES)).astype(np.int64), counts


def main(case: str) -> None:
    """Run one case."""
    codes, counts = patterns(10**6)
    if case == "suppress":
        suppress_cells(codes[:50], counts[:50], 3)  # compile
        report_cost(lambda: suppress_cells(codes, counts, 3))
    elif case == "count":
        rng = np.random.default_rng(2)
        for j in (3, 4, 6, 8):
            codes[rng.random(len(codes)) < 0.1, j] = -1
        codes, member = np.unique(codes, axis=0, return_inverse=True)
        counts = np.bincount(member.reshape(-1), weights=counts)
        count_with_missing(codes[:50], counts[:50], alpha=0.5)
        report_cost(lambda: count_with_missing(codes, counts, counts * 7.5, alpha=0.5))
    else:
        f = counts.astype(float)
        report_cost(lambda: individual_risk(f, f * np.random.default_rng(3).uniform(1, 500, len(f))))


def rows() -> list[tuple[str, str, str, bool]]:
    """What was measured, the figure, the bar, and whether it holds."""
    suppressed, counted, risks = (cost("cells", case, repeats=1) for case in ("suppress", "count", "risk"))
    return [
        (
            "cells blanked to k = 3, 10^6 records, 9 keys, 176,490 patterns, 162,707 records below k",
            f"{suppressed.cpu:.1f} CPU s, {suppressed.memory:.0f} MB",
            "≤ 60 CPU s",
            suppressed.cpu <= 60,
        ),
        (
            "  the same patterns with gaps in four keys, counted",
            f"{counted.cpu:.2f} CPU s",
            "≤ 5 CPU s",
            counted.cpu <= 5,
        ),
        ("  individual risks of all patterns", f"{risks.cpu:.2f} CPU s", "≤ 5 CPU s", risks.cpu <= 5),
    ]


if __name__ == "__main__":
    main(sys.argv[1])
