"""`init`, then `protect`, nothing changed: on every table of people that we have, it ends well or says what to do."""

from __future__ import annotations

import json
import re

import polars as pl
import pytest

from sfumato.data.codebook import Codebook, Variable
from sfumato.data.files import Table, write_table
from sfumato.examples import cohort
from tests.real_data import real_data

NO_PEOPLE = re.compile(
    r"_(act|geo|size|table)$|_corr_|insee_turnover|insee_datatest|ssb_sprt|pp_table|synth_[LM]|cellkey_testdata"
)
"""Lists of codes, tables of counts, files that only take long, and one that is `testdata` in every byte."""
NO_HEADER = "tauargus_ckm_magnitude_microdata"
NOT_SO = "This file cannot be released in this way because "
"""What `init` says of a file of which no exchange was found that holds."""


def microdata():
    folders = ("", "adult", "sdcmicro", "tables")
    paths = [p for folder in folders for p in sorted((real_data() / folder).glob("*.csv"))]
    return [p for p in paths if not NO_PEOPLE.search(p.stem)]


REFUSED = {
    "r_Titanic",
    "casc1",
    "francdat",
    "microData",
    "ssb_d1",
    "ssb_d2s",
    "ssb_magnitude1",
    "ssb_example1",
    "ssb_power10to1",
}
"""Of 32 files those with so few records, or so few alike, that nothing holds."""
MOST = 600
"""Lines that are taken of a file by day."""
HERE = "tests/cli/test_init.py::test_it_ends_well_or_says_what_to_do"


def cases():
    """Each file, and those that have more lines whole at night."""
    for path in microdata():
        large = path.stat().st_size > 1 << 15
        yield pytest.param(path, MOST, id=path.stem, marks=[pytest.mark.slow] if large else [])
        if path.read_bytes().count(b"\n") > MOST:
            yield pytest.param(
                path, None, id=f"{path.stem}-whole", marks=pytest.mark.nightly(of=f"{HERE}[{path.stem}]")
            )


@pytest.mark.few(4)
@pytest.mark.parametrize(("path", "most"), list(cases()))
def test_it_ends_well_or_says_what_to_do(sfumato, tmp_path, monkeypatch, path, most):
    """With one secret for all: of the smallest files it hangs on the draw whether a limit is met.

    Of a larger file every second, third … line, from its first on, that names the columns.
    """
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SFUMATO_SECRET", "ab" * 16)
    if most:
        lines = path.read_bytes().splitlines(keepends=True)
        path = tmp_path / path.name
        path.write_bytes(lines[0] + b"".join(lines[1 :: -(-len(lines) // most)]))
    more = ("--no-header",) if path.stem == NO_HEADER else ()
    drafted = sfumato("init", path, "--out", "plan.yaml", *more)
    assert drafted.returncode == 0
    done = sfumato("protect", "plan.yaml", path, "--out", "release", *more)
    told = drafted.stdout.startswith(NOT_SO)
    assert done.returncode in ((1, 2) if told else (0,)), done.stdout + done.stderr
    assert not told or path.stem in REFUSED
    assert told or "sfumato protect plan.yaml" in drafted.stdout


FEW = ("id", "name", "sex", "region", "smoker", "bmi", "asthma")


@pytest.mark.parametrize(
    ("records", "columns"), [(30, FEW), *(pytest.param(n, ("*",), marks=pytest.mark.slow) for n in (30, 1000))]
)
def test_the_cohort(sfumato, tmp_path, monkeypatch, records, columns):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SFUMATO_SECRET", "ab" * 16)
    cohort(records).select(columns).write_csv("cohort.csv")
    assert sfumato("init", "cohort.csv", "--out", "plan.yaml").returncode == 0
    done = sfumato("protect", "plan.yaml", "cohort.csv", "--out", "release")
    assert done.returncode == 0, done.stderr


@pytest.fixture
def contacts(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    said = ["none", "ring 020 7946 0958", "mail jo@example.org", "none"]
    pl.DataFrame({"sex": ["f", "m"] * 20, "said": said * 10}).write_csv("contacts.csv")


def told(sfumato, *options):
    done = sfumato("init", "contacts.csv", "--json", *options)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_what_is_found_within_texts_is_told_in_words_and_its_share_in_json_only(sfumato, contacts):
    found = told(sfumato)
    assert found["variables"]["said"]["found"] == {"email": 0.25, "phone": 0.25}
    assert "found" not in found["variables"]["sex"]
    assert "some texts hold e-mail addresses and telephone numbers" in found["plan"]
    assert not re.search(r"0\.25|25%|jo@|7946", found["plan"])
    assert "drop, columns: [said]" in found["plan"]


def test_kinds_sample_and_threshold(sfumato, contacts):
    assert told(sfumato, "--kinds", "phone,iban")["variables"]["said"]["found"] == {"phone": 0.25}
    assert told(sfumato, "--kinds", "iban")["variables"]["said"]["role"] == "other"
    assert told(sfumato, "--threshold", "0.3")["variables"]["said"]["role"] == "other"
    assert told(sfumato, "--sample", "1")["variables"]["sex"]["role"] == "key"
    for options, word in (
        (("--kinds", "mail"), "'mail'"),
        (("--threshold", "2"), "threshold"),
        (("--sample", "0"), "sample"),
    ):
        done = sfumato("init", "contacts.csv", *options)
        assert done.returncode == 2
        assert word in done.stderr


@pytest.mark.parametrize("suffix", [".sav", ".dta"])
def test_value_labels_of_other_programs_do_not_leave(sfumato, tmp_path, monkeypatch, suffix):
    monkeypatch.chdir(tmp_path)
    frame = pl.DataFrame({"ward": [1, 2] * 20, "sex": ["f", "m", "m", "f"] * 10})
    book = Codebook({"ward": Variable(labels={1: "Sister Jo, jo@example.org", 2: "call 020 7946 0958"})})
    write_table(Table(frame, book.only(frame.columns), suffix), tmp_path / f"wards{suffix}")
    assert sfumato("init", f"wards{suffix}", "--out", "plan.yaml").returncode == 0
    assert "some value labels hold e-mail addresses and telephone numbers" in (tmp_path / "plan.yaml").read_text()
    done = sfumato("protect", "plan.yaml", f"wards{suffix}", "--out", "release")
    assert done.returncode == 0, done.stderr
    written = b"".join(path.read_bytes() for path in (tmp_path / "release").iterdir())
    assert b"example.org" not in written
    (tmp_path / "silent.yaml").write_text("sfumato: 1\n")
    refused = sfumato("protect", "silent.yaml", f"wards{suffix}", "--out", "other")
    assert refused.returncode == 2
    assert "value labels" in refused.stderr
    assert "jo@" not in refused.stderr


def test_without_a_file_the_plan_is_printed_and_its_screen_goes_to_stderr(sfumato, contacts):
    done = sfumato("init", "contacts.csv")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("# ")
    assert "DRAFTED" not in done.stdout
    assert "DRAFTED  a plan for contacts.csv" in done.stderr


def test_what_leads_on_stands_at_the_top_of_json(sfumato, contacts):
    found = told(sfumato)
    assert found["next"] == found["draft"]["next"]
    assert found["next"][0].startswith("sfumato protect plan.yaml contacts.csv")
    pl.DataFrame({"sex": ["f", "m"] * 20}).write_csv("others.csv")
    both = json.loads(sfumato("init", "contacts.csv", "others.csv", "--json").stdout)
    assert both["next"] == ["sfumato protect plan.yaml --out release --secret-file key"]
