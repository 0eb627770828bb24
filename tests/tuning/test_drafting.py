"""How a draft by groups is tried: which groups hold, which columns leave if none does, and what is told of it."""

import numpy as np
import polars as pl
import pytest

from sfumato.data.codebook import Codebook
from sfumato.data.profile import profile
from sfumato.draws import Draws
from sfumato.plan.by_groups import GROUPS
from sfumato.plan.drafted import Tried
from sfumato.plan.plan import Plan
from sfumato.plan.wishes import Wishes
from sfumato.tuning import drafting
from sfumato.tuning.drafting import draft_by_groups, try_groups

N = 400
RNG = np.random.default_rng(9)
FRAME = pl.DataFrame(
    {
        "sex": RNG.choice(["f", "m"], N),
        "age": RNG.integers(20, 70, N),
        "pay": RNG.integers(100, 900, N),
        "smoker": RNG.choice(["no", "yes"], N, p=[0.8, 0.2]),
    }
)
GONE = {"pay": "with it too many people would be found"}


def guesses_of(wishes=None, frame=FRAME):
    return (wishes or Wishes()).over(profile(frame, Codebook()))


def tried(wishes=None, frame=FRAME):
    wishes = wishes or Wishes()
    return try_groups(frame, Codebook(), guesses_of(wishes, frame), wishes)


def left_out(chosen):
    return {one.column: one.because for one in chosen.chosen.left_out}


@pytest.fixture
def measured(monkeypatch):
    """Says what each trial comes to, by its columns and its group, and keeps what was tried."""
    asked = []

    def by(excess, fault=None):
        def one(self, chosen, group):
            asked.append((chosen.columns, group))
            lines = [(*each, None)[:4] for each in sorted(excess(chosen.columns, group), key=lambda each: -each[0])]
            return drafting._Trial(group, Tried(records=self.frame.height), tuple(lines), fault)

        monkeypatch.setattr(drafting.Trying, "_one", one)
        return asked

    return by


def too_many_with(column, measure="linkage_nearest", variable=None):
    """As if more people than may be were found while a column is there, whatever the groups."""
    return lambda columns, group: [(2.0 if column in columns else 0.5, measure, variable)]


@pytest.mark.parametrize("holds", GROUPS)
def test_the_first_groups_that_hold_are_taken(measured, holds):
    asked = measured(lambda columns, group: [(0.9 if group >= holds else 1.1, "linkage_nearest", None)])
    told = tried()
    assert (told.group, told.because, left_out(told)) == (holds, None, {})
    assert list(dict.fromkeys(group for _, group in asked)) == [g for g in GROUPS if g <= holds]


def test_figures_keep_a_distance_from_their_limits(measured):
    """What a release draws is not what was tried."""
    measured(lambda columns, group: [(0.95 if group == 5 else 0.8, "linkage_nearest", None)])
    assert tried().group == 8


def test_groups_of_which_there_are_no_three_are_not_tried(measured):
    asked = measured(lambda columns, group: [(1.5, "linkage_nearest", None)])
    tried(frame=FRAME.head(40))
    first, _ = asked[0]
    assert {group for columns, group in asked if columns == first} == {5, 8, 12}


def test_few_records_are_drawn_more_often_and_the_worst_counts(measured):
    draws = iter([0.5, 0.5, 0.5, 2.0] + [0.5] * 20)
    asked = measured(lambda columns, group: [(next(draws), "linkage_nearest", None)])
    assert tried(frame=FRAME.head(60)).group == 8
    assert [group for _, group in asked].count(5) == 4
    assert [group for _, group in asked].count(8) > 4


def test_the_column_that_helps_leaves_and_it_is_said_why(measured):
    measured(too_many_with("pay"))
    told = tried()
    assert left_out(told) == GONE
    assert told.chosen.columns == ("sex", "age", "smoker")
    assert (told.group, told.because) == (5, None)
    measured(too_many_with("age", "uniques_kept"))
    assert left_out(tried()) == {"age": "with it too many combinations would stay unique"}


def test_one_after_the_other_leaves(measured):
    excess = {4: 3.0, 3: 2.0, 2: 0.5}
    measured(lambda columns, group: [(excess[len(columns)] - 0.1 * ("pay" not in columns), "linkage_nearest", None)])
    assert list(left_out(tried())) == ["pay", "age"], "of those that help alike the one with most values"


def test_what_can_be_guessed_too_well_leaves_itself(measured):
    measured(too_many_with("smoker", "inference", "smoker"))
    assert left_out(tried(Wishes(sensitive=("smoker",)))) == {"smoker": "its values could be guessed too well"}


@pytest.mark.parametrize("wishes", [Wishes(outcome=("pay",)), Wishes(keep=("pay",))], ids=["outcome", "kept"])
@pytest.mark.parametrize("measure", ["linkage_nearest", "inference"])
def test_an_outcome_and_what_is_to_be_kept_never_leave(measured, wishes, measure):
    measured(too_many_with("pay", measure, "pay"))
    told = tried(wishes)
    assert "pay" in told.chosen.columns
    assert "pay" not in left_out(told)
    assert told.because.startswith("no column could stay")


def test_where_nothing_holds_the_plan_says_so_first():
    few = FRAME.head(14)
    drafted = draft_by_groups(few, Codebook(), guesses_of(frame=few), Wishes(), "few")
    assert drafted.text.startswith("# This file cannot be released in this way because it has fewer than 15 records")
    assert drafted.to_dict()["because"] == drafted.because


def test_a_fault_of_the_exchange_is_the_reason_and_one_line_of_the_plan(measured):
    measured(lambda columns, group: [], fault="There is a problem:\n  - line 2: so.")
    drafted = draft_by_groups(FRAME, Codebook(), guesses_of(), Wishes(), "people")
    assert drafted.because == "There is a problem: - line 2: so"
    assert Plan.from_yaml(drafted.text).title == "people"


def test_a_file_is_drafted_alike_in_any_order_of_rows():
    one, two = (tried(frame=FRAME.sample(fraction=1, shuffle=True, seed=seed)) for seed in (1, 2))
    assert (one.group, one.chosen.columns, one.figures) == (two.group, two.chosen.columns, two.figures)


def test_a_trial_takes_no_secret_of_releases_and_each_draws_anew(monkeypatch):
    monkeypatch.setenv("SFUMATO_SECRET", "ab" * 16)
    seen = []
    monkeypatch.setattr(drafting, "Draws", lambda secret: seen.append(secret) or Draws(secret))
    assert tried().because is None
    assert bytes.fromhex("ab" * 16) not in seen
    assert len(set(seen)) == len(seen) > 1


def test_no_figure_of_the_trial_stands_in_the_plan():
    drafted = draft_by_groups(FRAME, Codebook(), guesses_of(), Wishes(), "people")
    assert drafted.tried.linkage_nearest > 0
    assert f"{drafted.tried.linkage_nearest:.3f}" not in drafted.text
    assert str(FRAME.height) not in drafted.text


def test_of_few_draws_the_worst_counts_and_of_many_what_a_further_one_will_hardly_exceed():
    """Three or four draws tell no standard deviation: one that is off would make groups larger than they need be."""
    assert drafting._likely([0.5, 0.7, 0.6]) == 0.7
    many = [0.5, 0.7, 0.6, 0.5, 0.7, 0.6, 0.5, 0.7, 0.6, 0.6]
    assert drafting._likely(many) == pytest.approx(np.mean(many) + 3.5 * np.std(many, ddof=1))


@pytest.mark.slow
def test_of_a_large_table_some_records_are_tried(monkeypatch):
    monkeypatch.setattr(drafting, "MOST_TRIED", 150)
    told = tried()
    assert told.figures.records == 150
    assert tried(frame=FRAME.head(120)).figures.records == 120


def households(size=2, n=N):
    return FRAME.head(n).with_columns(home=pl.int_range(n, eager=True) // size)


def test_an_id_leaves_by_which_rows_would_be_found_together(monkeypatch):
    """Where no size of groups holds for who knows all rows; what is to be kept stays."""
    asked = []

    def one(self, chosen, group):
        asked.append(("home" in chosen.kept, group))
        over = 2.0 if "home" in chosen.kept else 0.5
        return drafting._Trial(group, Tried(), ((over, "linkage_nearest", None, "household"),))

    monkeypatch.setattr(drafting.Trying, "_one", one)
    told = tried(Wishes(household="home"), households())
    assert left_out(told) == {"home": "its rows are found together"}
    assert told.because is None
    assert [group for there, group in asked if there] == list(GROUPS)
    assert tried(Wishes(household="home", keep=("home",)), households()).because is not None


def test_a_draft_is_tried_on_whole_households():
    frame = pl.concat([households(n=N).with_columns(home=pl.col("home") + 1000 * i) for i in range(8)])
    chosen = drafting.chosen_records(frame, "home")
    assert 1_990 <= chosen.height <= drafting.MOST_TRIED
    assert chosen["home"].value_counts()["count"].unique().to_list() == [2]
    again = drafting.chosen_records(frame.reverse(), "home")
    assert set(again["home"]) == set(chosen["home"])
