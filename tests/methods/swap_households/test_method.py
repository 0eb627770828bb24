import numpy as np
import polars as pl
import pytest
from pydantic import ValidationError

import sfumato as sf
from sfumato.data.codebook import Codebook, Variable
from sfumato.data.disclosure import Exchanged, Suppressed
from sfumato.draws import Draws
from sfumato.engines.polars import PolarsDataset
from sfumato.errors import DataError
from sfumato.methods.swap_households.method import SwapHouseholds
from sfumato.release.run import run_steps
from tests.methods.tables import PEOPLE_BOOK

GEOGRAPHY = ["region", "district"]
LAWFUL = [
    SwapHouseholds(geography=["area", "town"], keys=["g"], similar=[["g", "h"], ["g"]], rate=0.4, on_unswapped="keep"),
    SwapHouseholds(geography=["town"], keys=["g", "h"], k=4, similar=[["area"]], rate=0.0, on_unswapped="keep"),
    SwapHouseholds(geography=["area"], keys=["h"], k=1, similar=[["g"]], rate=0.2, carry=["rent"]),
]

CATEGORY = Variable(kind="categorical")
BOOK = Codebook(
    {
        "id": Variable(role="record", kind="integer"),
        "household": Variable(role="household", kind="integer"),
        "region": CATEGORY,
        "district": CATEGORY,
        "rent": Variable(kind="continuous"),
        "size": Variable(kind="integer"),
        "sex": Variable(role="key", kind="categorical"),
        "age": Variable(role="key", kind="integer"),
        "pay": Variable(kind="continuous"),
        "weight": Variable(role="weight", kind="continuous"),
    }
)


def census(households=1500, seed=1):
    rng = np.random.default_rng(seed)
    size = rng.choice([1, 2, 3, 4], households, p=[0.3, 0.3, 0.2, 0.2])
    home = np.repeat(np.arange(households), size)
    region, district = rng.integers(0, 3, households), rng.integers(0, 4, households)
    n = len(home)
    return pl.DataFrame(
        {
            "id": rng.permutation(n),
            "household": rng.permutation(households)[home],
            "region": np.array(["A", "B", "C"])[region][home],
            "district": district[home],  # numbered anew in each region
            "rent": (100.0 + 10 * region + district)[home],
            "size": size[home],
            "sex": rng.choice(["f", "m"], n),
            "age": np.minimum(rng.geometric(0.15, n), 25),
            "pay": rng.lognormal(size=n),
            "weight": (1.5 + region)[home],
        }
    )


FRAME = census()


def step(**parameters):
    given = {"geography": GEOGRAPHY, "keys": ["sex", "age"], "similar": [["size", "sex"], ["size"]]}
    return SwapHouseholds(**(given | {"on_unswapped": "keep"} | parameters))


def ran(method, frame=FRAME, secret=bytes(16), book=BOOK):
    assert method.check(book) == []
    return run_steps([method], PolarsDataset(frame, book), Draws(secret))


def released(method, frame=FRAME, secret=bytes(16)):
    return ran(method, frame, secret).after.frame


def homes(frame):
    """One row for each household."""
    return frame.sort("id").group_by("household", maintain_order=True).first().sort("household")


def rarest(frame, level):
    """Fewest people of a household's area who are like one of its members, counted with a plain group_by."""
    alike = frame.with_columns(n=pl.len().over([*GEOGRAPHY[: level + 1], "sex", "age"]))
    return alike.group_by("household").agg(pl.col("n").min()).sort("household")["n"].to_numpy()


def moved(before, after, level):
    columns = GEOGRAPHY[: level + 1]
    return (homes(before).select(columns).to_numpy() != homes(after).select(columns).to_numpy()).any(axis=1)


def test_only_what_moves_moves_and_all_members_with_it():
    after = released(step(carry=["rent", "weight"]))
    assert after.drop(*GEOGRAPHY, "rent", "weight").equals(FRAME.drop(*GEOGRAPHY, "rent", "weight"))
    told = after.group_by("household").agg(pl.struct(*GEOGRAPHY, "rent", "weight").n_unique().alias("places"))
    assert told["places"].max() == 1
    assert set(after.select(*GEOGRAPHY, "rent", "weight").unique().rows()) == set(
        FRAME.select(*GEOGRAPHY, "rent", "weight").unique().rows()
    )


def test_who_is_rare_in_an_area_leaves_it_on_the_level_where_it_is():
    after = released(step(rate=0.0))
    for level in (0, 1):
        risk = rarest(FRAME, level) < 3
        assert 0 < risk.sum() < len(risk)
        assert moved(FRAME, after, level)[risk].all()


def test_nobody_else_moves_but_partners_when_the_rate_is_0():
    after = released(step(rate=0.0))
    gone = moved(FRAME, after, 1)
    assert gone.sum() <= 2 * (rarest(FRAME, 1) < 3).sum()
    assert not moved(FRAME, released(step(rate=0.0, k=1)), 1).any()


@pytest.mark.parametrize("profile", [["size"], ["size", "sex"]])
def test_households_of_an_area_and_profile_stay_as_many(profile):
    """With members' columns too: a profile counts all members' sexes."""
    after = released(step(similar=[profile], rate=0.2))
    sexes = pl.col("sex").sort().str.join("").alias("sexes")

    def counted(frame):
        kinds = frame.group_by("household").agg(pl.col(*GEOGRAPHY, "size").first(), sexes)
        by = [*GEOGRAPHY, "size", *(["sexes"] if "sex" in profile else [])]
        return kinds.group_by(by).len().sort(by)

    assert counted(after).equals(counted(FRAME))
    assert moved(FRAME, after, 1).any()


@pytest.mark.parametrize("rate", [0.03, 0.1, 0.5, 1.0])
def test_up_to_the_rate_of_every_lowest_area(rate):
    """Where nobody is at risk: never above the rate, and nearly up to it."""
    gone = homes(FRAME).with_columns(gone=pl.Series(moved(FRAME, released(step(k=1, rate=rate)), 1)))
    shares = gone.group_by(GEOGRAPHY).agg(pl.col("gone").mean(), pl.len())
    assert (shares["gone"] <= rate).all()
    assert gone["gone"].mean() > rate - 0.02
    later = homes(FRAME).with_columns(gone=pl.Series(moved(FRAME, released(step(k=3, rate=rate)), 1)))
    at_risk = moved(FRAME, released(step(k=3, rate=0.0)), 1)
    assert later.filter(at_risk)["gone"].all()


@pytest.mark.slow
def test_the_rarest_are_likeliest_to_move():
    """Without risk (k = 1); mean over 20 secrets of what decides who is tried first, 1 / fewest alike."""
    weight = 1 / rarest(FRAME, 1)
    runs = [moved(FRAME, released(step(k=1, rate=0.05), secret=bytes([s] * 16)), 1) for s in range(20)]
    chosen = np.mean([weight[gone].mean() for gone in runs])
    assert chosen > weight.mean() + 4 * weight.std() / np.sqrt(sum(gone.sum() for gone in runs))


@pytest.mark.slow
def test_partners_are_alike_in_the_first_profile_with_two_candidates():
    """Six households of one size: two candidates of the same sex for the first, so the third sex is not taken."""
    frame = pl.DataFrame(
        {
            "household": [1, 2, 3, 4, 5, 6],
            "place": ["P", "Q", "Q", "Q", "P", "P"],
            "sex": ["f", "f", "f", "m", "m", "m"],
            "size": [1] * 6,
            "key": ["a", "b", "b", "b", "b", "b"],
        }
    )
    book = Codebook({"household": Variable(role="household"), **dict.fromkeys(frame.columns[1:], CATEGORY)})
    method = SwapHouseholds(geography=["place"], keys=["key"], k=2, similar=[["sex"], ["size"]], rate=0)
    partners = set()
    for secret in range(30):
        after = ran(method, frame, bytes([secret] * 16), book).after.frame
        gone = after.filter(after["place"] != frame["place"])["household"].to_list()
        assert len(gone) == 2
        assert gone[0] == 1
        partners.add(gone[1])
    assert partners == {2, 3}
    wider = frame.with_columns(sex=pl.Series(["f", "f", "x", "m", "m", "m"]))  # a single candidate of the same sex
    partners = set()
    for secret in range(30):
        after = ran(method, wider, bytes([secret] * 16), book).after.frame
        partners |= set(after.filter(after["place"] != frame["place"])["household"].to_list())
    assert partners == {1, 2, 3, 4}


def test_order_of_rows_means_nothing():
    method = step(carry=["rent"], rate=0.1)
    shuffled = FRAME.sample(fraction=1, shuffle=True, seed=5)
    assert released(method, shuffled).sort("id").equals(released(method).sort("id"))


def test_two_rates_never_give_a_household_two_places():
    """Whoever moves under both rates stands in the same place in both: nothing to compare."""
    places = [homes(released(step(rate=rate))).select(GEOGRAPHY).rows() for rate in (0.0, 0.6, 0.9)]
    home = homes(FRAME).select(GEOGRAPHY).rows()
    for one, other in ((0, 1), (1, 2), (0, 2)):
        both = [(a, b) for a, b, h in zip(places[one], places[other], home, strict=True) if a != h and b != h]
        assert both
        assert all(a == b for a, b in both)


def lonely():
    """A household of a size that no other has, and somebody in it whom nobody is like."""
    extra = homes(FRAME).head(1).with_columns(household=pl.lit(9999), id=pl.lit(99999), size=pl.lit(9), age=pl.lit(99))
    return pl.concat([FRAME, extra.select(FRAME.columns).cast(dict(FRAME.schema))])


def test_no_partner_is_an_error_or_stays_or_goes():
    frame = lonely()
    with pytest.raises(DataError, match="fewer than 3.*profile of fewer columns.*on_unswapped") as told:
        ran(step(on_unswapped="error"), frame)
    assert "99" not in str(told.value)
    kept = ran(step(on_unswapped="keep"), frame)
    assert kept.after.frame.height == frame.height
    assert kept.suppression.unswapped == 1
    assert "1 at risk found no partner and stay" in kept.steps[0].notes[0]
    assert kept.steps[0].warnings
    gone = ran(step(on_unswapped="suppress"), frame)
    assert gone.after.frame.height == frame.height - 1
    assert 9999 not in gone.after.frame["household"]
    assert (gone.suppression.records, gone.suppression.unswapped) == (1, 0)
    assert [type(part) for part in gone.disclosure] == [Exchanged, Suppressed]


@pytest.mark.slow
def test_how_many_stay_is_a_finding_and_nothing_that_is_told():
    plan = sf.Plan(
        variables={n: BOOK[n] for n in BOOK},
        steps=[step(on_unswapped="keep")],
        limits=[{"measure": "unswapped_records", "at_most": 0.5}, {"measure": "k_anonymity", "at_least": 1}],
    )
    release = sf.protect(plan, lonely(), secret=bytes(16))
    (line,) = release.report.findings.select("unswapped_records")
    assert line.value == pytest.approx(1 / (FRAME.height + 1))
    assert line.ok
    assert release.disclosure.to_plain() == ran(step(on_unswapped="keep")).disclosure.to_plain()


def test_keys_and_profiles_stay_in_the_classes_and_places_do_not():
    from sfumato.release.classes import exposed

    book = Codebook({n: v.model_copy(update={"role": "key"}) if n in GEOGRAPHY else v for n, v in BOOK.items()})
    plan = sf.Plan(variables=dict(book), steps=[step()])
    assert exposed(plan, book).keys == ("sex", "age")


def test_households_without_an_area_take_no_part():
    frame = FRAME.with_columns(district=pl.when(pl.col("household") % 10 != 0).then("district"))
    done = ran(step(rate=0.3), frame)
    assert done.after.frame.filter(pl.col("household") % 10 == 0).equals(frame.filter(pl.col("household") % 10 == 0))
    assert "have no area and took no part" in done.steps[0].notes[0]


def test_members_in_two_places_are_refused():
    one = FRAME.filter(pl.col("size") > 1)["id"][0]
    frame = FRAME.with_columns(region=pl.when(pl.col("id") == one).then(pl.lit("Z")).otherwise("region"))
    with pytest.raises(DataError, match="'region' differs within some households"):
        ran(step(), frame)
    with pytest.raises(DataError, match="'pay' differs within some households"):
        ran(step(carry=["pay"]))


@pytest.mark.parametrize("level", GEOGRAPHY)
def test_fewer_than_two_areas_are_refused(level):
    frame = FRAME.with_columns(pl.lit("only").alias("region"), pl.lit(1).alias("district"))
    frame = frame.with_columns(FRAME[n] for n in GEOGRAPHY[: GEOGRAPHY.index(level)])
    if level == "district":
        frame = frame.filter(pl.col("region") == "A")
        level = "region"
    with pytest.raises(DataError, match=f"{level!r} has fewer than two areas"):
        ran(step(), frame)


def test_a_table_without_records_stays():
    assert released(step(), FRAME.head(0)).equals(FRAME.head(0))


def test_missing_household_ids_are_refused():
    frame = FRAME.with_columns(household=pl.when(pl.col("id") != 3).then("household"))
    with pytest.raises(DataError, match="'household' has missing ids"):
        ran(step(), frame)


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"k": 0}, "greater than or equal to 1"),
        ({"rate": 1.5}, "less than or equal to 1"),
        ({"rate": -0.1}, "greater than or equal to 0"),
        ({"geography": []}, "at least 1"),
        ({"keys": []}, "at least 1"),
        ({"similar": []}, "at least 1"),
        ({"similar": [["size"], []]}, "each profile of `similar` needs a column"),
        ({"geography": ["region", "region"]}, "`geography` names a column twice"),
        ({"carry": ["region"]}, "in `geography`, and in `carry`"),
        ({"keys": ["region"]}, "in `keys` or `similar`, and in what moves"),
        ({"similar": [["rent"]], "carry": ["rent"]}, "in `keys` or `similar`, and in what moves"),
        ({"on_unswapped": "merge"}, "error"),
        ({"share": 0.1}, "Extra inputs"),
    ],
)
def test_parameters_that_make_no_sense(wrong, told):
    with pytest.raises(ValidationError, match=told):
        step(**wrong)


def test_columns_that_will_not_do_are_told_before_any_data_are_touched():
    assert "no column 'nowhere'" in step(geography=["nowhere"]).check(BOOK)[0]
    assert "no column 'nothing'" in step(similar=[["nothing"]]).check(BOOK)[0]
    assert "no column 'none'" in step(carry=["none"]).check(BOOK)[0]
    assert "continuous" in step(keys=["pay"]).check(BOOK)[0]
    assert "continuous" in step(similar=[["pay"]]).check(BOOK)[0]
    assert "role record" in step(keys=["id"]).check(BOOK)[0]
    assert "must not change" in step(carry=["household"]).check(BOOK)[0]
    assert step(carry=["weight"]).check(BOOK) == []
    assert "household's id" in step().check(BOOK.without("household"))[0]


def test_what_is_told():
    (part,) = ran(step(carry=["rent"], rate=0.123)).disclosure
    assert part.columns == ("region", "district", "rent")
    text = part.sentence()
    assert "fewer than 3 in the area have the same sex, age" in text
    assert "alike in size, sex, else size" in text
    assert "up to 0.123 of the households of each lowest area" in text
    assert "region, district: households, with rent, were exchanged" in text


def test_a_fit_says_that_the_exchange_was_not_taken_out():
    release = ran(step(rate=0.3))
    fit = sf.fit("pay ~ C(region)", release.after.frame, disclosure=release.disclosure, family="linear")
    assert any("households were exchanged" in note and "not taken out" in note for note in fit.notes)


def test_laws_run_on_a_table_with_households():
    assert all(method.check(PEOPLE_BOOK) == [] for method in LAWFUL)
