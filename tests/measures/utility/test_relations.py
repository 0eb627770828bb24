import datetime
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import sfumato as sf
from sfumato.data.codebook import Codebook, Variable
from sfumato.data.finding import Finding, Findings
from sfumato.engines.polars import PolarsDataset
from sfumato.measures.subject import Subject
from sfumato.measures.utility import relations
from sfumato.measures.utility.relations import MEASURE, MOST_COLUMNS
from sfumato.report.external import external
from tests.measures.utility.lost import lost, lost_in_batches, with_ids
from tests.release.scattered import Scattered
from tests.render import reports


def shift(before, after, book=None, engine=PolarsDataset):
    book = book or Codebook()
    subject = Subject(engine(after, book.only(after.columns)), entering=engine(before, book.only(before.columns)))
    return MEASURE.compute(subject)


def value(*tables, **how):
    return shift(*tables, **how).of("relations_shift").value


def corr(x, y):
    return float(np.corrcoef(x, y)[0, 1])


ENGINES = pytest.mark.parametrize("engine", [PolarsDataset, lambda f, b: Scattered(PolarsDataset(f, b))])


@ENGINES
def test_numbers_categories_and_dates_by_hand(engine):
    """Categories are the places of their sorted values, those of both tables together; dates are days."""
    day = datetime.date(2020, 1, 1)
    x, days, y = [1.0, 2.0, 3.0, 5.0], [0, 1, 5, 2], [1.0, 3.0, 2.0, 5.0]
    dates = [day + datetime.timedelta(days=d) for d in days]
    before = pl.DataFrame({"x": x, "town": ["a", "c", "c", "d"], "day": dates})
    after = pl.DataFrame({"x": y, "town": ["b", "c", "c", "d"], "day": dates})
    old, new = [0, 2, 2, 3], [1, 2, 2, 3]  # a, b, c, d
    moves = [
        corr(x, old) - corr(y, new),
        corr(x, days) - corr(y, days),
        corr(old, days) - corr(new, days),
    ]
    assert value(before, after, engine=engine) == pytest.approx(np.mean(np.abs(moves)))


@ENGINES
def test_each_pair_has_the_records_with_both_values(engine):
    """A code for missing is none; r of a and b is that of rows 0 to 2 before and of all after."""
    book = Codebook({"a": Variable(missing=[-9], kind="integer"), "b": Variable(kind="integer")})
    before = pl.DataFrame({"a": [1, 2, 3, -9], "b": [3, 1, 2, 9]})
    after = pl.DataFrame({"a": [1, 2, 3, 4], "b": [3, 1, 2, 9]})
    expected = abs(corr([1, 2, 3], [3, 1, 2]) - corr([1, 2, 3, 4], [3, 1, 2, 9]))
    assert value(before, after, book=book, engine=engine) == pytest.approx(expected)


def test_codes_of_categories_are_no_amounts():
    """1, 2, 9 are places 0, 1, 2, whatever they are."""
    book = Codebook({"code": Variable(kind="categorical"), "x": Variable(kind="continuous")})
    before = pl.DataFrame({"code": [1, 2, 9, 1], "x": [1.0, 5.0, 2.0, 4.0]})
    after = before.with_columns(code=pl.Series([1, 2, 9, 9]))
    x = before["x"].to_numpy()
    expected = abs(corr([0, 1, 2, 0], x) - corr([0, 1, 2, 2], x))
    assert value(before, after, book=book) == pytest.approx(expected)


def test_bands_stand_in_the_order_of_their_numbers():
    """Ages against bands: 5-9 is below 10-14, though not as a text."""
    before = pl.DataFrame({"age": [6, 11, 21, 7], "x": [1.0, 2.0, 3.0, 5.0]})
    after = before.with_columns(age=pl.Series(["5-9", "10-14", "20-24", "5-9"]))
    x = before["x"].to_numpy()
    assert value(before, after) == pytest.approx(abs(corr([6, 11, 21, 7], x) - corr([0, 1, 2, 0], x)))


def test_ids_and_texts_are_no_part_nor_is_what_is_gone():
    book = {"name": {"role": "identifier"}, "note": {"role": "other", "kind": "text"}, "x": {"kind": "continuous"}}
    book["y"] = {"kind": "continuous"}
    frame = with_ids(
        name=["p", "q", "r", "s"], note=["k", "l", "m", "n"], x=[1.0, 2, 4, 3], y=[2.0, 1, 3, 4], z=[1, 2, 3, 4]
    )
    steps = [{"do": "drop", "columns": ["name", "z"]}]
    assert lost(steps, frame, **book).of("relations_shift").value == 0.0
    assert lost_in_batches(steps, frame, ["relations"], **book).of("relations_shift").value == 0.0


def test_equal_tables_do_not_move_and_one_column_has_no_relations():
    frame = pl.DataFrame({"x": [1.0, 2, 4], "y": [2.0, 1, 3]})
    assert value(frame, frame) == 0.0
    found = shift(frame, frame.select("x"))
    assert found.of("relations_shift").value is None
    assert found.notes == (relations.NONE,)
    assert value(frame, frame.with_columns(y=1.0)) is None


def test_of_many_columns_the_first_are_looked_at():
    rng = np.random.default_rng(5)
    before = pl.DataFrame({f"c{i}": rng.normal(size=30) for i in range(MOST_COLUMNS + 5)})
    after = before.with_columns(c64=pl.col("c64").reverse())
    found = shift(before, after)
    assert found.of("relations_shift").value == 0.0
    assert found.notes == (relations.MANY.format(most=MOST_COLUMNS),)


def test_a_column_of_very_many_categories_is_left_out(monkeypatch):
    monkeypatch.setattr("sfumato.measures.folds.coded.MOST_VALUES", 3)
    monkeypatch.setattr(relations, "MOST_VALUES", 3)
    before = pl.DataFrame({"c": ["a", "b", "c", "d"], "x": [1.0, 2, 4, 3], "y": [2.0, 1, 3, 4]})
    found = shift(before, before.with_columns(c=pl.Series(["d", "a", "c", "b"])))
    assert found.of("relations_shift").value == 0.0
    assert found.notes == (relations.TOO_MANY.format(columns="c", most=3),)


def test_of_two_tables():
    """Joined or not: whole tables are compared."""
    before = pl.DataFrame({"x": [1.0, 2, 4, 3], "y": [2.0, 1, 3, 4]})
    after = before.with_columns(y=pl.col("y").reverse())
    expected = abs(corr([1, 2, 4, 3], [2, 1, 3, 4]) - corr([1, 2, 4, 3], [4, 3, 1, 2]))
    assert sf.compare(before, after).of("relations_shift").value == pytest.approx(expected)


def test_what_is_published_has_two_decimals():
    """Of two columns a finer figure would tell the original's correlation to whoever computes the release's."""
    report = replace(reports.report(), findings=Findings((Finding("relations_shift", value=0.0371),)))
    assert external(report).findings.of("relations_shift").value == 0.04


def say(*lines):
    return MEASURE.say(Findings(lines), 1.0)


def test_words():
    moved = Finding("coefficients_moved", at=5.0, value=0.4)
    assert say() is None
    assert say(Finding("relations_shift", value=0.001)) == "Correlations move by less than .01 on average."
    assert say(Finding("relations_shift", value=0.123), moved) == (
        "Correlations move by .12 on average; 2 of 5 coefficients by over 1 SE."
    )
    assert say(moved) == "2 of 5 coefficients move by over 1 SE."
