"""Dependences between columns by their definitions, in plain Python, for an auditor who knows nothing of this project.

Rows are dictionaries of codes and numbers; None is a missing value. What is found is a set of (kind, columns, told).
"""

from itertools import combinations, pairwise, permutations, product
from math import log

import numpy as np

from tests.gate.auditor import _LIFE, MISSING, Joint, text

MOST_CODES = 10_000
ERROR = 0.01


def variables_of(rows, many):
    """By name the codes of each row, and whether they are known: of each column but those with nearly one for each."""
    out = {}
    people = sum(many)
    for name in rows[0]:
        codes = [MISSING if row[name] is None else text(row[name]) for row in rows]
        told = {name: codes}
        if MISSING in codes:
            told[f"{name}@(known)"] = ["(missing)" if code == MISSING else "(known)" for code in codes]
        for one, own in told.items():
            held = {code for code, n in zip(own, many, strict=True) if n}
            if 2 <= len(held) <= min(MOST_CODES, people / 2):
                out[one] = own
    return out


def _base(name):
    return name.removesuffix("@(known)")


class _Seen:
    """Columns as numbers of those codes that somebody has; rows of nobody are left out."""

    def __init__(self, rows, many):
        self.many = np.array(many)[np.array(many) > 0]
        self.people = int(self.many.sum())
        own = variables_of(rows, many)
        self.names = list(own)
        held = {n: [code for code, m in zip(codes, many, strict=True) if m] for n, codes in own.items()}
        self.codes = {n: sorted(set(codes)) for n, codes in held.items()}
        place = {n: {code: i for i, code in enumerate(codes)} for n, codes in self.codes.items()}
        self.at = {n: np.array([place[n][code] for code in codes]) for n, codes in held.items()}

    def table(self, *names):
        """How many people each combination has."""
        sizes = [len(self.codes[n]) for n in names]
        at = np.ravel_multi_index([self.at[n] for n in names], sizes)
        return np.bincount(at, weights=self.many, minlength=int(np.prod(sizes))).reshape(sizes)

    def told(self, *names):
        """Whether each combination of the others that occurs has one code of the last."""
        return bool((np.count_nonzero(self.table(*names), axis=-1) <= 1).all())

    def never(self, a, b):
        """The combinations that nobody has where so many people were expected that it is no chance."""
        table = self.table(a, b)
        expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / self.people
        least = log(table.size * len(self.names) ** 2 / ERROR)
        return [(self.codes[a][i], self.codes[b][j]) for i, j in np.argwhere((table == 0) & (expected >= least))]


def dependences(rows, numbers=(), count=None):
    """All dependences of a data set: {(kind, columns, told)}; `count`: a column of how many people a row stands for."""
    many, rows = _apart(rows, count)
    seen = _Seen(rows, many)
    tells = {(a, b) for a, b in permutations(seen.names, 2) if _base(a) != _base(b) and seen.told(a, b)}
    out = {("tells", (a,), b) for a, b in tells}
    for a, b in combinations(seen.names, 2):
        if _base(a) == _base(b) or (a, b) in tells or (b, a) in tells:
            continue
        if seen.never(a, b):
            out.add(("never", (a, b), None))
        used = np.count_nonzero(seen.table(a, b))
        if max(len(seen.codes[a]), len(seen.codes[b])) > 100 or used >= 2000 or used > seen.people / 2:
            continue
        for c in seen.names:
            alone = _base(c) in (_base(a), _base(b)) or (a, c) in tells or (b, c) in tells or len(seen.codes[c]) > 100
            if not alone and seen.told(a, b, c):
                out.add(("tells_together", (a, b), c))
    codes = variables_of(rows, many)
    out |= {("band", (x,), b) for x in numbers for b in codes if _base(b) != x and _is_band(rows, many, x, codes[b])}
    out -= {("band", own, b) for kind, own, b in out if kind == "tells"}
    return out | {("adds", told, None) for told in adds(rows, numbers, many)}


def _apart(rows, count):
    return [row[count] if count else 1 for row in rows], [{n: x for n, x in row.items() if n != count} for row in rows]


def _is_band(rows, many, number, codes):
    """Whether the ranges of a number, by code, lie apart."""
    ends = {}
    for row, code, n in zip(rows, codes, many, strict=True):
        if n and row[number] is not None:
            low, high = ends.get(code, (row[number], row[number]))
            ends[code] = min(low, row[number]), max(high, row[number])
    held = sorted(ends.values())
    return len(held) > 1 and all(one[1] < other[0] for one, other in pairwise(held))


def adds(rows, numbers, many):
    """Three or four numbers of which one is the sum of the others, with signs, in every row that has them all."""
    every = np.array([[np.nan if row[n] is None else float(row[n]) for n in sorted(numbers)] for row in rows])
    every = every[np.array(many) > 0]
    out = {}
    for size in (3, 4):
        for own in combinations(range(every.shape[1]), size):
            if any(set(other) <= set(own) for other in out):
                continue
            value = every[:, own]
            value = value[np.isfinite(value).all(axis=1)]
            if len(value) < 2 * size:
                continue
            for signs in product((1, -1), repeat=size - 1):
                if _adds_up(value[:20], signs) and _adds_up(value, signs):
                    out[own] = signs
    names = sorted(numbers)
    return {tuple(names[i] for i in own) for own in out}


def _adds_up(value, signs):
    return bool((np.abs(value @ np.array([1, *signs])) <= 1e-9 * np.abs(value).max(axis=1).clip(1e-300)).all())


def impossible(rows, found, count=None):
    """What everybody knows that cannot be, by what was found: codes by column, as `World.never` has them."""
    many, rows = _apart(rows, count)
    seen = _Seen(rows, many)
    out = []
    for kind, own, told in found:
        if kind in ("tells", "tells_together"):
            table = seen.table(*own, told) > 0
            closed = np.argwhere(~table & table.any(axis=-1, keepdims=True))
            columns = [*own, told]
            out += [{n: seen.codes[n][i] for n, i in zip(columns, cell, strict=True)} for cell in closed]
        if kind == "never":
            out += [dict(zip(own, cell, strict=True)) for cell in seen.never(*own)]
    codes = variables_of(rows, many)
    return [plain for one in out for plain in _of_codes(one, codes)]


def _of_codes(never, codes):
    """Whether a value is known is said of the codes themselves."""
    lists = []
    for name, code in never.items():
        if name.endswith("@(known)"):
            own = sorted(set(codes.get(_base(name), ())))
            lists.append([(_base(name), c) for c in own if (c == MISSING) == (code == "(missing)")])
        else:
            lists.append([(name, code)])
    return [dict(pairs) for pairs in product(*lists)]


class Beside(Joint):
    """The joint table of one who knows what was found, in all versions together (at an empty name) and in each."""

    def __init__(self, world, told, rules):
        self.found = rules
        super().__init__(world, told)

    def _possible(self):
        own = {"": list(self.found.get("", ())), **{v: list(self.found.get(v, ())) for v in self.versions}}
        ruled = sorted({n for nevers in own.values() for never in nevers for n in never})
        shared = [v for v in ruled if v in self.variables]
        lives = self._codes(_LIFE) if _LIFE in self.variables else [frozenset(self.versions)]
        known = _LIFE in self.variables
        codes = {v: sorted(set(self.world.codes[v])) for v in ruled}
        can = set()
        for life in lives:
            nevers = [never for v in ("", *life) for never in own.get(v, ())]
            for line in product(*(codes[v] for v in ruled)):
                row = dict(zip(ruled, line, strict=True))
                if not any(all(row[v] == c for v, c in never.items()) for never in nevers):
                    cell = [self.part[v][row[v]] for v in shared] + ([self.part[_LIFE][life]] if known else [])
                    can.add(tuple(cell))
        at = [self.variables.index(v) for v in [*shared, *([_LIFE] if known else [])]]
        out = np.array([tuple(cell[i] for i in at) in can for cell in self.cells])
        assert out[self.true > 0].all()
        return out


def ruled(world):
    """What everybody may know: what the codebook says and what is found in all versions together, and in each."""
    names, count = world.names, world.count
    states = []
    for (codes, _), many in world.states(sorted(world.versions)).items():
        row = {n: _plain(c) for n, c in zip(names, codes, strict=True)}
        states += [row | {count: many}] if count else [row] * many
    out = {"": [*world.never, *_of_cohorts(world), *impossible(states, dependences(states, (), count), count)]}
    if len(world.versions) > 1:
        for version, frame in world.texts.items():
            columns = [*names, *([count] if count else [])]
            rows = [{n: _plain(x) for n, x in row.items()} for row in frame[columns].to_dict("records")]
            out[version] = impossible(rows, dependences(rows, (), count), count)
    return out


def _plain(code):
    return None if code == MISSING else code


def _of_cohorts(world):
    """Every combination of codes that gives another code of a cohort."""
    for cohort, (sources, rule) in world.cohorts.items():
        for codes in product(*(world.codes[s] for s in sources)):
            for code in set(world.codes[cohort]) - {rule(*codes)}:
                yield {**dict(zip(sources, codes, strict=True)), cohort: code}
