"""A plan's steps run over records before a table is made of them."""

import polars as pl
import pytest

import sfumato as sf
from sfumato.errors import DataError, PlanError, SecretError

FIRMS = pl.DataFrame(
    {
        "id": range(60),
        "town": ["Leeds", "York", "Bath"] * 20,
        "turnover": [float((i * 29) % 97) for i in range(60)],
        "owner": [f"owner {i % 25}" for i in range(60)],
        "name": [f"Firm {i}" for i in range(60)],
    }
)
TOP = sf.steps.TopCode(columns=["turnover"], at=80)
NOISE = sf.steps.Noise(columns=["turnover"], share=0.1)
ROLES = {"id": {"role": "record"}, "name": {"role": "identifier"}, "turnover": {"kind": "continuous"}}
TREE = {"Leeds": ["North"], "York": ["North"], "Bath": ["South"]}


def test_the_table_is_of_what_the_steps_leave():
    plan = sf.Plan(variables=ROLES, steps=[TOP])
    made = sf.tabulate(plan, FIRMS, "town", "turnover")
    wanted = FIRMS.with_columns(pl.col("turnover").clip(upper_bound=80)).group_by("town").agg(pl.sum("turnover"))
    found = dict(made.cells.select("town", "turnover").iter_rows())
    assert found == dict(wanted.iter_rows()) | {"Total": wanted["turnover"].sum()}


def test_hierarchies_and_missing_codes_are_the_plans():
    plan = sf.Plan(variables=ROLES | {"town": {"hierarchy": TREE}, "turnover": {"kind": "continuous", "missing": [29]}})
    made = sf.tabulate(plan, FIRMS, "town", "turnover")
    assert set(made.axes[0].codes) == {"Total", "North", "South", "Leeds", "York", "Bath"}
    total = made.values[0]
    assert total == FIRMS.filter(pl.col("turnover") != 29)["turnover"].sum()


def test_limits_are_not_judged_and_identifiers_need_not_go():
    limits = [{"measure": "k_anonymity", "at_least": 1000}]
    plan = sf.Plan(variables=ROLES, steps=[TOP], limits=limits)
    assert len(sf.tabulate(plan, FIRMS, "town", contributors="name")) == 4


def test_a_step_that_draws_needs_a_secret(monkeypatch):
    monkeypatch.delenv("SFUMATO_SECRET", raising=False)
    plan = sf.Plan(variables=ROLES, steps=[NOISE])
    with pytest.raises(SecretError, match="noise"):
        sf.tabulate(plan, FIRMS, "town", "turnover")
    one, two = (sf.tabulate(plan, FIRMS, "town", "turnover", secret=bytes([k]) * 32) for k in (1, 2))
    again = sf.tabulate(plan, FIRMS[::-1], "town", "turnover", secret=bytes([1]) * 32)
    assert one.values.tolist() == again.values.tolist()
    assert one.values.tolist() != two.values.tolist()


def test_new_ids_need_a_secret_only_where_the_table_shows_them(monkeypatch):
    monkeypatch.delenv("SFUMATO_SECRET", raising=False)
    owner = {"owner": {"role": "identifier"}}
    plan = sf.Plan(variables=ROLES | owner, steps=[sf.steps.Pseudonymise(columns=["owner"])])
    assert sf.tabulate(plan, FIRMS, "town", "turnover", contributors="owner").cells["contributors"][0] == 25
    with pytest.raises(SecretError, match="pseudonymise"):
        sf.tabulate(plan, FIRMS, "owner", "turnover")


def test_the_papers_tell_what_became_of_the_records_and_nothing_of_the_secret(tmp_path):
    secret = bytes(range(32))
    plan = sf.Plan(variables=ROLES, steps=[TOP, NOISE, sf.steps.Drop(columns=["name"])])
    built = sf.tabulate(plan, FIRMS, "town", "turnover", secret=secret)
    kept = sf.read_table(sf.hand_out(built, tmp_path / "built"))
    out = sf.hand_out(sf.tables.protect(kept, "n(3)"), tmp_path / "out")
    text = "".join(path.read_text() for path in out.iterdir())
    assert plan.digest in text
    assert "top-coded" in text
    told = sf.read_table(out).origin
    assert (told.disclosure, told.plan, told.fingerprint) == (
        built.origin.disclosure,
        built.origin.plan,
        built.origin.fingerprint,
    )
    assert "name" not in {n for part in built.origin.disclosure for n in part.columns}
    for hidden in (secret.hex(), repr(secret), "Firm", "owner"):
        assert hidden not in text


def test_columns_that_steps_leave_out_are_refused_with_the_reason():
    plan = sf.Plan(variables=ROLES, steps=[sf.steps.Drop(columns=["owner", "name"])])
    with pytest.raises(DataError, match="steps leave 'owner' out"):
        sf.tabulate(plan, FIRMS, "town", contributors="owner")


def test_a_plan_for_other_columns_is_refused():
    with pytest.raises(PlanError, match="'height'"):
        sf.tabulate(sf.Plan(variables={"height": {"role": "key"}}), FIRMS, "town")


def test_of_a_plan_of_several_tables_one_is_named():
    plan = sf.Plan(tables={"firms": {"file": "firms.csv", "variables": ROLES, "steps": [TOP]}})
    with pytest.raises(PlanError, match="name one"):
        sf.tabulate(plan, FIRMS, "town", "turnover")
    assert len(sf.tabulate(plan, FIRMS, "town", "turnover", plan_table="firms")) == 4
