import numpy as np
import polars as pl
import pytest
import statsmodels.formula.api as smf

from sfumato.data.codebook import Codebook, Variable
from sfumato.data.disclosure import Disclosure, Synthetic
from sfumato.data.pair import Pair
from sfumato.engines.polars import PolarsDataset
from sfumato.measures.copies import Copies
from sfumato.measures.subject import Subject
from sfumato.measures.utility import pmse_ratio
from sfumato.measures.utility.pmse_ratio import MEASURE, expected_of_trees, findings, ratio_of_trees
from sfumato.measures.utility.stacked import stack
from sfumato.measures.utility.trees import looked_at

BOOK = Codebook({"id": Variable(role="record")})
FILLED = Disclosure([Synthetic(columns=("x",), kind="missing", copies=1)])
SYNTHETIC = Disclosure([Synthetic(columns=("x", "g"), kind="full", copies=1)])


def people(n, seed=0):
    rng = np.random.default_rng(seed)
    g = rng.choice(["a", "b", "c"], n)
    return pl.DataFrame({"x": rng.normal(size=n) + (g == "a"), "g": g})


def drawn(original, seed, m=None):
    """A right synthesis: g from its shares, x from a normal distribution for each g, fitted to the original."""
    rng = np.random.default_rng(seed)
    m = m or original.height
    g = rng.choice(original["g"].to_numpy(), m)
    x = np.empty(m)
    for level in "abc":
        own = original.filter(pl.col("g") == level)["x"].to_numpy()
        x[g == level] = rng.normal(own.mean(), own.std(), (g == level).sum())
    return pl.DataFrame({"x": x, "g": g})


def values(found):
    return {f.group: f.value for f in found}


@pytest.mark.parametrize(("group", "formula", "p"), [("main", "t ~ x + g", 4), ("interactions", "t ~ x * g", 6)])
@pytest.mark.parametrize("m", [300, 200])
def test_regressions_agree_with_statsmodels(group, formula, p, m):
    before, after = people(300), people(m, 1)
    both = pl.concat([before.with_columns(t=0.0), after.with_columns(t=1.0)]).to_pandas()
    scores = np.asarray(smf.logit(formula, both).fit(disp=0, method="newton", tol=1e-10).predict())
    c, rows = m / (300 + m), 300 + m
    ratio = np.mean((scores - c) ** 2) / ((p - 1) * (1 - c) ** 2 * c / rows)
    assert values(findings(Pair(before, after, BOOK), trees=False))[group] == pytest.approx(ratio, rel=1e-6)


def test_columns_that_others_determine_are_no_coefficients():
    before, after = people(300), people(300, 1)
    wider = [t.with_columns(twice=2 * pl.col("x"), again=pl.col("g")) for t in (before, after)]
    plain, other = (values(findings(Pair(*tables, BOOK), trees=False)) for tables in ((before, after), wider))
    assert other["main"] == pytest.approx(plain["main"], rel=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("m", [300, 900])
def test_a_right_synthesis_has_one_on_average(m):
    """40 copies of one original; the model of main effects has 3 free coefficients, so a ratio is nearly chi-squared
    over 3, and the mean of 40 has a standard error of 0.13: four of these. With sizes exchanged it would be 3."""
    original = people(300)
    mains = [values(findings(Pair(original, drawn(original, s, m), BOOK), trees=False))["main"] for s in range(40)]
    assert np.mean(mains) == pytest.approx(1.0, abs=0.5)


@pytest.mark.slow
def test_trees_tell_a_right_synthesis_by_chance_alone_and_a_wrong_one_better():
    """Between a half (values are the original's own) and 1 (another sample); within a fifth, as chance has it."""
    original = people(600)
    right = [ratio_of_trees(Pair(original, drawn(original, s), BOOK))[0] for s in range(8)]
    assert 0.4 < np.mean(right) < 1.2
    apart = pl.DataFrame({"x": original["x"].sample(fraction=1, shuffle=True, seed=1), "g": original["g"]})
    assert ratio_of_trees(Pair(original, apart, BOOK))[0] > max(right)


@pytest.mark.slow
def test_a_part_in_turn_has_the_expectation_of_all():
    """Against permutations scored in all parts, drawn by numpy: 40 of each, to within four standard errors."""
    before, after = people(400), people(400, 1)
    looked = looked_at(Pair(before, after, BOOK), stack(before, after, BOOK), 400)
    rng = np.random.default_rng(2)
    whole = []
    for _ in range(40):
        scores = pmse_ratio.scores_of(looked, rng.permutation(looked.released))
        whole.append(np.mean((scores - 0.5) ** 2))
    assert expected_of_trees(looked, 40) == pytest.approx(np.mean(whole), rel=0.2)


def partial(seed, m, rows=300, *, right=True):
    """x and g are true; y is drawn from the regression on both that was fitted to the original, or by itself."""
    rng = np.random.default_rng(seed)
    frame = people(rows, seed).with_columns(y=pl.Series(rng.normal(size=rows)) + pl.col("x") * 0.7)
    X = np.column_stack([np.ones(rows), frame["x"], *(frame["g"].to_numpy() == level for level in "bc")])
    y = frame["y"].to_numpy()
    slopes, rest, *_ = np.linalg.lstsq(X, y)
    drawn_y = [
        X @ slopes + rng.normal(0, np.sqrt(rest[0] / (rows - 4)), rows) if right else rng.choice(y, rows)
        for _ in range(m)
    ]
    return Copies(tuple(Pair(frame, frame.with_columns(y=pl.Series(new)), BOOK, aligned=True) for new in drawn_y), True)


@pytest.mark.slow
def test_some_values_of_true_people_have_one_on_average_beside_copies_against_one_another():
    """Of 25 tables: the ratio of the one coefficient of y is nearly F(1, 4), with median 0.55 and mean 2; that of the
    model with interactions has four, of which one is not in the model drawn from, and varies by 0.6."""
    right = [values(findings(c.pairs[0], trees=False, copies=c)) for c in (partial(s, 5) for s in range(25))]
    assert np.mean([found["interactions"] for found in right]) == pytest.approx(1.1, abs=0.4)
    assert 0.3 < np.median([found["main"] for found in right]) < 1.1
    plain = np.mean([values(findings(partial(s, 1).pairs[0], trees=False))["interactions"] for s in range(25)])
    assert plain < 0.7  # the closed form counts what stays true as drawn
    wrong = partial(1, 5, right=False)
    assert values(findings(wrong.pairs[0], trees=False, copies=wrong))["interactions"] > 5


def test_trees_tell_copies_from_the_original_no_better_than_from_one_another():
    right, wrong = partial(1, 3, 600), partial(1, 3, 600, right=False)
    found, poor = (np.mean([ratio_of_trees(p, copies=c)[0] for p in c.pairs]) for c in (right, wrong))
    assert 0.4 < found < 1.3 < poor


def test_one_copy_of_true_people_has_no_figure():
    one = partial(1, 1)
    found = findings(one.pairs[0], copies=one)
    assert set(values(found).values()) == {None}
    assert any("Make more copies" in note for note in found.notes)


def test_copies_that_are_all_equal_have_none_either():
    original = people(200)
    moved = Pair(original, original.with_columns(x=pl.col("x") * 3), BOOK, aligned=True)
    found = findings(moved, trees=False, copies=Copies((moved, moved), True))
    assert found.of("pmse_ratio", group="interactions").value is None
    assert any("all copies are equal" in note for note in found.notes)


def test_order_of_rows_changes_nothing():
    before, after = people(250), people(200, 1)
    shuffled = (t.sample(fraction=1, shuffle=True, seed=3) for t in (before, after))
    plain, other = (values(findings(Pair(*tables, BOOK))) for tables in ((before, after), shuffled))
    assert plain == pytest.approx(other, rel=1e-9)


def test_trees_look_at_some_records_and_say_how_many(monkeypatch):
    monkeypatch.setattr(pmse_ratio, "MOST", 100)
    monkeypatch.setattr(pmse_ratio, "FEWEST", 50)
    found = findings(Pair(people(300), people(300, 1), BOOK))
    assert "at most 100 records" in found.notes[0]
    assert found.of("pmse_ratio", group="trees").value > 0


def test_equal_tables_have_nothing():
    original = people(100)
    assert values(findings(Pair(original, original, BOOK))) == {"main": 0.0, "interactions": 0.0, "trees": 0.0}


@pytest.mark.parametrize(
    ("one", "other", "why"),
    [
        (people(20), people(20).clear(), "no rows"),
        (people(20).select("x"), people(20).select("g"), "nothing to tell them apart"),
        (people(9), people(9, 1), "too few records"),
    ],
)
def test_where_there_is_no_figure_it_says_why(one, other, why):
    found = findings(Pair(one, other, BOOK))
    assert found.of("pmse_ratio", group="trees").value is None
    assert [note for note in found.notes if why in note]


def test_trees_are_grown_for_synthetic_data_or_where_somebody_asks():
    before, after = people(60), people(60, 1)
    pair = Pair(before, after, BOOK)
    table = PolarsDataset(after, BOOK)
    plain = Subject(table, pair=pair)
    for subject, groups in (
        (plain, {"main", "interactions"}),
        (Subject(table, pair=pair, disclosure=FILLED), {"main", "interactions"}),
        (Subject(table, pair=pair, disclosure=SYNTHETIC), {"main", "interactions", "trees"}),
        (Subject(table, pair=pair, asked=frozenset({"pmse_ratio"})), {"main", "interactions", "trees"}),
    ):
        assert MEASURE.wanted(subject)
        assert {f.group for f in MEASURE.compute(subject)} == groups
