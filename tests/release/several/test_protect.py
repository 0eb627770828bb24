"""Several tables under one plan: each its own release, and nothing between them but what the plan declares."""

import json
from functools import cache

import numpy as np
import polars as pl
import pytest

import sfumato as sf
from sfumato.errors import DataError, FileError, LimitExceeded, PlanError, ReleaseExists
from tests.reasons import nobody_knows
from tests.release.brief import measured_briefly

SECRET = bytes(range(32))
N = 120


def tables(seed=0):
    """Farmers, and visits to their farms."""
    rng = np.random.default_rng(seed)
    farm = rng.permutation(np.arange(1000, 1000 + N))
    farmers = pl.DataFrame(
        {"farm": farm, "region": np.where(np.arange(N) % 2, "north", "south"), "herd": rng.integers(20, 400, N)}
    )
    of = rng.choice(farm, 3 * N)
    visits = pl.DataFrame({"visit": np.arange(3 * N), "farm": of, "score": rng.normal(50, 10, 3 * N).round(2)})
    return {"farmers": farmers, "visits": visits}


FARMERS = {
    "file": "farmers.csv",
    "variables": {
        "farm": {"role": "record"},
        "region": {"role": "key", "kind": "categorical"},
        "herd": {"role": "key", "kind": "integer"},
    },
    "steps": [{"do": "centroids", "columns": ["herd"], "by": ["region"], "k": 5, "grouping": "mdav"}],
    "limits": [{"measure": "k_anonymity", "at_least": 5}],
    "unknown": nobody_knows("farm"),
}
VISITS = {
    "file": "visits.csv",
    "variables": {
        "visit": {"role": "record"},
        "farm": {"role": "household"},
        "score": {"role": "sensitive", "kind": "continuous"},
    },
    "steps": [{"do": "noise", "columns": ["score"], "share": 0.2}],
    "unknown": nobody_knows("visit", "farm"),
}
LINK = {"from": "visits", "to": "farmers", "on": ["farm"]}
WITHOUT_FARM = {
    **FARMERS,
    "unknown": nobody_knows(),
    "access": "controlled",
    "steps": [*FARMERS["steps"], {"do": "drop", "columns": ["farm"]}],
}


def plan(links=(LINK,), farmers=FARMERS, visits=VISITS, **more):
    return sf.Plan.model_validate(
        {"title": "Farms", "tables": {"farmers": farmers, "visits": visits}, "links": list(links), **more}
    )


@cache
def released():
    return sf.protect(plan(), tables(), secret=SECRET)


@cache
def unlinked():
    with measured_briefly():
        return sf.protect(plan(links=(), farmers=WITHOUT_FARM, access="open"), tables(), secret=SECRET)


@pytest.mark.slow
def test_each_table_is_a_release_as_a_plan_of_it_alone_makes_it():
    whole = plan()
    release = sf.protect(whole, tables(), secret=SECRET)
    assert list(release.tables) == ["farmers", "visits"]
    for name, table in tables().items():
        alone = sf.protect(whole.table(name), table, secret=SECRET)
        assert release.tables[name].data.frame.equals(alone.data.frame)
        assert release.tables[name].report.findings == alone.report.findings
    assert release.ok


@pytest.mark.usefixtures("few_measures")
def test_records_of_a_declared_link_are_counted_as_the_persons_that_they_belong_to():
    """Farm 0 was visited six times in winter, and is alone there, however many its visits."""
    data = tables()
    farm = data["farmers"]["farm"].to_list()
    rows = [(farm[0], "winter")] * 6 + [(f, "summer") for f in farm[1:60]]
    data["visits"] = pl.DataFrame(rows, schema=["farm", "season"], orient="row").with_row_index("visit")
    variables = {"visit": {"role": "record"}, "season": {"role": "key", "kind": "categorical"}}
    visits = {**VISITS, "variables": variables, "steps": [], "limits": [{"measure": "k_anonymity", "at_least": 5}]}
    found = {}
    for role in (None, "household"):
        said = variables if role is None else {**variables, "farm": {"role": role}}
        whole = plan(visits={**visits, "variables": said})
        release = sf.protect(whole, data, secret=SECRET)
        assert sf.Plan.from_yaml(whole.to_yaml()) == whole
        found[role] = release.tables["visits"].report.findings.of("k_anonymity", group="keys").value
    assert found == {None: 1, "household": 6}  # of a household every record is somebody


@pytest.mark.usefixtures("few_measures")
def test_a_link_that_the_plan_does_not_declare_stops_the_release(tmp_path):
    release = sf.protect(plan(links=()), tables(), secret=SECRET)
    assert all(one.ok for one in release.tables.values())
    assert not release.ok
    assert [(link.tables, link.columns) for link in release.links] == [(("farmers", "visits"), ("farm",))]
    with pytest.raises(LimitExceeded, match="farmers and visits can be put together by farm"):
        release.write(tmp_path / "out")
    assert list(tmp_path.iterdir()) == []
    release.write(tmp_path / "out", force=True)
    assert b"can be put together by farm" in (tmp_path / "out" / "report.html").read_bytes()


def test_the_folder_holds_every_table_and_one_set_of_papers(tmp_path):
    release = released()
    release.write(tmp_path / "out", internal_report=tmp_path / "internal.html")
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert names == {"farmers.parquet", "visits.parquet", "datapackage.json", "report.html", "plan.yaml"}
    told = json.loads((tmp_path / "out" / "datapackage.json").read_text())
    assert [resource["name"] for resource in told["resources"]] == ["farmers", "visits"]
    (key,) = told["resources"][1]["schema"]["foreignKeys"]
    assert key == {"fields": ["farm"], "reference": {"resource": "farmers", "fields": ["farm"]}}
    page = (tmp_path / "out" / "report.html").read_text()
    assert 'id="farmers"' in page
    assert 'id="visits-risk"' in page
    assert page.count("<h1>") == 1
    assert len(ids := [part.split('"')[0] for part in page.split(' id="')[1:]]) == len(set(ids))
    assert "INTERNAL" in (tmp_path / "internal.html").read_text()
    again = sf.Plan.load(tmp_path / "out" / "plan.yaml")
    assert again == plan()


def test_a_release_is_replaced_only_where_it_holds_nothing_else(tmp_path):
    release = released()
    release.write(tmp_path / "out")
    with pytest.raises(ReleaseExists):
        release.write(tmp_path / "out")
    release.write(tmp_path / "out", overwrite=True)
    (tmp_path / "out" / "notes.txt").write_text("mine")
    with pytest.raises(ReleaseExists, match="holds other files"):
        release.write(tmp_path / "out", overwrite=True)


def test_tables_with_another_access_go_to_a_folder_of_their_own(tmp_path):
    release = unlinked()
    assert release.ok
    release.write(f"{tmp_path / 'out'}/")  # no folder within the other
    assert {path.name for path in tmp_path.iterdir()} == {"out", "out-controlled"}
    assert (tmp_path / "out" / "visits.parquet").exists()
    assert not (tmp_path / "out" / "farmers.parquet").exists()
    assert (tmp_path / "out-controlled" / "farmers.parquet").exists()
    assert 'id="farmers"' not in (tmp_path / "out" / "report.html").read_text()


def test_each_folder_holds_the_plan_of_its_own_tables(tmp_path):
    release = unlinked()
    release.write(tmp_path / "out")
    for folder, name, other in (("out", "visits", "herd"), ("out-controlled", "farmers", "score")):
        text = (tmp_path / folder / "plan.yaml").read_text()
        assert list(sf.Plan.load(tmp_path / folder / "plan.yaml").tables) == [name]
        assert other not in text
        assert release.plan.digest in (tmp_path / folder / "datapackage.json").read_text()


def test_nothing_is_written_where_one_folder_is_taken(tmp_path):
    release = unlinked()
    (tmp_path / "out-controlled").mkdir()
    with pytest.raises(ReleaseExists):
        release.write(tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.usefixtures("few_measures")
def test_rows_of_two_tables_of_one_file_stand_in_two_orders():
    rows = tables()["farmers"].drop("herd")
    variables = {k: v for k, v in FARMERS["variables"].items() if k != "herd"}
    one = {"file": "farmers.csv", "variables": variables, "limits": FARMERS["limits"]}
    whole = sf.Plan.model_validate({"tables": {"one": one, "two": one}})
    release = sf.protect(whole, {"one": rows, "two": rows}, secret=SECRET)
    first, second = (release.tables[name].data.frame["farm"].to_list() for name in ("one", "two"))
    assert first != second
    assert sorted(first) == sorted(second)


@pytest.mark.usefixtures("few_measures")
def test_one_column_masked_in_two_ways_is_warned_of():
    """Two looks at a value average to less noise than the limit of either table knows of."""
    data = tables()
    for share, told in ((0.2, False), (0.5, True)):
        other = {**VISITS, "steps": [{"do": "noise", "columns": ["score"], "share": share}]}
        link = {"from": "a", "to": "b", "on": ["visit"]}
        twice = sf.Plan(title="Farms", tables={"a": VISITS, "b": other}, links=[link])
        found = sf.protect(twice, {"a": data["visits"], "b": data["visits"]}, secret=SECRET).report.warnings
        assert any("score of one file is masked in a by another step" in warning for warning in found) == told


@pytest.mark.usefixtures("few_measures")
def test_tables_of_one_file_may_not_both_stand_in_its_order():
    rows = tables()["farmers"]
    herds = {**FARMERS, "unknown": (), "steps": [{"do": "drop", "columns": ["farm", "region"]}]}
    regions = {**FARMERS, "unknown": (), "steps": [{"do": "drop", "columns": ["farm", "herd"]}]}
    both = {"tables": {"herds": herds, "regions": regions}}
    data = {"herds": rows, "regions": rows}
    said = "rows of herds and regions both stand in the order of their file"
    assert any(said in r for r in sf.protect(sf.Plan(**both, order="input"), data, secret=SECRET).report.refusals)
    assert not sf.protect(sf.Plan(**both), data, secret=SECRET).report.refusals


@pytest.mark.usefixtures("few_measures")
def test_tables_with_the_ids_of_a_third_are_linked_through_it():
    rng = np.random.default_rng(7)
    data = tables()
    data["loans"] = pl.DataFrame({"loan": np.arange(N), "farm": rng.choice(data["farmers"]["farm"].to_numpy(), N)})
    loans = {"file": "loans.csv", "variables": {"loan": {"role": "other"}, "farm": {"role": "household"}}}
    loans["steps"] = [{"do": "drop", "columns": ["loan"]}]
    whole = {"farmers": FARMERS, "visits": VISITS, "loans": loans}
    through = [LINK, {"from": "loans", "to": "farmers", "on": ["farm"]}]
    release = sf.protect(sf.Plan.model_validate({"tables": whole, "links": through}), data, secret=SECRET)
    assert not release.links
    apart = sf.protect(sf.Plan.model_validate({"tables": whole, "links": through[:1]}), data, secret=SECRET)
    assert {link.tables for link in apart.links} == {("farmers", "loans"), ("visits", "loans")}


@pytest.mark.usefixtures("few_measures")
def test_ids_of_a_table_alone_are_found_again_with_the_secret():
    codes = {**VISITS, "steps": [*VISITS["steps"], {"do": "pseudonymise", "columns": ["visit"], "scope": "table"}]}
    whole = plan(visits=codes, links=(), farmers=WITHOUT_FARM)
    release = sf.protect(whole, tables(), secret=SECRET)
    one, two = tables()["visits"], release.tables["visits"].data
    found = sf.compare(one, two, plan=whole, table="visits", secret=SECRET)
    assert found.of("delta", variable="score").value > 0


@pytest.mark.usefixtures("few_measures")
def test_joined_tables_must_keep_the_limit_that_each_keeps_alone():
    n = 40
    farmers = pl.DataFrame({"farm": range(n), "region": ["n", "s"] * (n // 2)})
    visits = pl.DataFrame({"visit": range(n), "farm": range(n), "month": ["Jan"] * 20 + ["Feb"] * 20})
    both = {"farmers": farmers, "visits": visits}
    one = {"file": "f.csv", "variables": {"farm": {"role": "record"}, "region": {"role": "key"}}}
    one["unknown"] = nobody_knows("farm")
    two = {
        "file": "v.csv",
        "unknown": nobody_knows("visit", "farm"),
        "variables": {"visit": {"role": "record"}, "farm": {"role": "household"}, "month": {"role": "key"}},
    }
    twenty = {"limits": [{"measure": "k_anonymity", "at_least": 20}]}
    release = sf.protect(plan(farmers=one | twenty, visits=two | twenty), both, secret=SECRET)
    assert all(each.ok for each in release.tables.values())
    assert not release.ok  # each quarter holds ten
    assert "joined by farm" in release.report.refusals[0]
    ten = {"limits": [{"measure": "k_anonymity", "at_least": 10}]}
    assert sf.protect(plan(farmers=one | ten, visits=two | ten), both, secret=SECRET).ok


@pytest.mark.usefixtures("few_measures")
def test_tables_joined_through_a_third_must_keep_the_limit_too():
    """Ten farms in each month and ten of each size, and one farm of a size in a month."""
    n = 100
    farmers = pl.DataFrame({"farm": range(500, 500 + n), "region": ["n", "s"] * (n // 2)})
    visits = pl.DataFrame({"farm": farmers["farm"], "month": [i % 10 for i in range(n)]})
    loans = pl.DataFrame({"farm": farmers["farm"], "size": [i // 10 for i in range(n)]})
    key = {"role": "key", "kind": "categorical"}
    limits = [{"measure": "k_anonymity", "at_least": 10}]

    def table(name):
        variables = {"farm": {"role": "record"}, name: key}
        codes = [{"do": "pseudonymise", "columns": ["farm"]}]
        return {"file": f"{name}.csv", "variables": variables, "steps": codes, "limits": limits}

    whole = {"farmers": table("region"), "visits": table("month"), "loans": table("size")}
    links = [{"from": name, "to": "farmers", "on": ["farm"]} for name in ("visits", "loans")]
    data = {"farmers": farmers, "visits": visits, "loans": loans}
    release = sf.protect(sf.Plan.model_validate({"tables": whole, "links": links}), data, secret=SECRET)
    assert not release.links
    assert any(r.startswith("visits and loans joined by farm leave fewer than 10") for r in release.report.refusals)


@pytest.mark.usefixtures("few_measures")
@pytest.mark.parametrize("steps", [True, False])
def test_ids_under_two_names_are_warned_of(steps):
    farm = list(range(2000, 2040))
    one, two = pl.DataFrame({"id": farm}), pl.DataFrame({"visit": range(80), "farm_id": farm * 2})

    def both(scope):
        codes = [[{"do": "pseudonymise", "columns": [n], "scope": scope}] if steps else [] for n in ("id", "farm_id")]
        farmers = {"file": "f.csv", "variables": {"id": {"role": "record"}}, "steps": codes[0]}
        variables = {"visit": {"role": "record"}, "farm_id": {"role": "household"}}
        visits = {"file": "v.csv", "variables": variables, "steps": codes[1]}
        return plan(farmers=farmers, visits=visits, links=())

    told = [
        sf.protect(both(scope), {"farmers": one, "visits": two}, secret=SECRET).report.warnings
        for scope in ("project", "table")
    ]
    found = [any("by id and farm_id, which hold the same ids" in warning for warning in each) for each in told]
    assert found == [True, not steps]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"links": [{**LINK, "on": ["score"]}]}, "farmers does not release"),
        ({"links": [{**LINK, "from": "farmers", "to": "visits"}]}, "several records of visits share"),
    ],
)
def test_a_link_to_nothing_is_refused(change, said):
    with pytest.raises(PlanError, match=said):
        sf.protect(plan(**change), tables(), secret=SECRET)


def test_problems_of_all_tables_come_at_once_with_their_table():
    bad = {**VISITS, "steps": [{"do": "drop", "columns": ["nothing"]}]}
    worse = {**FARMERS, "steps": [{"do": "drop", "columns": ["nought"]}]}
    with pytest.raises(PlanError) as caught:
        sf.protect(plan(farmers=worse, visits=bad), tables(), secret=SECRET)
    text = str(caught.value)
    assert "table farmers, step 1 (drop): there is no column 'nought'" in text
    assert "table visits, step 1 (drop): there is no column 'nothing'" in text


def test_data_must_be_those_of_the_plan():
    with pytest.raises(PlanError, match="no data for table 'visits'"):
        sf.protect(plan(), {"farmers": tables()["farmers"]}, secret=SECRET)
    with pytest.raises(PlanError, match="has no table 'barns'"):
        sf.protect(plan(), {**tables(), "barns": tables()["farmers"]}, secret=SECRET)
    with pytest.raises(DataError, match="give the data of each by name: farmers, visits"):
        sf.protect(plan(), tables()["farmers"], secret=SECRET)


def test_whatever_reads_a_release_knows_its_tables(tmp_path):
    release = released()
    release.write(tmp_path / "out")
    with pytest.raises(FileError, match=r"several tables: name one \(--table, table=\): farmers, visits"):
        sf.card(tmp_path / "out")
    with pytest.raises(FileError, match="has no table 'barns'"):
        sf.card(tmp_path / "out", table="barns")
    assert [entry.variable for entry in sf.card(tmp_path / "out", table="visits").entries] == ["score"]
    assert len(sf.fit("score ~ 1", tmp_path / "out", table="visits").tidy()) == 1
    found = sf.risk(tmp_path / "out" / "farmers.parquet", plan=tmp_path / "out" / "plan.yaml")
    assert found.of("k_anonymity", group="strata").value == N / 2
    raw = tables()["visits"]
    with pytest.raises(PlanError, match="several tables: name one"):
        sf.risk(raw, plan=plan())
    assert sf.risk(tables()["farmers"], plan=plan(), table="farmers").of("k_anonymity", group="strata").value == N / 2
    assert len(sf.compare(raw, release.tables["visits"].data, plan=plan(), table="visits", record="visit"))


def test_tuning_a_table_gives_the_whole_plan_back():
    found = sf.tune(
        plan(),
        tables()["visits"],
        table="visits",
        parameter="steps.0.share",
        range=(0.05, 0.5),
        limit="h_rank[h<3] < 0.9",
        replications=2,
        tolerance=0.2,
    )
    assert found.plan.tables["visits"].steps[0].share == found.value
    assert found.plan.tables["farmers"] == plan().tables["farmers"]


def test_marked_values_reach_no_message(tmp_path):
    marked = tables()
    marked["visits"] = marked["visits"].with_columns(pl.lit("zebra-4711").alias("note"))
    with pytest.raises((DataError, PlanError, LimitExceeded)) as caught:
        sf.protect(plan(links=()), marked, secret=SECRET).write(tmp_path / "out")
    assert "4711" not in str(caught.value)
