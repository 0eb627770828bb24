import numpy as np
import polars as pl
import pytest
from pydantic import ValidationError

from sfumato.data.codebook import Codebook, Variable
from sfumato.data.hidden import ROW
from sfumato.draws import Draws
from sfumato.engines.polars import PolarsDataset
from sfumato.errors import DataError
from sfumato.kernels.neighbours.centroids import nearest_centroids
from sfumato.kernels.neighbours.mdav import mdav
from sfumato.methods.centroids.method import Centroids
from sfumato.release.run import run_steps
from tests.methods.tables import NUMBER, PEOPLE_BOOK, on_grid, people

LAWFUL = [
    Centroids(columns=["x", "y"], by=["g"], k=3),
    Centroids(columns=["x", "n"], by=["g", "h"], k=3, on_small="merge", missing="keep"),
    Centroids(columns=["n"], k=5, preset="avraam2021", ties="all", distinct=True, round_to=0.5),
    Centroids(columns=["x", "y", "n"], k=4, grouping="mdav", rescale=False, missing="median"),
    Centroids(columns=["x", "y"], by=["g", "h"], k=3, on_small="suppress", max_suppressed=0.5, missing="drop"),
    Centroids(columns=["x", "y"], by=["g", "h"], k=3, on_small="drop_variable", min_stratum=30),
    Centroids(columns=["x", "n"], k=3, missing="category"),
    Centroids(columns=["x", "y"], k=3, block_size=20, clip={"x": [6, 14]}),
    Centroids(columns=["x", "n"], by=["g", "h"], k=3, on_small="merge", blur=0.2),
    Centroids(columns=["x", "y"], k=4, grouping="mdav", missing="median", blur=0.1),
    Centroids(columns=["x", "y"], k=3, block_size=20, blur=0.3, rescale=False),
    Centroids(columns=["x", "y", "n"], k=3, grouping="variable", missing="keep"),
    Centroids(columns=["x", "n"], by=["g", "h"], k=3, grouping="variable", on_small="merge", blur=0.2),
    Centroids(columns=["x", "y"], k=3, grouping="variable", block_size=40, rescale=False),
    Centroids(columns=["n"], by=["g"], k=3, grouping="optimal", missing="keep"),
]


def run(frame, book=PEOPLE_BOOK, **parameters):
    step = Centroids(**({"columns": ["x", "y"], "k": 3} | parameters))
    assert step.check(book) == []
    return run_steps([step], PolarsDataset(frame, book), Draws(bytes(16)))


def test_the_five_steps_of_the_paper_written_out():
    """Standardise, stratify, find neighbours, average, scale and shift back (seed study: no re-centring)."""
    frame = people()
    z = {c: (frame[c] - frame[c].mean()) / frame[c].std() for c in ("x", "y")}
    masked = np.empty((len(frame), 2))
    for stratum in ("a", "b"):
        rows = (frame["g"] == stratum).to_numpy()
        points = np.column_stack([z["x"], z["y"]])[rows]
        distance = np.sqrt(((points[:, None] - points[None]) ** 2).sum(axis=2))
        masked[rows] = points[np.argsort(distance, axis=1)[:, :3]].mean(axis=1)
    released = run(frame, by=["g"], preset="avraam2021").after.frame
    for j, c in enumerate(("x", "y")):
        expected = masked[:, j] / masked[:, j].std(ddof=1) * frame[c].std() + frame[c].mean()
        np.testing.assert_allclose(released[c].to_numpy(), expected, rtol=1e-9)


@pytest.mark.parametrize("grouping", ["knn", "mdav", "variable"])
def test_mean_and_sd_are_kept(grouping):
    frame = people()
    released = run(frame, by=["g"], grouping=grouping, round_to=None, moments="exact").after.frame
    for c in ("x", "y"):
        assert released[c].mean() == pytest.approx(frame[c].mean(), rel=1e-12)
        assert released[c].std() == pytest.approx(frame[c].std(), rel=1e-12)
    assert released.drop("x", "y").equals(frame.drop("x", "y"))


def test_mdav_without_rescaling_is_microaggregation():
    frame = people()
    released = run(frame, grouping="mdav", rescale=False, recentre=False, round_to=None).after.frame
    z = frame.select((pl.col("x", "y") - pl.col("x", "y").mean()) / pl.col("x", "y").std()).to_numpy()
    order = np.lexsort(z.T[::-1])
    group = mdav(z[order], 3)
    for g in range(group.max() + 1):
        rows = order[group == g]
        np.testing.assert_allclose(released["x"].to_numpy()[rows], frame["x"].to_numpy()[rows].mean(), rtol=1e-9)


@pytest.mark.parametrize("grouping", ["mdav", "variable", "optimal"])
def test_without_ids_equal_records_share(grouping):
    frame = people(40).with_columns(x=pl.lit(1.0), y=(pl.col("id") % 5).cast(pl.Float64)).drop("id")
    book = PEOPLE_BOOK.without("id")
    released = run(frame, book, columns=["y"], grouping=grouping, round_to=None).after.frame
    assert released.group_by(frame["y"]).agg(pl.col("y").n_unique().alias("values"))["values"].max() == 1
    shuffled = frame.with_row_index("row").sample(fraction=1, shuffle=True, seed=3)
    again = run(shuffled, book, columns=["y"], grouping=grouping, round_to=None).after.frame.sort("row")
    np.testing.assert_allclose(again["y"].to_numpy(), released["y"].to_numpy(), rtol=1e-9)


@pytest.mark.parametrize(("grouping", "columns"), [("variable", ["x", "y"]), ("optimal", ["y"])])
def test_disjoint_groups_release_their_means(grouping, columns):
    """Records that share a value are k to 2k − 1, and the value is their mean; equal groups would share one."""
    frame = people(200)
    released = run(frame, columns=columns, k=4, grouping=grouping, rescale=False, recentre=False, round_to=None)
    both = frame.with_columns(released.after.frame.select(pl.col(c).alias(f"{c} after") for c in columns))
    groups = both.group_by(f"{c} after" for c in columns).agg(pl.len(), *(pl.col(c).mean() for c in columns))
    assert groups["len"].min() >= 4
    assert groups["len"].max() <= 7
    for c in columns:
        np.testing.assert_allclose(groups[c].to_numpy(), groups[f"{c} after"].to_numpy(), rtol=1e-9)
    assert "the average of 4 or more similar records" in released.disclosure.sentences()[0]


def test_optimal_groups_are_for_one_column():
    with pytest.raises(ValidationError, match="optimal is for one column.*grouping: variable"):
        Centroids(columns=["x", "y"], k=3, grouping="optimal")


def test_equal_records_are_told_apart_by_their_keyed_draw():
    frame = people(60).with_columns(x=(pl.col("id") % 3).cast(pl.Float64), y=(pl.col("id") % 2).cast(pl.Float64))
    released = run(frame, k=4, grouping="variable", round_to=None).after.frame
    shuffled = run(frame.sample(fraction=1, shuffle=True, seed=3), k=4, grouping="variable", round_to=None).after.frame
    assert shuffled.sort("id").equals(released)


def test_census_as_microaggregation_loses_what_is_published(shared_data):
    """100 SSE/SST of the whole step on Census, 13 columns, k = 3: 5.692186."""
    frame = pl.read_csv(shared_data / "sdcmicro" / "CASCrefmicrodata.csv").cast(pl.Float64).with_row_index("id")
    columns = frame.columns[1:]
    book = Codebook({"id": PEOPLE_BOOK["id"]} | dict.fromkeys(columns, NUMBER))
    ran = run(frame, book, columns=columns, grouping="mdav", rescale=False, recentre=False, round_to=None)
    scaled = [((ran.after.frame[c] - frame[c]) ** 2).sum() / frame[c].var() for c in columns]
    total = len(columns) * (len(frame) - 1)
    assert 100 * sum(scaled) / total == pytest.approx(5.692186, abs=5e-7)


def test_whole_numbers_stay_whole_and_codes_stay():
    frame = people().with_columns(n=pl.when(pl.col("id") % 10 == 0).then(-9).otherwise("n"))
    released = run(frame, columns=["x", "n"]).after.frame
    assert released.schema["n"] == pl.Int64
    assert (released["n"] == -9).to_list() == (frame["n"] == -9).to_list()
    assert run(frame, columns=["x", "n"], round_to=None).after.frame.schema["n"] == pl.Float64


def test_input_grid_multiples_and_bounds():
    frame = people().with_columns(pl.col("x").round(1))
    released = run(frame).after.frame
    assert released["x"].to_list() == released["x"].round(1).to_list()
    clipped = run(frame, clip={"x": [9, 11], "y": [None, 1.5]}, round_to={"x": 0.5}).after.frame
    assert clipped["x"].min() == 9
    assert clipped["x"].max() == 11
    assert set((clipped["x"] * 2) % 1) == {0.0}
    assert clipped["y"].max() == 1.5


def test_missing_values_keep_their_place_and_neighbours_have_the_same_columns():
    frame = people(60).with_columns(y=pl.when(pl.col("id") % 4 != 0).then("y"))
    released = run(frame, rescale=False, recentre=False, round_to=None).after.frame
    assert released["y"].is_null().to_list() == frame["y"].is_null().to_list()
    z = frame.select((pl.col("x", "y") - pl.col("x", "y").mean()) / pl.col("x", "y").std())
    only_x = frame["y"].is_null().to_numpy()
    expected = nearest_centroids(z.select("x").to_numpy(), 3)[only_x, 0] * frame["x"].std() + frame["x"].mean()
    np.testing.assert_allclose(released["x"].to_numpy()[only_x], expected, rtol=1e-9)
    both = z.filter(~pl.Series(only_x)).to_numpy()
    expected = nearest_centroids(both, 3)[:, 1] * frame["y"].std() + frame["y"].mean()
    np.testing.assert_allclose(released["y"].to_numpy()[~only_x], expected, rtol=1e-9)


@pytest.mark.parametrize(
    ("missing", "height", "empty"), [("median", 60, 0), ("mean", 60, 0), ("drop", 45, 0), ("category", 60, 15)]
)
def test_other_ways_with_missing_values(missing, height, empty):
    frame = people(60).with_columns(y=pl.when(pl.col("id") % 4 != 0).then("y"))
    released = run(frame, missing=missing).after.frame
    assert released.height == height
    assert released["y"].null_count() == empty


def test_small_strata_are_an_error_that_says_what_to_do():
    with pytest.raises(DataError, match="min_stratum.*on_small: merge"):
        run(people(60), by=["g", "h"])


def test_small_strata_merged():
    frame = people(60)
    ran = run(frame, by=["g", "h"], on_small="merge")
    assert ran.after.frame.group_by("g", "h").len()["len"].min() >= 6
    assert ran.disclosure.parts[0].merged
    assert "merged" in ran.disclosure.sentences()[0]


def test_merging_follows_a_hierarchy():
    towns = ["Leeds"] * 20 + ["York"] * 9 + ["Hull"] * 2 + ["Bath"] * 30
    frame = people(61).with_columns(h=pl.Series(towns))
    levels = {"Leeds": ("North", "UK"), "York": ("East", "UK"), "Hull": ("East", "UK"), "Bath": ("South", "UK")}
    book = PEOPLE_BOOK.replace(h=Variable(kind="categorical", hierarchy=levels))
    moved = run(frame, book, by=["h"], on_small="merge").after.frame["h"].to_list()
    assert moved[29:31] == ["York", "York"]


def test_small_strata_suppressed_within_a_share():
    frame = people(60).with_columns(h=pl.Series(["u"] * 58 + ["v"] * 2))
    assert run(frame, by=["h"], on_small="suppress").after.frame["id"].to_list() == list(range(58))
    with pytest.raises(DataError, match="max_suppressed"):
        run(frame, by=["h"], on_small="suppress", max_suppressed=0.01)


def test_small_strata_cost_the_last_variable():
    ran = run(people(60), by=["g", "h"], on_small="drop_variable")
    assert "h" not in ran.after.columns
    assert [part.what for part in ran.disclosure] == ["dropped", "averaged"]
    assert ran.disclosure.parts[1].by == ("g",)


def test_too_few_records_even_without_strata():
    for on_small in ("error", "suppress"):
        with pytest.raises(DataError):
            run(people(5), on_small=on_small)


def test_when_all_centroids_are_equal_the_mean_is_released():
    """With k = n every centroid is the mean: its spread is none, and rounding errors must not be taken for one."""
    frame = people(7).with_columns(x=pl.Series([22.1, 38.3, 26.7, 35.9, 54.2, 80.4, 51.8]))
    for more in ({"preset": "avraam2021"}, {"min_stratum": 7, "round_to": None}, {"min_stratum": 7, "ties": "all"}):
        ran = run(frame, columns=["x", "y"], k=7, moments="exact", **more)
        np.testing.assert_allclose(ran.after.frame["x"].to_numpy(), frame["x"].mean(), atol=0.05)
        assert "could not be restored" in ran.steps[0].notes[0]
        assert "the spread is smaller" in ran.disclosure.sentences()[0]


def test_the_disclosure_tells_what_became_of_records_and_cells():
    frame = people(60).with_columns(y=pl.when(pl.col("id") % 4 != 0).then("y"), h=pl.Series(["u"] * 58 + ["v"] * 2))

    def told(**parameters):
        return [part.what for part in run(frame, **parameters).disclosure]

    assert told(missing="median") == ["imputed", "averaged"]
    assert told(missing="drop") == ["suppressed", "averaged"]
    assert told(by=["h"], on_small="suppress") == ["suppressed", "averaged"]
    assert not run(frame).disclosure.parts[-1].rounded
    assert run(frame.with_columns(pl.col("x").round(1))).disclosure.parts[-1].rounded


@pytest.mark.parametrize("k", [3.0, "3", np.int64(3)])
def test_k_as_other_libraries_write_it(k):
    assert Centroids(columns=["x"], k=k).min_stratum == 6


def test_a_constant_column_passes_with_a_note():
    frame = people().with_columns(y=pl.lit(7.0))
    ran = run(frame)
    assert set(ran.after.frame["y"]) == {7.0}
    assert "constant" in ran.steps[0].notes[0]
    assert run(frame, columns=["y"]).after.frame.equals(frame)


def test_an_empty_column_is_an_error():
    with pytest.raises(DataError, match="no value at all"):
        run(people().with_columns(y=pl.lit(None, pl.Float64)))


def test_blocks_are_close_to_the_whole():
    frame = people(2000)
    whole, cut = run(frame).after.frame, run(frame, block_size=200).after.frame
    moved = ((whole["x"] - cut["x"]) ** 2).mean() / frame["x"].var()
    assert 0 < moved < 0.01


def test_what_an_attacker_can_rebuild_is_the_unscaled_centroids():
    frame = people().with_row_index(ROW)
    unscaled = run(frame, by=["g"]).reconstructions["unscaled"]
    plain = run(frame, by=["g"], rescale=False, recentre=False, round_to=None).after.frame
    np.testing.assert_allclose(unscaled["x"].to_numpy(), plain["x"].to_numpy(), rtol=1e-9)


@pytest.mark.parametrize(
    "wrong",
    [
        {"k": 2},
        {"k": 1, "allow_small_k": True},
        {"min_stratum": 2},
        {"by": ["x"]},
        {"by": ["g", "g"]},
        {"columns": ["x", "x"]},
        {"block_size": 5},
        {"clip": {"x": [2, 1]}},
        {"clip": {"z": [1, 2]}},
        {"round_to": 0},
        {"round_to": {"z": 1}},
        {"on_small": "merge"},
        {"colour": "red"},
        {"ties": "random"},
    ],
)
def test_parameters_that_make_no_sense(wrong):
    with pytest.raises(ValidationError):
        Centroids(**({"columns": ["x"], "k": 3} | wrong))


def test_defaults_and_preset():
    step = Centroids(columns=["x"], k=5)
    assert (step.min_stratum, step.recentre, step.round_to) == (10, True, "input")
    assert Centroids(columns=["x"], k=3).min_stratum == 6
    paper = Centroids(columns=["x"], k=3, preset="avraam2021")
    assert (paper.min_stratum, paper.rescale, paper.recentre, paper.round_to) == (3, True, False, None)
    assert (step.moments, paper.moments) == ("rounded", "exact")
    assert Centroids(columns=["x"], k=3, preset="avraam2021", recentre=True).recentre
    assert Centroids(columns=["x"], k=2, allow_small_k=True).k == 2


def test_columns_that_are_no_amounts_are_refused():
    book = PEOPLE_BOOK.replace(x=Variable(kind="categorical"))
    assert "kind: continuous" in Centroids(columns=["x"], k=3).check(book)[0]
    assert "must not change" in Centroids(columns=["id"], k=3).check(PEOPLE_BOOK)[0]
    assert "strata need categories" in Centroids(columns=["x"], by=["y"], k=3).check(PEOPLE_BOOK)[0]
    assert "no column 'nope'" in Centroids(columns=["nope"], k=3).check(PEOPLE_BOOK)[0]


def centroids_of(frame, **how):
    """Released x and y as they leave the averaging: neither restored nor, but for a blur, rounded."""
    grid = {"round_to": "input" if how.get("blur") else None}
    made = run(frame, **({"rescale": False, "recentre": False} | grid | how)).after.frame
    return made.select("x", "y").to_numpy()


@pytest.mark.slow
@pytest.mark.parametrize("grouping", ["knn", "mdav"])
def test_blur_is_a_share_of_the_distances_within_the_group(grouping):
    """Over many groups of three the noise has the standard deviation that is disclosed, column by column."""
    rng = np.random.default_rng(0)
    n = 3000
    frame = people(n).with_columns(x=pl.Series(rng.normal(size=n)), y=pl.Series(rng.lognormal(size=n)))
    plain, blurred = (centroids_of(frame, grouping=grouping, blur=b) for b in (0, 0.5))
    x = frame.select("x", "y").to_numpy()
    z = (x - x.mean(axis=0)) / x.std(axis=0, ddof=1)
    if grouping == "knn":
        members = np.argsort(((z[:, None] - z[None]) ** 2).sum(axis=2), axis=1)[:, :3]
        apart = np.sqrt(((x[members] - x[members].mean(axis=1, keepdims=True)) ** 2).mean(axis=1))
        groups = np.unique(np.sort(members, axis=1), axis=0, return_index=True)[1]
    else:
        order = np.lexsort((z[:, 1], z[:, 0]))
        group = np.empty(n, dtype=int)
        group[order] = mdav(z[order], 3)
        size = np.bincount(group)
        mean = np.array([np.bincount(group, weights=x[:, j]) / size for j in (0, 1)]).T
        square = np.array([np.bincount(group, weights=(x[:, j] - mean[group, j]) ** 2) / size for j in (0, 1)]).T
        apart, groups = np.sqrt(square)[group], np.unique(group, return_index=True)[1]
        assert len(np.unique(blurred, axis=0)) == len(groups)  # members of a group stay alike
    noise = ((blurred - plain) / apart)[groups]
    assert np.std(noise, axis=0) == pytest.approx(0.5, rel=0.08)  # of 1,000 draws the sd has a standard error of 2.2%
    assert np.abs(np.corrcoef(noise.T)[0, 1]) < 0.1


def test_a_centroid_that_stays_keeps_its_noise_and_one_that_changes_draws_anew():
    frame = people(60)
    gone = frame.filter(pl.col("id") != frame["id"][7])
    plain, fewer = centroids_of(frame), centroids_of(gone)
    kept = np.delete(np.arange(60), 7)
    same = np.isclose(plain[kept], fewer, rtol=1e-9).all(axis=1)
    blurred, again = centroids_of(frame, blur=0.3)[kept], centroids_of(gone, blur=0.3)
    assert same.sum() > 40
    # standardised by other means and spreads, the noise of an unchanged centroid is the same up to the last bits, which
    # decide nothing: no sum lies within them of the middle between two multiples
    np.testing.assert_array_equal(blurred[same], again[same])
    moved = (blurred - plain[kept])[~same] / (again - fewer)[~same]
    assert (np.abs(moved - 1) > 1e-3).all()


@pytest.mark.parametrize("grouping", ["knn", "mdav"])
def test_where_records_tie_and_values_are_missing_no_order_changes_the_noise(grouping):
    """Records that are equal in the columns that somebody has are one point to him, whatever else they have."""
    gone = pl.col("id") % 7 == 0
    frame = people(200).with_columns(x=pl.col("x").round(1), y=pl.when(~gone).then("y"))
    how = {"grouping": grouping, "blur": 0.3, "missing": "keep"}
    one, two = (run(f, **how).after.frame.sort("id") for f in (frame, frame.sample(fraction=1, shuffle=True, seed=1)))
    assert one.equals(two)


def test_no_blur_draws_nothing_and_is_not_told():
    assert "noise" not in next(iter(run(people(60)).disclosure)).sentence()
    told = next(iter(run(people(60), blur=0.1).disclosure))
    assert told.blur == 0.1
    assert "0.1 of the root mean square distance" in told.sentence()
    assert Centroids(columns=["x"], k=3, preset="avraam2021").blur == 0


def test_blurred_values_lie_on_a_grid_that_is_told():
    frame = people(400)
    done = run(frame, columns=["x", "n"], blur=0.5)
    (part,) = done.disclosure
    # the sd of x is 2 to one digit, of which .002 is a thousandth; n has a grid of its own
    assert part.rounded == {"x": 0.002, "n": 1.0}
    assert "x to multiples of 0.002" in part.sentence()
    assert on_grid(done.after.frame["x"].to_list(), part.rounded["x"])
    assert done.after.codebook["x"].multiple == part.rounded["x"]
    assert done.after.frame["n"].dtype == frame["n"].dtype
    (plain,) = run(frame, columns=["x"]).disclosure
    assert plain.rounded is False


def test_blurred_values_at_a_bound_stay_there():
    low, high = np.quantile(people(400)["x"], [0.2, 0.8])
    out = run(people(400), columns=["x"], blur=0.5, clip={"x": [low, high]}).after.frame["x"]
    assert (out.min(), out.max()) == (low, high)


def test_steps_that_hide_no_blur_are_refused():
    with pytest.raises(ValueError, match="write input"):
        Centroids(columns=["x"], k=3, blur=0.1, round_to=None)
    assert Centroids(columns=["x"], k=3, blur=0.1, preset="avraam2021").round_to == "input"
    with pytest.raises(DataError, match=r"round_to of 'x' is so fine .* write 0\.\d+ or input"):
        run(people(60), columns=["x"], blur=0.1, round_to=1e-12)
    (part,) = run(people(60), blur=0.1, round_to={"x": 0.5}).disclosure
    assert part.rounded == {"x": 0.5, "y": 0.001}  # the sd of y is 1 to one digit
