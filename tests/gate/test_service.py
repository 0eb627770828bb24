import json
import os
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import sfumato as sf
from sfumato.errors import DataError, DataStopped, FileError, LimitReached
from sfumato.gate.audit import narrow
from sfumato.gate.criteria.interval import EFFORT
from sfumato.gate.events import parsed_events
from sfumato.gate.ledger import from_line
from sfumato.gate.margin import Margin, Node
from sfumato.gate.policy import Policy
from sfumato.gate.replay import replay
from sfumato.gate.service import Gate, verify_file
from tests.gate.conftest import made_config, table

A, B, AB = table("A"), table("B"), table("A", "B")
OWN = "count: n, levels: {A: {all: {'1': x, '2': x}, own: {'1': a, '2': b}}}"


@pytest.fixture
def gate(configured):
    """The notes' people: ann and bob in north, cat in south."""
    config = configured()
    Gate.init(config)
    with Gate.open(config) as opened:
        populate(opened)
        yield opened


def populate(gate):
    for place in ("north", "south"):
        gate.add_organisation(place, "research")
    for user, place in (("ann", "north"), ("bob", "north"), ("cat", "south")):
        gate.add_user(user, place, "analyst", "research")


def test_the_notes_smallest_case(gate):
    """Section 3 of the notes: what is decided for ann and bob in north, and cat in south."""
    decisions = [
        gate.ask("ann", "ward", A).decision,
        gate.ask("bob", "ward", B).decision,
        gate.ask("cat", "ward", B).decision,
        gate.ask("public", "ward", A).decision,
        gate.ask("public", "ward", B).decision,
        gate.join("cat", "north").decision,
        gate.leave("ann", "north").decision,
        gate.ask("ann", "ward", B).decision,
        gate.join("ann", "south").decision,
    ]
    assert decisions == [
        "granted", "refused", "granted", "refused", "refused", "refused", "granted", "refused", "refused"
    ]  # fmt: skip
    assert gate.verify() == []


def test_public_first(gate):
    assert gate.ask("public", "ward", A).decision == "granted"
    assert gate.ask("cat", "ward", B).decision == "refused"
    again = gate.ask("ann", "ward", A)
    assert (again.decision, again.reasons) == ("granted", ("known",))
    gate.add_user("new", None, "analyst", "research")
    assert gate.ask("new", "ward", A).reasons == ("known",)
    assert gate.verify() == []


def test_a_release_holds_true_counts_and_where_the_ledger_stood(gate):
    before = gate.head()
    answer = gate.ask("ann", "ward", A)
    assert answer.release.columns == ["A", "count"]
    assert answer.release.rows == [["1", 5], ["2", 3]]
    assert answer.release.content["ledger"] == {"seq": before[0], "hash": before[1]}
    assert answer.ledger == gate.head()
    assert gate.release(answer.release.id) == answer.release
    assert gate.releases("ann") == [answer.release]
    assert gate.releases("bob") == []
    assert gate.answer(answer.id, "ann") == answer
    assert gate.answer(answer.id, "bob") is None
    entry = gate.entries(answer.ledger[0] - 1)[0]
    assert entry.body["content"] == answer.release.sha256
    assert entry.body["margin"] == A.to_plain()


def test_where_shows_a_part_and_the_whole_is_decided(gate):
    shown = gate.ask("ann", "ward", Margin(), {Node("A"): ["1"]})
    assert shown.release.rows == [[5]]
    assert gate.ask("ann", "ward", A).reasons == ("known",)
    assert gate.ask("cat", "ward", A, {Node("A"): ["2"]}).release.rows == [["2", 3]]
    assert gate.ask("bob", "ward", Margin(), {Node("B"): ["1"]}).decision == "refused"
    with pytest.raises(DataError, match="where"):
        gate.ask("ann", "ward", Margin(), {Node("A"): ["3"]})


def test_a_restart_keeps_everything(configured):
    config = configured()
    Gate.init(config)
    with Gate.open(config) as gate:
        populate(gate)
        first = gate.ask("ann", "ward", A, key="one")
        state = gate._state
    with Gate.open(config) as gate:
        assert gate._state == state
        assert gate.ask("ann", "ward", A, key="one") == first
        assert gate.ask("bob", "ward", B).decision == "refused"
        assert gate.verify() == []
    Gate.init(config)
    with Gate.open(config) as gate:
        assert gate.head()[0] == state.head[0] + 1


def test_two_gates_over_one_store_see_each_other(gate):
    with Gate.open(gate.config) as other:
        other.ask("ann", "ward", A)
        assert gate.ask("bob", "ward", B).decision == "refused"
        other.add_user("dan", "south", "analyst", "research")
        assert gate.ask("dan", "ward", B).decision == "granted"
        assert other.ask("cat", "ward", B).reasons == ("known",)


def test_one_key_has_one_answer(gate):
    first = gate.ask("ann", "ward", A, key="k")
    head = gate.head()
    assert gate.ask("ann", "ward", A, key="k") == first
    assert gate.head() == head
    with pytest.raises(DataError, match="another request"):
        gate.ask("ann", "ward", B, key="k")
    with pytest.raises(DataError, match="another request"):
        gate.ask("ann", "ward", A, {Node("A"): ["1"]}, key="k")
    assert gate.ask("cat", "ward", A, key="k").id != first.id
    refused = gate.ask("ann", "ward", AB, key="no")
    assert gate.ask("ann", "ward", AB, key="no") == refused


def test_offers_are_entries(configured):
    """Where [A B] has a small cell, A alone may be offered."""
    config = configured(data="A,B,n\n1,1,2\n1,2,30\n2,1,30\n2,2,30\n")
    Gate.init(config)
    with Gate.open(config) as gate:
        gate.add_user("ann", None, "analyst", "research")
        answer = gate.ask("ann", "ward", AB)
        assert answer.decision == "refused"
        assert answer.reasons == ("interval",)
        assert {offer.margin for offer in answer.offers} == {A, B}
        offers = [entry for entry in gate.entries(answer.ledger[0]) if entry.kind == "offer"]
        # the third is the logit of A on B: it gives the table back, and is refused like it
        assert [entry.body["decision"] for entry in offers] == ["granted", "granted", "refused"]
        assert gate._state.knowledge == {}
        assert gate.verify() == []


def test_limits_of_a_day(configured):
    config = configured(policies="{research: {interval: {count: 2, width: 4}, grants_per_day: 1, requests_per_day: 3}}")
    Gate.init(config)
    with Gate.open(config) as gate:
        gate.add_user("ann", None, "analyst", "research")
        assert gate.ask("ann", "ward", Margin()).decision == "granted"
        with pytest.raises(LimitReached, match="grants"):
            gate.ask("ann", "ward", A)
        assert gate.ask("ann", "ward", Margin()).reasons == ("known",)
        head = gate.head()
        gate.ask("ann", "ward", Margin())
        with pytest.raises(LimitReached, match="requests"):
            gate.ask("ann", "ward", Margin())
        assert gate.head()[0] == head[0] + 1


def test_a_tightened_policy_marks_what_breaks_it(gate):
    gate.ask("ann", "ward", A)
    gate.set_policy("research", Policy(interval={"count": 4, "width": 10}))
    assert ("ann", "ward") in gate._state.broken
    assert gate.ask("ann", "ward", A).reasons == ("known",)
    assert gate.ask("ann", "ward", B).decision == "refused"
    assert gate.join("cat", "north").decision == "refused"
    gate.set_policy("research", Policy(interval={"count": 2, "width": 4}))
    assert not gate._state.broken
    assert gate.verify() == []
    with Gate.open(gate.config) as other:
        assert other.policies()["research"] == Policy(interval={"count": 2, "width": 4})


def test_exceptions_take_two_stewards(gate):
    for steward in ("sue", "tom"):
        gate.add_user(steward, None, "steward", "research")
    with pytest.raises(DataError, match="no steward"):
        gate.propose_exception("cat", "ward", AB, "ann", "for her thesis")
    name = gate.propose_exception("ann", "ward", AB, "sue", "for her thesis")
    assert [one.id for one in gate.exceptions()] == [name]
    assert gate._state.knowledge == {}
    for by in ("sue", "ann", "cat", "command line"):
        with pytest.raises(DataError, match="steward"):
            gate.confirm_exception(name, by)
    assert gate.confirm_exception(name, "tom").granted
    assert gate.exceptions() == []
    with pytest.raises(DataError, match="no more"):
        gate.confirm_exception(name, "tom")
    assert gate.releases("ann")[0].rows == [["1", "1", 2], ["1", "2", 3], ["2", "1", 3], ["2", "2", 0]]
    assert gate._state.broken == {("ann", "ward"), ("bob", "ward"), ("north", "ward")}
    assert gate.join("cat", "north").decision == "refused"
    assert gate.ask("bob", "ward", A).reasons == ("known",)
    assert gate.verify() == []


def test_a_steward_makes_no_second_one_for_an_exception(gate):
    gate.add_user("sue", None, "steward", "research")
    gate.add_user("mole", None, "steward", "research", by="sue")
    gate.add_user("mouse", None, "steward", "research", by="mole")
    for proposer, confirmer in (("sue", "mole"), ("sue", "mouse"), ("mouse", "sue")):
        name = gate.propose_exception("ann", "ward", AB, proposer, "for her thesis")
        with pytest.raises(DataError, match="added by the other"):
            gate.confirm_exception(name, confirmer)
    gate.add_user("tom", None, "steward", "research")
    assert gate.confirm_exception(name, "tom").granted


def test_the_last_steward_stays(gate):
    gate.add_user("sue", None, "steward", "research")
    with pytest.raises(DataError, match="last steward"):
        gate.remove_user("sue")
    gate.add_user("tom", None, "steward", "research")
    gate.remove_user("sue")
    with pytest.raises(DataError, match="names are given once"):
        gate.add_user("sue", None, "steward", "research")
    with pytest.raises(DataError, match="nobody"):
        gate.ask("sue", "ward", A)
    assert gate.verify() == []


def test_who_asks_is_an_analyst(gate):
    gate.add_user("sue", None, "steward", "research")
    for who in ("sue", "north", "nobody"):
        with pytest.raises(DataError):
            gate.ask(who, "ward", A)


def test_a_user_whose_organisation_may_not_share_with_them_is_not_added(configured):
    config = configured(policies="{research: {interval: {count: 2, width: 4}}, strict: {preset: public}}")
    Gate.init(config)
    with Gate.open(config) as gate:
        populate(gate)
        gate.ask("ann", "ward", A)
        head = gate.head()
        with pytest.raises(DataError, match="cannot join"):
            gate.add_user("eve", "north", "analyst", "strict")
        assert gate.head() == head
        assert "eve" not in gate.people()


@pytest.mark.usefixtures("real_passwords")
def test_passwords_are_never_stored(configured, tmp_path):
    from pwdlib import PasswordHash

    config = configured()
    Gate.init(config)
    with Gate.open(config) as gate:
        password = gate.add_user("ann", None, "analyst", "research")
        with gate.store.reading() as view:
            kept, once = view.credential("ann")
        assert once
        assert kept.startswith("$argon2id$")
        assert PasswordHash.recommended().verify(password, kept)
        gate.export(tmp_path / "l.jsonl")
    for path in tmp_path.iterdir():
        assert password.encode() not in path.read_bytes()


def test_sharing_goes_one_way(gate):
    assert gate.share("north", "cat").granted
    assert gate.ask("ann", "ward", A).decision == "granted"
    assert gate.ask("cat", "ward", A).reasons == ("known",)
    assert gate.ask("cat", "ward", B).decision == "refused"
    assert gate.withdraw("north", "cat").granted
    with pytest.raises(DataError, match="does not share"):
        gate.withdraw("north", "cat")
    with pytest.raises(DataError, match="no member"):
        gate.leave("cat", "north")
    assert gate.verify() == []


def test_a_changed_file_stops_its_data_set_alone(configured, tmp_path):
    (tmp_path / "other.csv").write_text("A,B\n1,1\n2,2\n" * 20)
    config = configured(datasets=", other: {versions: {v1: other.csv}}")
    Gate.init(config)
    with Gate.open(config) as gate:
        gate.add_user("ann", None, "analyst", "research")
        gate.ask("ann", "ward", A)
        text = (tmp_path / "ward.csv").read_text()
        (tmp_path / "ward.csv").write_text(text.replace("2,1,3", "2,1,9"))
        with pytest.raises(DataStopped, match="'ward'") as stopped:
            gate.ask("ann", "ward", A)
        assert "9" not in str(stopped.value)
        assert gate.ask("ann", "other", A).decision == "granted"
        assert gate.verify() == ["The file of the data set 'ward', version 'v1', changed or is gone."]
        (tmp_path / "ward.csv").write_text(text)
        assert gate.ask("ann", "ward", A).reasons == ("known",)
        assert gate.verify() == []


def people(ids):
    rows = [f"{i},{'x' if i % 2 else 'y'},{'p' if i % 3 else 'q'}\n" for i in ids]
    return "id,A,B\n" + "".join(rows)


def test_versions(configured, tmp_path):
    config = configured(data=people(range(60)), said="record: id")
    Gate.init(config)
    (tmp_path / "near.csv").write_text(people(range(61)))
    (tmp_path / "far.csv").write_text(people(range(80)))
    (tmp_path / "odd.csv").write_text(people(range(80)) + ",x,p\n")
    with Gate.open(config) as gate:
        gate.add_user("ann", None, "analyst", "research")
        refused = gate.add_version("ward", "v2", "near.csv")
        assert (refused.decision, refused.reasons) == ("refused", ("version",))
        assert gate.add_version("ward", "v2", "far.csv").granted
        with pytest.raises(DataError, match="already"):
            gate.add_version("ward", "v2", "far.csv")
        with pytest.raises(DataError, match="missing or stand twice"):
            gate.add_version("ward", "v3", "odd.csv")
        answer = gate.ask("ann", "ward", table("A", version="v2"))
        assert answer.release.rows == [["x", 40], ["y", 40]]
        assert gate.verify() == []
    with Gate.open(config) as gate:
        assert gate.ask("ann", "ward", table("A", version="v2")).reasons == ("known",)


def test_record_ids_of_another_data_set_are_refused(configured, tmp_path):
    (tmp_path / "other.csv").write_text(people(range(59, 120)))
    config = configured(
        data=people(range(60)), said="record: id", datasets=", z: {versions: {v1: other.csv}, record: id}"
    )
    with pytest.raises(DataError, match="record ids in common"):
        Gate.init(config)


def test_a_table_of_a_database_is_copied(configured, tmp_path):
    frame = pl.DataFrame({"A": ["x", "y"] * 20, "B": ["p"] * 20 + ["q"] * 20})
    address = f"sqlite:///{tmp_path / 'source.db'}"
    frame.write_database("people", address)
    config = configured(datasets=", copy: {versions: {v1: {url: 'sqlite:///source.db', table: people}}}")
    Gate.init(config)
    with Gate.open(config) as gate:
        gate.add_user("ann", None, "analyst", "research")
        assert gate.ask("ann", "copy", A).release.rows == [["x", 20], ["y", 20]]
        os.unlink(tmp_path / "source.db")
        assert gate.ask("ann", "copy", B).decision == "granted"
        assert gate.verify() == []


def test_a_configuration_that_changed(tmp_path, store_url):
    config = made_config(tmp_path, store_url, said="count: n, levels: {A: {all: {'1': x, '2': x}}}")
    Gate.init(config)
    more = made_config(
        tmp_path, store_url, said="count: n, levels: {A: {all: {'1': x, '2': x}, own: {'1': a, '2': b}}}"
    )
    with Gate.open(more) as gate:
        gate.add_user("ann", None, "analyst", "research")
        with pytest.raises(DataStopped, match="sfumato gate init"):
            gate.ask("ann", "ward", A)
    Gate.init(more)
    with Gate.open(more) as gate:
        assert gate.ask("ann", "ward", table("A@own")).release.rows == [["a", 5], ["b", 3]]
        assert gate.verify() == []
    fewer = made_config(tmp_path, store_url, said="count: n, levels: {A: {own: {'1': b, '2': a}}}")
    with pytest.raises(DataError, match="A@all, A@own"):
        Gate.init(fewer)
    other = made_config(tmp_path, store_url, policies="{research: {preset: acro}}", said=OWN)
    with Gate.open(other) as gate:
        assert gate.other_policies() == ["research"]


def test_the_queue(gate, monkeypatch):
    """A request that nothing is proved about waits; more work proves it, or a steward refuses it."""
    from sfumato.gate import world

    decide = world.judge

    def tired(*args, effort, **more):
        found = decide(*args, effort=effort, **more)
        return replace(found, decision="undecided", reasons=("interval",)) if effort <= EFFORT else found

    monkeypatch.setattr(world, "judge", tired)
    gate.add_user("sue", None, "steward", "research")
    assert gate.ask("ann", "ward", A).decision == "undecided"
    assert gate.ask("cat", "ward", A).decision == "undecided"
    assert gate.ask("bob", "ward", B).decision == "undecided"
    waiting = gate.queue()
    assert [(one.who, one.margin) for one in waiting] == [("ann", A), ("cat", A), ("bob", B)]
    with pytest.raises(DataError, match="no steward"):
        gate.refuse(waiting[1].id, "ann", "not now")
    assert gate.refuse(waiting[1].id, "sue", "not now").decision == "refused"
    assert [one.decision for one in gate.work()] == ["granted", "refused"]
    assert gate.queue() == []
    assert gate.releases("ann")[0].rows == [["1", 5], ["2", 3]]
    assert gate.verify() == []


def test_the_public_rule(configured):
    """Two maximal releases of the notes' smallest table, [A] and [B]: each table stands in one of two."""
    policies = (
        "{{research: {{interval: {{count: 2, width: 4}}}}, public: {{interval: {{count: 2, width: 4}}, public: {0}}}}}"
    )
    config = configured(policies=policies.format("{share: 0.6, grants: 1}"))
    Gate.init(config)
    with Gate.open(config) as gate:
        populate(gate)
        refused = gate.ask("public", "ward", A)
        assert (refused.decision, refused.reasons) == ("refused", ("public",))
        gate.ask("cat", "ward", A)
        assert gate.ask("public", "ward", A).decision == "granted"


def test_export_and_verify_a_file(gate, tmp_path):
    answer = gate.ask("ann", "ward", A)
    path = tmp_path / "ledger.jsonl"
    assert gate.export(path) == gate.head()[0]
    assert verify_file(path) == []
    assert verify_file(path, answer.ledger) == []
    lines = path.read_text().splitlines()
    assert [from_line(line) for line in lines] == gate.entries()
    path.write_text("\n".join(lines[:-1]))
    assert "The end is missing" in verify_file(path, answer.ledger)[0]
    path.write_text("\n".join(lines[:2] + lines[3:]))
    assert "Entry 3 is missing" in verify_file(path)[0]
    changed = json.loads(lines[2]) | {"who": "eve"}
    path.write_text("\n".join([*lines[:2], json.dumps(changed), *lines[3:]]))
    assert "Entry 3 was changed" in verify_file(path)[0]
    with pytest.raises(FileError):
        verify_file(tmp_path / "none.jsonl")


def test_sums_have_three_digits_and_their_counts(configured):
    values = [i * 1.37 + 100 for i in range(200)]
    rows = "".join(f"{'x' if i % 2 else 'y'},{value!r}\n" for i, value in enumerate(values))
    config = configured(data="A,cost\n" + rows, said="record: null")
    Gate.init(config)
    with Gate.open(config) as gate:
        gate.add_user("ann", None, "analyst", "research")
        release = gate.ask("ann", "ward", table("A", value="cost")).release
        assert release.columns == ["A", "count", "n", "sum"]
        own = {"x": sum(values[1::2]), "y": sum(values[::2])}
        assert release.rows == [[one, 100, 100, float(f"{own[one]:.3g}")] for one in ("x", "y")]
        assert not release.content["exact"]
        assert gate.verify() == []


@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.slow), pytest.param(3, marks=pytest.mark.slow)])
def test_a_gate_decides_as_a_replay_does(tmp_path, seed):
    """Knowledge that follows from the ledger leads to the decisions of a world that lives in memory."""
    rng = np.random.default_rng(seed)
    columns = [rng.integers(0, size, 150) for size in (2, 2, 3, 4)]
    lines = [",".join(map(str, line)) for line in np.stack(columns, axis=1).tolist()]
    criteria = "{research: {interval: {count: 4, width: 10}}, public: {interval: {count: 4, width: 10}}}"
    config = made_config(
        tmp_path,
        "sqlite:///gate.db",
        data="a,b,c,d\n" + "\n".join(lines) + "\n",
        said="record: null",
        policies=criteria,
    )
    Gate.init(config)
    places, users = ["north", "south"], ["u0", "u1", "u2", "u3"]
    tables = ["", "a", "b", "c", "d", "a,b", "a,c", "b,c", "c,d", "a,b,c", "b,d", "a,d"]
    with Gate.open(config) as gate:
        events, told = [], []

        def happens(event, settled):
            events.append(event)
            told.append(settled.decision)

        for place in places:
            happens(f"organisation {place} research", gate.add_organisation(place, "research"))
        for user in users:
            gate.add_user(user, None, "analyst", "research")
            events.append(f"user {user} research")
            told.append("granted")
        for _ in range(60):
            user, place, what = rng.choice(users), rng.choice(places), rng.choice(["ask"] * 7 + ["join", "leave"])
            if what == "ask":
                names = rng.choice(tables[1:])
                who = rng.choice([*users, "public"], p=[0.23] * 4 + [0.08])
                happens(f"ask {who} {names}", gate.ask(who, "ward", table(*names.split(","))))
            elif what == "join":
                happens(f"join {user} {place}", gate.join(user, place))
            elif (user, place) in gate.edges():
                happens(f"leave {user} {place}", gate.leave(user, place))
        replayed = replay(sf.read(tmp_path / "ward.csv"), gate.policies(), parsed_events(events))
        assert told == list(replayed.decisions)
        assert {"granted", "refused"} <= set(told)
        assert gate.verify() == []
        interval = gate.policies()["research"].interval
        records = gate._records(gate._state, "ward")
        assert not any(narrow(records, held, interval) for held in set(gate._state.knowledge.values()))


NOISY = "{research: {interval: {count: 2, width: 4}, perturbed: {variance: 4}, noise: {mu_at_most: 0.75}}}"


def test_perturbed_tables_are_the_same_each_time_and_of_another_budget(configured):
    """A variance of 4 each, and a budget of .75: two tables, not three."""
    config = configured(policies=NOISY)
    config.path(config.secret_file).write_bytes(bytes(range(32)))
    Gate.init(config)
    with Gate.open(config) as gate:
        gate.add_user("ann", None, "analyst", "research")
        gate.add_user("bob", None, "analyst", "research")
        first, again = (gate.ask("ann", "ward", AB, perturbed=True) for _ in range(2))
        assert (first.decision, again.reasons) == ("granted", ("known",))
        assert first.release.rows == again.release.rows == gate.ask("bob", "ward", AB, perturbed=True).release.rows
        assert not first.release.to_plain()["exact"]
        assert "perturbed" in first.release.to_plain()["disclosure"]
        shown = {(a, b): n for a, b, n in first.release.rows}
        assert shown["2", "2"] == 0  # nobody stays nobody
        assert gate.ask("ann", "ward", B, perturbed=True).decision == "granted"
        third = gate.ask("ann", "ward", Margin(), perturbed=True)
        assert (third.decision, third.reasons) == ("refused", ("noise",))
        assert gate.ask("ann", "ward", A).decision == "granted"  # true tables are of another budget
        assert gate.verify() == []


def test_a_perturbed_table_is_offered_and_without_a_policy_for_it_refused(configured):
    config = configured(policies=NOISY)
    config.path(config.secret_file).write_bytes(bytes(range(32)))
    Gate.init(config)
    with Gate.open(config) as gate:
        gate.add_user("ann", None, "analyst", "research")
        answer = gate.ask("ann", "ward", AB)
        assert answer.decision == "refused"
        assert "perturbed" in [offer.kind for offer in answer.offers]
        public = gate.ask("public", "ward", A, perturbed=True)
        assert (public.decision, public.reasons) == ("refused", ("perturbed",))
        with pytest.raises(DataError, match="Only counts"):
            gate.ask("ann", "ward", Margin.of([Node("A")], value="B"), perturbed=True)


@pytest.mark.parametrize("value", [False, True])
def test_a_store_whose_policies_had_a_key_that_went_opens(configured, monkeypatch, value):
    """By `simulatable: true` everything new was refused, and goes on to be, until a steward sets another policy."""
    config = configured()
    with monkeypatch.context() as earlier:
        now = Policy.to_plain
        earlier.setattr(Policy, "to_plain", lambda self: {**now(self), "simulatable": value})
        Gate.init(config)
    with Gate.open(config) as gate:
        gate.add_user("ann", None, "analyst", "research")
        assert gate.verify() == []
        assert gate.ask("ann", "ward", A).decision == ("refused" if value else "granted")
        gate.set_policy("research", Policy(interval={"count": 2, "width": 4}))
        assert gate.ask("ann", "ward", A).decision == "granted"
    with Gate.open(config) as gate:
        assert gate.verify() == []


def test_parts_of_a_perturbed_table_are_sums_of_its_cells(configured):
    """Were each part drawn anew, differences of many parts would average the noise away, for one table's budget."""
    config = configured(policies=NOISY)
    config.path(config.secret_file).write_bytes(bytes(range(32)))
    Gate.init(config)
    with Gate.open(config) as gate:
        gate.add_user("ann", None, "analyst", "research")
        cells = {(a, b): n for a, b, n in gate.ask("ann", "ward", AB, perturbed=True).release.rows}
        for groups in (["1"], ["2"], ["1", "2"]):
            part = gate.ask("ann", "ward", A, {Node("B"): groups}, perturbed=True)
            assert part.reasons == ("known",)
            assert part.release.rows == [[a, sum(cells[a, b] for b in groups)] for a in ("1", "2")]
