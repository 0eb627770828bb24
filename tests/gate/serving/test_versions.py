"""Versions that add or end a dependence, and numbers of which a few people have none."""

import pytest

from sfumato.errors import DataError
from sfumato.gate.dependences.found import Dependence
from sfumato.gate.ledger import from_line
from sfumato.gate.policy import Policy
from sfumato.gate.service import Gate
from sfumato.gate.world import Outcome
from tests.gate.conftest import made_config, table
from tests.gate.injected import NEVER, TELLS, TOGETHER, injected

GONE = Dependence("tells", ("hiv",), "cost@(known)", 2, 30.0)
OTHER = Dependence("never", ("cost@(known)", "region"), None, 1, 22.0)


def rows(people, missing=6):
    lines = ["id,sex,age,region,hiv,cost,pay,none"]
    for i in range(people):
        cost = "" if i < missing else i * 1.5
        pay = "" if i % 2 else i * 2.5
        lines.append(f"{i},{'fm'[i % 2]},{20 + i % 3},{'xyz'[i % 3]},{'ny'[i % 5 == 0]},{cost},{pay},{i * 3.5}")
    return "\n".join(lines) + "\n"


def config(folder, more="", versions="{v1: ward.csv}", policies=None):
    known = {} if policies is None else {"policies": policies}
    return made_config(folder, "sqlite:///gate.db", rows(120), said="record: id" + more, versions=versions, **known)


BOTH = "{v1: ward.csv, v2: more.csv}"


@pytest.fixture
def two(tmp_path):
    """A second version, of many more people."""
    (tmp_path / "more.csv").write_text(rows(200))
    return tmp_path


def test_a_version_tells_what_it_adds_and_ends(two, monkeypatch):
    injected(monkeypatch, lambda versions: (NEVER, TELLS) if len(versions) == 1 else (TELLS, TOGETHER))
    [first] = Gate.init(config(two))
    assert [one[0] for one in first.begun] == ["never", "tells"]
    with Gate.open(config(two, versions=BOTH)) as gate:
        added = gate.add_version("ward", "v2", "more.csv")
    assert [one[0] for one in added.begun] == ["tells_together"]
    assert [one[0] for one in added.ended] == ["never"]
    told = " ".join(added.notes)
    assert "found: age and sex together tell region." in told
    assert "no longer found: some combinations of age and sex never occur." in told
    assert added.to_plain()["dependences"]["ended"] == [
        {"kind": "never", "from": ["age", "sex"], "to": None, "version": "", "combinations": 3}
    ]


def test_who_then_breaks_their_policy_is_marked(two, monkeypatch):
    injected(monkeypatch, lambda versions: () if len(versions) == 1 else (NEVER,))
    Gate.init(config(two))
    with Gate.open(config(two, versions=BOTH)) as gate:
        gate.add_user("ann", None, "analyst", "research")
        gate.add_user("bob", None, "analyst", "research")
        assert gate.ask("ann", "ward", table("sex")).decision == "granted"
        monkeypatch.setattr(
            "sfumato.gate.serving.core.together",
            lambda records, held, policy: Outcome("refused" if records.found and held else "granted"),
        )
        added = gate.add_version("ward", "v2", "more.csv")
        assert added.broken == ("ann",)
        assert "ann knows more than allowed now" in " ".join(added.notes)
        assert gate._state.broken == {("ann", "ward")}
        assert gate.verify() == []
        for steward in ("sue", "tom"):
            gate.add_user(steward, None, "steward", "research")
        gate.confirm_exception(gate.propose_chance("ward", ["age", "sex"], "sue", "so few"), "tom")
        assert gate._state.broken == set()  # what is chance does not count
        gate.withdraw_chance("ward", ["age", "sex"], "sue", "not so")
        assert gate._state.broken == {("ann", "ward")}
        assert gate.verify() == []


def test_a_refused_version_says_nothing_of_dependences(two, monkeypatch):
    injected(monkeypatch, lambda versions: (NEVER,) * len(versions))
    (two / "more.csv").write_text(rows(121))
    Gate.init(config(two))
    with Gate.open(config(two, versions=BOTH)) as gate:
        added = gate.add_version("ward", "v2", "more.csv")
        assert (added.granted, added.notes) == (False, [])
        assert gate.datasets()["ward"].found == (("never", ("age", "sex"), "", "", 3),)


def test_a_gate_that_searched_otherwise_judges_again(two, monkeypatch):
    with monkeypatch.context() as older:
        injected(older, lambda _: ())
        Gate.init(config(two))
    injected(monkeypatch, lambda _: (NEVER,))
    [again] = Gate.init(config(two))
    assert [one[0] for one in again.begun] == ["never"]
    assert Gate.init(config(two)) == []


def test_chance_of_what_a_version_ended_does_not_stop_the_data_set(two, monkeypatch):
    injected(monkeypatch, lambda versions: (NEVER,) if len(versions) == 1 else ())
    Gate.init(config(two))
    with Gate.open(config(two, versions=BOTH)) as gate:
        for steward in ("sue", "tom"):
            gate.add_user(steward, None, "steward", "research")
        gate.confirm_exception(gate.propose_chance("ward", ["age", "sex"], "sue", "so few"), "tom")
        assert gate.add_version("ward", "v2", "more.csv").granted
        assert gate.dependences("ward") == []
        assert gate.idle_chances("ward") == [("age", "sex")]
        gate.withdraw_chance("ward", ["age", "sex"], "sue", "it is found no more")
        assert gate.idle_chances("ward") == []


def test_a_version_takes_over_what_is_said_anew_as_well(two, monkeypatch):
    """Levels that tables were given by do not change their meaning with a version."""
    injected(monkeypatch, lambda _: ())
    Gate.init(config(two, ", levels: {region: {area: {x: A, y: A, z: B}}}"))
    with (
        Gate.open(config(two, ", levels: {region: {area: {x: A, y: B, z: B}}}", BOTH)) as gate,
        pytest.raises(DataError, match="region@area"),
    ):
        gate.add_version("ward", "v2", "more.csv")


def test_numbers_of_which_a_few_have_none_are_named_with_the_line_to_write(tmp_path, monkeypatch):
    injected(monkeypatch, lambda _: ())
    [added] = Gate.init(config(tmp_path))
    assert added.few_missing == ("cost",)  # half of them have no pay, and everybody has the last one
    assert "missing_told: [cost]" in added.notes[-1]
    [again] = Gate.init(config(tmp_path, ", missing_told: [cost]"))
    assert again.few_missing == ()


@pytest.mark.parametrize("found", [GONE, Dependence("never", ("cost@(known)", "hiv"), None, 1, 25.0)], ids=str)
def test_missing_values_that_tell_a_sensitive_variable_are_no_open_secret(tmp_path, monkeypatch, found):
    injected(monkeypatch, lambda _: (found,))
    sensitive = ", variables: {hiv: {role: sensitive}}"
    for more in (sensitive, ""):
        policies = "{research: {attribution: {variables: [hiv]}}}" if not more else None
        wanted = config(tmp_path, more + ", missing_told: [cost]", policies=policies)
        with pytest.raises(DataError, match="'cost'.*hiv"):
            Gate.init(wanted)
    Gate.init(config(tmp_path))
    with pytest.raises(DataError, match="'cost'.*hiv"):
        Gate.init(config(tmp_path, sensitive + ", missing_told: [cost]"))


def test_a_version_that_makes_missing_values_tell_is_not_taken_over(two, monkeypatch):
    injected(monkeypatch, lambda versions: () if len(versions) == 1 else (GONE,))
    more = ", variables: {hiv: {role: sensitive}}, missing_told: [cost]"
    Gate.init(config(two, more))
    with Gate.open(config(two, more, BOTH)) as gate, pytest.raises(DataError, match="'cost'.*hiv"):
        gate.add_version("ward", "v2", "more.csv")


def test_nor_is_a_policy_that_protects_what_they_tell(tmp_path, monkeypatch):
    injected(monkeypatch, lambda _: (GONE,))
    Gate.init(config(tmp_path, ", missing_told: [cost]"))
    with Gate.open(config(tmp_path, ", missing_told: [cost]")) as gate:
        strict = Policy(attribution={"variables": ["hiv"]})
        with pytest.raises(DataError, match="'cost'.*hiv"):
            gate.set_policy("strict", strict)
        assert "strict" not in gate.policies()
        assert gate.set_policy("other", Policy(attribution={"variables": ["sex"]})).granted


def test_what_else_missing_values_tell_is_said(tmp_path, monkeypatch):
    injected(monkeypatch, lambda _: (OTHER,))
    [added] = Gate.init(config(tmp_path, ", missing_told: [cost]"))
    assert added.missing_tells == (("cost", ("region",)),)
    assert "who has no cost tells region" in " ".join(added.notes)


def test_no_note_has_a_value_of_the_data(two, monkeypatch):
    injected(monkeypatch, lambda versions: (NEVER, OTHER) if len(versions) == 1 else (TELLS,))
    [first] = Gate.init(config(two, ", missing_told: [cost]"))
    with Gate.open(config(two, ", missing_told: [cost]", BOTH)) as gate:
        second = gate.add_version("ward", "v2", "more.csv")
        gate.export(two / "l.jsonl")
    entries = [from_line(line) for line in (two / "l.jsonl").read_text().splitlines()]
    told = " ".join([*first.notes, *second.notes])
    for value in ("41", "22", "120", "200", "xyz"):
        assert value not in told
    assert all("expected" not in str(one.body) for one in entries)
