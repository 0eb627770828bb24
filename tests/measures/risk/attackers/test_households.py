"""What differences between the members of a household tell."""

import numpy as np
import polars as pl
import pytest

from sfumato.data.codebook import Codebook, Variable
from sfumato.data.disclosure import Additive, Disclosure, Misclassified
from sfumato.data.pair import Pair
from sfumato.errors import DataError
from sfumato.measures.attacking import Attacking
from sfumato.measures.risk.attackers.error_law import laws
from sfumato.measures.risk.attackers.households import Households, households, shared_columns, shared_posterior_right
from sfumato.measures.risk.h_rank.measure import SHARED, UNSEEN, findings

N, SIZE = 900, 3
BOOK = Codebook({"hh": Variable(role="household")})
TOLD = Disclosure([Additive(("x",), [[1.0]], draw_by="household")])


def frames(kind="exact", size=SIZE):
    rng = np.random.default_rng(51)
    home = np.arange(N) // size
    x = rng.standard_normal(N)
    y = rng.standard_normal(N)
    z = x + rng.standard_normal(N)[home]
    z = {"exact": z, "rounded": z.round(2), "clipped": z.clip(-2.5, 2.5)}[kind]
    before = pl.DataFrame({"hh": home, "x": x, "y": y})
    return before, before.with_columns(pl.Series("x", z), pl.Series("y", y + 0.5 * rng.standard_normal(N)))


def pair(before, after, book=BOOK, columns=("x",)):
    return Pair(before, after, book, columns, aligned=True)


def found_by(found, attack):
    return found.of("h_rank", group="all", at=0, attack=attack).value


def test_differences_and_means():
    x = np.array([[1.0, 9.0], [3.0, 8.0], [8.0, 7.0], [5.0, 6.0], [np.nan, 5.0]])
    got = Households(np.array([0, 0, 0, 1, 0]), (0,)).apart(x)
    assert got[:4].tolist() == [[-3, 9, -3, 4, 4], [-1, 8, -3, 4, 4], [4, 7, -3, 4, 4], [0, 6, 0, 0, 5]]
    assert np.isnan(got[4]).tolist() == [True, False, True, True, True]


def test_exact_differences_find_everybody():
    found = findings(pair(*frames()), TOLD)
    assert found_by(found, "household") == 1
    assert found_by(found, "worst") == 1
    assert found_by(found, "predicted") < 0.05
    assert found.notes == (SHARED.format(columns="x"),)


@pytest.mark.parametrize(("kind", "least"), [("rounded", 0.6), ("clipped", 0.05)])
def test_inexact_differences_find_more_than_the_default_attackers(kind, least):
    found = findings(pair(*frames(kind)), TOLD)
    assert found_by(found, "household") > least
    assert found_by(found, "household") > 3 * found_by(found, "predicted")


def test_other_columns_count_as_they_do_elsewhere():
    told = Disclosure([*TOLD, Additive(("y",), [[0.25]])])
    assert found_by(findings(pair(*frames(), columns=("x", "y")), told), "household") == 1


def test_somebody_who_lives_alone_is_found_as_elsewhere():
    """Pairs and people alone: the latter differ from nobody, so that the mean is all there is."""
    before, after = frames()
    home = np.where(np.arange(N) < 300, np.arange(N) // 2, np.arange(N))
    rng = np.random.default_rng(52)
    noise = rng.standard_normal(N)[home]
    before = before.with_columns(pl.Series("hh", home))
    after = before.with_columns(pl.col("x") + pl.Series(noise))
    found = findings(pair(before, after), TOLD, Attacking(("household",)))
    assert found_by(found, "household") == pytest.approx(300 / N, abs=0.05)


def test_it_is_added_to_the_default_attackers_only():
    tables = pair(*frames())
    attacks = {f.attack for f in findings(tables, TOLD, Attacking(("nearest",)))}
    assert attacks == {"nearest", "worst"}
    alone = Disclosure([Additive(("x",), [[1.0]])])
    assert "household" not in {f.attack for f in findings(tables, alone)}


@pytest.mark.parametrize("gone", ["no role", "not released", "all alone", "noise of their own besides"])
def test_without_households_it_cannot_be_asked_for(gone):
    before, after = frames(size=1 if gone == "all alone" else SIZE)
    book = Codebook() if gone == "no role" else BOOK
    after = after.drop("hh") if gone == "not released" else after
    own = [Additive(("x",), [[0.5]])] if gone == "noise of their own besides" else []
    tables, told = pair(before, after, book), Disclosure([*TOLD, *own])
    assert households(tables, list(told), ("x",)) is None
    assert findings(tables, told).notes == (SHARED.format(columns="x") + UNSEEN,)
    with pytest.raises(DataError, match="household column"):
        findings(tables, told, Attacking(("household",)))


def test_a_missing_household_is_nobody_elses():
    before, after = frames()
    hole = pl.when(pl.int_range(N) >= 600).then(None).otherwise(pl.col("hh")).alias("hh")
    homes = households(pair(before.with_columns(hole), after.with_columns(hole)), list(TOLD), ("x",))
    assert len(np.unique(homes.member)) == 200 + 300


def test_shared_columns():
    parts = [*TOLD, Misclassified("k", np.eye(2), (0, 1), draw_by="household"), Additive(("y",), [[1.0]])]
    assert shared_columns(parts) == ("x", "k")


def test_members_together_by_enumeration():
    """Every pattern of a household of three: shares .3 and .7, noise N(0, .5) once for all of them."""
    rng = np.random.default_rng(53)
    x = (rng.random(N) < 0.7).astype(float)
    home = np.arange(N) // 3
    z = x + 0.5**0.5 * rng.standard_normal(N)[home]
    ((_, law),) = laws([Additive(("s",), [[0.5]], values=(0, 1), draw_by="household")], ("s",), None, ())
    share, right = x.mean(), 0
    for h in range(N // 3):
        own = home == h
        best = {}
        for pattern in np.ndindex(2, 2, 2):
            e = z[own] - np.array(pattern)
            if np.ptp(e) < 1e-9:
                best[pattern] = np.prod(np.where(pattern, share, 1 - share)) * np.exp(-(e[0] ** 2))
        right += int((np.array(max(best, key=best.get)) == x[own]).sum())
    assert shared_posterior_right(x, z, law, 0, home) == pytest.approx(right / N)


def test_row_order_changes_nothing():
    before, after = frames("rounded")
    order = np.random.default_rng(54).permutation(N)
    a, b = findings(pair(before, after), TOLD), findings(pair(before[order], after[order]), TOLD)
    assert found_by(b, "household") == pytest.approx(found_by(a, "household"), abs=1e-9)


@pytest.mark.parametrize(("step", "told"), [(None, True), (0.4, True), (0.6, False)])
def test_what_shared_noise_leaves_open_of_codes_is_read_through_fine_rounding(step, told):
    """Codes 1 apart: rounded to .4 each difference is known to within .4, to .6 it may be either code's."""
    rng = np.random.default_rng(3)
    home = np.repeat(np.arange(200), 3)
    x = rng.integers(0, 3, 600).astype(float)
    x[::3], x[1::3] = 0.0, 2.0  # from lowest to highest code in every household, so that one draw alone is possible
    z = x + rng.normal(0, 50, 200)[home]
    z = z if step is None else np.round(z / step) * step
    part = Additive(("s",), [[2500.0]], values=(0, 1, 2), rounded={} if step is None else {"s": step})
    ((_, law),) = laws([part], ("s",), pl.DataFrame(), ())
    right = shared_posterior_right(x, z, law, 0, home)
    assert right == (1.0 if told else None)
