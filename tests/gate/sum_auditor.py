"""An auditor of sums who knows nothing of this project: raw records, what was told, linear programs.

He was told counts and sums by groups. He knows that contributions are no less than 0 (or lie in a range of the
codebook), in which cells of the joint table somebody can be, and which numbers add up. Of every group of people whom
few make up he asks how large its sum can be: where that is less than the rules on shares ask for, he estimates somebody
too closely.
"""

from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations, product

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import csr_array, hstack, vstack
from scipy.sparse import eye_array as eye

from tests.late import late

pd = late("pandas")

MISSING = "(missing)"
_LIFE = "in which versions"
P10 = (("p", 10.0),)
BOTH = (("p", 10.0), ("nk", 2, 90.0))


@dataclass
class Costs:
    """What is true, and what everybody knows beside.

    `versions`: by name a frame of codes as texts and numbers, with `id` where there are several; `numbers`: the columns
    that are summed; `levels`: by variable and level the group of each code; `never`: codes by variable that cannot be
    together; `ranges`: by number the least and the most that it can be; `adds`: lists of (sign, number) whose sum is 0.
    """

    versions: dict
    numbers: tuple
    levels: dict = field(default_factory=dict)
    never: tuple = ()
    ranges: dict = field(default_factory=dict)
    adds: tuple = ()

    @cached_property
    def names(self):
        return [c for c in next(iter(self.versions.values())).columns if c != "id" and c not in self.numbers]

    @cached_property
    def codes(self):
        every = pd.concat(self.versions.values())
        return {n: sorted(every[n].unique()) for n in self.names}

    def group(self, node, code):
        variable, level = node
        return code if level is None else self.levels[variable][level].get(code, MISSING)

    def states(self, versions):
        """Rows, each once for as long as it stays as it is, and the versions that it stands in."""
        parts = [self.versions[v].assign(**{_LIFE: v}) for v in versions]
        if len(versions) == 1:
            return parts[0].assign(**{_LIFE: [frozenset(versions)] * len(parts[0])})
        every = pd.concat(parts)
        own = [c for c in every.columns if c != _LIFE]
        return every.groupby(own, dropna=False)[_LIFE].agg(frozenset).reset_index()


@dataclass(frozen=True)
class _Program:
    """Equations over sums of numbers in open cells, and over people where a range binds them."""

    numbers: list
    held: dict  # by number the cells that it has a variable for
    starts: dict
    people: object
    first: int  # where people begin
    equal: object
    right: object
    sums: object  # which equations say what was told of sums
    less: object
    bounds: object


class SumJoint:
    """The joint table of what was told: who can be in it, and how large sums of its cells can be."""

    def __init__(self, world, told, everywhere=False):
        """`everywhere`: the attacker knows of each joint cell whether somebody is in it."""
        self.world, self.everywhere = world, everywhere
        self.versions = sorted({one.version for one in told})
        rows = world.states(self.versions)
        self.summed = sorted({one.value for one in told if one.value is not None})
        self.told = [(one, self._nodes(one)) for one in told]
        every = sorted({n for _, nodes in self.told for n in nodes}, key=str)
        self.axes = {}  # by variable its nodes, and the lists of groups that its codes are in
        for node in every:
            self.axes.setdefault(node[0], []).append(node)
        groups = [sorted({self._groups(code, own) for code in self._codes(v)}) for v, own in self.axes.items()]
        cells = list(product(*groups))
        place = {cell: i for i, cell in enumerate(cells)}
        self.nodes = [n for own in self.axes.values() for n in own]
        flat = [[g for part in cell for g in part] for cell in cells]
        self.label = {n: [line[i] for line in flat] for i, n in enumerate(self.nodes)}
        codes = {v: self._column(rows, v) for v in self.axes}
        self.at = np.array(
            [place[tuple(self._groups(codes[v][i], own) for v, own in self.axes.items())] for i in range(len(rows))],
            dtype=int,
        )
        self.people = np.bincount(self.at, minlength=len(cells))
        self.rows, self.cells = rows, len(cells)
        self.open = self._open(cells)

    def _codes(self, variable):
        if isinstance(variable, tuple):  # whether a number is known
            return [False, True]
        if variable == _LIFE:
            lives = product((False, True), repeat=len(self.versions))
            return [frozenset(v for v, has in zip(self.versions, own, strict=True) if has) for own in lives if any(own)]
        return self.world.codes[variable]

    def _column(self, rows, variable):
        if isinstance(variable, tuple):
            return (~rows[variable[1]].isna()).tolist()
        return rows[variable].tolist()

    def _groups(self, code, nodes):
        return tuple(self._group(code, node) for node in nodes)

    def _group(self, code, node):
        if isinstance(node[0], tuple):
            return str(code)
        if node[0] == _LIFE:
            return str(node[1] in code)
        return self.world.group(node, code)

    def _nodes(self, one):
        """A sum is told with how many have a value; two versions are told with who is in both."""
        nodes = set(one.by)
        if one.value is not None and self._lacks(one.value):
            nodes.add((("known", one.value), None))
        if len(self.versions) > 1:
            nodes.add((_LIFE, one.version))
        return sorted(nodes, key=str)

    def _lacks(self, number):
        return any(frame[number].isna().any() for frame in self.world.versions.values())

    def _sides(self, nodes):
        """Which cells lie together in a margin: a line of ones for each of its cells."""
        keys = list(zip(*(self.label[n] for n in nodes), strict=True)) if nodes else [()] * self.cells
        number = {key: i for i, key in enumerate(dict.fromkeys(keys))}
        at = [number[key] for key in keys]
        return csr_array((np.ones(self.cells), (at, np.arange(self.cells))), shape=(len(number), self.cells))

    def _possible(self, cells):
        ruled = sorted({v for never in self.world.never for v in never})
        shared = [v for v in ruled if v in self.axes]
        if not shared:
            return np.ones(len(cells), dtype=bool)
        can = set()
        for codes in product(*(self.world.codes[v] for v in ruled)):
            row = dict(zip(ruled, codes, strict=True))
            if not any(all(row[v] == c for v, c in never.items()) for never in self.world.never):
                can.add(tuple(self._groups(row[v], self.axes[v]) for v in shared))
        at = [list(self.axes).index(v) for v in shared]
        return np.array([tuple(cell[i] for i in at) in can for cell in cells])

    def _open(self, cells):
        """Where somebody can be: the largest support of all tables with these counts, in one program."""
        if self.everywhere:
            return self.people > 0
        possible = self._possible(cells)
        assert possible[self.people > 0].all()
        matrix = vstack([self._sides(nodes) for _, nodes in self.told] + [self._sides([])]).tocsr()
        right = matrix @ self.people
        closed = (matrix.T @ (right == 0)) > 0
        keep = np.flatnonzero(possible & ~closed)
        # people >= part, part <= 1; counts may be made larger all alike: then a cell that can have somebody has one
        lines, many = matrix[:, keep], len(keep)
        equal = hstack([lines, csr_array((lines.shape[0], many)), csr_array(-right[:, None].astype(float))])
        less = hstack([-eye(many), eye(many), csr_array((many, 1))])
        bounds = [(0, None)] * many + [(0, 1)] * many + [(1, None)]
        cost = np.concatenate([np.zeros(many), -np.ones(many), [0]])
        found = linprog(cost, less, np.zeros(many), equal, np.zeros(equal.shape[0]), bounds, method="highs")
        assert found.status == 0, found.message
        out = np.zeros(len(cells), dtype=bool)
        out[keep[found.x[many : 2 * many] > 0.5]] = True
        assert out[self.people > 0].all()
        return out

    @cached_property
    def _program(self):
        """The sums as equations, a variable for each number and each open cell of people who have it."""
        numbers = sorted({*self.summed, *(n for own in self.world.adds for _, n in own if self._follows(own))})
        counted = any(n in self.world.ranges for n in numbers)
        starts, held, at = {}, {}, 0
        for n in numbers:
            known = (("known", n), None)
            has = np.array([x == "True" for x in self.label[known]]) if known in self.label else True
            held[n] = np.flatnonzero(self.open & has)
            starts[n], at = at, at + len(held[n])
        people = np.flatnonzero(self.open)
        first, at = at, at + (len(people) if counted else 0)
        blocks, right, sums = [], [], []

        def block(lines, own, start):
            part = lines[:, own].tocoo()
            return csr_array((part.data, (part.row, part.col + start)), shape=(lines.shape[0], at))

        for one, nodes in self.told:
            lines = self._sides(nodes)
            if one.value is not None:
                value = np.nan_to_num(self.rows[one.value].to_numpy(dtype=float))
                blocks.append(block(lines, held[one.value], starts[one.value]))
                right.append(lines @ np.bincount(self.at, weights=value, minlength=self.cells))
                sums.append(np.ones(lines.shape[0], dtype=bool))
            if counted:
                blocks.append(block(lines, people, first))
                right.append(lines @ self.people)
                sums.append(np.zeros(lines.shape[0], dtype=bool))
        for own in self.world.adds:
            if self._follows(own):
                both = sorted(set.intersection(*(set(held[n]) for _, n in own)))
                place = {n: {c: i for i, c in enumerate(held[n])} for _, n in own}
                entries = [
                    (float(sign), i, starts[n] + place[n][cell]) for sign, n in own for i, cell in enumerate(both)
                ]
                data, row, col = zip(*entries, strict=True)
                blocks.append(csr_array((data, (row, col)), shape=(len(both), at)))
                right.append(np.zeros(len(both)))
                sums.append(np.zeros(len(both), dtype=bool))
        less = []
        for n in numbers:
            if n in self.world.ranges:
                low, high = self.world.ranges[n]
                of = {c: i for i, c in enumerate(people)}
                many = len(held[n])
                row, mine = np.arange(many), starts[n] + np.arange(many)
                them = first + np.array([of[c] for c in held[n]], dtype=int)
                for sign, end in ((-1, low), (1, high)):
                    less.append(
                        csr_array(
                            (
                                np.concatenate([np.full(many, sign), np.full(many, -sign * end)]),
                                (np.concatenate([row, row]), np.concatenate([mine, them])),
                            ),
                            shape=(many, at),
                        )
                    )
        lower = np.zeros(at)
        for n in numbers:
            if n in self.world.ranges:
                lower[starts[n] : starts[n] + len(held[n])] = -np.inf
        equal = vstack(blocks).tocsr()
        bounds = np.stack([lower, np.full(at, np.inf)], axis=1)
        few = vstack(less).tocsr() if less else None
        return _Program(
            numbers, held, starts, people, first, equal, np.concatenate(right), np.concatenate(sums), few, bounds
        )

    def _follows(self, own):
        """Whether numbers that add up have to do with what was told."""
        return any(n in self.summed for _, n in own) and all(n in self.world.numbers for _, n in own)

    def _most(self, cost, without_sums=False):
        """The most that something can be; endless where nothing bounds it."""
        program = self._program
        some = ~program.sums if without_sums else np.ones(len(program.right), dtype=bool)
        found = linprog(
            -cost,
            program.less,
            None if program.less is None else np.zeros(program.less.shape[0]),
            program.equal[some] if some.any() else None,
            program.right[some] if some.any() else None,
            program.bounds,
            method="highs",
        )
        if found.status == 3:
            return np.inf
        assert found.status == 0, found.message
        if not without_sums:
            self._seen.append(found.x)
        return -found.fun

    def refuted(self, rules=BOTH):
        """A group of which somebody is estimated too closely: number, end, cell, needed, most; None if there is none.

        What a range alone tells is no estimate that sums gave.
        """
        self._seen, asked = [], set()
        for number in self._program.numbers:
            ends = self._ends(number)
            for end, (size, edge) in ends.items():
                has = np.isfinite(size)
                assert (size[has] >= 0).all()
                for cell, mine in self._groups_of_people():
                    key = number, end, mine.tobytes()
                    needed = None if key in asked else _needed(size[has & mine[self.at]], rules)
                    asked.add(key)
                    if needed is None:
                        continue
                    cost = self._cost(number, mine, end, edge)
                    if end:
                        needed = min(needed, self._most(cost, without_sums=True))
                    room = 1e-6 * max(1.0, needed)
                    if any(cost @ x >= needed - room for x in self._seen):
                        continue
                    most = self._most(cost)
                    if most < needed - room:
                        return number, end, cell, float(needed), float(most)
        return None

    def _ends(self, number):
        """What is judged of a number, and the end of its range that it is seen from."""
        value = self.rows[number].to_numpy(dtype=float)
        if number not in self.world.ranges:
            return {"": (value, None)}
        low, high = self.world.ranges[number]
        return {"low": (value - low, low), "high": (high - value, high)}

    def _groups_of_people(self):
        """The cells of every margin of the joint table, each with the open joint cells that lie in it."""
        for many in range(len(self.nodes), -1, -1):
            for nodes in combinations(self.nodes, many):
                sides = self._sides(nodes)
                for line in range(sides.shape[0]):
                    own = sides.indices[sides.indptr[line] : sides.indptr[line + 1]]
                    mine = np.zeros(self.cells, dtype=bool)
                    mine[own] = self.open[own]
                    yield {str(m): self.label[m][own[0]] for m in nodes}, mine

    def _cost(self, number, mine, end, edge):
        """The sum of a number over some cells: of x, of x - low, or of high - x."""
        program = self._program
        own, start = program.held[number], program.starts[number]
        sign = -1.0 if end == "high" else 1.0
        cost = np.zeros(len(program.bounds))
        cost[start : start + len(own)] = sign * mine[own]
        if end:
            cost[program.first :] = -sign * edge * (mine[program.people] & np.isin(program.people, own))
        return cost

    def released_sensitive(self, rules=BOTH):
        """Whether a cell of a sum that was told is itself made up by few."""
        for one, nodes in self.told:
            if one.value is None:
                continue
            lines = self._sides(nodes).tocsc().indices[self.at]
            for size, _ in self._ends(one.value).values():
                for line in np.unique(lines):
                    if _needed(size[(lines == line) & np.isfinite(size)], rules) is not None:
                        return True
        return False


def _needed(size, rules):
    """How large the sum of some people must be able to be; None where no few of them make it up, or nobody does."""
    if not len(size) or size.max() <= 0:
        return None
    size = np.sort(size)[::-1]
    total = size.sum()
    needed = None
    for rule in rules:
        if rule[0] == "p":
            second = size[1] if len(size) > 1 else 0.0
            wanted = size[0] * (1 + rule[1] / 100) + second
        else:
            wanted = size[: rule[1]].sum() * 100 / rule[2]
        if total < wanted * (1 - 1e-9):
            needed = max(needed or 0.0, wanted)
    return needed
