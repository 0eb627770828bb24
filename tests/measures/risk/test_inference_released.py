"""Guesses by who knows all that leaves but one value: votes worked out by hand."""

import numpy as np
import polars as pl
import pytest

from sfumato.data.codebook import Codebook, Variable
from sfumato.data.disclosure import Disclosure, Swapped
from sfumato.data.pair import Pair
from sfumato.engines.polars import PolarsDataset
from sfumato.measures.risk import inference_released
from sfumato.measures.risk.inference import MEASURE
from sfumato.measures.risk.inference_released import released_guesses
from sfumato.measures.subject import Outsider, Subject
from sfumato.methods.swap.exchanging import OWN

CATEGORY = Variable(kind="categorical")
BOOK = Codebook({"town": CATEGORY, "ill": CATEGORY, "dose": CATEGORY})
TRUE = pl.DataFrame({"town": ["a", "a", "a", "b", "b", "b"], "ill": ["y", "y", "n", "n", "n", "n"]})
"""Towns are one apart, so that who lives elsewhere has e⁻² = 0.14 of a vote, and three of them 0.41."""
FROM_SELF = [1, 2, 3, 4, 5, 6]
KNOWS = Outsider("released", (), ("town", "ill"))


def swapped(columns=("town", "ill"), together=False):
    return Swapped(columns=columns, group=3, together=together)


def subject(released=TRUE, donors=FROM_SELF, true=TRUE, part=None, knows=KNOWS, aligned=True, **sets):
    part = part or swapped()
    own = pl.Series(OWN, np.arange(1, true.height + 1), dtype=pl.UInt64)
    words = {each[0]: sets.get(each[0], donors) for each in part.sets}
    given = pl.DataFrame([own, *(pl.Series(n, w, dtype=pl.UInt64) for n, w in words.items())])
    return Subject(
        PolarsDataset(released, BOOK),
        pair=Pair(true, released, BOOK, (), aligned=aligned),
        knowing=(knows,),
        guessed=("ill",),
        disclosure=Disclosure((part,)),
        donors=given,
    )


def told(*args, **how):
    """Attack, control and risk, as they are and had true values been released."""
    found = {f.group: f for f in released_guesses(subject(*args, **how)) if f.variable == "ill"}
    assert {f.attack for f in found.values()} <= {"released"}
    values = [found[group].value for group in ("attack", "control", "risk")]
    return values, [found[group].baseline for group in ("attack", "control", "risk")]


def test_the_nearest_vote_and_the_control_goes_without_own_cells():
    """In town a two say y and one n, beside 0.41 from b; without their own who is ill is outvoted by 1.41 to 1."""
    values, baseline = told()
    assert values == pytest.approx([5 / 6, 3 / 6, (5 / 6 - 3 / 6) / (1 - 3 / 6)])
    assert baseline == values, "what was released is the truth"


def test_what_others_bear_of_a_person_is_the_persons_own():
    """Both y are drawn from the first: without them n is left; the second loses nothing."""
    values, _ = told(donors=[1, 1, 3, 4, 5, 6])
    assert values == pytest.approx([5 / 6, 4 / 6, (5 / 6 - 4 / 6) / (1 - 4 / 6)])


def test_what_was_drawn_of_others_is_no_risk():
    """All cells near a person are those of people elsewhere: the vote without their own is the same."""
    values, baseline = told(donors=[4, 4, 4, 1, 1, 1])
    assert values == pytest.approx([5 / 6, 5 / 6, 0.0])
    assert baseline == pytest.approx([5 / 6, 3 / 6, 2 / 3])


def test_released_values_are_what_is_voted_on():
    lied = TRUE.with_columns(ill=pl.Series(["n", "y", "n", "n", "n", "n"]))
    values, baseline = told(lied, donors=[3, 2, 3, 4, 5, 6])
    # in a n has the most now: the two who are ill are guessed wrongly, the third too without both cells of their own
    assert values == pytest.approx([4 / 6, 3 / 6, (4 / 6 - 3 / 6) / (1 - 3 / 6)])
    assert baseline == pytest.approx([5 / 6, 3 / 6, 2 / 3])


def test_who_shares_what_leaves_unchanged_alone_votes():
    """By town exactly, others take no part: without their own the two who are ill see one y and one n."""
    values, _ = told(knows=Outsider("released", ("town",), ("ill",)), part=swapped(("ill",)))
    assert values == pytest.approx([5 / 6, (1 / 2 + 1 / 2 + 0 + 3) / 6, (5 / 6 - 4 / 6) / (1 - 4 / 6)])


def test_a_class_without_others_leaves_the_usual_value():
    rows = pl.DataFrame({"town": ["a", "a", "a", "c", "d"], "ill": ["n", "n", "n", "n", "y"]})
    values, _ = told(
        rows, [1, 2, 3, 4, 5], rows, knows=Outsider("released", ("town",), ("ill",)), part=swapped(("ill",))
    )
    assert values == pytest.approx([1.0, 4 / 5, 1.0])


def test_a_column_that_belongs_to_the_set_is_not_known():
    """Who knew the dose would know who is ill; it moved with that, and whoever guesses the one lacks the other."""
    true = TRUE.with_columns(dose=pl.Series(["2", "2", "0", "0", "0", "0"]))
    knows = Outsider("released", (), ("town", "ill", "dose"))
    columns = ("town", "ill", "dose")
    apart, _ = told(true, FROM_SELF, true, swapped(columns), knows)
    assert apart[0] == 1.0
    in_set, _ = told(true, FROM_SELF, true, swapped(columns, (("ill", "dose"),)), knows)
    assert in_set == pytest.approx([5 / 6, 3 / 6, 2 / 3])


def test_cells_are_those_of_the_values_own_set():
    """Towns were drawn from elsewhere: it is the cell that is voted on whose donor counts."""
    values, _ = told(part=swapped(), town=[4, 4, 4, 1, 1, 1], ill=FROM_SELF)
    assert values == pytest.approx([5 / 6, 3 / 6, 2 / 3])


def test_a_gap_is_no_value_to_be_guessed_and_votes_for_none():
    """One y of the truth is a gap: five are guessed, and y has one vote, n 1.41."""
    gap = TRUE.with_columns(ill=pl.Series([None, "y", "n", "n", "n", "n"]))
    values, _ = told(gap, FROM_SELF, gap)
    assert values[0] == pytest.approx(4 / 5)


def test_nothing_is_told_without_donors_or_where_nothing_else_is_known():
    assert not released_guesses(subject(part=Swapped(columns=("town", "ill"), window=0.1)))
    assert not released_guesses(subject(aligned=False))
    assert not released_guesses(subject(knows=Outsider("everything", (), ("town", "ill"))))
    assert not released_guesses(subject(knows=Outsider("released", (), ("ill",))))
    assert not released_guesses(subject(part=swapped(together=(("town", "ill"),))))
    bare = subject()
    assert {f.attack for f in MEASURE.compute(bare)} == {"released"}
    assert not MEASURE.compute(
        Subject(bare.after, pair=bare.pair, knowing=(KNOWS,), guessed=("ill",), disclosure=bare.disclosure)
    )


def test_of_many_people_some_are_guessed_and_an_interval_is_told(monkeypatch):
    whole = {f.group: f for f in released_guesses(subject())}
    assert {f.interval for f in whole.values()} == {None}
    monkeypatch.setattr(inference_released, "MOST_PAIRS", 4 * 6 * 3)
    some = {f.group: f for f in released_guesses(subject())}
    for line in some.values():
        low, high = line.interval
        assert low <= line.value <= high


def test_the_order_of_rows_changes_nothing():
    """Also where more are as near than vote."""
    rng = np.random.default_rng(3)
    n = 60
    true = pl.DataFrame({"town": rng.choice(["a", "b"], n), "ill": rng.choice(["y", "n", "?"], n)})
    source = rng.integers(0, n, n)
    whole = subject(true[source], (source + 1).tolist(), true)
    order = rng.permutation(n)
    pair = Pair(true[order], true[source][order], BOOK, (), aligned=True)
    shuffled = Subject(
        whole.after,
        pair=pair,
        knowing=whole.knowing,
        guessed=whole.guessed,
        disclosure=whole.disclosure,
        donors=whole.donors[order],
    )
    assert released_guesses(shuffled) == released_guesses(whole)
