"""Random tables of firms, and an auditor of unions that sees the published cells and the records alone."""

from __future__ import annotations

import itertools
import random

import polars as pl

CODES = {"act": {"Total": ["A", "B"], "A": ["a1", "a2", "a3"], "B": ["b1", "b2"]}, "geo": {"Total": ["g1", "g2", "g3"]}}
"""The parts of each code."""
PATHS = {"act": [("a1", "A"), ("a2", "A"), ("a3", "A"), ("b1", "B"), ("b2", "B")], "geo": [("g1",), ("g2",), ("g3",)]}


def firms(seed, holdings):
    """Records of firms that stand in several cells; some belong to holdings."""
    draw = random.Random(seed)
    rows = []
    for firm in range(draw.randint(14, 34)):
        owner = draw.choice([None, None, "h1", "h2", "h3"]) if holdings else None
        for _ in range(draw.choice([1, 1, 1, 2, 3])):
            act, geo = draw.choice(PATHS["act"])[0], draw.choice(PATHS["geo"])[0]
            rows.append(
                (f"f{firm}", owner, act, geo, float(draw.choice([3, 5, 8, 13, 40, 90, 300]) + draw.randint(0, 9)))
            )
    schema = {"firm": pl.String, "owner": pl.String, "act": pl.String, "geo": pl.String, "val": pl.Float64}
    return pl.DataFrame(rows, schema, orient="row")


class Auditor:
    """What everybody, and what each contributor, can add and subtract in the published cells.

    `published` maps codes to values, None where hidden. Sums of hidden cells come from one total and its parts; any
    hidden part that is a total may be replaced by its own hidden parts, in whatever way.
    """

    def __init__(self, records, published, holdings, rules):
        self.hidden = {cell for cell, value in published.items() if value is None}
        self.listed = set(published)
        self.rules = rules
        who = [owner if holdings and owner else firm for firm, owner in records.select("firm", "owner").iter_rows()]
        self.inside = {cell: {} for cell in self.listed}
        for name, act, geo, value in zip(who, *records.select("act", "geo", "val").get_columns(), strict=True):
            for cell in itertools.product(self._up("act", act), self._up("geo", geo)):
                if cell in self.inside:
                    self.inside[cell].setdefault((name, act, geo), 0.0)
                    self.inside[cell][name, act, geo] += value
        self.alone = {}
        for cell in self.hidden:
            names = {name for name, _, _ in self.inside[cell]}
            if len(names) == 1:
                self.alone.setdefault(names.pop(), set()).add(cell)

    @staticmethod
    def _up(axis, code):
        out = [code]
        while out[-1] != "Total":
            out.append(next(total for total, parts in CODES[axis].items() if out[-1] in parts))
        return out

    def equations(self, total):
        """The listed parts of a total, along each variable that splits it."""
        act, geo = total
        splits = [
            [(part, geo) for part in CODES["act"].get(act, [])],
            [(act, part) for part in CODES["geo"].get(geo, [])],
        ]
        return [[cell for cell in parts if cell in self.listed] for parts in splits if parts]

    def sets(self, most=3000):
        """Every set of hidden cells whose sum follows so."""
        begun = {
            frozenset(c for c in parts if c in self.hidden)
            for t in self.listed - self.hidden
            for parts in self.equations(t)
        }
        found, waiting = set(begun), list(begun)
        while waiting and len(found) < most:
            one = waiting.pop()
            for cell in one:
                for parts in self.equations(cell):
                    new = (one - {cell}) | {c for c in parts if c in self.hidden}
                    if new not in found:
                        found.add(new)
                        waiting.append(new)
        return [one for one in found if one]

    def unsafe(self, contributor):
        """The sets that a rule forbids: for everybody those of several cells; for each who is alone in some, the rest."""
        every = self.sets()
        out = [(one, None) for one in every if len(one) > 1 and self.forbidden(one)]
        if contributor:
            for one in every:
                for name, own in self.alone.items():
                    if own & one and one - own and self.forbidden(one - own):
                        out.append((one - own, name))
        return out

    def forbidden(self, cells):
        """n(3) or p(10), by the contributors of all the cells together."""
        held = {}
        for name, value in {key: value for cell in cells for key, value in self.inside[cell].items()}.items():
            held[name[0]] = held.get(name[0], 0.0) + value
        size = sorted(held.values(), reverse=True)
        few = 0 < len(size) < 3 and "n(3)" in self.rules
        close = "p(10)" in self.rules and size and sum(size[2:]) < 0.1 * size[0] - 1e-9 * sum(size)
        return bool(few or close)
