"""Several records of a person: what is the same in all is masked once, what varies by record; nobody leaves in part."""

import numpy as np
import polars as pl
import pytest

from sfumato.data.codebook import Codebook, Variable
from sfumato.data.dataset import rows as rows_of
from sfumato.draws import Draws
from sfumato.engines.duckdb import DuckDBDataset
from sfumato.engines.polars import PolarsDataset
from sfumato.errors import DataError, PlanError
from sfumato.methods.anonymise.method import Anonymise
from sfumato.methods.centroids import Centroids
from sfumato.methods.complete_cases import CompleteCases
from sfumato.methods.merge_rare import MergeRare
from sfumato.methods.noise import Noise
from sfumato.methods.pram import Pram
from sfumato.methods.sample import Sample
from sfumato.methods.shuffle import Shuffle
from sfumato.methods.suppress_cells import SuppressCells
from sfumato.methods.suppress_strata import SuppressStrata
from sfumato.methods.swap import Swap
from sfumato.plan.plan import Plan
from sfumato.release.persons import varying
from sfumato.release.run import run_steps

ENGINES = [PolarsDataset, DuckDBDataset.of]
DRAWS = Draws(bytes(range(32)))
BOOK = Codebook(
    {
        "visit": Variable(role="record", kind="integer"),
        "who": Variable(role="person", kind="integer"),
        "sex": Variable(kind="categorical"),
        "age": Variable(kind="integer", role="key"),
        "albumin": Variable(kind="continuous"),
        "stage": Variable(kind="categorical"),
    }
)


def visits(people=60, seed=0):
    """Two to five visits of each, with sex and age at the first; albumin and stage vary."""
    rng = np.random.default_rng(seed)
    each = 2 + rng.integers(0, 4, people)
    who, n = np.repeat(np.arange(people), each), int(each.sum())
    return pl.DataFrame(
        {
            "visit": rng.permutation(n),
            "who": who,
            "sex": rng.choice(["f", "m"], people)[who],
            "age": rng.integers(20, 80, people)[who],
            "albumin": np.round(rng.normal(3.5, 0.4, n), 2),
            "stage": rng.choice(["a", "b", "c"], n),
        }
    )


def ran(steps, frame=None, engine=PolarsDataset):
    frame = visits() if frame is None else frame
    done = run_steps(steps, engine(frame, BOOK.only(frame.columns)), DRAWS)
    return rows_of(done.after).sort("visit"), done


def values_each(table, column):
    """How many different values of a column each person has."""
    return table.group_by("who").agg(pl.col(column).n_unique())[column].to_list()


@pytest.mark.parametrize("engine", ENGINES)
def test_what_varies_is_found_and_gaps_do_not_vary(engine):
    frame = visits().with_columns(pl.when(pl.col("visit") % 3 > 0).then("age").alias("age"))
    assert varying(engine(frame, BOOK), ["sex", "age", "albumin", "stage", "who"]) == ("albumin", "stage")
    assert varying(engine(frame.drop("who"), BOOK.without("who")), ["albumin"]) == ()


ONCE = [
    Noise(columns=("age",), sd=5),
    Pram(columns=("sex",), retention=0.6),
    Swap(columns=("age",), window=0.2),
    Swap(columns=("age", "sex"), group=5, perturb=0.1),
    Centroids(columns=("age",), k=3),
    Shuffle(columns=("age",), given=("sex",)),
]


@pytest.mark.parametrize("step", ONCE, ids=lambda step: f"{step.name} {','.join(step.columns)}")
def test_what_is_the_same_for_a_person_stays_the_same_and_is_masked(step):
    before = visits().sort("visit")
    after, _ = ran([step])
    assert all(set(values_each(after, n)) == {1} for n in step.columns)
    assert (
        any((after[n].cast(pl.Float64) != before[n]).any() for n in step.columns if n == "age")
        or (after["sex"] != before["sex"]).any()
    )
    assert after.drop(step.columns).equals(before.drop(step.columns))


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("step", ONCE[:2], ids=lambda step: step.name)
def test_draws_for_a_person_are_those_of_every_engine_and_any_order_of_rows(step, engine):
    told = ran([step], visits().sample(fraction=1, shuffle=True, seed=1), engine)[0]
    assert told.select(visits().columns).equals(ran([step])[0])


def test_the_mean_of_a_persons_records_tells_no_more_than_one_of_them():
    frame = visits(people=400)
    after, done = ran([Noise(columns=("age", "albumin"), sd={"age": 5, "albumin": 1})], frame)
    error = pl.col("age").cast(pl.Float64) - pl.col("true").cast(pl.Float64)
    known = frame.sort("visit").select("visit", pl.col("age").alias("true"))
    means = after.join(known, on="visit").group_by("who").agg(error.mean().alias("error"))["error"]
    assert means.std() == pytest.approx(5, rel=4 * 0.5 / np.sqrt(2 * 400) * 2)  # by record it would be 5 / sqrt(3.5)
    assert [part.draw_by for part in done.disclosure] == ["person", "record"]


def test_a_slip_in_a_few_records_draws_nobody_else_anew():
    """Somebody's age was written wrongly once: all others keep their draws, and one draw each."""
    frame = visits()
    slip = frame.with_columns(pl.when(pl.col("visit") == 0).then(99).otherwise("age").alias("age"))
    (plain, _), (after, done) = (ran([Noise(columns=("age",), sd=5)], table) for table in (frame, slip))
    whose = frame.filter(pl.col("visit") == 0)["who"].item()
    others = pl.col("who") != whose
    assert done.disclosure.parts[0].draw_by == "person"
    assert after.filter(others).equals(plain.filter(others))
    own = after.join(slip.select("visit", true="age"), on="visit").filter(~others)
    assert (own["age"] - own["true"]).round(6).n_unique() == 2, (
        "another value has a draw of its own: nothing is shifted"
    )


def test_what_varies_is_drawn_by_record():
    frame = visits().with_columns(pl.lit(3.5).alias("albumin"), pl.col("visit").cast(pl.Float64).alias("age"))
    after, _ = ran([Noise(columns=("age",), sd=5)], frame.drop("albumin"))
    error = after["age"] - after["visit"]
    assert after.with_columns(error.alias("e")).group_by("who").agg(pl.col("e").n_unique())["e"].min() > 1


REFUSED = [
    (Sample(fraction=0.5, by=("stage",)), "stage in `by` differ between the records of a person"),
    (Centroids(columns=("albumin",), k=3), "albumin differ .* would be averaged"),
    (Centroids(columns=("age", "albumin"), k=3), "albumin differ"),
    (Swap(columns=("stage",), random=True), "stage differ .* exchange a person's own records"),
    (Swap(columns=("albumin",), window=0.1), "albumin differ"),
    (Shuffle(columns=("albumin",), given=("age",)), "albumin differ .* exchanged with one another"),
    (Noise(columns=("albumin",), sd=1, draw_by="person"), "albumin differ .* differences between them exact"),
    (Noise(columns=("age", "albumin"), share=0.1, correlated=True), "write two steps"),
    (Noise(columns=("age",), share=0.1, by=("stage",)), "the strata stage differ"),
    (SuppressCells(keys=("sex", "stage"), k=2), "stage differ .* several groups"),
    (Anonymise(keys=("stage",), k=2), "stage differ .* several groups"),
]


@pytest.mark.parametrize(("step", "why"), REFUSED, ids=lambda each: getattr(each, "name", ""))
def test_a_persons_own_records_are_neither_averaged_nor_exchanged_nor_shifted(step, why):
    with pytest.raises(DataError, match=f"^{step.name}: .*{why}"):
        ran([step])


def test_strata_whose_figures_are_disclosed_have_enough_persons():
    """Twelve records of two persons are two persons."""
    frame = visits().with_columns(pl.when(pl.col("who") < 4).then(pl.lit("x")).otherwise("sex").alias("sex"))
    assert frame.filter(pl.col("sex") == "x").height > 10
    with pytest.raises(DataError, match=r"fewer than min_stratum \(10\) different persons"):
        ran([Noise(columns=("age",), share=0.1, by=("sex",))], frame)
    with pytest.raises(DataError, match="different persons"):
        ran([Pram(columns=("stage",), invariant=True, retention=0.8, by=("sex",))], frame)
    ran([Noise(columns=("age",), share=0.1, by=("sex",), min_stratum=4)], frame)


def test_off_memory_what_needs_all_persons_together_is_refused():
    with pytest.raises(DataError, match="once for each person .* in memory"):
        ran([Centroids(columns=("age",), k=3)], engine=DuckDBDataset.of)


def test_without_ids_of_records_what_varies_cannot_be_drawn():
    data = PolarsDataset(visits().drop("visit"), BOOK.without("visit"))
    with pytest.raises(DataError, match="column with the record's id"):
        run_steps([Noise(columns=("albumin",), sd=1)], data, DRAWS)
    done = run_steps([Noise(columns=("age",), sd=1)], data, DRAWS)
    assert set(values_each(rows_of(done.after), "age")) == {1}


def test_groups_of_an_exchange_are_of_persons():
    """Three persons with many records each are too few for groups of three persons, whatever their records are."""
    frame = visits(people=8).with_columns(pl.col("who") % 8)
    with pytest.raises(DataError, match="fewer than 3 groups of 3"):
        ran([Swap(columns=("albumin", "stage"), group=3)], frame)
    ran([Swap(columns=("albumin", "stage"), group=3)], visits(people=9))


def test_a_donor_is_a_person_before_it_is_a_record():
    """One of each three persons has 18 records of 20: each of the three gives as many values all the same."""
    rng = np.random.default_rng(3)
    who = np.repeat(np.arange(300), np.where(np.arange(300) % 3 == 0, 18, 1))
    of_many = np.where(who % 3 == 0, 0, 1)
    albumin = 10.0 * (who // 3) + of_many + rng.uniform(0, 0.4, len(who))
    frame = pl.DataFrame(
        {
            "visit": np.arange(len(who)),
            "who": who,
            "albumin": albumin,
            "age": 2 * albumin + rng.uniform(0, 0.01, len(who)),
        }
    )
    after, _ = ran([Swap(columns=("albumin", "age"), group=3, perturb=0.001)], frame)
    share = (after["albumin"] % 10 < 0.5).mean()
    assert 0.2 < share < 0.45  # a third, but for what survived and was moved; by records it would be .9


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("unit", ["person", "household"])
def test_persons_and_households_stay_or_go_as_a_whole(engine, unit):
    book = BOOK.replace(who=Variable(role=unit, kind="integer"))
    frame = visits(people=200).with_columns(
        pl.when(pl.col("visit") % 40 > 0).then("albumin").alias("albumin"),
        pl.when(pl.col("visit") % 90 == 0).then(pl.lit("d")).otherwise("stage").alias("stage"),
    )
    had = dict(frame.group_by("who").len().iter_rows())
    for step in (
        Sample(fraction=0.4),
        CompleteCases(columns=("albumin",)),
        SuppressStrata(by=("stage",), min_count=20, max_suppressed=1),
    ):
        after = rows_of(run_steps([step], engine(frame, book), DRAWS).after)
        left = dict(after.group_by("who").len().iter_rows())
        assert 0 < len(left) < len(had)
        assert all(had[who] == n for who, n in left.items())


def test_those_who_go_with_others_may_leave_a_stratum_too_small_and_go_too():
    frame = pl.DataFrame({"visit": range(6), "who": [1, 1, 2, 2, 3, 4], "stage": ["d", "a", "a", "b", "b", "c"]})
    after, _ = ran(
        [SuppressStrata(by=("stage",), min_count=2, max_suppressed=1)],
        frame.vstack(pl.DataFrame({"visit": [6, 7], "who": [5, 4], "stage": ["c", "c"]})),
    )
    # d is of one person, who leaves a behind with one, who leaves b behind with one; c has two persons
    assert set(after["who"]) == {4, 5}


def test_thresholds_count_persons():
    frame = pl.DataFrame(
        {"visit": range(7), "who": [1, 1, 1, 2, 3, 4, 5], "stage": ["a", "a", "a", "b", "b", "b", "b"]}
    )
    after, _ = ran([MergeRare(columns=("stage",), min_count=2)], frame)
    assert "a" not in set(after["stage"])
    plain = run_steps([MergeRare(columns=("stage",), min_count=2)], PolarsDataset(frame, BOOK.without("who")), DRAWS)
    assert "a" in set(rows_of(plain.after)["stage"])


@pytest.mark.parametrize("role", ["record", "person", "household"])
@pytest.mark.parametrize(
    "step",
    [
        {"do": "suppress_strata", "by": ["who"], "min_count": 3},
        {"do": "sample", "fraction": 0.5, "by": ["who"]},
        {"do": "suppress_cells", "keys": ["who"], "k": 3},
        {"do": "noise", "columns": ["age"], "share": 0.1, "by": ["who"]},
    ],
    ids=lambda step: step["do"],
)
def test_ids_are_no_strata_and_no_keys(role, step):
    book = BOOK.without("visit").replace(who=Variable(role=role, kind="integer"))
    with pytest.raises(PlanError, match="'who'.* has role"):
        Plan(steps=[step]).check(book, released=False)
