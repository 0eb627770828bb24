import polars as pl
import pytest
from pydantic import ValidationError

from sfumato.data.codebook import Codebook, Variable
from sfumato.data.disclosure import Averaged, Coarsened, Imputed, Misclassified, Swapped
from sfumato.draws import Draws
from sfumato.engines.polars import PolarsDataset
from sfumato.errors import DataError
from sfumato.methods.centroids.method import Centroids
from sfumato.methods.generalising import Unlisted
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
    Recode(columns=["n", "x"], band={"n": 4}),
    Recode(columns=["n"], band={"n": 3, "method": "equal"}, labels=["young", "middle", "old"]),
    Recode(columns=["x", "y"], band={"n": 3, "method": "log"}),
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


TOWNS = {"a": ("x", "1"), "b": ("x", "1"), "c": ("y", "2")}


def test_a_level_of_a_hierarchy_that_stands_in_the_step_or_the_codebook():
    frame = pl.DataFrame({"town": ["a", "b", "c", None]})
    for step, known in (
        (Recode(columns=["town"], level=1, hierarchy=TOWNS), Variable(kind="categorical")),
        (Recode(columns=["town"], level=1), Variable(kind="categorical", hierarchy=TOWNS)),
    ):
        ran = run(step, frame, Codebook({"town": known}))
        assert ran.after.frame["town"].to_list() == ["x", "x", "y", None]
        assert ran.after.codebook["town"].hierarchy == {"x": ("1",), "y": ("2",)}
        assert ran.disclosure.sentences() == ("town: recoded to level 1 of its hierarchy.",)
    top = run(Recode(columns=["town"], level=3, hierarchy=TOWNS), frame, Codebook({"town": Variable()}))
    assert top.after.frame["town"].to_list() == ["*"] * 4


def test_levels_that_are_intervals_disclose_their_ends_and_are_ordered():
    ages = {age: (f"{age // 10 * 10}s",) for age in range(20, 50)}
    book = Codebook({"age": Variable(kind="integer", missing=[{"code": -9, "label": "refused"}], hierarchy=ages)})
    ran = run(Recode(columns=["age"], level=1), pl.DataFrame({"age": [24, 49, -9, None]}), book)
    assert ran.after.frame["age"].to_list() == ["20s", "40s", "-9", None]
    (told,) = ran.disclosure.parts
    assert told.bands == {"20s": (20, 30), "30s": (30, 40), "40s": (40, 50)}
    variable = ran.after.codebook["age"]
    assert (variable.kind, variable.order) == ("ordinal", ("20s", "30s", "40s", "-9"))
    assert variable.missing[0].label == "refused"


@pytest.mark.parametrize(("unknown", "becomes"), [("missing", None), ("other", "other")])
def test_values_that_the_hierarchy_does_not_list(unknown, becomes):
    frame, book = pl.DataFrame({"town": ["a", "z", None]}), Codebook({"town": Variable(kind="categorical")})
    ran = run(Recode(columns=["town"], level=1, hierarchy=TOWNS, unknown=unknown), frame, book)
    assert ran.after.frame["town"].to_list() == ["x", becomes, None]
    with pytest.raises(Unlisted, match=r"The hierarchies of town do not list all values") as refused:
        run(Recode(columns=["town"], level=1, hierarchy=TOWNS), frame, book)
    assert refused.value.values == {"town": {"z": 1}}
    assert "z" not in str(refused.value).split()


def test_all_unlisted_values_of_all_columns_are_told_at_once():
    frame = pl.DataFrame({"here": ["a", "q"], "there": ["r", "r"]})
    with pytest.raises(Unlisted, match="here, there") as refused:
        run(Recode(columns=["here", "there"], level=1, hierarchy=TOWNS), frame, Codebook().only(frame.columns))
    assert refused.value.values == {"here": {"q": 1}, "there": {"r": 2}}


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ({"level": 1, "band": [1]}, "either `map`, or `band`, or `level`"),
        ({"band": [1], "hierarchy": TOWNS}, "go with `level`"),
        ({"map": {"a": "b"}, "unknown": "other"}, "go with `level`"),
        ({"level": 1, "hierarchy": {"a": ("x", "1"), "b": ("x", "2")}}, "two broader"),
        ({"level": 0}, "greater than or equal to 1"),
    ],
)
def test_ways_that_do_not_go_together(more, says):
    with pytest.raises(ValidationError, match=says):
        Recode(columns=["town"], **more)


def test_a_level_that_is_not_there_is_found_before_the_run():
    book = Codebook({"town": Variable(hierarchy=TOWNS), "village": Variable()})
    assert Recode(columns=["town"], level=4).check(book) == ["the hierarchy of 'town' has levels up to 3, not 4"]
    assert "it has no hierarchy" in Recode(columns=["village"], level=1).check(book)[0]


def banded(values, known=None, labels=None, **band):
    step = Recode(columns=["x"], band=band, labels=labels)
    return run(step, pl.DataFrame({"x": values}), Codebook({"x": Variable(**(known or {}))}))


def sizes(ran):
    return dict(ran.after.frame["x"].value_counts().rows())


def test_bands_with_equally_many_records_are_learned():
    ran = banded([float(i) for i in range(1, 101)], n=4)
    assert sizes(ran) == {"below 25.8": 25, "25.8 to below 50.5": 25, "50.5 to below 75.2": 25, "75.2 and over": 25}
    (told,) = ran.disclosure
    assert told.bands["25.8 to below 50.5"] == (25.8, 50.5)
    assert ran.after.codebook["x"].order == tuple(told.bands)
    assert ran.steps[0].warnings == ()


def test_bands_of_whole_numbers_are_named_by_their_first_and_last():
    assert sizes(banded(list(range(1, 101)), n=4)) == {"below 26": 25, "26-50": 25, "51-75": 25, "76 and over": 25}
    assert set(sizes(banded([*range(-50, 50)], n=4))) == {"below -25", "-25 to -1", "0-24", "25 and over"}
    given = run(Recode(columns=["age"], band=[25, 40])).after.frame["age"].to_list()
    assert "25 to below 40" in given  # labels of given cut points stay as they were


def test_bands_of_equal_width_do_not_tell_the_lowest_and_highest_value():
    """They lie between the fifth lowest and the fifth highest value."""
    values = [*range(100), 10_000]
    low, high = sorted(values)[4], sorted(values)[-5]
    told = banded([float(v) for v in values], n=4, method="equal").disclosure.parts[0]
    points = [round(low + (high - low) * i / 4, 1) for i in (1, 2, 3)]
    assert [b[0] for b in told.bands.values()][1:] == points


def test_bands_on_a_logarithmic_scale_take_what_is_not_positive_into_the_first():
    values = [0.0] * 20 + [10.0 ** (i / 50) for i in range(301)]
    ran = banded(values, n=3, method="log")
    points = [b[0] for b in ran.disclosure.parts[0].bands.values()][1:]
    assert points[1] / points[0] == pytest.approx(10**1.95, rel=0.01)  # from 10^.08 to 10^5.92 in three
    assert ran.after.frame["x"][0].startswith("below")


def test_empty_bands_are_merged_and_it_is_told():
    ran = banded([1.0] * 10 + [2.0] * 10 + [100.0] * 10, n=5, method="equal")
    assert all(n > 0 for n in sizes(ran).values())
    assert len(sizes(ran)) == len(ran.disclosure.parts[0].bands) == 2
    assert "fewer than 5 bands" in ran.steps[0].warnings[0]
    assert sizes(banded([1] * 50 + [2] * 10, n=4)) == {"below 2": 50, "2 and over": 10}
    with pytest.raises(DataError, match="too alike or too few"):
        banded([3] * 20, n=2)
    with pytest.raises(DataError, match="too alike or too few"):
        banded([None, None, 1], n=2, method="equal")


@pytest.mark.parametrize("method", ["equal", "log", "quantile"])
def test_learned_bands_hold_k_records_and_are_merged_else(method):
    values = [*[float(i) for i in range(1, 41)], 400.0, 410.0, 900.0, 4000.0, 4100.0, 4200.0, 4300.0, 9000.0]
    for k in (5, 7):
        ran = banded(values, n=12, method=method, k=k)
        assert min(sizes(ran).values()) >= k
        assert f"fewer than {k} records" in ran.steps[0].warnings[0]
    assert sizes(banded(values, n=12, method=method)) == sizes(banded(values, n=12, method=method, k=5))
    assert min(sizes(banded(values, n=12, method="equal", k=0)).values()) < 5
    with pytest.raises(DataError, match="bands of at least 30 records"):
        banded(values, n=12, method=method, k=30)


def test_names_of_learned_bands():
    values = [float(i) for i in range(30)]
    assert sizes(banded(values, labels=["low", "mid", "high"], n=3)) == {"low": 10, "mid": 10, "high": 10}
    with pytest.raises(DataError, match="Fewer bands than `labels`"):
        banded([1.0] * 50 + [2.0] * 5, labels=["low", "mid", "high"], n=3)
    with pytest.raises(ValidationError):
        Recode(columns=["x"], band={"n": 3}, labels=["low", "high"])
    with pytest.raises(ValidationError):
        Recode(columns=["x"], band={"n": 1})
    known = {"missing": ["low"]}
    assert (
        "label of a missing code"
        in Recode(columns=["x"], band={"n": 2}, labels=["low", "high"]).check(Codebook({"x": Variable(**known)}))[0]
    )


def test_missing_codes_take_no_part_in_learned_bands():
    ran = banded([*range(100), *[-9] * 50], {"missing": [-9]}, n=2)
    assert sizes(ran) == {"below 50": 50, "50 and over": 50, "-9": 50}
