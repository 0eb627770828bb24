"""Tables and runs that the tests of methods share."""

import importlib
from pathlib import Path

import numpy as np
import polars as pl

from sfumato.data.codebook import Codebook, Variable
from sfumato.draws import Draws
from sfumato.engines.polars import PolarsDataset
from sfumato.release.run import run_steps
from tests.places import lawful_layers_lie_there

BOOK = Codebook(
    {
        "age": Variable(kind="integer", missing=[-9]),
        "city": Variable(kind="categorical"),
        "size": Variable(kind="continuous"),
    }
)
FRAME = pl.DataFrame({"age": [20, 30, -9, 41], "city": ["a", "b", "a", None], "size": [1.5, None, float("nan"), 2.5]})

NUMBER = Variable(kind="continuous")
PEOPLE_BOOK = Codebook(
    {
        "id": Variable(role="record", kind="integer"),
        "x": NUMBER,
        "y": NUMBER,
        "n": Variable(kind="integer", missing=[-9]),
        "g": Variable(kind="categorical"),
        "h": Variable(kind="categorical"),
        "house": Variable(role="household", kind="integer"),
        "area": Variable(kind="categorical"),
        "town": Variable(kind="categorical"),
        "rent": NUMBER,
    }
)


def run(step, frame=FRAME, book=BOOK):
    """Run one step on a table of a few literal rows."""
    assert step.check(book) == []
    return run_steps([step], PolarsDataset(frame, book), Draws(bytes(16)))


def people(n=120, seed=1):
    """A table on which every method can run, see `tests/laws`."""
    rng = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "id": np.arange(n),
            "x": rng.normal(10, 2, n),
            "y": rng.lognormal(size=n),
            "n": rng.integers(20, 60, n),
            "g": rng.choice(["a", "b"], n),
            "h": rng.choice(["u", "v", "w"], n, p=[0.5, 0.4, 0.1]),
            "house": np.arange(n) // 3,
            "area": np.array(["north", "south"])[np.arange(n) // 3 % 2],
            "town": np.array(["P", "Q", "R"])[np.arange(n) // 3 * 5 % 7 % 3],
            "rent": (np.arange(n) // 3 * 37 % 100).astype(float),
        }
    )


def lawful(name):
    """The steps of a method on which the laws are tried: `LAWFUL` of its own test, with the files that they name."""
    steps = _lawful(name)
    lawful_layers_lie_there()
    return steps


def how_many_lawful(name):
    """How many these are, without a file."""
    return len(_lawful(name))


def _lawful(name):
    room = Path(__file__).parent / name
    module = f"tests.methods.{name}.test_method" if room.is_dir() else f"tests.methods.test_{name}"
    return importlib.import_module(module).LAWFUL
