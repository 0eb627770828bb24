"""Coefficients side by side: closed form, what the commands print, and reasons where there is no fit."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import sfumato as sf
from sfumato import steps
from sfumato.api import coefficients as api
from sfumato.api.coefficients import coefficients
from sfumato.errors import DataError, FileError

N = 300
VARIABLES = {
    "id": {"role": "record"},
    "sex": {"role": "key", "kind": "categorical"},
    "ill": {"role": "outcome", "kind": "categorical"},
}


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(5)
    x = rng.normal(size=N)
    return pl.DataFrame(
        {
            "id": range(N),
            "x": x,
            "y": 1 + 2 * x + rng.normal(size=N),
            "sex": rng.choice(["f", "m"], N),
            "ill": np.where(rng.random(N) < 1 / (1 + np.exp(-x)), "yes", "no"),
        }
    )


def released(rows, folder, *done):
    plan = sf.Plan(title="Small", variables=VARIABLES, steps=list(done))
    sf.protect(plan, rows, secret=bytes(16)).write(folder, force=True)
    return plan, folder


@pytest.fixture(scope="module")
def noisy(rows, tmp_path_factory):
    return released(rows, tmp_path_factory.mktemp("noisy") / "release", steps.Noise(columns=["x"], sd=0.7))


def slope(frame):
    design = np.column_stack([np.ones(N), frame["x"]])
    return np.linalg.lstsq(design, frame["y"].to_numpy(), rcond=None)[0][1]


def test_each_side_is_its_least_squares(rows, noisy):
    plan, folder = noisy
    found = coefficients(rows, folder, plan=plan, model="y ~ x")
    line = {one.term: one for one in found.terms}["x"]
    assert line.original.estimate == pytest.approx(slope(rows))
    assert line.released.estimate == pytest.approx(slope(pl.read_parquet(folder / "data.parquet")))
    moved = abs(line.original.estimate - line.released.estimate) / line.original.se
    assert line.moved == pytest.approx(moved)
    # noise of variance 0.49 beside values of variance near 1 takes a third of the slope; without it, it comes back
    assert line.released.estimate == pytest.approx(2 / 1.49, abs=0.25)
    assert abs(line.corrected.estimate - 2) < 3 * line.corrected.se < 0.6
    assert found.records == {"original": N, "released": N, "corrected": N}
    assert "x) moved by" in found.sentences[0]
    assert any("as wide as without noise" in one for one in found.sentences)


@pytest.mark.slow
def test_it_is_what_compare_and_fit_say(rows, noisy):
    plan, folder = noisy
    model = "ill ~ x * C(sex)"
    found = coefficients(rows, folder, plan=plan, model=model, family="logistic")
    measured = sf.compare(rows, folder / "data.parquet", plan=plan, model=model, family="logistic")
    told = {f.variable: f.value for f in measured.select("standardised_difference")}
    fit = sf.fit(model, folder, family="logit").tidy()
    assert [one.term for one in found.terms] == list(told) == fit["term"].to_list()
    assert [one.moved for one in found.terms] == pytest.approx(list(told.values()))
    assert [one.corrected.estimate for one in found.terms] == pytest.approx(fit["estimate"].to_list())
    assert [one.corrected.low for one in found.terms] == pytest.approx(fit["low"].to_list())


@pytest.mark.slow
def test_without_a_model_the_outcome_is_explained_by_all_others(rows, noisy):
    plan, folder = noisy
    found = coefficients(rows, folder, plan=plan)
    assert (found.formula, found.family) == ("ill ~ x + y + C(sex)", "logistic")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("step", "model", "reason"),
    [
        (steps.Recode(columns=["x"], band=[0]), "y ~ x + sex", "coarsened"),
        (steps.Drop(columns=["sex"]), "y ~ x + sex", "does not have"),
    ],
)
def test_what_the_release_cannot_be_fitted_to_has_a_reason(rows, tmp_path, step, model, reason):
    plan, folder = released(rows, tmp_path / "release", steps.Noise(columns=["y"], sd=0.5), step)
    found = coefficients(rows, folder, plan=plan, model=model)
    assert [one.released is None and one.corrected is None for one in found.terms] == [True] * 3
    assert all(one.original.se > 0 for one in found.terms)
    assert set(found.missing) == {"released", "corrected"}
    assert reason in found.missing["released"]


def test_a_fit_without_noise_that_fails_leaves_the_others(rows, noisy, monkeypatch):
    def refuse(*_):
        raise DataError("No.")

    plan, folder = noisy
    monkeypatch.setattr(api, "fit_copies", refuse)
    found = coefficients(rows, folder, plan=plan, model="y ~ x")
    assert found.missing == {"corrected": "The noise could not be taken out. No."}
    assert [one.corrected for one in found.terms] == [None, None]
    assert [one.released is None for one in found.terms] == [False, False]


def test_another_category_of_reference_is_not_set_beside_it(rows, tmp_path):
    thirds = rows.with_columns(sex=pl.Series(["a", *["b", "c"] * N][:N]))
    plan, folder = released(thirds, tmp_path / "release", steps.Drop(columns=["ill"]))
    file = folder / "data.parquet"
    pl.read_parquet(file).filter(pl.col("sex") != "a").write_parquet(file)
    found = coefficients(thirds, folder, plan=plan, model="y ~ sex")
    assert found.missing == {"corrected": api.OTHER_REFERENCE}


def test_copies_are_told_of_by_the_first_and_all_together(rows, tmp_path):
    few = rows.select("id", "x", "y").head(40)
    plan = sf.Plan(variables={"id": {"role": "record"}}, steps=[steps.Synthesise(columns=["x", "y"], copies=2)])
    folder = tmp_path / "release"
    sf.protect(plan, few, secret=bytes(16)).write(folder, force=True)
    found = coefficients(few, folder, plan=plan, model="y ~ x")
    assert api.FIRST_COPY in found.notes
    fit = sf.fit("y ~ x", folder).tidy()
    assert [one.corrected.estimate for one in found.terms] == pytest.approx(fit["estimate"].to_list())


def test_what_cannot_be_fitted_to_the_original_is_refused(rows, noisy, tmp_path):
    plan, folder = noisy
    with pytest.raises(DataError, match="nothing"):
        coefficients(rows, folder, plan=plan, model="y ~ nothing")
    with pytest.raises(DataError, match="no model to take by itself"):
        coefficients(rows.drop("ill"), folder, plan=sf.Plan(variables={"id": {"role": "record"}}))
    with pytest.raises(FileError):
        coefficients(rows, tmp_path, plan=plan, model="y ~ x")
