"""Adult with its hierarchies, as patterns."""

import csv
from dataclasses import dataclass

import numpy as np
import pytest

from sfumato.kernels.lattice.levels import Levels
from sfumato.kernels.lattice.patterns import Patterns, grouped


@dataclass(frozen=True)
class Adult:
    names: list[str]
    codes: np.ndarray
    patterns: Patterns
    hierarchies: list[Levels]


def read(path):
    with path.open(encoding="utf-8") as file:
        return list(csv.reader(file, delimiter=";"))


def levels(path):
    """The levels of an ARX file, and the number of each value."""
    rows = read(path)
    columns = [np.unique(column, return_inverse=True)[1] for column in list(zip(*rows, strict=True))[1:]]
    return Levels((np.arange(len(rows)), *columns)), {row[0]: i for i, row in enumerate(rows)}


@pytest.fixture(scope="session")
def adult(shared_data):
    names, *records = read(shared_data / "adult" / "adult.csv")
    made = [levels(shared_data / "adult" / "hierarchies" / f"{name}.csv") for name in names]
    columns = list(zip(*records, strict=True))
    codes = np.array([[place[x] for x in column] for column, (_, place) in zip(columns, made, strict=True)]).T
    return Adult(names, codes, grouped(codes)[0], [h for h, _ in made])
