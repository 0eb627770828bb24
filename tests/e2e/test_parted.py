"""A release in parts as a process makes it: killed, it leaves no release, and the next run leaves nothing else."""

import json
import signal

import polars as pl
import pytest

from tests.e2e.command import sfumato
from tests.methods.tables import people

pytestmark = pytest.mark.slow
PLAN = """sfumato: 1
variables:
  id: {role: record}
  x: {role: key, kind: continuous}
  house: {role: other}
steps:
  - {do: noise, columns: [x], by: [g], share: 0.1}
  - {do: centroids, columns: [y], by: [g], k: 3}
"""


@pytest.fixture
def folder(tmp_path):
    for name in ("parts", "spilled"):
        (tmp_path / name).mkdir()
    for i, rows in enumerate(people(120).iter_slices(40)):
        rows.write_parquet(tmp_path / "parts" / f"{i}.parquet")
    (tmp_path / "plan.yaml").write_text(PLAN)
    (tmp_path / "key").write_bytes(bytes(range(32)))
    return tmp_path


def protect(folder, out, before=None):
    line = ["protect", "plan.yaml", "parts/", "--out", out, "--secret-file", "key", "--temp", "spilled", "--force"]
    return sfumato(*line, "--json", cwd=folder, before=before or "tests.e2e.sketching:sketch")


def left(folder):
    return {path.name for path in folder.iterdir()} - {"parts", "plan.yaml", "key", "spilled"}


def test_killed_at_any_point_there_is_no_release_and_the_next_run_sweeps(folder):
    for point in ("reading", "spilling", "measuring", "writing", "renaming"):
        done = protect(folder, "r", f"tests.e2e.faults:{point}")
        assert done.returncode == -signal.SIGKILL, (point, done.stderr)
        assert len(list((folder / "spilled").iterdir())) == 1, point  # those of the runs before were swept
        assert len(left(folder)) == 2 * (point in ("writing", "renaming")), point  # the folder, and its lock
        assert "r" not in left(folder)
    done = protect(folder, "r")
    assert done.returncode == 0, done.stderr
    assert left(folder) == {"r"}
    assert not list((folder / "spilled").iterdir())
    assert json.loads(done.stdout)["parts"] == 1
    assert pl.read_parquet(folder / "r/data/*.parquet").height == 120


def test_at_an_address_there_is_no_release_before_its_papers(folder):
    out = f"file://{folder}/r"
    for point in ("writing", "papers"):
        assert protect(folder, out, f"tests.e2e.faults:{point}").returncode == -signal.SIGKILL
        done = sfumato("card", "r", cwd=folder)
        assert done.returncode == 2, done.stdout
        assert [path.name.startswith("data-") for path in (folder / "r").glob("data*")].count(False) == 0
    done = protect(folder, out)
    assert done.returncode == 0, done.stderr
    assert len(list((folder / "r").glob("data-*"))) == 1
    assert not list((folder / "r").glob(".*"))
    assert sfumato("card", "r", cwd=folder).returncode == 0
