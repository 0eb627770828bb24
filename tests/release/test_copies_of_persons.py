"""Releases of whole persons that were drawn: their order, their halves, and what is said where rows are drawn apart."""

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import sfumato as sf
from sfumato.data.codebook import Codebook, Variable
from sfumato.data.hidden import ROW
from sfumato.draws import Draws
from sfumato.engines.polars import PolarsDataset
from sfumato.errors import DataError, PlanError
from sfumato.plan.plan import Plan
from sfumato.release.protect import protect
from sfumato.release.rehearsal import rehearse
from sfumato.release.secret import Secret
from tests.methods.synthesise.households.panel import BOOK, visits
from tests.release.scattered import Scattered

pytestmark = pytest.mark.usefixtures("few_measures")

FRAME = visits(60, mean=4.0)
STEP = {"do": "synthesise", "copies": 2, "persons": True, "time": "day"}
SECRET = bytes(range(32))


def plan(*steps, **more):
    return Plan(variables=dict(BOOK.items()), steps=steps, **more)


def released(*steps, frame=FRAME, **more):
    return sf.protect(plan(*steps, **more), frame.sample(fraction=1, shuffle=True, seed=5), secret=SECRET)


def test_rows_leave_person_by_person_in_the_order_of_time():
    out = released(STEP).data.frame
    assert out.equals(out.sort("copy", "pid", "day"))
    assert out.filter(pl.col("copy") == 2)["id"].is_sorted()


def test_rows_of_true_persons_leave_in_an_order_that_tells_nothing():
    out = released(STEP | {"columns": ["bili"], "copies": 1}, access="safeguarded").data.frame
    assert (out["pid"].diff() == 0).mean() < 0.1


def test_without_the_id_their_order_does_not_tell_which_rows_belong_together():
    out = released(STEP | {"copies": 1}, {"do": "drop", "columns": ["pid", "id"]}).data.frame
    assert out.equals(out.sort(out.columns))


@pytest.mark.parametrize("later", [[], [{"do": "drop", "columns": ["id"]}]], ids=["ids of rows", "none"])
def test_in_parts_they_leave_as_in_memory(later, tmp_path):
    """By ids of rows where they leave, which say how rows without a time follow each other; else by time."""
    frame = FRAME if later else FRAME.with_columns(day=pl.when(pl.col("bili") < 1.5).then("day"))
    planned = plan(STEP, *later)
    whole = protect(planned, PolarsDataset(frame, Codebook()), Secret(SECRET)).data.frame
    release = protect(planned, Scattered.of(frame), Secret(SECRET))
    made = pl.read_parquet([tmp_path / "r" / "data" / p.name for p in release.write(tmp_path / "r", force=True).parts])
    assert_frame_equal(made, whole)
    assert (whole["day"].null_count() > 20) == (not later)


def test_halves_are_of_whole_persons():
    planned = plan(STEP)
    book = planned.codebook(FRAME, Codebook())
    bound = planned.bound(book)
    entering = PolarsDataset(FRAME.with_row_index(ROW), book.replace(**{ROW: Variable()}))
    found = rehearse(bound, bound.steps, entering, Draws(SECRET)).known
    inside, outside = set(found.people["pid"]), set(found.control["pid"])
    assert not inside & outside
    assert len(inside | outside) == 60
    assert found.released.filter(pl.col("copy") == 1)["pid"].n_unique() == len(inside)


def test_whoever_drops_the_person_before_is_told_that_rows_were_drawn_apart():
    drop = {"do": "drop", "columns": ["pid"]}
    apart = {"do": "synthesise", "copies": 1}
    (said,) = [w for w in released(drop, apart).report.warnings if "drawn apart" in w]
    assert "pid was dropped" in said
    assert "persons: true and time: COLUMN" in said
    one_each = FRAME.unique("pid", keep="first")
    for other in (released(STEP), released(drop, apart, frame=one_each), released(apart | {"columns": ["sex"]})):
        assert not [w for w in other.report.warnings if "drawn apart" in w]


def test_rows_are_not_drawn_one_by_one_beside_the_persons_id():
    with pytest.raises(PlanError, match="say `persons: true` and `time: COLUMN`"):
        released({"do": "synthesise", "copies": 1})
    with pytest.raises(DataError, match=r"Draw whole persons \(`persons: true` and `time: COLUMN`\), or drop pid"):
        released({"do": "synthesise", "columns": ["bili"], "copies": 1})
