"""What a step of a plan would do: its columns before and after, and what becomes of classes and correlations."""

from __future__ import annotations

import itertools
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any

import numpy as np
import polars as pl
import polars.selectors as cs

from sfumato.api.read import read_whole
from sfumato.api.standing_out import Codes, sizes
from sfumato.api.standing_out import numbered as coded
from sfumato.data.hidden import ROW
from sfumato.data.roles import IDS, Role
from sfumato.draws import PUBLIC, Draws, Purpose, units
from sfumato.engines.polars import PolarsDataset
from sfumato.errors import DataError
from sfumato.measures.measuring import CATEGORY
from sfumato.measures.patterns import patterns
from sfumato.measures.taking_part import with_key
from sfumato.measures.utility.correlations import correlation
from sfumato.methods.base import Method
from sfumato.plan.binding import entered
from sfumato.plan.plan import Plan
from sfumato.release.classes import missing_rule
from sfumato.release.run import run_step
from sfumato.report.looks import Look, looks

__all__ = ["ClassesSeen", "Correlated", "Preview", "Previewer"]

MOST_SECONDS = 2.0
"""A step is tried on the whole file where a sample foretells no more."""
MOST_RECORDS = 20_000
"""Records of a sample."""
_MOST_LOOKS, _MOST_PAIRS, _MOST_TOLD, _KEPT = 12, 60, 6, 8
_DRAWS = Draws(b"sfumato: draws of previews, never those of a release")
_SAMPLE = Purpose("preview", "sample")
_UNIT = "sfumato:unit"


@dataclass(frozen=True)
class ClassesSeen:
    """The classes of a table, in figures.

    Parameters
    ----------
    keys
        Whose combinations they are: those that no step up to here masks.
    records, classes
        How many there are.
    smallest
        Records of the smallest class (k); less than a whole number where wildcards count in part.
    uniques
        Records that are alone.
    """

    keys: tuple[str, ...]
    records: int
    classes: int
    smallest: float
    uniques: int


@dataclass(frozen=True)
class Correlated:
    """The correlation of two numbers before and after.

    Parameters
    ----------
    one, other
        The columns.
    before, after
        Pearson's correlation, −1 to 1; None where one does not vary.
    """

    one: str
    other: str
    before: float | None
    after: float | None


@dataclass(frozen=True)
class Preview:
    """What a step would do.

    Parameters
    ----------
    looks
        The columns that it touches.
    more
        How many of these are not shown.
    records
        Records before and after, of those that were looked at.
    of
        Records of the file.
    whole
        Whether columns and correlations are of the whole file.
    strata
        Columns whose whole strata the sample holds; empty where it is one of records.
    seconds
        What the whole file would take.
    before, after
        Classes of the whole file; None where no key is left, or `slow`.
    slow
        Whether classes afterwards were left out, since they would take too long.
    correlations
        Those that change most.
    """

    looks: tuple[Look, ...]
    more: int
    records: tuple[int, int]
    of: int
    whole: bool
    strata: tuple[str, ...]
    seconds: float
    before: ClassesSeen | None
    after: ClassesSeen | None
    slow: bool
    correlations: tuple[Correlated, ...]


@dataclass(frozen=True)
class _Ran:
    """A table after some steps: what each took, and how many records it left."""

    data: PolarsDataset
    seconds: tuple[float, ...] = ()
    heights: tuple[int, ...] = ()


class Previewer:
    """Tries steps of plans on one table, and keeps what it may need again.

    Draws are keyed with a public secret of its own, so that a preview tells nothing of the draws of a release.

    Parameters
    ----------
    data
        What `read` gives or takes.
    most_seconds, most_records
        When the whole file is taken, and else how large a sample.

    Examples
    --------
    >>> table = pl.DataFrame({"age": [31, 32, 41, 42], "sex": ["f", "f", "m", "m"]})
    >>> plan = Plan(
    ...     title="t",
    ...     variables={"age": {"role": "key"}, "sex": {"role": "key"}},
    ...     steps=[{"do": "recode", "columns": ["age"], "band": [40]}],
    ... )
    >>> seen = Previewer(table).look(plan, 0)
    >>> seen.before.smallest, seen.after.smallest, seen.whole
    (1.0, 2.0, True)
    """

    def __init__(self, data: Any, most_seconds: float = MOST_SECONDS, most_records: int = MOST_RECORDS) -> None:
        self._data = read_whole(data, "A preview of a plan")
        self._most_seconds, self._most_records = most_seconds, most_records
        self._kept: OrderedDict[tuple[str, str, int], _Ran] = OrderedDict()
        self._classes: OrderedDict[tuple[str, str, int], ClassesSeen | None] = OrderedDict()
        self._coded = _Coded()

    def look(self, plan: Plan, step: int, *, whole: bool = False) -> Preview:
        """Try a step.

        Parameters
        ----------
        plan
            The plan; steps after this one and limits play no part, so that it may be unfinished.
        step
            Its position, from 0.
        whole
            Take the whole file, however long that may take.

        Raises
        ------
        PlanError
            Where steps up to this one cannot run on these columns.
        DataError
            Where the data are not fit for one of them, or there is no such step.
        """
        if not 0 <= step < len(plan.steps):
            raise DataError(f"The plan has no step {step + 1}; it has {len(plan.steps)}.")
        plan = _first(plan, step + 1)
        entering = entered(plan, self._data, released=False)
        plan = plan.bound(entering.codebook)
        total = entering.frame.height
        part, name = entering, "whole"
        strata: tuple[str, ...] = ()
        if total > self._most_records:
            part, strata = self._sample(entering, plan)
            name = f"sample of {','.join(strata)}"
        try:
            tried = self._ran(plan, part, name)
        except DataError as error:  # a sample may be too small for a step that the file is fit for
            if name == "whole":
                raise
            if not whole and self._whole_of(plan, part, name, total) > self._most_seconds:
                raise DataError(f"Tried on a sample of the records, which may be too small for it: {error}") from None
            part, name, strata = entering, "whole", ()
            tried = self._ran(plan, part, name)
        seconds = sum(tried.seconds) * total / max(part.frame.height, 1)
        if name != "whole" and (whole or seconds <= self._most_seconds):
            part, name, strata = entering, "whole", ()
        before, after = self._ran(_first(plan, step), part, name), self._ran(plan, part, name)
        touched = _touched(plan.steps[-1], before.data, after.data)
        columns = touched[:_MOST_LOOKS]
        keys = [_keys(_first(plan, n), entering) for n in (step, step + 1)]
        slow = name != "whole" and self._foretold(plan, keys[1], tried, total, part.frame.height) > self._most_seconds
        return Preview(
            looks=tuple(look for column in columns for look in looks(column, before.data, after.data)),
            more=len(touched) - len(columns),
            records=(before.data.frame.height, after.data.frame.height),
            of=total,
            whole=name == "whole",
            strata=strata,
            seconds=seconds,
            before=None if slow else self._seen(_first(plan, step), keys[0], entering, tried),
            after=None if slow else self._seen(plan, keys[1], entering, tried),
            slow=slow,
            correlations=_correlations(touched, before.data, after.data),
        )

    def entering(self, plan: Plan, step: int, column: str) -> tuple[PolarsDataset, bool]:
        """The table as it enters a step, as far as one column of it goes; other columns may lack what steps did.

        Parameters
        ----------
        plan
            The plan; the step and later ones play no part.
        step
            Its position, from 0; the number of steps for one that is to be added.
        column
            Which column will be looked at.

        Returns
        -------
        tuple
            The table, and whether it is of the whole file: else it is of the sample that `look` takes, since steps
            before would take too long.

        Raises
        ------
        PlanError, DataError
            As `look`.
        """
        plan = _first(plan, step)
        data = entered(plan, self._data, released=False)
        plan = plan.bound(data.codebook)
        if not plan.steps:
            return data, True
        total, part, name = data.frame.height, data, "whole"
        if total > self._most_records:
            part, strata = self._sample(data, plan)
            name = f"sample of {','.join(strata)}"
        tried = self._ran(plan, part, name)
        many = part.frame.height
        if name == "whole":
            return tried.data, True
        if self._foretold(plan, [column], tried, total, many) > self._most_seconds:
            return tried.data, False
        own = _first(plan, len(plan.steps), only=_needed(plan, [column], tried, many))
        return self._ran(own, data, "whole").data, True

    def _ran(self, plan: Plan, entering: PolarsDataset, part: str) -> _Ran:
        """The table after all steps of a plan; what its first steps gave is kept."""
        if not plan.steps:
            return _Ran(entering)
        key = (plan.model_dump_json(include={"variables", "steps"}), part, _trees(entering))
        if key not in self._kept:
            earlier = self._ran(_first(plan, len(plan.steps) - 1), entering, part)
            begun = perf_counter()
            data = run_step(plan.steps[-1], earlier.data, _DRAWS, plan=key[0])[0]
            took = perf_counter() - begun
            self._kept[key] = _Ran(data, (*earlier.seconds, took), (*earlier.heights, data.frame.height))
            while len(self._kept) > _KEPT:
                self._kept.popitem(last=False)
        self._kept.move_to_end(key)
        return self._kept[key]

    def _whole_of(self, plan: Plan, part: PolarsDataset, name: str, total: int) -> float:
        """Seconds of the steps before the last on the whole file; no end where these cannot run on the sample."""
        try:
            before = self._ran(_first(plan, len(plan.steps) - 1), part, name)
        except DataError:
            return float("inf")
        return sum(before.seconds) * total / max(part.frame.height, 1)

    def _sample(self, data: PolarsDataset, plan: Plan) -> tuple[PolarsDataset, tuple[str, ...]]:
        """Records by a public draw of their ids, and the strata that are whole in it.

        These are of columns that no step before changes: those that all steps share which need whole strata, else
        those of the last such step, else of one before, whichever fit.
        """
        frame, most = data.frame, self._most_records
        changed = {n for step in plan.steps[:-1] for n in step.changes}
        each = [tuple(n for n in _strata(step, data) if n in frame.columns and n not in changed) for step in plan.steps]
        wanted = [names for names in each[::-1] if names]
        shared = tuple(n for n in wanted[0] if all(n in names for names in wanted)) if wanted else ()
        for strata in dict.fromkeys(names for names in (shared, *wanted) if names):
            many = frame.group_by(strata).len().sort(strata)
            many = many.with_columns(pl.Series(_UNIT, _drawn(many.select(strata)))).sort(_UNIT)
            chosen = many.filter(pl.col("len").cum_sum() <= most).select(strata)
            part = frame.join(chosen, on=strata, how="semi", nulls_equal=True, maintain_order="left")
            if part.height >= most // 2:
                return replace(data, frame=part), strata
        record = data.codebook.the(Role.RECORD)
        unit = units(frame[record]) if record is not None else _hashed(frame)
        drawn = PUBLIC.words(unit, _SAMPLE)[:, 0]
        chosen_rows = np.sort(np.argpartition(drawn, most)[:most])
        return replace(data, frame=frame[chosen_rows]), ()

    def _foretold(self, plan: Plan, keys: Sequence[str], tried: _Ran, total: int, part: int) -> float:
        """Seconds that the steps take on the whole file which classes hang on."""
        return sum(tried.seconds[i] for i in _needed(plan, keys, tried, part)) * total / max(part, 1)

    def _seen(self, plan: Plan, keys: tuple[str, ...], entering: PolarsDataset, tried: _Ran) -> ClassesSeen | None:
        """Classes of the whole file after steps, of which only those are run that classes hang on."""
        if not keys:
            return None
        height = tried.heights[-1] if tried.heights else entering.frame.height
        needed = _needed(plan, keys, tried, height) if plan.steps else ()
        own = _first(plan, len(plan.steps), only=needed)
        known = (own.model_dump_json(include={"variables", "steps"}), repr(keys), _trees(entering))
        if known not in self._classes:
            data = self._ran(own, entering, "whole").data
            self._classes[known] = _classes(data, keys, missing_rule(plan), self._coded)
            while len(self._classes) > 4 * _KEPT:
                self._classes.popitem(last=False)
        return self._classes[known]


def _first(plan: Plan, many: int, only: Sequence[int] | None = None) -> Plan:
    """The first steps of a plan, or some of these, without limits."""
    steps = plan.steps[:many] if only is None else tuple(plan.steps[i] for i in only)
    return plan.model_copy(update={"steps": steps, "limits": (), "knows": {}, "earlier": ()}).beside(plan)


def _trees(data: PolarsDataset) -> int:
    """By what the hierarchies of a table are known again: those of files are in no text of the plan."""
    return hash(
        tuple((n, tuple(data.codebook[n].hierarchy.items())) for n in data.codebook if data.codebook[n].hierarchy)
    )


def _hashed(frame: pl.DataFrame) -> np.ndarray[Any, np.dtype[np.uint64]]:
    """A number for each row by what it holds, shape (n,)."""
    return frame.drop(ROW, strict=False).hash_rows(7).to_numpy()


def _drawn(strata: pl.DataFrame) -> np.ndarray[Any, np.dtype[np.uint64]]:
    return PUBLIC.words(_hashed(strata), Purpose("preview", "strata"))[:, 0]


def _strata(step: Method, data: PolarsDataset) -> tuple[str, ...]:
    """Columns whose classes a step must see whole: strata, keys, the household or whole person that it draws by."""
    role = Role.PERSON if getattr(step, "persons", False) else Role.HOUSEHOLD
    whole = data.codebook.the(role)
    if whole is not None and (role in step.keyed_on or step.name == "swap_households"):
        return (whole,)
    return tuple(dict.fromkeys((*step.strata, *(getattr(step, "keys", ()) or ()))))


def _keys(plan: Plan, entering: PolarsDataset) -> tuple[str, ...]:
    """The keys that no step masks, of the columns that are there after the steps."""
    book = entering.codebook
    for step in plan.steps:
        book = step.describe(book)
    masked = {n for step in plan.steps if step.masks for n in step.changes}
    return tuple(n for n in book if n != ROW and book[n].role == Role.KEY and n not in masked)


def _needed(plan: Plan, keys: Sequence[str], tried: _Ran, part: int) -> list[int]:
    """The steps that classes of some keys hang on; a step that masks other columns and left all records is none."""
    wanted = set(keys)
    heights = (part, *tried.heights)
    needed: list[int] = []
    for i in reversed(range(len(plan.steps))):
        step = plan.steps[i]
        if step.masks and i < len(tried.heights) and heights[i] == heights[i + 1] and not wanted & set(step.changes):
            continue
        needed.append(i)
        wanted |= {*step.reads, *step.strata, *step.changes}
    return needed[::-1]


class _Coded:
    """Columns as numbers, the last few of each name: most steps leave most columns as they were."""

    def __init__(self) -> None:
        self._kept: dict[str, list[tuple[pl.Series, Codes]]] = {}

    def of(self, data: PolarsDataset, name: str) -> Codes:
        column = data.frame.get_column(name)
        kept = self._kept.get(name, [])
        for one, codes in kept:
            if one.dtype == column.dtype and one.equals(column):
                return codes
        codes = coded(data, name)
        self._kept[name] = [*kept[-2:], (column, codes)]
        return codes


def _classes(data: PolarsDataset, keys: tuple[str, ...], missing: str, codes: _Coded) -> ClassesSeen | None:
    there = tuple(n for n in keys if n in data.columns)
    if not there or not data.frame.height:
        return None
    if missing == CATEGORY and not _any_keyless(data.frame.select(there)):
        found = sizes([codes.of(data, n) for n in there], data.frame.height)
        return ClassesSeen(there, data.frame.height, len(found), float(found.min()), int((found == 1).sum()))
    some = patterns(data, there, missing)
    if some is None:
        return None
    alone = int(some.records[some.alike == 1].sum())
    return ClassesSeen(there, some.total, len(some.records), float(some.alike.min()), alone)


def _any_keyless(keys: pl.DataFrame) -> bool:
    """Whether some record has no known value of any key."""
    if not all(keys.null_count().row(0)) and not any(dtype.is_float() for dtype in keys.dtypes):
        return False
    return not keys.select(with_key(keys.with_columns(cs.float().fill_nan(None)).columns)).to_series().all()


def _touched(step: Method, before: PolarsDataset, after: PolarsDataset) -> list[str]:
    """The columns that a step changes, makes or leaves out, then, where records are left out, its strata and keys."""
    old, new = (dict.fromkeys(n for n in d.columns if n != ROW) for d in (before, after))
    named = [n for n in dict.fromkeys(step.changes) if n in old or n in new]
    touched = dict.fromkeys([*named, *(n for n in new if n not in old), *(n for n in old if n not in new)])
    if before.frame.height != after.frame.height:
        others = (*step.strata, *(getattr(step, "keys", ()) or ()), *after.codebook.with_role(Role.KEY))
        touched |= dict.fromkeys(n for n in others if n in old and n in new)
    return list(touched)


def _correlations(touched: Sequence[str], before: PolarsDataset, after: PolarsDataset) -> tuple[Correlated, ...]:
    """Of numbers that are touched with all numbers, the pairs whose correlation changes most."""

    def numeric(name: str) -> bool:
        return all(n in d.columns and _number(d, n) for d, n in ((before, name), (after, name)))

    every = [n for n in before.columns if n != ROW and numeric(n)]
    own = [n for n in touched if n in every]
    pairs = dict.fromkeys(tuple(sorted((a, b), key=every.index)) for a, b in itertools.product(own, every) if a != b)
    told = []
    floats: dict[tuple[int, str], np.ndarray[Any, np.dtype[np.float64]]] = {}

    def of(data: PolarsDataset, name: str) -> np.ndarray[Any, np.dtype[np.float64]]:
        key = (id(data), name)
        if key not in floats:
            floats[key] = (
                data.frame.select(
                    pl.when(~data.codebook.missing(name, data.frame.schema[name]))
                    .then(pl.col(name))
                    .cast(pl.Float64)
                    .fill_null(float("nan"))
                )
                .to_series()
                .to_numpy()
            )
        return floats[key]

    for one, other in itertools.islice(pairs, _MOST_PAIRS):
        was, is_ = (correlation(of(d, one), of(d, other)) for d in (before, after))
        if was != is_:
            told.append(Correlated(one, other, was, is_))
    told.sort(key=lambda c: -abs((c.after or 0.0) - (c.before or 0.0)))
    return tuple(told[:_MOST_TOLD])


def _number(data: PolarsDataset, name: str) -> bool:
    variable = data.codebook[name]
    taken = variable.role in (*IDS, Role.IDENTIFIER)
    return not taken and variable.numeric and data.frame.schema[name].is_numeric()
