"""Record linkage: how often an intruder who knows the original values picks the right released record.

Two attackers. `nearest` takes the closest released record for each person. `one-to-one` holds the original values of
many people at once and knows that each released record belongs to one of them only, so it assigns all together
(Domingo-Ferrer & Torra 2003, doi:10.1023/A:1024666705042, compares linkers; assignment by the Hungarian method).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.data.aim import Aim
from sfumato.data.finding import Finding, Findings
from sfumato.data.pair import Pair
from sfumato.kernels.neighbours.assignment import PEOPLE, assign
from sfumato.kernels.rows import complete_rows, distinct, row_hash, set_apart
from sfumato.measures.confidence import wilson
from sfumato.measures.folds.asking import Asking
from sfumato.measures.measure import KNOWN, Complaint, Figure, Measure
from sfumato.measures.risk.linkage_units import unit_linkage, units_not_looked_for
from sfumato.measures.saying import CONTRACT, judged, percent, value_of, with_value, without_protection, worst
from sfumato.measures.subject import WIDE, Subject
from sfumato.measures.units import of_units

__all__ = ["MEASURE", "OneToOne", "findings", "linkage_nearest", "linkage_one_to_one", "unprotected_linkage"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

TIE = 1e-9  # relative difference below which two distances are equal
NOT_ALIGNED = "The tables are not joined record by record, so no linkage was measured."
NO_RECORD = "No record has a value in every numeric column, so no linkage was measured."
INCOMPLETE = "Linkage: records with a missing value in a numeric column were left out."
SAMPLED = (
    f"One-to-one linkage in large groups was measured on {PEOPLE} people chosen by a fixed rule, each assigned "
    "together with those nearest to him and those whose releases are: nearly what the assignment of all gives."
)


def linkage_nearest(before: Floats, after: Floats, stratum: Ints | None = None) -> float | None:
    """Share of records that an intruder links rightly by taking the nearest released record.

    The intruder knows the exact original values of one person, the standard deviations of the original columns, and,
    where `stratum` is given, the person's stratum. Distance is Euclidean in original units, each column divided by the
    standard deviation of the original. Among t nearest released records that tie (distances equal within 1e-9
    relative) the intruder guesses: 1/t. Being linked is not being known: where k records share a release, 1/k is the
    least that any method can reach. The measure does not cover intruders who hold several files or know the method's
    own state.

    Parameters
    ----------
    before, after : ndarray, shape (n, p)
        Original and released values; row i of both is the same record. Rows with a missing value are left out.
    stratum : ndarray, shape (n,), optional
        Stratum of each original record; released records of other strata are then never taken.

    Returns
    -------
    float or None
        Expected share between 0 and 1; None where there is no record.

    Examples
    --------
    >>> x = np.array([[0.0], [1.0], [2.0], [10.0]])
    >>> linkage_nearest(x, np.array([[0.5], [0.5], [2.0], [9.0]]))
    0.75
    """
    whole = complete_rows(before, after)
    return _nearest(*_scaled(before, after, whole), _known(stratum, whole))


def unprotected_linkage(before: Floats, stratum: Ints | None = None) -> float | None:
    """Share of records linked rightly had the original values been released: the mean of 1 / number of twins.

    Parameters
    ----------
    before : ndarray, shape (n, p)
        Original values. Rows with a missing value are left out.
    stratum : ndarray, shape (n,), optional
        Stratum of each record; twins are records of the same stratum.

    Examples
    --------
    >>> unprotected_linkage(np.array([[1.0], [1.0], [2.0]]))
    0.6666666666666666
    """
    whole = complete_rows(before)
    return _unprotected(distinct(before[whole]).inverse, _known(stratum, whole))


def _scaled(before: Floats, after: Floats, whole: Bools) -> tuple[Floats, Floats]:
    """Complete records with each column in standard deviations of the original's column; both are centred alike."""
    vary = [j for j in range(before.shape[1]) if np.ptp(before[whole, j]) > 0] if whole.any() else []
    x, z = np.empty((int(whole.sum()), len(vary))), np.empty((int(whole.sum()), len(vary)))
    for i, j in enumerate(vary):  # what all originals share tells nobody apart
        column = before[whole, j]
        middle, sd = column.mean(), column.std()
        x[:, i], z[:, i] = (column - middle) / sd, (after[whole, j] - middle) / sd
    return x, z


def _known(stratum: Ints | None, whole: Bools) -> Ints:
    """Strata of the complete records, 0 or more; all 0 where the intruder does not know them."""
    if stratum is None or not whole.any():
        return np.zeros(int(whole.sum()), dtype=np.int64)
    return np.asarray(stratum[whole] - stratum[whole].min(), dtype=np.int64)


def _nearest(x: Floats, z: Floats, stratum: Ints) -> float | None:
    return float(_right_links(*set_apart(x, z, stratum)).mean()) if len(x) else None


def _unprotected(values: Ints, stratum: Ints) -> float | None:
    """Mean of 1 / number of twins, which is the number of distinct records over their number.

    `values` numbers the distinct values 0, 1, …, `stratum` the strata.
    """
    if not len(values):
        return None
    keys = np.sort(values * (int(stratum.max()) + 1) + stratum)
    return float(1 + np.count_nonzero(keys[1:] != keys[:-1])) / len(keys)


def _right_links(x: Floats, z: Floats) -> Floats:
    """Probability that each record is linked rightly, shape (n,), in another order."""
    from sfumato.kernels.neighbours.kdtree import build_tree, own_share

    released = distinct(z)
    tree = build_tree(released.points, released.multiplicity)
    order = np.argsort(tree.rank()[released.inverse])  # neighbours in space are neighbours in memory
    apart = z - x
    own = np.sqrt(np.einsum("np,np->n", apart, apart))
    return own_share(tree, x[order], own[order], TIE)


@dataclass(frozen=True)
class OneToOne:
    """Share of records linked rightly by assigning all at once.

    Parameters
    ----------
    value
        Expected share between 0 and 1; None where there is no record.
    interval
        95% interval (Wilson) where not everybody was looked for; else None.
    baseline
        The same had the original values been released.
    sampled
        Whether there were strata that could not be assigned as a whole.
    """

    value: float | None
    interval: tuple[float, float] | None
    baseline: float | None
    sampled: bool


def linkage_one_to_one(before: Floats, after: Floats, stratum: Ints | None = None, *, most: int = 1_000) -> OneToOne:
    """Share of records that an intruder links rightly by the best one-to-one assignment of originals to releases.

    The intruder knows the exact original values of everybody, the standard deviations of the original columns, and,
    where `stratum` is given, the strata; the sum of distances of the pairs is made smallest (within each stratum). Of
    strata with more than `most` records, and where there are very many, people are looked for that a fixed public rule
    chooses by the records' values and not by their order: each is assigned together with the 75 people nearest to him
    and those with the 75 releases nearest to him, which is nearly what the whole stratum gives.

    Of t releases that are exactly equal the intruder cannot say which is whose: an assignment to one of them counts
    1/t. People whose original values are exactly equal share what was assigned to them.

    Parameters
    ----------
    before, after : ndarray, shape (n, p)
        Original and released values; row i of both is the same record. Rows with a missing value are left out.
    stratum : ndarray, shape (n,), optional
        Stratum of each record.
    most
        Most records in a stratum that is assigned as a whole.

    Returns
    -------
    OneToOne

    Examples
    --------
    >>> x = np.array([[0.0], [1.0], [2.0], [10.0]])
    >>> linkage_one_to_one(x, x[::-1]).value
    0.0
    """
    whole = complete_rows(before, after)
    x, z, known = _in_fixed_order(before[whole], after[whole], _known(stratum, whole))
    return _one_to_one(x, z, known, most, _unprotected(distinct(x).inverse, known))


def _in_fixed_order(before: Floats, after: Floats, stratum: Ints) -> tuple[Floats, Floats, Ints]:
    """Scaled values and strata of complete records, in an order that hangs on the records alone."""
    # by what no arithmetic made: the last bits of released values choose no other people; records that tie are equal
    word = row_hash(np.column_stack([before, stratum]))
    order = np.argsort(word)
    tied = np.flatnonzero(word[order[1:]] == word[order[:-1]])
    if len(tied):  # only who shares a hash must be looked at by what was released
        among = np.union1d(tied, tied + 1)
        rows = order[among]
        order[among] = rows[np.lexsort((*after[rows].T, word[rows]))]
    x, z = _scaled(before[order], after[order], np.ones(len(order), dtype=bool))
    return x, z, stratum[order]


def _one_to_one(x: Floats, z: Floats, stratum: Ints, most: int, baseline: float | None) -> OneToOne:
    """Assign within each stratum, and count those who were not looked for as those who were."""
    n = len(stratum)
    if not n:
        return OneToOne(None, None, None, False)
    found = assign(x, z, stratum, most)
    looked_for = len(found.chances)
    share = float(found.chances.mean()) if looked_for else 0.0
    interval = None
    if looked_for < found.others:
        low, high = wilson(share * looked_for, looked_for)
        interval = (found.right + found.others * low) / n, (found.right + found.others * high) / n
    return OneToOne((found.right + found.others * share) / n, interval, baseline, looked_for > 0)


def findings(pair: Pair, *, unscaled: Floats | None = None, most: int = 1_000) -> Findings:
    """Give the lines `linkage_nearest` and `linkage_one_to_one`, overall and for an intruder who knows the stratum.

    Parameters
    ----------
    pair
        Original and protected table. Strata are those of the original table.
    unscaled : ndarray, shape (n, p), optional
        Released values before they were rescaled, row by row as in the pair: rescaling can often be undone, so it is
        not counted as protection. Gives the group `unscaled`, for an intruder who knows the stratum if there is one.
    most
        Most records in a stratum that is assigned as a whole.
    """
    if not pair.aligned:
        return Findings((), (NOT_ALIGNED,))
    groups: list[tuple[str, Ints | None]] = [("overall", None)]
    if pair.known_by:
        groups.append(("stratum", pair.stratum))
    lines = _nearest_lines(pair.x, pair.z, groups)
    baselines = {line.group: line.baseline for line in lines}  # whichever way the intruder links
    if unscaled is not None:
        lines += _nearest_lines(pair.x, unscaled, [("unscaled", groups[-1][1])])
    notes = [] if pair.whole.all() else [INCOMPLETE]
    if not pair.whole.any():
        notes.append(NO_RECORD)
    stratum = pair.stratum[pair.whole]
    x, z, known_stratum = _in_fixed_order(*pair.complete(), stratum)
    sampled = False
    for group, known in groups:
        among = known_stratum if known is not None else np.zeros_like(stratum)
        one = _one_to_one(x, z, among, most, baselines[group])
        sampled |= one.sampled
        figures = (one.value, one.interval, one.baseline)
        lines.append(Finding("linkage_one_to_one", None, group, None, "one-to-one", *figures))
    if sampled:
        notes.append(SAMPLED)
    return Findings(tuple(lines), tuple(notes))


def _nearest_lines(before: Floats, after: Floats, groups: list[tuple[str, Ints | None]]) -> list[Finding]:
    """Lines for the nearest release in each group; the tables are scaled once."""
    whole = complete_rows(before, after)
    x, z = _scaled(before, after, whole)
    values = distinct(x).inverse
    lines = []
    for group, stratum in groups:
        s = _known(stratum, whole)
        figures = (_nearest(x, z, s), None, _unprotected(values, s))
        lines.append(Finding("linkage_nearest", None, group, None, "nearest", *figures))
    return lines


def _compute(subject: Subject) -> Findings:
    """By what was masked alone; by those who know all that leaves beside it; by those who know all rows of a unit."""
    from sfumato.measures.risk.linkage_released import released_findings

    masked = findings(subject.two, unscaled=subject.unscaled) if subject.two.columns else Findings()
    return masked + released_findings(subject) + unit_linkage(subject)


def _say(findings: Findings, fraction: float) -> str | None:
    """What the best of the attackers find who link by nearest record, and by assignment with the same knowledge."""
    nearest, together = with_value(findings, "linkage_nearest"), with_value(findings, "linkage_one_to_one")
    whole = [f for f in nearest if of_units(f)]
    nearest = [f for f in nearest if not of_units(f)]
    if not nearest and not together:
        return _of_whole(whole)
    best = worst(nearest or together)
    overall = best.group in (None, "overall")
    together = [f for f in together if (f.group in (None, "overall")) == overall]
    said = []
    if nearest:
        undo = "undoing the restored spread and " if best.group == "unscaled" else ""
        said.append(f"{_found(best)} found by {undo}taking the nearest released record")
    if together:
        said.append(f"{_found(worst(together))} found by assigning the records of very many people at once")
    known = "exact original values and group are"
    if overall or best.group in WIDE:
        known = "exact original values are" if overall else "true values in all released columns are"
    text = f"Of people whose {known} known, {', and '.join(said)}. {judged(nearest + together)}"
    return " ".join(part for part in (text, _of_whole(whole)) if part)


def _of_whole(lines: list[Finding]) -> str | None:
    """What somebody finds who knows all rows of a person or household."""
    if not lines:
        return None
    best = worst(lines)
    return (
        f"Someone who knows the true values in all rows of a {best.attack} finds {percent(value_of(best))} of the "
        f"people in {best.attack}s of two rows or more{without_protection(best)}. {judged([best])}"
    )


def _found(line: Finding) -> str:
    return f"{percent(value_of(line))}{without_protection(line)} are"


def _complain(findings: Findings, fraction: float) -> tuple[Complaint, ...]:
    lines = with_value(findings, "linkage_nearest") + with_value(findings, "linkage_one_to_one")
    if not lines or value_of(worst(lines)) <= CONTRACT:
        return ()
    text = "Many records are found by somebody who knows the exact original values"
    return (Complaint(text, Aim.FURTHER, urgent=True),)


def _among_all(subject: Subject) -> Asking:
    """By what was masked among all records; by those who know all that leaves among those sampled, which is easier."""
    from sfumato.measures.risk.linkage_people import among_all
    from sfumato.measures.risk.linkage_released import released_findings

    masked = (yield from among_all(subject)) if subject.two.columns else Findings()
    return masked + released_findings(subject) + units_not_looked_for(subject)


_KNOWS = {
    **KNOWN,
    "overall": "exact values",
    "stratum": "exact values, strata",
    "unscaled": "values, spread undone",
}

MEASURE = Measure(
    family="linkage",
    place=20,
    doing="linkage",
    needs=frozenset({"pair"}),
    figures=(
        Figure(
            "linkage_nearest",
            title="Right guesses by nearest record",
            what="An attacker who knows the exact original values of a person takes the nearest released record; this "
            "share of the people is found. Most real attackers know less. To be found is not yet to be harmed, but it "
            "should be rare. Attacks person and household: an attacker who knows all rows of one takes the nearest of "
            "as many rows, as far as an id that leaves joins them; the share is of people in those of two or more.",
            form="share",
            published="rate",
            baseline="Without protection",
            aim=Aim.FURTHER,
            attacker="nearest record",
            knows=_KNOWS,
            clause="{} of the people are found",
        ),
        Figure(
            "linkage_one_to_one",
            title="Right guesses by assigning all records",
            what="An attacker who knows the exact original values of very many people assigns all released records at "
            "once, each to one person; this share is right. In large tables it is measured on some of them, hence the "
            "interval.",
            form="share",
            published="rate",
            baseline="Without protection",
            aim=Aim.FURTHER,
            attacker="all records at once",
            knows=_KNOWS,
            clause="{} of the people are found",
        ),
    ),
    compute=_compute,
    forms={"people": _among_all},
    effort=5,
    say=_say,
    complain=_complain,
)
