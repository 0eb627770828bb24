"""What is measured of a release as a whole: who attacks what, and what the notes say."""

import numpy as np
import polars as pl
import pytest

from sfumato.data.codebook import Codebook, Variable
from sfumato.data.disclosure import Additive, Disclosure, Misclassified
from sfumato.data.pair import Pair
from sfumato.measures.measuring import Measuring, risk_findings

N = 400
RNG = np.random.default_rng(61)
BEFORE = pl.DataFrame({"x": RNG.standard_normal(N), "sex": RNG.integers(0, 2, N), "region": RNG.choice(["n", "s"], N)})


def quiet(what):
    pass


def measured(after, columns, by, told, book=None):
    return risk_findings(
        Pair(BEFORE, after, book or Codebook(), columns, by, aligned=True), Measuring(), quiet, disclosure=told
    )


def test_indicators_alone_are_attacked():
    names = ("region=n", "region=s")
    noisy = np.column_stack([(BEFORE["region"] == v).cast(pl.Float64).to_numpy() for v in "ns"])
    noisy = noisy + 0.5 * RNG.standard_normal((N, 2))
    after = BEFORE.drop("region").with_columns(pl.Series(n, noisy[:, j]) for j, n in enumerate(names))
    told = Disclosure([Additive(names, 0.25 * np.eye(2), values=(0, 1), indicators_of="region")])
    found = measured(after, (), (), told)
    assert found.of("h_rank", group="all", at=0, attack="worst").value > 0
    assert {f.variable for f in found.select("attribute_posterior")} == set(names)
    assert not [n for n in found.notes if n.startswith("No attack")]


def test_exchanged_texts_alone_are_no_numbers_to_attack():
    told = Disclosure([Misclassified("region", [[0.9, 0.1], [0.1, 0.9]], ("n", "s"))])
    found = measured(BEFORE, (), (), told)
    assert not found.select("h_rank")
    assert found.of("attribute_posterior", variable="region").value == 1
    assert found.notes == ("No attack on numbers was measured: no numeric column was masked.",)


@pytest.mark.parametrize("masked", ["noise", "exchange"])
def test_strata_that_were_released_at_random_are_not_known_to_attackers(masked):
    """Were they, every record with its own released stratum would be found: h = 1 throughout."""
    noise = 0.3 * RNG.standard_normal((N, 2))
    sex = (
        BEFORE["sex"] + noise[:, 1]
        if masked == "noise"
        else pl.Series("sex", RNG.permutation(BEFORE["sex"].to_numpy()))
    )
    after = BEFORE.with_columns(pl.col("x") + noise[:, 0], sex.alias("sex"))
    second = (
        Additive(("sex",), [[0.09]], values=(0, 1))
        if masked == "noise"
        else Misclassified("sex", np.full((2, 2), 0.5), (0, 1))
    )
    told = Disclosure([Additive(("x",), [[0.09]]), second])
    found, without = (measured(after, ("x",), by, told) for by in (("sex",), ()))
    lines = [[(f.measure, f.group, f.at, f.attack, f.value) for f in lot.select("h_rank")] for lot in (found, without)]
    assert lines[0] == lines[1]
    assert found.of("h_rank", group="all", at=0, attack="worst").value < 0.5
    assert [n for n in found.notes if n.startswith("sex: released strata do not follow from true ones")]
    assert not [n for n in without.notes if "strata" in n]


def test_strata_that_stayed_are_known():
    after = BEFORE.with_columns(pl.col("x") + 0.3 * RNG.standard_normal(N))
    told = Disclosure([Additive(("x",), [[0.09]])])
    known, unknown = (measured(after, ("x",), by, told) for by in (("sex", "region"), ()))
    best = [f.of("h_rank", group="all", at=0, attack="worst").value for f in (known, unknown)]
    assert best[0] > 2 * best[1]
    assert not [n for n in known.notes if "strata" in n]


def test_households_are_attacked_without_being_asked_for():
    before = BEFORE.with_columns(pl.Series("hh", np.arange(N) // 2))
    noise = np.repeat(RNG.standard_normal(N // 2), 2)
    after = before.with_columns(pl.col("x") + noise)
    book = Codebook({"hh": Variable(role="household")})
    told = Disclosure([Additive(("x",), [[1.0]], draw_by="household")])
    found = risk_findings(Pair(before, after, book, ("x",), aligned=True), Measuring(), quiet, disclosure=told)
    assert found.of("h_rank", group="all", at=0, attack="worst").value == 1
    assert found.of("h_rank", group="all", at=0, attack="household").value == 1
    assert len([n for n in found.notes if n.startswith("Households share the draws of x")]) == 1
