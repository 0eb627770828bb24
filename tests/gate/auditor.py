"""An auditor who knows nothing of this project: raw records, levels, what was told; programs in whole numbers.

What somebody was told is a list of `Told`. The auditor makes the joint table himself: along each variable the coarsest
grouping of its codes that tells every group that was named, and one axis more that says in which versions a row stands
once two versions are known. Then he asks of each cell how many people it can have at least and at most.
"""

from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise, product

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csr_array

from tests.late import late

pd = late("pandas")

MISSING = "(missing)"
FEW = 50
_LIFE = "in which versions"


@dataclass(frozen=True)
class Told:
    """A table: its nodes (variable, level or None), what is summed, the version."""

    by: tuple
    value: str | None = None
    version: str = "v1"

    @property
    def text(self):
        by = ",".join(f"{v}@{level}" if level else v for v, level in self.by)
        return f"{self.value}|{by}" if self.value else by


@dataclass
class World:
    """What is true, and what the codebook says to everybody.

    `versions`: by name a frame of variables, with `id` where there are several; `count`: a column of counts, or None;
    `levels`: by variable and level the group of each code; `never`: codes by variable that cannot be together;
    `cohorts`: by name the variables that it is made of, and a function of their codes.
    """

    versions: dict
    count: str | None = None
    levels: dict = field(default_factory=dict)
    never: tuple = ()
    cohorts: dict = field(default_factory=dict)

    @cached_property
    def texts(self):
        out = {}
        for name, frame in self.versions.items():
            told = frame.copy()
            for column in frame.columns:
                if column not in ("id", self.count):
                    told[column] = [MISSING if pd.isna(x) else text(x) for x in frame[column]]
            for cohort, (sources, rule) in self.cohorts.items():
                told[cohort] = [rule(*codes) for codes in told[list(sources)].itertuples(index=False)]
            out[name] = told
        return out

    @cached_property
    def names(self):
        return [c for c in next(iter(self.texts.values())).columns if c not in ("id", self.count)]

    @cached_property
    def codes(self):
        out = {n: sorted({x for frame in self.texts.values() for x in frame[n]}) for n in self.names}
        for cohort, (sources, rule) in self.cohorts.items():
            out[cohort] = sorted({rule(*codes) for codes in product(*(out[s] for s in sources))})
        return out

    def group(self, node, code):
        variable, level = node
        return code if level is None else self.levels[variable][level].get(code, MISSING)

    def states(self, versions):
        """Rows with codes, the versions each stands in as it is, and for how many people."""
        held = {}
        for name in versions:
            frame = self.texts[name]
            for row in frame.to_dict("records"):
                codes = tuple(row[n] for n in self.names)
                key = codes if self.count else (codes, row.get("id"))
                many = int(row[self.count]) if self.count else 1
                if self.count:
                    held.setdefault(key, dict.fromkeys(versions, 0))[name] += many
                elif len(versions) == 1:
                    held.setdefault((codes, None), {name: 0})[name] += 1
                else:
                    held.setdefault(key, dict.fromkeys(versions, 0))[name] += 1
        out = {}
        for key, each in held.items():
            codes = key if self.count else key[0]
            steps = sorted({0, *each.values()})
            for below, step in pairwise(steps):
                life = frozenset(v for v, many in each.items() if many >= step)
                out[codes, life] = out.get((codes, life), 0) + step - below
        return out


def text(x):
    return str(int(x)) if isinstance(x, float | np.floating) and float(x).is_integer() else str(x)


class Joint:
    """The joint table of what was told, and what its cells can be."""

    def __init__(self, world, told, has=None):
        """`has`: of all that was told, how many the attacker has; the cells are those of all."""
        self.world, self.has = world, len(told) if has is None else has
        self.versions = sorted({one.version for one in told})
        self.margins = [self._nodes(one, told) for one in told]
        self.variables = sorted({v for nodes in self.margins for v, _ in nodes})
        self.codes = {v: self._codes(v) for v in self.variables}
        self.part = {v: self._part(v) for v in self.variables}
        self.axes = [sorted(set(self.part[v].values())) for v in self.variables]
        self.cells = list(product(*self.axes))
        self.place = {cell: i for i, cell in enumerate(self.cells)}
        self.true = np.zeros(len(self.cells), dtype=int)
        at = {name: i for i, name in enumerate(world.names)}
        for (codes, life), many in world.states(self.versions).items():
            if life:
                own = [life if v == _LIFE else codes[at[v]] for v in self.variables]
                self.true[self.place[tuple(self.part[v][c] for v, c in zip(self.variables, own, strict=True))]] += many
        self.low, self.high = self.true.copy(), self.true.copy()  # tables that were seen
        self._program()

    def _nodes(self, one, told):
        nodes = {(v, level) for v, level in one.by}
        if one.value is not None and self._as_codes(one.value, told):
            nodes.add((one.value, None))
        if len(self.versions) > 1:
            nodes.add((_LIFE, one.version))
        return sorted((n for n in nodes if self._groups(n) > 1), key=str)

    def _groups(self, node):
        """How many groups a node has; one with a single group tells nothing that the codebook does not."""
        codes = self._codes(node[0])
        return len({self._group(node, code) for code in codes})

    def _as_codes(self, value, told):
        if len([c for c in self.world.codes[value] if c != MISSING]) <= FEW:
            return True
        made = {value, *(c for c, (sources, _) in self.world.cohorts.items() if value in sources)}
        return any(v in made for one in told for v, _ in one.by)

    def _codes(self, variable):
        if variable != _LIFE:
            return self.world.codes[variable]
        many = len(self.versions)
        lives = product((False, True), repeat=many)
        return [frozenset(v for v, has in zip(self.versions, life, strict=True) if has) for life in lives if any(life)]

    def _group(self, node, code):
        return (node[1] in code) if node[0] == _LIFE else self.world.group(node, code)

    def _part(self, variable):
        nodes = sorted({n for nodes in self.margins for n in nodes if n[0] == variable}, key=str)
        return {c: tuple(self._group(n, c) for n in nodes) for c in self.codes[variable]}

    def _program(self):
        rows, right = [], []
        for nodes in [*self.margins[: self.has], []]:
            sums = {}
            for i, cell in enumerate(self.cells):
                sums.setdefault(tuple(self._of_cell(n, cell) for n in nodes), []).append(i)
            rows += sums.values()
            right += [int(self.true[own].sum()) for own in sums.values()]
        matrix = np.zeros((len(rows), len(self.cells)))
        for i, own in enumerate(rows):
            matrix[i, own] = 1
        self.matrix, self.right = matrix, np.array(right)
        possible = self._possible()
        most = np.where(matrix > 0, self.right[:, None], np.inf).min(axis=0)
        self.bound = np.where(possible, most, 0)
        assert (self.true <= self.bound).all()
        keep = np.flatnonzero(self.bound > 0)
        self.kept = {int(cell): i for i, cell in enumerate(keep)}
        self.rules = LinearConstraint(csr_array(matrix[:, keep]), self.right, self.right)
        self.limits = Bounds(np.zeros(len(keep)), self.bound[keep])

    def _of_cell(self, node, cell):
        at = self.variables.index(node[0])
        code = next(c for c in self.codes[node[0]] if self.part[node[0]][c] == cell[at])
        return self._group(node, code)

    def _possible(self):
        """Cells in which a combination of codes of all variables lies that the codebook does not exclude."""
        told = {v for never in self.world.never for v in never}
        for cohort, (sources, _) in self.world.cohorts.items():
            told |= {cohort, *sources}
        if not told:
            return np.ones(len(self.cells), dtype=bool)
        names = sorted(told)
        shared = [v for v in names if v in self.variables]
        can = set()
        for codes in product(*(self.world.codes[v] for v in names)):
            row = dict(zip(names, codes, strict=True))
            if any(all(row[v] == c for v, c in never.items()) for never in self.world.never):
                continue
            if any(rule(*(row[s] for s in sources)) != row[c] for c, (sources, rule) in self.world.cohorts.items()):
                continue
            can.add(tuple(self.part[v][row[v]] for v in shared))
        at = [self.variables.index(v) for v in shared]
        return np.array([tuple(cell[i] for i in at) in can for cell in self.cells])

    def _end(self, cell, sign):
        if cell not in self.kept:
            return 0
        cost = np.zeros(len(self.kept))
        cost[self.kept[cell]] = -sign
        found = milp(cost, integrality=np.ones(len(cost)), bounds=self.limits, constraints=self.rules)
        assert found.status == 0, found.message
        table = np.zeros(len(self.cells))
        table[list(self.kept)] = np.rint(found.x)
        assert (self.matrix @ table == self.right).all()
        self.low, self.high = np.minimum(self.low, table), np.maximum(self.high, table)
        return int(table[cell])

    def ends(self, cell):
        """The least and the most that a cell can be."""
        return self._end(cell, -1), self._end(cell, 1)

    def wide(self, cell, width):
        """Whether they lie so far apart; tables that were seen before may show it."""
        if self.bound[cell] < width:
            return False
        for sign in (1, -1):
            if self.high[cell] - self.low[cell] >= width:
                break
            self._end(cell, sign)
        return bool(self.high[cell] - self.low[cell] >= width)

    def narrow(self, count, width):
        """The cells of 1 to `count` people that are too narrow."""
        small = np.flatnonzero((self.true >= 1) & (self.true <= count))
        return [int(cell) for cell in small if not self.wide(int(cell), width)]

    def interval_holds(self, count, width):
        small = np.flatnonzero((self.true >= 1) & (self.true <= count))
        return all(self.wide(int(cell), width) for cell in small)

    def attribution_holds(self, variables, rule):
        for variable in variables:
            if variable not in self.variables:
                continue
            at = self.variables.index(variable)
            groups = {}
            for i, cell in enumerate(self.cells):
                groups.setdefault(cell[:at] + cell[at + 1 :], []).append(i)
            for own in groups.values():
                if not self.true[own].sum():
                    continue
                wanted = len(own) if rule == "any" else 2
                can = sum(bool(self.high[i] >= 1 or self._end(i, 1) >= 1) for i in own)
                if can < wanted:
                    return False
        return True


def gives(world, told, asked):
    """Whether one table that was told gives what is asked by adding up its cells."""
    return any(_gives(world, one, asked) for one in told)


def _gives(world, one, asked):
    if one.version != asked.version:
        return False
    if asked.value is not None and one.value != asked.value and not _determines(world, one, (asked.value, None)):
        return False
    return all(_determines(world, one, node) for node in asked.by)


def _determines(world, one, node):
    """Whether the groups of a table tell the group of a node."""
    own = [n for n in one.by if n[0] == node[0]]
    seen = {}
    for code in world.codes[node[0]]:
        seen.setdefault(tuple(world.group(n, code) for n in own), set()).add(world.group(node, code))
    return all(len(groups) == 1 for groups in seen.values())
