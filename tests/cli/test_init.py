"""`init`, then `protect`, nothing changed: on every table of people that we have, it ends well or says what to do."""

from __future__ import annotations

import re

import pytest

from sfumato.examples import cohort
from tests.real_data import real_data

NO_PEOPLE = re.compile(r"_(act|geo|size|table)$|_corr_|insee_turnover|insee_datatest|ssb_sprt|pp_table|synth_[LM]")
"""Lists of codes, tables of counts, and files that only take long."""
NO_HEADER = "tauargus_ckm_magnitude_microdata"


def microdata():
    folders = ("", "adult", "sdcmicro", "tables")
    paths = [p for folder in folders for p in sorted((real_data() / folder).glob("*.csv"))]
    return [p for p in paths if not NO_PEOPLE.search(p.stem)]


@pytest.fixture(scope="module")
def ended():
    return {}


def case(path):
    return pytest.param(path, id=path.stem, marks=[pytest.mark.slow] if path.stat().st_size > 1 << 15 else [])


@pytest.mark.parametrize("path", [case(p) for p in microdata()])
def test_it_ends_well_or_says_what_to_do(sfumato, tmp_path, monkeypatch, ended, path):
    monkeypatch.chdir(tmp_path)
    more = ("--no-header",) if path.stem == NO_HEADER else ()
    assert sfumato("init", path, "--out", "plan.yaml", *more).returncode == 0
    done = sfumato("protect", "plan.yaml", path, "--out", "release", *more)
    ended[path.stem] = done.returncode
    assert done.returncode in (0, 1), done.stderr
    if done.returncode == 1:
        assert re.search(r"step|centroids|recode|suppress_strata|drop|linkage", done.stderr)


def test_at_least_half_end_well(ended):
    if not ended:
        pytest.skip("the real data sets are absent (set SFUMATO_DATA to their folder)")
    assert 2 * sum(status == 0 for status in ended.values()) >= len(ended)


@pytest.mark.parametrize("records", [30, pytest.param(1000, marks=pytest.mark.slow)])
def test_the_cohort(sfumato, tmp_path, monkeypatch, records):
    monkeypatch.chdir(tmp_path)
    cohort(records).write_csv("cohort.csv")
    assert sfumato("init", "cohort.csv", "--out", "plan.yaml").returncode == 0
    done = sfumato("protect", "plan.yaml", "cohort.csv", "--out", "release")
    assert done.returncode == 0, done.stderr
