"""The page Tables: a form, a protected table, and the lines that make the same file."""

from __future__ import annotations

import re
import shlex
from contextlib import contextmanager
from html import unescape
from urllib.parse import parse_qsl, urlsplit

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

from sfumato.cli.app import app
from sfumato.release.secret import Secret
from sfumato.web.studio.source import Source
from sfumato.web.studio.tabling import FIELDS, Chosen
from tests.web.studio.pages.opened import looking, words

KEY = bytes(range(40))
TREE = "code,parent\na1,a\na2,a\nb1,b\nb2,b\na,\nb,\n"
ASKED = {"by1": "town", "by2": "ill", "n": "3"}


def firms() -> pl.DataFrame:
    """Invented firms."""
    rng = np.random.default_rng(5)
    return pl.DataFrame(
        {
            "firm": np.arange(90),
            "town": rng.choice(["a1", "a2", "b1", "b2"], 90, p=[0.5, 0.3, 0.15, 0.05]),
            "ill": rng.choice(["=yes", "<i>no</i>"], 90, p=[0.15, 0.85]),
            "size": rng.choice(["s", "l"], 90, p=[0.8, 0.2]),
            "sales": rng.lognormal(3, 1, 90).round(1),
            "a,b": 1,
        }
    )


PLAN = "sfumato: 1\nvariables:\n  firm: {role: record}\nsteps: []\n"


@contextmanager
def looking_at_firms(folder):
    """A studio in which the invented firms are open."""
    with looking(folder, PLAN) as one:
        firms().write_csv(folder / "firms.csv")
        (folder / "towns.csv").write_text(TREE)
        (folder / "key").write_bytes(KEY)
        one.studio.open(Source(folder / "firms.csv"), wait=True, keep=True)
        one.studio.secret = Secret(KEY)
        yield one


@pytest.fixture(scope="module")
def someone(tmp_path_factory):
    with looking_at_firms(tmp_path_factory.mktemp("home")) as one:
        yield one


def made(someone, **fields):
    return someone.send("/pages/tables/run", data=fields)


def line(part):
    """The lines of the command as the page shows them."""
    return unescape(re.search(r"<pre[^>]*><code>(.*?)</code>", part, re.DOTALL)[1])


def ran(lines, folder, monkeypatch):
    """What the lines write."""
    monkeypatch.chdir(folder)
    for words_ in map(shlex.split, lines.replace("sfumato.key", str(folder.parent / "key")).splitlines()):
        done = CliRunner().invoke(app, words_[1:])
        assert done.exit_code == 0, done.output
    return (folder / "table.csv").read_bytes()


def test_the_form_has_what_the_address_says(someone):
    assert "/pages/tables/look?by1=town&amp;n=4" in someone.see("/tables?by1=town&n=4&odd=1")
    assert 'aria-current="page">Tables' in someone.see("/tables")
    part = someone.see("/pages/tables/look?by1=town&tree1=towns.csv&n=4")
    assert part.count('<option value="town" selected>') == 1
    assert '<option value="towns.csv" selected>' in part
    assert 'name="n" value="4"' in part
    assert 'hx-post="/pages/tables/run?by1=town' in part  # a link gives the same, without a button


def test_without_an_address_the_form_has_the_usual_rule_and_identifiers_are_no_variables(tmp_path):
    with looking_at_firms(tmp_path) as new:  # where a table was made already, its form is shown
        part = new.see("/pages/tables/look")
    assert 'name="n" value="3"' in part
    variables = re.search(r'<select name="by1".*?</select>', part, re.DOTALL)[0]
    assert 'value="firm"' not in variables
    assert 'value="town"' in variables


def test_hidden_cells_are_marked_by_shape_and_word_with_what_can_be_worked_out(someone):
    part = made(someone, **ASKED)
    said = words(part)
    assert "The audit was passed" in said
    assert "◆ primary" in said
    assert "◇ secondary" in said
    assert re.search(r"<small>\d+ to \d+</small>", part)
    assert "<i>no" not in part
    assert 'scope="row"' in part
    assert "true " not in said.partition("The protected table")[2].partition("What each")[0]
    own = words(made(someone, **ASKED, own="on"))
    assert "not in the file" in own
    assert someone.studio.planned.text == PLAN


WAYS = {
    "hiding": ASKED,
    "a tree and sums": {"by1": "town", "tree1": "towns.csv", "by2": "size", "value": "sales", "n": "3", "p": "10"},
    "for the public": {
        **ASKED,
        "tell_unsafe": "on",
        "outsider": "on",
        "search": "elimination",
        "cost": "unity",
        "lower": "1",
    },
    "other rules": {"by1": "town", "by2": "size", "value": "sales", "nk_n": "2", "nk_k": "85", "rule": "pq(10,50)"},
    "three variables": {"by1": "town", "by2": "ill", "by3": "size", "n": "2", "protect": "exact"},
    "rounding": {**ASKED, "method": "round", "base": "7"},
    "rounding at random": {**ASKED, "method": "round", "rounding": "random"},
    "off by one": {**ASKED, "method": "round", "rounding": "barnardise"},
    "moving": {"by1": "town", "by2": "size", "value": "sales", "p": "10", "method": "adjust"},
    "coarser codes": {"by1": "town", "tree1": "towns.csv", "by2": "ill", "n": "4", "method": "recode"},
    "noise": {**ASKED, "method": "perturb", "record": "firm"},
    "whose record it is": {**ASKED, "contributors": "sales", "weight": "sales"},
}


@pytest.mark.few(4)
@pytest.mark.parametrize("fields", WAYS.values(), ids=WAYS)
def test_the_lines_write_the_file_that_is_downloaded(someone, fields, monkeypatch, tmp_path):
    folder = someone.studio.folder / tmp_path.name
    folder.mkdir()
    part = made(someone, **fields)
    query = Chosen.of(fields.items()).query
    answer = someone.client.get(f"/pages/tables/table.csv?{query}")
    assert answer.status_code == 200, words(part)
    assert ran(line(part), folder, monkeypatch) == answer.content
    if len(fields.get("by3", "")):
        assert {"size = Total", "size = s", "size = l"} <= set(re.findall(r"<h3[^>]*>([^<]*)", part))


WRONG = {
    "by1": ({"by2": "", "n": "3", "by1": ""}, "at least one variable"),
    "by2": ({"by1": "town", "by2": "town", "n": "3"}, "stands there already"),
    "an identifier": ({"by1": "firm", "n": "3"}, "list of people"),
    "no such column": ({"by1": "x<b>", "n": "3"}, "no such column"),
    "a comma": ({"by1": "a,b", "n": "3"}, "cannot name this column"),
    "n": ({"by1": "town", "n": "three"}, "is a number, such as 3"),
    "n with more": ({"by1": "town", "n": "3) or p(5"}, "is a number, such as 3"),
    "p": ({"by1": "town", "p": "200"}, "up to 100"),
    "half of nk": ({"by1": "town", "nk_n": "2"}, "takes two numbers"),
    "a rule": ({"by1": "town", "rule": "odd(3)"}, "a name that there is not"),
    "no rule": ({"by1": "town"}, "at least one rule"),
    "value": ({"by1": "town", "value": "ill", "n": "3"}, "holds no numbers"),
    "base": ({"by1": "town", "method": "round", "base": "1"}, "from 2 on"),
    "record": ({"by1": "town", "method": "perturb"}, "records&#39; ids"),
    "lower": ({"by1": "town", "n": "3", "lower": "one"}, "such as 1"),
    "seconds": ({"by1": "town", "n": "3", "seconds": "-1"}, "above 0"),
    "method": ({"by1": "town", "n": "3", "method": "odd"}, "one of the list"),
    "search": ({"by1": "town", "n": "3", "search": "odd"}, "takes auto"),
    "protect": ({"by1": "town", "n": "3", "protect": "odd"}, "one of the list"),
    "tree": ({"by1": "town", "tree1": "../key", "n": "3"}, "file of the list"),
    "no tree": ({"by1": "town", "tree1": "firms.csv", "n": "3"}, "file of the list"),
    "a tree of nothing": ({"by1": "town", "by2": "", "tree2": "towns.csv", "n": "3"}, "but no variable"),
    "a tree of other codes": ({"by1": "size", "tree1": "towns.csv", "n": "3"}, "does not list"),
}


@pytest.mark.parametrize(("fields", "said"), WRONG.values(), ids=WRONG)
def test_what_is_wrong_is_said_beside_its_field(someone, fields, said):
    answer = someone.client.post("/pages/tables/run", data=fields)
    assert answer.headers["HX-Retarget"] == "#table-form"
    assert said in answer.text
    assert answer.text.count('aria-invalid="true"') == 1
    assert re.search(r'aria-invalid="true" data-focus', answer.text)
    assert "<b>" not in answer.text


def test_a_tree_is_pasted_and_chosen(someone):
    here = {"HX-Current-URL": "http://127.0.0.1:8765/tables?by1=town&n=3"}
    sent = {"file": ("../\u0433\u043e\u0440\u043e\u0434.csv", TREE)}
    answer = someone.client.post("/pages/tables/hierarchy", data={"which": "1"}, files=sent, headers=here)
    assert "%2F_____.csv" in answer.headers["HX-Redirect"]
    answer = someone.client.post("/pages/tables/hierarchy", data={"which": "1", "text": TREE}, headers=here)
    assert answer.status_code == 204
    address = answer.headers["HX-Redirect"]
    assert address.startswith("/tables?by1=town&tree1=sent%3A")
    part = made(someone, **dict(parse_qsl(urlsplit(address).query)))
    assert "--hierarchy town=town.csv" in line(part)
    link = unescape(re.search(r'href="(/pages/tables/hierarchy.csv[^"]*)"', part)[1])
    assert someone.client.get(link).text == TREE
    assert "Σ" in words(part)


@pytest.mark.parametrize(("text", "said"), [("", "paste its text"), ("a,\n,b\n", "gap")])
def test_what_is_no_tree_is_told(someone, text, said):
    answer = someone.client.post("/pages/tables/hierarchy", data={"which": "1", "text": text})
    assert said in answer.text
    assert not list((someone.studio.temporary / "hierarchies").glob("*/x.csv"))


@pytest.mark.parametrize(
    "named", ["towns.csv", "sent:0123456789abcdef/..", "sent:../key", "../key", "sent:0123456789abcdef/x"]
)
def test_no_other_file_is_given_as_a_tree(someone, named):
    assert someone.client.get("/pages/tables/hierarchy.csv", params={"named": named}).status_code >= 400


@pytest.mark.slow
def test_every_method_is_tried_and_those_that_fail_say_why(someone):
    fields = {"by1": "town", "by2": "size", "value": "sales", "n": "3", "seconds": "5"}
    made(someone, **fields)
    query = Chosen.of(fields.items()).query
    assert "Try every method" in someone.see(f"/pages/tables/methods?{query}")
    part = someone.send(f"/pages/tables/methods?{query}")
    assert part.count('<th scope="row">') == 9
    assert "Counts off by one at random It does not do here" in words(part)
    assert "Try them again" in someone.see(f"/pages/tables/methods?{query}")


def test_a_table_of_another_choice_is_not_given(someone):
    made(someone, **ASKED)
    assert someone.client.get("/pages/tables/table.csv?by1=size&n=3").status_code == 404


def test_a_page_opened_again_finds_the_last_table(someone):
    made(someone, by1="size", by2="ill", n="2")
    part = someone.see("/pages/tables/look")
    assert '<option value="size" selected>' in part
    assert 'id="verdict"' in part


def test_what_is_typed_is_bounded_and_only_fields_of_the_form_are_kept():
    chosen = Chosen.of([("by1", "x" * 5_000), ("n", " 3 "), ("odd", "y"), ("by2", "  ")])
    assert len(chosen["by1"]) == 1_000
    assert chosen["n"] == "3"
    assert set(chosen.fields) <= set(FIELDS)
    assert set(chosen.fields) == {"by1", "n"}


def test_without_a_file_the_page_leads_to_the_data(tmp_path):
    with looking(tmp_path, None) as one:
        assert "Open a file first" in one.see("/tables")


def test_of_a_plan_of_several_tables_the_file_that_is_open_is_tabulated(tmp_path):
    with looking(tmp_path, PLAN.replace("firm", "id")) as one:
        (tmp_path / "other.csv").write_text("id,town\n1,a\n2,b\n3,a\n4,a\n5,a\n")
        several = (
            "sfumato: 1\ntables:\n  a: {file: other.csv, variables: {id: {role: record}}}\n  b: {file: small.csv}\n"
        )
        one.studio.planned.change("*", lambda text: several)
        one.studio.open(Source(tmp_path / "other.csv"), wait=True, keep=True)
        assert "list of people" in one.send("/pages/tables/run", data={"by1": "id", "n": "2"})
        assert "The protected table" in words(one.send("/pages/tables/run", data={"by1": "town", "n": "2"}))


def test_a_file_that_is_a_table_already_is_led_to_the_command_line(tmp_path):
    with looking(tmp_path) as one:
        rows = [f"{town},{sex},{i}" for i in range(4) for town in ("Total", "a", "b") for sex in "fm"]
        (tmp_path / "totals.csv").write_text("\n".join(["town,sex,cells", *rows, ""]))
        one.studio.open(Source(tmp_path / "totals.csv"), wait=True)
        part = one.send("/pages/tables/run", data={"by1": "town", "n": "2"})
        assert "sfumato table protect FILE" in part
        assert part.count('aria-invalid="true"') == 1
