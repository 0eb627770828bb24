import pytest

LINKS = [
    ("demo", "--out", "link"),
    ("init", "data.csv", "--out", "link"),
    ("schema", "--out", "link"),
    ("protect", "plan.yaml", "data.csv", "--out", "link"),
    ("protect", "plan.yaml", "data.csv", "--out", "link", "--overwrite"),
    ("protect", "plan.yaml", "data.csv", "--out", "new", "--internal-report", "link"),
    ("tune", "plan.yaml", "data.csv", "--parameter", "steps.0.k", "--range", "3:4", "--report", "link"),
    ("tune", "plan.yaml", "data.csv", "--parameter", "steps.0.k", "--range", "3:4", "--picture", "link.svg"),
    ("fit", "release", "--formula", "y ~ x", "--picture", "link.svg"),
]


@pytest.mark.parametrize("arguments", LINKS, ids=lambda a: " ".join(a[:1] + a[-2:]))
def test_no_command_writes_over_a_link_or_through_it(sfumato, tmp_path, monkeypatch, arguments):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "plan.yaml").write_text("sfumato: 1\nsteps:\n  - {do: centroids, columns: [x], k: 3}\n")
    (tmp_path / "data.csv").write_text("x\n" + "\n".join(str(i * 1.5) for i in range(40)))
    (tmp_path / "elsewhere").mkdir()
    for name in ("link", "link.svg"):
        (tmp_path / name).symlink_to(tmp_path / "elsewhere")
    before = set(tmp_path.rglob("*"))
    done = sfumato(*arguments)
    assert done.returncode == 2
    assert "is a symbolic link" in done.stderr
    assert set(tmp_path.rglob("*")) == before
