import polars as pl
import pytest
from pydantic import ValidationError

from sfumato.data.codebook import Codebook, Variable
from sfumato.data.disclosure import Averaged, Coarsened, Imputed, Misclassified, Swapped
from sfumato.draws import Draws
from sfumato.engines.polars import PolarsDataset
from sfumato.errors import DataError
from sfumato.methods.centroids.method import Centroids
from sfumato.methods.derive import Derive
from sfumato.methods.impute import Impute
from sfumato.methods.pram.method import Pram
from sfumato.methods.recode import Recode
from sfumato.methods.swap.method import Swap
from sfumato.plan.plan import Plan
from sfumato.release.run import run_steps
from tests.methods.tables import BOOK, PEOPLE_BOOK, people, run

LAWFUL = [
    Recode(columns=["n"], band=[30, 45], labels=["young", "middle", "old"]),
    Recode(columns=["x", "y"], band=[0.5, 1, 9.75, 10]),
    Recode(columns=["n"], map={20: 1, 21: 1, 22: 2}, other="keep"),
    Recode(columns=["h"], map={"u": "v"}, other="missing"),
]


def test_recode_into_bands_keeps_missing_codes():
    ran = run(Recode(columns=["age"], band=[25, 40]))
    assert ran.after.frame["age"].to_list() == ["below 25", "25 to below 40", "-9", "40 and over"]
    described = ran.after.codebook["age"]
    assert described.order == ("below 25", "25 to below 40", "40 and over")
    assert described.missing[0].matches("-9")


def test_codes_of_decimal_columns_and_ranges_stay_missing():
    book = Codebook({"x": Variable(kind="continuous", missing=[-9, {"low": -5, "high": -4}])})
    ran = run(Recode(columns=["x"], band=[25]), pl.DataFrame({"x": [-9.0, -4.5, 20.0, None]}), book)
    assert ran.after.frame["x"].to_list() == ["-9", "-5 to -4", "below 25", None]
    missing = ran.after.frame.select(ran.after.codebook.missing("x", pl.String())).to_series()
    assert missing.to_list() == [True, True, False, True]


def test_top_coding_by_a_map_leaves_numbers():
    ran = run(Recode(columns=["age"], map={41: 40}))
    assert ran.after.codebook["age"].kind == "integer"


def test_a_cut_point_begins_its_band():
    frame = pl.DataFrame({"size": [24.9, 25.0, None]})
    ran = run(Recode(columns=["size"], band=[25], labels=["low", "high"]), frame, BOOK.only(["size"]))
    assert ran.after.frame["size"].to_list() == ["low", "high", None]


def test_recode_by_a_map():
    assert run(Recode(columns=["city"], map={"a": "z"})).after.frame["city"].to_list() == ["z", "b", "z", None]
    only = run(Recode(columns=["city"], map={"a": "z"}, other="missing"))
    assert only.after.frame["city"].to_list() == ["z", None, "z", None]
    numbers = run(Recode(columns=["age"], map={20: 1, 30: 1, 41: 2}))
    assert numbers.after.frame["age"].to_list() == [1, 1, -9, 2]
    text = run(Recode(columns=["age"], map={20: "young"}))
    assert text.after.frame["age"].to_list() == ["young", "30", "-9", "41"]
    with pytest.raises(DataError, match="does not list"):
        run(Recode(columns=["city"], map={"a": "z"}, other="error"))


@pytest.mark.parametrize(
    "wrong",
    [
        {},
        {"map": {1: 2}, "band": [1]},
        {"band": [3, 1]},
        {"band": [1], "labels": ["x"]},
        {"map": {1: 2}, "labels": ["x"]},
    ],
)
def test_recode_takes_one_way(wrong):
    with pytest.raises(ValidationError):
        Recode(columns=["age"], **wrong)


def test_bands_are_told_as_words_and_as_intervals():
    (part,) = run(Recode(columns=["age"], band=[18, 65.5])).disclosure
    assert part.sentence() == "age: recoded into the bands below 18, 18 to below 65.5, 65.5 and over."
    assert part.bands == {"below 18": (None, 18), "18 to below 65.5": (18, 65.5), "65.5 and over": (65.5, None)}
    (named,) = run(Recode(columns=["age"], band=[30], labels=["young", "old"])).disclosure
    assert named.sentence() == "age: recoded into the bands young, old."
    assert named.bands == {"young": (None, 30), "old": (30, None)}


def test_a_map_is_told_in_words_only():
    (part,) = run(Recode(columns=["city"], map={"a": "z"})).disclosure
    assert part == Coarsened(("city",), "to broader categories")


@pytest.mark.parametrize("band", [(1_000_001, 1_000_002, 1_000_003), (0.1234567, 0.1234568), (123456.7,)])
def test_labels_have_every_digit_of_their_cut_points(band):
    """Six digits would give different bands one label, or a label that the values do not fit."""
    step = Recode(columns=("x",), band=band)
    assert step.band_labels[0] == f"below {band[0]}"
    assert len(step.bands()) == len(band) + 1


def test_a_label_that_is_a_missing_code_is_refused():
    step = Recode(columns=["age"], band=[30], labels=["-9", "old"])
    assert step.check(BOOK) == ["a band of 'age' has the label of a missing code; choose other `labels`"]


BAND = Recode(columns=["n", "x"], band=[8, 10, 30], labels=["a", "b", "c", "d"])


def disclosed(*steps):
    """What is told after steps that a plan may have."""
    Plan(steps=steps).check(PEOPLE_BOOK)
    told = run_steps(steps, PolarsDataset(people(), PEOPLE_BOOK), Draws(bytes(16))).disclosure
    return [part for part in told if "n" in part.columns or isinstance(part, Coarsened)]


@pytest.mark.parametrize(
    "other",
    [
        Recode(columns=["n"], map={"a": "b"}),
        Recode(columns=["n"], map={"c": "d", "d": "c"}, other="missing"),
        Derive(column="n", formula="if_else(n == 'a', 'd', n)"),
    ],
)
def test_bands_that_a_later_step_changes_are_told_in_words_only(other):
    first, second, *rest = disclosed(BAND, other)
    assert first == Coarsened(("n",), "into the bands a, b, c, d")
    assert second == Coarsened(("x",), "into the bands a, b, c, d", BAND.bands())
    assert rest == ([Coarsened(("n",), "to broader categories")] if isinstance(other, Recode) else [])


def test_bands_of_values_that_were_recoded_before_are_told_in_words_only():
    mapped, words, bands = disclosed(Recode(columns=["n"], map={59: 21}), BAND)
    assert mapped == Coarsened(("n",), "to broader categories")
    assert words == Coarsened(("n",), "into the bands a, b, c, d")
    assert (bands.columns, bands.bands) == (("x",), BAND.bands())


def test_bands_whose_labels_a_merge_of_strata_changed_are_told_in_words_only():
    centroids = Centroids(columns=["y"], by=["n", "g"], k=3, min_stratum=40, on_small="merge")
    ran = run_steps([BAND, centroids], PolarsDataset(people(), PEOPLE_BOOK), Draws(bytes(16)))
    averaged = next(p for p in ran.disclosure if isinstance(p, Averaged))
    assert "n" in averaged.merged
    assert [p.columns for p in ran.disclosure if isinstance(p, Coarsened) and p.bands] == [("x",)]


@pytest.mark.parametrize(
    ("other", "what"),
    [
        (Pram(columns=["n"], retention=0.8), Misclassified),
        (Swap(columns=["n"], random=True), Swapped),
        (Impute(columns=["n"], method="mode"), Imputed),
    ],
)
def test_a_step_that_tells_what_it_did_to_the_bands_leaves_them(other, what):
    """The parts stand in the order of the steps: the intervals are those of the values before the second."""
    first, second = disclosed(BAND, other)
    assert first == Coarsened(("n", "x"), "into the bands a, b, c, d", BAND.bands())
    assert isinstance(second, what)
    assert second.columns == ("n",)


def test_outer_bands_end_where_possible_values_do():
    """By column; a limit inside the outer cut points says nothing of the bands."""
    book = Codebook({"x": Variable(range=(0, 90)), "n": Variable(range=(None, 120)), "m": Variable(range=(50, 60))})
    step = Recode(columns=("x", "n", "m"), band=(18, 65))
    frame = pl.DataFrame({"x": [3.0, 90.0], "n": [20, 70], "m": [55, 60]})
    ran = run_steps([step], PolarsDataset(frame, book), Draws(bytes(32)))
    ends = {p.columns: (p.bands["below 18"][0], p.bands["65 and over"][1]) for p in ran.disclosure}
    assert ends == {("x",): (0, 90), ("n",): (None, 120), ("m",): (None, None)}


@pytest.mark.parametrize("value", [-1.0, 91.0])
def test_impossible_values_are_in_no_band(value):
    book = Codebook({"x": Variable(range=(0, 90), missing=[-9])})
    data = PolarsDataset(pl.DataFrame({"x": [3.0, -9.0, value]}), book)
    with pytest.raises(DataError, match="outside the range"):
        run_steps([Recode(columns=("x",), band=(18, 65))], data, Draws(bytes(32)))
