"""Models on releases as long work: found again by what was asked, fitted anew where that came to nothing."""

import polars as pl
import pytest

import sfumato as sf
from sfumato import steps
from sfumato.errors import FileError
from sfumato.web.problems import Problem
from sfumato.web.studio import fitting
from tests.web.studio.pages.opened import looking, words

MODEL = ("y ~ x", "linear")
ASKED = {"folder": "release", "formula": "y ~ x", "family": "linear"}


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    """Somebody without a file, and a release of this machine."""
    folder = tmp_path_factory.mktemp("receiver")
    rows = {"id": range(60), "x": [float(i % 13) for i in range(60)], "y": [i % 13 + i % 5 for i in range(60)]}
    plan = sf.Plan(variables={"id": {"role": "record"}}, steps=[steps.Noise(columns=["x"], sd=1)])
    sf.protect(plan, pl.DataFrame(rows), secret=bytes(16)).write(folder / "release", force=True)
    with looking(folder, None) as someone:
        yield someone, folder / "release"


@pytest.fixture(autouse=True)
def _nothing_was_asked(world):
    world[0].studio.jobs._jobs.clear()


def test_a_model_is_fitted_once_and_found_by_what_was_asked(world):
    studio, release = world[0].studio, world[1]
    assert fitting.found(studio, release, *MODEL) is None
    job = fitting.begun(studio, release, *MODEL)
    assert fitting.found(studio, release, *MODEL) is job
    assert fitting.found(studio, release, "x ~ y", "linear") is None
    assert job.result == sf.fit("y ~ x", release).to_plain()
    assert [row["term"] for row in fitting.told(job)["rows"]] == ["Intercept", "x"]
    (release / "datapackage.json").touch()  # it may be another release by now
    assert fitting.found(studio, release, *MODEL) is None


def test_what_it_wrote_may_be_gone(world):
    studio, release = world[0].studio, world[1]
    job = fitting.begun(studio, release, *MODEL)
    (job.work.out / "told.json").unlink()
    assert fitting.found(studio, release, *MODEL) is None
    with pytest.raises(Problem) as raised:
        fitting.told(job)
    assert raised.value.status == 404
    with pytest.raises(FileError):
        fitting.begun(studio, release / "none", *MODEL)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("state", "said"),
    [("running", "The model is being fitted"), ("cancelled", "was cancelled"), ("failed", "There was no memory")],
)
def test_a_page_that_is_opened_again_says_what_became_of_it(world, state, said):
    someone, release = world
    job = fitting.begun(someone.studio, release, *MODEL)
    job.tell(state=state, message="There was no memory.")
    part = someone.see("/pages/analyse/fit", params=ASKED)
    assert said in words(part)
    assert "Corrected" not in part
    again = someone.send("/pages/analyse/fit", data=ASKED)
    assert ("Corrected" in again) is (state != "running")
    assert ('data-job="' in again) is (state == "running")
    assert someone.client.get("/pages/analyse/fit.csv", params=ASKED).status_code == (
        404 if state == "running" else 200
    )
