import json

import polars as pl
import pytest

from sfumato.data.files.hierarchies import write_hierarchy
from sfumato.data.hierarchy import Hierarchy


@pytest.fixture
def files(tmp_path):
    frame = pl.DataFrame({"age": [20 + i % 23 for i in range(230)], "sex": ["f", "m"] * 115})
    frame.write_csv(tmp_path / "people.csv")
    (tmp_path / "h").mkdir()
    write_hierarchy(Hierarchy.intervals(0, 99, [5, 10, 20]), tmp_path / "h" / "age.csv")
    return tmp_path


def asked(files, *more):
    return "anonymise", files / "people.csv", "--keys", "age,sex", "--hierarchies", files / "h", *more


def test_json_and_nothing_is_written(sfumato, files):
    before = sorted(files.rglob("*"))
    done = sfumato(*asked(files, "--k", "9", "--json"))
    assert done.returncode == 0
    told = json.loads(done.stdout)
    assert told["optimal"]
    found, judged = (
        {"score", "levels", "suppressed", "optimal", "bound"},
        {"verdict", "released", "undecided", "unknown"},
    )
    assert set(told) == found | judged | {"release", "ok", "next"}
    people, hierarchies = files / "people.csv", files / "h"
    again = f"--keys age,sex --hierarchies {hierarchies} --k 9 --out release"
    assert told["next"] == [f"sfumato anonymise {people} {again}"]
    assert (told["release"], told["ok"], told["verdict"]) == (None, True, "holds")
    assert sorted(files.rglob("*")) == before


def test_the_screen(sfumato, files):
    shown = sfumato(*asked(files, "--k", "9")).stdout
    lines = shown.splitlines()
    assert lines[0] == "HOLDS  every class of age, sex has 9 records or more."
    assert any(line.split()[0] == "age" for line in lines if line)
    assert "Left out: no record." in lines
    assert lines[lines.index("Next:") + 1].startswith("  sfumato anonymise ")
    assert "nothing loses less" not in shown
    assert "k = 8" not in shown


def test_what_else_could_be_had_is_for_verbose(sfumato, files):
    shown = sfumato(*asked(files, "--k", "9", "--verbose")).stdout
    assert "nothing loses less" in shown
    assert "k = 8" in shown
    assert "suppression_limit = 0.1" in shown


def test_a_release_ends_with_its_report(sfumato, files):
    shown = sfumato(*asked(files, "--k", "9", "--out", files / "out")).stdout
    last = shown.rpartition("Next:")[2].replace("\\\n", " ")  # a long path stands on a line of its own
    assert " ".join(last.split()) == f"open {files / 'out' / 'report.html'}"


def test_a_release_and_the_recoding(sfumato, files):
    done = sfumato(*asked(files, "--k", "9", "--out", files / "out", "--recoding", files / "next.yaml", "--json"))
    assert done.returncode == 0
    told = json.loads(done.stdout)
    assert told["ok"]
    assert told["release"] == str(files / "out")
    assert "do: recode" in (files / "next.yaml").read_text()
    released = pl.read_csv(files / "out" / "data.csv", infer_schema=False)
    assert released.group_by("age", "sex").len()["len"].min() >= 9
    assert "k_anonymity" in (files / "out" / "plan.yaml").read_text()
    assert sfumato(*asked(files, "--out", files / "out")).returncode == 2  # it is there already


def test_what_cannot_be_had_is_1(sfumato, files):
    done = sfumato(*asked(files, "--k", "9999"))
    assert done.returncode == 1
    assert "No levels of the keys meet what is asked (k = 9999)" in done.stderr


def test_unlisted_values_are_for_the_internal_report(sfumato, files):
    write_hierarchy(Hierarchy.intervals(0, 30, [5]), files / "h" / "age.csv")
    done = sfumato(*asked(files, "--internal-report", files / "internal.txt"))
    assert done.returncode == 2
    assert "The hierarchies of age do not list all values" in done.stderr
    assert "41" not in done.stderr.replace(str(files), "")
    assert "age\t41\t10" in (files / "internal.txt").read_text()


@pytest.mark.parametrize(
    ("more", "says"),
    [
        (("--k", "1"), "k: a number of at least 2"),
        (("--suppression-limit", "2"), "suppression_limit: a number of at most 1"),
        (("--attribute-weights", "age"), "KEY=NUMBER"),
        (("--sensitive", "age"), "sensitive, and among the keys"),
        (("--l", "2"), "name it"),
        (("--plan", "none.yaml"), "there is no file"),
    ],
)
def test_misuse_is_2(sfumato, files, more, says):
    done = sfumato(*asked(files, *more))
    assert done.returncode == 2
    assert says in done.stderr


def test_without_keys_they_are_guessed_and_it_is_said(sfumato, files):
    done = sfumato("anonymise", files / "people.csv", "--json")
    assert done.returncode == 0
    assert "was guessed from names and values: age, sex. Name it with --keys." in done.stderr
    (files / "notes.csv").write_text("\n".join(["note", *(f"text number {i} of many" for i in range(40))]))
    none = sfumato("anonymise", files / "notes.csv")
    assert none.returncode == 2
    assert "No column looks like one that an intruder may know" in none.stderr


@pytest.fixture
def households(files):
    frame = pl.read_csv(files / "people.csv").with_row_index("id").with_columns(kids=pl.col("id") % 7)
    frame.write_csv(files / "people.csv")
    return files


def test_what_is_not_decided_is_1_with_or_without_a_folder(sfumato, households):
    for more in ([], ["--out", households / "out"]):
        done = sfumato(*asked(households, "--k", "9", *more))
        assert done.returncode == 1
        assert done.stdout.startswith("UNDECIDED  people: holds only if nobody knows kids. Nothing written.")
        assert '--unknown others --because "..."' in " ".join(done.stdout.replace("\\\n", "").split())
        assert "holds only" not in done.stderr, "nothing is said twice"
    assert not (households / "out").exists()


def test_a_reason_lets_it_leave_with_new_ids(sfumato, households):
    reason = "counted by our own interviewers alone"
    done = sfumato(*asked(households, "--unknown", "others", "--because", reason, "--out", households / "out"))
    assert done.returncode == 0
    assert "Ids in id are replaced by numbers" in done.stderr
    old, new = (pl.read_csv(households / f, infer_schema=False) for f in ("people.csv", "out/data.csv"))
    assert set(new["id"].to_list()) <= {str(n + 1) for n in range(old.height)}
    assert (old["id"] == new["id"]).mean() < 0.1  # of 230 numbers in a random order one or so stays where it was


def test_ids_that_nobody_knows_stay(sfumato, households):
    more = ("--unknown", "others,id", "--because", "numbers of our own sheets, never given to anybody")
    done = sfumato(*asked(households, *more, "--out", households / "out"))
    assert done.returncode == 0
    assert "replaced by numbers" not in done.stderr


def test_where_a_plan_comes_first_it_says_what_becomes_of_ids(sfumato, households):
    (households / "plan.yaml").write_text("sfumato: 1\nvariables: {id: {role: record}, kids: {role: other}}\n")
    done = sfumato(*asked(households, "--plan", households / "plan.yaml"))
    assert done.returncode == 1
    assert "do: pseudonymise, columns: [id]" in done.stdout
