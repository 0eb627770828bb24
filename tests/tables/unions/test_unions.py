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
    """A judged table, its unions, and patterns that protect it."""

    def __init__(self, judged, rules=RULES):
        self.judged, self.rules = judged, rules
        self.merged = equations(judged)
        self.unions = Unions.of(judged, self.merged, read_rules(rules))
        self.primary = self.merged.gather([(judged.cells["status"] == "u").to_numpy()], "any") > 0
        self.cost = self.merged.gather([judged.values], "sum")

    def pattern(self, asked=()):
        levels = {n: self.merged.gather([self.judged.column(n)], "max") for n in ("lower_level", "upper_level")}
        free = {"lower": np.zeros(len(self.cost)), "upper": np.full(len(self.cost), np.inf)}
        wide = widened(self.merged.system, self.primary, {"cost": self.cost, **free, **levels}, asked)
        return wide.narrowed(suppress(wide.system, wide.primary, method="flow", insiders=wide.insiders, **wide.given))

    def hidden(self, found):
        return self.primary | found.secondary

    def auditor(self, records, holdings, found):
        (hidden,) = self.merged.spread(self.hidden(found), False)
        codes = self.judged.cells.select("act", "geo").rows()
        values = zip(codes, self.judged.values.tolist(), hidden.tolist(), strict=True)
        return Auditor(records, {cell: None if gone else value for cell, value, gone in values}, holdings, self.rules)


def of_firms(records, holdings):
    owners = {"holdings": "owner"} if holdings else {}
    tree = {"act": Hierarchy(tuple(PATHS["act"]))}
    table = build(PolarsDataset(records, Codebook()), "act,geo", "val", contributors="firm", hierarchies=tree, **owners)
    return Case(judge(table, RULES))


@pytest.mark.few(2)
@pytest.mark.parametrize("batch", range(20))
@pytest.mark.parametrize("holdings", [False, True])
def test_no_union_of_a_protected_table_is_unsafe(batch, holdings):
    found_any = 0
    for seed in range(5 * batch, 5 * batch + 5):
        records = firms(seed, holdings)
        case = of_firms(records, holdings)
        for contributor in (False, True):
            first = case.pattern()
            told = case.unions.judge(case.hidden(first), contributor)
            # what a rule forbids of any union, it forbids of one that is replaced to the end
            assert bool(told.unsafe) == bool(case.auditor(records, holdings, first).unsafe(contributor)), seed
            found_any += bool(told.unsafe)
            found, told, _ = protected_against_unions(
                case.pattern, lambda one, c=contributor, case=case: case.unions.judge(case.hidden(one), c)
            )
            assert not told.unsafe, seed
            assert case.auditor(records, holdings, found).unsafe(contributor) == [], seed
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


def town(rows, rules, **options):
    """A table by town, its unions and the place of each code."""
    records = pl.DataFrame(rows, schema=["town", "firm", "val"], orient="row")
    judged = judge(build(PolarsDataset(records, Codebook()), ["town"], "val", contributors="firm", **options), rules)
    merged = equations(judged)
    place = dict(zip(judged.cells["town"].to_list(), merged.cell[0].tolist(), strict=True))
    return Unions.of(judged, merged, read_rules(rules)), place


def hide(place, *codes):
    return np.isin(np.arange(len(place)), [place[code] for code in codes])


def test_contributors_are_merged():
    """x and y have 2 contributors each, both the same two: their sum is unsafe by n(3), but not with z of one more."""
    rows = [("x", "a", 5.0), ("x", "b", 6.0), ("y", "a", 7.0), ("y", "b", 1.0), ("z", "c", 4.0)]
    rows += [("w", firm, 9.0) for firm in "defg"]
    unions, place = town(rows, "n(3)")
    told = unions.judge(hide(place, "x", "y"), contributor=False)
    assert told.to_plain() == {"judged": 1, "unsafe": 1, "left": 0}
    assert told.unsafe[0].cells.tolist() == sorted([place["x"], place["y"]])
    assert (told.unsafe[0].value, len(told.unsafe[0].known)) == (19.0, 0)
    assert unions.judge(hide(place, "x", "y", "z"), contributor=False).unsafe == ()
    # c is alone in z, and takes it off
    inside = unions.judge(hide(place, "x", "y", "z"), contributor=True)
    assert inside.to_plain() == {"judged": 2, "unsafe": 1, "left": 0}
    assert inside.unsafe[0].cells.tolist() == sorted([place["x"], place["y"]])
    assert inside.unsafe[0].known.tolist() == [place["z"]]
    assert [cells.tolist() for _, cells in unions.alone(hide(place, "x", "z"))] == [[place["z"]]]


def test_levels_are_those_of_the_rule():
    """p(10) of 100, 4 and 1 in two towns: 10 less the 1 that blurs it. The firm of 100 is in both."""
    rows = [("x", "a", 60.0), ("x", "b", 4.0), ("y", "a", 40.0), ("y", "c", 1.0), ("z", "d", 9.0), ("z", "e", 9.0)]
    unions, place = town([*rows, ("z", "f", 9.0)], "p(10)")
    (union,) = unions.judge(hide(place, "x", "y"), contributor=False).unsafe
    assert (union.lower_level, union.upper_level) == (9.0, 9.0)
    unions, place = town([("x", "a", 3.0), ("y", "b", 1.0), ("z", "d", 90.0)], "nk(1,10)")
    (union,) = unions.judge(hide(place, "x", "y"), contributor=False).unsafe
    assert union.upper_level == pytest.approx(3 / 0.1 - 4)
    assert union.lower_level == 4.0  # no sum of positive values is below 0


def test_one_unsafe_cell_that_is_left_must_only_not_be_determined():
    rows = [("x", "a", 60.0), ("x", "b", 4.0), ("y", "c", 40.0), ("z", "d", 9.0), ("z", "e", 9.0)]
    unions, place = town(rows, "n(3,20)")
    left = [union for union in unions.judge(hide(place, "x", "y")).unsafe if len(union.known)]
    assert [(u.cells.tolist(), u.known.tolist(), u.upper_level) for u in left] == [([place["x"]], [place["y"]], 0.0)]


def test_counts_and_tables_without_records_have_none():
    records = PolarsDataset(pl.DataFrame({"town": ["a", "b"], "val": [1.0, 2.0]}), Codebook())
    rule = read_rules("n(3)")
    counts = judge(build(records, ["town"]), rule)
    sums = judge(build(records, ["town"], "val"), rule)
    assert Unions.of(counts, equations(counts), rule) is None
    assert Unions.of(sums, equations(sums), None) is None
    assert Unions.of(replace(sums, contributions=None), equations(sums), rule) is None
    assert Unions.of(sums, equations(sums), rule) is not None


def test_no_hidden_cell_is_no_union():
    unions, place = town([("x", "a", 3.0), ("y", "b", 1.0)], "n(3)")
    assert unions.judge(hide(place)).to_plain() == {"judged": 0, "unsafe": 0, "left": 0}
    assert unions.alone(hide(place)) == []


def test_figures_of_the_notes(shared_data):
    """Insee's firms, each record its own: value beside unsafe cells without, and with unions (notes, section 2)."""
    firms = PolarsDataset(pl.read_csv(shared_data / "tables" / "insee_indiv_dt.csv"), Codebook())
    judged = judge(build(firms, "A10>A21>A88,NUTS1>NUTS2", "TURNOVER"), RULES)
    case = Case(judged)
    assert round(case.cost[case.pattern().secondary].sum()) == 921_712
    found, told, asked = protected_against_unions(
        case.pattern, lambda one: case.unions.judge(case.hidden(one), contributor=False)
    )
    assert round(case.cost[found.secondary].sum()) == 939_913
    assert told.unsafe == ()
    assert len(asked) == 5
