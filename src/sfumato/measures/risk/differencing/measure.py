"""Differencing: whose values come out of a release and the ones before it, and how nearly.

A release that is safe alone may not be beside an earlier one of the same people: sums that are kept exactly differ by
the value of the person who left, values that are only exchanged show which one has gone, a corrected value shows its
change, and independent draws for the same person can be averaged.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.data.aim import Aim
from sfumato.data.disclosure import Additive, Averaged, Disclosed, Disclosure, Misclassified
from sfumato.data.finding import Finding, Findings
from sfumato.data.pair import numbers
from sfumato.data.roles import Role
from sfumato.draws import written
from sfumato.measures.measure import Complaint, Figure, Measure
from sfumato.measures.risk.differencing.attacks import Group, Two, local, multisets, sums
from sfumato.measures.risk.differencing.people import KEY, Told, tell_apart
from sfumato.measures.saying import listed, percent, value_of
from sfumato.measures.subject import Subject

__all__ = ["AT", "MEASURE", "findings"]

AT = (0.01, 0.05)
"""How near a number must come to the true one, as a share of it."""
NO_IDS = (
    "Differencing: the releases have no record ids in common, so people were told apart by {columns}, which no step "
    "masked. Who is like somebody else in these is left out."
)
NOTHING = (
    "Differencing: no column that all releases and all files of true values have was masked, so nothing was compared."
)
NO_TRUTH = (
    "Differencing: people without true values in the files given are left out; the attacker knows them as released."
)

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Key = tuple[str, str, float | None, str]


@dataclass
class _Tally:
    """How many of a group came out, by variable, group, `at` and attack; and how many without another release."""

    people: dict[Key, int] = field(default_factory=lambda: defaultdict(int))
    out: dict[Key, int] = field(default_factory=lambda: defaultdict(int))
    alone: dict[Key, int] = field(default_factory=lambda: defaultdict(int))

    def add(self, key: Key, out: Bools, alone: Bools) -> None:
        """Count people."""
        if len(out):
            self.people[key] += len(out)
            self.out[key] += int(out.sum())
            self.alone[key] += int(alone.sum())

    def lines(self) -> Iterator[Finding]:
        """A line for each."""
        for key, n in self.people.items():
            variable, group, at, attack = key
            yield Finding("differencing", variable, group, at, attack, self.out[key] / n, baseline=self.alone[key] / n)


def findings(told: Told) -> Findings:
    """Give the lines `differencing`: the share of people whose value comes out within `at` of it.

    Every release is compared with the next older one, and what is found is counted together. Of a corrected number what
    comes out is the change; of a category the category, exactly (`at` null). The baseline is what the one release that
    holds the person says, or of a change the difference of the person's two released values.

    Parameters
    ----------
    told
        The releases, newest first, with who is who and what was true.
    """
    tally = _Tally()
    notes = [NO_IDS.format(columns=", ".join(told.by))] if told.by else []
    masked = [n for n in told.columns if _masked(told, n)]
    for n in masked:
        numeric = _numeric(told, n)
        released = [_values(t, n, told, numeric) for t in told.tables]
        true = [_values(t, n, told, numeric) for t in told.truths]
        for i in range(len(released) - 1):
            sides = _Sides.of(released[i : i + 2], true[i : i + 2])
            if sides.unknown and NO_TRUTH not in notes:
                notes.append(NO_TRUTH)
            (_number if numeric else _category)(tally, n, sides, told, i)
        _stayed(tally, n, released, true, [_law(d, n) for d in told.disclosures])
    if not masked:
        notes.append(NOTHING)
    return Findings(tuple(tally.lines()), tuple(notes))


def _masked(told: Told, column: str) -> bool:
    """Whether a column was changed: a disclosure says so, or a released value is not the true one."""
    if any(part.what not in ("dropped", "sampled", "suppressed") for d in told.disclosures for part in d.of(column)):
        return True
    return any(_differ(z, x, column) for z, x in zip(told.tables, told.truths, strict=True))


def _differ(released: pl.DataFrame, true: pl.DataFrame, column: str) -> bool:
    one, two = (t.select(KEY, written(t[column]).alias("v")).drop_nulls(KEY) for t in (released, true))
    both = one.join(two, on=KEY)
    return bool((both["v"] != both["v_right"]).any())


def _numeric(told: Told, column: str) -> bool:
    """Whether a column is one of amounts: noise makes amounts of 0/1 columns."""
    types = [t.schema[column] for t in (*told.tables, *told.truths)]
    if not all(t.is_numeric() or t in (pl.Boolean, pl.Null) for t in types):
        return False
    noisy = any(isinstance(part, Additive) for d in told.disclosures for part in d.of(column))
    return noisy or column not in told.codebook or told.codebook[column].numeric


def _values(table: pl.DataFrame, column: str, told: Told, numeric: bool) -> pl.DataFrame:
    """Keys and values of one column, without missing ones: numbers, or categories as text."""
    if numeric:
        value = pl.Series("v", numbers(table, [column], told.codebook)[:, 0], nan_to_null=True)
    else:
        missing = table.select(told.codebook.missing(column, table.schema[column])).to_series()
        value = pl.select(pl.when(~missing).then(written(table[column]))).to_series()
    return table.select(KEY, value.alias("v")).drop_nulls("v")


@dataclass(frozen=True)
class _Sides:
    """One column of two releases: a row for everybody in either, with keys first and then who cannot be told apart.

    `old`, `new` are released values, `was`, `is_` the true ones; null where there is none.
    """

    frame: pl.DataFrame

    @classmethod
    def of(cls, released: Sequence[pl.DataFrame], true: Sequence[pl.DataFrame]) -> _Sides:
        """The newer and the older release, and what was true then."""
        new, old = (r.drop_nulls(KEY) for r in released)
        is_, was = (t.drop_nulls(KEY) for t in true)
        frame = old.rename({"v": "old"}).join(new.rename({"v": "new"}), on=KEY, how="full", coalesce=True)
        frame = frame.join(was.rename({"v": "was"}), on=KEY, how="left").join(
            is_.rename({"v": "is_"}), on=KEY, how="left"
        )
        unkeyed = [
            r.filter(pl.col(KEY).is_null()).rename({"v": name})
            for r, name in zip(released, ("new", "old"), strict=True)
        ]
        frame = pl.concat([frame.sort(KEY), *unkeyed], how="diagonal")
        return cls(frame.with_columns(pl.col("old", "new", "was", "is_")))

    @property
    def unknown(self) -> bool:
        """Whether some have no true value."""
        return bool(self.frame.select(pl.coalesce("was", "is_").is_null().any()).item())

    def floats(self, name: str) -> Floats:
        """A column of numbers."""
        return self.frame[name].cast(pl.Float64).fill_null(np.nan).to_numpy()

    @property
    def corrected(self) -> Bools:
        """Who is in both, with another true value."""
        there = self.frame.select(
            (pl.col("old").is_not_null() & pl.col("new").is_not_null() & (pl.col("was") != pl.col("is_"))).fill_null(
                False
            )
        )
        return there.to_series().to_numpy()


def _number(tally: _Tally, column: str, sides: _Sides, told: Told, newer: int) -> None:
    """Attacks on a column of amounts."""
    averaged = [_averaged(d, column) for d in told.disclosures[newer : newer + 2]]
    two = Two(
        sides.floats("old"),
        sides.floats("new"),
        sides.corrected,
        _place(sides, told, newer, averaged[0]),
        any(a is not None and a.grouping != "knn" for a in averaged),
    )
    attacks: dict[str, Callable[[Two, Group], Floats]] = {"sums": sums, "multisets": multisets}
    if any(a is not None for a in averaged) or not any(len(d) for d in told.disclosures):
        attacks["local"] = local
    was, is_ = sides.floats("was"), sides.floats("is_")
    groups: tuple[tuple[Group, Floats], ...] = (
        ("left", was[two.left]),
        ("joined", is_[two.joined]),
        ("corrected", (is_ - was)[two.both & two.corrected]),
    )
    for group, true in groups:
        known = ~np.isnan(true)
        if known.any():
            own = two.own(group)[known]
            for name, attack in attacks.items():
                got = attack(two, group)[known]
                for at in AT:
                    tally.add((column, group, at, name), _within(got, true[known], at), _within(own, true[known], at))


def _within(x: Floats, true: Floats, at: float) -> Bools:
    """Which values come out: within a share of the truth, but for its last bits."""
    return np.asarray(np.abs(x - true) <= at * np.abs(true) + 1e-12 * np.abs(true))


def _averaged(disclosure: Disclosure, column: str) -> Averaged | None:
    return next((part for part in disclosure.of(column) if isinstance(part, Averaged)), None)


def _place(sides: _Sides, told: Told, newer: int, averaged: Averaged | None) -> Floats | None:
    """Where records lie in the columns that were averaged together, in standard deviations; 0 where unknown."""
    if averaged is None:
        return None
    names = [n for n in averaged.columns if n in told.columns and _numeric(told, n)]
    if not names:
        return None
    out = np.zeros((sides.frame.height, len(names)))
    for table in (told.tables[newer], told.tables[newer + 1]):  # the older release's word, where there is one
        x = numbers(table, names, told.codebook)
        spread = np.nanstd(x, axis=0)
        z = (x - np.nanmean(x, axis=0)) / np.where(spread > 0, spread, 1.0)
        at = pl.DataFrame({KEY: table[KEY]}).with_row_index("at").drop_nulls(KEY)
        rows = sides.frame.select(KEY).join(at, on=KEY, how="left", maintain_order="left")["at"]
        here = rows.is_not_null().to_numpy()
        out[here] = np.nan_to_num(z[rows.drop_nulls().to_numpy()])
    return out


def _category(tally: _Tally, column: str, sides: _Sides, told: Told, newer: int) -> None:
    """Which category has gone, and which has come."""
    frame = sides.frame
    gone, come = (_more(frame[a], frame[b]) for a, b in (("old", "new"), ("new", "old")))
    left, joined = (
        pl.col("new").is_null() & pl.col("old").is_not_null(),
        pl.col("old").is_null() & pl.col("new").is_not_null(),
    )
    corrected = pl.Series(sides.corrected)
    for group, rows, released, true, found in (
        ("left", left, "old", "was", gone),
        ("joined", joined, "new", "is_", come),
        ("corrected", corrected, "new", "is_", come),
    ):
        there = frame.filter(rows).drop_nulls(true)
        own = there[released]
        got = pl.Series([found[0]] * there.height, dtype=pl.String) if len({*found}) == 1 else own
        key = (column, group, None, "multisets")
        tally.add(key, (got == there[true]).to_numpy(), (own == there[true]).to_numpy())


def _more(one: pl.Series, other: pl.Series) -> list[str]:
    """Categories that one release holds more often than the other, each as often as that."""
    counts = [s.drop_nulls().rename("v").to_frame().group_by("v").agg(n=pl.len().cast(pl.Int64)) for s in (one, other)]
    both = counts[0].join(counts[1], on="v", how="left").with_columns(more=pl.col("n") - pl.col("n_right").fill_null(0))
    return [v for v, more in both.select("v", "more").sort("v").iter_rows() for _ in range(max(0, more))]


def _stayed(
    tally: _Tally,
    column: str,
    released: Sequence[pl.DataFrame],
    true: Sequence[pl.DataFrame],
    laws: Sequence[Disclosed | None],
) -> None:
    """Average what several releases say of people whose value did not change."""
    truth = true[0].drop_nulls(KEY)
    frame = truth.rename({"v": "is_"})
    for i, (table, was) in enumerate(zip(released, true, strict=True)):
        same = table.drop_nulls(KEY).join(was.drop_nulls(KEY).rename({"v": "then"}), on=KEY, how="left")
        frame = frame.join(same.rename({"v": f"z{i}", "then": f"x{i}"}), on=KEY, how="left")
        usable = pl.col(f"x{i}").is_null() | (pl.col(f"x{i}") == pl.col("is_"))
        frame = frame.with_columns(pl.when(usable).then(f"z{i}").alias(f"z{i}"))
    names = [f"z{i}" for i in range(len(released))]
    several = frame.filter(pl.sum_horizontal(pl.col(n).is_not_null() for n in names) > 1).sort(KEY)
    if not several.height:
        return
    if several.schema["is_"] == pl.String:
        z = [several[n] for n in names]
        got = _voted(z, laws, several["is_"])
        same_ = partial(_equal, true=several["is_"])
        alone = max((same_(s) for s in z), key=lambda out: out.sum())
        tally.add((column, "stayed", None, "averaging"), same_(got), alone)
        return
    x, each = several["is_"].to_numpy(), several.select(names).to_numpy()
    mean = average(each, laws)
    for at in AT:
        own = max((_within(each[:, i], x, at) for i in range(each.shape[1])), key=lambda out: out.sum())
        tally.add((column, "stayed", at, "averaging"), _within(mean, x, at), own)


def _equal(released: pl.Series, true: pl.Series) -> Bools:
    return (released == true).fill_null(False).to_numpy()


def average(each: Floats, laws: Sequence[Disclosed | None]) -> Floats:
    """Mean of what the releases say of each person, those with less noise counting more, shape (n,)."""
    variance = [float(law.smooth.covariance[0][0]) if isinstance(law, Additive) else 0.0 for law in laws]
    weight = 1 / np.array(variance) if min(variance) > 0 else np.ones(len(variance))
    weights = np.where(np.isnan(each), 0.0, weight)
    return np.asarray((np.nan_to_num(each) * weights).sum(axis=1) / weights.sum(axis=1))


def _law(disclosure: Disclosure, column: str) -> Disclosed | None:
    """The noise of a column, or how its categories were exchanged, where it is one for all records."""
    parts = [p for p in disclosure.of(column) if isinstance(p, Additive | Misclassified)]
    if len(parts) != 1 or parts[0].where:
        return None
    return parts[0].of(column) if isinstance(parts[0], Additive) else parts[0]


def _voted(z: Sequence[pl.Series], laws: Sequence[Disclosed | None], true: pl.Series) -> pl.Series:
    """The most probable category of each person by what all releases say; without a disclosed law, the most told."""
    levels = sorted({v for s in z for v in s.drop_nulls()} | set(true))
    score = np.zeros((len(true), len(levels)))
    for s, law in zip(z, laws, strict=True):
        place = s.replace_strict(levels, range(len(levels)), default=None, return_dtype=pl.Int64)
        there = place.is_not_null().to_numpy()
        score[there] += _weights(law, levels)[place.drop_nulls().to_numpy()]
    return pl.Series(np.array(levels)[score.argmax(axis=1)])


def _weights(law: Disclosed | None, levels: Sequence[str]) -> Floats:
    """Log probability of a released category (row) for each true one, up to a constant."""
    if isinstance(law, Misclassified) and law.levels is not None:
        known = written(pl.Series(list(law.levels), strict=False)).to_list()
        if set(levels) <= set(known):
            at = [known.index(v) for v in levels]
            return np.asarray(np.log(np.maximum(np.array(law.matrix)[np.ix_(at, at)].T, 1e-300)))
    return np.eye(len(levels))


def _compute(subject: Subject) -> Findings:
    assert subject.truth is not None
    now = subject.after
    book = now.codebook
    record = book.the(Role.RECORD)
    frames = [subject.released, *(e.table for e in subject.earlier)]
    truths = [subject.truth, *(e.truth for e in subject.earlier)]
    everywhere = record is not None and all(record in t.columns for t in (*frames, *truths))
    told = tell_apart(
        frames,
        truths,
        [subject.disclosure, *(e.disclosure for e in subject.earlier)],
        book,
        record if everywhere else None,
    )
    return findings(told)


def _say(found: Findings, fraction: float) -> str | None:
    """Whose values come out of the release beside the earlier ones."""
    lines = [f for f in found.select("differencing") if f.group != "stayed" and f.value and f.at in (None, AT[0])]
    if not lines:
        return None
    line = max(lines, key=lambda f: f.value or 0.0)
    how = "exactly" if line.at is None else f"within {percent(line.at)}"
    return (
        f"Beside an earlier release, {percent(value_of(line))} of the people who {_WHO[str(line.group)]} have their "
        f"{line.variable} told {how}."
    )


_WHO = {"left": "left", "joined": "joined", "corrected": "corrected a value"}


def _complain(found: Findings, fraction: float) -> tuple[Complaint, ...]:
    """Values that come out exactly or nearly, and would not of one release."""
    bad = [
        f.variable
        for f in found.select("differencing")
        if f.at in (None, AT[0]) and f.value is not None and f.value > 0.5 and f.value > 2 * (f.baseline or 0.0)
    ]
    names = [n for n in dict.fromkeys(bad) if n is not None]
    if not names:
        return ()
    text = f"Beside an earlier release, values of single people come out of {listed(names)}"
    return (Complaint(text, Aim.TOGETHER, names[0], urgent=True),)


MEASURE = Measure(
    family="closeness",
    place=50,
    doing="what earlier releases tell beside this one",
    needs=frozenset({"earlier"}),
    figures=(
        Figure(
            "differencing",
            title="Value told by the difference of two releases",
            what="Share of people whose value comes out of this release and earlier ones, within so much of it: of "
            "those who left, joined, corrected a value (then the change) or stayed. Attacks: the sums of both releases "
            "(sums), the values that only one of them holds (multisets), the averages that changed, with restored "
            "scales undone (local), and the mean of all releases (averaging). What several releases tell together no "
            "protection of a single one undoes.",
            form="share",
            baseline="The one release that tells most",
            at="within {1}%",
            aim=Aim.TOGETHER,
        ),
    ),
    compute=_compute,
    effort=3,
    say=_say,
    complain=_complain,
)
