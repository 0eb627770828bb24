"""The figures of the gate's specification: the seed's cases, versions, the Czech workers, Titanic, Rochdale, recodes.

The seed's trivial case and its Figure 2 are typed here. The tables are published ones: Czech car workers, Rochdale, R's
Titanic and UCBAdmissions, Statistics Norway's example of recodes that do not nest. Where no figure is published the
auditor of `tests/gate/auditor.py` says what is right.
"""

from itertools import combinations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.optimize import Bounds, LinearConstraint, milp

import sfumato as sf
from sfumato.gate.criteria.interval import EFFORT
from sfumato.gate.decision import judge, together
from sfumato.gate.events import parsed_events
from sfumato.gate.margin import Margin, Node
from sfumato.gate.maximal import maximal
from sfumato.gate.policy import Policy
from sfumato.gate.reading import records_of
from sfumato.gate.replay import replay
from tests.gate.auditor import Joint, Told, World
from tests.parts import needs
from tests.real_data import real_data

HERE = "tests/golden/test_gate.py"
TABLES = real_data() / "tables"
with_tables = needs("data")


def interval(count, width):
    return Policy(interval={"count": count, "width": width})


def margin(text, version="v1"):
    return Margin.of([Node(*part.split("@")) for part in text.split(",") if part], version=version)


# The seed's trivial case


TRIVIAL = pl.DataFrame({"A": [1, 1, 2, 2], "B": [1, 2, 1, 2], "n": [2, 3, 3, 0]})
PEOPLE = [
    "organisation north research",
    "organisation south research",
    "user ann research",
    "user bob research",
    "user cat research",
    "join ann north",
    "join bob north",
    "join cat south",
]


def told(lines):
    policies = {"research": interval(2, 4), "public": interval(2, 4)}
    done = replay(sf.read(TRIVIAL), policies, parsed_events([*PEOPLE, *lines]), count="n")
    assert done.narrow == 0
    return list(done.decisions[len(PEOPLE) :])


def test_who_asks_first_decides_who_may_know_what():
    events = {
        "ask ann A": "granted",
        "ask bob B": "refused",  # bob shares with ann
        "ask cat B": "granted",
        "ask public A": "refused",  # cat has B
        "ask public B": "refused",  # ann has A
        "ask cat A,B": "refused",
        "join cat north": "refused",
        "leave ann north": "granted",
        "ask ann B": "refused",  # she keeps what she has
        "join ann south": "refused",
    }
    assert told(events) == list(events.values())


def test_what_is_public_everybody_has():
    events = {"ask public A": "granted", "ask cat B": "refused", "ask ann A": "granted", "ask public B": "refused"}
    assert told(events) == list(events.values())


# The seed's Figure 2: rows by columns; its Figure 5 takes the first two rows together


FIGURE_2 = [[0, 3, 0, 1], [0, 1, 0, 0], [4, 1, 0, 2], [1, 0, 7, 1]]
TWELVE = {"R": {"12": {"1": "1+2", "2": "1+2", "3": "3", "4": "4"}}}
FIGURE_2_SAYS = {  # releases: [R C], [R], [C], [R][C], [{1,2} C], [{1,2}][C]
    "count 1, width 2": (interval(1, 2), (False, False, True, False, False, True)),
    "columns are sensitive": (
        Policy(attribution={"variables": ["C"], "rule": "positive"}),
        (False, True, True, True, True, True),
    ),
    "rows are sensitive": (
        Policy(attribution={"variables": ["R"], "rule": "positive"}),
        (False, True, True, True, False, True),
    ),
}


@pytest.mark.parametrize("name", FIGURE_2_SAYS)
def test_figure_2_and_its_recode(name):
    policy, expected = FIGURE_2_SAYS[name]
    cells = [(r + 1, c + 1, n) for r, row in enumerate(FIGURE_2) for c, n in enumerate(row)]
    rows = pl.DataFrame(cells, schema=["R", "C", "n"], orient="row")
    records = records_of(rows, count="n", levels=TWELVE)
    releases = (["R,C"], ["R"], ["C"], ["R", "C"], ["R@12,C"], ["R@12", "C"])
    said = [together(records, [margin(one) for one in release], policy).decision for release in releases]
    assert said == ["granted" if safe else "refused" for safe in expected]


# Versions of UCBAdmissions


@pytest.fixture(scope="module")
def admissions():
    table = pl.read_csv(TABLES / "r_UCBAdmissions.csv")
    people = table.select(pl.col("Admit", "Gender", "Dept").repeat_by("Freq").explode())
    return people.with_row_index("id").with_columns(pl.col("id").cast(pl.Int64))


def added(people, cells):
    """The same people and more: by admission and department how many."""
    rows = [(admit, "Male", dept) for (admit, dept), many in cells.items() for _ in range(many)]
    more = pl.DataFrame(rows, schema=["Admit", "Gender", "Dept"], orient="row")
    more = more.with_columns(id=pl.int_range(10_000, 10_000 + len(rows), dtype=pl.Int64))
    return pl.concat([people, more.select(people.columns)])


EVERY = [(admit, dept) for admit in ("Admitted", "Rejected") for dept in "ABCDEF"]
ADDITIONS = {
    "one in each cell": (dict.fromkeys(EVERY, 1), "Admit,Dept", "refused"),
    "twelve in two cells": ({("Admitted", "A"): 6, ("Rejected", "F"): 6}, "Admit,Dept", "granted"),
    "five in each cell": (dict.fromkeys(EVERY, 5), "Admit,Dept", "granted"),
    "totals alone": (dict.fromkeys(EVERY, 1), "", "granted"),
}


@with_tables
@pytest.mark.parametrize("name", ADDITIONS)
def test_a_second_version_tells_by_difference(admissions, name):
    cells, table, expected = ADDITIONS[name]
    records = records_of(admissions, record="id", versions=[("v2", added(admissions, cells))])
    first, second = margin(table), margin(table, "v2")
    assert judge(records, [], first, interval(4, 5)).granted
    assert judge(records, [], second, interval(4, 5)).granted  # who knows one version alone
    assert judge(records, [first], second, interval(4, 5)).decision == expected
    assert judge(records, [second], first, interval(4, 5)).decision == expected


@with_tables
def test_a_version_that_few_come_to_is_not_taken(admissions, tmp_path):
    for name, many in (("near", 4), ("far", 12)):
        added(admissions, {("Admitted", "A"): many}).write_csv(tmp_path / f"{name}.csv")
    events = parsed_events(["version v2 near.csv", "version v3 far.csv", "user ann research", "ask ann Dept v3"])
    policies = {"research": interval(4, 5), "public": interval(4, 5)}
    done = replay(sf.read(admissions), policies, events, record="id", folder=tmp_path)
    assert done.decisions == ("refused", "granted", "granted", "granted")


# The Czech workers


@pytest.fixture(scope="module")
def workers():
    return pl.read_csv(TABLES / "czech_autoworkers.csv")


WHOLE = [",".join(own) for k in range(1, 7) for own in combinations("ABCDEF", k)]


def asked_one_by_one(workers, k, tables):
    """What one attacker is granted and refused who asks for tables in an order."""
    records, known, refused = records_of(workers, count="n", search=False), [], []
    for one in tables:
        answer = judge(records, known, margin(one), interval(k - 1, k))
        known, refused = ([*known, margin(one)], refused) if answer.granted else (known, [*refused, one])
    return known, refused


@with_tables
@pytest.mark.parametrize(("k", "refused", "slices"), [(3, 2, 3), (5, 4, 11), (10, 9, 24)])
def test_whole_margins_are_seldom_refused_and_slices_would_tell_all(workers, k, refused, slices):
    assert len(WHOLE) == 63
    assert len(asked_one_by_one(workers, k, WHOLE)[1]) == refused
    # a request for one cell, decided alone, is refused where that cell is small: 64 of them find every one
    assert workers.filter(pl.col("n").is_between(1, k - 1)).height == slices


LOCATED = f"{HERE}::test_refusals_of_whole_margins_locate_hardly_a_cell[0]"


@with_tables
@pytest.mark.parametrize(
    "seed", [pytest.param(0, marks=pytest.mark.slow), pytest.param(1, marks=pytest.mark.nightly(of=LOCATED))]
)
def test_refusals_of_whole_margins_locate_hardly_a_cell(workers, seed):
    """Three policies, an order of all 63 margins; refusals are read with all that was granted in the end.

    The attacker takes a refused margin to have a cell of 1 to k - 1 people, and looks which of its cells can: where it
    is one alone, he has located it. (He reads too much into refusals that rest on what he knew: that helps him.)
    """
    located = 0
    for k in (3, 5, 10):
        known, refused = asked_one_by_one(workers, k, np.random.default_rng(seed).permutation(WHOLE).tolist())
        located += sum(len(candidates(workers, known, one, k)) == 1 for one in refused)
    assert located <= 1


def candidates(workers, known, asked, k):
    """The first two cells of a margin that can hold 1 to k - 1 people, given other margins."""
    people = workers.select(*"ABCDEF", "n").to_pandas()
    count = people["n"].to_numpy()
    rows = np.vstack([indicators(people, [node.variable for node in one.nodes]) for one in known])
    rules = [LinearConstraint(rows, rows @ count, rows @ count)]
    found = []
    for cell in indicators(people, asked.split(",")):
        small = LinearConstraint(cell[None, :], 1, k - 1)
        if milp(np.zeros(64), integrality=np.ones(64), bounds=Bounds(0), constraints=[*rules, small]).status == 0:
            found.append(cell)
        if len(found) == 2:
            break
    return found


def indicators(people, names):
    """Which lines lie in each cell of a margin."""
    number = people.groupby(names, sort=True).ngroup().to_numpy()
    return (number[None, :] == np.arange(number.max() + 1)[:, None]).astype(float)


CZECH = [  # policy, releases that are unsafe besides the full table, maximal ones
    ((2, 4), 31, 10),
    ((2, 6), 61, 22),
    ((3, 4), 61, 22),
    ((4, 5), 90, 49),
    ((9, 10), 171, 200),
    ((2, 20), 1114, 151),
]


MARKS = {(2, 4): (), (4, 5): pytest.mark.slow, (2, 20): pytest.mark.slow}
"""By day the narrowest, the widest, and one that is wider by one alone; the others at night."""
MORE = pytest.mark.nightly(of=f"{HERE}::test_maximal_releases_of_the_czech_workers[policy3-90-49]")


@with_tables
@pytest.mark.parametrize(
    ("policy", "unsafe", "many"),
    [pytest.param(*one, marks=MARKS.get(one[0], MORE)) for one in CZECH],
)
def test_maximal_releases_of_the_czech_workers(policy, unsafe, many):
    table = sf.read(TABLES / "czech_autoworkers.csv")
    found = maximal(table, policy, kind="decomposable", count="n", dependences="declared")
    # unsafe ones besides the full table
    assert (found.looked - 1 - found.safe, len(found.releases), found.exhaustive) == (unsafe, many, True)
    if policy == (2, 4):
        others = [tuple(own) for own in combinations("ABCDEF", 5) if "".join(own) != "ABCDF"]
        assert {frozenset(release) for release in found.releases} == {frozenset(two) for two in combinations(others, 2)}


@with_tables
@pytest.mark.parametrize(("policy", "safe"), [((2, 3), 147), ((4, 5), 133), ((9, 10), 77)])
def test_maximal_releases_of_the_titanic(policy, safe):
    table = sf.read(TABLES / "r_Titanic.csv")  # of the crew nobody is a child where 44 were expected
    found = maximal(table, policy, kind="hierarchical", count="Freq", dependences="declared")
    assert (found.looked, found.safe) == (167, safe)
    if policy == (2, 3):
        release = {("Class", "Sex", "Survived"), ("Class", "Age", "Survived"), ("Sex", "Age", "Survived")}
        assert [set(one) for one in found.releases] == [release]


# Combinations that cannot be


PREGNANT = f"{HERE}::test_men_are_not_pregnant_and_the_attacker_knows_it[60]"


@pytest.mark.parametrize(
    "seeds", [pytest.param(60, marks=pytest.mark.slow), pytest.param(150, marks=pytest.mark.nightly(of=PREGNANT))]
)
def test_men_are_not_pregnant_and_the_attacker_knows_it(seeds):
    """Small wards of chance: without `never` a part of the grants is narrow for who knows that (M, yes) is empty."""
    policy, narrow, grants = interval(2, 4), 0, 0
    for seed in range(seeds):
        rng = np.random.default_rng(seed)
        wards = int(rng.integers(2, 5))
        rows = [(s, p, w) for s, p in (("F", "no"), ("F", "yes"), ("M", "no")) for w in range(wards)]
        table = pd.DataFrame(rows, columns=["sex", "pregnant", "ward"])
        table["n"] = rng.poisson(rng.choice([4.0, 12.0], len(table)))
        table = pd.concat([table, pd.DataFrame({"sex": "M", "pregnant": "yes", "ward": range(wards), "n": 0})])
        never = ({"sex": "M", "pregnant": "yes"},)
        asked = [Told((("sex", None), ("ward", None))), Told((("pregnant", None), ("ward", None)))]
        world = World({"v1": table}, "n", {}, never)
        for rule in ((), never):
            records = records_of(pl.from_pandas(table), count="n", never=rule, search=False)
            first, second = margin("sex,ward"), margin("pregnant,ward")
            granted = judge(records, [], first, policy).granted and judge(records, [first], second, policy).granted
            safe = Joint(world, asked).interval_holds(2, 4) if granted or rule else None
            if rule:
                assert granted == safe
            elif granted:
                grants, narrow = grants + 1, narrow + (not safe)
    assert narrow > 0.1 * grants > 2  # 61 of 168 in the specification


# Rochdale, and recodes that do not nest


@pytest.mark.slow
@with_tables
def test_all_pairs_of_rochdale_are_safe_together():
    records = records_of(pl.read_csv(TABLES / "rochdale.csv"), count="n", search=False)
    pairs = [margin(f"{a},{b}") for a, b in combinations("abcdefgh", 2)]
    asked_at_once = together(records, pairs, interval(4, 5))
    assert asked_at_once.decision == "undecided"  # programs in whole numbers prove the last three
    found = together(records, pairs, interval(4, 5), effort=100 * EFFORT)
    assert (found.joint_cells, found.small(4)) == (256, 58)
    assert found.decision == "granted"


@with_tables
@pytest.mark.parametrize("policy", [(1, 2), (2, 4), (4, 10), (9, 20)])
def test_recodes_that_do_not_nest(policy):
    table = pd.read_csv(TABLES / "ssb_d2.csv", dtype=str).astype({"freq": int})
    places = table.drop_duplicates("region").set_index("region")
    levels = {"region": {name: places[name].to_dict() for name in ("county", "k_group")}}
    table = table[["region", "main_income", "freq"]]
    world = World({"v1": table}, "freq", levels)
    records = records_of(pl.from_pandas(table), count="freq", levels=levels)
    income, own = ("main_income", None), ("region", None)
    county, group = ("region", "county"), ("region", "k_group")
    asked = [(county,), (group,), (group, income), (county, income), (county, group), (own,), (county, group, income)]
    for known in ([], [(group, income)], [(county,), (income,)], [(county,), (group, income)]):
        for one in asked:
            wanted = Told(tuple(sorted(one, key=str)))
            held = [Told(tuple(sorted(k, key=str))) for k in known]
            answer = judge(records, [margin_of(k) for k in held], margin_of(wanted), interval(*policy))
            if answer.reasons != ("known",):
                assert answer.granted == Joint(world, [*held, wanted]).interval_holds(*policy), (known, one)


def margin_of(told):
    return Margin.of(Node(variable, level or "") for variable, level in told.by)
