"""Inference beside a control, against whole matrices."""

import numpy as np
import polars as pl
import pytest

from sfumato.data.codebook import Codebook, Variable
from sfumato.measures.guessing import Guessed, risk_above
from sfumato.measures.known import Known
from sfumato.measures.risk.inference import findings

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
    found = findings(Known(PEOPLE, copy, BOOK, ("a", "x"), aligned, OTHERS), ["ill"])
    a, c = share(PEOPLE, copy), share(OTHERS, copy)
    assert found.of("inference", group="attack").value == pytest.approx(a)
    assert found.of("inference", group="control").value == pytest.approx(c)
    assert found.of("inference", group="risk").value == pytest.approx((a - c) / (1 - c))
    assert found.of("inference", group="attack").baseline == pytest.approx(share(PEOPLE, PEOPLE))


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
