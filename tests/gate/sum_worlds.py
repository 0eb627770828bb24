"""Small data sets of chance with sums, and what is told of them."""

import numpy as np
import polars as pl

from sfumato.data.codebook import Codebook, Variable
from sfumato.gate.decide import margin_of
from sfumato.gate.reading import records_of
from tests.gate.auditor import Told
from tests.gate.sum_auditor import Costs
from tests.late import late

pd = late("pandas")

OTHERS = 60
"""People of a version that nobody asks about: a number has so many values that its sums are no counts of them."""


def some_frame(rng, least=30, most=120, empty=(0.2, 0.4)):
    """The notes' cases: 2-4 variables of 2-3 codes, 30-120 people, some combinations empty."""
    sizes = rng.integers(2, 4, int(rng.integers(2, 5))).tolist()
    share = rng.exponential(size=sizes) ** rng.uniform(1, 3)
    if rng.random() < 0.7:
        share[rng.random(sizes) < rng.uniform(*empty)] = 0
    if not share.sum():
        share[...] = 1
    cells = rng.choice(share.size, int(rng.integers(least, most + 1)), p=(share / share.sum()).ravel())
    codes = np.unravel_index(cells, sizes)
    names = [chr(ord("A") + i) for i in range(len(sizes))]
    frame = pd.DataFrame({n: (own + 1).astype(str) for n, own in zip(names, codes, strict=True)}).astype(object)
    frame["cost"] = np.exp(rng.normal(0, rng.choice([0.3, 1, 2]), len(frame)))
    return frame


def some_sums(rng, names, value="cost", version="v1"):
    """One to three margins of sums, not the full one, and up to two of counts beside them."""
    some = [_by(rng, names, len(names) - 1) for _ in range(int(rng.integers(1, 4)))]
    counts = [_by(rng, names, len(names)) for _ in range(int(rng.integers(0, 3)))]
    return [Told(by, value, version) for by in dict.fromkeys(some)] + [
        Told(by, None, version) for by in dict.fromkeys(counts)
    ]


def _by(rng, names, most):
    own = rng.choice(names, int(rng.integers(1, most + 1)), replace=False)
    return tuple((str(n), None) for n in sorted(own))


def of_others(rng, frame, numbers=("cost",)):
    """People with other values: of a version of their own."""
    own = frame.iloc[rng.integers(0, len(frame), OTHERS)].copy()
    for name in numbers:
        own[name] = np.exp(rng.normal(0, 1, OTHERS))
    return own


def coded(world, others=None, **more):
    """As the gate reads it; `others`: people of a version that nobody asks about."""
    frames = [(name, world.versions[name]) for name in sorted(world.versions)]
    if others is not None:
        first = frames[0][1]
        if "id" not in first:
            frames[0] = frames[0][0], first.assign(id=[str(i) for i in range(len(first))])
        frames.append(("others", others.assign(id=[f"other {i}" for i in range(len(others))])))
    told = [(name, pl.DataFrame({c: _column(frame[c], c in world.numbers) for c in frame})) for name, frame in frames]
    if len(told) == 1:
        told = [(told[0][0], told[0][1].drop("id", strict=False))]
    book = {n: Variable(range=ends) for n, ends in world.ranges.items()}
    return records_of(
        told[0][1],
        Codebook(book) if book else None,
        record="id" if len(told) > 1 else None,
        levels=world.levels,
        never=world.never,
        versions=told[1:],
        **{"search": False, **more},
    )


def _column(column, number):
    values = column.tolist()
    return [None if x != x else float(x) for x in values] if number else values


def asked(records, told):
    """What was told, as the gate reads it."""
    return margin_of(told.text, records, told.version)


def some_world(rng):
    """A case of the notes: what is true, and what is told of it."""
    frame = some_frame(rng)
    names = [n for n in frame.columns if n != "cost"]
    return Costs({"v1": frame}, ("cost",)), some_sums(rng, names)


def hostile_world(rng):
    """A case with what sums may stumble over: missing values, levels, versions, ranges, numbers that add up."""
    frame = some_frame(rng, 40, 200, (0.2, 0.6))
    names = [n for n in frame.columns if n != "cost"]
    numbers, adds, ranges = ["cost"], (), {}
    if rng.random() < 0.3:
        frame["drugs"] = frame["cost"]
        frame["staff"] = np.exp(rng.normal(-1, 2, len(frame))) * (rng.random(len(frame)) < 0.4)
        frame["cost"] = frame["drugs"] + frame["staff"]
        numbers, adds = ["cost", "drugs", "staff"], (((1, "cost"), (-1, "drugs"), (-1, "staff")),)
    elif rng.random() < 0.3:
        low, high = float(np.floor(frame["cost"].min())), float(np.ceil(frame["cost"].max()))
        low, high = (low, high) if rng.random() < 0.5 else (0.0, 2 * high)
        ranges = {"cost": (low, high)}
        if rng.random() < 0.5:  # many near the upper end
            near = rng.random(len(frame)) < 0.5
            frame.loc[near, "cost"] = high - (high - frame.loc[near, "cost"]) * 0.03
    if rng.random() < 0.35:
        gone = rng.random(len(frame)) < rng.choice([0.03, 0.15, 0.4])
        frame.loc[gone, numbers] = np.nan
    versions, told_of = {"v1": frame}, ["v1"]
    if rng.random() < 0.25:
        frame["id"] = [str(i) for i in range(len(frame))]
        versions["v2"], told_of = _later(rng, frame, names, numbers), ["v1", "v2"]
    world = Costs(versions, tuple(numbers), {}, (), ranges, adds)
    if rng.random() < 0.35:
        world.levels = _levels(rng, world)
    told = []
    for version in told_of:
        for number in numbers if rng.random() < 0.7 else numbers[:2]:
            for one in [*some_sums(rng, names, number, version), *_of_all(rng, names, version)]:
                told.append(Told(_at_levels(rng, world, one.by), one.value, one.version))
    told = list(dict.fromkeys(told))
    if len(told) > 8:
        told = [told[i] for i in sorted(rng.choice(len(told), 8, replace=False))]
    return world, told


def _of_all(rng, names, version):
    """Counts by all variables, now and then: they tell every empty cell."""
    return [Told(tuple((n, None) for n in names), None, version)] if rng.random() < 0.4 else []


def _later(rng, frame, names, numbers):
    """Some leave, some come, some are corrected."""
    later = frame[rng.random(len(frame)) >= rng.choice([0.0, 0.1, 0.4])].copy()
    for row in np.flatnonzero(rng.random(len(later)) < rng.choice([0.0, 0.1])):
        name = rng.choice(names)
        later.iloc[row, later.columns.get_loc(name)] = frame[name].iloc[int(rng.integers(len(frame)))]
    new = frame.iloc[rng.integers(0, len(frame), int(rng.choice([0, 5, 30])))].copy()
    new["id"] = [f"new {i}" for i in range(len(new))]
    return pd.concat([later, new], ignore_index=True)


def _levels(rng, world):
    out = {}
    for name in world.names:
        if len(world.codes[name]) > 2 and rng.random() < 0.7:
            for level in ("p", "q")[: int(rng.integers(1, 3))]:
                out.setdefault(name, {})[level] = {c: f"g{int(rng.integers(0, 2))}" for c in world.codes[name]}
    return out


def _at_levels(rng, world, by):
    own = [
        (v, str(rng.choice([*world.levels[v]])) if v in world.levels and rng.random() < 0.5 else None) for v, _ in by
    ]
    return tuple(sorted(own, key=str))
