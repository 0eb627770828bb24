"""Plans whose whole outcome is recorded: one for each method, and one for each kind of pair that measures meet."""

from sfumato.data.roles import Role
from sfumato.methods.registry import methods
from sfumato.plan.plan import Plan
from tests.laws.steps import telling
from tests.methods.tables import PEOPLE_BOOK, lawful, people

N = 600
ROLES = {"h": Role.KEY, "town": Role.SENSITIVE, "y": Role.OUTCOME}
LIMITS = [
    {"measure": "k_anonymity", "at_least": 3},
    {"measure": "linkage_nearest", "at_most": 0.3},
    {"measure": "unchanged", "at_most": 0.9},
]
KINDS = {
    "strata and missing values": [{"do": "centroids", "columns": ["x", "n"], "by": ["g"], "k": 5}],
    "ids replaced": [
        {"do": "noise", "columns": ["x", "y"], "by": ["g"], "share": 0.2},
        {"do": "pseudonymise", "columns": ["id", "house"]},
    ],
    "records left out": [
        {"do": "noise", "columns": ["x"], "sd": 1},
        {"do": "suppress_strata", "by": ["h", "town"], "min_count": 40, "max_suppressed": 0.9},
    ],
    "copies": [{"do": "synthesise", "columns": ["x", "town"], "where": "x > 9", "copies": 2}],
    "whole copies": [{"do": "synthesise", "columns": ["x", "y", "g", "h", "town"], "copies": 1}],
    "households": [
        {"do": "swap_households", "geography": ["area"], "keys": ["g"], "k": 1, "similar": [["town"]], "rate": 0.3},
        {"do": "noise", "columns": ["rent"], "share": 0.1, "draw_by": "household"},
    ],
    "masked twice": [
        {"do": "top_code", "columns": ["y"], "quantile": 0.95},
        {"do": "noise", "columns": ["x", "y"], "share": 0.1},
        {"do": "suppress_cells", "keys": ["h", "area"], "k": 80},
        {"do": "pram", "columns": ["g"], "retention": 0.8},
    ],
    "nothing": [],
}
BY_DAY = ("noise", "pram", "centroids", "recode", "suppress_cells", "swap", "sample", *list(KINDS)[:3], "masked twice")
"""What is looked at at each change: between them these reach every form of a measure."""


def names():
    """Names of all plans: methods, and kinds of pairs."""
    return [*methods(), *KINDS]


def plan_of(name):
    """A plan, with limits on figures of several forms."""
    variables = {n: v.model_copy(update={"label": None}) for n, v in PEOPLE_BOOK.items()}
    variables |= {n: variables[n].model_copy(update={"role": role}) for n, role in ROLES.items()}
    steps = KINDS[name] if name in KINDS else [lawful(name)[telling(name)[0]]]
    return Plan(title="t", variables=variables, steps=steps, limits=LIMITS)


def table():
    """People, some with a missing code, some with nothing."""
    import polars as pl

    return people(N).with_columns(
        n=pl.when(pl.col("id") % 13 == 0).then(-9).otherwise("n"), h=pl.when(pl.col("id") % 17 != 0).then("h")
    )
