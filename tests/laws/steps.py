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
    "swap": (3, 4, 6),  # at random, within a window, within groups
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


def telling_by_day(test, *names):
    """The telling steps, slow but for the first of a method; at night the others, for each of which that one stands in.

    Parameters
    ----------
    test
        The test's node id, without parameters.
    """
    out = []
    for do in names or methods():
        of = f"{test}[{do}-{telling(do)[0]}]"
        for case in cases(do):
            i = case.values[1]
            marks = case.marks if i in telling(do) else pytest.mark.nightly(of=of)
            out.append(pytest.param(do, i, id=f"{do}-{i}", marks=marks))
    return pytest.mark.parametrize(("do", "number"), out)


def each_step_with(name, values, test):
    """Every step with the first of several values, and those that tell most with each; the rest at night.

    Parameters
    ----------
    name
        Of the parameter beside `do` and `number`.
    values
        Of that parameter; with others than the first a case is slow.
    test
        The test's node id, without parameters.
    """
    out = []
    for case in cases():
        do, i = case.values
        for value in values:
            of = f"{test}[{case.id}-{values[0]}]"
            others = pytest.mark.slow if i in telling(do) else pytest.mark.nightly(of=of)
            out.append(
                pytest.param(do, i, value, id=f"{case.id}-{value}", marks=case.marks if value == values[0] else others)
            )
    return pytest.mark.parametrize(("do", "number", name), out)


def each_step(*names, every=False):
    """Parameters `do` and `number`; with `every`, where a case costs next to nothing, none is slow."""
    return pytest.mark.parametrize(("do", "number"), cases(*names, every=every))
