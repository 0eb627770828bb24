"""The laws of draws between releases, run over the whole registry of methods.

What a release draws hangs on the secret, on what is drawn, on the person and on the true value: not on the order or
type of rows and columns, nor on who else is in the file. Between two releases of nearly the same people no attack does
better than independent draws of the disclosed error allow, but where the disclosure says so.
"""

import json
from functools import cache

import numpy as np
import polars as pl
import pytest

from sfumato.data.disclosure import Additive, Averaged, Disclosure, Exchanged, Misclassified, Shuffled, Swapped
from sfumato.data.publishable import Publishable
from sfumato.draws import Draws
from sfumato.engines.polars import PolarsDataset
from sfumato.errors import DataError
from sfumato.measures.risk.differencing.measure import findings
from sfumato.measures.risk.differencing.people import tell_apart
from sfumato.methods.centroids.method import Centroids
from sfumato.methods.noise.method import Noise
from sfumato.methods.pram.method import Pram
from sfumato.methods.registry import methods
from sfumato.methods.swap.method import Swap
from sfumato.release.run import run_steps
from sfumato.release.taking import Published, Taking
from tests.laws.steps import cases, each_step, each_step_with, telling_by_day
from tests.methods.tables import PEOPLE_BOOK, how_many_lawful, lawful, people

SECRET = bytes(range(16))
MASKING = [name for name, method in methods().items() if method.masks]
DRAWING = ("noise", "pram")
HERE = "tests/laws/test_releases.py"
WHO = 17


def ran(step, frame, book=PEOPLE_BOOK, secret=SECRET, taking=None):
    return run_steps([step], PolarsDataset(frame, book), Draws(secret), taking=taking)


def released(step, frame, book=PEOPLE_BOOK, secret=SECRET):
    frame = ran(step, frame, book, secret).after.frame
    given = frame.schema["id"] == pl.String and "id" in step.changes
    return frame.with_columns(pl.col("id") if given else pl.col("id").cast(pl.Int64)).sort("id")


@cache
def as_it_is(do, number):
    """What a step makes of the people; what is compared with it is made anew each time."""
    return released(lawful(do)[number], people())


def close(one, other):
    """Equal but for types and the last bits of sums."""
    assert set(one.columns) == set(other.columns)
    assert one.height == other.height
    for n in one.columns:
        a, b = one[n], other[n]
        assert a.is_null().to_list() == b.is_null().to_list()
        if a.dtype.is_numeric() and b.dtype.is_numeric():
            x, y = (s.cast(pl.Float64).fill_null(0).to_numpy() for s in (a, b))
            np.testing.assert_allclose(x, y, rtol=1e-6, atol=1e-6)  # a 32-bit float is that near
        else:
            assert a.cast(pl.String).to_list() == b.cast(pl.String).to_list()


def test_every_method_that_masks_is_held_to_them():
    assert {p.values[0] for p in cases(*MASKING) if not p.marks} == {n for n, m in methods().items() if m.masks}
    assert {*DRAWING} <= {*MASKING}


@each_step()
def test_columns_in_another_order_change_nothing(do, number):
    frame = people()
    close(as_it_is(do, number), released(lawful(do)[number], frame.select(frame.columns[::-1])))


IDS = {"String": pl.String, "Float64": pl.Float64, "Int16": pl.Int16}


@each_step_with("dtype", [*IDS], f"{HERE}::test_ids_of_another_type_change_nothing")
def test_ids_of_another_type_change_nothing(do, number, dtype):
    """Texts are in another order too."""
    frame = people().with_columns(pl.col("id").cast(IDS[dtype]))
    close(as_it_is(do, number), released(lawful(do)[number], frame))


@each_step()
def test_numbers_of_another_type_draw_the_same(do, number):
    """Values that 32 bits hold exactly by their shortest decimal, and whole numbers as floats."""
    frame, step = people().with_columns(pl.col("x", "y").round(2)), lawful(do)[number]
    other = frame.with_columns(pl.col("x", "y").cast(pl.Float32), pl.col("n").cast(pl.Int8))
    close(released(step, frame), released(step, other))


@each_step()
def test_categories_of_another_type_draw_the_same(do, number):
    codes = pl.col("g").replace_strict({"a": 7, "b": 12}), pl.col("h").replace_strict({"u": 9, "v": 10, "w": 11})
    step = lawful(do)[number]
    try:
        whole = released(step, people().with_columns(codes))
    except DataError:  # its parameters name categories that are no numbers
        return
    close(whole, released(step, people().with_columns(codes).with_columns(pl.col("g", "h").cast(pl.String))))


def stays(step, before, after):
    """Whether the disclosed strength is the same for both."""
    return before.disclosure == after.disclosure


@each_step(*DRAWING, every=True)
def test_with_one_person_less_everybody_elses_draws_stay_where_the_strength_does(do, number):
    step = lawful(do)[number]
    whole, less = (ran(step, f) for f in (people(), people().filter(pl.col("id") != WHO)))
    if not stays(step, whole, less):
        return
    close(whole.after.frame.filter(pl.col("id") != WHO).sort("id"), less.after.frame.sort("id"))


def test_some_of_these_steps_keep_their_strength():
    less = people().filter(pl.col("id") != WHO)
    kept = [step for do in DRAWING for step in lawful(do) if stays(step, ran(step, people()), ran(step, less))]
    assert {step.name for step in kept} == {*DRAWING}


ALONE = {"k": 3, "rescale": False, "recentre": False, "round_to": None, "min_stratum": 6}
BLURRED = {**ALONE, "round_to": 1e-7}  # far less than the blur of 2,000 records in one column, whose sd is 2
VARIANTS = {  # one column's draws: what is drawn, what it is drawn around, and the same with another parameter
    "noise": (lambda c: Noise(columns=[c], sd=1.0), None, lambda c: Noise(columns=[c], sd=1.01)),
    "laplace": (
        lambda c: Noise(columns=[c], sd=1.0),
        None,
        lambda c: Noise(columns=[c], sd=1.0, distribution="laplace"),
    ),
    "pram": (lambda c: Pram(columns=[c], retention=0.5), None, lambda c: Pram(columns=[c], retention=0.51)),
    "blur": (
        lambda c: Centroids(columns=[c], blur=0.1, **BLURRED),
        lambda c: Centroids(columns=[c], **ALONE),
        lambda c: Centroids(columns=[c], blur=0.11, **BLURRED),
    ),
    "perturb": (
        lambda c: Swap(columns=[c], window=0.1, perturb=0.02),
        lambda c: Swap(columns=[c], window=0.1),
        lambda c: Swap(columns=[c], window=0.1, perturb=0.021),
    ),
}


def way(step, frame, column, around=None):
    """Which way each draw went: up or down, or whether it changed anything."""
    came = released(step, frame)[column]
    if came.dtype == pl.String:
        return (came != frame[column]).to_numpy().astype(float)
    centre = frame if around is None else released(around, frame)
    return np.sign(came - centre[column]).to_numpy()


@pytest.mark.parametrize("name", VARIANTS)
def test_another_parameter_a_new_name_and_a_corrected_value_draw_anew(name):
    """Signs of 2,000 draws: a correlation of 5 standard errors is .11, that of equal draws is 1."""
    make, around, other = VARIANTS[name]
    column, twin = ("g", "h") if name == "pram" else ("x", "y")
    frame = people(2000)
    renamed = frame.rename({column: twin, twin: column})

    def draws(made, table, c):
        return way(made(c), table, c, around and around(c))

    one = draws(make, frame, column)
    assert one.std() > 0
    others = {"parameter": draws(other, frame, column), "name": draws(make, renamed, twin)}
    if name != "pram":  # a category has no value beside it
        others["value"] = draws(make, frame.with_columns(pl.col(column) + 0.01), column)
    for changed, two in others.items():
        assert abs(np.corrcoef(one, two)[0, 1]) < 5 / np.sqrt(2000), changed
    np.testing.assert_array_equal(one, draws(make, frame, column))


def told_exactly(disclosure, column):
    """Whether a disclosure says that a second release tells a value exactly."""
    for part in disclosure.of(column):
        if isinstance(part, Swapped) and (part.perturb is None or PEOPLE_BOOK[column].kind == "categorical"):
            return True
        if isinstance(part, Averaged) and (part.moments == "exact" or not (part.rescaled and part.recentred)):
            return True  # exact moments; or sums of disjoint groups, but for what was rounded
        if isinstance(part, Averaged) and part.grouping == "variable" and part.left(True):
            return True  # groups far from who left stay as they were
        if isinstance(part, Shuffled | Exchanged):
            return True  # all values stay
    return False


LEAVING = (3, 17, 29, 41, 53, 67, 83, 97)


ATTACKED = "test_no_attack_returns_the_values_of_those_who_leave_but_where_the_disclosure_says_so"


@pytest.mark.few(10)
@telling_by_day(f"{HERE}::{ATTACKED}", *MASKING)
def test_no_attack_returns_the_values_of_those_who_leave_but_where_the_disclosure_says_so(do, number):
    """Within 1% by more than a single release tells; chance hits are a few per cent, of 8 people hardly 3."""
    frame, step = people(), lawful(do)[number]
    if not step.masks:  # it fills gaps
        return
    whole = ran(step, frame)
    out: dict[tuple[str, str | None], list[float]] = {}
    for i in LEAVING:
        less = ran(step, frame.filter(pl.col("id") != i))
        if i in set(less.after.frame["id"]) or i not in set(whole.after.frame["id"]):
            continue
        frames = [less.after.frame, whole.after.frame]
        told = tell_apart(frames, [frame, frame], [less.disclosure, whole.disclosure], PEOPLE_BOOK, "id")
        for line in findings(told).select("differencing", group="left"):
            if line.at in (None, 0.01) and not told_exactly(whole.disclosure, line.variable):
                own = out.setdefault((line.variable, line.attack), [0.0, 0.0])
                own[0] += line.value
                own[1] += line.baseline
    noisy = (Additive, Misclassified)
    for (column, attack), (found, alone) in out.items():
        parts = whole.disclosure.of(column)
        few = 3 if any(isinstance(part, noisy) for part in parts) else 4
        assert found <= alone + few, (column, attack)


# With what an earlier release disclosed


LEARNING = (*DRAWING, "centroids", "recode", "top_code")


def after(step, whole, frame):
    """A release of others that takes over what one disclosed, from its papers; and whether there was anything."""
    told = Disclosure.from_plain(json.loads(json.dumps(whole.disclosure.to_plain())))
    less = ran(step, frame, taking=Taking("same", (Published("then", "same", (step,), told),)))
    said = [warning for warning in less.steps[0].warnings if "taken over" in warning]
    return less, [isinstance(warning, Publishable) for warning in said]


@each_step(*LEARNING, every=True)
def test_with_what_an_earlier_release_disclosed_one_person_less_moves_nobodys_draws(do, number):
    """Values that were filled in from the data are others; and what was averaged with the one who left."""
    step, frame = lawful(do)[number], people()
    whole = ran(step, frame)
    rest = frame.filter(pl.col("id") != WHO)
    less, taken = after(step, whole, rest)
    if do in DRAWING:
        assert all(taken)
    if not all(taken) or (not taken and do not in DRAWING):
        return
    if do == "centroids":  # which strata are merged is not taken over
        one, two = (next(p for p in r.disclosure if isinstance(p, Averaged)) for r in (whole, less))
        assert (one.restored, one.rounded) == (two.restored, two.rounded)
        return
    assert less.disclosure == whole.disclosure
    there = rest.drop_nulls(step.columns) if getattr(step, "missing", "keep") != "keep" else rest
    frames = (each.after.frame.join(there.select("id"), on="id", how="semi").sort("id") for each in (whole, less))
    close(*frames)


def test_some_of_these_steps_would_move_everybody_without():
    frame = people()
    moved = {}
    for do in LEARNING:
        for step in lawful(do):
            whole, less = ran(step, frame), ran(step, frame.filter(pl.col("id") != WHO))
            if whole.disclosure != less.disclosure and all(after(step, whole, frame)[1]):
                moved[do] = moved.get(do, 0) + 1
    assert {"noise", "pram", "centroids"} <= {*moved}


@pytest.mark.parametrize(
    ("do", "number"), [(do, i) for do in DRAWING for i in range(how_many_lawful(do))] + [("centroids", 14)]
)
def test_no_attack_comes_nearer_to_who_leaves_than_the_earlier_release_did(do, number):
    """Of draws nobody else's moved, so that what comes out is what the one release says; averages do within 3 of 8."""
    step, frame = lawful(do)[number], people()
    whole = ran(step, frame)
    few = 0 if do in DRAWING else 3
    out: dict[tuple[str, str | None], list[float]] = {}
    for i in LEAVING:
        less, _ = after(step, whole, frame.filter(pl.col("id") != i))
        frames = [less.after.frame, whole.after.frame]
        told = tell_apart(frames, [frame, frame], [less.disclosure, whole.disclosure], PEOPLE_BOOK, "id")
        for line in findings(told).select("differencing", group="left"):
            own = out.setdefault((line.variable, line.attack, line.at), [0.0, 0.0])
            own[0] += line.value
            own[1] += line.baseline
    assert out or "dummies" in step.model_fields_set  # whose columns the people do not have
    assert not [key for key, (found, alone) in out.items() if found > alone + few]
