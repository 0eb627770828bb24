from itertools import combinations
from math import factorial

import polars as pl
import pytest
from hypothesis import given, settings

import sfumato as sf
from sfumato.data.codebook import Codebook
from sfumato.engines.polars import PolarsDataset
from sfumato.errors import DataError
from sfumato.measures.measuring import Measuring, Searching
from sfumato.measures.risk import special_uniques as module
from sfumato.measures.risk.special_uniques import MEASURE, special, special_records
from sfumato.measures.subject import Classes, Subject
from tests.measures.tables import BY, records, table

FRAME = pl.DataFrame({"sex": ["f", "f", "m", "m", "m"], "age": [16, 20, 20, 20, 30], "id": ["a", "b", "c", "d", "e"]})
KEYS = ("sex", "age")


def measured(frame=FRAME, keys=KEYS, given=None, **how):
    classes = (Classes("keys", tuple(keys)),)
    was = None if given is None else sf.read(given)
    return MEASURE.compute(Subject(PolarsDataset(frame, Codebook()), given=was, classes=classes, how=Measuring(**how)))


@pytest.mark.slow
@settings(deadline=None)
@given(records)
def test_scores_as_found_set_by_set(rows):
    keys = [row[:-1] for row in rows]
    score = 0
    for i, own in enumerate(keys):
        found = []
        for size in range(1, len(own) + 1):
            for s in combinations(range(len(own)), size):
                part = [tuple(k[j] for j in s) for k in keys]
                known = all(own[j] is not None for j in s)
                if known and part.count(part[i]) == 1 and not any(set(m) <= set(s) for m in found):
                    found.append(s)
        score += sum(factorial(len(own) - len(s)) for s in found)
    assert special(table(rows), BY).found.score.sum() == score


def test_lines_and_baselines():
    """After one of the two ages that stand alone is gone, one record less does."""
    found = measured(FRAME.with_columns(age=pl.col("age").replace(16, 20)), given=FRAME, special=Searching())
    line = found.of("special_uniques")
    assert (line.value, line.baseline, line.group) == (1, 3, "keys")
    assert [(f.at, f.value, f.baseline) for f in found.select("msu")] == [(1, 1, 2), (2, 0, 1)]
    assert [(f.variable, f.value, f.baseline) for f in found.select("suda_contribution")] == [
        ("sex", 0, pytest.approx(1 / 3)),
        ("age", 1, 1),
    ]


def test_a_fraction_brings_scaled_scores():
    assert not measured(special=Searching()).select("dis_suda")
    assert module.NO_FRACTION in measured(special=Searching()).notes
    found = measured(fraction=0.1, special=Searching())
    assert found.of("dis_suda", group="highest").value == pytest.approx(1 / (1 + 2 * 9 / 3))
    assert found.of("dis_suda", group="sum").value == pytest.approx(3 / (1 + 2 * 9 / 3))


def test_without_pairs_there_is_no_scaled_score():
    found = measured(FRAME[[0, 1, 2, 4]], fraction=0.1, special=Searching())
    assert [f.value for f in found.select("dis_suda")] == [None, None]
    assert module.NO_PAIRS in found.notes
    assert found.of("special_uniques").value == 4


def test_with_very_many_keys_there_is_no_scaled_score():
    keys = [f"k{i}" for i in range(28)]
    frame = pl.DataFrame({key: [0, 0, 1] for key in keys})
    found = measured(frame, keys, fraction=0.1, special=Searching(max_size=1))
    assert {f.value for f in found.select("dis_suda")} == {None}
    assert module.TOO_MANY in found.notes
    assert found.of("suda_score").value > 0


def test_nobody_stands_out():
    found = measured(pl.concat([FRAME, FRAME]), special=Searching())
    assert found.of("special_uniques").value == found.of("suda_score").value == 0
    assert {f.value for f in found.select("suda_contribution")} == {None}
    assert module.NO_SCORE in found.notes


def test_no_records():
    found = measured(FRAME[:0], special=Searching(), fraction=0.1)
    assert {f.value for f in found} == {None}


def test_what_a_size_leaves_out_is_said():
    found = measured(special=Searching(max_size=1))
    assert found.of("special_uniques").value == 2
    assert any("more than 1 of the 2 keys" in note for note in found.notes)
    assert not any("not searched" in note for note in measured(special=Searching()).notes)


def test_many_keys():
    """Who asks for them must name a size; for a limit one is chosen, and said."""
    keys = [f"k{i}" for i in range(13)]
    frame = pl.DataFrame({key: [0, 0, i % 2] for i, key in enumerate(keys)})
    with pytest.raises(DataError, match="max_size"):
        measured(frame, keys, special=Searching())
    found = measured(frame, keys)
    assert found.of("special_uniques").value == 1
    assert any("more than 4 of the 13 keys" in note for note in found.notes)
    many = [f"k{i}" for i in range(64)]
    left = measured(pl.DataFrame({key: [0, 1] for key in many}), many)
    assert left.of("special_uniques").value is None
    assert any("63" in note for note in left.notes)


def test_a_missing_key_makes_nobody_stand_out():
    frame = pl.DataFrame({"sex": ["f", "m", "m", "m"], "age": [None, 20.0, 20.0, float("nan")]})
    assert special_records(sf.read(frame), frame, KEYS)["keys"].to_list() == ["sex"]


def test_the_records():
    frame = FRAME.with_columns(age=pl.col("age").cast(pl.Float64))
    listed = special_records(sf.read(frame), frame, KEYS, "id", fraction=0.1)
    assert listed.columns == ["record", "score", "dis", "keys"]
    assert listed.select("record", "score", "keys").rows() == [("a", 1, "age"), ("b", 1, "sex + age"), ("e", 1, "age")]
    assert listed["dis"].to_list() == pytest.approx([1 / 7] * 3)
    by_row = special_records(sf.read(frame), frame, KEYS)
    assert by_row["record"].to_list() == [1, 2, 5]
    assert by_row["dis"].null_count() == 3


def test_every_smallest_set_is_listed():
    frame = pl.DataFrame({"a": [1, 2, 2, 2], "b": [3, 1, 2, 2], "c": [1, 2, 1, 1]})
    listed = special_records(sf.read(frame), frame, list("abc"))
    assert dict(listed.select("record", "keys").rows()) == {1: "a; b", 2: "b; c"}


def test_records_of_nothing():
    assert special_records(PolarsDataset(FRAME[:0], Codebook()), FRAME[:0], KEYS).height == 0
    whole = pl.concat([FRAME, FRAME])
    assert special_records(sf.read(whole), whole, KEYS).height == 0


def test_shares_do_not_count_sets_of_all_keys():
    listed = special_records(sf.read(FRAME), FRAME, KEYS, "id", score="shares")
    assert listed["record"].to_list() == ["a", "e"]
    assert measured(special=Searching(score="shares")).of("special_uniques").value == 2


def test_unknown_keys_are_refused():
    with pytest.raises(DataError, match="no column"):
        special(sf.read(FRAME), ["nix"])
    with pytest.raises(DataError, match="score"):
        Searching(score="most")
    with pytest.raises(DataError, match="max_size"):
        Searching(max_size=0)
