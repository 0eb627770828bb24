"""Speed of attacks on whole households: testdata of sdcMicro, 4,580 people in 1,000 households."""

from __future__ import annotations

import sys

import numpy as np
import polars as pl
from tests.real_data import real_data

from benchmarks.measure import cost, report_cost
from sfumato.data.codebook import Codebook, Variable
from sfumato.data.pair import Pair
from sfumato.data.traces import Traces
from sfumato.engines.polars import PolarsDataset
from sfumato.measures.risk.linkage_units import unit_linkage
from sfumato.measures.risk.uniques_units import unit_uniques
from sfumato.measures.subject import Classes, Outsider, Subject

MOST = 2.0
"""Bar: CPU seconds."""


def subject(frame: pl.DataFrame) -> Subject:
    """Households with noise of share .1 on age, and who knows their keys, and all that leaves."""
    age = frame["age"].to_numpy()
    noise = np.random.default_rng(1).normal(size=len(age)) * age.std() * np.sqrt(0.1)
    after = frame.with_columns(age=pl.Series(age + noise))
    book = {"ori_hid": Variable(role="household"), "age": Variable(role="key", kind="continuous")}
    others = tuple(n for n in frame.columns if n not in book)
    book |= dict.fromkeys(others, Variable(kind="categorical")) | {"sex": Variable(role="key", kind="categorical")}
    return Subject(
        PolarsDataset(after, Codebook(book)),
        given=PolarsDataset(frame, Codebook(book)),
        pair=Pair(frame, after, Codebook(book), ("age",), aligned=True),
        classes=(Classes("keys", ("sex",)), Classes("released", others)),
        traces=Traces(masked=("age",), keys=("sex", "age")),
        knowing=(Outsider("released", others, ("age",)),),
    )


def main() -> None:
    """All figures of whole households."""
    file = real_data() / "sdcmicro" / "testdata.csv"
    frame = pl.read_csv(file, columns=["ori_hid", "urbrur", "roof", "water", "electcon", "relat", "sex", "age"])
    looked = subject(frame.with_columns(pl.col("age").cast(pl.Float64)))
    unit_linkage(looked)  # compiles
    report_cost(lambda: unit_uniques(looked) + unit_linkage(looked))


def rows() -> list[tuple[str, str, str, bool]]:
    """What was measured, the figure, the bar, and whether it holds."""
    if not (real_data() / "sdcmicro" / "testdata.csv").is_file():
        return []
    spent = cost("units", "all")
    figure = f"{spent.cpu:.2f} CPU s, {spent.memory:.0f} MB"
    return [("households of testdata, found by all their rows", figure, f"≤ {MOST:g} CPU s", spent.cpu <= MOST)]


if __name__ == "__main__":
    assert sys.argv[1] == "all"
    main()
