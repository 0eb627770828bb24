import json

import numpy as np
import polars as pl
import pytest

from sfumato.errors import DataError, LimitReached
from sfumato.gate.config import read_config
from sfumato.gate.margin import Margin
from sfumato.gate.noise import mu
from sfumato.gate.service import Gate
from tests.gate.analyses.people import AGES, SECRET, people
from tests.gate.conftest import table
from tests.late import late
from tests.parts import needs
from tests.real_data import real_data

sm = late("statsmodels.api")

ADMISSIONS = real_data() / "tables" / "r_UCBAdmissions.csv"

RESEARCH = (
    "{research: {interval: {count: 4, width: 10}, noise: {mu_at_most: 3}}, public: {interval: {count: 9, width: 20}}}"
)
"""With room for several models of a few hundred people."""


@pytest.fixture
def opened(tmp_path):
    """Gates over people in a folder, with ann and bob in north and cat in south."""
    gates = []

    def made(frame=None, policies=RESEARCH, said="record: id", policy="research"):
        (tmp_path / "key").write_bytes(SECRET)
        (people() if frame is None else frame).write_parquet(tmp_path / "ward.parquet")
        (tmp_path / "bands.csv").write_text("code,group\n" + "".join(f"{k},{v}\n" for k, v in AGES.items()))
        path = tmp_path / "gate.yaml"
        path.write_text(
            "gate: 1\nstore: sqlite:///gate.db\nsecret_file: key\n"
            f"datasets: {{ward: {{versions: {{v1: ward.parquet}}, {said}}}}}\npolicies: {policies}\n"
        )
        config = read_config(path)
        Gate.init(config)
        gate = Gate.open(config)
        gates.append(gate)
        for place in ("north", "south"):
            gate.add_organisation(place, policy)
        for user, place in (("ann", "north"), ("bob", "north"), ("cat", "south")):
            gate.add_user(user, place, "analyst", policy)
        return gate

    yield made
    for gate in gates:
        gate.close()


def figures(answer, column=1):
    return np.array([row[column] for row in answer.release.rows])


def test_a_fit_of_safe_tables_is_exact_and_they_are_known(opened):
    gate = opened()
    answer = gate.analyse("ann", "ward", "logistic", "died ~ sex + ward")
    frame = people()
    X = np.column_stack([np.ones(2000), *(frame[c] == v for c, v in (("sex", "M"), ("ward", "b"), ("ward", "c")))])
    wanted = sm.Logit((frame["died"] == "yes").to_numpy().astype(float), X.astype(float)).fit(disp=0)
    np.testing.assert_allclose(figures(answer), wanted.params, rtol=1e-8)
    np.testing.assert_allclose(figures(answer, 2), wanted.bse, rtol=1e-8)
    assert answer.release.to_plain()["exact"] is True
    for one in (table("died", "sex"), table("died", "ward"), table("sex", "ward")):
        assert gate.ask("bob", "ward", one).reasons == ("known",)
    assert gate.ask("cat", "ward", table("died", "sex")).reasons != ("known",)
    assert gate.verify() == []


def test_known_tables_give_their_fit(opened):
    gate = opened()
    gate.ask("ann", "ward", table("died", "sex", "ward"))
    answer = gate.analyse("ann", "ward", "probit", "died ~ sex*ward")
    assert answer.reasons == ("known",)
    assert answer.release.to_plain()["exact"]


@needs("data")
@pytest.mark.parametrize("policy", ["{count: 9, width: 10}", "{count: 20, width: 30}"])
def test_the_saturated_model_is_decided_as_its_table(opened, policy):
    """Admissions by gender and department: with every interaction a logit is the table.

    Its smallest cells hold 8 and 17 people: the table is refused under the first policy for the 8, and so is the model.
    """
    frame = pl.read_csv(ADMISSIONS)
    gate = opened(frame, f"{{research: {{interval: {policy}}}}}", f"count: {frame.columns[-1]}")
    told = gate.ask("cat", "ward", table("Admit", "Dept", "Gender"))
    answer = gate.analyse("ann", "ward", "logistic", "Admit ~ Gender*Dept")
    exact = answer.release is not None and answer.release.to_plain()["exact"]
    assert exact is (told.decision == "granted")
    assert not exact
    free = gate.analyse("ann", "ward", "logistic", "Admit ~ Gender")
    assert free.release.to_plain()["exact"]


@needs("data")
def test_a_saturated_model_of_a_safe_table_is_exact(opened):
    """With count 4 no cell of the admissions is small: both are given."""
    frame = pl.read_csv(ADMISSIONS)
    gate = opened(frame, said=f"count: {frame.columns[-1]}")
    answer = gate.analyse("ann", "ward", "logistic", "Admit ~ Gender*Dept")
    assert answer.release.to_plain()["exact"]
    assert gate.ask("bob", "ward", table("Admit", "Dept", "Gender")).reasons == ("known",)
    fitted = figures(answer)
    men = frame.filter(pl.col("Gender") == "Male", pl.col("Dept") == "A")
    odds = {a: men.filter(pl.col("Admit") == a)[frame.columns[-1]].item() for a in ("Admitted", "Rejected")}
    labels = [row[0] for row in answer.release.rows]
    sign = fitted[labels.index("Intercept")] + fitted[labels.index("Gender[T.Male]")]
    assert sign == pytest.approx(np.log(odds["Rejected"] / odds["Admitted"]), rel=1e-7)


def test_what_is_not_safe_is_given_with_noise_and_counted(opened):
    gate = opened()
    answer = gate.analyse("ann", "ward", "linear", "cost ~ stay + sex")
    plain = answer.release.to_plain()
    assert not plain["exact"]
    assert plain["columns"] == ["term", "estimate", "se", "se_added", "low", "high", "p"]
    tau = plain["disclosure"]["tau"]
    assert plain["disclosure"]["subsample"] == 0.95
    assert mu(gate._state.knows("bob", "ward")) == pytest.approx(1 / tau)
    frame = people()
    X = np.column_stack([np.ones(2000), frame["sex"] == "M", frame["stay"]]).astype(float)
    wanted = sm.OLS(frame["cost"].to_numpy(), X).fit()
    assert (np.abs(figures(answer) - wanted.params) < 4 * figures(answer, 2)).all()
    assert (figures(answer, 3) < figures(answer, 2)).all()
    assert gate.verify() == []


def costly(people_, who, cost):
    return people_.with_columns(cost=pl.when(pl.col("id") == who).then(cost).otherwise("cost"))


def test_sums_of_the_response_give_a_linear_fit_exactly(opened):
    """Nobody is told who has which cost, and tables of the same sums are known from then on."""
    gate = opened()
    answer = gate.analyse("ann", "ward", "linear", "cost ~ sex + ward")
    assert answer.release.to_plain()["exact"]
    frame = people()
    X = np.column_stack([np.ones(2000), *(frame[c] == v for c, v in (("sex", "M"), ("ward", "b"), ("ward", "c")))])
    wanted = sm.OLS(frame["cost"].to_numpy(), X.astype(float)).fit()
    np.testing.assert_allclose(figures(answer), wanted.params, rtol=1e-8)
    np.testing.assert_allclose(figures(answer, 2), wanted.bse, rtol=1e-8)
    assert gate.ask("bob", "ward", table("sex", value="cost")).reasons == ("known",)
    assert gate.ask("cat", "ward", table("sex", value="cost")).reasons != ("known",)
    assert mu(gate._state.knows("bob", "ward")) == 0
    assert gate.verify() == []
    entry = gate.entries(answer.ledger[0] - 1)[0]
    assert {one["value"] for one in entry.body["margins"]} == {"", "cost", "@squares of cost"}


@pytest.mark.parametrize("formula", ["cost ~ sex", "cost ~ 1"])
def test_who_makes_up_most_of_a_sum_is_behind_noise_without_any_rule(opened, formula):
    gate = opened(costly(people(), 11, 1e9))
    answer = gate.analyse("ann", "ward", "linear", formula)
    assert not answer.release.to_plain()["exact"]


def test_a_sum_in_which_few_people_could_be_is_behind_noise(opened):
    """Fifteen of thirty: whoever knows all costs finds the one set with the right sum, so it is not told in full."""
    frame = people(30).with_columns(side=pl.Series(["x", "y"] * 15))
    gate = opened(frame)
    answer = gate.analyse("ann", "ward", "mean", "cost ~ side")
    assert answer.release is None or not answer.release.to_plain()["exact"]


def test_asked_again_it_costs_nothing_more(opened):
    gate = opened()
    first = gate.analyse("ann", "ward", "linear", "cost ~ stay + sex")
    again = gate.analyse("bob", "ward", "linear", "cost ~ sex + stay")
    assert again.reasons == ("known",)
    assert again.release.rows == first.release.rows
    assert len(gate._state.knows("ann", "ward")) == 1


def test_the_budget_ends(opened):
    gate = opened(policies="{research: {interval: {count: 4, width: 10}, noise: {mu_at_most: 1.5}}}")
    decisions = [
        gate.analyse("ann", "ward", "linear", f"cost ~ {x}")
        for x in ("age", "stay", "visits", "age + stay", "age + visits", "stay + visits")
    ]
    answers = [(one.decision, one.reasons) for one in decisions]
    assert answers[0] == ("granted", ())
    assert answers[-1] == ("refused", ("noise",))
    assert mu(gate._state.knows("ann", "ward")) <= 1.5
    assert gate.analyse("cat", "ward", "linear", "cost ~ stay + visits").decision == "granted"
    assert gate.join("cat", "north").decision == "refused"


def lacking(few):
    """Some lack a value of `asked`: models with it are about fewer people."""
    return people().with_columns(asked=pl.Series([None] * few + ["xy"[i % 2] for i in range(2000 - few)]))


@pytest.mark.parametrize(("few", "decision"), [(3, "refused"), (5, "granted")])
def test_scopes_that_differ_by_few(opened, few, decision):
    gate = opened(lacking(few))
    assert gate.analyse("ann", "ward", "linear", "cost ~ stay").decision == "granted"
    answer = gate.analyse("bob", "ward", "linear", "cost ~ age + stay + asked")
    assert answer.decision == decision
    assert answer.reasons == (("scope",) if few == 3 else ())


def test_those_who_would_put_near_scopes_together_do_not_join(opened):
    gate = opened(lacking(3))
    gate.analyse("ann", "ward", "linear", "cost ~ stay")
    assert gate.analyse("cat", "ward", "linear", "cost ~ stay + asked").decision == "granted"
    joined = gate.join("cat", "north")
    assert (joined.decision, joined.reasons) == ("refused", ("scope",))


def test_thresholds_hold_for_all_who_may_come_to_know(opened):
    """Eight people with a rare diagnosis: enough for research (4), too few where the public would know (9)."""
    ill = ["ill"] * 16 + ["well"] * 1984
    frame = people().with_columns(ill=pl.Series(ill), died=pl.Series(["yes", "no"] * 1000))
    gate = opened(frame)
    assert gate.analyse("ann", "ward", "logistic", "died ~ ill + age").decision == "granted"
    answer = gate.analyse("public", "ward", "logistic", "died ~ ill + age")
    assert (answer.decision, answer.reasons) == ("refused", ("levels",))


def test_a_refusal_offers_simpler_models(opened):
    frame = people().with_columns(ill=pl.Series(["ill"] * 3 + ["well"] * 1997))
    gate = opened(frame, said="record: id, levels: {age: {band: bands.csv}}")
    answer = gate.analyse("ann", "ward", "logistic", "died ~ age + ill")
    assert (answer.decision, answer.reasons) == ("refused", ("levels",))
    [offer] = [one.to_plain() for one in answer.offers]
    assert offer["kind"] == "analysis"
    assert offer["analysis"]["formula"] == "died ~ age"
    took = offer["analysis"]
    taken = gate.analyse("ann", "ward", took["kind"], took["formula"], where=took["where"])
    assert taken.decision == "granted"
    assert gate._state.knows("cat", "ward") == frozenset()
    assert gate.verify() == []


def test_a_table_that_is_refused_may_be_had_as_a_model(opened):
    gate = opened(said="record: id, levels: {age: {band: bands.csv}}")
    answer = gate.ask("ann", "ward", table("died", "age", "ward"))
    assert answer.decision == "refused"
    kinds = [one.kind for one in answer.offers]
    assert len(kinds) <= 3
    offers = [entry for entry in gate.entries(answer.ledger[0]) if entry.kind == "offer"]
    assert any("fit" in entry.body["margin"] for entry in offers) or len(kinds) == 3


def test_tables_are_tables(opened):
    gate = opened()
    answer = gate.analyse("ann", "ward", "chi2", "sex ~ ward")
    plain = answer.release.to_plain()
    assert plain["columns"] == ["sex", "ward", "count"]
    assert gate.ask("ann", "ward", table("sex", "ward")).reasons == ("known",)
    frame = people()
    own = frame.pivot(on="ward", index="sex", values="id", aggregate_function="len").drop("sex").to_numpy()
    expected = own.sum(1, keepdims=True) * own.sum(0, keepdims=True) / own.sum()
    assert plain["statistics"]["chi2"] == pytest.approx(((own - expected) ** 2 / expected).sum())
    assert plain["statistics"]["df"] == 2
    with pytest.raises(DataError, match="complete_cases"):
        gate.analyse("ann", "ward", "chi2", "sex ~ ward", options={"complete_cases": "project"})


def test_noise_may_be_wanted(opened):
    gate = opened()
    answer = gate.analyse("ann", "ward", "logistic", "died ~ sex", options={"protected": True})
    assert not answer.release.to_plain()["exact"]
    assert gate.ask("ann", "ward", table("died", "sex")).reasons != ("known",)


def test_one_key_one_answer(opened):
    gate = opened()
    first = gate.analyse("ann", "ward", "linear", "cost ~ age", key="k")
    assert gate.analyse("ann", "ward", "linear", "cost ~ age", key="k") == first
    with pytest.raises(DataError, match="another request"):
        gate.analyse("ann", "ward", "linear", "cost ~ stay", key="k")
    with pytest.raises(DataError, match="another request"):
        gate.ask("ann", "ward", table("sex"), key="k")


def test_limits_of_a_day_count_fits_too(opened):
    gate = opened(policies="{research: {interval: {count: 4, width: 10}, requests_per_day: 2}}")
    gate.analyse("ann", "ward", "linear", "cost ~ age")
    gate.ask("ann", "ward", table("sex"))
    with pytest.raises(LimitReached):
        gate.analyse("ann", "ward", "linear", "cost ~ stay")


def test_stewards_ask_nothing(opened):
    gate = opened()
    gate.add_user("sue", None, "steward", "research")
    with pytest.raises(DataError, match="no analyst"):
        gate.analyse("sue", "ward", "linear", "cost ~ age")


def test_entries_say_what_was_decided_and_hold_no_figure(opened):
    gate = opened()
    answer = gate.analyse("ann", "ward", "linear", "cost ~ stay + sex")
    [entry] = gate.entries(answer.ledger[0] - 1)
    assert json.loads(entry.body["margin"]["fit"])["formula"] == "cost ~ sex + stay"
    assert entry.body["exact"]["decision"] == "refused"
    text = json.dumps(entry.body)
    assert all(str(row[1]) not in text for row in answer.release.rows)


def test_what_is_known_follows_from_the_entries(opened):
    gate = opened()
    gate.analyse("ann", "ward", "logistic", "died ~ sex + ward")
    gate.analyse("ann", "ward", "linear", "cost ~ stay + sex")
    held = gate._state.knows("bob", "ward")
    assert {type(one) for one in held} == {Margin}
    assert sum(bool(one.fit) for one in held) == 1
    assert gate.verify() == []
