import itertools
from collections import Counter
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.data.codebook import Codebook, Variable
from sfumato.data.pair import Pair
from sfumato.measures.copies import Copies
from sfumato.measures.utility import table_ratio
from sfumato.measures.utility.propensity import propensity
from sfumato.measures.utility.table_ratio import ONE_WAY, TWO_WAY, findings, table_ratios, tables


def mixed(n, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n)
    return pl.DataFrame(
        {
            "x": np.where(rng.random(n) < 0.1, np.nan, x),
            "g": rng.choice(["a", "b", "c", None], n).tolist(),
            "k": rng.integers(1, 4, n),
        }
    )


BOOK = Codebook({"k": Variable(kind="categorical", missing=[3]), "id": Variable(role="record")})


def by_hand(one, two):
    """U of the saturated model over its expectation, from the cells of two lists; None is a cell of its own."""
    a, b = Counter(one), Counter(two)
    n, m = len(one), len(two)
    share = m / (n + m)
    u = sum(w * (b[cell] / w - share) ** 2 for cell, w in (a + b).items()) / (n + m)
    return u / ((len(a + b) - 1) * (1 - share) ** 2 * share / (n + m))


def cells_of(frame, cuts):
    """The table in words: fifths of x, and a word for what is missing."""
    fifth = [None if v is None or v != v else sum(v > c for c in cuts) for v in frame["x"]]
    return {"x": fifth, "g": frame["g"].to_list(), "k": [None if v == 3 else v for v in frame["k"]]}


@pytest.mark.parametrize(("n", "m"), [(200, 200), (150, 400)])
def test_it_is_what_cells_counted_one_by_one_give(n, m):
    before, after = mixed(n), mixed(m, 1)
    cuts = np.quantile([v for v in before["x"] if v == v], [0.2, 0.4, 0.6, 0.8])
    one, two = cells_of(before, cuts), cells_of(after, cuts)
    found = findings(Pair(before, after, BOOK))
    for name in one:
        assert found.of("table_ratio", variable=name).value == pytest.approx(by_hand(one[name], two[name]))
    pairs = {}
    for a, b in itertools.combinations(one, 2):
        pairs[f"{a} × {b}"] = by_hand(list(zip(one[a], one[b], strict=True)), list(zip(two[a], two[b], strict=True)))
    for name, ratio in pairs.items():
        assert found.of("table_ratio", variable=name, group=TWO_WAY).value == pytest.approx(ratio)
    assert found.of("table_ratio", variable=None, group=TWO_WAY).value == pytest.approx(np.mean(list(pairs.values())))


def test_a_table_of_one_column_is_the_saturated_regression():
    """U of cell counts is what a logistic regression on the indicators gives; p − 1 of its p coefficients are free."""
    before, after = mixed(300).select("g"), mixed(240, 1).select("g")
    c = 240 / 540
    u = propensity(before, after, Codebook()).u
    ratio = findings(Pair(before, after, Codebook())).of("table_ratio", variable="g").value
    assert ratio == pytest.approx(u / (3 * (1 - c) ** 2 * c / 540), rel=1e-6)


@pytest.mark.parametrize("m", [400, 1600])
def test_draws_from_the_original_s_shares_have_one_on_average(m):
    """A ratio is nearly chi-squared of 3 over 3, so that the mean of 100 has an error of 0.08; four of these."""
    rng = np.random.default_rng(7)
    shares = [0.4, 0.3, 0.2, 0.1]
    original = np.repeat(list("abcd"), [160, 120, 80, 40])
    before = pl.DataFrame({"g": original})
    ratios = [
        findings(Pair(before, pl.DataFrame({"g": rng.choice(list("abcd"), m, p=shares)}), Codebook()))
        .of("table_ratio", variable="g")
        .value
        for _ in range(100)
    ]
    assert np.mean(ratios) == pytest.approx(1.0, abs=0.33)


def test_another_sample_of_as_many_people_has_two():
    """Twice a chi-squared of 3 over 3: the mean of 150 has a standard error of 0.13; four of these."""
    rng = np.random.default_rng(8)
    ratios = []
    for _ in range(150):
        before, after = (pl.DataFrame({"g": rng.choice(list("abcd"), 400)}) for _ in range(2))
        ratios.append(findings(Pair(before, after, Codebook())).of("table_ratio", variable="g").value)
    assert np.mean(ratios) == pytest.approx(2.0, abs=0.53)


def partial(seed, m, rows=400):
    """g and h are true; y is drawn within each g from the original's shares there."""
    rng = np.random.default_rng(seed)
    g, h = rng.choice(list("abc"), rows), rng.choice(list("xy"), rows)
    y = np.where(rng.random(rows) < 0.5, g, rng.choice(list("abc"), rows))
    frame = pl.DataFrame({"g": g, "h": h, "y": y})
    pairs = []
    for _ in range(m):
        new = y.copy()
        for level in "abc":
            new[g == level] = rng.choice(y[g == level], (g == level).sum())
        pairs.append(Pair(frame, frame.with_columns(y=pl.Series(new)), Codebook(), aligned=True))
    return Copies(tuple(pairs), True)


@pytest.mark.slow
def test_some_values_of_true_people_are_beside_what_copies_differ_by():
    """g × y has six free cells of which copies have all: F(6, 24), with mean 24/22 and sd 0.7, of 20 tables."""
    all_found = [findings(c.pairs[0], c) for c in (partial(s, 5) for s in range(20))]
    ratios = [found.of("table_ratio", variable="g × y").value for found in all_found]
    assert np.mean(ratios) == pytest.approx(24 / 22, abs=0.5)
    one = all_found[0]
    assert {f.variable for f in one if f.value == 0} == {"g", "h", "g × h"}  # which stay true
    assert one.of("table_ratio", variable=None, group=TWO_WAY).value > 0.2


def test_it_is_half_of_the_mean_of_copies_against_one_another():
    copies = partial(3, 3)
    frames = [pair.after for pair in copies.pairs]
    cells = [Counter(zip(frame["g"], frame["y"], strict=True)) for frame in (copies.pairs[0].before, *frames)]

    def apart(a, b):
        return sum((b[cell] - (a + b)[cell] / 2) ** 2 / (a + b)[cell] for cell in a + b)

    among = np.mean([apart(cells[i], cells[j]) for i, j in ((1, 2), (2, 3), (3, 1))])
    found = findings(copies.pairs[0], copies).of("table_ratio", variable="g × y").value
    assert found == pytest.approx(apart(cells[0], cells[1]) / (among / 2))


def test_a_column_that_only_copies_have_is_no_part_of_what_they_differ_by():
    """As one that was coarsened after values were drawn: it is compared with no original."""
    plain = partial(3, 3)
    known = [replace(p, after=p.after.select(pl.lit("z").alias("late"), pl.all())) for p in plain.pairs]
    wider = Copies(tuple(known), True)
    assert findings(wider.pairs[0], wider) == findings(plain.pairs[0], plain)


def test_one_copy_of_true_people_has_no_figure():
    copies = partial(1, 1)
    found = findings(copies.pairs[0], copies)
    assert {f.value for f in found} == {None}
    assert any("Make more copies" in note for note in found.notes)


def test_equal_tables_have_nothing():
    for after in (mixed(50), mixed(50).reverse()):
        found = findings(Pair(mixed(50).with_columns(one=1), after.with_columns(one=1), BOOK))
        assert found.of("table_ratio", variable="one").value is None
        assert {f.value for f in found if f.variable != "one"} == {0.0}


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_order_of_rows_changes_nothing(seed):
    before, after = mixed(60), mixed(50, 1)
    shuffled = (t.sample(fraction=1, shuffle=True, seed=seed) for t in (before, after))
    plain, other = findings(Pair(before, after, BOOK)), findings(Pair(*shuffled, BOOK))
    assert [f.value for f in plain] == pytest.approx([f.value for f in other], rel=1e-9)


def test_a_value_on_a_cut_belongs_below_it():
    """numpy's fifths of 0 … 5 are 1, 2, 3, 4."""
    one = pl.DataFrame({"x": [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]})
    assert tables(one, one.clear(), Codebook()).codes.tolist() == [[0, 0, 1, 2, 3, 4]]


def test_very_many_categories_are_coded_as_few_are(monkeypatch):
    before, after = mixed(60), mixed(50, 1)
    few = tables(before, after, BOOK)
    monkeypatch.setattr(table_ratio, "_MANY", 0)
    assert (tables(before, after, BOOK).codes == few.codes).all()


def test_columns_that_do_not_vary_have_no_figure_of_their_own_and_are_named():
    before = pl.DataFrame({"one": ["a"] * 6, "g": list("xxyyzz")})
    found = findings(Pair(before, before.with_columns(g=pl.Series(list("xyzxyz"))), Codebook()))
    assert found.of("table_ratio", variable="one").value is None
    assert found.of("table_ratio", variable="one × g").value == found.of("table_ratio", variable="g").value
    assert len(found.notes) == 1
    assert "one" in found.notes[0]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (pl.DataFrame({"x": [1.0]}), pl.DataFrame({"x": []}, schema={"x": pl.Float64})),
        (pl.DataFrame({"x": [1.0]}), pl.DataFrame({"y": [1.0]})),
        (pl.DataFrame({"x": [1.0]}), pl.DataFrame({"x": [1.0]})),
    ],
)
def test_where_nothing_can_be_compared_it_says_why(one, other):
    found = findings(Pair(one, other, Codebook()))
    assert {f.value for f in found} == {None}
    assert {f.group for f in found if f.variable is None} == {ONE_WAY, TWO_WAY}
    assert len(found.notes) == 1


def test_pairs_for_which_there_is_no_time_are_left_out_and_said(monkeypatch):
    monkeypatch.setattr(table_ratio, "_MOST_WORK", 3 * 100)
    rng = np.random.default_rng(1)
    before, after = (pl.DataFrame({f"c{j}": rng.integers(0, 2, 50).astype(str) for j in range(6)}) for _ in range(2))
    found = findings(Pair(before, after, Codebook()))
    assert len([f for f in found if f.group == ONE_WAY and f.variable]) == 6
    assert [f.variable for f in found if f.group == TWO_WAY and f.variable] == ["c0 × c1", "c0 × c2", "c1 × c2"]
    assert "first 3 columns" in found.notes[0]


def test_no_table_has_no_ratio():
    assert table_ratios(tables(mixed(5), mixed(5), BOOK), []) == []
