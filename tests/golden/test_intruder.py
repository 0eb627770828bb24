"""What an intruder reaches on Adult: prototypes written independently from the same words, with whole matrices."""

import hashlib

import polars as pl
import pytest

import sfumato as sf

EIGHT = ("sex", "age", "race", "marital-status", "education", "native-country", "workclass", "salary-class")


def u(tag, i):
    return int.from_bytes(hashlib.sha256(f"{tag}:{i}".encode()).digest()[:8], "little") / 2**64


@pytest.fixture(scope="module")
def adult(shared_data):
    return pl.read_csv(shared_data / "adult" / "adult.csv", separator=";")


@pytest.fixture(scope="module")
def release_p(adult):
    """5,000 people with a tenth of the categories redrawn and ages off by up to 5 years; 5,000 others."""
    order = sorted(range(adult.height), key=lambda i: u("order", i))
    there, others = order[:5000], order[5000:10000]
    columns = {}
    for name in adult.columns:
        values = adult[name].to_list()
        if name == "age":
            columns[name] = [min(90, max(17, values[i] + int(11 * u("age", i)) - 5)) for i in there]
            continue
        source = [int(adult.height * u(f"from:{name}", i)) if u(f"hit:{name}", i) < 0.1 else i for i in there]
        columns[name] = [values[i] for i in source]
    tables = adult[there], pl.DataFrame(columns), adult[others]
    return tuple(t.with_columns(id=pl.Series(rows)) for t, rows in zip(tables, (there, there, others), strict=True))


@pytest.fixture(scope="module")
def found(release_p):
    before, after, control = release_p
    scenarios = ["neighbour", "cross_match", "trawl", "claim"]
    keys = [n for n in before.columns if n != "id"]
    return sf.risk(before, after, record="id", keys=keys, scenario=scenarios, control=control, present=0.5)


@pytest.mark.parametrize(
    ("linker", "share"), [("nearest", 0.41600), ("fellegi_sunter", 0.4526), ("fellegi_sunter_best", 0.4598)]
)
def test_a_neighbour_finds_people_of_adult(found, linker, share):
    line = found.of("match_correct", attack="neighbour", group=linker)
    assert line.value == pytest.approx(share, abs=0.005)
    assert line.interval[0] < share < line.interval[1]


def test_unprotected_the_nearest_record_is_nearly_always_right(found):
    assert found.of("match_correct", attack="neighbour", group="nearest").baseline == pytest.approx(0.8556)


def test_a_cross_match_claims_people_of_adult(found):
    where = {"attack": "cross_match", "group": "fellegi_sunter", "at": 0.9}
    assert found.of("match_claims", **where).value == pytest.approx(1016, rel=0.05)
    assert found.of("match_precision", **where).value == pytest.approx(0.822, rel=0.05)
    assert found.of("match_on_control", **where).value == pytest.approx(141, rel=0.05)


@pytest.mark.slow
def test_the_most_certain_claims_are_believable(found):
    """Of ten claims at a posterior of .9 or more, fewer than seven right would be a thing of one in a hundred."""
    for linker in ("fellegi_sunter", "fellegi_sunter_best"):
        assert found.of("match_claims", attack="claim", group=linker).value == 10
        assert found.of("match_correct", attack="claim", group=linker).value >= 0.7


def test_who_trawls_finds_more_often_than_who_is_known(found):
    for linker in ("nearest", "fellegi_sunter", "fellegi_sunter_best"):
        odd, anybody = (found.of("match_correct", attack=s, group=linker).value for s in ("trawl", "neighbour"))
        assert odd > anybody


@pytest.mark.slow
def test_inference_of_occupation_from_release_p(release_p):
    before, after, control = release_p
    found = sf.risk(before, after, record="id", keys=EIGHT, sensitive="occupation", control=control)
    # the prototype guessed all 5,000 others, of whom half are the reference now: a standard error of .006
    for group, value, off in (("attack", 0.3917, 5e-5), ("control", 0.2071, 0.012), ("risk", 0.2328, 0.012)):
        line = found.of("inference", variable="occupation", group=group, attack="nearest")
        assert line.value == pytest.approx(value, abs=off)
    assert found.of("inference", group="risk", attack=None).value > found.of("inference", group="risk").value - 0.01


@pytest.mark.slow
def test_a_resampled_copy_tells_who_is_in_it(adult):
    members = [i for i in range(adult.height) if u("half", i) < 0.5]
    others = sorted(set(range(adult.height)) - set(members))
    n = len(members)
    assert n == 15_005
    boot = [int(n * u("m:boot", r)) for r in range(n)]
    of = {
        name: [int(n * u(f"m:from:{name}", r)) if u(f"m:hit:{name}", r) < 0.2 else boot[r] for r in range(n)]
        for name in adult.columns
    }
    inside = adult[members]
    copy = pl.DataFrame([inside[name].gather(rows) for name, rows in of.items()])
    found = sf.risk(inside, copy, align="none", keys=EIGHT, sensitive="occupation", control=adult[others])
    # the prototype attacked all others, of whom half are the reference now: standard errors .004, .006, .005
    nearest = {"attack": "nearest"}
    assert found.of("membership", group="auc", **nearest).value == pytest.approx(0.589989, abs=0.012)
    assert found.of("membership", group="advantage", **nearest).value == pytest.approx(0.177810, abs=0.018)
    assert found.of("inference", group="attack", **nearest).value == pytest.approx(0.341684, abs=5e-7)
    assert found.of("inference", group="control", **nearest).value == pytest.approx(0.206629, abs=0.009)
    stated, plain = (found.of("membership", group="auc", attack=a) for a in (None, "nearest"))
    assert stated.value > plain.value - 1e-9
