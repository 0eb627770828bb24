"""Special uniques and population uniques as the field's R package and the methods' own words have them."""

import hashlib

import polars as pl
import pytest

import sfumato as sf
from sfumato.measures.risk.log_linear import log_linear

FIVE = ["urbrur", "roof", "walls", "water", "sex"]
FREE = ["SEX", "MARSTAT", "EDUC1", "ETNI"]
KEYS = [f"Key{i}" for i in range(1, 5)]


@pytest.mark.parametrize(
    ("file", "keys", "special", "score", "sizes", "dis"),
    [
        ("francdat.csv", KEYS, 4, 26, (3, 4, 0, 0), 0.0447698280117),
        ("testdata.csv", FIVE, 12, 19, (0, 0, 7, 5, 0), 0.139110523059975),
        ("free1.csv", FREE, 91, 115, (0, 15, 56, 29), 1.77184742486972),
    ],
)
def test_special_uniques(shared_data, file, keys, special, score, sizes, dis):
    """`suda2` of the R package sdcMicro; its last figure is one of single precision, and holds to 1e-7."""
    found = sf.risk(sf.read(shared_data / "sdcmicro" / file), keys=keys, special_uniques=True, fraction=0.01)
    assert found.of("special_uniques").value == special
    assert found.of("suda_score").value == score
    assert [f.value for f in found.select("msu")] == list(sizes)
    assert found.of("dis_suda", group="sum").value == pytest.approx(dis, rel=1e-7)


def test_what_makes_records_stand_out(shared_data):
    """Contributions of the keys of testdata, to the digits given."""
    found = sf.risk(sf.read(shared_data / "sdcmicro" / "testdata.csv"), keys=FIVE, special_uniques=True)
    shares = {f.variable: f.value for f in found.select("suda_contribution")}
    assert list(shares) == FIVE
    assert list(shares.values()) == pytest.approx([0.3158, 0.7895, 0.2632, 1, 0.8947], abs=5e-5)


def u(tag: str, i: int) -> float:
    """Uniform numbers that anybody can make again."""
    return int.from_bytes(hashlib.sha256(f"{tag}:{i}".encode()).digest()[:8], "little") / 2**64


@pytest.fixture(scope="module")
def adult(shared_data):
    """A tenth of Adult, with the number of all its people who have a record's keys."""
    by = ["sex", "age5", "race", "marital-status", "education", "workclass"]
    frame = pl.read_csv(shared_data / "adult" / "adult.csv", separator=";").with_columns(age5=pl.col("age") // 5)
    frame = frame.with_columns(alike=pl.len().over(by))
    return frame.filter(pl.Series([u("sample", i) < 0.1 for i in range(frame.height)])), by


def test_the_sample_is_the_one_meant(adult):
    frame, by = adult
    alone = frame.filter(pl.len().over(by) == 1)
    assert (frame.height, alone.height) == (3021, 851)
    assert (alone["alike"] == 1).sum() == 282
    assert (1 / alone["alike"]).sum() == pytest.approx(428.58, abs=0.005)


@pytest.mark.parametrize(
    ("model", "uniques", "matches", "z"),
    [("main", 298.936, 442.482, 25.14), ("two-way", 214.64, 376.75, -2.57), ("auto", 256.55, 409.82, 0.23)],
)
def test_log_linear_models_of_adult(adult, model, uniques, matches, z):
    """Computed independently from the words of Skinner & Shlomo (2008): to half a percent, the test to its digits."""
    frame, by = adult
    found = log_linear(sf.read(frame), by, 0.1, model=model)
    assert found.uniques == pytest.approx(uniques, rel=0.005)
    assert found.matches == pytest.approx(matches, rel=0.005)
    assert found.z_matches == pytest.approx(z, abs=0.006)
    if model == "auto":
        assert {tuple(by[k] for k in pair) for pair in found.terms} == {
            ("age5", "marital-status"),
            ("age5", "education"),
            ("sex", "marital-status"),
            ("education", "workclass"),
        }
