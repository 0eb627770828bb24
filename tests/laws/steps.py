"""The steps that the laws of methods are tried on: of each method one that tells most, and the others as repetition.

A method whose parameter chooses among ways of their own has a telling step for each way.
"""

import pytest

from sfumato.methods.registry import methods
from tests.methods.tables import how_many_lawful

TELLING = {
    "anonymise": (0, 1),  # the search of the whole; local recoding
    "centroids": (8, 9, 12, 14),  # each grouping; strata that are merged, values that are filled in, a blur
    "coarsen_date": (2,),
    "count_text": (1,),
    "impute": (1,),  # sums, whose last bits hang on orders
    "noise": (2, 3),  # strata and rounding; noise of several columns at once, and values that are missing
    "pram": (2,),
    "pseudonymise": (2,),  # ids are given, in an order that is drawn
    "recode": (4,),  # bands that are found from the data
    "sample": (1,),
    "shuffle": (1,),
    "swap": (3, 4),  # at random, and within a window
    "synthesise": (1, 4, 6),  # by trees in strata, by regressions, whole households
    "to_line": (2,),  # drawn among the lines within reach
    "to_polygon": (1,),
    "top_code": (1,),
    "typify": (1,),
}
"""Which of a method's lawful steps are tried at each change, where that is not the first."""


def telling(do):
    """The numbers of the steps of a method, one mostly, that are tried at each change."""
    return TELLING.get(do, (0,))


def cases(*names, every=False):
    """The lawful steps of all methods, or of some, by name and number; all but the telling ones are slow."""
    return [
        pytest.param(do, i, id=f"{do}-{i}", marks=() if every or i in telling(do) else pytest.mark.slow)
        for do in names or methods()
        for i in range(how_many_lawful(do))
    ]


def each_step(*names, every=False):
    """Parameters `do` and `number`; with `every`, where a case costs next to nothing, none is slow."""
    return pytest.mark.parametrize(("do", "number"), cases(*names, every=every))
