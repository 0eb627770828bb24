"""The combinations of keys that occur, with counts: what every measure of classes is worked out from.

One question, `Counts` over keys, sensitive variables and weight, serves all of them; each table here adds it up for
some columns, as arrays, and is kept with the data set.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, TypeVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.data.codebook import Codebook, Variable
from sfumato.data.dataset import Dataset
from sfumato.data.finding import Finding, Findings
from sfumato.data.query import COUNT, WEIGHT, Counts
from sfumato.data.remembered import Remembered
from sfumato.data.unseen import seen
from sfumato.errors import DataError
from sfumato.kernels.classes.individual_risk import individual_risk
from sfumato.kernels.classes.missing_keys import count_with_missing
from sfumato.measures.measuring import CATEGORY, wildcard
from sfumato.measures.persons import PARTS, PERSONS, counted, person_of
from sfumato.measures.subject import Classes, Subject, weight_of
from sfumato.measures.taking_part import informative, nobody_differs, taking_part, with_key

__all__ = [
    "NO_CLASS",
    "MissingSensitive",
    "Patterns",
    "Values",
    "class_findings",
    "coded",
    "has_columns",
    "once",
    "patterns",
    "ranked",
    "value_counts",
    "value_findings",
    "values",
    "without_value",
]

NO_CLASS = "The table has no records or no keys were named, so there are no classes to measure."

MissingSensitive = Literal["ignore", "category"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
_T = TypeVar("_T")


def has_columns(data: Dataset, names: Sequence[str]) -> bool:
    """Whether a table has all of some columns."""
    return all(name in data.codebook for name in names)


def _refuse_unknown(data: Dataset, names: Sequence[str]) -> None:
    unknown = [n for n in names if n not in data.codebook]
    if unknown:
        there = seen(", ".join(data.codebook))
        raise DataError(f"There is no column {', '.join(map(repr, unknown))}. Columns of the table: {there}.")


def value_counts(
    data: Dataset, by: Sequence[str], sensitive: str, missing: MissingSensitive = "ignore"
) -> pl.DataFrame:
    """Count the records of each class and sensitive value; where a column says whom they are about, the people.

    Returns
    -------
    pl.DataFrame
        The keys, then the sensitive column and `COUNT`, of records with any key; missing values are null, or left out
        if they are to be ignored. In a class without any known value they are its one value all the same: who finds the
        class learns that nothing is known, and a class that were left out would count as safe.
    """
    _refuse_unknown(data, (*by, sensitive))
    counts = _of_values(data, by, sensitive).filter(with_key(by))
    known = pl.col(sensitive).is_not_null()
    if missing == "ignore":
        if not counts.select(known.any()).item():
            return counts.clear()
        counts = counts.filter(known | ~known.any().over(by))
    return counts.group_by(*by, sensitive).agg(pl.col(COUNT).sum()).sort(*by, sensitive)


def _of_values(data: Dataset, by: Sequence[str], sensitive: str) -> pl.DataFrame:
    """Counts by keys and a sensitive variable, whose missing values are null; a person has each value once."""
    person = person_of(data, (*by, sensitive))
    counts = data.ask(Counts((*by, sensitive, *([] if person is None else [person]))))
    absent = data.codebook.missing(sensitive, counts.schema[sensitive])
    counts = counts.with_columns(pl.when(~absent).then(pl.col(sensitive)).alias(sensitive))
    if person is None:
        return counts
    return counts.unique([*by, sensitive, person]).with_columns(pl.lit(1, pl.Int64).alias(COUNT)).drop(person)


def without_value(data: Dataset, by: Sequence[str], sensitive: str) -> bool:
    """Whether some class has no known sensitive value, while others have.

    Examples
    --------
    >>> import sfumato as sf
    >>> table = sf.read(pl.DataFrame({"sex": ["f", "m", "m"], "ill": [None, "no", "yes"]}))
    >>> without_value(table, ["sex"], "ill")
    True
    """
    return bool(value_counts(data, by, sensitive)[sensitive].null_count())


@dataclass(frozen=True, eq=False)
class Patterns:
    """The classes of a table.

    Parameters
    ----------
    keys
        The keys that take part, a row for each of the c combinations that occur; null where missing, and never in all.
    records : ndarray, shape (c,)
        Records with exactly these keys.
    alike : ndarray, shape (c,)
        Records that such a record counts as alike: `records`, unless missing keys are wildcards. Where a column says
        whom records are about, different people: `records`, but not their people, are then rows that are found.
    population : ndarray, shape (c,)
        The same in the population: sampling weights summed, no less than `alike`; None without weights.
    people : ndarray, shape (c,)
        Different people with exactly these keys; `records` where no column says whom they are about.
    """

    keys: pl.DataFrame
    records: Ints
    alike: Floats
    population: Floats | None
    people: Ints

    @property
    def total(self) -> int:
        """Number of records in classes."""
        return int(self.records.sum())

    @cached_property
    def risk(self) -> Floats:
        """Risk that a record of each class is recognised, shape (c,): see `kernels.classes.individual_risk`."""
        return individual_risk(self.alike, self.population)


def patterns(data: Dataset, by: Sequence[str], missing: str = CATEGORY) -> Patterns | None:
    """Count the combinations of keys that occur.

    Records without any key are in none of them. Where a missing key is a wildcard, keys in which nobody differs take no
    part, see `sfumato.measures.taking_part`.

    Parameters
    ----------
    data
        The table; its codebook says which column holds sampling weights.
    by
        The keys.
    missing
        What a missing key is, see `sfumato.measures.measuring.Measuring`. Null and NaN are missing; a user-missing code
        is a category of its own, since the release shows it.

    Returns
    -------
    Patterns or None
        None where there is no key, or no record with one.

    Examples
    --------
    >>> import sfumato as sf
    >>> table = sf.read(pl.DataFrame({"sex": ["f", "m", "m"], "area": [1, 2, None]}))
    >>> patterns(table, ["sex", "area"], "wildcard").alike.tolist()
    [1.0, 2.0, 2.0]
    """

    def make() -> Patterns | None:
        counts = counted(data, by, weight)
        if not counts[COUNT].sum():
            return None
        telling = list(informative(counts, by, missing))
        if nobody_differs(counts, telling, missing):
            return _all_alike(counts, list(by), telling, counted(data, (), weight))
        counts = counts if telling == list(by) else counted(data, telling, weight)
        found = _patterns(counts, telling, wildcard(missing))
        return found if found.keys.height else None

    weight = weight_of(data.codebook)
    if not by:
        return None
    _refuse_unknown(data, by)
    return once(data, ("patterns", tuple(by), missing), make)


def _patterns(counts: pl.DataFrame, by: list[str], alpha: float | None) -> Patterns:
    """The classes; where gaps agree with several patterns of a person, that person counts in parts, never twice."""
    keys, records, people = counts.select(by), *(counts[n].to_numpy().astype(np.int64) for n in (COUNT, PERSONS))
    weights = counts[WEIGHT].to_numpy() if WEIGHT in counts.columns else None
    if alpha is None or not any(keys.null_count().row(0)):
        alike = people.astype(np.float64)
        population = weights
    else:
        found = count_with_missing(coded(keys), counts[PARTS].to_numpy(), weights, alpha)
        alike, population = np.maximum(found.f, people), None if weights is None else found.population
    population = None if population is None else np.maximum(population, alike)
    there = keys.select(with_key(by)).to_series()
    if there.all():
        return Patterns(keys, records, alike, population, people)
    at = there.to_numpy()
    population = None if population is None else population[at]
    return Patterns(keys.filter(there), records[at], alike[at], population, people[at])


def _all_alike(counts: pl.DataFrame, by: list[str], telling: list[str], whole: pl.DataFrame) -> Patterns:
    """One class of all who have a key: each of them agrees with every record."""
    known = counts.select(telling).filter(with_key(telling)).head(1)
    in_class = np.array([counts.filter(with_key(by))[COUNT].sum()], dtype=np.int64)
    alike = whole[PERSONS].to_numpy().astype(np.float64)
    population = np.maximum(whole[WEIGHT].to_numpy(), alike) if WEIGHT in whole.columns else None
    return Patterns(known, in_class, alike, population, whole[PERSONS].to_numpy().astype(np.int64))


def once(data: Dataset, what: tuple[object, ...], make: Callable[[], _T]) -> _T:
    """What is worked out of a data set, worked out once where it remembers."""
    return data.once(what, make) if isinstance(data, Remembered) else make()


def coded(keys: pl.DataFrame) -> Ints:
    """Number the values of each key from 0 on, in their order; −1 where it is missing.

    Examples
    --------
    >>> coded(pl.DataFrame({"sex": ["m", "f", None]})).tolist()
    [[1], [0], [-1]]
    """
    return keys.select(pl.all().rank("dense").cast(pl.Int64).fill_null(0) - 1).to_numpy()


@dataclass(frozen=True, eq=False)
class Values:
    """The values of one sensitive variable in the classes of a table: r rows, each a value that occurs in a class.

    Parameters
    ----------
    group : ndarray, shape (r,)
        Number of the class, from 0 on, ascending.
    value : ndarray, shape (r,)
        Number of the value, in the order of `levels`.
    count : ndarray, shape (r,)
        Records of that class with that value.
    levels
        The m different values of the whole table, ordered: by size, by the codebook's order, or as text; null, which
        is the value of classes without a known one, last.
    variable
        What the codebook says of it.
    """

    group: Ints
    value: Ints
    count: Ints
    levels: pl.Series
    variable: Variable

    @property
    def sizes(self) -> Ints:
        """Records with a value in each class, shape (classes,)."""
        return np.bincount(self.group, weights=self.count).astype(np.int64)

    @property
    def share(self) -> Floats:
        """Share of its class that has the value, shape (r,)."""
        return np.asarray(self.count / self.sizes[self.group])

    @property
    def expected(self) -> Floats:
        """Share of the whole table that has each value, shape (m,)."""
        return np.asarray(np.bincount(self.value, weights=self.count) / self.count.sum())

    @cached_property
    def largest_first(self) -> Values:
        """The same, the most frequent value of each class first."""
        order = np.lexsort((self.value, -self.count, self.group))
        return Values(self.group, self.value[order], self.count[order], self.levels, self.variable)

    @property
    def starts(self) -> Ints:
        """Where each class begins, shape (classes,)."""
        return np.flatnonzero(np.diff(self.group, prepend=-1)).astype(np.int64)


def values(data: Dataset, by: Sequence[str], sensitive: str, missing: MissingSensitive = "ignore") -> Values | None:
    """Count the values of a sensitive variable in the classes of some keys.

    Parameters
    ----------
    data
        The table; its codebook says which codes stand for missing, and how the values are ordered.
    by
        The keys. Classes are exact combinations, null and NaN together one category.
    sensitive
        The column that an intruder must not learn.
    missing
        A missing value is no value (`ignore`), or one common `category`; never several different values. In classes
        without any known value it is one in both cases.

    Returns
    -------
    Values or None
        None where there is no key or no value.

    Examples
    --------
    >>> import sfumato as sf
    >>> table = sf.read(pl.DataFrame({"sex": ["f", "f", "m"], "ill": ["yes", "no", "no"]}))
    >>> found = values(table, ["sex"], "ill")
    >>> found.levels.to_list(), found.share.tolist()
    (['no', 'yes'], [0.5, 0.5, 1.0])
    """

    def make() -> Values | None:
        counts = value_counts(data, by, sensitive, missing)
        return _values(counts, list(by), sensitive, data.codebook) if counts.height else None

    return once(data, ("values", tuple(by), sensitive, missing), make) if by else None


def _values(counts: pl.DataFrame, by: list[str], sensitive: str, codebook: Codebook) -> Values:
    variable = codebook[sensitive]
    levels = ranked(counts[sensitive].unique(), variable)
    numbered = pl.DataFrame([levels.alias("level"), pl.int_range(len(levels), eager=True).alias("number")])
    begins = pl.any_horizontal(pl.col(n).ne_missing(pl.col(n).shift()) for n in by)
    found = counts.select(
        begins.cast(pl.Int64).cum_sum().alias("group"), pl.col(sensitive).alias("level"), pl.col(COUNT).alias("count")
    ).join(numbered, on="level", how="left", nulls_equal=True, maintain_order="left")
    group, value, count = (found[n].to_numpy().astype(np.int64) for n in ("group", "number", "count"))
    order = np.lexsort((value, group))  # counts come in the order of the type, which may not be the codebook's
    return Values((group - group[0])[order], value[order], count[order], levels, variable)


def ranked(levels: pl.Series, variable: Variable) -> pl.Series:
    """Bring different values into their order: the codebook's, else numbers and dates by size, else as text.

    Examples
    --------
    >>> ranked(pl.Series(["low", "high", "mid"]), Variable(order=("low", "mid", "high"))).to_list()
    ['low', 'mid', 'high']
    >>> ranked(pl.Series([10, 9]), Variable()).to_list(), ranked(pl.Series(["10", "9"]), Variable()).to_list()
    ([9, 10], ['10', '9'])
    """
    text = levels.cast(pl.String)
    if variable.order:
        known = pl.Series([str(v) for v in variable.order], dtype=pl.String)
        place = text.replace_strict(known, pl.Series(range(len(known))), default=len(known), return_dtype=pl.Int64)
        order = pl.DataFrame({"gone": text.is_null(), "place": place, "text": text})
        return levels.gather(order.select(pl.arg_sort_by("gone", "place", "text")).to_series())
    by_size = levels.dtype.is_numeric() or levels.dtype.is_temporal() or levels.dtype in (pl.Boolean, pl.Enum)
    return levels.gather((levels if by_size else text).arg_sort(nulls_last=True))


Of = Callable[[Patterns], float | None]
OfValues = Callable[[Values], float | None]


def class_findings(subject: Subject, figures: Sequence[tuple[str, float | None, Of]]) -> Findings:
    """Give the lines of measures of classes: for each group of classes one of each figure.

    Parameters
    ----------
    subject
        What is measured; figures of the table as it was given are baselines.
    figures
        Name, `at`, and what gives the figure of a table of patterns; no figure where there is no record.
    """
    lines: list[Finding] = []
    notes: dict[str, None] = {}
    for classes in subject.classes:
        there = patterns(subject.after, classes.by, subject.how.missing)
        was = _given(subject, classes.by)
        given = None if was is None else patterns(was, classes.by, subject.how.missing)
        for name, at, of in figures:
            value, baseline = (None if p is None else of(p) for p in (there, given))
            lines.append(Finding(name, group=classes.group, at=at, value=value, baseline=baseline))
        notes |= {NO_CLASS: None} if there is None else {}
    return Findings(tuple(lines), tuple(notes))


def value_findings(
    subject: Subject,
    figures: Sequence[tuple[str, float | None, OfValues]],
    none: str = "",
    places: Iterable[tuple[Classes, str]] | None = None,
) -> Findings:
    """Give the lines of measures of sensitive values in classes: for each group and variable one of each figure.

    Parameters
    ----------
    subject
        What is measured; figures of the table as it was given are baselines.
    figures
        Name, `at`, and what gives the worst figure of all classes.
    none
        What to say where a variable has values and there is no figure all the same; a format with the columns' names.
    places
        Groups of classes and variables; by default each group with each variable.
    """
    lines: list[Finding] = []
    notes: dict[str, None] = {}
    without: dict[str, None] = {}
    for classes, variable in places or subject.of_sensitive():
        missing = subject.how.missing
        there = values(subject.after, taking_part(subject.after, classes.by, missing), variable)
        was = _given(subject, (*classes.by, variable))
        given = None if was is None else values(was, taking_part(was, classes.by, missing), variable)
        for name, at, of in figures:
            value, baseline = (None if v is None else of(v) for v in (there, given))
            lines.append(Finding(name, variable, classes.group, at, value=value, baseline=baseline))
            if there is None:
                notes[f"Column {variable!r} holds no value in any class, so there is no {name}."] = None
            elif value is None and none:
                without[repr(variable)] = None
    if without:
        notes[none.format(", ".join(without))] = None
    return Findings(tuple(lines), tuple(notes))


def _given(subject: Subject, columns: Sequence[str]) -> Dataset | None:
    """The table as it was given, where there is one with these columns."""
    return subject.given if subject.given is not None and has_columns(subject.given, columns) else None
