"""Criteria on all that is kept: average risk, records that are unique in the sample or in the population."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from sfumato.kernels.lattice.criteria.criterion import SLACK, Ints, Overall

__all__ = ["AverageRisk", "PopulationUniques", "SampleUniques"]


@dataclass(frozen=True)
class AverageRisk(Overall):
    """Classes a record, 1 / (average class size), is at most `risk`: what a marketer's match is right by chance.

    It says nothing of single records, some of which may be unique. Where nothing is suppressed it only falls as keys
    are generalised; with suppression it need not, since what was suppressed comes back in small classes.

    Source: El Emam & Dankar (2008), doi:10.1197/jamia.M2716.

    Parameters
    ----------
    risk
        From 0 to 1.

    Examples
    --------
    >>> import numpy as np
    >>> AverageRisk(0.5).fails_all(np.array([1, 3])), AverageRisk(0.4).fails_all(np.array([1, 3]))
    (False, True)
    """

    risk: float
    falls: ClassVar[bool] = True

    def fails_all(self, sizes: Ints) -> bool:
        """Tell whether there are too many classes for so many records."""
        return len(sizes) > self.risk * int(sizes.sum()) * (1 + SLACK)


@dataclass(frozen=True)
class SampleUniques(Overall):
    """The share of kept records that are alone in their class is at most `share`.

    A record that is unique in the sample is not always so in the population, so this is on the safe side. Where nothing
    is suppressed it only falls as keys are generalised.

    Source: Elliot, Manning & Ford (2002), doi:10.1142/S0218488502001600.

    Parameters
    ----------
    share
        From 0 to 1.

    Examples
    --------
    >>> import numpy as np
    >>> SampleUniques(0.25).fails_all(np.array([1, 3])), SampleUniques(0.2).fails_all(np.array([1, 3]))
    (False, True)
    """

    share: float
    falls: ClassVar[bool] = True

    def fails_all(self, sizes: Ints) -> bool:
        """Tell whether too many records are alone."""
        return int((sizes == 1).sum()) > self.share * int(sizes.sum()) * (1 + SLACK)


@dataclass(frozen=True)
class PopulationUniques(Overall):
    """The share of records estimated to be unique in the population is at most `share`.

    Estimates need not fall as keys are generalised, so no search may be cut by this.

    Parameters
    ----------
    share
        From 0 to 1.
    estimate
        Gives the share, from the sizes of the classes that are kept.

    Examples
    --------
    >>> import numpy as np
    >>> PopulationUniques(0.1, lambda sizes: float((sizes == 1).mean()) / 2).fails_all(np.array([1, 3]))
    True
    """

    share: float
    estimate: Callable[[Ints], float]

    def fails_all(self, sizes: Ints) -> bool:
        """Tell whether the estimate is above the share."""
        return bool(self.estimate(sizes) > self.share + SLACK)
