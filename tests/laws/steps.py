"""The steps that the laws of methods are tried on: of each method one that tells most, and all others as repetition."""

import pytest

from sfumato.methods.registry import methods
from tests.methods.tables import how_many_lawful

TELLING = {
    "anonymise": (1,),  # local recoding, which starts from the search of the whole
    "centroids": (8, 12),  # strata that are merged, and a blur, in groups of k and of variable size
    "coarsen_date": (2,),
    "count_text": (1,),
    "impute": (1,),  # sums, whose last bits hang on orders
    "noise": (2, 3),  # strata and rounding; noise of several columns at once, and values that are missing
    "pram": (2,),
    "pseudonymise": (2,),  # ids are given, in an order that is drawn
    "recode": (4,),  # bands that are found from the data
    "sample": (1,),
    "shuffle": (1,),
    "swap": (4,),
    "synthesise": (1, 6),  # columns one after the other in strata; whole households
    "to_line": (1,),
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
