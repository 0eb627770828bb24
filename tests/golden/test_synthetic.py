"""Figures of synthetic data that a recipe fixes to the digits: a copy of Adult made with SHA-256 alone.

Draws are u(tag, i), the first 8 bytes (little-endian) of SHA-256 of the text `tag:i`, over 2^64. A row of the copy is
a row of the file; then each column is with probability 0.2 that of another row. The figures were worked out apart from
this package, by prototypes of the formulas of Snoke et al. (2018), doi:10.1111/rssa.12358, and of Raab, Nowok & Dibben
(2024), arXiv:2406.16826.
"""

import hashlib

import polars as pl
import pytest

from sfumato.data.codebook import Codebook, Variable
from sfumato.data.pair import Pair
from sfumato.measures.known import Known
from sfumato.measures.risk import disclosive_correct, replicated_uniques
from sfumato.measures.utility import pmse_ratio, table_ratio
from sfumato.measures.utility.propensity import propensity_of

BOOK = Codebook({"age": Variable(kind="integer")})


def u(tag: str, i: int) -> float:
    return int.from_bytes(hashlib.sha256(f"{tag}:{i}".encode()).digest()[:8], "little") / 2**64


def copy_of(people: pl.DataFrame, tag: str = "") -> pl.DataFrame:
    """As many rows of people, in which single values are other people's."""
    n = people.height
    base = [int(n * u(f"{tag}boot", r)) for r in range(n)]
    drawn = {}
    for c in people.columns:
        rows = [int(n * u(f"{tag}from:{c}", r)) if u(f"{tag}hit:{c}", r) < 0.2 else base[r] for r in range(n)]
        drawn[c] = people[c].gather(rows)
    return pl.DataFrame(drawn)


@pytest.fixture(scope="module")
def adult(shared_data):
    return pl.read_csv(shared_data / "adult" / "adult.csv", separator=";")


@pytest.fixture(scope="module")
def copied(adult):
    return copy_of(adult)


@pytest.fixture(scope="module")
def pair(adult, copied):
    return Pair(adult, copied, BOOK)


def test_main_effects_beside_chance(pair):
    """Main effects alone see next to nothing of a copy in which a fifth of all values is other people's."""
    main = propensity_of(pair)
    assert main.u == pytest.approx(0.000140133, abs=5e-10)
    assert main.coefficients == 88
    assert main.u / pmse_ratio.expected(88, pair.before.height, pair.after.height) == pytest.approx(0.777325, abs=5e-7)


def test_tables_beside_chance(pair):
    found = table_ratio.findings(pair)
    assert len([f for f in found if f.group == "two-way" and f.variable]) == 36
    assert found.of("table_ratio", group="two-way", variable=None).value == pytest.approx(17.10041, abs=5e-6)
    assert found.of("table_ratio", variable="age × salary-class").value == pytest.approx(92.9179, abs=5e-5)
    assert found.of("table_ratio", variable="occupation").value == pytest.approx(1.340931, abs=5e-7)


def test_what_a_copy_tells_of_people(adult, copied):
    known = Known(adult, copied, BOOK, ("sex", "age", "race", "marital-status", "education"), aligned=False)
    assert replicated_uniques.findings(known)[0].value == pytest.approx(0.0347457, abs=5e-8)
    (line,) = disclosive_correct.findings(known, ["occupation"])
    assert line.value == pytest.approx(0.0435648, abs=5e-8)
    assert line.baseline == pytest.approx(0.1301638, abs=5e-8)
