"""What a named intruder reaches with each linker: right links, claims, and claims on who is not there.

`neighbour` knows one person's keys and that the person is there, and takes the best record. `cross_match` holds an
identification file, of which a share is there, and claims pairs. `claim` knows everybody's keys and needs one claim
that is believed: the ten most certain. `trawl` knows nothing, looks for odd records, and then for whom they fit.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sfumato.draws import PUBLIC, Purpose
from sfumato.measures.confidence import wilson
from sfumato.measures.risk.linkers.coding import Coded
from sfumato.measures.risk.linkers.linkers import (
    FEWEST,
    LINKERS,
    WEIGHED,
    Linked,
    Linker,
    Scorings,
    chosen,
    link,
    scorings,
)
from sfumato.measures.risk.scenarios.trawl import fit, oddest

__all__ = ["CERTAIN", "Attacked", "Reached", "reached"]

Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]

CERTAIN = 0.9
"""Posterior probability from which on an intruder claims."""
_SLACK = 1e-12
_CLAIMS = 10
"""So many of the most certain links an intruder tries who needs one."""


@dataclass(frozen=True)
class Reached:
    """One figure.

    Parameters
    ----------
    measure
        `match_correct`, `match_claims`, `match_precision` or `match_on_control`.
    linker
        The linker.
    value
        The figure; None where nothing was claimed.
    interval
        Wilson's, of a share; of a count it is that of its share, times all.
    """

    measure: str
    linker: Linker
    value: float | None
    interval: tuple[float, float] | None = None

    @property
    def at(self) -> float | None:
        """The certainty that claims need; None where nothing is claimed."""
        return None if self.measure == "match_correct" else CERTAIN


class Attacked:
    """An attack on a pair of files; what linkers find is worked out once, for all scenarios that read it.

    Parameters
    ----------
    coded
        People and records.
    present
        Share of the known people of whom the intruder takes it that they are there.
    pairs
        Most pairs that are compared.

    Attributes
    ----------
    rows
        The people who are looked for.
    """

    def __init__(self, coded: Coded, present: float, pairs: int) -> None:
        self.coded, self.present, self.pairs = coded, present, pairs
        self.rows = chosen(coded, pairs)

    @cached_property
    def scorings(self) -> Scorings:
        """What keys add for each linker."""
        return scorings(self.coded, self.rows)

    @cached_property
    def linked(self) -> dict[Linker, Linked]:
        """What each linker finds for the people who are looked for."""
        return link(self.coded, self.rows, self.scorings, self.present)

    @property
    def sampled(self) -> bool:
        """Whether fewer people are looked for than are known."""
        return len(self.rows) < self.coded.known.height


def reached(scenario: str, found: Attacked) -> list[Reached]:
    """The figures of a scenario.

    Parameters
    ----------
    scenario
        Its name.
    found
        The attack. For `neighbour` and `claim` all who are known are there.
    """
    if scenario == "claim":
        return [figure for name in WEIGHED for figure in _most_certain(name, found)]
    if scenario == "trawl":
        return _trawled(found)
    out = []
    for name in LINKERS:
        linked = found.linked[name]
        there = linked.person < found.coded.original
        out.append(_share("match_correct", name, float(linked.right[there].sum()), int(there.sum())))
        if name in WEIGHED:
            claims = linked.alone & (linked.certain >= np.log2(CERTAIN) - _SLACK)
            out += _claimed(name, linked.right, claims, there, found.coded)
    return out


def _claimed(name: Linker, right: NDArray[np.float64], claims: Bools, there: Bools, coded: Coded) -> list[Reached]:
    """Claims among the people looked for, how many are right, and how many name people who are not there."""
    made = int(claims.sum())
    out = [_count("match_claims", name, made, len(claims), coded.known.height)]
    out.append(_share("match_precision", name, float(right[claims].sum()), made))
    control = coded.known.height - coded.original
    if control:
        absent = ~there
        out.append(_count("match_on_control", name, int((claims & absent).sum()), int(absent.sum()), control))
    return out


def _most_certain(name: Linker, found: Attacked) -> list[Reached]:
    """The ten links of highest posterior; which of equal ones is a public draw."""
    linked = found.linked[name]
    word = PUBLIC.words(found.coded.unit[linked.person], Purpose("scenario", "tie"))[:, 0]
    first = np.lexsort((word, -np.round(linked.certain, 9)))[:_CLAIMS]
    right = linked.right[first]
    claims = linked.alone[first] & (linked.certain[first] >= np.log2(CERTAIN) - _SLACK)
    out = [_share("match_correct", name, float(right.sum()), len(first))]
    out.append(_count("match_claims", name, int(claims.sum()), len(first), len(first)))
    out.append(_share("match_precision", name, float(right[claims].sum()), int(claims.sum())))
    return out


def _trawled(found: Attacked) -> list[Reached]:
    """Whom the oddest records fit best, with each linker."""
    coded, control = found.coded, found.coded.known.height - found.coded.original
    odd = oddest(coded)
    tried = odd[: max(FEWEST, found.pairs // max(len(coded.known), 1))]
    out = []
    for name in LINKERS if len(odd) else ():
        fits = fit(coded, tried, found.scorings.of[name], found.present, sure=name in WEIGHED)
        out.append(_share("match_correct", name, float(fits.right.sum()), len(tried)))
        if name in WEIGHED:
            claims = fits.alone & (fits.certain >= np.log2(CERTAIN) - _SLACK)
            out.append(_count("match_claims", name, int(claims.sum()), len(tried), len(odd)))
            out.append(_share("match_precision", name, float(fits.right[claims].sum()), int(claims.sum())))
            if control:
                absent = int((claims & (fits.person >= coded.original)).sum())
                out.append(_count("match_on_control", name, absent, len(tried), len(odd)))
    return out


def _share(measure: str, name: Linker, hits: float, n: int) -> Reached:
    return Reached(measure, name, hits / n, wilson(hits, n)) if n else Reached(measure, name, None)


def _count(measure: str, name: Linker, hits: int, n: int, whole: int) -> Reached:
    """A count of all, estimated from those who were looked for."""
    if not n:
        return Reached(measure, name, None)
    low, high = wilson(hits, n)
    return Reached(measure, name, whole * hits / n, (whole * low, whole * high))
