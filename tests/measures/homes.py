"""Eight people in five homes: two of two who are alike in sex, one of two women, and two men alone."""

import polars as pl

from sfumato.data.codebook import Codebook, Variable

BOOK = Codebook(
    {
        "home": Variable(role="household", kind="categorical"),
        "sex": Variable(role="key", kind="categorical"),
        "age": Variable(role="key", kind="continuous"),
    }
)
HOMES = pl.DataFrame(
    {
        "home": [1, 1, 2, 2, 3, 3, 4, 5],
        "sex": ["f", "m", "m", "f", "f", "f", "m", "m"],
        "age": [30.0, 31.0, 60.0, 61.0, 30.0, 61.0, 45.0, 45.0],
    }
)
