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
    assert gate.analyse("ann", "ward", "linear", "cost ~ stay").decision == "granted"
    answer = gate.analyse("ann", "ward", "linear", "cost ~ stay + smoker")
    assert (answer.decision, answer.reasons) == ("refused", ("scope",))
    project = {"complete_cases": "project"}
    first = gate.analyse("cat", "ward", "linear", "cost ~ stay", options=project)
    second = gate.analyse("cat", "ward", "linear", "cost ~ stay + smoker", options=project)
    assert first.decision == second.decision == "granted"


@pytest.mark.slow
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


@pytest.mark.parametrize("other", ["cost ~ sex + stay", "cost ~ C(sex) + stay", "cost ~ stay + sex + stay"])
def test_other_spellings_draw_no_new_noise(opened, other):
    gate = opened()
    first = gate.analyse("ann", "ward", "linear", "cost ~ stay + sex")
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


@pytest.mark.slow
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
        for file in (*gate.config.folder.glob("gate.db*"), gate.config.log_path):
            file.unlink()
    assert abs(means[0][0] - means[1][0]) < 4 * means[0][1]
    assert means[1][1] < 2 * means[0][1]


HIDDEN = "{research: {interval: {count: 4, width: 10}, attribution: {variables: [hiv]}, perturbed: {variance: 9}}}"


def ill(frame, every=7):
    return frame.with_columns(hiv=pl.when(pl.col("id") % every == 0).then(pl.lit("yes")).otherwise(pl.lit("no")))


@pytest.mark.slow
def test_zeros_of_a_perturbed_table_are_true(opened):
    """A group with people who have it and nobody else would be told by a table whose zeros stay zeros."""
    gate = opened(ill(people()), HIDDEN)
    answer = gate.ask("ann", "ward", table("hiv", "sex", "ward", "gp"), perturbed=True)
    assert (answer.decision, answer.reasons) == ("refused", ("attribution",))
    assert gate.ask("ann", "ward", table("sex", "gp"), perturbed=True).decision == "granted"
    assert all(offer.kind != "perturbed" for offer in gate.ask("bob", "ward", table("hiv", "gp")).offers)


@pytest.mark.parametrize(("few", "reasons"), [(3, ("levels",)), (40, ())])
def test_numbers_that_are_mostly_zero_single_nobody_out(opened, few, reasons):
    """Whether the product of two flags is separated from the response would tell whether three people are ill."""
    flags = {name: pl.Series([int(i % k < 2) for i in range(2000)]) for name, k in (("f1", 5), ("f2", 7))}
    both = [int(i < few) for i in range(2000)]
    frame = ill(people(), 3).with_columns(f1=pl.Series(both) | (flags["f1"] & ~flags["f2"]), f2=pl.Series(both))
    frame = frame.with_columns(
        f2=pl.col("f2") + 3 * ((pl.col("id") > 100) & (pl.col("id") < 300) & (pl.col("f1") == 0))
    )
    gate = opened(frame)
    answer = gate.analyse("ann", "ward", "logistic", "hiv ~ f1:f2 + age")
    assert answer.reasons == reasons


def test_that_nobody_of_a_slice_has_it_is_not_told_by_labels(opened):
    frame = ill(people()).with_columns(hiv=pl.when(pl.col("ward") == "a").then(pl.lit("no")).otherwise("hiv"))
    gate = opened(ill(frame).with_columns(hiv=frame["hiv"]), HIDDEN)
    for ward in "abc":
        for kind, formula in (("linear", "cost ~ hiv + stay"), ("logistic", "died ~ hiv + stay")):
            answer = gate.analyse("ann", "ward", kind, formula, where={"ward": [ward]})
            assert (answer.decision, answer.reasons) == ("refused", ("attribution",))
        answer = gate.analyse("ann", "ward", "mean", "cost ~ 1", where={"ward": [ward], "hiv": ["yes"]})
        assert (answer.decision, answer.reasons) == ("refused", ("attribution",))


def test_scopes_locate_no_slice_of_few(opened):
    """Two of one part lack a value: after a model of all who have it, no slice by that variable may be had, or all."""
    part = [str(i % 20) for i in range(2000)]
    lacks = [(i % 20 == 3 and i < 60) or (i % 20 in (5, 6) and i < 400) for i in range(2000)]
    frame = people().with_columns(part=pl.Series(part), load=pl.Series([None if one else "x" for one in lacks]))
    gate = opened(frame)
    noisy = {"protected": True}
    first = gate.analyse("ann", "ward", "mean", "cost ~ 1", options={"complete_cases": ["load"], **noisy})
    assert first.decision == "granted"
    answers = {
        gate.analyse("ann", "ward", "mean", "cost ~ 1", where={"part": [p]}, options=noisy).reasons for p in set(part)
    }
    assert answers == {("scope",)}


@pytest.mark.slow
def test_that_there_is_no_estimate_costs_the_budget(opened):
    """A line that separates tells of everybody beyond it; idle covariates would give another try for nothing."""
    frame = people().with_columns(
        x=pl.col("id") + 0.5, hiv=pl.when(pl.col("id") < 900).then(pl.lit("a")).otherwise(pl.lit("b"))
    )
    gate = opened(frame)
    reasons = [
        gate.analyse("ann", "ward", "logistic", f"hiv ~ x + {idle}").reasons
        for idle in (
            "age",
            "stay",
            "cost",
            "visits",
            "age + stay",
            "age + cost",
            "stay + cost",
            "stay + visits",
            "age + visits",
        )
        for _ in range(2)
    ]
    assert reasons[:2] == [("model",)] * 2
    assert mu(gate._state.knows("ann", "ward")) == pytest.approx(3)
    assert mu(gate._state.knows("bob", "ward")) == pytest.approx(3)
    assert gate.analyse("ann", "ward", "linear", "cost ~ stay").reasons == ("noise",)
    assert gate.verify() == []


@pytest.mark.slow
def test_large_models_are_refused_before_they_take_long(opened):
    frame = pl.concat([people(20_000, seed=i).with_columns(id=pl.col("id") + i * 20_000) for i in range(2)])
    frame = frame.with_columns(g=pl.col("id") % 250)
    gate = opened(frame)
    answer = gate.analyse("ann", "ward", "linear", "cost ~ C(g)")
    assert (answer.decision, answer.reasons) == ("refused", ("model",))
    assert gate.analyse("ann", "ward", "linear", "cost ~ C(gp)").decision == "granted"
