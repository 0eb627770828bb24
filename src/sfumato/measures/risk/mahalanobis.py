"""Robust Mahalanobis risk: releases that stay in a box around the original, the larger the more unusual the record.

Source: Templ & Meindl (2008), doi:10.1007/978-3-540-87471-3_10, in the form of the R function `dRiskRMD` that Avraam,
Jones & Burton (2021), doi:10.21203/rs.3.rs-344334/v1, used: both tables are scaled by their own means and standard
deviations; the half-width of record i's box is w1 × 0.05 × its robust distance from the column means.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from sfumato.data.aim import Aim
from sfumato.data.finding import Finding, Findings
from sfumato.data.pair import Pair
from sfumato.kernels.rows import complete_rows, distinct
from sfumato.measures.folds.asking import Asking
from sfumato.measures.measure import Complaint, Figure, Measure
from sfumato.measures.saying import capital, percent, value_of, with_value, without_protection, worst
from sfumato.measures.subject import Subject

if TYPE_CHECKING:
    from sfumato.kernels.neighbours.kdtree import Tree

__all__ = [
    "MEASURE",
    "SCALE",
    "Boxes",
    "RiskGrid",
    "RobustRisk",
    "boxes",
    "boxes_of",
    "findings",
    "needed_widths",
    "robust_distance",
    "robust_grid",
    "robust_risk",
]

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]
Inside = Literal["any", "all"]

SCALE = 0.05
"""Further factor of the boxes' half-widths in the field's program."""
NOT_ALIGNED = "The tables are not joined record by record, so no robust Mahalanobis risk was measured."
NO_RECORD = "No record has a value in every numeric column, so there is no robust Mahalanobis risk."
NO_COLUMN = "No numeric column varies both before and after, so there is no robust Mahalanobis risk."
INCOMPLETE = "Robust Mahalanobis risk: records with a missing value in a numeric column were left out."


@dataclass(frozen=True)
class RobustRisk:
    """Records at risk by the robust Mahalanobis boxes.

    Parameters
    ----------
    risk1
        Share of records whose released values lie in their own box; None where it cannot be had.
    risk2
        Share of records at risk by `risk1` that no other released record is near to.
    risky1, risky2
        Which records these are, shape (n,), bool; never those with a missing value.
    note
        What was done instead, or why there is no figure.
    """

    risk1: float | None
    risk2: float | None
    risky1: Bools
    risky2: Bools
    note: str | None


@dataclass(frozen=True)
class RiskGrid:
    """Both risks over a range of widths.

    Parameters
    ----------
    w1s, risk1
        Widths of the boxes and the risk1 at each, shape (a,).
    w2s, risk2
        Distances to the others and the risk2 at each, for one width of the boxes, shape (b,).
    risk2_by_w1
        The risk2 at each of `w1s`, for one distance to the others, shape (a,).
    """

    w1s: Floats
    risk1: Floats
    w2s: Floats
    risk2: Floats
    risk2_by_w1: Floats


@dataclass(frozen=True)
class Boxes:
    """What all widths have in common, so that the robust covariance is estimated once.

    Parameters
    ----------
    whole
        Records with a value in every column of both tables, shape (n,), bool.
    needed
        For each of these n' records the smallest w1 at which it is risky, shape (n',).
    before, after
        The tables of these records, each scaled by its own means and standard deviations, shape (n', q).
    left_out
        Positions of the columns that do not vary before or after.
    note
        What was done instead, or why there is no figure.
    """

    whole: Bools
    needed: Floats
    before: Floats
    after: Floats
    left_out: tuple[int, ...]
    note: str | None

    def risk(self, *, w1: float = 0.01, w2: float = 0.05, m: int = 1) -> RobustRisk:
        """Count the records at risk at one pair of widths, as `robust_risk` does."""
        risky1, risky2 = np.zeros(len(self.whole), dtype=bool), np.zeros(len(self.whole), dtype=bool)
        if not self.needed.size:
            return RobustRisk(None, None, risky1, risky2, self.note)
        inside = self.needed <= w1
        alone = inside.copy()
        alone[inside] = _lonely(*self._released, inside, m, [w2])[0]
        risky1[self.whole], risky2[self.whole] = inside, alone
        return RobustRisk(float(inside.mean()), float(alone.mean()), risky1, risky2, self.note)

    def grid(
        self, w1s: Sequence[float], w2s: Sequence[float], *, w1: float = 0.01, w2: float = 0.05, m: int = 1
    ) -> RiskGrid:
        """Both risks over ranges of widths, as `robust_grid` gives them."""
        a, b = np.asarray(w1s, dtype=float), np.asarray(w2s, dtype=float)
        if not self.needed.size:
            return RiskGrid(a, np.full(a.shape, np.nan), b, np.full(b.shape, np.nan), np.full(a.shape, np.nan))
        widest = self.needed <= max([w1, *a])
        needed, n = self.needed[widest], len(self.needed)
        *by_w2, fixed = _lonely(*self._released, widest, m, [*b, w2])
        return RiskGrid(
            a,
            np.array([(needed <= w).sum() / n for w in a]),
            b,
            np.array([(lonely & (needed <= w1)).sum() / n for lonely in by_w2]),
            np.array([(fixed & (needed <= w)).sum() / n for w in a]),
        )

    def unprotected(self, *, w2: float = 0.05, m: int = 1) -> tuple[float | None, float | None]:
        """The two risks had the original table been released: every record is in its box."""
        if not self.needed.size:
            return None, None
        everyone = np.ones(len(self.needed), dtype=bool)
        return 1.0, float(_lonely(*_placed(self.before), everyone, m, [w2])[0].mean())

    @cached_property
    def _released(self) -> tuple[Tree, Ints]:
        return _placed(self.after)


def boxes(before: Floats, after: Floats, *, scale: float = SCALE, inside: Inside = "any") -> Boxes:
    """Estimate the robust covariance of the original table and say how wide each record's box must be to be risky.

    Parameters are those of `robust_risk`.

    Examples
    --------
    >>> x = np.arange(40.0).reshape(20, 2) ** 1.5
    >>> boxes(x, x).needed.max()
    np.float64(0.0)
    """
    from sfumato.kernels.mcd import fast_mcd

    whole = complete_rows(before, after)
    x, z = before[whole], after[whole]
    empty = np.empty((0, before.shape[1]))
    if not len(x):
        return Boxes(whole, np.empty(0), empty, empty, (), NO_RECORD)
    vary = (np.ptp(x, axis=0) > 0) & (np.ptp(z, axis=0) > 0)
    left_out = tuple(int(j) for j in np.flatnonzero(~vary))
    if not vary.any():
        return Boxes(whole, np.empty(0), empty, empty, left_out, NO_COLUMN)
    x, z = x[:, vary], z[:, vary]
    mean, sd = x.mean(axis=0), x.std(axis=0, ddof=1)
    scatter = fast_mcd(x)  # in original units, where equal records are equal to the last bit
    used = list(scatter.columns)
    x, z = (x - mean) / sd, (z - z.mean(axis=0)) / z.std(axis=0, ddof=1)
    distance = robust_distance(x[:, used], scatter.covariance / np.outer(sd[used], sd[used]))
    note = f"Robust Mahalanobis risk: {scatter.fallback}." if scatter.fallback else None
    return Boxes(whole, needed_widths(np.abs(x - z), scale * distance, inside), x, z, left_out, note)


def robust_distance(x: Floats, covariance: Floats) -> Floats:
    """Mahalanobis distance of each row from the origin, shape (n,).

    Examples
    --------
    >>> robust_distance(np.array([[3.0, 4.0]]), np.eye(2)).tolist()
    [5.0]
    """
    half: Floats = np.linalg.solve(np.linalg.cholesky(covariance), x.T)
    return np.asarray(np.sqrt(np.einsum("pn,pn->n", half, half)))


def needed_widths(apart: Floats, unit: Floats, inside: Inside) -> Floats:
    """Smallest w1 at which `any` (or `all`) of a record's differences is within w1 times its unit.

    Examples
    --------
    >>> needed_widths(np.array([[1.0, 3.0]]), np.array([2.0]), "any").tolist()
    [0.5]
    """
    nearest = apart.min(axis=1) if inside == "any" else apart.max(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(nearest == 0, 0.0, nearest / unit)


def _placed(table: Floats) -> tuple[Tree, Ints]:
    """Put the records into a tree, and give the place of each one's point in it."""
    from sfumato.kernels.neighbours.kdtree import build_tree

    found = distinct(table)
    tree = build_tree(found.points, found.multiplicity)
    return tree, tree.rank()[found.inverse]


def _lonely(tree: Tree, place: Ints, wanted: Bools, m: int, w2s: Sequence[float]) -> list[Bools]:
    """Tell, for each distance in `w2s`, which wanted records have fewer than m others within it, each (wanted,)."""
    from sfumato.kernels.neighbours.kdtree import crowded

    if not wanted.any():
        return [np.zeros(0, dtype=bool) for _ in w2s]
    rank = place[wanted]
    lonely = np.zeros(len(tree.points), dtype=bool)
    lonely[rank] = True
    out = [np.zeros(0, dtype=bool)] * len(w2s)
    for i in np.argsort(w2s):  # who has company within a smaller distance need not be asked again
        lonely[lonely] = ~crowded(tree, tree.points[lonely], float(w2s[i]), m + 1)
        out[i] = lonely[rank]
    return out


def robust_risk(
    before: Floats,
    after: Floats,
    *,
    w1: float = 0.01,
    w2: float = 0.05,
    m: int = 1,
    scale: float = SCALE,
    inside: Inside = "any",
) -> RobustRisk:
    """Share of records whose release is too close to the original, with more room for unusual records.

    A record is risky (risk1) where any of its released values, scaled by the release's own mean and standard deviation,
    lies within w1 × scale × RMD of its scaled original value; RMD is its robust Mahalanobis distance from the column
    means. It is risky in the second sense (risk2) if, besides, its m-th nearest other released record is farther than
    w2. The measure looks at how far single values moved. It does not ask what an intruder who knows the exact values
    can link: see `linkage_nearest`, which may be high where this is low.

    Parameters
    ----------
    before, after : ndarray, shape (n, p)
        Original and released values; row i of both is the same record. Rows with a missing value are left out.
    w1
        Width of the boxes, ≥ 0.
    w2
        Distance in scaled units within which another released record counts as near, ≥ 0.
    m
        How many others must be near for a record to be safe, ≥ 1.
    scale
        Further factor of the half-width; the field's program has 0.05, in the code and not in the text.
    inside
        Whether `any` variable in its interval makes a record risky, or `all` must lie there.

    Returns
    -------
    RobustRisk

    Examples
    --------
    >>> x = np.arange(60.0).reshape(30, 2) ** 1.5
    >>> robust_risk(x, x[::-1]).risk1
    0.0
    """
    return boxes(before, after, scale=scale, inside=inside).risk(w1=w1, w2=w2, m=m)


def robust_grid(
    before: Floats,
    after: Floats,
    w1s: Sequence[float],
    w2s: Sequence[float],
    *,
    w1: float = 0.01,
    w2: float = 0.05,
    m: int = 1,
    scale: float = SCALE,
    inside: Inside = "any",
) -> RiskGrid:
    """Both risks over ranges of widths, with one robust covariance.

    Parameters
    ----------
    before, after, m, scale, inside
        As in `robust_risk`.
    w1s
        Widths at which risk1 (and risk2, at the distance `w2`) is wanted.
    w2s
        Distances at which risk2 (at the width `w1`) is wanted.
    w1, w2
        The width and the distance that are held fixed.

    Returns
    -------
    RiskGrid

    Examples
    --------
    >>> x = np.arange(60.0).reshape(30, 2) ** 1.5
    >>> robust_grid(x, x, [0.01, 0.1], [0.05]).risk1
    array([1., 1.])
    """
    return boxes(before, after, scale=scale, inside=inside).grid(w1s, w2s, w1=w1, w2=w2, m=m)


def boxes_of(pair: Pair, *, scale: float = SCALE, inside: Inside = "any") -> Boxes:
    """Give the boxes of a pair, worked out once; parameters as in `boxes`."""
    return pair.once(("boxes", scale, inside), lambda: boxes(pair.x, pair.z, scale=scale, inside=inside))


def findings(
    pair: Pair,
    *,
    w1: float = 0.01,
    w2: float = 0.05,
    m: int = 1,
    scale: float = SCALE,
    inside: Inside = "any",
) -> Findings:
    """Give the lines `risk1` (`at` = w1) and `risk2` (`at` = w2); the baselines are those of the unprotected table.

    Parameters
    ----------
    pair
        Original and protected table.
    w1, w2, m, scale, inside
        As in `robust_risk`.
    """
    if not pair.aligned:
        return Findings((), (NOT_ALIGNED,))
    ready = boxes_of(pair, scale=scale, inside=inside)
    risk = ready.risk(w1=w1, w2=w2, m=m)
    base1, base2 = ready.unprotected(w2=w2, m=m)
    lines = (
        Finding("risk1", at=w1, value=risk.risk1, baseline=base1),
        Finding("risk2", at=w2, value=risk.risk2, baseline=base2),
    )
    notes = [] if risk.note is None else [risk.note]
    if ready.left_out:
        names = ", ".join(repr(pair.columns[j]) for j in ready.left_out)
        notes.append(f"Robust Mahalanobis risk: left out, because they do not vary: {names}.")
    if not ready.whole.all():
        notes.append(INCOMPLETE)
    return Findings(lines, tuple(notes))


def _compute(subject: Subject) -> Findings:
    return findings(subject.two, w1=subject.how.w1, w2=subject.how.w2)


def _say(findings: Findings, fraction: float) -> str | None:
    first, second = with_value(findings, "risk1"), with_value(findings, "risk2")
    if not first:
        return None
    line = worst(first)
    text = (
        f"{capital(percent(value_of(line)))} of the records have a released value so close to the original that "
        f"somebody who sees it comes near the truth{without_protection(line)}"
    )
    if second:
        text += (
            f", and {percent(value_of(worst(second)))} have besides no other released record near that could hide them"
        )
    return text + "."


def _complain(findings: Findings, fraction: float) -> tuple[Complaint, ...]:
    usual = (("risk1", 0.05), ("risk2", 0.01))
    high = [f for name, bound in usual for f in with_value(findings, name) if value_of(f) > bound]
    return (Complaint("Many released values lie close to the originals", Aim.FURTHER),) if high else ()


def _among_all(subject: Subject) -> Asking:
    from sfumato.measures.risk.mahalanobis_people import among_all

    return among_all(subject)


MEASURE = Measure(
    family="closeness",
    place=10,
    doing="robust Mahalanobis risk",
    needs=frozenset({"pair", "columns"}),
    figures=(
        Figure(
            "risk1",
            title="Released close to the original (risk1)",
            what="Share of records with a released value in a narrow interval around its original, wider for unusual "
            "records (robust Mahalanobis distance). Whoever sees such a value comes near the truth. It does not ask "
            "whether the record can be found.",
            form="share",
            published="rate",
            baseline="Without protection",
            at="w1 = {0:g}",
            aim=Aim.FURTHER,
            attacker="value close to the truth",
            clause="{} of the records have a value close to the true one",
        ),
        Figure(
            "risk2",
            title="Close, and no other record near (risk2)",
            what="The part of risk1 whose released record has no other released record near that could be taken for "
            "it.",
            form="share",
            published="rate",
            baseline="Without protection",
            at="w2 = {0:g}",
            aim=Aim.FURTHER,
        ),
    ),
    compute=_compute,
    forms={"people": _among_all},
    effort=5,
    say=_say,
    complain=_complain,
)
