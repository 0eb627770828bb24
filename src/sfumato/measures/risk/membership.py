"""Membership: whether a release tells who is in it, by the strongest of a few attacks that know all of a person."""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from sfumato.data.aim import Aim
from sfumato.data.finding import Finding, Findings
from sfumato.data.roles import IDS, Role
from sfumato.kernels.linkers.reach import DENSITY, Apart, around
from sfumato.measures.known import Known
from sfumato.measures.measure import Figure, Measure
from sfumato.measures.measuring import wildcard
from sfumato.measures.risk.attacked import FEW, SAMPLED, Attacked, apart_by, attacked
from sfumato.measures.risk.linkers.coding import Coded, coded
from sfumato.measures.saying import percent, value_of
from sfumato.measures.subject import Subject

__all__ = ["ATTACKS", "MEASURE", "findings", "nearer", "told_apart", "widest_gap"]

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Name = tuple[str, float]
"""An attack, and the width of its kernel; 0 where it has none."""

AUC, ADVANTAGE = "auc", "advantage"
NEAREST, RELATIVE, DENSE = "nearest", "relative", "density"
ATTACKS = (NEAREST, RELATIVE, DENSE)
"""The attacks of which the line without one is the strongest."""
NO_REFERENCE = "Membership was not measured: the control holds too few people for a reference beside those attacked."
_SAME = 1e-9
"""Scores that differ by less are equal."""
_NEAR = 0.02
"""What is added to distances, so that a record that is equal is not infinitely nearer."""
_95 = 1.959963984540054
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
    area, variance = told_apart(-members, -others)
    return area, _interval(area, variance)


def told_apart(members: Floats, others: Floats) -> tuple[float, float]:
    """Chance that a member scores higher than somebody else, ties half, and its variance.

    Parameters
    ----------
    members, others
        Scores, at least one of either.

    Returns
    -------
    area, variance
        The variance is of DeLong et al. (1988), doi:10.2307/2531595.

    Examples
    --------
    >>> told_apart(np.array([1.0, 0.0]), np.array([0.0, -1.0]))[0]
    0.875
    """
    m, c = np.sort(members), np.sort(others)
    higher = (np.searchsorted(c, m) + np.searchsorted(c, m, side="right")) / (2 * len(c))
    lower = 1 - (np.searchsorted(m, c) + np.searchsorted(m, c, side="right")) / (2 * len(m))
    variance = sum(float(v.var(ddof=1)) / len(v) for v in (higher, lower) if len(v) > 1)
    return float(higher.mean()), variance


def _interval(area: float, variance: float) -> tuple[float, float]:
    half = _95 * math.sqrt(variance)
    return max(0.0, area - half), min(1.0, area + half)


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
    """Give the lines `membership`: how well people of the release are told from others.

    The intruder knows all columns that the tables have in common, and has a reference: others of the same kind, half of
    the control, of whom nobody is attacked. Attack `nearest` takes people for members who are near a record, `relative`
    those who are nearer to the release than to the reference, `density` those around whom there are more records of the
    release than of the reference (means of exp(−d / w), w of .3, .6 and 1). The line without `attack` is the strongest
    of them: what does best on one half of the attacked is stated of the other, and of both the mean. Group `auc` is 0.5
    where nothing is told; `advantage` the true rate less the false rate at the best score, which is found on the other
    half, too. Where persons or households have several rows, they are attacked as wholes, by the mean of their scores.

    It does not cover intruders who know how the release was made, or train models on copies of their own making.

    Parameters
    ----------
    known
        True values of people of the release and of a control, beside what was released.
    missing
        What a missing value is, see `sfumato.measures.measuring.Measuring`.

    Source: Yeom et al. (2018), doi:10.1109/CSF.2018.00027, for the advantage; van Breugel et al. (2023),
    doi:10.48550/arXiv.2302.12580, for densities beside a reference.

    Examples
    --------
    >>> import polars as pl
    >>> from sfumato.data.codebook import Codebook
    >>> table = pl.DataFrame({"job": ["a", "b"] * 30, "town": ["y", "z"] * 30})
    >>> others = pl.DataFrame({"job": ["b", "a"] * 60, "town": ["y", "z"] * 60})
    >>> found = findings(Known(table, table, Codebook(), ("job",), control=others))
    >>> found.of("membership", group="auc").value, found.of("membership", group="auc", attack="density").value
    (1.0, 1.0)
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
    who = attacked(field, known)
    if not len(who.reference) or not who.member.any() or who.member.all():
        return Findings(notes=(NO_REFERENCE,))
    found, without = (_Reached(scores, who) for scores in _scores(field, who))
    lines = [line for attack in (None, *ATTACKS) for line in _lines(attack, found, without)]
    return Findings(tuple(lines), (*((SAMPLED,) if who.sampled else ()), *((FEW,) if who.few else ())))


def _lines(attack: str | None, found: _Reached, without: _Reached) -> list[Finding]:
    area, variance, gap = found.of(attack)
    bare, _, most = without.of(attack)
    return [
        Finding("membership", None, AUC, None, attack, area, _interval(area, variance), bare),
        Finding("membership", None, ADVANTAGE, None, attack, gap, None, most),
    ]


def _scores(field: Coded, who: Attacked) -> list[dict[Name, Floats]]:
    """How much each unit looks like one of the release, by attack and width: of the release, and unprotected."""
    people, reference = field.known.only(who.rows), field.known.only(who.reference)
    apart: Apart = apart_by(field, reference)
    far, outside = around(people, reference, apart, DENSITY)
    found = []
    for records in (field.released, field.truth):
        near, inside = around(people, records, apart, DENSITY)
        of_rows: dict[Name, Floats] = {
            (NEAREST, 0.0): -near,
            (RELATIVE, 0.0): np.log(far + _NEAR) - np.log(near + _NEAR),
            **{(DENSE, w): inside[k] - outside[k] for k, w in enumerate(DENSITY.all)},
        }
        found.append({name: _rounded(who.of_units(score[people.member])) for name, score in of_rows.items()})
    return found


def _rounded(scores: Floats) -> Floats:
    """Scores of which equal ones are exactly equal."""
    return np.asarray(np.round(scores / _SAME) * _SAME)


class _Reached:
    """What attacks reach on either half, and what is chosen for it on the other.

    Parameters
    ----------
    scores
        Of each unit, by attack and width.
    who
        The units.
    """

    def __init__(self, scores: Mapping[Name, Floats], who: Attacked) -> None:
        self.scores, self.who = scores, who
        halves = [np.ones(len(who.member), dtype=bool)] if who.few else [~who.half, who.half]
        self.sides = [(half & who.member, half & ~who.member) for half in halves]
        self.areas = {name: [told_apart(s[m], s[c]) for m, c in self.sides] for name, s in scores.items()}

    def of(self, attack: str | None) -> tuple[float, float, float]:
        """Area, its variance and the advantage of an attack; of the strongest where none is named.

        The halves share a reference and a release, given which their areas are independent.
        """
        areas = {name: [area for area, _ in own] for name, own in self.areas.items() if attack in (None, name[0])}
        if self.who.few:
            name = max(areas, key=lambda each: areas[each][0])
            members, others = (self.scores[name][side] for side in self.sides[0])
            return *self.areas[name][0], widest_gap(-members, -others)
        stated = [(h, name) for h, name in enumerate(self.who.chosen(areas))]
        both = [self.areas[name][h] for h, name in stated]
        gap = sum(self._gap(self.scores[name], h) for h, name in stated) / 2
        return sum(area for area, _ in both) / 2, sum(variance for _, variance in both) / 4, max(0.0, gap)

    def _gap(self, scores: Floats, half: int) -> float:
        """True rate less false rate on a half, from the score on that does best on the other one."""
        members, others = (scores[side] for side in self.sides[1 - half])
        at = np.unique(scores[self.sides[1 - half][0] | self.sides[1 - half][1]])
        rates = [1 - np.searchsorted(np.sort(own), at) / len(own) for own in (members, others)]
        least = at[np.argmax(rates[0] - rates[1])]
        members, others = (scores[side] for side in self.sides[half])
        return float((members >= least).mean() - (others >= least).mean())


def _compute(subject: Subject) -> Findings:
    known = subject.outsiders
    return Findings() if known is None else findings(known, subject.how.missing)


def _say(found: Findings, fraction: float) -> str | None:
    line = next((f for f in found.select("membership", group=AUC, attack=None) if f.value is not None), None)
    if line is None:
        return None
    return (
        "Of a person of the release and another one of the same kind, somebody who knows all of either's values, and "
        f"has a reference of others, takes the right one for the member in {percent(value_of(line))} of pairs (50% is "
        "chance): by the strongest of the nearest record, nearness beside the reference, and density beside it."
    )


MEASURE = Measure(
    family="linkage",
    place=70,
    doing="who is in the release",
    needs=frozenset({"control"}),
    figures=(
        Figure(
            "membership",
            title="Telling who is in the release (membership)",
            what="Somebody who knows all of a person's values, and has a reference of others of the same kind, tells "
            "people of the release from others. Attack nearest: by how near a record is; relative: by how much nearer "
            "it is than the reference; density: by how many more records are around than people of the reference. "
            "The line without an attack is the strongest of them, chosen on one half of the people and stated of the "
            "other. Group auc: chance that a member looks more like one than another person (0.5 tells nothing); "
            "advantage: share recognised less share of others taken for members. Others may do better: who knows how "
            "the release was made, or trains models.",
            form="share",
            published="rate",
            baseline="Without protection",
            whole="all people",
            aim=Aim.FURTHER,
            usual=MappingProxyType({"group": AUC}),
            attacker="who is in the release",
            knows=MappingProxyType({AUC: "all values and a reference"}),
            clause="the strongest of three attacks tells who is in the release: {}",
            strongest_of=ATTACKS,
        ),
    ),
    compute=_compute,
    say=_say,
    effort=3.0,
)
