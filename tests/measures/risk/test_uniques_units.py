import polars as pl
import pytest

import sfumato as sf
from sfumato.engines.polars import PolarsDataset
from sfumato.measures.risk.uniques_units import units_alone
from tests.measures.homes import BOOK, HOMES


def test_alone_by_the_keys_of_all_rows():
    """Homes 1 and 2 are a woman and a man each, 4 and 5 a man each; only 3 is alone."""
    assert units_alone(PolarsDataset(HOMES, BOOK), ["sex"], "home") == pytest.approx(1 / 5)


def test_order_and_names_do_not_matter():
    other = HOMES.sample(fraction=1, shuffle=True, seed=3).with_columns(home=-pl.col("home") % 7)
    assert units_alone(PolarsDataset(other, BOOK), ["sex", "age"], "home") == pytest.approx(3 / 5)
    assert units_alone(PolarsDataset(HOMES, BOOK), ["sex", "age"], "home") == pytest.approx(3 / 5)


def test_a_row_without_a_unit_is_one_of_its_own():
    """Alone are home 1, whose like has no id any more, home 3, and the woman without a home."""
    frame = HOMES.with_columns(home=pl.Series([1, 1, None, None, 3, 3, 4, 5]))
    assert units_alone(PolarsDataset(frame, BOOK), ["sex"], "home") == pytest.approx(3 / 6)


def test_rows_without_any_key_are_not_looked_at():
    frame = pl.DataFrame({"home": [1, 1, 2], "sex": ["f", None, "f"]})
    assert units_alone(sf.read(frame), ["sex"], "home") == 0.0


def test_households_of_a_public_file(shared_data):
    """Share .44 of 1,000 households: computed independently (notes on units, testdata.csv of sdcMicro)."""
    frame = pl.read_csv(shared_data / "sdcmicro" / "testdata.csv").with_columns(pl.col("age") // 10)
    assert units_alone(sf.read(frame), ["sex", "age"], "ori_hid") == pytest.approx(0.44, abs=0.005)
