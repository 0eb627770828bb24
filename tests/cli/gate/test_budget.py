import json

import pytest

from tests.e2e.command import sfumato

CONFIG = """gate: 1
store: sqlite:///gate.db
secret_file: key
datasets: {ward: {versions: {v1: ward.csv}, record: id}, clinic: {versions: {v1: clinic.csv}, record: id}}
policies: {research: {preset: datashield, perturbed: {variance: 4}, requests_per_day: 9}}
"""


@pytest.fixture
def folder(tmp_path):
    for name in ("ward", "clinic"):
        rows = "".join(f"{name}{i},{'pq'[i % 2]}\n" for i in range(40))
        (tmp_path / f"{name}.csv").write_text("id,A\n" + rows)
    (tmp_path / "key").write_bytes(bytes(range(32)))
    (tmp_path / "gate.yaml").write_text(CONFIG)
    for arguments in (["init"], ["user", "add", "ann", "--policy", "research"]):
        assert sfumato("gate", *arguments, "--config", "gate.yaml", cwd=tmp_path).returncode == 0
    return tmp_path


def test_what_is_left_of_the_data_set_that_is_named(folder):
    def run(*arguments):
        return sfumato("gate", *arguments, "--config", "gate.yaml", cwd=folder)

    which = run("budget", "ann", "--json")
    assert which.returncode == 2
    assert "clinic, ward" in which.stderr or "ward, clinic" in which.stderr
    assert run("ask", "ann", "A", "--perturbed", "--dataset", "ward").returncode == 0
    left = json.loads(run("budget", "ann", "--dataset", "ward", "--json").stdout)
    assert (left["mu"], left["perturbed"]["left"], left["requests_left"]) == (0.5, 3, 8)
    said = run("budget", "ann", "--dataset", "ward").stdout
    assert "0.50 of 1 is used" in said
    assert "3 more, of variance 4" in said
    assert "Requests today: 8 left." in said
