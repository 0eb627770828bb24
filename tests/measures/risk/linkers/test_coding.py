import datetime

import numpy as np
import polars as pl
import pytest

from sfumato.data.codebook import Codebook, Variable
from sfumato.errors import DataError
from sfumato.kernels.linkers.keys import MISSING
from sfumato.measures.intruding import Knowledge
from sfumato.measures.known import Known
from sfumato.measures.risk.linkers.coding import coded, numeric_keys

BOOK = Codebook(
    {
        "id": Variable(role="record"),
        "town": Variable(kind="categorical"),
        "age": Variable(kind="integer", missing=[-9]),
        "born": Variable(kind="date"),
        "smokes": Variable(kind="categorical"),
    }
)


def table(n=200, seed=1, first=0):
    rng = np.random.default_rng(seed)
    days = [datetime.date(1980, 1, 1) + datetime.timedelta(int(d)) for d in rng.integers(0, 900, n)]
    return pl.DataFrame(
        {
            "id": np.arange(first, first + n),
            "town": rng.choice(["York", "Leeds", None], n),
            "age": rng.integers(20, 60, n),
            "born": days,
            "smokes": rng.choice([0, 1], n),
        }
    )


KEYS = ("town", "age", "born", "smokes")
PEOPLE, OTHERS = table(), table(80, 2, 1000)
KNOWN = Known(PEOPLE, PEOPLE, BOOK, KEYS, control=OTHERS, record="id")


def test_numbers_and_dates_are_compared_by_distance_and_codes_are_not():
    assert numeric_keys(KNOWN, KEYS) == ("age", "born")
    noisy = Known(PEOPLE, PEOPLE.with_columns(age=pl.lit("old")), BOOK, KEYS)
    assert numeric_keys(noisy, KEYS) == ("born",)


def test_people_come_before_the_control_and_are_coded_alike():
    found = coded(KNOWN, KEYS)
    assert (found.original, found.known.height, found.released.height) == (200, 280, 200)
    own = found.known.codes[:, found.known.member[:200]]
    assert (own == found.released.codes[:, found.released.member]).all()
    assert found.prior == 1 / 280
    assert found.spread[0] == PEOPLE["age"].max() - PEOPLE["age"].min()
    assert found.sd[0] == pytest.approx(PEOPLE["age"].std(ddof=0))


def test_missing_is_a_category_or_anything():
    one, other = coded(KNOWN, ["town"]), coded(KNOWN, ["town"], wildcard=True)
    assert one.known.codes.min() == 0
    assert other.known.codes.min() == -1
    gone = Known(PEOPLE, PEOPLE.with_columns(age=pl.lit(-9)), BOOK, KEYS)
    assert (coded(gone, ["age"]).released.numbers == MISSING).all()


def test_equal_categories_are_equal_whatever_their_type():
    released = PEOPLE.with_columns(pl.col("smokes").cast(pl.Float32), pl.col("town").cast(pl.Categorical))
    found = coded(Known(PEOPLE, released, BOOK, KEYS), ["smokes", "town"])
    assert len(found.known) == len(found.released)


def test_errors_are_as_large_as_said_and_public():
    people = table(5000, 3)
    found = coded(Known(people, people, BOOK, KEYS, record="id"), KEYS, knowledge=Knowledge(error={"age": 2.0}))
    off = found.known.numbers[0, found.known.member] - found.truth.numbers[0, found.truth.member]
    assert off.std() == pytest.approx(2.0, rel=0.05)  # 5 sds of the sampling error
    again = coded(Known(people, people, BOOK, KEYS, record="id"), KEYS, knowledge=Knowledge(error={"age": 2.0}))
    assert (again.known.numbers == found.known.numbers).all()


def test_mistaken_categories_come_from_the_margin():
    people = table(5000, 4)
    known = Known(people, people, BOOK, KEYS, record="id")
    found = coded(known, ["smokes"], knowledge=Knowledge(error={"smokes": 0.4}))
    wrong = found.known.codes[0, found.known.member] != found.truth.codes[0, found.truth.member]
    assert wrong.mean() == pytest.approx(0.4 / 2, abs=0.03)  # half of the draws are as before


def test_errors_do_not_hang_on_the_order_of_rows():
    mixed = PEOPLE.sample(fraction=1, shuffle=True, seed=5)
    knowledge = Knowledge(error={"age": 3.0, "town": 0.3})
    for record in ("id", None):
        one = coded(Known(PEOPLE, PEOPLE, BOOK, KEYS, record=record), KEYS, knowledge=knowledge)
        two = coded(Known(mixed, mixed, BOOK, KEYS, record=record), KEYS, knowledge=knowledge)
        assert (one.known.numbers == two.known.numbers).all()
        assert (one.known.codes == two.known.codes).all()


def test_a_probability_above_1_is_refused():
    with pytest.raises(DataError, match="the category 'town' is the probability"):
        coded(KNOWN, KEYS, knowledge=Knowledge(error={"town": 2.0}))
