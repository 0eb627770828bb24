"""Close records, and those of people whom no other hides, among all records: `mahalanobis` of large tables."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.data.finding import Finding, Findings
from sfumato.data.query import Folded
from sfumato.kernels.mcd import fast_mcd
from sfumato.kernels.rows import complete_rows
from sfumato.measures.folds.asking import Asking, Question
from sfumato.measures.folds.people import (
    RELEASED,
    TRUE,
    Near,
    Seen,
    Targets,
    looked_for,
    near,
    nearness,
    of_people,
    points_of,
    targets_of,
)
from sfumato.measures.folds.reading import Scale
from sfumato.measures.risk import mahalanobis
from sfumato.measures.risk.mahalanobis import SCALE, needed_widths, robust_distance
from sfumato.measures.subject import Subject

__all__ = ["SAMPLED_COVARIANCE", "among_all"]

Bools = NDArray[np.bool_]

SAMPLED_COVARIANCE = "Robust Mahalanobis risk: the table is large, and the robust covariance is that of a sample."


def among_all(subject: Subject) -> Asking:
    """The lines `risk1`, a share of all records, and `risk2`, of the people; the robust covariance is of a sample.

    Parameters
    ----------
    subject
        All records, and a sample.
    """
    targets, pair, w1, w2 = targets_of(subject), subject.two, subject.how.w1, subject.how.w2
    true, released = targets.whole_true, targets.whole_released
    everybody = true[0].n
    used = [j for j, (a, b) in enumerate(zip(true, released, strict=True)) if a.low != a.high and b.low != b.high]
    sample = pair.complete()[0][:, used]
    if not len(sample) or not used or (np.ptp(sample, axis=0) == 0).any():
        return mahalanobis.findings(pair, w1=w1, w2=w2)
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
    for scale, what in ((after, RELEASED), (before, TRUE)):
        people = scale(of_people(targets, what)[whole])
        none, reach = np.full(len(people), -1.0), np.full(len(people), w2 * w2)
        questions.append(near(targets.needed, points_of(targets, scale, what, None, 0.0), people, none, reach))

    answers = yield [Question(subject.everybody.after, question) for question in questions]
    lonely = [_alone(nearness(answer, int(whole.sum()))) for answer in answers[1:]]
    rebuilt = targets.rebuilt if targets.rebuilt is not None else targets.released
    close = inside(Seen(targets.true, targets.released, rebuilt))[1]
    second = looked_for((close & lonely[0]).astype(np.float64), everybody)
    base = looked_for(lonely[1].astype(np.float64), everybody)[0]
    share = int(answers[0].item()) / everybody if everybody else None
    lines = (
        Finding("risk1", at=w1, value=share, baseline=1.0),
        Finding("risk2", None, None, w2, None, *second, base),
    )
    return Findings(lines, tuple(_notes(scatter.fallback, targets, used)))


def _alone(found: Near) -> Bools:
    """Who has no other near."""
    return found.mass < 2


def _notes(fallback: str | None, targets: Targets, used: Sequence[int]) -> list[str]:
    notes = [SAMPLED_COVARIANCE]
    if fallback:
        notes.append(f"Robust Mahalanobis risk: {fallback}.")
    if left_out := [repr(n) for j, n in enumerate(targets.columns) if j not in used]:
        notes.append(f"Robust Mahalanobis risk: left out, because they do not vary: {', '.join(left_out)}.")
    return [*notes, *([mahalanobis.INCOMPLETE] if targets.whole_true[0].n < targets.records else [])]
