"""What two stewards call chance, and what one of them alone cannot."""

from dataclasses import replace

import pytest

from sfumato.errors import DataError, NotThere
from sfumato.gate.ledger import from_line
from sfumato.gate.service import Gate
from tests.gate.conftest import made_config
from tests.gate.injected import NEVER, TELLS, TOGETHER, injected

ROWS = "id,sex,age,region\n" + "".join(f"{i},{'fm'[i % 2]},{20 + i % 3},{'xyz'[i % 3]}\n" for i in range(120))
CHANCE = "chance: [{columns: [sex, age], because: too few patients}]"
WHY = "too few patients"


def config(folder, more=""):
    return made_config(folder, "sqlite:///gate.db", ROWS, said="record: id" + more)


@pytest.fixture
def heeded(monkeypatch):
    return injected(monkeypatch, lambda _: (TOGETHER, NEVER, TELLS))


@pytest.fixture
def gate(tmp_path, heeded):
    Gate.init(config(tmp_path))
    with Gate.open(config(tmp_path)) as made:
        staffed(made)
        yield made


def staffed(gate):
    gate.add_user("ann", None, "analyst", "research")
    for name in ("sue", "tom"):
        gate.add_user(name, None, "steward", "research")
    gate.add_user("mole", None, "steward", "research", by="sue")


def chance_in(gate):
    return gate.datasets()["ward"].chance


def states(gate):
    return {one.dependence.kind: one.chance for one in gate.dependences("ward")}


def test_what_was_found_is_seen_with_the_most_telling_first(gate):
    assert [one.dependence for one in gate.dependences("ward")] == [TOGETHER, NEVER, TELLS]
    assert [one.proposable for one in gate.dependences("ward")] == [True, True, False]


def test_it_takes_two_and_counts_until_then(gate, heeded):
    name = gate.propose_chance("ward", ["sex", "age"], "sue", WHY)
    [waiting] = gate.exceptions()
    assert (waiting.id, waiting.chance, waiting.by, waiting.reason) == (name, ("age", "sex"), "sue", WHY)
    assert waiting.words == "that age and sex hang together in ward by chance"
    assert "let see more" in waiting.to_plain()["means"]
    assert states(gate)["never"] == "proposed"
    assert chance_in(gate) == ()
    assert gate.confirm_exception(name, "tom").granted
    assert chance_in(gate) == (("age", "sex"),)
    assert gate._records(gate._state, "ward").found == (TOGETHER, TELLS)
    assert heeded[-1] == (("age", "sex"),)
    assert states(gate) == {"never": "confirmed", "tells": "", "tells_together": ""}
    assert gate.exceptions() == []
    assert gate.verify() == []
    with Gate.open(gate.config) as other:
        assert chance_in(other) == (("age", "sex"),)


@pytest.mark.parametrize("by", ["sue", "mole", "ann", "nobody", "command line"])
def test_who_cannot_confirm(gate, by):
    name = gate.propose_chance("ward", ["sex", "age"], "sue", WHY)
    with pytest.raises(DataError, match="steward"):
        gate.confirm_exception(name, by)
    assert chance_in(gate) == ()
    assert states(gate)["never"] == "proposed"


@pytest.mark.parametrize("by", ["ann", "nobody", "public"])
def test_who_cannot_propose(gate, by):
    with pytest.raises(DataError, match="no steward"):
        gate.propose_chance("ward", ["sex", "age"], by, WHY)
    with pytest.raises(DataError, match="no steward"):
        gate.withdraw_chance("ward", ["sex", "age"], by, WHY)


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        (["region", "sex"], "arithmetic"),
        (["age", "region"], "no dependence"),
        (["age", "nothing"], "no dependence"),
        (["age"], "no dependence"),
    ],
)
def test_what_cannot_be_chance(gate, columns, said):
    with pytest.raises(DataError, match=said):
        gate.propose_chance("ward", columns, "sue", WHY)
    assert gate.exceptions() == []


def test_nothing_is_proposed_twice(gate):
    name = gate.propose_chance("ward", ["sex", "age"], "sue", WHY)
    with pytest.raises(DataError, match="proposed already"):
        gate.propose_chance("ward", ["age", "sex"], "tom", WHY)
    gate.confirm_exception(name, "tom")
    with pytest.raises(DataError, match="by chance already"):
        gate.propose_chance("ward", ["age", "sex"], "sue", WHY)
    with pytest.raises(DataError, match="no more|already"):
        gate.confirm_exception(name, "tom")
    with pytest.raises(DataError, match="reason"):
        gate.propose_chance("ward", ["age", "sex", "region"], "sue", " ")


def test_one_steward_lets_it_count_again(gate):
    with pytest.raises(NotThere):
        gate.withdraw_chance("ward", ["sex", "age"], "sue", "a typing error")
    name = gate.propose_chance("ward", ["sex", "age"], "sue", WHY)
    gate.confirm_exception(name, "tom")
    gate.withdraw_chance("ward", ["sex", "age"], "sue", "a typing error")
    assert chance_in(gate) == ()
    assert states(gate)["never"] == ""
    other = gate.propose_chance("ward", ["sex", "age"], "sue", WHY)
    gate.withdraw_chance("ward", ["sex", "age"], "tom", "not so")
    assert gate.exceptions() == []
    with pytest.raises(DataError, match="no more"):
        gate.confirm_exception(other, "tom")
    assert gate.verify() == []


def test_what_the_configuration_calls_chance_waits_for_a_steward(tmp_path, heeded):
    Gate.init(config(tmp_path))
    with Gate.open(config(tmp_path)) as gate:
        staffed(gate)
    added = Gate.init(config(tmp_path, ", " + CHANCE), by="tom")
    assert [one.proposed for one in added] == [(("age", "sex"),)]
    with Gate.open(config(tmp_path, ", " + CHANCE)) as gate:
        [waiting] = gate.exceptions()
        assert (waiting.by, waiting.reason) == ("tom", WHY)
        assert gate._records(gate._state, "ward").found == (TOGETHER, NEVER, TELLS)
        assert set(heeded) == {()}
        with pytest.raises(DataError, match="no steward"):
            gate.confirm_exception(waiting.id, "command line")
        assert gate.confirm_exception(waiting.id, "sue").granted
    assert Gate.init(config(tmp_path, ", " + CHANCE)) == []
    [said] = Gate.init(config(tmp_path))  # taken out again
    assert said.version == ""
    with Gate.open(config(tmp_path)) as gate:
        assert chance_in(gate) == ()
        assert gate.verify() == []


def test_a_steward_who_takes_it_over_does_not_confirm_it(tmp_path, heeded):
    Gate.init(config(tmp_path))
    with Gate.open(config(tmp_path)) as gate:
        staffed(gate)
    with pytest.raises(DataError, match="no steward"):
        Gate.init(config(tmp_path, ", " + CHANCE), by="ann")
    Gate.init(config(tmp_path, ", " + CHANCE), by="sue")
    with Gate.open(config(tmp_path, ", " + CHANCE)) as gate:
        [waiting] = gate.exceptions()
        with pytest.raises(DataError, match="second steward"):
            gate.confirm_exception(waiting.id, "sue")
        assert gate.confirm_exception(waiting.id, "tom").granted


def test_a_proposal_that_is_taken_out_waits_no_more(tmp_path, heeded):
    Gate.init(config(tmp_path))
    with Gate.open(config(tmp_path)) as gate:
        staffed(gate)
    Gate.init(config(tmp_path, ", " + CHANCE), by="sue")
    Gate.init(config(tmp_path))
    with Gate.open(config(tmp_path)) as gate:
        assert gate.exceptions() == []


def test_what_stewards_said_on_the_page_stays_when_all_is_taken_over_again(gate, tmp_path):
    gate.confirm_exception(gate.propose_chance("ward", ["sex", "age"], "sue", WHY), "tom")
    waits = gate.propose_chance("ward", ["sex", "age", "region"], "sue", WHY)
    Gate.init(config(tmp_path, ", cohorts: {old: age > 20}"))
    with Gate.open(config(tmp_path, ", cohorts: {old: age > 20}")) as other:
        assert chance_in(other) == (("age", "sex"),)
        assert [one.id for one in other.exceptions()] == [waits]


def test_all_that_is_wrong_is_told_at_once_and_nothing_is_written(tmp_path, heeded):
    wrong = (
        ", chance: [{columns: [region, sex], because: so}, {columns: [age, region], because: so}], missing_told: [sex]"
    )
    Gate.init(config(tmp_path))
    with Gate.open(config(tmp_path)) as gate:
        staffed(gate)
    with pytest.raises(DataError, match="arithmetic.*no dependence.*no number"):
        Gate.init(config(tmp_path, wrong), by="sue")
    with Gate.open(config(tmp_path)) as gate:
        assert len(gate.dependences("ward")) == 3  # it goes on as it was


def test_nothing_that_was_given_changes(gate):
    from tests.gate.conftest import table

    first = gate.ask("ann", "ward", table("sex"))
    gate.confirm_exception(gate.propose_chance("ward", ["sex", "age"], "sue", WHY), "tom")
    assert gate.ask("ann", "ward", table("sex")).reasons == ("known",)
    assert gate.release(first.release.id).rows == first.release.rows


def test_another_process_takes_it_over(gate):
    with Gate.open(gate.config) as other:
        assert chance_in(other) == ()
        gate.confirm_exception(gate.propose_chance("ward", ["sex", "age"], "sue", WHY), "tom")
        assert chance_in(other) == (("age", "sex"),)
        assert other._records(other._state, "ward").found == (TOGETHER, TELLS)


def test_a_proposal_that_was_changed_in_the_store_shows(gate):
    gate.propose_chance("ward", ["sex", "age"], "sue", WHY)
    with gate.store.engine.begin() as connection:
        connection.exec_driver_sql("UPDATE exceptions SET asked = replace(asked, 'sex', 'region'), proposed_by = 'tom'")
    assert any("not what was proposed" in fault for fault in gate.verify())
    [waiting] = gate.exceptions()
    assert gate.confirm_exception(waiting.id, "tom").granted  # what stands in the ledger is confirmed, not the row
    assert chance_in(gate) == (("age", "sex"),)
    with pytest.raises(DataError, match="no more|already"):
        gate.confirm_exception(waiting.id, "tom")


def test_chance_that_is_added_in_the_store_does_not_follow(gate):
    with gate.store.engine.begin() as connection:
        connection.exec_driver_sql(
            """UPDATE datasets SET codebook = '{"@chance":[[["age","sex"],"0"]],' || substr(codebook, 2)"""
        )
    assert any("does not follow" in fault for fault in gate.verify())


def test_entries_say_what_was_found_without_how_many_people(gate, tmp_path):
    gate.export(tmp_path / "l.jsonl")
    entries = [from_line(line) for line in (tmp_path / "l.jsonl").read_text().splitlines()]
    [version] = [one for one in entries if one.kind == "version"]
    assert ["never", ["age", "sex"], "", "", 3] in version.body["found"]
    assert "41" not in str(version.body["found"])


@pytest.mark.parametrize("other", [replace(NEVER, combinations=40), replace(NEVER, digest="another")])
def test_what_is_found_otherwise_is_no_chance_without_a_second_steward(tmp_path, monkeypatch, other):
    own = [NEVER]
    injected(monkeypatch, lambda _: own)
    said = config(tmp_path, ", " + CHANCE)
    Gate.init(config(tmp_path))
    with Gate.open(config(tmp_path)) as gate:
        staffed(gate)
        gate.confirm_exception(gate.propose_chance("ward", ["sex", "age"], "sue", WHY), "tom")
    assert [one.proposed for one in Gate.init(said)] == [()]  # confirmed as it is: nobody has to propose it
    own[:] = [other]
    with Gate.open(said) as gate:
        before = gate.head()
        assert gate._records(gate._state, "ward").found == (other,)  # it counts at once
    with pytest.raises(DataError, match="--by STEWARD"):
        Gate.init(said)
    with Gate.open(said) as gate:
        assert gate.head() == before
    [added] = Gate.init(said, by="sue")
    assert (added.lapsed, added.proposed) == ((("age", "sex"),), (("age", "sex"),))
    assert any("counts again" in note for note in added.notes)
    with Gate.open(said) as gate:
        assert chance_in(gate) == ()
        [waiting] = gate.exceptions()
        with pytest.raises(DataError, match="second steward"):
            gate.confirm_exception(waiting.id, "sue")
        assert gate.confirm_exception(waiting.id, "tom").granted
        assert gate._records(gate._state, "ward").found == ()
        assert gate.verify() == []


def test_what_changed_since_it_was_proposed_is_not_confirmed(tmp_path, monkeypatch):
    own = [NEVER]
    injected(monkeypatch, lambda _: own)
    Gate.init(config(tmp_path))
    with Gate.open(config(tmp_path)) as gate:
        staffed(gate)
        name = gate.propose_chance("ward", ["sex", "age"], "sue", WHY)
    own[:] = [replace(NEVER, digest="another")]
    with Gate.open(config(tmp_path)) as gate:
        with pytest.raises(DataError, match="propose it anew"):
            gate.confirm_exception(name, "tom")
        assert chance_in(gate) == ()


def test_nobody_on_the_command_line_proposes_chance(gate, tmp_path):
    before = gate.head()
    with pytest.raises(DataError, match="--by STEWARD"):
        Gate.init(config(tmp_path, ", " + CHANCE))
    with pytest.raises(DataError, match="no steward"):
        gate.propose_chance("ward", ["sex", "age"], "command line", WHY)
    assert gate.head() == before
    assert gate.exceptions() == []
