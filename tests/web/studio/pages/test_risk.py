"""The page Risk: what the address says is what is counted, and nobody's values are named."""

from __future__ import annotations

import re
import time

import polars as pl
import pytest

from sfumato.measures.registry import measures
from tests.web.studio.entered import entered, people


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    with entered(tmp_path_factory.mktemp("risk")) as (_, client):
        yield client


def text(answer) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", answer.text).split())


def test_the_page_keeps_its_choice_in_the_address(client):
    page = client.get("/risk?asked=1&keys=sex&keys=age&fraction=5%25")
    assert "<h1>Risk</h1>" in page.text
    assert "/pages/risk/look?asked=1&amp;keys=sex&amp;keys=age&amp;fraction=5%25" in page.text
    assert "style=" not in page.text


def test_by_default_the_keys_of_the_plan_are_looked_at(client):
    sizes = people().group_by("sex", "age").len()["len"]
    alone = int((sizes == 1).sum())
    told = text(client.get("/pages/risk/look"))
    assert f"{alone} of 120 records are alone" in told
    assert "sfumato risk people.csv --keys sex,age --sensitive ill" in told
    assert "Keys: sex, age" in told


def test_weights_and_fraction_are_taken_from_the_address(client):
    told = text(client.get("/pages/risk/look?asked=1&keys=sex&fraction=5%25"))
    assert "at the fraction of 5%" in told
    assert "--fraction 0.05" in told
    told = text(client.get("/pages/risk/look?asked=1&keys=sex&weight=income"))
    assert "by the weights of income" in told


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("asked=1", "No variable has the role key yet"),
        ("keys=shoe", "There is no column"),
        ("keys=sex&fraction=many", "sampling fraction is a share"),
        ("keys=sex&sensitive=sex", "named as keys and as sensitive"),
        ("keys=sex&weight=ill", "holds no sampling weights"),
    ],
)
def test_what_cannot_be_looked_at_is_said_on_the_page(client, query, said):
    answer = client.get(f"/pages/risk/look?{query}")
    assert answer.status_code == 200
    assert said in text(answer)


def test_sensitive_values_of_whole_groups_are_counted(client):
    table = people()
    groups = table.group_by("age").agg(pl.len().alias("n"), pl.col("ill").n_unique())
    several = groups.filter((groups["ill"] == 1) & (groups["n"] > 1))
    told = text(client.get("/pages/risk/look?keys=age&sensitive=ill"))
    assert f"ill {several.height} {several['n'].sum()} {(groups['n'] == 1).sum()}" in told


def test_every_measure_of_risk_is_there_with_its_attacker(client):
    answer = client.get("/pages/risk/measures")
    told = text(answer)
    for measure in measures().values():
        if measure.of_risk:
            for figure in measure.figures:
                assert f"<code>{figure.name}</code>" in answer.text
    assert "Somebody who knows only these values" in told


def test_single_groups_are_not_named(client):
    answer = client.get("/pages/risk/measures?keys=sex&keys=age&sensitive=ill").text
    assert "sex=f" not in answer
    assert "lines of single groups" in answer


def when_done(client, address):
    """What a page says once it offers no more to cancel what it waits for; the limit of the test is the limit here."""
    while "Cancel" in (answer := client.get(address)).text:
        time.sleep(0.1)
    return answer


@pytest.mark.slow
def test_larger_sets_are_searched_in_a_process_of_its_own(client):
    address = "/pages/risk/larger?keys=sex&keys=age&keys=income"
    assert "Most keys at once" in client.get(address).text
    assert "Cancel" in client.post(address, data={"most": "2"}).text
    answer = when_done(client, address)
    assert "What makes records stand out" in text(answer)
    assert "The search is done" not in text(client.get("/pages/risk/larger?keys=sex&keys=age"))


def test_names_of_columns_are_text(client):
    answer = client.get("/pages/risk/look?keys=%3Cscript%3Ealert(1)%3C/script%3E")
    assert "<script>" not in answer.text
    assert "&lt;script&gt;" in answer.text


@pytest.mark.slow
def test_all_risks_of_a_large_file_are_measured_in_a_process_of_its_own(client):
    address = "/pages/risk/all?keys=sex&keys=age&sensitive=ill"
    assert "Measure all of them" in client.get(address).text
    assert "All risks are being measured" in client.post(address).text
    answer = when_done(client, address)
    at_once = text(client.get("/pages/risk/measures?keys=sex&keys=age&sensitive=ill"))
    assert text(answer) == f"All risks are measured. {at_once}"
    assert "Measure all of them" in client.get("/pages/risk/all?keys=sex").text
