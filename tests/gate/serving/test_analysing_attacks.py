"""What an intruder would try with models: to get a table back, to single somebody out, to average the noise away."""

import numpy as np
import polars as pl
import pytest

from sfumato.gate.noise import mu
from tests.gate.analyses.people import people
from tests.gate.conftest import table
from tests.gate.serving.test_analysing import figures, opened

__all__ = ["opened"]


def exact(answer):
    return answer.release is not None and answer.release.to_plain()["exact"]


def test_a_model_of_a_small_cell_is_not_exact(opened):
    """Three of a ward have the diagnosis: table and saturated model would both say so."""
    frame = people()
    three = frame.filter(pl.col("ward") == "a")["id"].head(3)
    frame = frame.with_columns(
        ill=pl.when(pl.col("id").is_in(three.implode())).then(pl.lit("yes")).otherwise(pl.lit("no"))
    )
    gate = opened(frame)
    assert gate.ask("cat", "ward", table("ill", "ward")).decision == "refused"
    for formula in ("ill ~ ward", "ill ~ C(ward)", "ill ~ 0 + ward"):
        assert not exact(gate.analyse("ann", "ward", "logistic", formula))


def test_nested_models_are_decided_together(opened):
    """Each of two models is safe, both give a table that is not: the notes' cells of two, three, three and none."""
    rows = {("1", "1"): 2, ("1", "2"): 3, ("2", "1"): 3, ("2", "2"): 0}
    frame = pl.DataFrame([{"A": a, "B": b, "y": y, "n": n * 1000} for (a, b), n in rows.items() for y in ("p", "q")])
    small = pl.DataFrame([{"A": a, "B": b, "y": "p", "n": n} for (a, b), n in rows.items()])
    frame = pl.concat([frame, small]).group_by("A", "B", "y").agg(pl.col("n").sum())
    gate = opened(frame, said="count: n")
    first = gate.analyse("ann", "ward", "logistic", "y ~ A")
    assert exact(first)
    gate.analyse("bob", "ward", "logistic", "y ~ B")
    gate.analyse("ann", "ward", "logistic", "y ~ A*B")
    assert gate.verify() == []


def test_scopes_cut_by_a_missing_value_differ_too(opened):
    frame = people().with_columns(smoker=pl.when(pl.col("id") == 7).then(None).otherwise(pl.lit("no")))
    frame = frame.with_columns(smoker=pl.when(pl.col("id") % 2 == 0).then(pl.lit("yes")).otherwise("smoker"))
    gate = opened(frame)
    assert gate.analyse("ann", "ward", "linear", "cost ~ age").decision == "granted"
    answer = gate.analyse("ann", "ward", "linear", "cost ~ age + smoker")
    assert (answer.decision, answer.reasons) == ("refused", ("scope",))
    project = {"complete_cases": "project"}
    first = gate.analyse("cat", "ward", "linear", "cost ~ age", options=project)
    second = gate.analyse("cat", "ward", "linear", "cost ~ age + smoker", options=project)
    assert first.decision == second.decision == "granted"


def test_idle_covariates_cost_the_budget(opened):
    """Twenty models with one idle covariate each would average the noise: the budget ends them."""
    rng = np.random.default_rng(5)
    idle = {f"z{i}": rng.normal(size=2000) for i in range(20)}
    gate = opened(people().with_columns(**{name: pl.Series(z) for name, z in idle.items()}))
    answers = [gate.analyse("ann", "ward", "linear", f"cost ~ age + {name}") for name in idle]
    given = [one for one in answers if one.release is not None]
    assert mu(gate._state.knows("ann", "ward")) <= 3
    assert mu(gate._state.knows("ann", "ward")) > 0.9 * 3 or len(given) == 20
    slopes = {round(float(figures(one)[1]), 9) for one in given}
    assert len(slopes) > 1


@pytest.mark.parametrize("other", ["cost ~ sex + age", "cost ~ C(sex) + age", "cost ~ age + sex + age"])
def test_other_spellings_draw_no_new_noise(opened, other):
    gate = opened()
    first = gate.analyse("ann", "ward", "linear", "cost ~ age + sex")
    again = gate.analyse("ann", "ward", "linear", other)
    assert first.release.rows == again.release.rows
    assert again.reasons == ("known",)


def test_a_slice_that_singles_somebody_out_has_no_model(opened):
    frame = people().with_columns(flag=pl.Series(["x"] * 3 + ["y"] * 1997))
    gate = opened(frame)
    for kind, formula in (("mean", "cost ~ 1"), ("quantile", "cost ~ 1"), ("linear", "cost ~ age")):
        answer = gate.analyse("ann", "ward", kind, formula, where={"flag": ["x"]})
        assert (answer.decision, answer.reasons) == ("refused", ("levels",))


def test_the_complement_of_a_slice_is_a_slice(opened):
    frame = people().with_columns(flag=pl.Series(["x"] * 3 + ["y"] * 1997))
    gate = opened(frame)
    assert gate.analyse("ann", "ward", "mean", "cost ~ 1").decision == "granted"
    answer = gate.analyse("ann", "ward", "mean", "cost ~ 1", where={"flag": ["y"]})
    assert (answer.decision, answer.reasons) == ("refused", ("levels",))


def test_a_mean_of_every_cell_locates_no_small_one(opened):
    """Sixty-four requests for one cell each would find all small cells of a table by which of them are refused."""
    frame = people(600).with_columns(part=pl.Series([str(i % 24) for i in range(600)]))
    gate = opened(frame)
    small = frame.group_by("part", "ward").len().filter(pl.col("len") <= 4)
    assert 0 < small.height < 72
    answers = {
        gate.analyse("ann", "ward", "mean", "cost ~ 1", where={"part": [part], "ward": [ward]}).reasons
        for part, ward in frame.select("part", "ward").unique().sort("part", "ward").rows()
    }
    assert answers == {("levels",)}


def test_leaving_and_joining_again_forgets_nothing(opened):
    frame = people().with_columns(flag=pl.Series(["x"] * 3 + ["y"] * 1997))
    gate = opened(frame)
    gate.analyse("ann", "ward", "mean", "cost ~ 1")
    gate.leave("ann", "north")
    assert gate.analyse("ann", "ward", "mean", "cost ~ 1", where={"flag": ["y"]}).decision == "refused"
    assert gate.analyse("bob", "ward", "mean", "cost ~ 1", where={"flag": ["y"]}).decision == "refused"


def test_who_is_in_the_scope_alone_moves_the_mean_no_further_than_noise(opened):
    """A millionaire joins: the released mean moves by less than four standard errors."""
    frame = people()
    rich = frame.with_columns(cost=pl.when(pl.col("id") == 11).then(1e9).otherwise("cost"))
    means = []
    for one in (frame, rich):
        gate = opened(one)
        answer = gate.analyse("ann", "ward", "mean", "cost ~ 1")
        means.append((figures(answer)[0], figures(answer, 2)[0]))
        gate.close()
        for file in gate.config.folder.glob("gate.db*"):
            file.unlink()
    assert abs(means[0][0] - means[1][0]) < 4 * means[0][1]
    assert means[1][1] < 2 * means[0][1]
