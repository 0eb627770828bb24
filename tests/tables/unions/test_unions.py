"""Unions against an auditor that sees published cells and records alone, and against a table worked by hand."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from sfumato.data.codebook import Codebook
from sfumato.data.hierarchy import Hierarchy
from sfumato.engines.polars import PolarsDataset
from sfumato.tables.build import build
from sfumato.tables.equations import equations
from sfumato.tables.judge import judge
from sfumato.tables.rules import read_rules
from sfumato.tables.suppress.choose import suppress
from sfumato.tables.unions import Unions
from sfumato.tables.unions.enforced import protected_against_unions, widened
from tests.tables.unions.auditor import PATHS, Auditor, firms

RULES = ["n(3)", "p(10)"]


class Case:
    """A judged table of firms, and what is asked of it."""

    def __init__(self, records, holdings, rules=RULES):
        self.records, self.holdings, self.rules = records, holdings, rules
        table = build(
            PolarsDataset(records, Codebook()),
            ["act", "geo"],
            "val",
            contributors="firm",
            holdings="owner" if holdings else None,
            hierarchies={"act": Hierarchy(tuple(PATHS["act"]))},
        )
        self.judged = judge(table, rules)
        self.merged = equations(self.judged)
        self.unions = Unions.of(self.judged, self.merged, read_rules(rules))
        self.primary = self.merged.gather([(self.judged.cells["status"] == "u").to_numpy()], "any") > 0

    def pattern(self, asked=()):
        value = self.merged.system.value
        own = [self.merged.gather([self.judged.column(f"{way}_level")], "max") for way in ("lower", "upper")]
        given = {
            "cost": value,
            "lower": np.zeros(len(value)),
            "upper": np.full(len(value), np.inf),
            "lower_level": own[0],
            "upper_level": own[1],
        }
        wide = widened(self.merged.system, self.primary, given, asked)
        return wide.narrowed(
            suppress(wide.system, wide.primary, method="flow", insiders=wide.insiders, **wide.given)
        )

    def hidden(self, found):
        return self.primary | found.secondary

    def auditor(self, found):
        (hidden,) = self.merged.spread(self.hidden(found), False)
        codes = self.judged.cells.select("act", "geo").rows()
        values = dict(zip(codes, self.judged.cells["val"].to_list(), strict=True))
        told = {cell: None if gone else values[cell] for cell, gone in zip(codes, hidden.tolist(), strict=True)}
        return Auditor(self.records, told, self.holdings, self.rules)


@pytest.mark.few(4)
@pytest.mark.parametrize("batch", range(20))
@pytest.mark.parametrize("holdings", [False, True])
def test_no_union_of_a_protected_table_is_unsafe(batch, holdings):
    found_any = 0
    for seed in range(5 * batch, 5 * batch + 5):
        case = Case(firms(seed, holdings), holdings)
        for contributor in (False, True):
            first = case.pattern()
            told = case.unions.judge(case.hidden(first), contributor)
            # what a rule forbids of any union, it forbids of one that is replaced to the end
            assert bool(told.unsafe) == bool(case.auditor(first).unsafe(contributor)), seed
            found_any += bool(told.unsafe)
            found, told, _ = protected_against_unions(
                case.pattern, lambda one, c=contributor, case=case: case.unions.judge(case.hidden(one), c)
            )
            assert not told.unsafe, seed
            assert case.auditor(found).unsafe(contributor) == [], seed
    assert found_any  # else nothing was seen


def weighted(seed):
    """Records of firms with sampling weights, some of which gave up protection; some owners hold several."""
    draw = np.random.default_rng(seed)
    records = firms(seed, True)
    return records.with_columns(
        pl.Series("weight", draw.choice([1.0, 1.0, 2.4, 3.0], records.height)),
        (pl.coalesce("owner", "firm").str.slice(1).cast(pl.Int64) % 3 == 1).cast(pl.Int64).alias("waived"),
    )


OPTIONS = [
    {"contributors": "firm", "holdings": "owner", "weight": "weight", "waived": "waived"},
    {"contributors": "firm", "waived": "waived"},
    {"weight": "weight"},  # each record is its own
    {"holdings": "owner", "waived": "waived"},
]


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("rules", ["n(3) or p(10)", "nk(2,85) and n(4)", "pq(20,60)"])
def test_a_union_is_judged_like_a_cell_that_is_built_of_its_records(options, rules):
    records = weighted(3)
    data, tree = PolarsDataset(records, Codebook()), {"act": Hierarchy(tuple(PATHS["act"]))}
    judged = judge(build(data, ["act", "geo"], "val", hierarchies=tree, **options), rules)
    merged = equations(judged)
    rule = read_rules(rules)
    unions = Unions.of(judged, merged, rule)
    every = replace(unions, rule=read_rules("n(1000)"), primary=np.ones(merged.system.size, dtype=bool))
    up = {place: judged.cells.select("act", "geo").row(i) for i, place in enumerate(merged.cell[0].tolist())}
    known = 0
    # any pattern shows unions, whether it protects or not
    for hidden in np.random.default_rng(5).random((4, merged.system.size)) < np.array([[0.2], [0.3], [0.5], [0.6]]):
        found = {union.name: union for union in unions.judge(hidden).unsafe}
        for union in (union for union in every.judge(hidden).unsafe if len(union.cells) > 1):
            own = records.filter(pl.any_horizontal(inside(*up[cell]) for cell in union.cells.tolist()))
            whole = PolarsDataset(own.with_columns(u=pl.lit("in")), Codebook())
            alone = judge(build(whole, ["u"], "val", **options), rules).cells.filter(u="in")
            assert (union.name in found) == (alone["status"].item() == "u")
            known += bool(len(union.known))
            if union.name in found:
                assert found[union.name].value == pytest.approx(alone["val"].item())
                assert found[union.name].upper_level == pytest.approx(alone["upper_level"].item())
                assert found[union.name].lower_level == pytest.approx(alone["lower_level"].item())
    assert known  # some were judged without what one contributor knows


def inside(act, geo):
    """The records of a cell."""
    below = {"A": ["a1", "a2", "a3"], "B": ["b1", "b2"], "Total": ["a1", "a2", "a3", "b1", "b2"]}
    return pl.col("act").is_in(below.get(act, [act])) & ((pl.col("geo") == geo) | pl.lit(geo == "Total"))
