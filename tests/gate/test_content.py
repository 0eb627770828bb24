"""What a release holds, against polars' own grouping."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from sfumato.errors import DataError
from sfumato.gate.content import checked_where, content, refuse_unknown, rounded, sentence, whole
from sfumato.gate.margin import Margin, Node
from sfumato.gate.policy import Policy
from sfumato.gate.reading import records_of
from tests.gate.conftest import table

POLICY = Policy(preset="research")
LEVELS = {"c": {"half": {str(i): "low" if i < 3 else "high" for i in range(6)}}}


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(3)
    sizes = {"a": 2, "b": 3, "c": 6}
    columns = {name: rng.integers(0, size, 500) for name, size in sizes.items()}
    return pl.DataFrame({**columns, "cost": rng.gamma(2, 1000, 500), "w": rng.uniform(0.5, 3, 500)})


@pytest.fixture(scope="module")
def records(frame):
    return records_of(frame, levels=LEVELS)


def rows(records, request, where=None):
    return content("ward", records, request, where or {}, POLICY)["rows"]


def grouped(frame, names, *more):
    lines = frame.group_by(names).agg(pl.len(), *more).sort(names).rows()
    return [[*map(str, line[: len(names)]), *line[len(names) :]] for line in lines]


def test_counts(frame, records):
    assert rows(records, table("a", "b")) == grouped(frame, ["a", "b"])
    assert rows(records, table("a", "b", "c")) == grouped(frame, ["a", "b", "c"])
    assert rows(records, Margin()) == [[500]]


def test_a_level(frame, records):
    half = frame.with_columns(half=pl.when(pl.col("c") < 3).then(pl.lit("low")).otherwise(pl.lit("high")))
    assert rows(records, table("a", "c@half")) == grouped(half, ["a", "half"])


def test_where_is_or_within_a_variable_and_and_between(frame, records):
    where = {Node("b"): ("0", "2"), Node("c", "half"): ("low",)}
    chosen = frame.filter(pl.col("b").is_in([0, 2]), pl.col("c") < 3)
    assert rows(records, table("a"), where) == grouped(chosen, ["a"])
    assert rows(records, table("b"), where) == grouped(chosen, ["b"])
    assert rows(records, Margin(), where) == [[chosen.height]]


def test_cells_of_nobody_are_listed():
    sparse = records_of(pl.DataFrame({"a": [0, 1], "b": [0, 1]}))
    assert rows(sparse, table("a", "b")) == [["0", "0", 1], ["0", "1", 0], ["1", "0", 0], ["1", "1", 1]]


def test_sums_and_weights(frame, records):
    told = rows(records, table("a", value="cost", weight="w"))
    n = pl.col("cost").count().alias("n")
    own = grouped(frame, ["a"], pl.col("w").sum(), n, (pl.col("cost") * pl.col("w")).sum())
    assert [line[:2] for line in told] == [line[:2] for line in own]
    for line, other in zip(told, own, strict=True):
        for one, true in zip(line[2:], other[2:], strict=True):
            assert float(one) == float(f"{true:.3g}")


def test_means_are_of_those_who_have_a_value_and_of_sums_before_they_are_rounded():
    cost = [*[1000.0] * 6, None, *[1001.0, 1004.0], None]
    gaps = records_of(pl.DataFrame({"a": [*["x"] * 7, *["y"] * 2, "z"], "cost": cost}))
    told = content("ward", gaps, table("a", value="cost"), {}, POLICY, mean=True)
    assert told["columns"] == ["a", "count", "n", "sum", "mean"]
    assert told["rows"] == [["x", 7, 6, "6000", "1000"], ["y", 2, 2, "2000", "1000"], ["z", 1, 0, None, None]]


def test_rows_of_counts_stand_for_many():
    counts = records_of(pl.DataFrame({"a": ["x", "x", "y"], "b": [1, 2, 1], "n": [4, 6, 5]}), count="n")
    assert rows(counts, table("a")) == [["x", 10], ["y", 5]]


@pytest.mark.parametrize("value", [1e-9, 0.00123456, 0.999999, 99.95, 1234.5, 8.765e12, -45678.9])
def test_three_digits(value):
    assert float(rounded(value)) == float(f"{value:.3g}")
    assert "e" not in rounded(value)


def test_the_whole_is_what_is_decided():
    assert whole(table("a"), {Node("b"): ("0",), Node("a"): ("1",)}) == table("a", "b")


@pytest.mark.parametrize(
    ("request_", "where"),
    [
        (table("x"), {}),
        (table("c@none"), {}),
        (table("a", version="v9"), {}),
        (table("a", value="none"), {}),
        (table("a"), {Node("none"): ("0",)}),
    ],
)
def test_unknown_names_are_refused(records, request_, where):
    with pytest.raises(DataError):
        refuse_unknown(request_, where, records)


def test_weights_are_above_zero(frame):
    records = records_of(frame.with_columns(w=pl.col("w") - 1))
    with pytest.raises(DataError, match="weight"):
        refuse_unknown(table("a", weight="w"), {}, records)


def test_groups_that_are_not_there_are_refused_and_not_quoted(records):
    for groups in (["planted"], []):
        with pytest.raises(DataError) as told:
            checked_where({Node("b"): groups}, records)
        assert "planted" not in str(told.value)


def noisy_content(records, request, where=None):
    return content("ward", records, request, where or {}, Policy(interval={"count": 2, "width": 4}))


def test_true_tables_speak_of_true_answers_alone(records):
    said = noisy_content(records, table("a"))["disclosure"]
    assert "a group of 1 to 2 people closer than 4, from this and all other true answers" in said
    assert "Perturbed tables beside it can tell more." in said


@pytest.mark.parametrize(("variance", "bound"), [("9", 12), ("25/4", 10), ("25", 25), ("9/16", 3)])
def test_perturbed_tables_state_their_bound(variance, bound):
    """The larger of V and 4 √V, which is D of the notes."""
    said = sentence(table("a", noise=variance), POLICY)
    assert f"No cell changes by more than {bound}." in said
    assert "A cell of nobody stays 0" in said
    assert "Beside true tables, small cells can be told more closely" in said
    assert "sum of" not in said


def test_a_perturbed_count_of_several_cells_says_so():
    request = table("a", noise="9")
    assert "the sum of 2 such cells" in sentence(request, POLICY, {Node("b"): ("0", "2")})
    assert "sum of" not in sentence(request, POLICY, {Node("a"): ("0", "1")})  # by what is shown anyway
    assert "sum of" not in sentence(request, POLICY, {Node("b"): ("0",)})


def test_a_large_perturbed_table_lists_no_zero_of_somebody(monkeypatch):
    """Where cells of nobody are left out, one of somebody that became 0 would stand out."""
    monkeypatch.setattr("sfumato.kernels.tabular.tally._DENSE", 4)
    rows = pl.DataFrame({"id": range(60), "a": [i % 60 for i in range(60)], "b": [i % 60 for i in range(60)]})
    sparse = replace(records_of(rows, record="id"), words=np.arange(60, dtype=np.uint64) * np.uint64(2**53 // 61))
    shown = [line[-1] for line in noisy_content(sparse, table("a", "b", noise="4"))["rows"]]
    assert 0 < len(shown) < 60
    assert 0 not in shown
