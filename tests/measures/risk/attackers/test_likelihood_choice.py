"""The attacker's choice under noise that is not normal: growth, bounds, rounding, strata. See also `test_h_rank`."""

import numpy as np
import pytest
from scipy import stats

from sfumato.data.disclosure import Additive, Misclassified
from sfumato.data.error_model import Growth
from sfumato.measures.risk.attackers.attackers import Attack
from sfumato.measures.risk.attackers.error_law import laws
from sfumato.measures.risk.attackers.likelihood_choice import by_likelihood, unlike_normal
from sfumato.measures.risk.h_rank.h_rank import h_rank

N = 200


def law_of(parts, names=("a", "b")):
    return tuple(laws(parts, names, None, ()))


def test_which_columns_are_unlike_normal():
    parts = [
        Additive(("a",), [[1.0]], distribution="laplace"),
        Additive(("b",), [[1.0]]),
        Additive(("c",), [[1.0]], distribution="uniform", values=(0, 1)),
        Additive(("d",), [[0.0]], distribution="uniform"),
        Misclassified("e", np.eye(2), (0, 1)),
    ]
    ((_, law),) = law_of(parts, tuple("abcde"))
    assert unlike_normal(law) == [0]


def chosen(true, released, law, **more):
    found = h_rank(true, released, attack=Attack("predicted"), laws=law, **more)
    return found.h == 0


@pytest.mark.parametrize("more", [{}, {"grows": Growth(centre=0, scale=0.5, beyond=1)}, {"rounded": 1.0}])
def test_only_records_within_reach_are_taken(more):
    """In one column nothing but the target's own reach tells records apart: who is out of it is never taken."""
    rng = np.random.default_rng(3)
    y = np.sort(rng.standard_normal((N, 1)) * 4, axis=0)
    part = Additive(("a",), [[0.01]], distribution="uniform", **{k: {"a": v} for k, v in more.items()})
    law = law_of([part], ("a",))
    z = law[0][1].simulate(y, rng)
    points = np.column_stack([z, np.zeros(N)])
    got = by_likelihood(np.column_stack([y, np.zeros(N)]), points, np.arange(N), (y, z), np.zeros(N, int), law, law)
    factor = more["grows"].factor(y[:, 0]) if "grows" in more else 1.0
    assert (np.abs(got[:, 0] - y[:, 0]) <= 0.03**0.5 * factor + more.get("rounded", 0) / 2 + 1e-9).all()


def test_a_value_at_a_bound_is_possible_where_noise_reaches_it():
    y = np.array([[0.2], [0.9], [5.0]])
    z = np.array([[0.0], [0.4], [5.1]])
    part = Additive(("a",), [[1 / 12]], distribution="uniform", bounds={"a": (0.0, None)})
    law = law_of([part], ("a",))
    search, points = np.column_stack([y, np.zeros(3)]), np.column_stack([z, np.zeros(3)])
    got = by_likelihood(search, points, np.arange(3), (y, z), np.zeros(3, int), law, law)
    assert got[1:, 0].tolist() == [0.4, 5.1]
    assert got[0, 0] in (0.0, 0.4)


def test_nobody_of_another_group_is_taken():
    rng = np.random.default_rng(4)
    y, label = rng.standard_normal((N, 2)), rng.integers(0, 40, N)
    law = law_of([Additive(("a", "b"), np.eye(2), distribution="uniform")])
    z = law[0][1].simulate(y, rng)
    found = h_rank(y, z, attack=Attack("predicted"), laws=law, label=label)
    within = np.abs(z[None] - y[:, None]).max(axis=2) <= 3**0.5
    alone = ((label[:, None] == label) & within).sum(axis=1) == 1
    assert alone.sum() > 10
    assert (found.h[alone] == 0).all()


def test_a_missing_value_takes_no_part():
    rng = np.random.default_rng(5)
    y = rng.standard_normal((N, 2))
    law = law_of([Additive(("a", "b"), 0.1 * np.eye(2), distribution="laplace")])
    z = law[0][1].simulate(y, rng)
    y[:100, 1] = z[:100, 1] = np.nan
    whole = chosen(y, z, law)[:100]
    alone = np.column_stack([z[:100, 0]])
    f = stats.laplace(scale=0.05**0.5).logpdf(alone.T - y[:100, :1])
    p = stats.norm.logpdf(z[:100, 0], y[100:, 0].mean(), (y[100:, 0].var() + 0.1) ** 0.5)
    by_hand = (f - p).argmax(axis=1) == np.arange(100)
    assert np.mean(whole == by_hand) > 0.97  # the population's mean of each column is of all records that have it


def test_row_order_changes_nothing():
    rng = np.random.default_rng(6)
    y, order = rng.standard_normal((N, 2)), rng.permutation(N)
    law = law_of([Additive(("a", "b"), 0.3 * np.eye(2), distribution="uniform")])
    z = law[0][1].simulate(y, rng)
    assert chosen(y[order], z[order], law).tolist() == chosen(y, z, law)[order].tolist()
