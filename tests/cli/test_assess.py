"""`sfumato risk` of one file: what is named on the command line, and what is refused there."""

import json

import polars as pl
import pytest

PLANTED = "Marrowby"
FRAME = pl.DataFrame(
    {
        "sex": ["f", "f", "m", "m", None, "f"],
        "area": [1, 1, 2, 2, 2, None],
        "ill": [PLANTED, "cold", PLANTED, "cold", "cold", "cold"],
        "w": [2.5, 3.0, 4.0, 5.0, 6.0, 7.0],
        "bad": [2.5, -3.0, 4.0, 5.0, 6.0, 7.0],
        "home": [1, 1, 2, 3, 3, 3],
    }
)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    FRAME.write_csv(tmp_path / "people.csv")
    FRAME.write_parquet(tmp_path / "people.parquet")
    return tmp_path


@pytest.mark.parametrize("file", ["people.csv", "people.parquet"])
def test_everything_named(folder, sfumato, file):
    named = ("--keys", "sex,area", "--sensitive", "ill", "--weight", "w", "--household", "home")
    done = sfumato("risk", file, *named, "--missing", "wildcard:0.5", "--fraction", "0.2", "--json")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    names = {f["measure"] for f in told["findings"]}
    assert names >= {
        *("k_anonymity", "alpha", "l_distinct", "l_entropy", "l_recursive_c", "t_equal", "t_ordered", "t_hierarchical"),
        *("beta_basic", "beta_enhanced", "delta_disclosure", "risk_average", "risk_highest", "uniques_sample"),
        *("uniques_population_zayatz", "uniques_population_pitman", "uniques_population_snb", "below_k"),
        *("expected_reidentifications", "expected_reidentifications_household", "distinction", "separation"),
    }
    assert {f["at"] for f in told["findings"] if f["measure"] == "below_k"} == {2, 3, 5}
    assert any("wildcard:0.5" in note for note in told["notes"])


def test_for_a_person(folder, sfumato):
    """The screen says the one thing first; all figures are for `--verbose`, notes for stderr."""
    asked = ("risk", "people.csv", "--keys", "sex,area", "--sensitive", "ill")
    done = sfumato(*asked)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == "RISK  33% of the people stand alone by sex and area."
    assert lines[-1] == "  sfumato init people.csv --out plan.yaml"
    assert len(lines) <= 24
    assert "alpha" not in done.stdout
    assert "Sizes of groups" in done.stderr
    assert "Sizes of groups" not in done.stdout
    assert "alpha" in sfumato(*asked, "--verbose").stdout


def test_what_leads_on_from_risk(folder, sfumato):
    told = json.loads(sfumato("risk", "people.csv", "--keys", "sex", "--json").stdout)
    assert told["next"] == ["sfumato init people.csv --out plan.yaml"]
    (folder / "plan.yaml").write_text("sfumato: 1\nlimits:\n  - {measure: k_anonymity, at_least: 5}\n")
    told = json.loads(sfumato("risk", "people.csv", "--keys", "sex", "--json").stdout)
    assert told["next"] == ["sfumato init people.csv --out plan2.yaml"], "a plan that is there is not written over"
    done = sfumato("risk", "people.csv", "--keys", "sex", "--plan", "plan.yaml")
    assert done.returncode == 1
    assert done.stdout.startswith("EXCEEDED  people: ")
    assert done.stdout.endswith("  sfumato protect plan.yaml people.csv --out release --secret-file key\n")
    joined = ("--protected", "people.parquet", "--align", "row-order")
    read = ("--engine", "memory", "--delimiter", ",", "--header")
    told = json.loads(sfumato("risk", "people.csv", *joined, *read[2:], "--json").stdout)
    assert told["next"] == ["sfumato compare people.csv people.parquet --align row-order --delimiter , --header"]
    told = json.loads(sfumato("risk", "people.csv", *joined, *read[:2], "--json").stdout)
    assert told["next"] == ["sfumato compare people.csv people.parquet --align row-order"]
    done = sfumato("risk", "people.csv", *joined, "--plan", "plan.yaml", "--json")
    (advice,) = json.loads(done.stdout)["next"]
    assert advice == "sfumato protect plan.yaml people.csv --out release --advise --out-plan plan2.yaml"


def test_compare_says_what_was_lost_and_leads_on(folder, sfumato):
    FRAME.drop("area").with_columns(w=FRAME["w"] + 3).write_csv("after.csv")
    done = sfumato("compare", "people.csv", "after.csv", "--align", "row-order")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0].startswith("LOST  ")
    assert any(line.split()[:2] == ["Mean", "w"] for line in lines)
    assert lines[-2:] == ["Next:", "  sfumato risk people.csv --protected after.csv --align row-order"]
    assert len(lines) <= 24
    told = json.loads(sfumato("compare", "people.csv", "after.csv", "--json").stdout)
    assert told["next"] == ["sfumato risk after.csv"]
    assert "Figure" in sfumato("compare", "people.csv", "after.csv", "--verbose").stdout


@pytest.mark.parametrize("file", ["people.csv", "people.parquet"])
@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--keys", "sex,nix"), "no column 'nix'"),
        (("--keys", "sex", "--sensitive", "nix"), "no column 'nix'"),
        (("--keys", "sex,ill", "--sensitive", "ill"), "named as keys and as sensitive"),
        (("--keys", "sex,sex"), "named twice"),
        (("--keys", "sex", "--weight", "bad"), "above 0"),
        (("--keys", "sex", "--weight", "ill"), "not numeric"),
        (("--keys", "sex", "--household", "nix"), "no column 'nix'"),
        (("--keys", "sex", "--fraction", "0"), "fraction"),
        (("--keys", "sex", "--fraction", "1.5"), "fraction"),
        (("--keys", "sex", "--missing", "joker"), "wildcard:ALPHA"),
        (("--keys", "sex", "--missing", "wildcard:2"), "wildcard:ALPHA"),
        (("--keys", ","), "name"),
    ],
)
def test_what_is_refused(folder, sfumato, file, arguments, says):
    done = sfumato("risk", file, *arguments, "--json")
    assert done.returncode == 2
    assert says in done.stderr
    assert not done.stdout
    assert PLANTED not in done.stderr
    assert "-3" not in done.stderr


UNIQUES = ("--keys", "sex,area", "--special-uniques", "--fraction", "0.2", "--log-linear", "auto")


@pytest.mark.parametrize("file", ["people.csv", "people.parquet"])
def test_special_and_population_uniques(folder, sfumato, file):
    done = sfumato("risk", file, *UNIQUES, "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)["findings"]
    told = {(f["measure"], f["group"], f["at"], f["variable"]): f["value"] for f in found}
    assert told["special_uniques", "keys", None, None] == 0  # who is alone is so by a missing key
    assert [told["msu", "keys", at, None] for at in (1, 2)] == [0, 0]
    assert told["suda_score", "keys", None, None] == 0
    assert {key[3] for key in told if key[0] == "suda_contribution"} == {"sex", "area"}
    assert {key[1] for key in told if key[0] == "dis_suda"} == {"sum", "highest"}
    assert {key[1] for key in told if key[0] == "loglinear_fit"} == {"tau1", "tau2"}
    assert told["uniques_population_loglinear", "keys", None, None] > 0
    assert told["matches_population_loglinear", "keys", None, None] > 0


@pytest.mark.parametrize("file", ["people.csv", "people.parquet"])
def test_special_records_are_written(folder, sfumato, file):
    """Alone by their weights; without a fraction there is no scaled score."""
    asked = ("--keys", "area,w", "--special-uniques", "--records", "out.csv")
    done = sfumato("risk", file, *asked, "--record", "ill", "--json")
    assert done.returncode == 0, done.stderr
    assert "points at people" in done.stderr
    assert PLANTED not in done.stdout + done.stderr
    listed = pl.read_csv("out.csv")
    assert listed.select("record", "score", "keys").rows() == [(ill, 1, "w") for ill in FRAME["ill"]]
    assert listed["dis"].null_count() == 6
    sfumato("risk", file, *asked)
    assert pl.read_csv("out.csv")["record"].to_list() == [1, 2, 3, 4, 5, 6]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--max-size", "2"), "--special-uniques"),
        (("--score", "shares"), "--special-uniques"),
        (("--records", "out.csv"), "--special-uniques"),
        (("--log-linear", "main"), "fraction"),
        (("--special-uniques", "--max-size", "0"), "max-size"),
        (("--special-uniques", "--records", "people.csv"), "is read by this command"),
        (("--special-uniques", "--records", "nix/out.csv"), "does not exist"),
        (("--special-uniques", "--records", "out.csv", "--record", "nix"), "'nix'"),
        (("--special-uniques", "--records", "out.csv", "--protected", "people.csv", "--record", "home"), "one table"),
    ],
)
def test_what_is_refused_of_uniques(folder, sfumato, arguments, says):
    was = sorted(folder.iterdir())
    done = sfumato("risk", "people.csv", "--keys", "sex,area", *arguments, "--json")
    assert done.returncode == 2
    assert says in done.stderr
    assert not done.stdout
    assert sorted(folder.iterdir()) == was
    assert pl.read_csv("people.csv").height == FRAME.height


@pytest.mark.parametrize("file", ["many.csv", "many.parquet"])
def test_many_keys_need_a_size(folder, sfumato, file):
    keys = [f"k{i}" for i in range(20)]
    many = pl.DataFrame({key: [0, 1, (i + 1) % 3, 0] for i, key in enumerate(keys)})
    many.write_csv("many.csv")
    many.write_parquet("many.parquet")
    asked = ("risk", file, "--keys", ",".join(keys), "--special-uniques", "--records", "out.csv", "--json")
    done = sfumato(*asked)
    assert (done.returncode, done.stdout) == (2, "")
    assert "max_size" in done.stderr
    assert not (folder / "out.csv").exists()
    done = sfumato(*asked, "--max-size", "4")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert [f["at"] for f in told["findings"] if f["measure"] == "msu"] == [1, 2, 3, 4]
    assert any("more than 4 of the 20 keys were not searched" in note for note in told["notes"])
    assert pl.read_csv("out.csv").height == 2
