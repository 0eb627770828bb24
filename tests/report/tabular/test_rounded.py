"""Papers of rounded tables: what users must know, and nothing that tells how far a cell is off."""

import polars as pl
import pytest

from sfumato.report.tabular.rounded import papers_of_rounded
from sfumato.tables.round.round import round
from sfumato.tables.table import Table

TABLE = Table.of(pl.DataFrame({"sex": ["Total", "f", "m"], "count": [9, 7, 2]}))


@pytest.mark.parametrize(
    ("method", "said"),
    [("controlled", "sums of their parts"), ("conventional", "nearest multiple of 5"), ("random", "at random")],
)
def test_users_are_told_how(method, said):
    papers = papers_of_rounded(round(TABLE, 5, method, secret=bytes(16)))
    assert said in " ".join(papers.sentences)
    assert (papers.internal, papers.method, papers.figures) == (False, method, {"cells": 3, "base": 5})


def test_the_probability_that_a_count_is_kept_is_not_told():
    papers = papers_of_rounded(round(TABLE, method="barnardise", keep=0.7351, secret=bytes(16)))
    assert "0.7351" not in str(papers)
    assert papers.figures == {"cells": 3}
