import io

import numpy as np
import polars as pl
import pytest
from rich.console import Console

import sfumato as sf
from sfumato.render.forest import forest_plot, show_fit


@pytest.fixture(scope="module")
def fit():
    random = np.random.default_rng(3)
    smoke = random.integers(0, 2, 3_000)
    table = pl.DataFrame(
        {"fev": 3 - 0.5 * smoke + random.normal(0, 0.3, 3_000), "smoke": smoke + random.normal(0, 0.7, 3_000)}
    )
    noise = sf.Disclosure([sf.Additive(("smoke",), [[0.49]], values=(0, 1))])
    return sf.fit("fev ~ smoke", table, noise)


def test_a_person_reads_naive_beside_corrected(fit):
    out = io.StringIO()
    show_fit(fit, Console(file=out, width=120))
    text = out.getvalue()
    assert "fev ~ smoke" in text
    assert "95% interval" in text
    row = fit.tidy().row(1, named=True)
    assert f"{row['estimate']:.4g}".replace("-", "−") in text
    assert f"{row['naive']:.4g}".replace("-", "−") in text
    assert "NOT CONVERGED" not in text


def test_equal_fits_give_equal_pictures(fit):
    assert forest_plot(fit, "svg") == forest_plot(fit, "svg")
    assert forest_plot(fit, "png")[:4] == b"\x89PNG"
    assert b"naive" in forest_plot(fit, "svg") or b"<path" in forest_plot(fit, "svg")
