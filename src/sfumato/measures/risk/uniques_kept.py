"""Survivors: people whose combination of values was theirs alone, and stands once in the release."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.data.aim import Aim
from sfumato.data.codebook import Codebook
from sfumato.data.finding import Finding, Findings
from sfumato.data.pair import Pair, numbers
from sfumato.data.query import COUNT, Counts, Folded
from sfumato.draws import shortest
from sfumato.kernels.masking.survivors import combined, survivors
from sfumato.measures.folds.asking import Asking, Question
from sfumato.measures.folds.people import looked_for, people_of
from sfumato.measures.measure import Figure, Measure
from sfumato.measures.risk.linkage_released import is_amount
from sfumato.measures.saying import percent, value_of, with_value, worst
from sfumato.measures.subject import Outsider, Subject

__all__ = ["MEASURE", "survivors_of"]

Ints = NDArray[np.int64]
_SIDE, _PERSON, _TIMES = "sfumato:side", "sfumato:person", "sfumato:times"


def survivors_of(before: pl.DataFrame, after: pl.DataFrame, pair: Pair, columns: Sequence[str]) -> float:
    """Share of the released records whose combination stands once there, and stood once before masking.

    Over all columns, or over the categories among them: numbers that were drawn anew hide that the categories alone
    single somebody out. Whoever knows these of a person finds the record, or takes it for found.

    Parameters
    ----------
    before, after
        The tables as they entered the first masking step and as released; their rows need not be joined.
    pair
        Which of their columns are numbers.
    columns
        What somebody knows, in both tables.

    Examples
    --------
    >>> from sfumato.data.codebook import Codebook
    >>> true = pl.DataFrame({"town": ["a", "a", "b"], "sex": ["f", "m", "m"]})
    >>> new = pl.DataFrame({"town": ["a", "a", "b"], "sex": ["m", "m", "m"]})
    >>> survivors_of(true, new, Pair(true, new, Codebook()), ["town", "sex"])
    0.3333333333333333
    """
    codes = _codes(before, after, pair, columns)
    found: set[int] = set()
    for view in views_of(pair, columns):
        words = [combined(np.column_stack([side[n] for n in view])) for side in codes]
        found |= set(survivors(*words).tolist())
    return len(found) / after.height


def views_of(pair: Pair, columns: Sequence[str]) -> list[list[str]]:
    """All columns; and their categories, where these are some of them.

    Parameters
    ----------
    pair
        Says which are numbers.
    columns
        Their names.
    """
    categories = [n for n in columns if not (is_amount(pair, n) or pair.after[n].dtype.is_temporal())]
    return [list(columns), *([categories] if 0 < len(categories) < len(columns) else [])]


def _codes(
    before: pl.DataFrame, after: pl.DataFrame, pair: Pair, columns: Sequence[str]
) -> tuple[dict[str, Ints], dict[str, Ints]]:
    """Numbers of the values of each column in both tables, equal for equal values; −1 for a gap."""
    told: tuple[dict[str, Ints], dict[str, Ints]] = ({}, {})
    for n in columns:
        both = pl.concat([_told(side, n, pair) for side in (before, after)])
        codes = both.rank("dense").cast(pl.Int64).fill_null(0).to_numpy() - 1
        told[0][n], told[1][n] = codes[: before.height], codes[before.height :]
    return told


def _told(frame: pl.DataFrame, column: str, pair: Pair) -> pl.Series:
    """The values of a column in the form in which both tables are compared."""
    if is_amount(pair, column):
        return pl.Series("v", numbers(frame, [column], pair.codebook)[:, 0] + 0.0, nan_to_null=True)
    gap = pair.codebook.missing(column, frame[column].dtype)
    return frame[[column]].select(pl.when(~gap).then(pl.col(column).cast(pl.String)).alias("v")).to_series()


def _known(pair: Pair, outsider: Outsider) -> list[str]:
    """What an outsider knows of a person as it entered the first masking step, and finds in the release."""
    both = dict.fromkeys((*outsider.by, *outsider.masked))
    return [n for n in both if n in pair.before.columns and n in pair.after.columns]


def _compute(subject: Subject) -> Findings:
    pair = subject.two
    before, after = pair.tables.before, pair.tables.after
    lines = []
    for outsider in subject.knowing if after.height else ():
        columns = [n for n in _known(pair, outsider) if n in before.columns]
        if columns and set(columns) & set(outsider.masked):
            alone = survivors_of(before, before, pair, columns)
            share = survivors_of(before, after, pair, columns)
            lines.append(Finding("uniques_kept", None, outsider.group, None, None, share, None, alone))
    return Findings(tuple(lines))


def _among_all(subject: Subject) -> Asking:
    """Of some people, counted among all records before and after."""
    pair, sides = subject.two, subject.everybody
    outsiders = [(each, _known(pair, each)) for each in subject.knowing]
    asked = [(each, names) for each, names in outsiders if names and set(names) & set(each.masked)]
    if not asked:
        return Findings()
    rows = people_of(pair, subject.how.people)
    some = (pair.before[rows], pair.after[rows])
    questions = []
    for view in (view for _, names in asked for view in views_of(pair, names)):
        true = {n: sides.true(n) for n in view}
        counting = _Counting(tuple(view), true, pair.codebook, frozenset(n for n in view if is_amount(pair, n)), some)
        questions.append(Question(sides.after, Folded(counting.needed, counting, _merged)))
    *told, everybody = yield [*questions, Question(sides.after, Counts(()))]
    answers = iter(told)
    lines = []
    for outsider, names in asked:
        found, alone = np.zeros(len(rows), dtype=bool), np.zeros(len(rows), dtype=bool)
        for _ in views_of(pair, names):
            was, stands, stood = (_once(answer, len(rows)) for answer in next(answers).partition_by(_SIDE))
            found, alone = found | (stands & stood), alone | was
        (share, interval), (base, _) = (looked_for(each, int(everybody.item(0, COUNT))) for each in (found, alone))
        lines.append(Finding("uniques_kept", None, outsider.group, None, None, share, interval, base))
    return Findings(tuple(lines))


@dataclass(frozen=True, eq=False)
class _Counting:
    """How often the combinations of some people stand in a batch: theirs before, theirs now, and the latter before."""

    view: tuple[str, ...]
    true: Mapping[str, str]
    codebook: Codebook
    amounts: frozenset[str]
    some: tuple[pl.DataFrame, pl.DataFrame]

    @property
    def needed(self) -> tuple[str, ...]:
        """The columns of a batch that are looked at."""
        return tuple(dict.fromkeys((*self.true.values(), *self.view)))

    def __call__(self, batch: pl.DataFrame) -> pl.DataFrame:
        was, now = self._form(batch, self.true), self._form(batch, {})
        before, after = (self._form(side, {}).with_row_index(_PERSON) for side in self.some)
        pairs = ((before, was), (after, now), (after, was))
        return pl.concat(
            _often(people, rows).select(pl.lit(i, pl.Int64).alias(_SIDE), _PERSON, _TIMES)
            for i, (people, rows) in enumerate(pairs)
        )

    def _form(self, frame: pl.DataFrame, names: Mapping[str, str]) -> pl.DataFrame:
        """The columns of the view as they are compared, whatever they are called."""
        exprs = []
        for i, n in enumerate(self.view):
            there = names.get(n, n)
            dtype = frame[there].dtype
            value = shortest(pl.col(there), dtype) + 0.0 if n in self.amounts else pl.col(there).cast(pl.String)
            gap = Codebook({there: self.codebook[n]} if n in self.codebook else {}).missing(there, dtype)
            exprs.append(pl.when(~gap).then(value).alias(str(i)))
        return frame.select(exprs)


def _often(people: pl.DataFrame, rows: pl.DataFrame) -> pl.DataFrame:
    """How many rows have each person's combination."""
    counts = rows.group_by(rows.columns).agg(pl.len().cast(pl.Int64).alias(_TIMES))
    joined = people.join(counts, on=rows.columns, how="left", nulls_equal=True)
    return joined.select(pl.col(_PERSON).cast(pl.Int64), pl.col(_TIMES).fill_null(0))


def _merged(frames: pl.DataFrame) -> pl.DataFrame:
    return frames.group_by(_SIDE, _PERSON).agg(pl.col(_TIMES).sum()).sort(_SIDE, _PERSON)


def _once(answer: pl.DataFrame, people: int) -> NDArray[np.bool_]:
    """Whose combination stands once, shape (people,)."""
    out = np.zeros(people, dtype=bool)
    out[answer[_PERSON].to_numpy()] = (answer[_TIMES] == 1).to_numpy()
    return out


def _say(findings: Findings, fraction: float) -> str | None:
    lines = with_value(findings, "uniques_kept")
    if not lines:
        return None
    most = worst(lines)
    return f"{percent(value_of(most))} of the people stand alone in the release with the values that they alone had."


MEASURE = Measure(
    family="linkage",
    place=22,
    doing="combinations that survived",
    needs=frozenset({"pair", "outsider"}),
    figures=(
        Figure(
            "uniques_kept",
            title="Unique combinations that survived",
            attacker="same combination",
            what="Share of the people whose combination of values was theirs alone and stands once in the release, "
            "over all columns that somebody knows or over the categories among them. Whoever knows it finds the "
            "record, or takes another one for it.",
            form="share",
            published="rate",
            baseline="Without protection",
            aim=Aim.FURTHER,
        ),
    ),
    compute=_compute,
    forms={"people": _among_all},
    say=_say,
)
