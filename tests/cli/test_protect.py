import pytest

DATA = "id,town,age\n" + "\n".join(f"{i},{i},{20 + i}" for i in range(30))
NO_COLUMNS = "{do: drop, columns: [id, town, age]}"
NO_ROWS = "{do: suppress_strata, by: [town], min_count: 2, max_suppressed: 1}"


@pytest.mark.parametrize(
    ("step", "says"),
    [
        (NO_COLUMNS, "No column is left to release. Look at step 1 (drop)"),
        (NO_ROWS, "No record is left to release. Look at step 1 (suppress_strata)"),
    ],
)
@pytest.mark.parametrize("more", [(), ("--force",)])
def test_a_release_of_nothing_is_refused_with_1(sfumato, tmp_path, monkeypatch, step, says, more):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data.csv").write_text(DATA)
    (tmp_path / "plan.yaml").write_text(f"sfumato: 1\nvariables: {{town: {{kind: categorical}}}}\nsteps: [{step}]\n")
    before = set(tmp_path.iterdir())
    done = sfumato("protect", "plan.yaml", "data.csv", "--out", "release", "--internal-report", "in.html", *more)
    assert done.returncode == 1
    assert says in done.stderr
    assert set(tmp_path.iterdir()) == before
