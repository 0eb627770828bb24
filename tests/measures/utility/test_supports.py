"""Grades of tables and terms: thresholds, overlaps by hand, and what few records hold."""

import numpy as np
import polars as pl
import pytest

from sfumato.data.codebook import Codebook
from sfumato.data.formula import parse_formula
from sfumato.data.pair import Pair
from sfumato.measures.copies import Copies
from sfumato.measures.utility.model import fit_model
from sfumato.measures.utility.supports import (
    MOST_PAIRS,
    Fitted,
    grade_of_overlap,
    grade_of_ratio,
    overlap,
    supports_of_tables,
    supports_of_terms,
)
from sfumato.measures.utility.table_ratio import table_ratios, tables

BOOK = Codebook()


def pairs_of(before, *copies):
    return tuple(Pair(before, copy, BOOK) for copy in copies)


def graded(before, *copies, partial=False):
    found, notes = supports_of_tables(Copies(pairs_of(before, *copies), partial))
    return {one.columns: one.grade for one in found}, notes


def survey(n=500, seed=1):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n)
    sex = rng.choice(["f", "m"], n)
    return pl.DataFrame({"sex": sex, "x": x, "y": 1 + x + (sex == "m") + rng.normal(size=n)})


@pytest.mark.parametrize(
    ("ratio", "grade"), [(0.0, "supported"), (1.5, "supported"), (1.51, "rough"), (3.0, "rough"), (3.01, "lost")]
)
def test_a_ratio_is_graded_as_the_promise_says(ratio, grade):
    assert grade_of_ratio(ratio) == grade


@pytest.mark.parametrize(
    ("share", "same", "grade"),
    [
        (0.7, True, "supported"),
        (0.7, False, "rough"),
        (0.69, True, "rough"),
        (0.4, False, "rough"),
        (0.39, True, "lost"),
    ],
)
def test_an_overlap_is_graded_with_its_sign(share, same, grade):
    assert grade_of_overlap(share, same_sign=same) == grade


@pytest.mark.parametrize(
    ("one", "other", "share"),
    [
        ((0, 2), (0, 2), 1.0),
        ((0, 4), (1, 2), (1 / 4 + 1) / 2),
        ((0, 2), (1, 5), (1 / 2 + 1 / 4) / 2),
        ((0, 1), (1, 2), 0.0),
        ((0, 1), (5, 6), 0.0),
        ((1, 1), (1, 1), 1.0),
        ((1, 1), (2, 2), 0.0),
        ((1, 1), (0, 4), 0.5),
        ((5, 5), (0, 4), 0.0),
        ((1, 1 + 1e-12), (1 - 1e-12, 1), 1.0),
    ],
)
def test_overlaps_by_hand(one, other, share):
    assert overlap(one, other) == pytest.approx(share)
    assert overlap(other, one) == pytest.approx(share)


def test_grades_are_those_of_the_existing_measure_where_no_level_is_rare():
    before, after = survey(), survey(seed=2)
    found, notes = graded(before, after)
    both = tables(before, after, BOOK)
    of = [(0,), (1,), (2,), (0, 1), (0, 2), (1, 2)]
    wanted = {
        tuple(both.names[j] for j in own): grade_of_ratio(ratio)
        for own, ratio in zip(of, table_ratios(both, of), strict=True)
    }
    assert found == wanted
    assert not notes


def test_what_is_lost_is_seen():
    before = survey()
    flipped = before.with_columns(pl.lit("f").alias("sex"))
    found, _ = graded(before, flipped)
    assert found["sex",] == "lost"
    assert found["x",] == "supported"
    shuffled = before.with_columns(pl.col("y").shuffle(seed=3))
    found, _ = graded(before, shuffled)
    assert found["y",] == "supported"
    assert found["x", "y"] == "lost"


@pytest.mark.parametrize("rare", [1, 9])
def test_no_grade_hangs_on_a_level_that_fewer_than_ten_hold(rare):
    """Whatever the copy does with the rare levels: it is one level, with the next rarest, that it is graded by."""
    n = 400
    town = ["A"] * 200 + ["B"] * (200 - rare) + ["odd"] * rare
    before = pl.DataFrame({"town": town})
    kept, gone = before, before.with_columns(pl.col("town").replace("odd", "B"))
    more = before.with_columns(pl.when(pl.int_range(n) >= 300).then(pl.lit("odd")).otherwise("town").alias("town"))
    assert {graded(before, copy)[0]["town",] for copy in (kept, gone, more)} == {"supported"}
    plain = table_ratios(tables(before, more, BOOK), [(0,)])[0]
    assert grade_of_ratio(plain) == "lost"  # which the plain measure sees


def test_ten_hold_a_level_of_their_own():
    before = pl.DataFrame({"town": ["A"] * 200 + ["B"] * 190 + ["odd"] * 10})
    after = before.with_columns(pl.when(pl.int_range(400) >= 300).then(pl.lit("odd")).otherwise("town").alias("town"))
    assert graded(before, after)[0]["town",] == "lost"


def test_what_nearly_nobody_has_otherwise_has_no_grade():
    before = pl.DataFrame({"ill": ["no"] * 395 + ["yes"] * 5, "gap": [None] * 3 + [1.5] * 397})
    assert graded(before, before)[0] == {}


def test_pairs_stop_at_five_hundred_those_of_the_first_columns():
    rng = np.random.default_rng(1)
    before = pl.DataFrame({f"c{i:02}": rng.choice(["a", "b"], 40) for i in range(34)})
    found, notes = supports_of_tables(Copies(pairs_of(before, before)))
    pairs = [one.columns for one in found if one.what == "pair"]
    assert len(pairs) == MOST_PAIRS
    assert pairs == sorted(pairs)
    assert ("c30", "c31") in pairs
    assert not any("c33" in own for own in pairs)
    assert len(notes) == 1
    assert sum(one.what == "variable" for one in found) == 34


def test_of_true_people_copies_are_held_against_each_other():
    """What stays true is supported; what is drawn far from it, alike in all copies, is lost; one copy has no grade."""
    rng = np.random.default_rng(4)
    before = survey(2000)
    drawn = [before.with_columns(sex=pl.Series(rng.choice(["f", "m"], 2000))) for _ in range(3)]
    found, _ = graded(before, *drawn, partial=True)
    assert found["x",] == "supported"
    assert found["sex", "y"] == "lost"
    same = before.with_columns(sex=pl.lit("m"))
    assert graded(before, same, same, partial=True)[0]["sex",] == "lost"
    found, notes = graded(before, same, partial=True)
    assert (found, len(notes)) == ({}, 1)


def terms(before, *copies, formula="y ~ x + sex", family="linear", fitted=None):
    first = fit_model(before, BOOK, formula, family)
    fitted = Fitted(first.estimate, first.low, first.high) if fitted is None else fitted(first)
    found, notes = supports_of_terms(pairs_of(before, *copies), parse_formula(formula), family, first, fitted)
    return {one.term: one for one in found}, notes


def test_terms_are_graded_by_overlap_and_sign():
    before = survey()

    def fitted(first):
        wide = first.high - first.low
        shift = np.array([0.0, 0.4, 0.9]) * wide
        return Fitted(first.estimate + shift, first.low + shift, first.high + shift)

    found, _ = terms(before, before, fitted=fitted)
    assert {name: one.grade for name, one in found.items()} == {
        "Intercept": "supported",
        "x": "rough",
        "sex[T.m]": "lost",
    }
    assert found["sex[T.m]"].columns == ("sex",)
    assert found["Intercept"].columns == ()


def test_what_only_the_copies_do_not_give_is_lost():
    before = survey()

    def fitted(first):
        gone = np.array([1.0, np.nan, 1.0])
        return Fitted(first.estimate * gone, first.low * gone, first.high * gone)

    assert terms(before, before, fitted=fitted)[0]["x"].grade == "lost"


@pytest.mark.parametrize(("many", "there"), [(9, False), (10, True)])
def test_terms_that_fewer_than_ten_hold_have_no_grade(many, there):
    before = survey().with_columns(town=pl.Series(["A"] * 300 + ["B"] * (200 - many) + ["odd"] * many))
    found, _ = terms(before, before, formula="y ~ x + C(town)")
    assert ("C(town)[T.odd]" in found) == there
    assert {"Intercept", "x", "C(town)[T.B]"} <= set(found)


def test_a_reference_that_few_hold_leaves_its_contrasts_and_the_intercept_without_grades():
    before = survey().with_columns(town=pl.Series(["A"] * 5 + ["B"] * 300 + ["C"] * 195))
    assert set(terms(before, before, formula="y ~ x + C(town)")[0]) == {"x"}


def test_interactions_hang_on_each_of_their_cells():
    rows = [("f", "A"), ("f", "B"), ("m", "A"), ("m", "B")]
    many = [150, 150, 195, 5]
    before = survey().with_columns(
        sex=pl.Series([sex for (sex, _), n in zip(rows, many, strict=True) for _ in range(n)]),
        town=pl.Series([town for (_, town), n in zip(rows, many, strict=True) for _ in range(n)]),
    )
    found, _ = terms(before, before, formula="y ~ sex * town")
    assert "sex[T.m]:town[T.B]" not in found
    assert {"sex[T.m]", "town[T.B]"} <= set(found)


def test_a_number_that_nearly_all_share_has_no_grade():
    before = survey().with_columns(rare=pl.Series([1.0, 2.0, 7.5] + [0.0] * 497))
    assert "rare" not in terms(before, before, formula="y ~ x + rare")[0]


def test_few_with_the_outcome_leave_all_terms_without_grades():
    before = survey().with_columns(ill=pl.Series(["yes"] * 9 + ["no"] * 491))
    found, notes = terms(before, before, formula="ill ~ x", family="logistic")
    assert (found, len(notes)) == ({}, 1)


def test_a_category_that_a_copy_lacks_is_not_named_outside():
    before = survey().with_columns(town=pl.Series(["A"] * 300 + ["B"] * 150 + ["C"] * 50))
    without = before.filter(pl.col("town") != "C")
    found, _ = terms(before, before, without, formula="y ~ x + C(town)")
    assert [name for name, one in found.items() if not one.named] == ["C(town)[T.C]"]
    no_reference = before.filter(pl.col("town") != "A")
    found, _ = terms(before, no_reference, formula="y ~ x + C(town)")
    assert {name for name, one in found.items() if one.grade == "lost"} == {
        "Intercept",
        "C(town)[T.B]",
        "C(town)[T.C]",
    }


def test_an_exact_relation_that_copies_keep_is_supported():
    """Both intervals are points but for rounding, so that they may lie beside each other."""
    rng = np.random.default_rng(5)

    def exact(seed):
        a, b = rng.normal(size=300), rng.normal(5, 3, size=300)
        return pl.DataFrame({"a": a, "b": b, "total": a + b})

    before, after = exact(1), exact(2)
    second = fit_model(after, BOOK, "total ~ a + b", "linear")
    found, _ = terms(
        before, after, formula="total ~ a + b", fitted=lambda _: Fitted(second.estimate, second.low, second.high)
    )
    assert {one.grade for one in found.values()} == {"supported"}
