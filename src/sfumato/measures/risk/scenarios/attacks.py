"""What a named intruder reaches with each linker: right links, claims, and claims on who is not there.

`neighbour` knows one person's keys and that the person is there, and takes the best record. `cross_match` holds an
identification file, of which a share is there, and claims pairs. `claim` knows everybody's keys and needs one claim
that is believed: the ten most certain. `trawl` knows nothing, looks for odd records, and then for whom they fit.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from sfumato.draws import PUBLIC, Purpose
from sfumato.measures.confidence import wilson
from sfumato.measures.risk.linkers.coding import Coded
from sfumato.measures.risk.linkers.linkers import LINKERS, WEIGHED, Linked, Linker, chosen, link, scorings

__all__ = ["CERTAIN", "Attacked", "Reached", "attacked", "reached"]

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


@dataclass(frozen=True, eq=False)
class Attacked:
    """What the linkers found in one pair of files: several scenarios read from it.

    Parameters
    ----------
    coded
        People and records.
    rows
        The people who were looked for.
    linked
        By linker.
    fewer
        Whether patterns were counted among fewer people than were looked for.
    """

    coded: Coded
    rows: Ints
    linked: Mapping[Linker, Linked] = field(repr=False)
    fewer: bool

    @property
    def sampled(self) -> bool:
        """Whether fewer people were looked for than are known."""
        return len(self.rows) < self.coded.known.height


def attacked(coded: Coded, present: float, pairs: int) -> Attacked:
    """Run every linker on a pair of files.

    Parameters
    ----------
    coded
        People and records.
    present
        Share of the known people of whom the intruder takes it that they are there.
    pairs
        Most pairs that are compared.
    """
    rows = chosen(coded, pairs)
    both, fewer = scorings(coded, rows)
    linked = {name: link(coded, rows, both[name], present, sure=name in WEIGHED) for name in LINKERS}
    return Attacked(coded, rows, linked, fewer)


def reached(scenario: str, found: Attacked) -> list[Reached]:
    """The figures of a scenario in which people are looked for: `neighbour`, `cross_match`, `claim`.

    Parameters
    ----------
    scenario
        Its name.
    found
        What linkers found. For `claim`, of people who are all there.
    """
    if scenario == "claim":
        return [figure for name in WEIGHED for figure in _most_certain(name, found)]
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


def _share(measure: str, name: Linker, hits: float, n: int) -> Reached:
    return Reached(measure, name, hits / n, wilson(hits, n)) if n else Reached(measure, name, None)


def _count(measure: str, name: Linker, hits: int, n: int, whole: int) -> Reached:
    """A count of all, estimated from those who were looked for."""
    if not n:
        return Reached(measure, name, None)
    low, high = wilson(hits, n)
    return Reached(measure, name, whole * hits / n, (whole * low, whole * high))
