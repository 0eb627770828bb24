"""Drafted plans for synthetic copies: what they say, and what they never say."""

from __future__ import annotations

import numpy as np
import polars as pl

from sfumato.data.codebook import Codebook
from sfumato.data.profile import profile
from sfumato.plan.edited import Edited
from sfumato.plan.plan import Plan
from sfumato.plan.synthetic import Settings, synthetic_of
from sfumato.plan.wishes import Wishes

N = 800


def table(seed=1):
    rng = np.random.default_rng(seed)
    a, b, start = rng.integers(0, 900, (3, N))
    smokes = np.resize(["no", "yes", "yes"], N)
    return pl.DataFrame(
        {
            "name": [f"Mr {i}" for i in range(N)],
            "a": a,
            "b": b,
            "total": a + b,
            "start": start,
            "end": start + rng.integers(0, 200, N),
            "amount": [0 if s == "no" else 1 + i % 17 for i, s in enumerate(smokes)],
            "smokes": smokes,
        }
    )


def drafted(frame, edited=None, settings=None, wishes=None, purpose="scientific-use"):
    guesses = profile(frame, Codebook()) if edited is None else edited.over(profile(frame, Codebook()))
    guesses = (wishes or Wishes()).over(guesses)
    made = synthetic_of(frame, guesses, Codebook({g.name: g.variable for g in guesses}), edited)
    return made, made.text("t", purpose, settings or Settings(), tried=False, edited=edited)


def test_the_plan_says_what_it_keeps_in_an_order_in_which_it_can():
    made, text = drafted(table())
    plan = Plan.from_yaml(text)
    drop, step = plan.steps
    assert drop.columns == ("name",)
    assert (step.name, step.columns, step.copies, step.min_leaf) == ("synthesise", "all", 1, 5)
    assert step.derived == {"total": "a + b"}
    assert step.keep == ("start <= end",)
    assert [(rule.condition, rule.column, rule.value) for rule in step.rules] == [("smokes == 'no'", "amount", 0)]
    assert step.order.index("smokes") < step.order.index("amount")
    assert not step.check(Codebook({g.name: g.variable for g in made.guesses if g.name != "name"}))
    assert [str(limit.measure) for limit in plan.limits] == ["membership"]


def test_limits_are_those_of_the_purpose():
    wishes = Wishes(sensitive=("smokes",))
    for purpose, limits in (("scientific-use", [0.65, 0.2]), ("public-use", [0.55, 0.09])):
        _, text = drafted(table(), wishes=wishes, purpose=purpose)
        assert [limit.at_most for limit in Plan.from_yaml(text).limits] == limits


def test_settings_are_written():
    _, text = drafted(table(), settings=Settings(min_leaf=20, smooth=True))
    step = Plan.from_yaml(text).steps[1]
    assert (step.min_leaf, step.smooth, step.method) == (20, True, "cart")
    _, text = drafted(table(), settings=Settings("parametric"))
    assert Plan.from_yaml(text).steps[1].method == "parametric"


def test_one_person_more_changes_a_plan_by_no_more_than_a_relation():
    """The intruder compares two drafts: of a table with and without the one who breaks an order."""
    frame = table()
    first = frame.row(0, named=True)
    other = pl.concat([frame, pl.DataFrame([first | {"start": 500, "end": 3}], schema=frame.schema)])
    _, one = drafted(frame)
    _, two = drafted(other)
    away = set(one.splitlines()) ^ set(two.splitlines())
    assert away == {
        '    keep: ["start <= end"]',
        "    # What holds in every record of the data holds in every synthetic one.",
    }
    exceptions = frame.with_columns(total=pl.when(pl.int_range(N) < 3).then(5).otherwise("total"))
    assert drafted(exceptions)[1] == one, "exceptions of sums are the custodian's"


def test_what_is_not_written_stands_in_no_line_of_the_plan():
    ward = np.arange(N) % 40
    secret = np.where(ward % 8 == 5, "positive", np.resize(["negative", "positive", "negative"], N))
    frame = pl.DataFrame({"ward": [f"w{i % 8}" for i in ward], "hiv": secret})
    frame = frame.with_columns(home=pl.when(pl.int_range(N) == 3).then(pl.lit("Zennor")).otherwise("ward"))
    made, text = drafted(frame, wishes=Wishes(sensitive=("hiv",)))
    hidden = {one.rule for one in made.relations if not one.written}
    assert {"ward of home", "home == 'w5': hiv 'positive'"} <= hidden
    assert "Zennor" not in text
    assert "positive" not in text
    assert "of home" not in text


def test_relations_of_an_edited_plan_stay():
    _, text = drafted(table())
    fewer = Plan.from_yaml(text.replace('    keep: ["start <= end"]\n', ""))
    frame = table().with_columns(end=pl.col("start") - 1)
    made, again = drafted(frame, edited=Edited(fewer))
    step = Plan.from_yaml(again).steps[1]
    assert (step.keep, step.derived) == ((), {"total": "a + b"})
    assert [rule.column for rule in step.rules] == ["amount"]
    assert {one.rule: one.written for one in made.relations}["end <= start"] is False


def test_rows_of_people_are_drawn_as_people():
    people = [(p, visit, "fm"[p % 2], (p * 7 + visit * 3) % 40) for p in range(150) for visit in range(1, 5)]
    frame = pl.DataFrame(people, schema=["pid", "visit", "sex", "score"], orient="row")
    made, text = drafted(frame)
    step = Plan.from_yaml(text).steps[-1]
    assert (step.persons, step.time) == (True, "visit")
    assert "pid" in made.columns
    book = Codebook({g.name: g.variable for g in made.guesses})
    assert book["visit"].kind == "integer"  # few values, and yet no category: it orders rows
    assert not step.bound(book).check(book)
    mixed = frame.with_columns(visit=pl.lit(1), score=pl.lit(3))
    other, _ = drafted(mixed)
    assert [one.column for one in other.left_out if one.column == "pid"] == ["pid"]


def test_time_that_an_edited_plan_takes_for_a_category_orders_no_rows():
    people = [(p, visit, (p * 7 + visit * 3) % 40) for p in range(150) for visit in range(1, 5)]
    frame = pl.DataFrame(people, schema=["pid", "visit", "score"], orient="row")
    roles = Plan.from_yaml(
        "sfumato: 1\ntitle: t\nvariables: {pid: {role: person}, visit: {role: key, kind: categorical}}\n"
        "steps: [{do: drop, columns: [pid]}]\n"
    )
    made, text = drafted(frame, edited=Edited(roles))
    assert [one.column for one in made.left_out] == ["pid"]
    assert [(one.kind, one.written) for one in made.relations] == [("panel", False)]
    assert not Plan.from_yaml(text).steps[-1].persons


def test_what_nobody_knows_by_an_edited_plan_stays():
    frame = table()
    said = "  - {columns: [amount, name], because: counted by ourselves and told to nobody}\n"
    roles = Plan.from_yaml(
        "sfumato: 1\ntitle: t\nvariables: {a: {role: key, kind: integer}, name: {role: identifier}}\n"
        f"steps: [{{do: drop, columns: [name]}}]\nunknown:\n{said}"
    )
    _, text = drafted(frame, edited=Edited(roles))
    (one,) = Plan.from_yaml(text).unknown
    assert (one.columns, one.because) == (("amount",), "counted by ourselves and told to nobody")


def test_households_are_drawn_whole():
    frame = pl.DataFrame({"household": [i // 3 for i in range(N)], "age": [(i * 37) % 90 for i in range(N)]})
    _, text = drafted(frame, wishes=Wishes(household="household"))
    assert Plan.from_yaml(text).steps[-1].households


def test_rules_that_may_contradict_each_other_are_not_both_written():
    """No record of the data is a spouse of ten years, but a synthetic one may be: it cannot be single and married."""
    rng = np.random.default_rng(7)
    child = np.arange(N) % 4 == 0
    spouse = ~child & (np.arange(N) % 4 == 1)
    age = np.where(child, 10, rng.integers(20, 80, N))
    status = np.where(child, "single", np.where(spouse, "married", rng.choice(["single", "married", "widowed"], N)))
    relation = np.where(spouse, "spouse", rng.choice(["child", "other"], N))
    made, text = drafted(pl.DataFrame({"relation": relation, "age": age, "status": status}))
    found = {one.rule: one for one in made.relations if one.column == "status"}
    assert set(found) == {"age == 10: status 'single'", "relation == 'spouse': status 'married'"}
    assert sorted(one.written for one in found.values()) == [False, True]
    assert len(Plan.from_yaml(text).steps[-1].rules) == 1


def test_rules_stand_in_no_order_that_tells_of_how_many_records_they_hold():
    """Of districts of 50 to 140 records the largest has the last name, or the first: their names alone order them."""
    sizes = np.arange(50, 150, 10)
    for counts in (sizes, sizes[::-1]):
        district = np.repeat([f"D{i}" for i in range(10)], counts)
        region = np.where(np.isin(district, ["D0", "D1", "D2", "D3", "D4"]), "north", "south")
        region = np.append(region, "west")  # one who moved, so that no district's name tells the region in all records
        frame = pl.DataFrame({"district": np.append(district, "D9"), "region": region})
        step = Plan.from_yaml(drafted(frame)[1]).steps[-1]
        said = [rule.condition for rule in step.rules]
        assert len(said) >= 8
        assert said == sorted(said)
