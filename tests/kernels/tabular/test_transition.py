import json

import numpy as np
import pytest
from scipy.optimize import linprog, minimize

from sfumato.kernels.tabular.transition import Infeasible, Row, most_even, reach, support
from tests.parts import needs
from tests.real_data import real_data

REFERENCE = real_data() / "tables" / "ptable_reference.json"


@pytest.mark.slow
@needs("data")
def test_rows_are_those_of_the_r_package_ptable():
    rows = 0
    for table in json.loads(REFERENCE.read_text()):
        for i in sorted({row["i"] for row in table.get("rows", [])}):
            own = most_even(support(i, table["D"], table["js"]), table["V"], rising=True)
            theirs = {row["v"]: row["p"] for row in table["rows"] if row["i"] == i}
            ours = dict(zip(own.change.tolist(), own.probability.tolist(), strict=True))
            # it prints eight digits, and its solver stops at a relative 1e-6
            assert [ours.get(v, 0.0) for v in theirs] == pytest.approx(list(theirs.values()), abs=1e-6)
            rows += 1
    assert rows > 30


def slsqp(change, variance, stay, rising):
    """The same by a general solver that knows nothing of exponents."""
    n, zero = len(change), np.flatnonzero(change == 0)
    conditions = [
        {"type": "eq", "fun": lambda p: p.sum() - 1},
        {"type": "eq", "fun": lambda p: p @ change},
        {"type": "ineq", "fun": lambda p: variance - p @ change**2},
    ]
    if stay and len(zero):
        conditions.append({"type": "ineq", "fun": lambda p: p[zero[0]] - stay})
    if rising:
        left = int(np.sum(change <= 0))
        conditions += [{"type": "ineq", "fun": lambda p, k=k: p[k + 1] - p[k]} for k in range(left - 1)]
    found = minimize(
        lambda p: float(np.sum(p * np.log(np.maximum(p, 1e-300)))),
        np.full(n, 1 / n),
        jac=lambda p: np.log(np.maximum(p, 1e-300)) + 1,
        bounds=[(1e-12, 1)] * n,
        constraints=conditions,
        method="SLSQP",
        options={"maxiter": 2000, "ftol": 1e-14},
    )
    assert found.success, found.message
    return found.x


@pytest.mark.parametrize(
    ("count", "largest", "forbidden", "variance", "stay", "rising"),
    [
        (1, 4, 0, 1.5, 0, False),
        (3, 5, 1, 2.0, 0, True),
        (4, 4, 0, 3.0, 0.5, False),
        (9, 3, 2, 1.0, 0.6, True),
        (2, 5, 2, 5, 0, 1),
    ],
)
def test_rows_are_those_of_a_general_solver(count, largest, forbidden, variance, stay, rising):
    change = support(count, largest, forbidden)
    own = most_even(change, variance, stay=stay, rising=bool(rising))
    # a general solver ends where steps gain less than 1e-14 of the entropy, which is flat: some 1e-5 in p
    assert own.probability == pytest.approx(slsqp(change, variance, stay, rising), abs=2e-5)


@pytest.mark.parametrize("largest", [1, 2, 5, 12])
@pytest.mark.parametrize("forbidden", [0, 1, 3])
def test_variances_that_are_possible_are_those_of_linear_programs(largest, forbidden):
    for count in range(1, largest + forbidden + 3):
        change = support(count, largest, forbidden)
        if not len(change):
            assert np.isnan(reach(change)[0])
            continue
        rows = np.stack([np.ones(len(change)), change])
        ends = [linprog(sign * change**2, A_eq=rows, b_eq=[1, 0], bounds=(0, 1)) for sign in (1, -1)]
        if not ends[0].success:
            assert np.isnan(reach(change)[0])
        else:
            assert reach(change) == pytest.approx((ends[0].fun, -ends[1].fun), abs=1e-9)


@pytest.mark.parametrize("variance", [0.001, 0.3, 2.0, 7.0, 15.9])
def test_an_exact_variance_is_met_and_the_mean_is_nothing(variance):
    row = most_even(np.arange(-4.0, 5.0), variance, exact=True)
    assert row.variance == pytest.approx(variance, rel=1e-9)
    assert row.probability @ row.change == pytest.approx(0, abs=1e-12)


def test_rows_at_the_end_of_what_is_possible():
    # where ptable gives up (D=4, V=2, js=2): 1 may become 0 or 3 only
    row = most_even(support(1, 4, 2), 2.0, rising=True)
    assert row.change.tolist() == [-1, 2]
    assert row.probability == pytest.approx([2 / 3, 1 / 3])
    with pytest.raises(Infeasible):
        most_even(support(1, 4, 2), 1.9)
    with pytest.raises(Infeasible):
        most_even(support(3, 4, 0), 12.5, exact=True)
    with pytest.raises(Infeasible):
        most_even(support(1, 4, 2), 3.0, stay=0.5)


def test_a_look_up_takes_the_first_change_whose_cumulated_probability_is_not_below_the_key():
    row = Row(np.array([-1.0, 2.0]), np.array([2 / 3, 1 / 3]))
    assert row.look_up(np.array([0.0, 0.5, 0.666, 0.667, 1 - 2**-53])).tolist() == [-1, -1, -1, 2, 2]
