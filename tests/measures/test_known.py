import polars as pl
import pytest

from sfumato.data.codebook import Codebook
from sfumato.errors import DataError
from sfumato.measures.known import Known

TWO, ONE = pl.DataFrame({"a": [1, 2]}), pl.DataFrame({"a": [1]})


def test_unequal_heights_are_refused_only_where_rows_are_somebodys():
    with pytest.raises(DataError, match="equal numbers of rows"):
        Known(TWO, ONE, Codebook(), ("a",))
    assert not Known(TWO, ONE, Codebook(), ("a",), aligned=False).aligned
