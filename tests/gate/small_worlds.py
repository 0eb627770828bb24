"""Small data sets of chance with levels, impossible combinations, versions; and requests about them."""

import numpy as np
import polars as pl

from sfumato.gate.decide import margin_of
from sfumato.gate.reading import records_of
from tests.gate.auditor import MISSING, Told, World
from tests.late import late

pd = late("pandas")

MOST_CELLS = 300  # of the table of all variables: the auditor's programs stay small


def small_world(rng, cohorts=False):
    """A world for the auditor; most have one version."""
    sizes, cells = [], 1
    for _ in range(int(rng.integers(1, 6))):
        size = int(rng.integers(2, 5))
        if cells * size <= MOST_CELLS:
            sizes.append(size)
            cells *= size
    names = [chr(ord("A") + i) for i in range(len(sizes))]
    people = int(rng.integers(4, 90))
    chance = [rng.dirichlet(np.full(size, rng.choice([0.4, 1.0, 5.0]))) for size in sizes]
    frame = pd.DataFrame(
        {n: rng.choice(np.arange(1, s + 1), people, p=p) for n, s, p in zip(names, sizes, chance, strict=True)}
    )
    for _ in range(int(rng.integers(0, 3)) if len(names) > 1 else 0):  # dependence
        a, b = rng.choice(names, 2, replace=False)
        moved = rng.random(people) < 0.6
        frame.loc[moved, b] = np.minimum(frame.loc[moved, a], sizes[names.index(b)])
    frame = frame.astype(dict.fromkeys(names, object))
    if rng.random() < 0.2:  # missing values of one variable
        frame.loc[rng.random(people) < 0.2, names[0]] = None
    if rng.random() < 0.15:
        frame["cost"] = rng.choice([5, 10, 20], people)
    elif rng.random() < 0.1:
        frame["cost"] = np.arange(people) + 100
    versions = {"v1": frame}
    several = rng.random()
    if several < 0.3:
        frame["id"] = np.arange(people)
        for i in range(2 if several < 0.06 else 1):
            versions[f"v{i + 2}"] = _next(rng, versions[f"v{i + 1}"], names, 1000 * (i + 1))
    count = None
    if "cost" not in frame and rng.random() < 0.5:
        count = "n"
        versions = {name: _counted(one, names, rng) for name, one in versions.items()}
    world = World(versions, count)
    world.levels = _levels(rng, world)
    if cohorts and len(names) > 1:
        a, b = (str(x) for x in rng.choice(names, 2, replace=False))
        world.cohorts = {"made": ((a, b), _equal)}
        world = World(versions, count, world.levels, (), world.cohorts)
    world.never = _never(rng, world)
    return world


def ruled_world(rng):
    """A world with many combinations that cannot be, which hang together."""
    sizes = [int(rng.integers(2, 4)) for _ in range(int(rng.integers(2, 5)))]
    names = [chr(ord("A") + i) for i in range(len(sizes))]
    people = int(rng.integers(5, 60))
    frame = pd.DataFrame({n: rng.choice(np.arange(1, s + 1), people) for n, s in zip(names, sizes, strict=True)})
    never = []
    for _ in range(int(rng.integers(1, 5))):
        own = rng.choice(names, min(len(names), int(rng.choice([2, 2, 3]))), replace=False)
        one = {str(n): int(rng.integers(1, sizes[names.index(n)] + 1)) for n in own}
        out = np.logical_and.reduce([frame[n] == code for n, code in one.items()])
        if not out.all():
            frame, never = frame[~out].reset_index(drop=True), [*never, one]
    count = "n" if rng.random() < 0.5 else None
    frame = frame.astype(object)
    world = World({"v1": _counted(frame, names, rng) if count else frame}, count)
    world.levels = _levels(rng, world)
    texts = [{n: str(code) for n, code in one.items()} for one in never]
    world.never = tuple(one for one in texts if all(code in world.codes[n] for n, code in one.items()))
    return world


def ringed_world(rng):
    """A world of full cells, of which pairs can be asked for: margins that hang together in rings."""
    sizes = [int(rng.integers(2, 4)) for _ in range(int(rng.integers(3, 6)))]
    names = [chr(ord("A") + i) for i in range(len(sizes))]
    cells = np.indices(sizes).reshape(len(sizes), -1)
    frame = pd.DataFrame({name: (cells[i] + 1).astype(str) for i, name in enumerate(names)}).astype(object)
    frame["n"] = rng.poisson(rng.gamma(1.5, rng.choice([1.0, 3.0]), len(frame)))
    world = World({"v1": frame}, "n")
    world.levels = _levels(rng, world)
    world.never = _never(rng, world)
    return world


def _equal(x, y):
    return MISSING if MISSING in (x, y) else str(x == y).lower()


def _next(rng, frame, names, first):
    """A later version: some leave, some come, some are corrected."""
    kept = frame[rng.random(len(frame)) >= rng.choice([0.0, 0.1, 0.3])].copy()
    if not len(kept):
        kept = frame.copy()
    changed = np.flatnonzero(rng.random(len(kept)) < rng.choice([0.0, 0.1, 0.3]))
    for row in changed:
        name = rng.choice(names)
        kept.iloc[row, kept.columns.get_loc(name)] = frame[name].iloc[int(rng.integers(len(frame)))]
    new = frame.iloc[rng.integers(0, len(frame), int(rng.choice([0, 3, 12])))].copy()
    new["id"] = np.arange(first, first + len(new))
    if "cost" in new and len(frame["cost"].unique()) > 3:
        new["cost"] = new["cost"] + first
    return pd.concat([kept, new], ignore_index=True)


def _counted(frame, names, rng):
    told = frame.groupby(names, dropna=False).size().rename("n").reset_index()
    told = told.astype(dict.fromkeys(names, object)).where(lambda t: t.notna(), None)
    return told.astype({"n": int}).sample(frac=1, random_state=int(rng.integers(1 << 30)))


def _levels(rng, world):
    out = {}
    for name in world.names:
        codes = [c for c in world.codes[name] if c != MISSING]
        if name == "cost" or len(codes) < 3 or rng.random() < 0.4:
            continue
        for level in ("p", "q")[: int(rng.integers(1, 3))]:  # two that need not nest
            groups = rng.integers(0, 2, len(codes))
            out.setdefault(name, {})[level] = {c: f"g{g}" for c, g in zip(codes, groups, strict=True)}
    return out


def _never(rng, world):
    """Pairs and triples that nobody has."""
    names = [n for n in world.names if n != "cost" and n not in world.cohorts]
    if len(names) < 2 or rng.random() < 0.6:
        return ()
    out = []
    for _ in range(12):
        own = [str(n) for n in rng.choice(names, min(len(names), int(rng.choice([2, 2, 2, 3]))), replace=False)]
        one = {n: str(rng.choice(world.codes[n])) for n in own}
        held = any(
            np.logical_and.reduce([frame[n] == c for n, c in one.items()])[
                frame[world.count] > 0 if world.count else slice(None)
            ].any()
            for frame in world.texts.values()
        )
        if not held and one not in out and len(out) < 4:
            out.append(one)
    return tuple(out)


def some_table(rng, world):
    """A request of chance."""
    names = [n for n in world.names if n != "cost"]
    by = set()
    for name in rng.choice(names, int(rng.integers(0, min(3, len(names)) + 1)), replace=False):
        own = [None, *world.levels.get(name, {})]
        for level in rng.choice(np.array(own, dtype=object), 1 if rng.random() < 0.8 else min(2, len(own)), False):
            by.add((str(name), level))
    value = "cost" if "cost" in world.names and rng.random() < 0.4 else None
    version = str(rng.choice(sorted(world.versions)))
    return Told(tuple(sorted(by, key=str)), value, version)


def some_pair(rng, world):
    """A request for two variables, most by their own codes."""
    by = []
    for name in rng.choice(world.names, 2, replace=False):
        levels = list(world.levels.get(name, {})) if rng.random() < 0.2 else []
        by.append((str(name), str(rng.choice(levels)) if levels else None))
    return Told(tuple(sorted(by, key=str)))


def coded(world, rng=None):
    """The same as the gate reads it; with rows in another order where a source of chance is given."""
    frames = []
    for name in sorted(world.versions):
        frame = world.versions[name]
        if rng is not None:
            frame = frame.sample(frac=1, random_state=int(rng.integers(1 << 30)))
        columns = {c: frame[c].tolist() for c in frame.columns if c != "id" or len(world.versions) > 1}
        frames.append((name, pl.DataFrame(columns)))
    record = "id" if len(frames) > 1 and world.count is None else None
    if record is None:
        frames = [(name, frame.drop("id", strict=False)) for name, frame in frames]
    return records_of(
        frames[0][1],
        count=world.count,
        record=record,
        levels=world.levels,
        never=world.never,
        cohorts={name: " == ".join(sources) for name, (sources, _) in world.cohorts.items()},
        versions=frames[1:],
    )


def asked(records, told):
    """The request as the gate reads it."""
    return margin_of(told.text, records, told.version)
