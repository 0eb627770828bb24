import polars as pl
import pytest
from hypothesis import given

import sfumato as sf
from sfumato.measures.risk.t_ordered import t_ordered
from tests.measures.tables import BY, ORDER, distributions, records, table


@pytest.mark.slow
@given(records)
def test_as_the_sum_of_cumulated_differences(rows):
    """Li et al. (2007): sum over i of |sum over j ≤ i of q_j − p_j|, over m − 1."""
    groups, whole, _ = distributions(rows)
    levels = [v for v in (*ORDER, None) if v in whole]  # the gap of a class without a value comes last
    expected = [
        sum(abs(sum(g.get(v, 0.0) - whole[v] for v in levels[: i + 1])) for i in range(len(levels)))
        / max(len(levels) - 1, 1)
        for g in groups
    ]
    assert t_ordered(table(rows), BY, "ill") == (pytest.approx(max(expected), abs=1e-12) if groups else None)


def test_the_salaries_of_the_paper():
    """Li, Li & Venkatasubramanian (2007), section 4.1: {3k, 4k, 5k} and {6k, 8k, 11k} of 3k to 11k: 0.375 and 0.167."""
    salaries = [3, 4, 5, 6, 7, 8, 9, 10, 11]
    low = pl.DataFrame({"group": [1 if s < 6 else 2 for s in salaries], "salary": salaries})
    assert t_ordered(sf.read(low), ["group"], "salary") == pytest.approx(0.375)
    spread = low.with_columns(group=pl.col("salary").is_in([6, 8, 11]).cast(pl.Int8) + 1)
    assert t_ordered(sf.read(spread), ["group"], "salary") == pytest.approx(0.167, abs=5e-4)


def test_one_value_is_equal_everywhere():
    assert t_ordered(table([(1, "x", "low"), (2, "x", "low")]), BY, "ill") == 0
