"""A table of totals leaves as one file or as a folder, and nothing confidential leaves with it."""

import json

import polars as pl
import pytest

import sfumato as sf
from sfumato.errors import DataError, FileError, LimitExceeded, ReleaseExists
from sfumato.release.tabular.hand_out import hand_out, refuse_out
from sfumato.report.tabular.papers import TablePapers
from sfumato.tables.table import Table

FIRMS = pl.DataFrame(
    {
        "region": ["north"] * 8 + ["south"] * 8,
        "town": ["Leeds"] * 4 + ["York"] * 4 + ["Bath"] * 4 + ["Wells"] * 4,
        "kind": ["mill", "mill", "mine", "mine"] * 4,
        "firm": [f"firm{i}" for i in range(16)],
        "turnover": [7919.37, 3.117, *(round(140.213 + 17.319 * i, 3) for i in range(14))],
    }
)
"""In Leeds one mill has nearly all: its turnover is planted, and so is the parameter of the rule that finds it."""
RULE = "p(17.3)"


@pytest.fixture(scope="module")
def done():
    built = sf.tables.build(sf.read(FIRMS), "region>town,kind", "turnover", contributors="firm")
    return sf.tables.protect(built, [RULE, "n(2)"])


def everything(folder):
    return "\n".join(path.read_text() for path in folder.iterdir())


def test_a_name_with_csv_is_one_file_and_any_other_a_folder(done, tmp_path):
    sf.hand_out(done, tmp_path / "t.csv")
    sf.hand_out(done, tmp_path / "t")
    assert (tmp_path / "t.csv").read_bytes() == (tmp_path / "t" / "data.csv").read_bytes()
    assert sorted(path.name for path in (tmp_path / "t").iterdir()) == ["data.csv", "datapackage.json", "report.html"]


def test_nothing_confidential_leaves(done, tmp_path):
    text = everything(sf.hand_out(done, tmp_path / "out"))
    assert done.primary > 0
    hidden = done.judged.cells.filter(pl.col("status").is_in(["u", "x"]))
    for value in hidden["turnover"]:
        assert f"{value:.10g}" not in text
    for secret in (
        "7919",
        "7,919",
        "17.3",
        "firm0",
        f"{done.secondary_value:.10g}",
        "largest,",
        '"largest"',
        "lower_level",
    ):
        assert secret not in text
    assert "n(2)" in text  # thresholds are public


def test_how_many_cells_are_unsafe_is_not_told_where_their_status_is_not(tmp_path):
    built = sf.tables.build(sf.read(FIRMS), "region>town,kind", "turnover")
    out = sf.hand_out(sf.tables.protect(built, RULE), tmp_path / "out")
    told = json.loads((out / "datapackage.json").read_text())["sfumato"]["table"]
    assert told["figures"].keys() == {"cells", "hidden"}
    assert "■" not in (out / "report.html").read_text()


def test_the_custodians_folder_tells_all_and_says_so(done, tmp_path):
    out = sf.hand_out(done, tmp_path / "judged", internal=True)
    assert RULE in everything(out)
    assert "INTERNAL" in (out / "report.html").read_text()
    assert json.loads((out / "datapackage.json").read_text())["sfumato"]["table"]["internal"] is True


def test_a_table_that_nobody_protected_is_the_custodians(tmp_path):
    out = sf.hand_out(sf.tables.build(sf.read(FIRMS), "town", "turnover"), tmp_path / "built")
    assert "INTERNAL" in (out / "report.html").read_text()


@pytest.mark.parametrize("column", ["contributors", "largest", "second", "lower_level", "upper_level", "cell_key"])
def test_columns_of_the_custodian_are_not_handed_out(column, tmp_path):
    table = Table.of(pl.DataFrame({"town": ["a"], "count": [3], column: [1.0]}))
    with pytest.raises(DataError, match=column):
        hand_out(table, tmp_path / "t.csv", TablePapers("Towns"))
    assert not list(tmp_path.iterdir())


def test_values_of_hidden_cells_are_not_handed_out(tmp_path):
    table = Table.of(pl.DataFrame({"town": ["a", "b"], "count": [3, 4], "status": ["s", "x"]}))
    with pytest.raises(DataError, match="hidden cell"):
        hand_out(table, tmp_path / "t", TablePapers("Towns"))
    assert not list(tmp_path.iterdir())


def test_what_failed_the_audit_is_handed_out_by_force_only(tmp_path):
    rows = pl.DataFrame({"sex": ["Total", "f", "m"], "count": [5, 4, 1], "status": ["z", "z", "u"]})
    done = sf.tables.protect(Table.of(rows))
    assert not done.ok
    with pytest.raises(LimitExceeded):
        sf.hand_out(done, tmp_path / "t")
    out = sf.hand_out(done, tmp_path / "t", force=True)
    told = json.loads((out / "datapackage.json").read_text())["sfumato"]["table"]
    assert told["passed"] is False
    assert "by the custodian's decision" in told["must_know"][0]


def test_a_folder_is_replaced_only_where_that_is_asked_for(done, tmp_path):
    sf.hand_out(done, tmp_path / "t")
    with pytest.raises(ReleaseExists):
        sf.hand_out(done, tmp_path / "t")
    sf.hand_out(done, tmp_path / "t", overwrite=True)
    (tmp_path / "t" / "mine.txt").write_text("mine")
    with pytest.raises(ReleaseExists):
        sf.hand_out(done, tmp_path / "t", overwrite=True)


def test_the_custodians_table_never_takes_the_place_of_a_release_or_one_in_it(done, tmp_path):
    sf.hand_out(done, tmp_path / "out")
    for place in ("out", "out/judged", "out/judged.csv"):
        with pytest.raises(FileError, match="release folder"):
            sf.hand_out(done, tmp_path / place, internal=True, overwrite=True)
    sf.hand_out(done, tmp_path / "own", internal=True)
    sf.hand_out(done, tmp_path / "own", internal=True, overwrite=True)  # its own folder may be replaced


def test_nothing_is_left_where_the_page_cannot_be_drawn(done, tmp_path):
    def broken(*_):
        raise DataError("no")

    with pytest.raises(DataError):
        hand_out(done.table, tmp_path / "t", TablePapers("t"), renderer=broken)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["t.parquet", "t.xlsx", "T.TSV"])
def test_names_of_other_files_are_no_folders(name, tmp_path):
    with pytest.raises(FileError, match="csv"):
        refuse_out(tmp_path / name)


def test_what_is_read_is_not_written_over(tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "data.csv").write_text("a")
    for out in ("in", "in/data.csv"):
        with pytest.raises(FileError, match="Choose another path"):
            refuse_out(tmp_path / out, tmp_path / "in" / "data.csv")
    with pytest.raises(FileError, match="Choose another path"):
        refuse_out(tmp_path / "in" / "more.csv", tmp_path / "in")
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(FileError, match="link"):
        refuse_out(tmp_path / "link")
