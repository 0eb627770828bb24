"""What a step asks and does can be sent to workers as Spark sends it, and does there what it does here."""

from dataclasses import dataclass

import pytest
from polars.testing import assert_frame_equal

from sfumato.data.query import Folded
from sfumato.draws import Draws
from sfumato.engines.polars import PolarsDataset
from sfumato.methods.registry import methods
from sfumato.release.run import run_steps
from tests.methods.tables import PEOPLE_BOOK, lawful, people
from tests.parts import needs

SECRET = bytes(range(32))
TABLE = people(150)


def sent(what):
    from pyspark import cloudpickle

    return cloudpickle.loads(cloudpickle.dumps(what))


@dataclass(frozen=True)
class Sending(PolarsDataset):
    """Functions come back as other objects, as they reach a worker."""

    def ask(self, query):
        return super().ask(sent(query) if isinstance(query, Folded) else query)

    def map(self, f, by=None, codebook=None):
        return super().map(sent(f), by, codebook)


@pytest.mark.slow
@needs("spark")
@pytest.mark.parametrize("name", methods())
def test_every_lawful_step_of_a_method_can_be_sent(name):
    for step in lawful(name):
        there, here = (
            run_steps([step], data(TABLE, PEOPLE_BOOK), Draws(SECRET)).after for data in (Sending, PolarsDataset)
        )
        assert_frame_equal(there.frame, here.frame, check_exact=True)
