import itertools

import numpy as np
import polars as pl
import pytest
from pydantic import ValidationError
from scipy.stats import binomtest

from sfumato.data.codebook import Codebook, Variable
from sfumato.draws import Draws
from sfumato.engines.polars import PolarsDataset
from sfumato.errors import DataError
from sfumato.methods.sample import Sample
from sfumato.release.run import run_steps

LAWFUL = [Sample(fraction=0.5), Sample(fraction=0.37, by=["g", "h"]), Sample(fraction=1)]

BOOK = Codebook(
    {
        "id": Variable(role="record", kind="integer"),
        "g": Variable(kind="categorical"),
        "w": Variable(role="weight", kind="categorical", missing=[-1]),
        "x": Variable(kind="continuous"),
    }
)


def survey(n=1000):
    return pl.DataFrame(
        {"id": np.arange(n), "g": np.arange(n) % 7, "w": np.where(np.arange(n) == 0, -1, 10), "x": np.ones(n)}
    )


def ran(step, frame=None, secret=bytes(16), book=BOOK):
    assert step.check(book) == []
    return run_steps([step], PolarsDataset(survey() if frame is None else frame, book), Draws(secret))


def kept(*args, **kwargs):
    return set(ran(*args, **kwargs).after.frame["id"])


@pytest.mark.parametrize(("fraction", "size"), [(0.5, 500), (0.07, 70), (0.0305, 31), (0.0304, 30), (1, 1000)])
def test_a_simple_sample_has_its_size(fraction, size):
    """Halves up."""
    assert len(kept(Sample(fraction=fraction))) == size


def test_a_half_is_rounded_up():
    assert len(kept(Sample(fraction=0.5), survey(891))) == 446


@pytest.mark.parametrize("fraction", [0.1, 0.25, 0.5, 0.9])
def test_every_stratum_has_its_share(fraction):
    out = ran(Sample(fraction=fraction, by=["g"]), survey(1003)).after.frame
    for (g,), part in survey(1003).group_by("g"):
        exact = part.height * fraction
        assert np.floor(exact) <= (out["g"] == g).sum() <= np.ceil(exact)


CHANCE = "tests/methods/test_sample.py::test_the_chance_of_everybody_is_the_fraction"


@pytest.mark.parametrize("secrets", [200, pytest.param(800, marks=pytest.mark.nightly(of=f"{CHANCE}[200]"))])
def test_the_chance_of_everybody_is_the_fraction(secrets):
    """Strata of 1, 2, 3 and 4 records, many secrets: no record is in more or less often than the fraction says."""
    frame = pl.DataFrame({"id": np.arange(10), "g": [1, 2, 2, 3, 3, 3, 4, 4, 4, 4], "w": [1] * 10, "x": [0.0] * 10})
    times = np.zeros(10, dtype=int)
    for i in range(secrets):
        secret = i.to_bytes(16, "little")
        times[list(kept(Sample(fraction=0.3, by=["g"]), frame, secret))] += 1
    # ten tests: Bonferroni at 1 in 1000
    assert min(binomtest(int(t), secrets, 0.3).pvalue for t in times) > 1e-4


def test_a_larger_sample_holds_every_smaller_one():
    """So that two samples of the same data tell no more than the larger."""
    for by in ([], ["g"]):
        nested = [kept(Sample(fraction=f, by=by)) for f in (0.1, 0.35, 0.5, 0.9)]
        assert all(a < b for a, b in itertools.pairwise(nested))


def test_the_secret_decides_and_an_equal_release_is_the_same():
    step = Sample(fraction=0.5)
    assert kept(step) == kept(step)
    both = len(kept(step) & kept(step, secret=bytes(15) + b"x"))
    # hypergeometric: mean 250, variance 1000 · ½ · ½ · ½ · ½ = 62.5
    assert abs(both - 250) < 4 * np.sqrt(62.5)


def test_no_kind_of_record_is_favoured():
    """Chosen ids are spread over the file as a random sample is."""
    chosen = np.array(sorted(kept(Sample(fraction=0.5), survey(20_000))))
    # standard error of the mean of 10,000 of 20,000 without replacement
    assert abs(chosen.mean() - 9999.5) < 4 * 20_000 / np.sqrt(12) * np.sqrt(0.5 / 10_000)


def test_rows_keep_their_order_and_their_values():
    out = ran(Sample(fraction=0.5)).after.frame
    assert out["id"].is_sorted()
    assert out.drop("w").equals(survey().filter(pl.col("id").is_in(out["id"].implode())).drop("w"))


def test_weights_are_divided_and_missing_ones_stay():
    done = ran(Sample(fraction=0.25, by=["g"]), survey(4000))
    out = done.after.frame.filter(pl.col("id") != 0)
    assert set(out["w"]) == {40.0}
    assert ran(Sample(fraction=1)).after.frame.filter(pl.col("id") == 0)["w"].item() == -1
    assert done.after.codebook["w"].kind == "continuous"
    assert done.disclosure.parts[0].weight == "w"
    assert "weights in w were divided" in done.steps[0].sentence
    plain = ran(Sample(fraction=0.25), survey().drop("w"), book=BOOK.without("w"))
    assert plain.disclosure.parts[0].weight is None
    assert plain.disclosure.parts[0].sentence() == (
        "all columns: the release is a random sample of 0.25 of the records."
    )


@pytest.mark.parametrize("fraction", [0, -0.5, 1.01, 10, float("nan"), "half"])
def test_a_fraction_is_a_share(fraction):
    with pytest.raises(ValidationError):
        Sample(fraction=fraction)


def test_a_sample_of_nobody_is_refused():
    with pytest.raises(DataError, match="so small that no record"):
        ran(Sample(fraction=0.0004))
    assert ran(Sample(fraction=0.5), survey(0)).after.frame.is_empty()


def test_what_a_sample_needs():
    assert "role: record" in Sample(fraction=0.5).check(BOOK.without("id"))[0]
    assert "continuous" in Sample(fraction=0.5, by=["x"]).check(BOOK)[0]
    assert "no column 'y'" in Sample(fraction=0.5, by=["y"]).check(BOOK)[0]
