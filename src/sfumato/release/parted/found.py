"""Who is found among all released records: people looked for by linkage, and close records hidden by none.

They are the measures `linkage_nearest`, `linkage_one_to_one`, `risk1` and `risk2` of a table that is not in memory. See
`sfumato.measures.risk.linkage` and `sfumato.measures.risk.mahalanobis`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.data.finding import Finding, Findings
from sfumato.data.query import Folded
from sfumato.kernels.mcd import fast_mcd
from sfumato.kernels.rows import complete_rows
from sfumato.measures.risk import linkage, mahalanobis
from sfumato.measures.risk.mahalanobis import SCALE, needed_widths, robust_distance
from sfumato.measures.subject import Subject
from sfumato.release.parted.assigned import assigned
from sfumato.release.parted.reading import Scale
from sfumato.release.parted.targets import (
    Asked,
    Labels,
    Near,
    Points,
    Seen,
    Targets,
    alike,
    in_groups,
    looked_for,
    near,
    nearness,
)

__all__ = ["SAMPLED_COVARIANCE", "closeness", "linked"]

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

SAMPLED_COVARIANCE = "Robust Mahalanobis risk: the table is large, and the robust covariance is that of a sample."
_TRUE, _RELEASED, _REBUILT = "true", "released", "rebuilt"


def linked(subject: Subject, targets: Targets, records: int) -> Asked:
    """The lines `linkage_nearest` and `linkage_one_to_one`.

    They are told overall, for an intruder who knows the stratum, and, of the nearest, for one who undoes rescaling.

    Parameters
    ----------
    subject
        All records, and a sample, which tells how far to look.
    targets
        Who is looked for.
    records
        Records in the table.
    """
    everybody = targets.whole_true[0].n
    varying = [j for j, s in enumerate(targets.whole_true) if s.n and s.low != s.high]
    scale = Scale.of(targets.whole_true, varying, population=True)
    tries: list[tuple[str, str, bool]] = [("overall", _RELEASED, False)]
    if targets.groups.width:
        tries.append(("stratum", _RELEASED, True))
    if targets.rebuilt is not None:
        tries.append(("unscaled", _REBUILT, bool(targets.groups.width)))
    asked = [_links(targets, scale, what, grouped) for _, what, grouped in tries]
    twins = [_twins(targets, scale, grouped) for grouped in dict.fromkeys(grouped for _, _, grouped in tries)]
    kinds = list(dict.fromkeys(grouped for _, _, grouped in tries))
    together = [(group, assigned(subject, targets, scale, known)) for group, what, known in tries if what == _RELEASED]

    def told(answers: Sequence[pl.DataFrame]) -> Findings:
        people = int(targets.whole.sum())
        bases = {}
        for grouped, answer in zip(kinds, answers[len(tries) : len(asked) + len(twins)], strict=True):
            bases[grouped] = looked_for(nearness(answer, people).chance(), everybody)[0]
        lines = []
        for (group, what, grouped), answer in zip(tries, answers, strict=False):
            found = nearness(answer, int(_complete(targets, what).sum()))
            figures = looked_for(found.chance(), everybody)
            lines.append(Finding("linkage_nearest", None, group, None, "nearest", *figures, bases[grouped]))
        first = len(asked) + len(twins)
        for i, (group, each) in enumerate(together):
            figures = looked_for(each.chances(answers[first + 2 * i : first + 2 * i + 2]), everybody)
            base = bases[group != "overall"]
            lines.append(Finding("linkage_one_to_one", None, group, None, "one-to-one", *figures, base))
        notes = [linkage.SAMPLED, *([linkage.INCOMPLETE] if everybody < records else [])]
        return Findings(tuple(lines), tuple(notes if everybody else [*notes, linkage.NO_RECORD]))

    return Asked([*asked, *twins, *(question for _, each in together for question in each.questions)], told)


def _values(seen: Seen, what: str) -> Floats:
    return {_TRUE: seen.true, _RELEASED: seen.released, _REBUILT: seen.rebuilt}[what]


def _of_people(targets: Targets, what: str) -> Floats:
    values = {_TRUE: targets.true, _RELEASED: targets.released, _REBUILT: targets.rebuilt}[what]
    assert values is not None
    return values


def _complete(targets: Targets, what: str) -> Bools:
    """People with a value in every column of both tables."""
    return complete_rows(targets.true, _of_people(targets, _RELEASED if what == _TRUE else what))


def _points(targets: Targets, scale: Scale, what: str, labels: Labels | None, gap: float) -> Points:
    """The complete records of a batch in `scale`, apart by groups where there are `labels`."""
    reads, other = targets.reads, _RELEASED if what == _TRUE else what

    def points(batch: pl.DataFrame) -> Floats:
        seen = reads(batch)
        whole = complete_rows(seen.true, _values(seen, other))
        if labels is None:
            return scale(_values(seen, what)[whole])
        codes = labels(batch)
        whole &= codes >= 0
        return in_groups(scale(_values(seen, what)[whole]), codes[whole], gap)

    return points


def _links(targets: Targets, scale: Scale, what: str, grouped: bool) -> Folded:
    """Whether a released record is nearer to each person than the own one, and how many are as near."""
    whole = _complete(targets, what)
    search, own = scale(targets.true[whole]), scale(_of_people(targets, what)[whole])
    apart = np.sqrt(np.square(own - search).sum(axis=1))
    labels, gap = None, 2 * float(apart.max(initial=0.0)) + 1
    if grouped:
        labels = Labels.of(targets.groups)
        search = in_groups(search, labels(targets.groups)[whole], gap)
    closer, reach = np.square(apart * (1 - linkage.TIE)), np.square(apart * (1 + linkage.TIE))
    return near(targets.needed, _points(targets, scale, what, labels, gap), search, closer, reach)


def _twins(targets: Targets, scale: Scale, grouped: bool) -> Folded:
    """How many records have each person's true values."""
    whole = targets.whole
    search, labels = scale(targets.true[whole]), None
    if grouped:
        labels = Labels.of(targets.groups)
        search = in_groups(search, labels(targets.groups)[whole], 1.0)
    return alike(targets.needed, _points(targets, scale, _TRUE, labels, 1.0), search)


def closeness(subject: Subject, targets: Targets, records: int, m: int = 1) -> Asked:
    """The lines `risk1`, a share of all records, and `risk2`, of the people; the robust covariance is of a sample.

    Parameters
    ----------
    subject
        A sample of all records.
    targets
        Who is looked for.
    records
        Records in the table.
    m
        As in `sfumato.measures.risk.mahalanobis.robust_risk`.
    """
    pair, w1, w2 = subject.two, subject.how.w1, subject.how.w2
    true, released = targets.whole_true, targets.whole_released
    everybody = true[0].n
    used = [j for j, (a, b) in enumerate(zip(true, released, strict=True)) if a.low != a.high and b.low != b.high]
    sample = pair.complete()[0][:, used]
    if not len(sample) or not used or (np.ptp(sample, axis=0) == 0).any():
        return Asked([], lambda answers: mahalanobis.findings(pair, w1=w1, w2=w2, m=m))
    before, after = (Scale.of(sums, used, population=False) for sums in (true, released))
    scatter = fast_mcd(sample)
    robust = list(scatter.columns)
    covariance = scatter.covariance / np.outer(before.sd[robust], before.sd[robust])

    def inside(seen: Seen) -> tuple[Bools, Bools]:
        whole = complete_rows(seen.true, seen.released)
        x, z = before(seen.true[whole]), after(seen.released[whole])
        unit = SCALE * robust_distance(x[:, robust], covariance)
        return whole, needed_widths(np.abs(x - z), unit, "any") <= w1

    reads = targets.reads

    def f(batch: pl.DataFrame) -> pl.DataFrame:
        close = inside(reads(batch))[1] if batch.height else np.zeros(0, dtype=bool)
        return pl.DataFrame({"close": [int(close.sum())]})

    questions = [Folded(targets.needed, f, lambda frames: frames.sum())]
    whole = targets.whole
    for scale, what in ((after, _RELEASED), (before, _TRUE)):
        people = scale(_of_people(targets, what)[whole])
        none, reach = np.full(len(people), -1.0), np.full(len(people), w2 * w2)
        questions.append(near(targets.needed, _points(targets, scale, what, None, 0.0), people, none, reach))

    def told(answers: Sequence[pl.DataFrame]) -> Findings:
        lonely = [_alone(nearness(answer, int(whole.sum())), m) for answer in answers[1:]]
        rebuilt = targets.rebuilt if targets.rebuilt is not None else targets.released
        close = inside(Seen(targets.true, targets.released, rebuilt))[1]
        second = looked_for((close & lonely[0]).astype(np.float64), everybody)
        base = looked_for(lonely[1].astype(np.float64), everybody)[0]
        share = int(answers[0].item()) / everybody if everybody else None
        lines = (
            Finding("risk1", at=w1, value=share, baseline=1.0),
            Finding("risk2", None, None, w2, None, *second, base),
        )
        return Findings(lines, tuple(_notes(scatter.fallback, targets, used, everybody, records)))

    return Asked(questions, told)


def _alone(found: Near, m: int) -> Bools:
    """Who has fewer than m others near."""
    return found.mass < m + 1


def _notes(fallback: str | None, targets: Targets, used: Sequence[int], everybody: int, records: int) -> list[str]:
    notes = [SAMPLED_COVARIANCE]
    if fallback:
        notes.append(f"Robust Mahalanobis risk: {fallback}.")
    if left_out := [repr(n) for j, n in enumerate(targets.columns) if j not in used]:
        notes.append(f"Robust Mahalanobis risk: left out, because they do not vary: {', '.join(left_out)}.")
    return [*notes, *([mahalanobis.INCOMPLETE] if everybody < records else [])]
