"""Codes that are plain gaps are gaps for all steps and measures, wherever the rows are."""

import contextlib

import polars as pl
import pytest

import sfumato as sf
from sfumato.data.codebook import Codebook, Missing, Variable
from sfumato.data.dataset import rows
from sfumato.engines.duckdb import DuckDBDataset
from sfumato.engines.polars import PolarsDataset
from sfumato.engines.spill import Spill
from sfumato.errors import PlanError
from sfumato.measures.taking_part import NO_KEY
from sfumato.plan.binding import entered, read_parts
from sfumato.plan.plan import Plan
from sfumato.release.protect import protect
from sfumato.release.secret import Secret
from sfumato.web.studio.changing import news

GAP = {"code": "*", "gap": True}
VARIABLES = {
    "id": {"role": "record"},
    "town": {"role": "key", "kind": "categorical", "missing": [GAP, "refused"]},
    "sex": {"role": "key", "kind": "categorical", "missing": [GAP]},
    "age": {"role": "key", "kind": "integer", "missing": [GAP, -9]},
    "ill": {"role": "sensitive", "kind": "categorical", "missing": [GAP]},
    "pay": {"role": "other", "kind": "continuous", "missing": [{"low": -8, "high": -1, "gap": True}]},
}
PLAIN = {
    "id": {"role": "record"},
    "town": {"role": "key", "kind": "categorical", "missing": ["refused"]},
    "sex": {"role": "key", "kind": "categorical"},
    "age": {"role": "key", "kind": "integer", "missing": [-9]},
    "ill": {"role": "sensitive", "kind": "categorical"},
    "pay": {"role": "other", "kind": "continuous"},
}
STEPS = [
    {"do": "suppress_cells", "keys": ["town", "sex"], "k": 5},
    {"do": "noise", "columns": ["pay"], "by": ["town"], "share": 0.2, "min_stratum": 2},
]


def marked(n=120):
    """Cells with codes: of a gap, and of those who would not say."""
    towns, sexes = ["P", "Q", "R", "*", "refused"], ["f", "m", "*"]
    return pl.DataFrame(
        {
            "id": range(n),
            "town": [towns[i * 7 % 5] if i % 20 else "*" for i in range(n)],
            "sex": [sexes[i * 5 % 3] if i % 20 else "*" for i in range(n)],
            "age": ["*" if i % 11 == 0 else "-9" if i % 13 == 0 else str(30 + i % 3) for i in range(n)],
            "ill": ["*" if i % 8 == 0 else ["yes", "no"][i % 2] for i in range(n)],
            "pay": [-5.0 if i % 9 == 0 else 100 + (i * 37 % 50) / 2 for i in range(n)],
        }
    )


def emptied():
    """The same with empty cells where the codes of gaps are, and numbers as numbers."""
    star = (pl.when(pl.col(n) != "*").then(pl.col(n)).alias(n) for n in ("town", "sex", "age", "ill"))
    pay = pl.when(pl.col("pay") > 0).then(pl.col("pay")).alias("pay")
    return marked().with_columns(*star, pay).with_columns(pl.col("age").cast(pl.Int64))


def test_codes_of_gaps_are_read_as_gaps_and_others_stay():
    found = Plan(variables=VARIABLES).read(marked())
    assert found.equals(emptied())
    assert found["town"].is_in(["refused"]).any()
    assert (found["age"] == -9).any()
    assert Plan(variables=PLAIN).read(marked())["age"].to_list() == marked()["age"].to_list()


def test_a_column_with_other_texts_stays_text_and_is_refused():
    frame = marked().with_columns(age=pl.lit("old"))
    with pytest.raises(PlanError, match="column 'age' is said to be integer, but some of its cells are text"):
        entered(Plan(variables=VARIABLES), PolarsDataset(frame, Codebook()), released=False)


def test_parts_are_read_as_memory_reads_them(spill):
    plan = Plan(variables=VARIABLES)
    for frame in (marked(), marked().with_columns(age=pl.Series(["1", "*", "2.5"] * 40))):
        parts = DuckDBDataset.of(frame, Codebook(), spill, part_rows=7)
        read = rows(read_parts(plan, parts))
        assert read.sort("id").equals(plan.read(frame))


@pytest.fixture
def spill():
    with contextlib.closing(Spill()) as opened:
        yield opened


def test_all_steps_and_measures_take_them_for_gaps(spill):
    """The release and the figures are those of the table whose cells are empty, in memory and not."""
    secret = Secret(bytes(range(32)))
    plans = [Plan(variables=v, steps=STEPS) for v in (PLAIN, VARIABLES)]
    one = protect(plans[0], PolarsDataset(emptied(), Codebook()), secret)
    two = protect(plans[1], PolarsDataset(marked(), Codebook()), secret)
    assert two.frame.sort("id").equals(one.frame.sort("id"))  # the order of rows is drawn by the plan
    assert two.report.findings.lines == one.report.findings.lines
    assert NO_KEY in two.report.findings.notes
    parts = protect(plans[1], DuckDBDataset.of(marked(), Codebook(), spill, part_rows=7), secret)
    assert parts.report.findings.lines == one.report.findings.lines


@pytest.mark.parametrize("missing", ["category", "wildcard"])
def test_the_risk_of_a_table_as_it_is(missing):
    one = sf.risk(emptied(), plan=Plan(variables=PLAIN), missing=missing)
    two = sf.risk(marked(), plan=Plan(variables=VARIABLES), missing=missing)
    assert two == one
    assert NO_KEY in two.notes
    coded = sf.risk(marked(), plan=Plan(variables={**PLAIN, "age": {"role": "other"}}), missing=missing)
    assert NO_KEY not in coded.notes  # a code that nobody calls a gap is a category


def test_a_gap_is_written_as_it_is_read(tmp_path):
    variable = Variable(missing=[GAP, -9])
    assert variable.missing == (Missing(code="*", gap=True), Missing(code=-9))
    book = Codebook({"age": variable})
    assert Codebook.from_yaml(book.to_yaml()) == book
    secret = Secret(bytes(range(32)))
    release = protect(Plan(variables=VARIABLES, steps=STEPS), PolarsDataset(marked(), Codebook()), secret)
    release.write(tmp_path / "out", force=True)
    papers = (tmp_path / "out" / "datapackage.json").read_text()
    assert '"read as a gap"' in papers
    assert sf.read(tmp_path / "out").codebook["town"].missing == (Missing(code="*", gap=True), Missing(code="refused"))


def test_a_form_of_the_studio_keeps_it():
    variable = Variable(missing=[GAP, -9])
    found = news(variable, Variable(), True, {"missing": "*, -9, -8"})
    assert found["missing"] == [{"code": "*", "gap": True}, "-9", "-8"]
