"""Who is found among all records by the nearest one, and by assigning records one to one: `linkage` of large tables."""

from __future__ import annotations

import numpy as np

from sfumato.data.finding import Finding, Findings
from sfumato.data.query import Folded
from sfumato.measures.folds.asking import Asking, Question
from sfumato.measures.folds.people import (
    REBUILT,
    RELEASED,
    TRUE,
    Labels,
    Targets,
    alike,
    complete,
    in_groups,
    looked_for,
    near,
    nearness,
    of_people,
    points_of,
    targets_of,
)
from sfumato.measures.folds.reading import Scale
from sfumato.measures.risk import linkage
from sfumato.measures.risk.assigned_people import assigned
from sfumato.measures.subject import Subject

__all__ = ["among_all"]


def among_all(subject: Subject) -> Asking:
    """The lines `linkage_nearest` and `linkage_one_to_one`.

    They are told overall, for an intruder who knows the stratum, and, of the nearest, for one who undoes rescaling.

    Parameters
    ----------
    subject
        All records, and a sample, which tells how far to look.
    """
    targets = targets_of(subject)
    everybody = targets.whole_true[0].n
    varying = [j for j, s in enumerate(targets.whole_true) if s.n and s.low != s.high]
    scale = Scale.of(targets.whole_true, varying, population=True)
    tries: list[tuple[str, str, bool]] = [("overall", RELEASED, False)]
    if targets.groups.width:
        tries.append(("stratum", RELEASED, True))
    if targets.rebuilt is not None:
        tries.append(("unscaled", REBUILT, bool(targets.groups.width)))
    asked = [_links(targets, scale, what, grouped) for _, what, grouped in tries]
    twins = [_twins(targets, scale, grouped) for grouped in dict.fromkeys(grouped for _, _, grouped in tries)]
    kinds = list(dict.fromkeys(grouped for _, _, grouped in tries))
    together = [(group, assigned(subject, targets, scale, known)) for group, what, known in tries if what == RELEASED]

    people = int(targets.whole.sum())
    answers = yield [
        Question(subject.everybody.after, question)
        for question in (*asked, *twins, *(q for _, each in together for q in each.questions))
    ]
    bases = {}
    for grouped, answer in zip(kinds, answers[len(tries) : len(asked) + len(twins)], strict=True):
        bases[grouped] = looked_for(nearness(answer, people).chance(), everybody)[0]
    lines = []
    for (group, what, grouped), answer in zip(tries, answers, strict=False):
        found = nearness(answer, int(complete(targets, what).sum()))
        figures = looked_for(found.chance(), everybody)
        lines.append(Finding("linkage_nearest", None, group, None, "nearest", *figures, bases[grouped]))
    first = len(asked) + len(twins)
    for i, (group, each) in enumerate(together):
        figures = looked_for(each.chances(answers[first + 2 * i : first + 2 * i + 2]), everybody)
        base = bases[group != "overall"]
        lines.append(Finding("linkage_one_to_one", None, group, None, "one-to-one", *figures, base))
    notes = [linkage.SAMPLED, *([linkage.INCOMPLETE] if everybody < targets.records else [])]
    return Findings(tuple(lines), tuple(notes if everybody else [*notes, linkage.NO_RECORD]))


def _links(targets: Targets, scale: Scale, what: str, grouped: bool) -> Folded:
    """Whether a released record is nearer to each person than the own one, and how many are as near."""
    whole = complete(targets, what)
    search, own = scale(targets.true[whole]), scale(of_people(targets, what)[whole])
    apart = np.sqrt(np.square(own - search).sum(axis=1))
    labels, gap = None, 2 * float(apart.max(initial=0.0)) + 1
    if grouped:
        labels = Labels.of(targets.groups)
        search = in_groups(search, labels(targets.groups)[whole], gap)
    closer, reach = np.square(apart * (1 - linkage.TIE)), np.square(apart * (1 + linkage.TIE))
    return near(targets.needed, points_of(targets, scale, what, labels, gap), search, closer, reach)


def _twins(targets: Targets, scale: Scale, grouped: bool) -> Folded:
    """How many records have each person's true values."""
    whole = targets.whole
    search, labels = scale(targets.true[whole]), None
    if grouped:
        labels = Labels.of(targets.groups)
        search = in_groups(search, labels(targets.groups)[whole], 1.0)
    return alike(targets.needed, points_of(targets, scale, TRUE, labels, 1.0), search)
