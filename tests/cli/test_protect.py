import json
import re
import shlex

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


PEOPLE = "id,sex,town,age\n" + "\n".join(f"{i},{'fm'[i % 2]},t{i // 4},{20 + i * 7 % 60}.5" for i in range(60))
KEPT = """sfumato: 1
title: Ward 7
variables:
  id: {role: record}
  sex: {role: key, kind: categorical}
  town: {role: other, kind: categorical}
  age: {role: key, kind: continuous}
steps:
  - {do: centroids, columns: [age], by: [sex], k: 10, grouping: mdav}
  - {do: pseudonymise, columns: [id], scope: table, format: number}
limits:
  - {measure: k_anonymity, at_least: 5}
"""
KNOWN = KEPT.replace(
    "limits:", 'unknown:\n  - {columns: [town], because: "asked by us alone, and never told"}\nlimits:'
)
BROKEN = KNOWN.replace("at_least: 5", "at_least: 50")
COMMAND = ("protect", "plan.yaml", "people.csv", "--out", "release", "--secret-file", "key")


@pytest.fixture
def ward(sfumato, tmp_path, monkeypatch):
    """Protects by a plan in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "people.csv").write_text(PEOPLE)
    (tmp_path / "key").write_bytes(bytes(range(32)))

    def run(plan, *more):
        (tmp_path / "plan.yaml").write_text(plan)
        return sfumato(*COMMAND, *more)

    return run


@pytest.mark.parametrize(
    ("plan", "first", "last", "status"),
    [
        (KNOWN, "HOLDS  Ward 7: the size of the smallest group is 30", "open release/report.html", 0),
        (KEPT, "UNDECIDED  Ward 7: holds only if nobody knows town.", "--out plan2.yaml", 1),
        (BROKEN, "EXCEEDED  Ward 7: the size of the smallest group is 30", "--advise --out-plan plan2.yaml", 1),
    ],
)
def test_the_screen_is_the_result_and_stderr_repeats_none_of_it(ward, tmp_path, plan, first, last, status):
    done = ward(plan)
    lines = done.stdout.splitlines()
    assert done.returncode == status
    assert (tmp_path / "release").exists() == (status == 0)
    assert lines[0].startswith(first)
    assert lines[-1].strip().endswith(last)
    assert len(lines) <= 24
    assert max(map(len, lines)) <= 80
    assert "\x1b" not in done.stdout
    said = done.stderr.splitlines()
    assert not set(map(str.strip, lines)) & set(map(str.strip, said))
    assert not any(word in done.stderr for word in ("HOLDS", "EXCEEDED", "UNDECIDED", " limit", "centroids: "))


def test_an_undecided_plan_ends_with_lines_to_copy_and_a_command(ward):
    lines = ward(KEPT).stdout.splitlines()
    assert lines[-4:] == [
        "Next (if nobody knows them, write why):",
        "  unknown:",
        '    - {columns: [town], because: "?"}',
        '  sfumato init people.csv --roles plan.yaml --because "..." --out plan2.yaml',
    ]


def test_what_was_asked_for_is_repeated_by_the_command(ward):
    more = ("--overwrite", "--model", "age ~ C(sex)", "--delimiter", ",", "--header")
    told = json.loads(ward(BROKEN, *more, "--json").stdout)["next"]
    assert len(told) == 1
    words = shlex.split(told[0])
    assert words[:8] == ["sfumato", *COMMAND]
    assert sorted(words[8:]) == sorted((*more, "--advise", "--out-plan", "plan2.yaml"))


@pytest.mark.parametrize(("plan", "verdict"), [(KNOWN, "holds"), (KEPT, "undecided"), (BROKEN, "exceeded")])
def test_json_tells_the_verdict_and_what_is_next(ward, plan, verdict):
    done = ward(plan, "--json")
    told = json.loads(done.stdout)
    assert told["verdict"] == verdict
    assert all(isinstance(line, str) for line in told["next"])
    if verdict == "holds":
        assert told["next"] == ["open release/report.html"]
    else:
        assert told["release"] is None
        assert f"sfumato: {verdict.upper()}  Ward 7: " in done.stderr


def test_forced_it_is_written_and_the_report_is_next(ward, tmp_path):
    done = ward(BROKEN, "--force")
    assert done.returncode == 0
    assert (tmp_path / "release" / "report.html").exists()
    assert "Written all the same." in " ".join(done.stdout.split())
    assert done.stdout.endswith("Next:\n  open release/report.html\n")


def test_steps_are_told_on_stderr_where_one_asks_for_them(ward):
    quiet, loud = ward(KNOWN), ward(KNOWN, "--verbose", "--overwrite")
    assert loud.stdout == quiet.stdout
    assert "1. centroids: age: " in loud.stderr
    assert "Nobody outside is taken to know town: asked by us alone, and never told." in loud.stderr
    assert "1. centroids" not in quiet.stderr


def test_a_reader_of_colours_gets_the_same_words(ward, monkeypatch):
    plain = ward(BROKEN).stdout
    monkeypatch.setenv("FORCE_COLOR", "1")
    coloured = ward(BROKEN).stdout
    assert "\x1b[" in coloured
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == plain
    monkeypatch.setenv("NO_COLOR", "1")
    assert not re.search(r"\x1b\[[0-9;]*3[0-9]m", ward(BROKEN).stdout)


def test_signs_that_steer_a_terminal_come_out_harmless(ward):
    done = ward(KNOWN.replace("Ward 7", '"Ward \\e[31m 7"'))
    assert "\x1b" not in done.stdout
    assert done.stdout.startswith("HOLDS  Ward ")


FEW = KNOWN.replace("{do: centroids", "{do: suppress_cells, keys: [sex, town], k: 2}\n  - {do: centroids").replace(
    "town: {role: other", "town: {role: key"
)
FEW = FEW.replace('unknown:\n  - {columns: [town], because: "asked by us alone, and never told"}\n', "")


def test_advice_is_a_plan_that_holds_and_the_command_that_runs_it(ward, sfumato, tmp_path):
    done = ward(FEW, "--advise", "--out-plan", "plan2.yaml")
    lines = done.stdout.splitlines()
    assert done.returncode == 1
    assert not (tmp_path / "release").exists()
    assert lines[0].startswith("EXCEEDED  Ward 7: ")
    assert any(line.startswith("ADVICE  one edit holds: ") for line in lines)
    assert max(map(len, lines)) <= 80
    assert len(lines) <= 24
    command = shlex.split(lines[-1])
    assert command[:3] == ["sfumato", "protect", "plan2.yaml"]
    again = sfumato(*command[1:])
    assert again.returncode == 0, again.stderr
    gone, new = ([line for line in lines if line.startswith(sign)] for sign in "-+")
    assert len(gone) == len(new) == 1
    k = re.search(r"k (\d+) in step 1", done.stdout)[1]
    assert (tmp_path / "plan2.yaml").read_text() == FEW.replace("k: 2}", f"k: {k}}}")


@pytest.mark.slow
def test_advice_as_json(ward, tmp_path, monkeypatch):
    told = json.loads(ward(FEW, "--advise", "--json").stdout)
    k = re.search(r"k (\d+) in step 1", told["advice"]["edits"][0])[1]
    assert told["advice"] == {
        "edits": [f"k {k} in step 1 (suppress_cells)"],
        "plan": FEW.replace("k: 2}", f"k: {k}}}"),
        "holds": True,
    }
    assert told["next"][0].endswith("--advise --out-plan plan2.yaml")
    monkeypatch.setattr("sfumato.tuning.advising._MOST_RUNS", 5)
    none = json.loads(ward(FEW.replace("at_least: 5", "at_least: 5000"), "--advise", "--json").stdout)
    assert none["advice"].keys() == {"holds", "because"}
    assert not none["advice"]["holds"]
    assert "advice" not in json.loads(ward(KNOWN, "--advise", "--json").stdout)


@pytest.mark.parametrize(
    ("more", "says"),
    [
        (("--out-plan", "plan2.yaml"), "give both"),
        (("--advise", "--out-plan", "plan.yaml"), "plan.yaml"),
        (("--advise", "--out-plan", "people.csv"), "people.csv"),
        (("--advise", "--out-plan", "there.yaml"), "is there already"),
    ],
)
def test_advice_that_could_be_written_nowhere_is_refused(ward, tmp_path, more, says):
    (tmp_path / "there.yaml").write_text("mine")
    done = ward(FEW, *more)
    assert done.returncode == 2
    assert says in done.stderr
    assert (tmp_path / "there.yaml").read_text() == "mine"
    assert (tmp_path / "people.csv").read_text() == PEOPLE
