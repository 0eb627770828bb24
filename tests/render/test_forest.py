import io
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from rich.console import Console

import sfumato as sf
from sfumato.render.forest import _paint, forest_plot, show_fit


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
    assert "Standard errors: HC3 (robust)." in text


def test_a_narrow_terminal_breaks_no_number(fit):
    out = io.StringIO()
    show_fit(fit, Console(file=out, width=80))
    (row,) = [line for line in out.getvalue().splitlines() if line.strip().startswith("smoke ")]
    found = fit.tidy().row(1, named=True)
    assert f"{found['low']:.3g} to {found['high']:.3g}".replace("-", "−") in row
    assert "Reliability" in out.getvalue()


@pytest.mark.slow
def test_equal_fits_give_equal_pictures(fit):
    assert forest_plot(fit, "svg") == forest_plot(fit, "svg")
    assert forest_plot(fit, "png")[:4] == b"\x89PNG"
    assert b"naive" in forest_plot(fit, "svg") or b"<path" in forest_plot(fit, "svg")


def test_an_end_that_there_is_not_is_an_arrow_and_a_sign(fit):
    """The drawn area stays that of the finite ends."""
    from matplotlib.figure import Figure

    endless = replace(fit, profile=np.array([[np.nan] * 3, [-0.6, np.inf, 0.2]]))
    out = io.StringIO()
    show_fit(endless, Console(file=out, width=120))
    assert "−0.6 to ∞" in out.getvalue()
    figure = Figure()
    _paint(figure.subplots(), endless, [1])
    (ax,) = figure.axes
    assert ">" in [line.get_marker() for line in ax.lines]
    assert np.isfinite(ax.get_xlim()).all()
    assert ax.get_xlim()[1] < 1.5
    _paint(figure.subplots(), fit, [1])
    assert ">" not in [line.get_marker() for line in figure.axes[-1].lines]


def test_a_term_without_an_estimate_keeps_its_interval(fit):
    """Separated responses: an interval with an open end and no estimate; without an interval nothing is drawn."""
    from matplotlib.figure import Figure

    nan = np.full(2, np.nan)
    rows = np.array([[np.nan] * 3, [-0.6, np.inf, 0.2]])
    endless = replace(fit, estimate=nan, covariance=np.full((2, 2), np.nan), naive=nan, naive_se=nan, profile=rows)
    out = io.StringIO()
    show_fit(endless, Console(file=out, width=120))
    (row,) = [line for line in out.getvalue().splitlines() if line.strip().startswith("smoke ")]
    assert row.split()[:8] == ["smoke", "–", "–", "−0.6", "to", "∞", "0.200", "–"]
    assert "nan" not in out.getvalue()
    figure = Figure()
    _paint(figure.subplots(), endless, [0, 1])
    drawn = [line for line in figure.axes[0].lines if len(line.get_xdata()) and line.get_color() == "#1769aa"]
    assert [line.get_marker() for line in drawn] == ["None", ">"]
