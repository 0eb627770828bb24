import json

import polars as pl
import pytest

from tests.portable.agreement import disagreements

LINE = {"measure": "risk1", "variable": None, "group": None, "at": 0.01, "attack": None}


def written(folder, values, figure):
    folder.mkdir()
    pl.DataFrame({"id": range(len(values)), "x": values}).write_parquet(folder / "plan.parquet")
    told = [{**LINE, "value": figure, "baseline": None, "printed": [f"{figure:.3g}", "–"]}]
    (folder / "plan.json").write_text(json.dumps(told))
    return folder


@pytest.mark.parametrize(
    ("values", "figure", "apart"),
    [
        ([1.0, None, 1e6], 0.125, []),
        ([1.0, None, 1e6 + 1e-4], 0.125, []),
        ([1.0, None, 1e6 + 1e-2], 0.125, ["x differs in 1 of 3 rows"]),
        ([1.0, 2.0, 1e6], 0.125, ["x differs in 1 of 3 rows"]),
        ([1.0, None, 1e6], 0.12500001, []),
        ([1.0, None, 1e6], 0.1245 - 1e-12, []),
        ([1.0, None, 1e6], 0.126, ["risk1 0.01: value 0.125 or 0.126"]),
        ([1.0, None], 0.125, ["tables of different shape or types"]),
    ],
)
def test_releases_agree_to_their_tolerance_and_findings_to_their_digits(tmp_path, values, figure, apart):
    one = written(tmp_path / "one", [1.0, None, 1e6], 0.1245 if figure < 0.1246 else 0.125)
    other = written(tmp_path / "other", values, figure)
    assert disagreements(one, other) == [f"plan: {told}" for told in apart]
