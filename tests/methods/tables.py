"""Tables and runs that the tests of methods share."""

import importlib
from decimal import Decimal
from pathlib import Path

import polars as pl

from sfumato.data.codebook import Codebook, Variable
from sfumato.draws import Draws
from sfumato.engines.polars import PolarsDataset
from sfumato.release.run import run_steps
from sfumato.testing.tables import PEOPLE as PEOPLE_BOOK
from sfumato.testing.tables import people
from tests.places import lawful_layers_lie_there

__all__ = ["BOOK", "FRAME", "NUMBER", "PEOPLE_BOOK", "how_many_lawful", "lawful", "on_grid", "people", "run"]

BOOK = Codebook(
    {
        "age": Variable(kind="integer", missing=[-9]),
        "city": Variable(kind="categorical"),
        "size": Variable(kind="continuous"),
    }
)
NUMBER = Variable(kind="continuous")
FRAME = pl.DataFrame({"age": [20, 30, -9, 41], "city": ["a", "b", "a", None], "size": [1.5, None, float("nan"), 2.5]})


def run(step, frame=FRAME, book=BOOK):
    """Run one step on a table of a few literal rows."""
    assert step.check(book) == []
    return run_steps([step], PolarsDataset(frame, book), Draws(bytes(16)))


def on_grid(values, step):
    """Whether numbers are the doubles nearest to multiples of a decimal."""
    exact = Decimal(repr(step))
    return all(float(round(Decimal(v) / exact) * exact) == v for v in values)


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
