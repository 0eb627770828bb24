"""Inference beside a control, against whole matrices."""

from functools import partial

import numpy as np
import polars as pl
import pytest

from sfumato.data.codebook import Codebook, Variable
from sfumato.measures.guessing import Guessed, risk_above
from sfumato.measures.known import Known
from sfumato.measures.risk.attacked import FEW, attacked
from sfumato.measures.risk.inference import findings
from sfumato.measures.risk.linkers.coding import coded

BOOK = Codebook({"a": Variable(kind="categorical"), "x": Variable(kind="integer"), "ill": Variable(kind="categorical")})


def table(n, seed):
    rng = np.random.default_rng(seed)
    return pl.DataFrame(
        {"a": rng.integers(0, 4, n), "x": rng.integers(0, 30, n), "ill": rng.choice(["no", "yes", "perhaps"], n)}
    )


PEOPLE, OTHERS, COPY = table(80, 1), table(60, 2), table(70, 3)


def share(known, copy):
    spread = PEOPLE["x"].max() - PEOPLE["x"].min()
    d = (known["a"].to_numpy()[:, None] != copy["a"].to_numpy()[None]).astype(float)
    d += np.abs(known["x"].to_numpy()[:, None] - copy["x"].to_numpy()[None]) / spread
    right = 0.0
    for truth, row in zip(known["ill"], d, strict=True):
        votes = copy["ill"].filter(pl.Series(row <= row.min() + 1e-9)).value_counts()
        most = votes.filter(pl.col("count") == pl.col("count").max())["ill"].to_list()
        right += (truth in most) / len(most)
    return right / known.height


@pytest.mark.parametrize("aligned", [False, True])
def test_right_guesses_are_those_of_the_definition(aligned):
    copy = table(80, 4) if aligned else COPY
    known = Known(PEOPLE, copy, BOOK, ("a", "x"), aligned, OTHERS)
    found = findings(known, ["ill"])
    rows = attacked(coded(known, ["a", "x"]), known, beside=False).rows
    a, c = share(PEOPLE, copy), share(OTHERS[rows[rows >= 80] - 80], copy)
    line = partial(found.of, "inference", attack="nearest")
    assert line(group="attack").value == pytest.approx(a)
    assert line(group="control").value == pytest.approx(c)
    assert line(group="risk").value == pytest.approx((a - c) / (1 - c))
    assert line(group="attack").baseline == pytest.approx(share(PEOPLE, PEOPLE))
    risks = [f.value for f in found.select("inference", group="risk") if f.attack is not None]
    assert found.of("inference", group="risk", attack=None).value == max(risks)
    assert FEW in found.notes  # 30 others beside the reference


def test_what_votes_best_on_one_half_is_stated_of_the_other():
    people, others = table(200, 5), table(300, 6)
    copy = pl.concat([people.sample(fraction=0.6, seed=1), table(80, 7)])
    known = Known(people, copy, BOOK, ("a", "x"), False, others)
    found = findings(known, ["ill"])
    who = attacked(coded(known, ["a", "x"]), known, beside=False)
    everybody = pl.concat([people, others])
    low, high = np.quantile(everybody[who.reference]["x"].to_numpy(), [0.1, 0.9])
    some = everybody[who.rows]
    d = (some["a"].to_numpy()[:, None] != copy["a"].to_numpy()[None]).astype(float)
    d += np.minimum(np.abs(some["x"].to_numpy()[:, None] - copy["x"].to_numpy()[None]) / ((high - low) / 4), 1)
    values = copy["ill"].unique().sort()
    right = [np.array([share(some[[i]], copy) for i in range(some.height)])]
    for w in (0.15, 0.35):
        votes = np.stack([(np.exp(-d / w) * (copy["ill"] == v).to_numpy()).sum(axis=1) for v in values])
        right.append((values.gather(votes.argmax(axis=0)) == some["ill"]).to_numpy().astype(float))
    halves, inside = (~who.half, who.half), who.member
    risks = [[risk_above(r[h & inside].mean(), r[h & ~inside].mean()) for h in halves] for r in right]
    first, second = (int(np.argmax([r[h] for r in risks])) for h in (1, 0))
    together = np.where(halves[0], right[first], right[second])
    line = partial(found.of, "inference", attack=None)
    assert line(group="attack").value == pytest.approx(together[inside].mean())
    assert line(group="control").value == pytest.approx(together[~inside].mean())
    kernel = int(1 + np.argmax([r[1] for r in risks[1:]])), int(1 + np.argmax([r[0] for r in risks[1:]]))
    together = np.where(halves[0], right[kernel[0]], right[kernel[1]])
    assert found.of("inference", group="attack", attack="kernel").value == pytest.approx(together[inside].mean())
    assert not found.notes


def test_a_persons_rows_count_as_one():
    """A person with nine rows, all guessed, weighs as much as one with a single row that is not."""
    rows = [("p1", "a", "no")] * 9 + [("p2", "b", "yes")]
    people = pl.DataFrame(rows, schema=["pid", "a", "ill"], orient="row")
    control = pl.DataFrame([(f"c{i}", "c", "no") for i in range(4)], schema=["pid", "a", "ill"], orient="row")
    copy = pl.DataFrame({"pid": ["n1", "n2", "n3"], "a": ["a", "b", "c"], "ill": ["no", "no", "yes"]})
    book = Codebook({"pid": Variable(role="person"), "a": Variable(kind="categorical")})
    found = findings(Known(people, copy, book, ("a",), False, control), ["ill"])
    assert found.of("inference", group="attack", attack="nearest").value == 0.5
    assert found.of("inference", group="control", attack="nearest").value == 0.0


def test_a_key_that_is_sensitive_is_guessed_by_the_other_keys():
    of_ill = findings(Known(PEOPLE, COPY, BOOK, ("a", "x"), False, OTHERS), ["ill"])
    both = findings(Known(PEOPLE, COPY, BOOK, ("a", "x", "ill"), False, OTHERS), ["ill"])
    assert both.lines == of_ill.lines
    alone = findings(Known(PEOPLE, COPY, BOOK, ("ill",), False, OTHERS), ["ill"])
    assert not alone.lines
    assert "only key" in alone.notes[0]


def test_others_who_are_all_guessed_leave_nothing_to_tell():
    assert risk_above(1.0, 1.0) == 0.0
    assert risk_above(0.3, 0.4) == pytest.approx(-1 / 6)


def test_the_interval_covers_the_truth_as_often_as_it_says():
    """Binomial counts with a = .4, c = .2: 95% of 2,000 intervals, give or take three standard errors."""
    rng = np.random.default_rng(5)
    truth = risk_above(0.4, 0.2)
    held = 0
    for right, others in zip(rng.binomial(300, 0.4, 2000), rng.binomial(300, 0.2, 2000), strict=True):
        low, high = Guessed(float(right), float(others), 300, 300).interval
        held += low <= truth <= high
    assert held / 2000 == pytest.approx(0.95, abs=0.02)


def test_what_is_not_there_is_told_and_left_out():
    found = findings(Known(PEOPLE, COPY, BOOK, ("a", "x"), False, OTHERS.drop("ill")), ["ill"])
    assert not found
    assert "ill" in found.notes[0]
    assert not findings(Known(PEOPLE, COPY, BOOK, ("a",), False), ["ill"])
    assert findings(Known(PEOPLE, COPY, BOOK, ("ill",), False, OTHERS), ["ill"]).notes
