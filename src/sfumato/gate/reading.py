"""From a data set to the records that decisions are made about."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.data.codebook import Codebook
from sfumato.data.design import is_factor
from sfumato.data.expression import parse
from sfumato.data.hierarchy import as_texts, text_of
from sfumato.data.unseen import seen
from sfumato.draws import Draws, Purpose, units
from sfumato.errors import DataError, FileError
from sfumato.gate.dependences.search import knowing, searched, without_chance
from sfumato.gate.margin import FIRST
from sfumato.gate.plain_files import read_plain
from sfumato.gate.records import Codes, Records
from sfumato.gate.structure import KNOWN, KNOWN_OF, MISSING, Structure
from sfumato.kernels.tabular.combinations import LARGEST
from sfumato.kernels.tabular.keys import BITS

__all__ = ["MISSING", "read_levels", "read_never", "records_of"]

_MOST_CODES = 100_000
_MOST_VERSIONS = 10
_MOST_COMBINATIONS = 1_000_000
_LARGEST = 16 << 20
Ints = NDArray[np.int64]
Levels = Mapping[str, Mapping[str, Mapping[str, str]]]


def records_of(
    frame: pl.DataFrame,
    codebook: Codebook | None = None,
    *,
    count: str | None = None,
    record: str | None = None,
    levels: Levels | None = None,
    never: Sequence[Mapping[str, str]] = (),
    cohorts: Mapping[str, str] | None = None,
    versions: Sequence[tuple[str, pl.DataFrame]] = (),
    first: str = FIRST,
    secret: bytes | None = None,
    chance: Sequence[Sequence[str]] = (),
    search: bool = True,
    missing_told: Sequence[str] = (),
) -> Records:
    """Code a table of records, or of counts, and its further versions.

    Parameters
    ----------
    frame
        The rows of the first version.
    codebook
        Roles and ranges, where they are known.
    count
        The column that says how many people a row stands for.
    record
        The column of ids, by which versions are paired; not a variable.
    levels
        By variable and level, the group of each code.
    never
        Combinations of codes that cannot be.
    cohorts
        Derived variables, by formulas over variables.
    versions
        Further versions, with their names.
    first
        Name of the first version.
    secret
        What the keys of perturbed tables are drawn with; without it none can be made.
    chance
        Sets of columns that hang on one another by chance alone, as stewards confirmed.
    search
        Whether dependences between columns are searched for; without, those that are declared are all that counts.
    missing_told
        Numbers of which it is no secret whether somebody's value is there.

    Raises
    ------
    DataError
        Counts that are no whole numbers from 0 on, codes that a level leaves out, a `never` that occurs, ids that are
        missing or stand twice.

    Examples
    --------
    >>> told = records_of(pl.DataFrame({"A": ["x", "y"], "n": [3, 0]}), count="n")
    >>> told.structure.codes, told.scope(["v1"]).total
    ({'A': ('x', 'y')}, 3)
    """
    book = codebook or Codebook()
    names = [first, *(name for name, _ in versions)]
    lives = _Lives.of([frame, *(one for _, one in versions)], record, count)
    weights = lives.weights
    together = lives.frame.select(c for c in lives.frame.columns if c not in (count, record))
    made = {name: _derived(together, name, formula, book) for name, formula in (cohorts or {}).items()}
    whole = together.with_columns(**made)
    if odd := [c for c in whole.columns if c.startswith("@")]:
        raise DataError(f"{', '.join(map(repr, odd))}: names of variables cannot begin with @.")
    coded = {name: found for name in whole.columns if (found := _coded(whole[name])) is not None}
    values = {n: _numbers(whole[n], n, book) for n in whole.columns if whole[n].dtype.is_numeric()}
    coded |= _whether_known(values, coded)
    lines = {name: _cohort(whole, coded, name, formula, book) for name, formula in (cohorts or {}).items()}
    _refuse_untold(missing_told, values)
    said = _said(whole, {name: labels for name, (_, labels) in coded.items()}, book)
    structure = replace(
        said,
        levels=_groups(said.codes, levels or {}),
        never=tuple(never),
        cohorts=lines,
        missing_told=frozenset(missing_told),
    )
    held = slice(None) if weights is None else weights > 0
    own: dict[str, Codes] = {name: column[held] for name, (column, _) in coded.items()}
    numbers = {name: value[held] for name, value in values.items()}
    _refuse_occurring(structure, own)
    people = None if weights is None else weights[held]
    life = None if len(names) == 1 else lives.life[held]
    finds = searched(structure, own, numbers, people, names, life) if search else []
    finds = without_chance(finds, chance)
    return Records(
        knowing(structure, finds),
        own,
        numbers,
        people,
        tuple(names),
        life,
        _words(lives, record, secret, held),
        lives.arrivals,
        frozenset(n for n in numbers if is_factor(n, whole.schema[n], book)),
        tuple(find.dependence for find in finds),
    )


def _said(whole: pl.DataFrame, codes: Mapping[str, tuple[str, ...]], book: Codebook) -> Structure:
    """What the columns and the codebook say of each variable by itself."""
    return Structure(
        codes,
        sensitive=frozenset(n for n in whole.columns if n in book and book[n].private),
        signed=frozenset(n for n in whole.columns if _signed(whole[n], n, book)),
        missing={n: _missing(n, labels, whole[n], book) for n, labels in codes.items() if n in whole.columns},
        ranges={
            n: told for n in whole.columns if whole[n].dtype.is_numeric() and (told := _range(n, book)) is not None
        },
    )


_LIFE = "@versions"


@dataclass(frozen=True)
class _Lives:
    """All states of all records of several versions.

    A record that was changed has two states. Of tables of counts, cells are paired: as many people as both versions
    have in a cell stand in both.
    """

    frame: pl.DataFrame
    life: Ints
    weights: Ints | None
    arrivals: Ints | None = None

    @classmethod
    def of(cls, frames: Sequence[pl.DataFrame], record: str | None, count: str | None) -> _Lives:
        """Put versions together."""
        for frame in frames[1:]:
            if set(frame.columns) != set(frames[0].columns):
                raise DataError("Versions of a data set have the same columns.")
        weights = [_weights(frame, count) for frame in frames]
        if len(frames) == 1:
            return cls(frames[0], np.ones(frames[0].height, dtype=np.int64), weights[0])
        if len(frames) > _MOST_VERSIONS:
            raise DataError(f"A data set has at most {_MOST_VERSIONS} versions that are told apart.")
        first = frames[0]
        same = [_alike(frame.select(first.columns), first.schema) for frame in frames]
        return cls._of_counts(same, count, weights) if count is not None else cls._of_records(same, record)

    @classmethod
    def _of_records(cls, frames: Sequence[pl.DataFrame], record: str | None) -> _Lives:
        if record is None:
            raise DataError("Versions of a data set are paired by record id: name its column.")
        for frame in frames:
            if record not in frame.columns:
                raise DataError(f"A version has no column {record!r} of record ids.")
            if frame[record].null_count() or frame[record].n_unique() < frame.height:
                raise DataError(f"Record ids in {record!r} are missing or stand twice: versions cannot be paired.")
        parts = [frame.with_columns(pl.lit(1 << i, pl.Int64).alias(_LIFE)) for i, frame in enumerate(frames)]
        states = pl.concat(parts).group_by(frames[0].columns, maintain_order=True).agg(pl.col(_LIFE).sum())
        people = pl.concat(part.select(record, _LIFE) for part in parts).group_by(record).agg(pl.col(_LIFE).sum())
        held = people[_LIFE].to_numpy()
        return cls(states.drop(_LIFE), states[_LIFE].to_numpy(), None, _arrivals(held, None, len(frames)))

    @classmethod
    def _of_counts(cls, frames: Sequence[pl.DataFrame], count: str, weights: Sequence[Ints | None]) -> _Lives:
        cells = [c for c in frames[0].columns if c != count]
        wide = pl.concat(
            frame.select(cells)
            .with_columns(**{f"@{j}": pl.lit(0, pl.Int64) for j in range(len(frames)) if j != i})
            .with_columns(pl.Series(f"@{i}", own))
            .select(*cells, *(f"@{j}" for j in range(len(frames))))
            for i, (frame, own) in enumerate(zip(frames, weights, strict=True))
        )
        wide = wide.group_by(cells, maintain_order=True).agg(pl.col(f"@{j}").sum() for j in range(len(frames)))
        each = wide.select(f"@{j}" for j in range(len(frames))).to_numpy()
        order = np.sort(np.concatenate([np.zeros((len(each), 1), np.int64), each], axis=1), axis=1)
        rows, life, many = [], [], []
        for step in range(each.shape[1]):  # as many as at least so many versions have stand in those
            has = (each >= order[:, step + 1 :][:, :1]) & (order[:, step + 1] > 0)[:, None]
            own = order[:, step + 1] - order[:, step]
            held = np.flatnonzero(own > 0)
            rows.append(held)
            life.append((has[held] @ (1 << np.arange(each.shape[1]))).astype(np.int64))
            many.append(own[held])
        at, lives, counts = np.concatenate(rows), np.concatenate(life), np.concatenate(many)
        empty = np.setdiff1d(np.arange(len(each)), at)  # cells of nobody keep their codes
        at = np.concatenate([at, empty])
        lives, counts = (np.concatenate([own, np.zeros(len(empty), np.int64)]) for own in (lives, counts))
        return cls(wide.select(cells)[at], lives, counts, _arrivals(lives, counts, len(frames)))


def _alike(frame: pl.DataFrame, schema: Mapping[str, pl.DataType]) -> pl.DataFrame:
    """A version with the kinds of columns of the first one; no value may become missing or another one by it."""
    out = []
    for name, kind in schema.items():
        column = frame[name]
        told = column.cast(kind, strict=False)
        if not told.cast(column.dtype, strict=False).eq_missing(column).all():
            raise DataError(f"Column {name!r} of a version has values of another kind than in the first version.")
        out.append(told)
    return pl.DataFrame(out)


def _arrivals(life: Ints, counts: Ints | None, versions: int) -> Ints:
    """How many stand in one version and not in another."""
    has = (life[:, None] >> np.arange(versions) & 1).astype(np.int64)
    weighted = has if counts is None else has * counts[:, None]
    return np.asarray(weighted.T @ (1 - has), dtype=np.int64)


def _words(lives: _Lives, record: str | None, secret: bytes | None, held: Any) -> NDArray[np.uint64] | None:
    """Random bits of each line, that hang on its record id, or on its codes where it is a cell of counts."""
    if secret is None or (record is None and lives.weights is None):
        return None
    names = [record] if record is not None else lives.frame.columns
    who = lives.frame.select(pl.concat_str(pl.col(n).cast(pl.String).fill_null(MISSING) for n in names)).to_series()
    word = Draws(secret).words(units(lives.frame[record] if record is not None else who), Purpose("cell_key"))[:, 0]
    return np.asarray((word >> np.uint64(64 - BITS))[held], dtype=np.uint64)


def _weights(frame: pl.DataFrame, count: str | None) -> Ints | None:
    if count is None:
        return None
    if count not in frame.columns:
        raise DataError(f"There is no column {count!r} of counts. Columns: {seen(', '.join(frame.columns))}.")
    column = frame[count]
    if not column.dtype.is_numeric():
        raise DataError(f"Column {count!r} holds no counts: they are whole numbers from 0 on.")
    value = column.cast(pl.Float64).fill_null(float("nan")).to_numpy()
    if not (np.isfinite(value) & (value >= 0) & (value == np.round(value)) & (value < 2**53)).all():
        raise DataError(f"Column {count!r} holds no counts: they are whole numbers from 0 on, and none is missing.")
    return value.astype(np.int64)


def _coded(column: pl.Series) -> tuple[Codes, tuple[str, ...]] | None:
    """Numbers of codes in rising order, and the codes as texts; None where there are too many."""
    if column.dtype.is_float():
        column = column.fill_nan(None)
    if column.dtype.is_nested() or column.n_unique() > _MOST_CODES:
        return None
    held = column.drop_nulls().unique().sort()
    labels = held.to_frame("x").select(as_texts(pl.col("x"), held.dtype)).to_series().to_list()
    if len(set(labels)) < len(labels):
        return None
    place = column.to_frame("x").join(
        held.to_frame("x").with_row_index("i"), on="x", how="left", maintain_order="left"
    )["i"]
    if column.null_count():
        place = place.fill_null(len(labels))
        labels = [*labels, MISSING]
    small = np.uint8 if len(labels) <= 256 else np.uint16 if len(labels) <= 1 << 16 else np.uint32
    return place.to_numpy().astype(small), tuple(map(str, labels))


def _missing(name: str, labels: Sequence[str], column: pl.Series, book: Codebook) -> frozenset[str]:
    """The codes that say that a value is missing: none is there, or one that the codebook names."""
    gone = {MISSING} & set(labels[-1:])
    if name in book and book[name].missing:
        held = column.drop_nulls().unique().to_frame(name)
        named = held.filter(book.missing(name, column.dtype)).select(as_texts(pl.col(name), column.dtype))
        gone |= set(named.to_series().to_list())
    return frozenset(gone)


def _whether_known(
    values: Mapping[str, NDArray[np.float64]], coded: Mapping[str, Any]
) -> dict[str, tuple[Codes, tuple[str, ...]]]:
    """Of numbers without codes, whether their values are there: nobody asks by it, and sums are judged by it."""
    gone = {name: np.isnan(value) for name, value in values.items() if name not in coded}
    return {KNOWN_OF + name: (own.astype(np.uint8), (KNOWN, MISSING)) for name, own in gone.items() if own.any()}


def _numbers(column: pl.Series, name: str, book: Codebook) -> NDArray[np.float64]:
    missing = book.missing(name, column.dtype) if name in book else pl.col(name).is_null()
    value = pl.when(missing).then(None).otherwise(pl.col(name)).cast(pl.Float64)
    return column.to_frame(name).select(value.fill_null(float("nan"))).to_series().to_numpy()


def _range(name: str, book: Codebook) -> tuple[float, float] | None:
    """The least and the most that a number can be, endless on a side that the codebook leaves open."""
    low, high = (book[name].range if name in book else None) or (None, None)
    if low is None and high is None:
        return None
    return -math.inf if low is None else float(low), math.inf if high is None else float(high)


def _refuse_untold(names: Sequence[str], values: Mapping[str, NDArray[np.float64]]) -> None:
    if unknown := [name for name in names if name not in values]:
        raise DataError(f"`missing_told` names {', '.join(map(repr, unknown))}, which is no variable of numbers.")


def _signed(column: pl.Series, name: str, book: Codebook) -> bool:
    if not column.dtype.is_numeric():
        return False
    known = book[name].range if name in book else None
    return (
        known is None
        and bool((column.fill_nan(None) if column.dtype.is_float() else column).min() or 0)
        and float(
            column.min() or 0  # type: ignore[arg-type]
        )
        < 0
    )


def _derived(frame: pl.DataFrame, name: str, formula: str, book: Codebook) -> pl.Expr:
    if name in frame.columns:
        raise DataError(f"The cohort {name!r} has the name of a variable.")
    return parse(formula).polars(book, frame.schema)


def _cohort(
    whole: pl.DataFrame,
    coded: dict[str, tuple[Codes, tuple[str, ...]]],
    name: str,
    formula: str,
    book: Codebook,
) -> tuple[tuple[str, ...], Ints]:
    """Which code of a cohort each combination of codes of its sources gives, whether or not anybody has it.

    What does not occur is possible all the same: the cohort gets the codes that it would have.
    """
    sources = parse(formula).names
    if missing := [source for source in sources if source not in coded]:
        raise DataError(f"The cohort {name!r} is made of {', '.join(map(repr, missing))}, which has no codes.")
    held = [
        whole.select(pl.col(source).fill_nan(None) if whole[source].dtype.is_float() else source) for source in sources
    ]
    values = [one.unique().sort(one.columns[0], nulls_last=True) for one in held]
    many = math.prod(one.height for one in values)
    if many > _MOST_COMBINATIONS:
        raise DataError(f"The cohort {name!r} is made of too many combinations of codes.")
    every = values[0]
    for one in values[1:]:
        every = every.join(one, how="cross")
    every = every.with_columns(**{name: parse(formula).polars(book, whole.schema)})
    own = _coded(pl.concat([whole[name], every[name]]))
    if own is None or many * len(own[1]) > LARGEST:
        raise DataError(f"The cohort {name!r} has too many codes.")
    codes, labels = own
    coded[name] = codes[: whole.height], labels
    numbers = np.indices([one.height for one in values]).reshape(len(values), -1)
    return tuple(sources), np.stack([*numbers, codes[whole.height :].astype(np.int64)], axis=1)


def _groups(codes: Mapping[str, tuple[str, ...]], levels: Levels) -> dict[tuple[str, str], tuple[str, ...]]:
    out = {}
    for variable, own in levels.items():
        if variable not in codes:
            raise DataError(f"Levels are given of {variable!r}, which is no variable with codes.")
        for level, group in own.items():
            open_ = sum(code not in group and code != MISSING for code in codes[variable])
            if open_:
                raise DataError(
                    f"Level {level!r} of {variable!r} leaves codes of the data without a group. Give every code one."
                )
            out[variable, level] = tuple(group.get(code, MISSING) for code in codes[variable])
    return out


def _refuse_occurring(structure: Structure, codes: Mapping[str, Codes]) -> None:
    for never in structure.never:
        held = [codes[variable] == structure.codes[variable].index(code) for variable, code in never.items()]
        if np.logical_and.reduce(held).any():
            raise DataError(f"A `never` of {', '.join(map(repr, never))} occurs in the data: it is not impossible.")


def read_never(text: str) -> dict[str, str]:
    """Read a combination that cannot be, as commands take it.

    Examples
    --------
    >>> read_never("sex=M,pregnant=yes")
    {'sex': 'M', 'pregnant': 'yes'}
    """
    out = {}
    for part in text.split(","):
        variable, sign, code = part.partition("=")
        if not sign or not variable.strip() or not code.strip():
            raise DataError("A combination that cannot be is written sex=M,pregnant=yes.")
        out[variable.strip()] = code.strip()
    return out


def read_levels(given: Any, base: Path) -> dict[str, dict[str, dict[str, str]]]:
    """Read levels: by variable and level a file with the columns `code` and `group`, or the groups themselves.

    Parameters
    ----------
    given
        Path of a YAML file; or what stands in it.
    base
        The folder from which files of a mapping are named; those of a YAML file are seen from its own.

    Raises
    ------
    FileError, DataError
        What cannot be read, or is of another form.
    """
    if isinstance(given, str | Path):
        path = Path(given)
        given, _ = read_plain(path, "levels")
        base = path.parent
    if not isinstance(given, Mapping):
        raise DataError("Levels are a mapping: variable, then level, then a file with code and group.")
    out: dict[str, dict[str, dict[str, str]]] = {}
    for variable, own in given.items():
        if not isinstance(own, Mapping):
            raise DataError(f"Levels of {variable!r} are a mapping: level, then a file with code and group.")
        out[str(variable)] = {str(level): _level(one, base, str(variable), str(level)) for level, one in own.items()}
    return out


def _level(given: Any, base: Path, variable: str, level: str) -> dict[str, str]:
    if isinstance(given, Mapping):
        return {text_of(code): text_of(group) for code, group in given.items()}
    if not isinstance(given, str):
        raise DataError(f"Level {level!r} of {variable!r} is a file with the columns code and group.")
    path = base / given
    try:
        if path.stat().st_size > _LARGEST:
            raise FileError(f"{path.name!r} is too large for a level.")
        frame = pl.read_csv(path, infer_schema=False)
    except (OSError, pl.exceptions.PolarsError):
        raise FileError(f"Cannot read {path.name!r}, level {level!r} of {variable!r}.") from None
    if not {"code", "group"} <= set(frame.columns):
        raise DataError(f"{path.name!r} needs the columns code and group.")
    pairs = frame.select("code", "group")
    if pairs.null_count().sum_horizontal().item() or pairs["code"].n_unique() < pairs.height:
        raise DataError(f"{path.name!r} has a code twice, or an empty one.")
    return dict(pairs.iter_rows())
