"""Membership: whether a release tells who is in it, by how near its nearest record is."""

from __future__ import annotations

import math
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from sfumato.data.aim import Aim
from sfumato.data.finding import Finding, Findings
from sfumato.data.roles import IDS, Role
from sfumato.kernels.linkers.nearest import gower
from sfumato.kernels.linkers.scan import scan
from sfumato.measures.known import Known
from sfumato.measures.measure import Figure, Measure
from sfumato.measures.measuring import wildcard
from sfumato.measures.risk.inference import SAMPLED
from sfumato.measures.risk.linkers.coding import Coded, coded
from sfumato.measures.risk.linkers.linkers import chosen
from sfumato.measures.subject import Subject

__all__ = ["MEASURE", "findings", "nearer", "widest_gap"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

AUC, ADVANTAGE = "auc", "advantage"
_SAME = 1e-9
"""Distances that differ by less are equal."""
_NO_PART = (*IDS, Role.IDENTIFIER)


def nearer(members: Floats, others: Floats) -> tuple[float, tuple[float, float]]:
    """Chance that a member is nearer to the release than somebody else, ties half: the area under the ROC curve.

    Parameters
    ----------
    members, others
        Distance of each person to the nearest record; at least one of either.

    Returns
    -------
    area, interval
        The 95% interval is of DeLong et al. (1988), doi:10.2307/2531595.

    Examples
    --------
    >>> nearer(np.array([0.0, 1.0]), np.array([1.0, 2.0]))[0]
    0.875
    """
    m, c = np.sort(members), np.sort(others)
    farther = 1 - (np.searchsorted(c, members) + np.searchsorted(c, members, side="right")) / (2 * len(c))
    closer = (np.searchsorted(m, others) + np.searchsorted(m, others, side="right")) / (2 * len(m))
    area = float(farther.mean())
    variance = sum(float(v.var(ddof=1)) / len(v) for v in (farther, closer) if len(v) > 1)
    half = 1.959963984540054 * math.sqrt(variance)
    return area, (max(0.0, area - half), min(1.0, area + half))


def widest_gap(members: Floats, others: Floats) -> float:
    """The most by which members are more often within some distance than others: the best TPR − FPR.

    Parameters
    ----------
    members, others
        As for `nearer`.

    Examples
    --------
    >>> widest_gap(np.array([0.0, 1.0]), np.array([1.0, 2.0]))
    0.5
    """
    at = np.unique(np.concatenate([members, others]))
    within = (np.searchsorted(np.sort(v), at, side="right") / len(v) for v in (members, others))
    return max(0.0, float(np.max(np.subtract(*within))))


def findings(known: Known, missing: str = "category") -> Findings:
    """Give the lines `membership`: how well nearness to the release tells its people from others.

    The intruder knows all columns that the tables have in common, and takes a person for a member whose nearest record
    is close (Gower's distance). Group `auc` is 0.5 where that tells nothing; `advantage` the best true rate less false
    rate. It does not cover intruders who know how records came about, and weigh how odd a person is.

    Parameters
    ----------
    known
        True values of people of the release and of a control, beside what was released.
    missing
        What a missing value is, see `sfumato.measures.measuring.Measuring`.

    Source: Yeom et al. (2018), doi:10.1109/CSF.2018.00027, for the advantage.

    Examples
    --------
    >>> import polars as pl
    >>> from sfumato.data.codebook import Codebook
    >>> table = pl.DataFrame({"job": ["a", "b"], "town": ["y", "z"]})
    >>> others = pl.DataFrame({"job": ["b", "b"], "town": ["y", "z"]})
    >>> found = findings(Known(table, table, Codebook(), ("job",), control=others))
    >>> found.of("membership", group="auc").value, found.of("membership", group="advantage").value
    (0.75, 0.5)
    """
    tables = [t for t in (known.people, known.released, known.control) if t is not None]
    if known.control is None or not all(table.height for table in tables):
        return Findings()
    common = [n for n in known.people.columns if all(n in table.columns for table in tables)]
    ids = {known.record, *known.codebook.with_role(*_NO_PART)}
    columns = [n for n in common if n not in ids and not any(table.schema[n].is_nested() for table in tables)]
    if not columns:
        return Findings()
    field = coded(known, columns, wildcard=wildcard(missing) is not None)
    rows = chosen(field, known.pairs)
    there = rows < field.original
    if not there.any() or there.all():
        return Findings()
    found, without = (_distances(each, rows) for each in (field, field.unprotected()))
    area, interval = nearer(found[there], found[~there])
    bare = nearer(without[there], without[~there])[0]
    gap, most = (widest_gap(d[there], d[~there]) for d in (found, without))
    lines = (
        Finding("membership", None, AUC, None, None, area, interval, bare),
        Finding("membership", None, ADVANTAGE, None, None, gap, None, most),
    )
    return Findings(lines, (SAMPLED,) if len(rows) < field.known.height else ())


def _distances(field: Coded, rows: Ints) -> Floats:
    """Distance of each person to the nearest record, equal ones exactly equal."""
    people = field.known.only(rows)
    scoring = gower(field.levels, field.spread, field.wildcard)
    near = -scan(people, field.released, scoring, sums=False).score
    return np.asarray(np.round(near / _SAME) * _SAME)[people.member]


def _compute(subject: Subject) -> Findings:
    known = subject.outsiders
    return Findings() if known is None else findings(known, subject.how.missing)


MEASURE = Measure(
    family="linkage",
    place=70,
    doing="who is in the release",
    needs=frozenset({"control"}),
    figures=(
        Figure(
            "membership",
            title="Telling who is in the release (membership)",
            what="Somebody who knows all of a person's values takes persons near a released record for people of the "
            "release. Group auc: chance that one of them is nearer than somebody else of the same kind (0.5 tells "
            "nothing); advantage: share recognised less share of others taken for them, at the best distance.",
            form="share",
            published="rate",
            baseline="Without protection",
            whole="all people",
            aim=Aim.FURTHER,
            usual=MappingProxyType({"group": AUC}),
            attacker="who is in the release",
        ),
    ),
    compute=_compute,
    effort=3.0,
)
