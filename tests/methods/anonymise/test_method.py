"""anonymise as a step: what leaves meets what was asked, by counts of its own; published optima on Adult."""

import numpy as np
import polars as pl
import pytest
from pydantic import ValidationError

from sfumato.data.codebook import Codebook, Variable
from sfumato.data.dataset import rows
from sfumato.data.hierarchy import Hierarchy
from sfumato.draws import Draws
from sfumato.engines.duckdb import DuckDBDataset
from sfumato.engines.polars import PolarsDataset
from sfumato.errors import EmptyRelease
from sfumato.methods.anonymise.method import Anonymise
from sfumato.methods.generalising import Unlisted
from sfumato.plan.plan import Plan
from sfumato.release.run import run_steps
from tests.methods.tables import run

LAWFUL = [
    Anonymise(keys=("g", "h"), k=5, suppression_limit=0.2),
    Anonymise(keys=("h", "g"), k=3, suppression_limit=0.1, local=True),
]
AGES = Hierarchy.intervals(0, 99, [5, 10, 20, 40])
TOWNS = Hierarchy((("Leeds", "North"), ("York", "North"), ("Bath", "South"), ("Bristol", "South")))


def people(n=300, seed=1):
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 90, n)
    return pl.DataFrame(
        {
            "age": np.where(rng.random(n) < 0.02, -9, age),
            "town": pl.Series(rng.choice(TOWNS.leaves, n, p=[0.5, 0.3, 0.15, 0.05])),
            "sex": pl.Series(rng.choice(["f", "m", None], n, p=[0.5, 0.45, 0.05])),
            "ill": rng.choice(["none", "flu", "gout"], n, p=[0.6, 0.3, 0.1]),
        }
    )


BOOK = Codebook(
    {
        "age": Variable(kind="integer", missing=[-9], hierarchy=AGES.to_variable()),
        "town": Variable(kind="categorical", hierarchy=TOWNS.to_variable(), labels={"Leeds": "the city"}),
        "sex": Variable(kind="categorical"),
        "ill": Variable(role="sensitive", kind="categorical"),
    }
)
KEYS = ("age", "town", "sex")


def classes(frame, by=KEYS):
    return frame.group_by(by).agg(pl.len().alias("n"), pl.col("ill").n_unique().alias("l"))


@pytest.mark.parametrize("local", [False, True])
@pytest.mark.parametrize("limit", [0.0, 0.05])
def test_what_leaves_meets_what_was_asked(local, limit):
    frame = people().with_row_index("row")
    ran = run(Anonymise(keys=KEYS, k=4, l=2, suppression_limit=limit, local=local), frame, BOOK)
    after = ran.after.frame
    assert classes(after)["n"].min() >= 4
    assert classes(after)["l"].min() >= 2
    assert frame.height - after.height == ran.suppression.records <= limit * frame.height
    stayed = frame.join(after.select("row"), on="row", how="semi", maintain_order="left")
    assert after.select("row", "ill").equals(stayed.select("row", "ill"))
    heights = dict(zip(KEYS, (AGES.height, TOWNS.height, 1), strict=True))
    for key, hierarchy in (("age", AGES), ("town", TOWNS)):  # each value stands under the category that is released
        known = [hierarchy.level(i) for i in range(heights[key] + 1)]
        pairs = zip(stayed[key].cast(pl.String), after[key].cast(pl.String), strict=True)
        assert all(new in {old, "*", *(level.get(old) for level in known)} for old, new in pairs)


def test_categories_are_those_of_the_levels_and_codes_stay_apart():
    frame = people(2000)
    ran = run(Anonymise(keys=KEYS, k=5, suppression_limit=0.3), frame, BOOK)
    (note,) = ran.steps[0].notes
    level = int(note.split("age ")[1].split(" ")[0])
    assert 0 < level < AGES.height
    known = {AGES.level(level)[str(age)] for age in range(18, 90)}
    assert set(ran.after.frame["age"].drop_nulls()) <= known | {"-9"}
    variable = ran.after.codebook["age"]
    assert variable.kind == "ordinal"
    assert "-9" in {code.code for code in variable.missing}
    told = {part.columns: part for part in ran.disclosure.parts}
    assert told["age",].bands[AGES.level(level)["30"]][0] == min(
        age for age in range(100) if AGES.level(level)[str(age)] == AGES.level(level)["30"]
    )
    assert told[KEYS].sentence() == "age, town, sex: records in classes that do not meet k = 5 were left out."


def test_a_key_on_level_0_keeps_its_type():
    frame = pl.DataFrame({"age": [30, 30, 30, 41, 41, 41], "sex": list("fmffmf")})
    ran = run(Anonymise(keys=("age", "sex"), k=3, suppression_limit=0), frame, Codebook().only(frame.columns))
    assert ran.after.frame["age"].to_list() == [30, 30, 30, 41, 41, 41]
    assert set(ran.after.frame["sex"]) == {"*"}


def test_missing_values_are_a_category_until_all_is_one():
    frame = pl.DataFrame({"sex": ["f", "f", "m", "m", None, None], "x": [1] * 6})
    apart = run(Anonymise(keys=("sex",), k=2, suppression_limit=0), frame, Codebook().only(frame.columns))
    assert apart.after.frame["sex"].to_list() == ["f", "f", "m", "m", None, None]
    one = run(Anonymise(keys=("sex",), k=3, suppression_limit=0), frame, Codebook().only(frame.columns))
    assert one.after.frame["sex"].to_list() == ["*"] * 6


@pytest.mark.parametrize("local", [False, True])
def test_any_order_of_rows_and_any_engine(local):
    frame = people(400).with_row_index("row")
    step = Anonymise(keys=KEYS, k=5, suppression_limit=0.05, local=local)
    shuffled = frame.sample(fraction=1, shuffle=True, seed=3)
    made = [
        run_steps([step], data, Draws(bytes(16))).after
        for data in (
            PolarsDataset(frame, BOOK),
            PolarsDataset(shuffled, BOOK),
            PolarsDataset(frame, BOOK, batch_rows=7),
        )
    ]
    other = run_steps([step], DuckDBDataset.of(frame, BOOK), Draws(bytes(16))).after
    for after in (*(m.frame for m in made[1:]), rows(other).select(frame.columns)):
        assert after.sort("row").equals(made[0].frame.sort("row"))


def test_values_that_hierarchies_do_not_list_are_told_of_all_keys_at_once():
    frame = people().with_columns(age=pl.lit(120), town=pl.lit("Hull"))
    with pytest.raises(Unlisted, match="The hierarchies of age, town do not") as refused:
        run(Anonymise(keys=KEYS), frame, BOOK)
    assert refused.value.values == {"age": {"120": 300}, "town": {"Hull": 300}}


def test_what_nothing_meets_is_refused():
    frame = people().with_columns(ill=pl.lit("flu"))
    with pytest.raises(EmptyRelease, match=r"l = 2 \(distinct\) of ill"):
        run(Anonymise(keys=KEYS, l=2), frame, BOOK)


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ({"k": 1}, "greater than or equal to 2"),
        ({"suppression_limit": 1.1}, "less than or equal to 1"),
        ({"sensitive": ["age"]}, "sensitive, and among the keys"),
        ({"keys": ["age", "age"]}, "twice"),
        ({"l": 2.5}, "whole number"),
        ({"attribute_weights": {"size": 1}}, "not among the keys"),
        ({"attribute_weights": {"age": 0}}, "above 0"),
        ({"local": True, "loss": "entropy"}, "loss-arithmetic"),
        ({"loss": "utility"}, "Input should be"),
    ],
)
def test_what_does_not_go_together(more, says):
    with pytest.raises(ValidationError, match=says):
        Anonymise(**({"keys": ["age"]} | more))


def test_problems_that_are_found_before_the_run():
    book = Codebook({"id": Variable(role="record"), "age": Variable(), "ill": Variable()})
    assert "must not change" in Anonymise(keys=("id",)).check(book)[0]
    assert "there is no column 'size'" in Anonymise(keys=("size",)).check(book)[0]
    assert "name it (sensitive: [column])" in Anonymise(keys=("age",), t=0.2).check(book)[0]
    assert (
        "needs a hierarchy of 'ill'"
        in (Anonymise(keys=("age",), t=0.2, t_kind="hierarchical", sensitive=("ill",)).check(book)[0])
    )


# Scores and suppressed records of an independent search and of the field's program (the benchmark variant of Adult)
PUBLISHED = [
    (0.05, "loss", 0.2419323651, 1346),
    (0.02, "loss", 0.3137130353, 506),
    (0.0, "loss", 0.5731509656, 0),
    (1.0, "loss", 0.2204119285, 2553),
    (0.05, "discernibility", 7220555, None),
    (0.0, "average-class-size", 628.375, 0),
]


@pytest.mark.few(2)
@pytest.mark.parametrize(("limit", "loss", "score", "suppressed"), PUBLISHED)
def test_published_optima(shared_data, limit, loss, score, suppressed):
    frame = pl.read_csv(shared_data / "adult" / "adult.csv", separator=";")
    step = Anonymise(
        keys=tuple(frame.columns),
        k=5,
        suppression_limit=limit,
        loss=loss,
        hierarchies=str(shared_data / "adult" / "hierarchies"),
    )
    plan = Plan(steps=[step])
    book = plan.codebook(frame, Codebook())
    ran = run_steps(plan.steps, PolarsDataset(frame, book), Draws(bytes(16)))
    found = float(ran.steps[0].notes[0].rsplit(" ", 1)[1].rstrip("."))
    assert found == pytest.approx(score, rel=1e-5)  # as printed in the note; the kernel's tests ask for every digit
    if suppressed is not None:
        assert ran.suppression.records == suppressed
    assert ran.after.frame.group_by(frame.columns).len()["len"].min() >= 5
