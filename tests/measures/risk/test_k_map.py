import polars as pl
import pytest

import sfumato as sf
from sfumato.data.codebook import Codebook, Variable
from sfumato.measures.risk.k_map import MEASURE, k_map
from sfumato.measures.subject import Classes, Subject

BOOK = Codebook({"w": Variable(role="weight", kind="continuous", missing=[-9])})
FRAME = pl.DataFrame({"a": ["x", "x", "y", "y", None], "w": [2.5, 4.0, 0.5, -9.0, 30.0]})


def test_the_smallest_sum_of_weights_but_no_fewer_than_are_in_the_file():
    data = sf.read(FRAME, codebook=BOOK)
    assert k_map(data, ["a"]) == 2  # weights of y sum to 0.5, and two records stand there
    assert k_map(sf.read(FRAME.filter(pl.col("a") != "y"), codebook=BOOK), ["a"]) == 6.5
    assert k_map(sf.read(FRAME), ["a"]) is None
    assert k_map(data, []) is None


def test_gaps_that_match_anything():
    frame = FRAME.filter(pl.col("a").is_null() | (pl.col("a") == "x")).with_columns(b=pl.lit("u"))
    data = sf.read(frame, codebook=BOOK)
    assert k_map(data, ["a", "b"], missing="wildcard") == pytest.approx(36.5)
    assert k_map(data, ["a", "b"]) == pytest.approx(6.5)


def test_there_is_no_line_without_weights():
    classes = (Classes("keys", ("a",)),)
    assert not len(MEASURE.compute(Subject(sf.read(FRAME), classes=classes)))
    (line,) = MEASURE.compute(Subject(sf.read(FRAME, codebook=BOOK), classes=classes))
    assert (line.measure, line.group, line.value) == ("k_map", "keys", 2)
