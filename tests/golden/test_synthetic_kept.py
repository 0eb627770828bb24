"""Relations of real tables are kept: sales of electricity by sector are never more than all of them."""

import polars as pl
import pytest

from sfumato.data.codebook import Codebook, Variable
from sfumato.draws import Draws
from sfumato.engines.polars import PolarsDataset
from sfumato.methods.synthesise.method import Synthesise
from sfumato.release.run import run_steps

PARTS, ALL = ("RESSALES", "COMSALES", "INDSALES"), "TOTSALES"


@pytest.mark.parametrize("more", [{}, {"smooth": True, "min_leaf": 20}, {"method": "parametric"}])
def test_sales_of_electricity(shared_data, more):
    """Of the original two to four records break each; without `keep` more than twice as many of a copy do."""
    names = ("STATE", *PARTS, ALL)
    frame = pl.read_csv(shared_data / "sdcmicro" / "EIA.csv").select(names)
    book = Codebook({n: Variable(kind="continuous" if n != "STATE" else "categorical") for n in names})
    exceptions = {n: frame.filter(pl.col(n) > pl.col(ALL)).height for n in PARTS}
    assert exceptions == {"RESSALES": 2, "COMSALES": 2, "INDSALES": 4}
    step = Synthesise(copies=1, keep=[f"{n} <= {ALL}" for n in PARTS], **more)
    ran = run_steps([step], PolarsDataset(frame, book), Draws(bytes(16)))
    out = ran.after.frame
    assert all((out[n] <= out[ALL]).all() for n in PARTS)
    assert all(frame[n].min() <= out[n].min() <= out[n].max() <= frame[n].max() for n in (*PARTS, ALL))
    notes = " ".join(ran.steps[0].notes)
    assert all(f"{n} <= {ALL}: {many} records" in notes for n, many in exceptions.items())
    free = run_steps([step.model_copy(update={"keep": ()})], PolarsDataset(frame, book), Draws(bytes(16))).after.frame
    assert sum(free.filter(pl.col(n) > pl.col(ALL)).height for n in PARTS) > 2 * 8
