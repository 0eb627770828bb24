"""Attribute disclosure: what a release tells of somebody although the record was not found, or was not needed.

The h-rank counts right records. It does not see that a wrong record may hold the right outcome, nor that a noisy
category can often be read off the record itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.data.aim import Aim
from sfumato.data.codebook import Scalar
from sfumato.data.disclosure import Additive, Disclosed, Disclosure, Misclassified
from sfumato.data.finding import Finding, Findings
from sfumato.data.pair import Pair
from sfumato.errors import DataError
from sfumato.kernels.rows import Distinct, distinct, scatter, set_apart
from sfumato.measures.confidence import wilson
from sfumato.measures.measure import Figure, Measure
from sfumato.measures.risk.attackers.attackers import posterior
from sfumato.measures.risk.attackers.error_law import ErrorLaw, laws
from sfumato.measures.risk.attackers.households import (
    Households,
    exact,
    households,
    shared_columns,
    shared_posterior_right,
)
from sfumato.measures.risk.h_rank.h_rank import Laws
from sfumato.measures.risk.h_rank.measure import known_columns
from sfumato.measures.saying import percent, value_of, with_value, worst
from sfumato.measures.subject import Subject

__all__ = ["MEASURE", "findings", "nearest_outcomes", "posterior_right"]

Floats = NDArray[np.float64]
NEAREST = 5
_MOST_TARGETS = 10_000
ALONE = (
    "Households share the draws of {columns}: attribute_posterior reads each record by itself there, and understates "
    "what the members of a household together give away."
)


def posterior_right(true: Floats, released: Floats, law: ErrorLaw, column: int) -> tuple[float, float]:
    """How often the most probable category of a noisy column is the true one, and how often without the release.

    The attacker reads one released record, knows the law of the noise and the population, and takes the category with
    the greatest posterior probability given all of the record's columns.

    Parameters
    ----------
    true, released
        Shape (n, p), NaN where missing.
    law
        How released values arise.
    column
        Number of the noisy categorical column.

    Returns
    -------
    share, baseline
        Of the records; the baseline takes the most frequent category for everybody.

    Examples
    --------
    >>> from sfumato.data.disclosure import Additive
    >>> (_, law), = laws([Additive(("s",), [[0.2]], values=(0, 1))], ("s",), pl.DataFrame({"s": [0.0]}), ())
    >>> posterior_right(np.array([[0.0], [1.0], [1.0]]), np.array([[0.1], [1.2], [0.2]]), law, 0)
    (0.6666666666666666, 0.6666666666666666)
    """
    levels, probability = posterior(released, law, true, column)
    have = ~np.isnan(true[:, column])
    guess = levels[np.argmax(probability, axis=1)]
    counts = np.unique(true[have, column], return_counts=True)[1]
    return float(np.mean(guess[have] == true[have, column])), float(counts.max() / counts.sum())


def nearest_outcomes(
    true: Floats,
    released: Floats,
    outcome: NDArray[np.int64],
    label: NDArray[np.int64] | None = None,
    told: NDArray[np.int64] | None = None,
) -> tuple[float, float | None, float, int]:
    """How often the nearest released record gives away the right outcome, found or not.

    Of records released as one point each is as likely to be taken.

    Parameters
    ----------
    true, released
        Complete values of the known columns, shape (n, p), in the attacker's metric.
    outcome
        True outcome of each record as a number, shape (n,).
    label
        Group that the attacker knows.
    told
        Released outcome of each record in the same numbers, shape (n,); the true one where outcomes were not masked.

    Returns
    -------
    right, right_though_wrong, alike, targets
        Share of targets whose nearest released record tells their true outcome; the same among those whose nearest
        record is somebody else's (None if there are none); share whose five nearest released records all tell one
        outcome; and the number of targets.

    Examples
    --------
    >>> x = np.array([[0.0], [1.0], [5.0]])
    >>> nearest_outcomes(x, x[[1, 0, 2]], np.array([0, 0, 1]))
    (1.0, 1.0, 0.0, 3)
    """
    from scipy.spatial import cKDTree

    search, points = set_apart(true, released, np.zeros(len(true), dtype=np.int64) if label is None else label)
    at = distinct(points)
    rows = np.arange(len(true))
    if len(rows) > _MOST_TARGETS:
        lot = scatter(np.arange(1, len(rows) + 1, dtype=np.uint64))
        rows = np.sort(np.argpartition(lot, _MOST_TARGETS)[:_MOST_TARGETS])
    k = min(NEAREST, len(at.points))
    found = np.asarray(cKDTree(at.points).query(search[rows], k=[*range(1, k + 1)])[1])
    told = outcome if told is None else told
    same = _same_outcome(at.inverse, told, found[:, 0], outcome[rows])
    mass, own = at.multiplicity[found[:, 0]], at.inverse[rows] == found[:, 0]
    wrong = float(np.sum(1 - own / mass))
    own_right = own & (told[rows] == outcome[rows])
    though = float(np.sum((same - own_right) / mass)) / wrong if wrong > 0 else None
    alike = _alike(at, told, found)
    return float(np.mean(same / mass)), though, float(np.mean(alike)) if len(true) >= NEAREST else 0.0, len(rows)


def _same_outcome(
    point: NDArray[np.int64], outcome: NDArray[np.int64], at: NDArray[np.int64], wanted: NDArray[np.int64]
) -> NDArray[np.int64]:
    """How many of the records released as the points `at` have the wanted outcomes."""
    width = int(max(outcome.max(), wanted.max())) + 1
    keys, counts = np.unique(point * width + outcome, return_counts=True)
    asked = at * width + wanted
    place = np.minimum(np.searchsorted(keys, asked), len(keys) - 1)
    return np.asarray(np.where(keys[place] == asked, counts[place], 0), dtype=np.int64)


def _alike(at: Distinct, outcome: NDArray[np.int64], found: NDArray[np.int64]) -> Floats:
    """Probability that the five nearest records have one outcome, where those of the last point are taken at random."""
    low = np.full(len(at.points), np.iinfo(np.int64).max)
    high = np.full(len(at.points), -1, dtype=np.int64)
    np.minimum.at(low, at.inverse, outcome)
    np.maximum.at(high, at.inverse, outcome)
    before = np.cumsum(at.multiplicity[found], axis=1) - at.multiplicity[found]
    last = np.sum(before < NEAREST, axis=1) - 1
    row = np.arange(len(found))
    whole = np.arange(found.shape[1]) < last[:, None]
    lowest = np.where(whole, low[found], np.iinfo(np.int64).max).min(axis=1)
    one = lowest == np.where(whole, high[found], -1).max(axis=1)
    point, many = found[row, last], at.multiplicity[found[row, last]]
    drawn = np.minimum(NEAREST - before[row, last], many)
    same = _same_outcome(at.inverse, outcome, point, np.where(one, lowest, 0))
    keys, counts = np.unique(at.inverse * (int(outcome.max()) + 1) + outcome, return_counts=True)
    of = keys // (int(outcome.max()) + 1)
    among = np.bincount(of, _all_of(counts, at.multiplicity[of], np.full(len(of), NEAREST)), minlength=len(at.points))
    return np.asarray(np.where(last > 0, one * _all_of(same, many, drawn), among[point]))


def _all_of(some: NDArray[np.int64], many: NDArray[np.int64], drawn: NDArray[np.int64]) -> Floats:
    """Probability that so many drawn of `many` all are among `some` of them."""
    chance = np.ones(len(some))
    for i in range(NEAREST):
        chance *= np.where(i < np.minimum(drawn, many), np.maximum(some - i, 0) / np.maximum(many - i, 1), 1.0)
    return chance


def findings(pair: Pair, disclosure: Disclosure, sensitive: Sequence[str]) -> Findings:
    """Give the lines `attribute_posterior`, `attribute_nearest` and `attribute_alike`.

    Parameters
    ----------
    pair
        Original and protected table; attackers know the pair's columns.
    disclosure
        What the release tells.
    sensitive
        Categorical columns that nobody must learn.
    """
    if not pair.aligned or not pair.before.height:
        return Findings()
    lines = (*_posterior_lines(pair, disclosure), *_nearest_lines(pair, disclosure, sensitive))
    return Findings(lines, tuple(_shared_notes(pair, disclosure)))


def _posterior_lines(pair: Pair, disclosure: Disclosure) -> Iterator[Finding]:
    names, true, noisy = _with_categories(pair, disclosure, *known_columns(pair, disclosure))
    told = list(laws(_coded(disclosure), names, pair.after, pair.known_by))
    homes = households(pair, list(disclosure), names)
    for j, n in enumerate(names):
        right, base, count = 0.0, 0.0, 0
        for rows, law in told:
            if not law.noisy[j] or (law.support[j] is None and law.exchange[j] is None):
                continue
            try:
                share, baseline = posterior_right(true[rows], noisy[rows], law, j)
            except DataError:  # too many combinations
                continue
            if homes is not None and _differ_as_before(homes, told, disclosure, names, j):
                together = shared_posterior_right(true[:, j], noisy[:, j], law, j, homes.member)
                share = max(share, together or 0.0)
            size = len(true[rows])
            right, base, count = right + share * size, base + baseline * size, count + size
        if count:
            yield Finding(
                "attribute_posterior", n, "all", None, "posterior", right / count, wilson(right, count), base / count
            )


def _shared_notes(pair: Pair, disclosure: Disclosure) -> Iterator[str]:
    """Columns whose noise a household shares where nobody worked out what its members say of each other."""
    names, *_ = known_columns(pair, disclosure)
    told = list(laws(_coded(disclosure), names, pair.after, pair.known_by))
    homes = households(pair, list(disclosure), names)
    of_numbers = {n: j for j, n in enumerate(names)}
    missed = []
    for n in shared_columns(disclosure):
        j = of_numbers.get(n)
        few = j is None or any(law.support[j] is not None or law.exchange[j] is not None for _, law in told)
        done = j is not None and homes is not None and _differ_as_before(homes, told, disclosure, names, j)
        if few and not done:
            missed.append(n)
    if missed:
        yield ALONE.format(columns=", ".join(missed))


def _differ_as_before(homes: Households, told: Laws, disclosure: Disclosure, names: Sequence[str], column: int) -> bool:
    """Whether members of a household differ in a released column just as they did in the true one."""
    stratified = any(isinstance(p, Additive) and p.where for p in disclosure.of(names[column]))
    return column in homes.shared and not stratified and all(exact(law, column) for _, law in told)


def _apart(part: Disclosed, disclosure: Disclosure) -> bool:
    """Whether exchanged categories are attacked as codes; numbers that noise was added to stay numbers."""
    if not isinstance(part, Misclassified) or part.levels is None:
        return False
    return not any(isinstance(p, Additive) for p in disclosure.of(part.column))


def _coded(disclosure: Disclosure) -> list[Disclosed]:
    """The disclosure with the categories of exchanged columns as numbers 0, 1, …, the same for all its parts."""
    levels = _levels(disclosure)
    return [
        part.model_copy(update={"levels": tuple(levels[part.column].index(v) for v in part.levels or ())})
        if isinstance(part, Misclassified) and part.column in levels
        else part
        for part in disclosure
    ]


def _levels(disclosure: Disclosure) -> dict[str, list[Scalar]]:
    """Every category that a column may be exchanged to."""
    levels: dict[str, list[Scalar]] = {}
    for part in disclosure:
        if isinstance(part, Misclassified) and _apart(part, disclosure):
            known = levels.setdefault(part.column, [])
            known += [v for v in part.levels or () if v not in known]
    return levels


def _with_categories(
    pair: Pair, disclosure: Disclosure, names: tuple[str, ...], true: Floats, noisy: Floats
) -> tuple[tuple[str, ...], Floats, Floats]:
    """Exchanged categories as the numbers of their levels, beside the columns that are numbers anyway."""
    levels = _levels(disclosure)
    coded = {n: v for n, v in levels.items() if n in pair.before.columns and n in pair.after.columns}
    kept = [j for j, n in enumerate(names) if n not in coded]
    tables = []
    for frame, known in ((pair.before, true), (pair.after, noisy)):
        codes = [_codes(frame[n], v) for n, v in coded.items()]
        tables.append(np.column_stack([known[:, kept], *codes]) if codes or kept else np.zeros((frame.height, 0)))
    return (*(names[j] for j in kept), *coded), tables[0], tables[1]


def _codes(values: pl.Series, levels: Sequence[object]) -> Floats:
    """Number of each value's level, NaN where it is none of them."""
    text = [str(v).lower() if isinstance(v, bool) else str(v) for v in levels]
    as_text = values.cast(pl.Int64, strict=False).cast(pl.String) if values.dtype.is_float() else values.cast(pl.String)
    return (
        as_text.replace_strict(text, list(range(len(text))), default=None, return_dtype=pl.Float64)
        .fill_null(np.nan)
        .to_numpy()[:, None]
    )


def _nearest_lines(pair: Pair, disclosure: Disclosure, sensitive: Sequence[str]) -> Iterator[Finding]:
    names, true, noisy = known_columns(pair, disclosure)
    of_sensitive = {
        n for p in disclosure if isinstance(p, Additive) and p.indicators_of in sensitive for n in p.columns
    }
    columns = [j for j, n in enumerate(names) if n not in sensitive and n not in of_sensitive]
    whole = ~(np.isnan(true[:, columns]).any(axis=1) | np.isnan(noisy[:, columns]).any(axis=1))
    if not columns or not whole.any():
        return
    x, z = true[whole][:, columns], noisy[whole][:, columns]
    sd = x.std(axis=0)
    sd[sd == 0] = 1.0
    for n in (n for n in sensitive if n in pair.after.columns):
        outcome, told = (o[whole] for o in _outcomes(pair, n))
        right, though, alike, count = nearest_outcomes(x / sd, z / sd, outcome, pair.stratum[whole], told)
        size = int(max(outcome.max(), told.max())) + 1
        share, released = (np.bincount(o, minlength=size) / len(o) for o in (outcome, told))
        base = float(np.sum(share * released))
        yield Finding("attribute_nearest", n, "all", None, "nearest", right, wilson(right * count, count), base)
        if though is not None:
            yield Finding("attribute_nearest", n, "wrong record", None, "nearest", though, None, base)
        every = float(np.sum(released**NEAREST))
        yield Finding("attribute_alike", n, "all", NEAREST, "nearest", alike, wilson(alike * count, count), every)


def _outcomes(pair: Pair, column: str) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """True and released outcomes in the same numbers, missing ones 0; one that masking made is taken as it is."""
    after = pair.after[column]
    before = pair.before[column] if column in pair.before.columns else after
    if before.dtype != after.dtype and all(s.dtype.is_numeric() or s.dtype == pl.Boolean for s in (before, after)):
        before, after = before.cast(pl.Float64), after.cast(pl.Float64)
    both = pl.concat([before.cast(pl.String), after.cast(pl.String)]).rank("dense").fill_null(0).cast(pl.Int64)
    numbers = both.to_numpy()
    return numbers[: len(before)], numbers[len(before) :]


def _compute(subject: Subject) -> Findings:
    pair = subject.two
    return findings(pair, subject.disclosure, [n for n in subject.sensitive if n in pair.before.columns])


def _random(subject: Subject) -> bool:
    """Whether values were drawn at random: elsewhere the figures of linkage and of groups say it."""
    if not any(isinstance(part, Additive | Misclassified) for part in subject.disclosure):
        return subject.how.attacking is not None and bool(subject.two.columns)
    return True


def _say(findings: Findings, fraction: float) -> str | None:
    lines = [f for f in with_value(findings, "attribute_posterior") if value_of(f) > (f.baseline or 0) + 0.05]
    if not lines:
        return None
    line = worst(lines)
    return (
        f"The true category of {line.variable} can be told from the noisy record for {percent(value_of(line))} "
        f"({percent(line.baseline or 0.0)} by guessing the most frequent one)."
    )


MEASURE = Measure(
    family="linkage",
    place=30,
    doing="what wrong records give away",
    needs=frozenset({"pair", "disclosure"}),
    figures=(
        Figure(
            "attribute_posterior",
            title="Noisy category read off the record",
            what="Somebody who has the right record, or any, takes the most probable true category given the noisy "
            "values; this share is right. Noise that hides whose record it is may still leave a category readable.",
            form="share",
            published="rate",
            baseline="The most frequent category for everybody",
            aim=Aim.READ,
        ),
        Figure(
            "attribute_nearest",
            title="Right outcome from the nearest record",
            what="An attacker takes the outcome of the nearest released record, right or wrong; this share has the "
            "person's own outcome. Of wrong records it should be no more than chance.",
            form="share",
            published="rate",
            baseline="A random record's outcome",
            aim=Aim.DIVERSE,
        ),
        Figure(
            "attribute_alike",
            title="The nearest records all have one outcome",
            what="Share of people whose five nearest released records all have the same outcome, so that it does not "
            "matter which of them is theirs.",
            form="share",
            published="rate",
            baseline="Five random records",
            at="{0:g} nearest",
            aim=Aim.DIVERSE,
        ),
    ),
    compute=_compute,
    effort=2,
    when=_random,
    say=_say,
)
