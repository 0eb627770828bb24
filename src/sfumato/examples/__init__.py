"""Invented data to try things on: nobody in them exists.

They are drawn with an ordinary generator and a public seed, which is right for invented data and wrong for protecting
real ones (see `sfumato.draws`). Data set A is not drawn: it is a published table of counts.
"""

from __future__ import annotations

from sfumato.examples.alspac import asthma_a, asthma_b, asthma_c
from sfumato.examples.cohort import cohort, cohort_codebook
from sfumato.examples.ncds import ncds_like
from sfumato.examples.warehouse import warehouse, warehouse_codebook, warehouse_levels, warehouse_never

__all__ = [
    "asthma_a",
    "asthma_b",
    "asthma_c",
    "cohort",
    "cohort_codebook",
    "ncds_like",
    "warehouse",
    "warehouse_codebook",
    "warehouse_levels",
    "warehouse_never",
]
