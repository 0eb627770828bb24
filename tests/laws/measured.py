"""Plans whose findings every engine must tell alike, and the table that they run on."""

import numpy as np
import polars as pl

from sfumato.data.codebook import Codebook
from sfumato.engines.polars import PolarsDataset
from sfumato.plan.plan import Plan
from sfumato.release.protect import protect
from sfumato.release.secret import Secret

SECRET = Secret(bytes(range(32)))
VARIABLES = {
    "id": {"role": "record", "kind": "integer"},
    "region": {"role": "key", "kind": "categorical"},
    "sex": {"role": "key", "kind": "categorical"},
    "edu": {"role": "key", "kind": "categorical"},
    "smoker": {"role": "sensitive", "kind": "categorical"},
    "bmi": {"role": "outcome", "kind": "continuous", "missing": [-9], "range": [10, 60]},
    "income": {"role": "other", "kind": "continuous"},
    "age": {"role": "other", "kind": "integer"},
}
PLANS = {
    "noise by region": (
        [{"do": "noise", "columns": ["bmi", "age"], "by": ["region"], "share": 0.2}],
        [
            {"measure": "k_anonymity", "group": "keys", "at_least": 3},
            {"measure": "linkage_nearest", "at_most": 0.3},
            {"measure": "replicated_uniques", "at_most": 0.1},
            {"measure": "disclosive_correct", "at_most": 0.1},
            {"measure": "table_ratio", "group": "two-way", "at_most": 3},
        ],
    ),
    "pram, local suppression": (
        [
            {"do": "pram", "columns": ["smoker"], "retention": 0.8},
            {"do": "suppress_cells", "keys": ["region", "sex", "edu"], "k": 10},
        ],
        [{"measure": "k_anonymity", "group": "keys", "at_least": 10}],
    ),
    "top coding": (
        [{"do": "top_code", "columns": ["income"], "quantile": 0.95, "replace": "mean", "k": 10}],
        [{"measure": "unchanged", "at_most": 0.99}],
    ),
    "centroids": (
        [
            {"do": "centroids", "columns": ["bmi", "income"], "by": ["region"], "k": 5},
            {"do": "suppress_strata", "by": ["region", "edu"], "min_count": 20, "max_suppressed": 0.5},
        ],
        [{"measure": "risk1", "at_most": 0.9}, {"measure": "il1s", "at_most": 9.0}],
    ),
    "exchanged in groups": (
        [
            {
                "do": "swap",
                "columns": ["region", "sex", "edu", "smoker", "bmi", "income", "age"],
                "group": 5,
                "perturb": 0.02,
                "together": [["bmi", "age"], ["sex", "edu"]],
            }
        ],
        [
            {"measure": "linkage_nearest", "group": "released", "at_most": 0.3},
            {"measure": "uniques_kept", "at_most": 0.05},
            {"measure": "inference", "group": "risk", "attack": "released", "at_most": 0.5},
        ],
    ),
    "exchanged in groups by sex, the rest unknown": (
        [
            {"do": "swap", "columns": ["region", "bmi", "income"], "group": 8, "by": ["sex"]},
            {"do": "suppress_strata", "by": ["edu"], "min_count": 20, "max_suppressed": 0.5},
        ],
        [{"measure": "uniques_kept", "at_most": 0.9}],
    ),
    "copies of some values": (
        [{"do": "synthesise", "columns": ["smoker", "income"], "where": "income > 20000", "copies": 2}],
        [{"measure": "disclosive_correct", "at_most": 0.2}],
    ),
}


def plan_of(name: str) -> Plan:
    steps, limits = PLANS[name]
    return Plan(variables=VARIABLES, steps=steps, limits=limits)


def table(n: int = 300) -> pl.DataFrame:
    """Made-up people: a code for missing, cells that are empty, ties, and one rare category."""
    rng = np.random.default_rng(11)
    bmi = rng.normal(27, 4, n).round(1)
    bmi[::29] = -9
    edu = rng.choice(["low", "mid", "high", "other"], n, p=[0.4, 0.35, 0.22, 0.03])
    return pl.DataFrame(
        {
            "id": np.arange(n) * 7 % 1009,
            "region": rng.choice(["N", "S", "W"], n),
            "sex": rng.choice(["f", "m"], n),
            "edu": [None if i % 31 == 0 else str(value) for i, value in enumerate(edu)],
            "smoker": rng.choice(["no", "yes", "was"], n, p=[0.6, 0.25, 0.15]),
            "bmi": bmi,
            "income": rng.lognormal(10, 0.6, n).round(-2),
            "age": rng.integers(18, 90, n),
        }
    )


def in_memory(name: str):
    """What memory finds."""
    return protect(plan_of(name), PolarsDataset(table(), Codebook()), SECRET).report.findings


def off_memory(name: str, data):
    """What is found of the same rows where an engine holds them."""
    return protect(plan_of(name), data, SECRET).report.findings


def differing(told, memory) -> list[object]:
    """The lines that are not in both, or are not told alike to 1e-9, and the notes that one alone has."""
    lines = [{(f.measure, f.variable, f.group, f.at, f.attack): f for f in found} for found in (told, memory)]
    assert len(told) == len(lines[0])
    assert len(memory) == len(lines[1])
    other = [key for key in lines[0].keys() & lines[1].keys() if not _alike(lines[0][key], lines[1][key])]
    return [*other, *(lines[0].keys() ^ lines[1].keys()), *({*told.notes} ^ {*memory.notes})]


def _alike(one, other) -> bool:
    said = (one.limit, one.ok) == (other.limit, other.ok) and (one.interval is None) == (other.interval is None)
    numbers = ((f.value, f.baseline, *(f.interval or ())) for f in (one, other))
    return said and all(_near(a, b) for a, b in zip(*numbers, strict=True))


def _near(a: float | None, b: float | None) -> bool:
    return a == b or (a is not None and b is not None and abs(a - b) <= 1e-9 * max(1.0, abs(b)))
