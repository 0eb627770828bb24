import io

import polars as pl
import pytest

from sfumato.gate.downloads import TYPES, download
from sfumato.gate.serving.core import Release

CONTENT = {
    "dataset": "ward",
    "version": "v1",
    "table": "count,town",
    "by": [["count", ""], ["town", ""]],
    "columns": ["count", "town", "count"],
    "rows": [["a", "=1+1", 5], ["b", "https://x", 7]],
    "exact": True,
    "disclosure": "The counts are true.",
    "ledger": {"seq": 6, "hash": "e" * 64},
}
GIVEN = Release("r1", "ann", "ward", "2026-01-01T00:00:00.000000Z", CONTENT, "d" * 64, (7, "f" * 64))


def test_every_form_has_the_same_rows():
    frames = {
        "csv": pl.read_csv(io.BytesIO(download(GIVEN, "csv"))),
        "parquet": pl.read_parquet(io.BytesIO(download(GIVEN, "parquet"))),
        "xlsx": pl.read_excel(io.BytesIO(download(GIVEN, "xlsx")), sheet_name="release"),
    }
    assert frames.keys() == TYPES.keys()
    for form, frame in frames.items():
        assert frame.columns == ["count", "town", "count_3"]
        formula = "'=1+1" if form == "csv" else "=1+1"
        assert frame.rows() == [("a", formula, 5), ("b", "https://x", 7)]


@pytest.mark.parametrize("code", ["-9", "+1.5", "-", "x=1"])
def test_codes_that_are_no_formulas_stay(code):
    given = Release(**{**vars(GIVEN), "content": CONTENT | {"rows": [["a", code, 5]]}})
    written = download(given, "csv").decode().splitlines()[1].split(",")[1]
    assert written == ("'-" if code == "-" else code)


def test_an_empty_release():
    empty = Release(**{**vars(GIVEN), "content": CONTENT | {"rows": []}})
    for form in TYPES:
        assert download(empty, form)


def test_papers():
    papers = pl.read_parquet_metadata(io.BytesIO(download(GIVEN, "parquet")))
    assert papers["sfumato:ledger entry"] == f"7:{'f' * 64}"
    assert papers["sfumato:protection"] == "The counts are true."


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_the_same_release_gives_the_same_file(form):
    assert download(GIVEN, form) == download(GIVEN, form)
