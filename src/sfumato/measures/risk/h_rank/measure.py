"""Attacks on a released table: the h-rank under every attacker asked for, and their maximum.

Source: Goldstein and Shlomo (2020), doi:10.2478/jos-2020-0005; see `h_rank`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from types import MappingProxyType

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.data.aim import Aim
from sfumato.data.disclosure import Additive, Disclosed, Disclosure, Misclassified, Sampled
from sfumato.data.finding import Finding, Findings
from sfumato.data.pair import Pair, numbers
from sfumato.draws import public_places, written
from sfumato.measures.attacking import DEFAULT, USUAL, Attacking
from sfumato.measures.earlier import Earlier
from sfumato.measures.folds.asking import Asking
from sfumato.measures.measure import Complaint, Figure, Measure
from sfumato.measures.risk.attackers.attackers import Attack
from sfumato.measures.risk.attackers.error_law import ErrorLaw, laws, observed_law
from sfumato.measures.risk.attackers.households import households, shared_columns
from sfumato.measures.risk.h_rank.h_rank import AT, HRank, Laws, h_rank
from sfumato.measures.saying import CONTRACT, PUBLISHED, judged, percent, value_of, worst
from sfumato.measures.subject import Subject
from sfumato.progress import Progress, quiet, split

__all__ = ["EARLIER", "MEASURE", "WORST", "findings", "known_columns", "laws_of", "sampling_fraction", "worst_line"]

WORST = "worst"
"""Name of the maximum over the attackers asked for."""
EARLIER = "earlier"
"""Name of the attacker who has earlier releases too, and looks for the nearest mean of all."""
FILE_ORDER = (0.1, 0.5, 0.9)
NOT_ALIGNED = "The tables are not joined record by record, so no h-rank was measured."
NO_COLUMN = "No h-rank was measured: no column that the attacker could know is a number before and after."
OBSERVED = "No noise is disclosed on {columns}: attackers are taken to know the covariance of the errors all the same."
FRACTION = (
    "h-rank: the attacker is taken not to know who is in the file, so that every chance is multiplied by the sampling "
    "fraction. Divide by it where taking part can be known."
)
SHARED = (
    "Households share the draws of {columns}: differences between members stay as they were, and whoever knows the "
    "members can tell a household by them. Draw by record wherever households can be told apart."
)
UNSEEN = " No attack by such differences was measured: the tables have no household column that groups records."
SUMMED = (
    "Attackers take the sum of several draws of Laplace or uniform noise as normal. An attacker who works with its "
    "own density finds somewhat more where there are few draws."
)
NO_FILE_ORDER = "Shares of the file in its own order (as published tables have them) say nothing of risk."

Floats = NDArray[np.float64]


def findings(
    pair: Pair,
    disclosure: Disclosure,
    how: Attacking | None = None,
    progress: Progress = quiet,
    earlier: Sequence[Earlier] = (),
) -> Findings:
    """Give the lines `h_rank`: P(h ≤ `at`) by `group` and `attack`; the baseline is somebody who takes any record.

    Attackers know the true values of the pair's columns, and of its strata unless those were released at random. Where
    households share noise the attack `household` is added to the default ones. A column that has become indicators
    counts as them.

    Parameters
    ----------
    pair
        Original and protected table.
    disclosure
        What the release tells: attackers know it too.
    how
        Which attackers, and how.
    progress
        Called before each attack.
    earlier
        Earlier releases: the attack `earlier` is that of the nearest mean of all of them.
    """
    how = how or Attacking()
    if not pair.aligned:
        return Findings((), (NOT_ALIGNED,))
    names, true, noisy = known_columns(pair, disclosure)
    if not names or not len(true):
        return Findings((), (NO_COLUMN,))
    told = laws_of(pair, disclosure, names, true, noisy)
    fraction = sampling_fraction(disclosure) if how.fraction is None else how.fraction
    at = tuple(sorted({*AT, *how.at}))
    homes = households(pair, list(disclosure), names)
    usual = homes and set(DEFAULT) <= set(how.attacks)
    attacks = list(dict.fromkeys((*how.attacks, "household") if usual else how.attacks))
    found: dict[str, HRank] = {}
    means = mean_release(pair, names, noisy, earlier)
    ids = pair.before[pair.record] if pair.record is not None and pair.record in pair.before.columns else None
    order = public_places(ids) if ids is not None and how.sample is not None and how.sample < len(true) else None
    attacks += [] if means is None else [EARLIER]
    for name, part in zip(attacks, split(progress, [1] * len(attacks)), strict=True):
        part(f"attack {name}", 0)
        found[name] = h_rank(
            true,
            noisy if means is None or name != EARLIER else means,
            metric=how.metric,
            cap=max(how.cap, max(at)),
            attack=Attack.parse("nearest" if name == EARLIER else name),
            laws=told,
            label=pair.stratum if pair.known_by else None,
            sample=how.sample,
            fraction=fraction,
            like=next(iter(found.values()), None),
            homes=homes,
            order=order,
        )
    lines = [line for group, t in _places(found, at) for line in _lines(found, group, t)]
    notes = [FRACTION] if fraction < 1 else []
    if shared := shared_columns(disclosure):
        notes.append(SHARED.format(columns=", ".join(shared)) + ("" if homes else UNSEEN))
    if any(_sums(law, [name for name in found if name != EARLIER]) for _, law in told):
        notes.append(SUMMED)
    if unsaid := [n for j, n in enumerate(names) if not _said(disclosure, n) and _differ(true[:, j], noisy[:, j])]:
        notes.append(OBSERVED.format(columns=", ".join(unsaid)))
    if how.file_order:
        lines += [line for share in FILE_ORDER for t in at for line in _in_file_order(found, share, t)]
        notes.append(NO_FILE_ORDER)
    return Findings(tuple(lines), tuple(notes))


def known_columns(pair: Pair, disclosure: Disclosure) -> tuple[tuple[str, ...], Floats, Floats]:
    """The columns that attackers compare, with their true and released values; indicators in place of a category."""
    names, true, noisy = list(pair.columns), [pair.x], [pair.z]
    for part in disclosure:
        if (
            not isinstance(part, Additive)
            or part.indicators_of is None
            or part.indicators_of not in pair.before.columns
        ):
            continue
        new = [n for n in part.columns if n in pair.after.columns and n not in names]
        if new:
            category = pair.before[part.indicators_of].cast(pl.String)
            missing = pair.codebook.missing(part.indicators_of, pair.before.schema[part.indicators_of])
            gone = pair.before.select(missing).to_series()
            for n in new:
                indicator = (category == n.removeprefix(f"{part.indicators_of}=")).cast(pl.Float64)
                true.append(pl.select(pl.when(~gone).then(indicator)).to_series().fill_null(np.nan).to_numpy()[:, None])
            noisy.append(numbers(pair.after, new, pair.codebook))
            names += new
    return tuple(names), np.concatenate(true, axis=1), np.concatenate(noisy, axis=1)


def mean_release(pair: Pair, names: Sequence[str], noisy: Floats, earlier: Sequence[Earlier]) -> Floats | None:
    """Mean of the released values of all releases that hold a record, shape (n, p); None without record ids.

    Examples
    --------
    >>> from sfumato.data.codebook import Codebook
    >>> now, then = pl.DataFrame({"id": [1, 2], "x": [4.0, 6.0]}), pl.DataFrame({"id": ["2"], "x": [8.0]})
    >>> pair = Pair(now, now, Codebook(), ("x",), aligned=True, record="id")
    >>> mean_release(pair, ("x",), pair.z, [Earlier(then, then)]).ravel().tolist()
    [4.0, 7.0]
    """
    record = pair.record
    if record is None or not any(record in e.table.columns for e in earlier):
        return None
    known = pair.after.select(written(pair.after[record]).alias("id"))
    views = [noisy]
    for each in (e.table for e in earlier if record in e.table.columns):
        there = [
            n for n in names if n in each.columns and (each.schema[n].is_numeric() or each.schema[n] == pl.Boolean)
        ]
        then = pl.DataFrame(numbers(each, there, pair.codebook), schema=there).fill_nan(None)
        joined = known.join(then.with_columns(id=written(each[record])), on="id", how="left", maintain_order="left")
        view = np.full_like(noisy, np.nan)
        for n in there:
            view[:, names.index(n)] = joined[n].fill_null(np.nan).to_numpy()
        views.append(view)
    stacked = np.array(views)
    count = (~np.isnan(stacked)).sum(axis=0)
    return np.asarray(np.where(count > 0, np.nansum(stacked, axis=0) / np.maximum(count, 1), np.nan))


def _sums(law: ErrorLaw, attacks: Sequence[str]) -> bool:
    """Whether an attack takes a sum of draws that are not normal as if it were."""
    several = any(Attack.parse(name).kind == "predicted" and Attack.parse(name).number for name in attacks)
    drawn = sum(bool(np.any(np.diagonal(step.covariance) > 0)) for step in law.steps) > 1
    unlike = [d != "gaussian" for step in (law, *law.steps) for d in step.distribution]
    return any(unlike) and (several or drawn)


def _said(disclosure: Disclosure, column: str) -> bool:
    return any(isinstance(p, Additive | Misclassified) for p in disclosure.of(column))


def _differ(true: Floats, noisy: Floats) -> bool:
    return bool(np.any((true != noisy) & ~np.isnan(true) & ~np.isnan(noisy)))


def laws_of(pair: Pair, disclosure: Disclosure, names: tuple[str, ...], true: Floats, noisy: Floats) -> Laws:
    """The disclosed law; that of the errors themselves for columns that were changed in another way.

    Parameters
    ----------
    pair, disclosure
        As for `findings`.
    names, true, noisy
        As `known_columns` gives them.
    """
    parts: list[Disclosed] = list(disclosure)
    unsaid = [j for j, n in enumerate(names) if not _said(disclosure, n)]
    if unsaid:
        columns = tuple(names[j] for j in unsaid)
        observed = observed_law(columns, true[:, unsaid], noisy[:, unsaid])
        values = {n: tuple(s) for n, s in zip(columns, observed.support, strict=True) if s is not None}
        parts.append(Additive(columns, observed.covariance, values=values))
    return list(laws(parts, names, pair.after, pair.known_by))


def sampling_fraction(disclosure: Disclosure) -> float:
    """Chance that a person is in a file, as far as a release tells.

    Examples
    --------
    >>> sampling_fraction(Disclosure())
    1.0
    """
    return float(np.prod([p.fraction for p in disclosure if isinstance(p, Sampled)]))


def _places(found: dict[str, HRank], at: Sequence[int]) -> Iterator[tuple[str, int]]:
    first = next(iter(found.values()))
    return ((group, t) for group in first.groups for t in at)


def _lines(found: dict[str, HRank], group: str, t: int) -> Iterator[Finding]:
    """One line for each attacker, and one for the best of them."""
    lines = [
        Finding("h_rank", None, group, t, name, h.probability(t, group), h.interval(t, group), h.baseline(t))
        for name, h in found.items()
    ]
    yield from lines
    yield worst_line(lines)


def _in_file_order(found: dict[str, HRank], share: float, t: int) -> Iterator[Finding]:
    group = f"first {share:.0%}"
    lines = [
        Finding("h_rank", None, group, t, name, h.in_file_order(t, share), None, h.baseline(t))
        for name, h in found.items()
    ]
    yield from lines
    yield worst_line(lines)


def worst_line(lines: Sequence[Finding]) -> Finding:
    """The line of the best of several attackers on the same records.

    Examples
    --------
    >>> lines = [Finding("h_rank", attack="nearest", value=0.1), Finding("h_rank", attack="predicted", value=0.2)]
    >>> worst_line(lines).attack, worst_line(lines).value
    ('worst', 0.2)
    """
    best = max(lines, key=lambda line: line.value or 0.0)
    return Finding("h_rank", None, best.group, best.at, WORST, best.value, best.interval, best.baseline)


def compute(subject: Subject) -> Findings:
    pair, how = subject.two, subject.how.attacking
    if not pair.columns and not (pair.aligned and known_columns(pair, subject.disclosure)[0]):
        return Findings()
    return findings(pair, subject.disclosure, how or USUAL, subject.progress, subject.earlier)


def _noisy(subject: Subject) -> bool:
    """Whether noise is disclosed, attackers are named or there are earlier releases: elsewhere linkage says it all."""
    drawn = any(isinstance(part, Additive | Misclassified) for part in subject.disclosure)
    return drawn or subject.how.attacking is not None or bool(subject.earlier)


def _of_those_in_it(findings: Findings, fraction: float) -> Findings:
    """The findings with the h-rank of targets who are in the file, where it is a sample."""
    if fraction == 1:
        return findings
    lines = (
        replace(f, value=min(1.0, f.value / fraction)) if f.measure == "h_rank" and f.value is not None else f
        for f in findings
    )
    return Findings(tuple(lines), findings.notes)


def _at_once(findings: Findings) -> list[Finding]:
    """Who is found at once in the whole file."""
    lines = [f for f in findings.select("h_rank", group="all", at=0.0) if f.value is not None]
    return [f for f in lines if f.attack == WORST] or lines


def _apart(findings: Findings) -> list[Finding]:
    """Who is found at once of those who stand apart from the others."""
    return [f for f in findings.select("h_rank", attack=WORST, at=0.0) if f.group in ("decile 10", "worst")]


def _say(findings: Findings, fraction: float) -> str | None:
    """What the best of the attackers finds among noisy records, beside the k of groups that would hide as well.

    Figures of a sample count the chance that the target is in it: that is said, and judged is what is found of those
    who are in it, since taking part is often known.
    """
    lines = _at_once(findings)
    if not lines:
        return None
    known = _of_those_in_it(findings, fraction)
    line = worst(_at_once(known))
    found = value_of(line)
    k = f", as a group of {1 / found:.0f} alike would be by a single guess" if 0 < found <= 0.5 else ""
    text = f"Of people whose true values are known, {percent(found)} are found by the best of the attackers{k}"
    if fraction < 1:
        text = (
            "Of people whose true values are known, but who may or may not be in the file (sampled "
            f"{percent(fraction)}), {percent(value_of(worst(lines)))} are found by the best of the attackers; of those "
            f"who are known to be in the file {percent(found)}{k}"
        )
    apart = _apart(known)
    if apart and value_of(worst(apart)) > 2 * found:
        text += f"; of those who stand apart from the others, {percent(value_of(worst(apart)))}"
    return f"{text}. {judged([line])}"


def _complain(findings: Findings, fraction: float) -> tuple[Complaint, ...]:
    """Many who are found, and outliers who are although the rest is hidden."""
    known = _of_those_in_it(findings, fraction)
    lines, apart = _at_once(known), _apart(known)
    if not lines:
        return ()
    all_ = value_of(worst(lines))
    said = []
    if all_ > CONTRACT:
        text = "Many records are found by somebody who knows the true values"
        said.append(Complaint(text, Aim.FURTHER, urgent=True))
    if apart and value_of(worst(apart)) > max(PUBLISHED, 2 * all_):
        said.append(Complaint("People who stand apart from the others are hidden worse", Aim.APART))
    return tuple(said)


def _among_all(subject: Subject) -> Asking:
    from sfumato.measures.risk.h_rank.people import among_all

    return among_all(subject)


MEASURE = Measure(
    family="linkage",
    place=10,
    doing="how well records are hidden",
    needs=frozenset({"pair", "disclosure"}),
    figures=(
        Figure(
            "h_rank",
            title="Right record among the nearest (h-rank)",
            what="An attacker who knows true values of a person takes the released record that fits best. h counts the "
            "people who are truly nearer to that person than the one whose record was taken; 0 is the right one. The "
            "figure is the share of people for whom h is at most the number given: small is well hidden. Tenths go by "
            "distance from the centre; the worst records are the most isolated 1%.",
            form="share",
            published="rate",
            baseline="Any record at random",
            at="h ≤ {0:g}",
            aim=Aim.FURTHER,
            usual=MappingProxyType({"group": "all", "attack": WORST}),
            attacker="best-fitting record",
            knows=MappingProxyType({"all": "exact values"}),
            clause="{} of the people are found",
        ),
    ),
    compute=compute,
    forms={"people": _among_all},
    effort=20,
    when=_noisy,
    say=_say,
    complain=_complain,
)
