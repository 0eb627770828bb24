import polars as pl
import pytest

from sfumato.data.codebook import Codebook, Variable
from sfumato.data.hidden import GAP, HIDDEN, ROW
from sfumato.draws import Draws
from sfumato.engines.polars import PolarsDataset
from sfumato.plan.binding import entered
from sfumato.plan.plan import Plan
from sfumato.release.gaps import noted_beside, watched
from sfumato.release.run import run_plan, run_steps
from tests.methods.tables import PEOPLE_BOOK, how_many_lawful, lawful, people

KEEPS = [
    pytest.param(name, i, marks=() if i == 0 else pytest.mark.slow)
    for name in ("noise", "top_code", "drop", "pseudonymise", "complete_cases")
    for i in range(how_many_lawful(name))
]


@pytest.mark.parametrize(("name", "number"), KEEPS)
def test_a_method_that_says_so_keeps_gaps(name, number):
    """Of the records that stay, and the columns: a cell is empty afterwards if it was before."""
    holes = [pl.when(pl.col("id") % 7 != i).then(n).alias(n) for i, n in enumerate(("x", "n", "g", "town"))]
    frame = people(120).with_columns(holes).with_row_index(ROW)
    step = lawful(name)[number]
    assert step.keeps_gaps == (getattr(step, "missing", "keep") == "keep")
    if not step.keeps_gaps:
        return
    ran = run_steps([step.bound(PEOPLE_BOOK)], PolarsDataset(frame, PEOPLE_BOOK), Draws(bytes(16)))
    after = ran.after.frame
    before = frame.join(after.select(ROW), on=ROW, how="semi", maintain_order="left")
    assert before[ROW].equals(after[ROW])
    for n in (n for n in step.changes if n in after.columns and n in PEOPLE_BOOK and PEOPLE_BOOK[n].role != "record"):
        was = before.select(PEOPLE_BOOK.missing(n, before.schema[n]))[n]
        now = after.select(ran.after.codebook.missing(n, after.schema[n]))[n]
        assert was.equals(now), n


def test_only_columns_that_a_step_could_empty_or_fill_are_watched():
    steps = Plan(
        steps=[
            {"do": "noise", "columns": ["a"], "sd": 1},
            {"do": "swap", "columns": ["b"], "random": True},
            {"do": "impute", "columns": ["b", "c"], "method": "mode"},
            {"do": "derive", "column": "new", "formula": "a + 1"},
            {"do": "drop", "columns": ["d"]},
        ]
    ).steps
    book = Codebook({"c": Variable(role="identifier")}).only("abcd")
    assert watched(steps, book) == {"b"}


def test_nothing_that_was_noted_is_left_in_what_is_measured_or_released():
    frame = pl.DataFrame({"id": range(9), "a": [None, *range(8)], "b": [0.5 * i for i in range(9)]})
    plan = Plan(
        variables={"id": {"role": "record"}},
        steps=[
            {"do": "impute", "columns": ["a"], "method": "median"},
            {"do": "top_code", "columns": ["b"], "at": 3},
            {"do": "noise", "columns": ["a"], "sd": 1},
        ],
    )
    entering = entered(plan, PolarsDataset(frame, Codebook()))
    ran = run_plan(plan.bound(entering.codebook), entering, Draws(bytes(16)))
    for table in (ran.entering, ran.given, ran.before, ran.after):
        assert [n for n in table.columns if n.startswith(HIDDEN)] == [ROW]
    assert ran.gaps[f"{GAP}a"].to_list() == [True, *[False] * 8]
    assert ran.entering is entering


def test_gaps_beside_a_release_are_those_of_the_same_id():
    read = PolarsDataset(pl.DataFrame({"id": [1, 2, 3], "a": [None, 1, 2], "b": [None, 1, 2]}), Codebook())
    after = PolarsDataset(pl.DataFrame({"id": ["3", "1", "9"], "a": [0, 0, 0], "b": [0, 0, 0]}), Codebook())
    noted = noted_beside(read, after, "id", exchanged=["b"])
    assert noted.columns == ["id", "a", "b", f"{GAP}a"]
    assert noted[f"{GAP}a"].to_list() == [False, True, None]
