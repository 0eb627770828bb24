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
    """Details are named and not shown; a sentence says what an intruder finds."""
    done = sfumato("risk", "people.csv", "--keys", "sex,area", "--sensitive", "ill")
    assert done.returncode == 0, done.stderr
    printed = " ".join(done.stdout.split())
    assert "Measured as well (--json shows them): risk_highest" in printed
    assert "alpha ill" not in printed
    assert "finds 67% of the people" in printed


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
