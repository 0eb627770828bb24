import polars as pl
import pytest

from sfumato.errors import DataError
from sfumato.methods.suppress_strata import SuppressStrata
from tests.methods.tables import run

LAWFUL = [SuppressStrata(by=["g", "h"], min_count=8, max_suppressed=0.5)]


def test_suppress_strata():
    frame = pl.DataFrame({"age": [1, 2, 3, 4, 5], "city": ["a", "a", "b", "a", None], "size": [0.0] * 5})
    ran = run(SuppressStrata(by=["city"], min_count=2, max_suppressed=0.5), frame)
    assert ran.after.frame["age"].to_list() == [1, 2, 4]
    assert ran.steps[0].notes == ("2 records were left out.",)
    with pytest.raises(DataError, match="max_suppressed"):
        run(SuppressStrata(by=["city"], min_count=2, max_suppressed=0.3), frame)
