"""Papers of adjusted tables: nothing that tells which cells were changed, or by how much."""

import polars as pl

from sfumato.report.tabular.adjusted import papers_of_adjusted
from sfumato.tables.adjust import adjust
from sfumato.tables.table import Table


def test_neither_cells_nor_changes_are_told():
    rows = {"sex": ["Total", "f", "m"], "count": [99, 97, 2], "status": ["z", "s", "u"]}
    levels = {"lower_level": [None, None, 2], "upper_level": [None, None, 71]}
    papers = papers_of_adjusted(adjust(Table.of(pl.DataFrame(rows | levels))))
    assert (papers.internal, papers.figures) == (False, {"cells": 3})
    assert "Which cells were changed is not told" in " ".join(papers.sentences)
    assert not any(number in str(papers) for number in ("71", "97", "99"))
