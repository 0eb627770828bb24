"""Boxes of residuals; those of groups are in `kinds/test_boxes.py`."""

from fractions import Fraction

import numpy as np
import polars as pl
import pytest

from sfumato.draws import Draws
from sfumato.gate.analyses.boxing import protected_residuals
from sfumato.gate.analyses.fitting import protected_fit
from sfumato.gate.analyses.kinds.boxes import PROBABILITIES
from sfumato.gate.analyses.told import content_of_fit
from sfumato.kernels.protected.fitted import Unfit
from tests.gate.analyses.people import SECRET, asked, people, records

DRAWS = Draws(SECRET)
NORMAL = (-1.6449, -0.6745, 0.0, 0.6745, 1.6449)


def invented(n=5000, spread=lambda fitted: np.ones_like(fitted), seed=1):
    """A linear model whose errors are known: x and a factor, sd 1 or as `spread` has it."""
    rng = np.random.default_rng(seed)
    x, side = rng.normal(size=n), rng.choice(["p", "q"], n)
    fitted = 10 + 2 * x + (side == "q")
    y = fitted + spread(fitted) * rng.normal(size=n)
    return records(pl.DataFrame({"id": np.arange(n), "x": x, "side": side, "y": y}), levels={})


def boxed(data, formula="y ~ x + side", count=4):
    made = protected_fit(asked("residuals", formula, data), DRAWS, count)
    return made, made.told.estimate.reshape(-1, len(PROBABILITIES)), made.told.se.reshape(-1, len(PROBABILITIES))


def test_residuals_of_a_right_model_are_alike_everywhere():
    made, boxes, se = boxed(invented())
    assert len(boxes) == 5
    assert (np.abs(boxes - NORMAL) < 4 * se + 0.1).all()  # the model, and cuts of what it fitted, err too
    assert made.labels[0].startswith("residual[up to ")
    assert made.labels[-1].endswith("] 95%")
    assert "above" in made.labels[-1]


def test_a_wrong_model_shows():
    """A curve that was left out bends the medians; errors that grow widen the boxes."""
    rng = np.random.default_rng(2)
    x = rng.normal(size=5000)
    bent = pl.DataFrame({"id": np.arange(5000), "x": x, "y": x + x**2 + rng.normal(size=5000)})
    _, boxes, _ = boxed(records(bent, levels={}), "y ~ x")
    assert boxes[0, 2] > boxes[2, 2] < boxes[4, 2]
    _, boxes, _ = boxed(invented(spread=lambda fitted: np.exp(fitted / 5) / 8))
    assert boxes[4, 4] - boxes[4, 0] > 1.5 * (boxes[0, 4] - boxes[0, 0])


def test_a_model_of_few_groups_has_few_boxes():
    _, boxes, _ = boxed(invented(), "y ~ side")
    assert 1 <= len(boxes) <= 2


def test_all_that_somebody_moves_is_counted():
    """The model, each cut, a count, and five ranks: never less than the model alone and the ranks alone."""
    made, _, _ = boxed(invented())
    alone = protected_fit(asked("linear", "y ~ x + side", invented()), DRAWS, 4)
    ranks = float(made.told.tau) ** 2
    assert 1 / float(Fraction(made.noise)) == pytest.approx(1 / float(Fraction(alone.noise)) + 10 / ranks)


def test_no_value_is_told_and_few_people_have_no_boxes():
    data = invented()
    _, boxes, _ = boxed(data)
    assert not set(boxes.ravel()) & set(data.numbers["y"])
    with pytest.raises(Unfit):
        protected_residuals(asked("residuals", "y ~ x", invented(200)), DRAWS, data.words[:200], 4, "")


def test_one_person_far_out_moves_no_box():
    """A millionaire's residual is theirs alone: the whiskers end at 95%."""
    frame = people(4000)
    rich = frame.with_columns(cost=pl.when(pl.col("id") == 11).then(1e9).otherwise("cost"))
    (_, one, se), (_, other, _) = (boxed(records(each), "cost ~ stay + sex") for each in (frame, rich))
    assert one.shape == other.shape
    assert (np.abs(one - other) < 4 * se + 1).all()


def test_boxes_can_be_drawn():
    problem = asked("residuals", "y ~ x + side", invented())
    fit = protected_fit(problem, DRAWS, 4)
    content = content_of_fit("ward", problem, fit.told, fit)
    assert len(content["boxes"]) == 5
    for box in content["boxes"]:
        five = [float(one) for one in box[1:]]
        assert five == sorted(five)
