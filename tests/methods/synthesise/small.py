"""Tables, keys and syntheses that the tests of synthetic copies share."""

import datetime

import numpy as np
import polars as pl

from sfumato.data.codebook import Codebook, Variable
from sfumato.data.expression import parse
from sfumato.draws import Draws
from sfumato.methods.synthesise.coding import coding_of
from sfumato.methods.synthesise.copies import Ruled, Synthesis
from sfumato.methods.synthesise.model import Told

BOOK = Codebook(
    {
        "id": Variable(role="record", kind="integer"),
        "age": Variable(kind="integer"),
        "sex": Variable(kind="categorical"),
        "grade": Variable(kind="ordinal", order=["low", "mid", "high"]),
        "income": Variable(kind="continuous", missing=[-9, -8]),
        "born": Variable(kind="date"),
        "works": Variable(kind="categorical"),
        "town": Variable(kind="categorical"),
        "code": Variable(kind="categorical"),
    }
)


def survey(n=400, seed=1):
    """One column of each kind: missing codes, a spike, dates, truth values, a code and its label."""
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 80, n)
    town = rng.choice(["A", "B", "C"], n, p=[0.5, 0.3, 0.2])
    income = np.round(rng.lognormal(7, 0.5, n) + 10 * age, 1)
    income[rng.random(n) < 0.2] = 0.0
    income[rng.random(n) < 0.05] = -9.0
    income[rng.random(n) < 0.03] = -8.0
    return pl.DataFrame(
        {
            "id": rng.permutation(n),
            "age": age,
            "sex": rng.choice(["f", "m"], n),
            "grade": np.array(["low", "mid", "high"])[np.digitize(age + rng.normal(0, 20, n), [35, 60])],
            "income": income,
            "born": [datetime.date(2020, 1, 1) - datetime.timedelta(days=int(365.25 * a)) for a in age],
            "works": age < 65,
            "town": town,
            "code": np.array(["1", "2", "3"])[np.searchsorted(["A", "B", "C"], town)],
        }
    ).with_columns(sex=pl.when(pl.col("id") % 29 != 0).then("sex"))


def told(series, book=BOOK):
    """A column as models look at it."""
    return Told(*coding_of(series, book))


class PlainKeys:
    """Draws by a generator, each the same whenever it is asked for."""

    def __init__(self, rows, seed=1):
        self.rows, self.seed, self.weighted = rows, seed, []

    def _rng(self, *parts):
        return np.random.default_rng([self.seed, *("".join(map(str, parts)).encode())])

    def uniform(self, column, part, copy):
        return self._rng(column, part, copy).random(self.rows)

    def numbered(self, column, part, copy, many):
        return self._rng(column, part, copy, "numbered").random(many)

    def weights(self, copy):
        self.weighted.append(copy)
        return self._rng("weights", copy).exponential(size=self.rows)


def synthesis(columns, given=(), copies=1, **more):
    """Parameters as the step resolves them."""
    rules = tuple(Ruled(parse(condition), column, value) for condition, column, value in more.pop("rules", ()))
    rest = {"min_leaf": 5, "smooth": False, "proper": False, "strength": "x", "predictors": {}} | more
    return Synthesis("synthesise", tuple(columns), tuple(given), copies=copies, rules=rules, **rest)


def anew(frame, step, secret=bytes(16), rows=None, book=BOOK):
    """Copies whose rows are nobody's."""
    units = np.arange(1, (rows or frame.height) + 1, dtype=np.uint64)
    return step.copied(frame, book, Draws(secret), frame["id"].to_numpy().astype(np.uint64), units)


def replaced(frame, step, secret=bytes(16), book=BOOK):
    """Copies of the same people, with their ids."""
    ids = frame["id"].to_numpy().astype(np.uint64)
    return [c.with_columns(frame["id"]) for c in step.copied(frame, book, Draws(secret), ids, None)]
