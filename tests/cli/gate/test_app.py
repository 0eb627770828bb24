"""The gate from the command line: from a configuration to a ledger that verifies."""

import json

import pytest

from tests.e2e.command import sfumato

CONFIG = """gate: 1
store: sqlite:///gate.db
secret_file: key
datasets: {ward: {versions: {v1: ward.csv, v2: more.csv}, count: n, levels: {B: {own: {p: a, q: b}}}}}
policies: {research: {interval: {count: 2, width: 4}}, public: {interval: {count: 2, width: 4}}}
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("gate")
    (made / "ward.csv").write_text("A,B,n\nplanted1,p,2\nplanted1,q,3\nplanted2,p,3\nplanted2,q,0\n")
    (made / "more.csv").write_text("A,B,n\nplanted1,p,12\nplanted1,q,13\nplanted2,p,13\nplanted2,q,10\n")
    (made / "gate.yaml").write_text(CONFIG.replace(", v2: more.csv", ""))
    return made


def run(folder, *arguments, status=0):
    done = sfumato("gate", *arguments, "--config", "gate.yaml", cwd=folder)
    assert done.returncode == status, done.stderr
    return done


def asked(folder, *arguments, status=0):
    return json.loads(run(folder, *arguments, "--json", status=status).stdout)


@pytest.fixture(scope="module")
def gate(folder):
    """Ann in north, and two stewards."""
    assert asked(folder, "init")["datasets"] == {"ward": ["v1"]}
    run(folder, "organisation", "add", "north", "--policy", "research")
    run(folder, "group", "add", "study", "--policy", "research")
    password = run(folder, "user", "add", "ann", "--organisation", "north", "--policy", "research").stdout.strip()
    assert len(password) >= 16
    assert password.encode() not in (folder / "gate.db").read_bytes()
    for name in ("eve", "dan"):
        run(folder, "user", "add", name, "--role", "steward", "--policy", "research")
    return folder


@pytest.mark.slow
def test_a_day(gate):
    first = asked(gate, "ask", "ann", "A", "--key", "one")
    assert (first["decision"], first["release"]["rows"]) == ("granted", [["planted1", 5], ["planted2", 3]])
    assert asked(gate, "ask", "ann", "A", "--key", "one") == first
    part = asked(gate, "ask", "ann", "A", "--where", "A=planted2")
    assert (part["reasons"], part["release"]["rows"]) == (["known"], [["planted2", 3]])
    refused = asked(gate, "ask", "ann", "B", status=1)
    assert (refused["decision"], refused["reasons"], refused["release"]) == ("refused", ["interval"], None)
    said = run(gate, "ask", "ann", "A", "--out", "a.csv")
    assert (gate / "a.csv").read_text() == "A,count\nplanted1,5\nplanted2,3\n"
    assert "planted" not in said.stderr + said.stdout

    left = asked(gate, "budget", "ann")
    assert left == {"mu": 0, "mu_at_most": 1, "perturbed": None, "requests_left": None, "grants_left": None}
    assert "0.00 of 1 is used" in run(gate, "budget", "ann").stdout

    found = asked(gate, "recover", "ann")
    assert (found["joint_cells"], [line["count"] for line in found["narrowest"]]) == (2, [3, 5])
    assert asked(gate, "recover", "eve")["narrowest"] == []

    assert asked(gate, "join", "ann", "study")["decision"] == "granted"
    assert asked(gate, "leave", "ann", "study")["decision"] == "granted"
    assert asked(gate, "share", "north", "study")["decision"] == "granted"
    assert asked(gate, "share", "north", "study", "--end")["decision"] == "granted"
    assert asked(gate, "queue", "list") == {"queue": [], "exceptions": []}
    assert asked(gate, "work") == {"settled": []}

    proposed = asked(gate, "queue", "propose", "ann", "B", "--by", "eve", "--reason", "board")["id"]
    assert run(gate, "queue", "confirm", proposed, "--by", "eve", status=2).stderr
    assert asked(gate, "queue", "confirm", proposed, "--by", "dan")["decision"] == "granted"
    assert asked(gate, "ask", "ann", "B")["reasons"] == ["known"]

    (gate / "gate.yaml").write_text(CONFIG)
    assert asked(gate, "dataset", "add", "ward", "v2")["decision"] == "granted"
    assert asked(gate, "dataset", "list") == {"datasets": {"ward": ["v1", "v2"]}}
    assert asked(gate, "policy", "set", "research")["decision"] == "granted"
    assert set(asked(gate, "policy", "list")["policies"]) == {"research", "public"}

    head = asked(gate, "ledger", "head")
    assert asked(gate, "ledger", "export", "--out", "l.jsonl")["entries"] == head["seq"]
    assert asked(gate, "ledger", "verify", "--head", f"{head['seq']}:{head['hash']}") == {"ok": True, "faults": []}
    lines = (gate / "l.jsonl").read_text().splitlines()
    (gate / "cut.jsonl").write_text("\n".join(lines[:-1]) + "\n")
    wrong = asked(gate, "ledger", "verify", "--file", "cut.jsonl", "--head", f"{head['seq']}:{head['hash']}", status=1)
    assert not wrong["ok"]
    assert str(head["seq"]) in wrong["faults"][0]


@pytest.mark.parametrize(
    "arguments",
    [
        ["ask", "ann", "nosuch"],
        ["ask", "nobody", "A"],
        ["ask", "ann", "A", "--version", "v9"],
        ["ask", "ann", "A", "--where", "A"],
        ["ask", "ann", "A", "--dataset", "nosuch"],
        ["user", "add", "ann", "--policy", "research"],
        ["user", "add", "tom", "--policy", "nosuch"],
        ["recover", "nobody"],
        ["budget", "nobody"],
        ["budget", "ann", "--dataset", "nosuch"],
        ["join", "ann", "nowhere"],
        ["dataset", "add", "ward", "v9"],
        ["policy", "set", "nosuch"],
        ["ledger", "verify", "--head", "x"],
        ["queue", "refuse", "nosuch", "--by", "eve", "--reason", "none"],
    ],
)
def test_wrong_input_is_refused_without_a_value(gate, arguments):
    done = run(gate, *arguments, status=2)
    assert "planted" not in done.stderr + done.stdout
    assert "Traceback" not in done.stderr


def test_a_store_that_is_not_there_says_what_to_do(tmp_path):
    (tmp_path / "ward.csv").write_text("A,B,n\n1,p,2\n1,q,3\n")
    (tmp_path / "gate.yaml").write_text(CONFIG.replace(", v2: more.csv", ""))
    assert "gate init" in run(tmp_path, "queue", "list", status=2).stderr


def test_a_year(gate):
    year = asked(gate, "simulate", "--requests", "8")
    assert len(year["quarters"]) == 8
    assert year["narrow"] == 0
