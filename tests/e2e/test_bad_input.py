"""Every kind of bad input: a clear error, exit status 2, and no file left behind."""

import os

import pytest

from tests.e2e.command import sfumato

PLAN = """sfumato: 1
variables:
  id: {role: record}
  age: {role: key, kind: continuous}
  sex: {role: key, kind: categorical}
steps:
  - {do: centroids, columns: [age], by: [sex], k: 3}
unknown:
  - {columns: [id], because: "asked for this test alone and told to nobody else"}
"""
ROWS = ["id,age,sex", *(f"{i},{20 + i * 1.5},{'fm'[i % 2]}" for i in range(40))]
DATA = "\n".join(ROWS) + "\n"


def changed(line, text):
    return "\n".join([*ROWS[:line], text, *ROWS[line + 1 :]]) + "\n"


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "plan.yaml").write_text(PLAN)
    (tmp_path / "data.csv").write_text(DATA)
    (tmp_path / "key").write_bytes(bytes(32))
    return tmp_path


def refuse(folder, says, plan="plan.yaml", data="data.csv", *more, status=2):
    before = {p: p.stat().st_mtime_ns for p in folder.rglob("*")}
    done = sfumato("protect", plan, data, "--out", "out", "--secret-file", "key", *more, cwd=folder)
    assert done.returncode == status, done.stderr
    assert says.lower() in done.stderr.lower()
    assert "Traceback" not in done.stderr
    assert {p: p.stat().st_mtime_ns for p in folder.rglob("*")} == before


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (None, "no file"),
        (b"", "empty"),
        (b"id,age,sex\n", "header"),
        (b"id,age,age\n1,2,3\n", "column 2, column 3"),
        ("\n".join(ROWS[1:]), "--no-header"),
        (b"\x00\x01\x02\x03PNG\xff\xfe", ""),
        (changed(7, "7,30"), "line 8"),
        (changed(7, "7,30,m,extra"), "line 8"),
        (changed(8, "6,30,m"), "more than once"),
        (changed(7, ",30,m"), "missing ids"),
        (changed(7, "7,inf,m"), "infinite"),
        (changed(7, "7,thirty,m"), "'age'"),
        ("\n".join(["id,age,sex", *(f"{i},,{'fm'[i % 2]}" for i in range(40))]), "no value"),
        ("\n".join(ROWS[:4]), "min_stratum"),
        ("\n".join(row.rpartition(",")[0] for row in ROWS), "'sex'"),
    ],
)
def test_data(folder, content, says):
    path = folder / "data.csv"
    path.unlink()
    if content is not None:
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    refuse(folder, says)


@pytest.mark.parametrize("suffix", [".parquet", ".xlsx", ".sav", ".dta", ".sas7bdat", ".xpt"])
def test_a_file_that_is_not_what_its_name_says(folder, suffix):
    (folder / f"data{suffix}").write_text(DATA)
    refuse(folder, f"data{suffix}", "plan.yaml", f"data{suffix}")


def test_an_unknown_suffix(folder):
    (folder / "data.docx").write_text(DATA)
    refuse(folder, ".sav", "plan.yaml", "data.docx")


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("k: 3", "k: 2", "k must be at least 3"),
        ("k: 3", "k: 300", "min_stratum"),
        ("k: 3", "k: 3, colour: red", "no such key"),
        ("do: centroids", "do: centroid", "must name a method"),
        ("sfumato: 1", "sfumato: 99", "newer sfumato"),
        ("columns: [age]", "columns: [height]", "height"),
        ("columns: [age]", "columns: [sex], by: [id]", ""),
        ("kind: continuous", "kind: text", "kind: continuous"),
        ("role: key, kind: categorical", "role: identifier", "drop"),
        ("sfumato: 1", "sfumato: 1\nx: &a [1]\ny: *a", "anchors"),
        ("sfumato: 1", "sfumato: !!python/name:os.system 1", "tags"),
        ("k: 3", "k: [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[3]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]", "deeply"),
    ],
)
def test_plans(folder, old, new, says):
    (folder / "plan.yaml").write_text(PLAN.replace(old, new))
    refuse(folder, says)


def test_secrets(folder):
    (folder / "key").write_bytes(b"short")
    refuse(folder, "at least 16 bytes")
    (folder / "key").unlink()
    refuse(folder, "cannot be read")


def test_a_plan_that_is_not_there(folder):
    refuse(folder, "no file", "none.yaml")


@pytest.mark.slow
def test_an_existing_release(folder):
    assert (
        sfumato("protect", "plan.yaml", "data.csv", "--out", "out", "--secret-file", "key", cwd=folder).returncode == 0
    )
    refuse(folder, "exists already")
    done = sfumato(
        "protect", "plan.yaml", "data.csv", "--out", "out", "--secret-file", "key", "--overwrite", cwd=folder
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_read_only_folder(folder):
    locked = folder / "locked"
    locked.mkdir(mode=0o500)
    done = sfumato("protect", "plan.yaml", "data.csv", "--out", "locked/out", "--secret-file", "key", cwd=folder)
    assert done.returncode == 2
    assert "Permission denied" in done.stderr


def test_a_full_disk(folder):
    """/dev/full takes nothing: every write to it says that the disk is full."""
    done = sfumato("schema", "--out", "/dev/full", cwd=folder)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr


@pytest.mark.slow
def test_what_is_read_is_not_written_over(folder):
    refuse(folder, "not written over", "plan.yaml", "data.csv", "--internal-report", "data.csv")
    refuse(folder, "must not be in the release folder", "plan.yaml", "data.csv", "--internal-report", "out/in.html")
    done = sfumato("init", "data.csv", "--out", "data.csv", cwd=folder)
    assert done.returncode == 2
    assert (folder / "data.csv").read_text() == DATA


def test_misuse_of_the_command_line(folder):
    for arguments in (("protect",), ("nothing",), ("risk", "data.csv", "--align", "any"), ("protect", "--k")):
        done = sfumato(*arguments, cwd=folder)
        assert done.returncode == 2
        assert "Traceback" not in done.stderr
