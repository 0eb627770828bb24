"""The next release without one person: who is drawn anew, and how nearly the one who left is told.

Both are measured before there is a next release, by running the steps again: a strength that is learned moves with one
person, and draws that hang on it are drawn anew for all; sums and tails that are kept give away who has gone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from sfumato.data.aim import Aim
from sfumato.data.coarsened import Coarsened
from sfumato.data.disclosure import Averaged, Disclosure
from sfumato.data.finding import Finding, Findings
from sfumato.data.hidden import HIDDEN
from sfumato.data.pair import numbers
from sfumato.measures.leaving import Leaving
from sfumato.measures.measure import Complaint, Figure, Measure
from sfumato.measures.risk.differencing.attacks import Group, Two, local, multisets, sums
from sfumato.measures.saying import listed, percent, value_of
from sfumato.measures.subject import Subject

__all__ = ["MEASURE", "findings"]

Floats = NDArray[np.float64]

MOST_REDRAWN, LEAST_ERROR = 0.5, 0.05
"""Where advice is given: more of the others' values are drawn anew, or the leaver's value is told more nearly."""


def findings(leaving: Leaving) -> Findings:
    """Give the lines `redrawn` and `leaver` of each column that steps changed.

    `redrawn` is the share of the others' values that are another one in the release without the person. `leaver` is the
    relative error of the best attack on the person's true number: by the sums of both releases, by the values that one
    of them holds, by averages that changed (`sfumato.measures.risk.differencing`), and by means that took the place of
    the largest values. The baseline is the error of the person's own value in the release that has it.

    Parameters
    ----------
    leaving
        The releases.

    Examples
    --------
    >>> import polars as pl
    >>> from sfumato.data.codebook import Codebook, Variable
    >>> from sfumato.data.disclosure import Disclosure
    >>> true = pl.DataFrame({"pay": [10.0, 20.0, 90.0]})
    >>> then, now = (pl.DataFrame({"pay": pay}) for pay in ([12.0, 17.0, 91.0], [15.0, 15.0, None]))
    >>> book, gone = Codebook({"pay": Variable(kind="continuous")}), pl.Series([False, False, True])
    >>> for line in findings(Leaving("extreme", true, then, now, gone, book, (Disclosure(), Disclosure()))):
    ...     print(line.measure, line.value)
    redrawn 1.0
    leaver 0.0
    """
    return Findings(tuple(_lines(leaving)))


def _lines(leaving: Leaving) -> Iterator[Finding]:
    for n in (n for n in leaving.then.columns if n in leaving.now.columns and not n.startswith(HIDDEN)):
        others = leaving.then.filter(~leaving.gone)[n], leaving.now.filter(~leaving.gone)[n]
        there = others[0].is_not_null() & others[1].is_not_null()
        if not there.any():
            continue
        moved = float((others[0].filter(there) != others[1].filter(there)).to_numpy().mean())
        yield Finding("redrawn", n, attack=leaving.attack, value=moved)
        error = _error(leaving, n) if n in leaving.true.columns and leaving.codebook[n].numeric else None
        if error is not None:
            yield Finding("leaver", n, attack=leaving.attack, value=error[0], baseline=error[1])


def _error(leaving: Leaving, column: str) -> tuple[float, float] | None:
    """The error of the best attack on the leaver, and of the leaver's own released value; None without a true one."""
    if not all(frame.schema[column].is_numeric() for frame in (leaving.true, leaving.then, leaving.now)):
        return None
    true, old, new = (numbers(t, [column], leaving.codebook)[:, 0] for t in (leaving.true, leaving.then, leaving.now))
    gone = leaving.gone.to_numpy()
    new = np.where(gone, np.nan, new)
    stays = gone | (np.isnan(old) == np.isnan(new))  # who came or went beside the leaver is known as released
    two = Two(np.where(stays, old, np.nan), np.where(stays, new, np.nan), np.zeros(len(old), dtype=bool))
    x = true[two.left]
    if not len(x) or np.isnan(x).any() or not two.both.any():
        return None
    attacks: list[Callable[[Two, Group], Floats]] = [sums, multisets]
    if any(isinstance(part, Averaged) for part in leaving.told[0].of(column)):
        attacks.append(local)
    guesses = [attack(two, "left") for attack in attacks]
    if (tail := _tail(leaving, column, two)) is not None and len(x) == 1:
        guesses.append(tail)
    size = np.where(x == 0, 1.0, np.abs(x))
    error = [float((np.abs(guess - x) / size).mean()) for guess in (*guesses, two.own("left"))]
    return min(error), error[-1]


def _tail(leaving: Leaving, column: str, two: Two) -> Floats | None:
    """The value of whoever left the tail, by the means that took its place in both releases."""
    means = [_mean_in_place(told, column) for told in leaving.told]
    if means[0] is None or means[1] is None:
        return None
    was, is_ = means[0][1], means[1][1]
    before, after = two.old == was, two.new == is_
    if not before[two.left].all():
        return None
    come = two.old[after & ~before & two.both]
    return np.array([before.sum() * was - (after.sum() * is_ - come.sum())])


def _mean_in_place(told: Disclosure, column: str) -> tuple[float, float, float] | None:
    """The cut, the mean in the place of what lies beyond it, and what it is a multiple of, where that is told."""
    parts = (part for part in told.of(column) if isinstance(part, Coarsened))
    return next((part.replaced[column] for part in parts if column in part.replaced), None)


def _compute(subject: Subject) -> Findings:
    return Findings.together([findings(each) for each in subject.leaving])


def _bad(found: Findings) -> tuple[list[Finding], list[Finding]]:
    """Columns that are drawn anew, and those whose leaver is told, and would not be by the released value alone."""
    redrawn = [f for f in found.select("redrawn") if f.value is not None and f.value > MOST_REDRAWN]
    told = [
        f
        for f in found.select("leaver")
        if f.value is not None and f.value < LEAST_ERROR and f.value < 0.5 * (f.baseline or 0.0)
    ]
    return redrawn, told


def _say(found: Findings, fraction: float) -> str | None:
    redrawn, told = _bad(found)
    said = []
    if redrawn:
        worst = max(redrawn, key=value_of)
        said.append(
            f"Without one person {percent(value_of(worst))} of the others' values of {worst.variable} would be others."
        )
    if told:
        least = min(told, key=value_of)
        near = "exactly" if value_of(least) < 1e-9 else f"to within {percent(value_of(least))}"
        said.append(f"Beside a release without one person, {least.variable} of the one who left is told {near}.")
    return " ".join(said) or None


def _complain(found: Findings, fraction: float) -> tuple[Complaint, ...]:
    redrawn, told = _bad(found)
    complaints = []
    for lines, text in (
        (redrawn, "A next release would draw {} anew, and two releases can be averaged"),
        (told, "A next release would give away {} of whoever left"),
    ):
        names = [n for n in dict.fromkeys(line.variable for line in lines) if n is not None]
        if names:
            complaints.append(Complaint(text.format(listed(names)), Aim.TOGETHER, names[0]))
    return tuple(complaints)


MEASURE = Measure(
    family="closeness",
    place=55,
    doing="what a release without one person would tell",
    needs=frozenset({"leaving"}),
    figures=(
        Figure(
            "redrawn",
            title="Others drawn anew without one person",
            what="The steps were run again without one person, a random one and the one farthest out: this share of "
            "the others' values is another one then. Whoever has both releases can average them. Name the earlier "
            "release (`--earlier`) when the same people are released again: strengths are then taken over.",
            form="share",
            aim=Aim.TOGETHER,
        ),
        Figure(
            "leaver",
            title="Error of the value of who left",
            what="How far the best attack on both releases, that with the person and that without, comes from the "
            "person's true value, as a share of it: by sums, by values that one release alone holds, by averages that "
            "changed, by means in place of the largest values.",
            form="number",
            better="high",
            baseline="By the released value alone",
            aim=Aim.TOGETHER,
        ),
    ),
    compute=_compute,
    effort=1,
    say=_say,
    complain=_complain,
)
