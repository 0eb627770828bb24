"""Releases leave in an order that tells nothing: laws over several plans, for records with an id and without."""

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import sfumato as sf
from sfumato.data.codebook import Codebook
from sfumato.draws import Draws
from sfumato.engines.polars import PolarsDataset
from sfumato.examples import cohort
from sfumato.plan.plan import Plan
from sfumato.release.order import in_release_order

pytestmark = pytest.mark.usefixtures("few_measures")

FRAME = cohort(200).select("id", "sex", "smoker", "height", "bmi")
SECRET = bytes(range(16))
NAMED = {"id": {"role": "record"}, "sex": {"role": "key", "kind": "categorical"}}
DROP = {"do": "drop", "columns": ["id"]}
CENTROIDS = {"do": "centroids", "columns": ["height", "bmi"], "by": ["sex"], "k": 5}
NOISE = {"do": "noise", "columns": ["height", "bmi"], "share": 0.1}
SAMPLE = {"do": "sample", "fraction": 0.6}


def released(steps, frame=FRAME, secret=SECRET, **plan):
    return sf.protect(Plan(**{"variables": NAMED, **plan}, steps=steps), frame, secret=secret).data.frame


@pytest.mark.few(2)
@pytest.mark.parametrize("steps", [[CENTROIDS], [NOISE], [SAMPLE, NOISE], [NOISE, DROP], [CENTROIDS, DROP]], ids=str)
def test_the_order_of_the_input_changes_nothing(steps):
    one = released(steps)
    for seed in (1, 2):
        other = released(steps, FRAME.sample(fraction=1, shuffle=True, seed=seed))
        assert_frame_equal(one, other, rel_tol=1e-9)
    in_pieces = pl.concat([FRAME.tail(120), FRAME.head(80)], rechunk=False)
    assert_frame_equal(one, released(steps, in_pieces), rel_tol=1e-9)


@pytest.mark.slow
def test_records_with_an_id_leave_in_an_order_of_plan_and_secret():
    ids = released([CENTROIDS])["id"].to_list()
    assert sorted(ids) == FRAME["id"].to_list() != ids
    others = [
        released([{**CENTROIDS, "k": 6}])["id"].to_list(),
        released([CENTROIDS], title="Another title")["id"].to_list(),
        released([CENTROIDS], secret=SECRET[::-1])["id"].to_list(),
    ]
    assert all(sorted(other) == sorted(ids) and other != ids for other in others)


def test_the_order_is_unrelated_to_the_inputs_and_to_other_releases():
    """A correlation of ranks among 5,000 has a standard error of 0.014."""
    frame = pl.DataFrame({"id": range(5000)})
    variables = {"id": {"role": "record"}}
    one, other = (
        in_release_order(
            PolarsDataset(frame, Codebook(Plan(variables=variables).variables)),
            Plan(variables=variables, title=title),
            Draws(SECRET),
        ).frame["id"]
        for title in ("one", "other")
    )
    places = np.argsort(one.to_numpy()), np.argsort(other.to_numpy())
    assert abs(np.corrcoef(np.arange(5000), places[0])[0, 1]) < 0.06
    assert abs(np.corrcoef(*places)[0, 1]) < 0.06


def test_without_an_id_records_are_sorted_by_what_is_released():
    frame = released([NOISE, DROP])
    assert frame.equals(frame.sort(frame.columns))
    no_role = sf.protect(Plan(), FRAME.drop("id").sample(fraction=1, shuffle=True, seed=3), secret=SECRET).data.frame
    assert no_role.equals(no_role.sort(no_role.columns))


def test_an_id_that_a_step_changed_does_not_give_the_order():
    """Broader ids are no longer one to a record; an order by them would be that of the input among equals."""
    wards = {"do": "recode", "columns": ["id"], "band": [50, 100]}
    one = released([CENTROIDS, wards])
    other = released([CENTROIDS, wards], FRAME.reverse())
    assert_frame_equal(one, other, rel_tol=1e-9)


def test_the_plan_may_keep_the_order_of_the_input():
    shuffled = FRAME.sample(fraction=1, shuffle=True, seed=4)
    assert released([CENTROIDS], shuffled, order="input")["id"].to_list() == shuffled["id"].to_list()


def test_every_value_that_is_released_tells_rows_apart():
    """Minus zero is another text than zero in a file, and no number is taken for another one for good."""
    rows = pl.DataFrame(
        {
            "a": [0.0, -0.0, None, float("nan"), 0.1 + 0.2, 0.3, 1.0],
            "b": ["x", "x", None, "x", "x", "x", "ä"],
            "c": pl.Series(["q", "p", "q", "p", "q", "p", "q"], dtype=pl.Categorical),
        }
    )
    texts = {in_order(rows.sample(fraction=1, shuffle=True, seed=seed)) for seed in range(20)}
    assert len(texts) == 1
    assert texts.pop().splitlines()[1] == ",,q"


def in_order(frame):
    return in_release_order(PolarsDataset(frame, Codebook()), Plan(), Draws(SECRET)).frame.write_csv()


def test_last_bits_move_no_record():
    one = pl.DataFrame({"a": [0.3, 0.1 + 0.2, 0.3], "b": [3, 2, 1]})
    other = pl.DataFrame({"a": [0.1 + 0.2, 0.3, 0.3], "b": [3, 2, 1]})
    assert [line[-1] for line in in_order(one).splitlines()[1:]] == ["1", "2", "3"]
    assert [line[-1] for line in in_order(other).splitlines()[1:]] == ["1", "2", "3"]


@pytest.mark.parametrize(
    "ids",
    [
        pl.Series(range(30), dtype=pl.Int128),
        pl.Series([i + 0.5 for i in range(30)]),
        pl.Series([f"p{i}" for i in range(30)]),
        pl.Series([f"p{i}" for i in range(30)], dtype=pl.Categorical),
        pl.date_range(pl.date(2020, 1, 1), pl.date(2020, 1, 30), eager=True),
    ],
    ids=lambda ids: str(ids.dtype),
)
def test_ids_of_any_type_give_an_order(ids):
    frame = pl.DataFrame({"id": ids, "x": range(30)})
    plan = Plan(variables={"id": {"role": "record"}})
    book = plan.codebook(frame, Codebook())
    one, other = (
        in_release_order(PolarsDataset(rows, book), plan, Draws(SECRET)).frame for rows in (frame, frame.reverse())
    )
    assert one.equals(other)
    assert one["x"].to_list() != list(range(30))


def test_nothing_at_all():
    for frame in (pl.DataFrame(), pl.DataFrame({"a": pl.Series([], dtype=pl.Float64)})):
        assert in_release_order(PolarsDataset(frame, Codebook()), Plan(), Draws(SECRET)).frame.equals(frame)
