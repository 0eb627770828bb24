"""Tables from records: one question for the finest cells, and margins rolled up from these."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.data.codebook import Codebook
from sfumato.data.dataset import Dataset
from sfumato.data.extended import LETTERS
from sfumato.data.hierarchy import Hierarchy, as_texts
from sfumato.data.query import COUNT as RECORDS
from sfumato.data.query import Counts
from sfumato.draws import MAKE_SECRET, Draws, Purpose, units
from sfumato.errors import DataError, SecretError
from sfumato.kernels.grid import FINEST_PLACE, NO_GRID, decimals, on_grid
from sfumato.kernels.tabular.keys import sum_keys, written_keys
from sfumato.kernels.tabular.rollup import Contributions, Rolled, Upward, roll_up
from sfumato.tables.asked import By, Chain, Trees, asked_tables, given_trees
from sfumato.tables.axis import Axis, qualified
from sfumato.tables.table import (
    ASKED,
    CELL_KEY,
    CONTRIBUTORS,
    COUNT,
    RESERVED,
    SHADOW,
    SINGLE,
    Origin,
    Table,
    keyed,
    largest_name,
)

__all__ = ["MISSING", "build"]

MISSING = "missing"
"""The code of records that have none."""
RANKS = 3
_MOST_CELLS = 50_000_000
Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


def build(
    data: Dataset,
    by: By,
    value: str | None = None,
    *,
    count: str | None = None,
    contributors: str | None = None,
    holdings: str | None = None,
    weight: str | None = None,
    waived: str | None = None,
    requested: str | None = None,
    hierarchies: Trees | None = None,
    margins: bool | Sequence[str] = True,
    ranks: int = RANKS,
    record: str | None = None,
    secret: bytes | None = None,
) -> Table:
    """Build tables of counts or of a value from records: every cell that is not empty, with its margins.

    Parameters
    ----------
    data
        The records.
    by
        Variables, as a list or with commas; several lists make linked tables of the same data. `A10>A21>A88` are nested
        columns of one variable.
    value
        What is summed; without it records are counted. A record without a value is in no cell.
    count
        A column of how many records each row stands for.
    contributors
        Whose record it is. Without it each record (or unit of `count`) is of its own.
    holdings
        Who owns the contributor: a holding is one contributor. Where it is missing, the contributor is its own.
    weight
        Sampling weight: totals are weighted; a contribution counts as often as its rounded weight.
    waived, requested
        A column of 0 and 1, or false and true: who gave up protection, or who alone asked for it. Rules on shares then
        protect the others only.
    hierarchies
        A tree for a variable, or several that group it otherwise. Those of the codebook are taken where none is given.
    margins
        Whether totals are listed: of all variables, of none (finest cells only), or of those named.
    ranks
        How many of the largest contributions are kept, for rules on more than two.
    record
        The id of each record. With it each cell gets a key for `perturb`, the sum modulo 1 of its records' keys: cells
        that hold the same records have the same key, in whatever table.
    secret
        At least 16 bytes that keys of records are drawn with; the same for all tables of the data.

    Returns
    -------
    Table
        The same, bit by bit, for any order of the records and on any engine.

    Raises
    ------
    DataError
        Columns that are not there or of the wrong type, codes that a hierarchy does not list, negative counts; ids of
        records that are missing or stand in several rows.
    SecretError
        Keys of cells are asked for without a secret, or with one that is too short.

    Examples
    --------
    >>> from sfumato.engines.polars import PolarsDataset
    >>> firms = pl.DataFrame({"town": ["a", "a", "b"], "turnover": [5.0, 2.0, 1.5]})
    >>> build(PolarsDataset(firms, Codebook()), ["town"], "turnover").cells.select("town", "turnover", "contributors")
    shape: (3, 3)
    ┌───────┬──────────┬──────────────┐
    │ town  ┆ turnover ┆ contributors │
    │ ---   ┆ ---      ┆ ---          │
    │ str   ┆ f64      ┆ i64          │
    ╞═══════╪══════════╪══════════════╡
    │ Total ┆ 8.5      ┆ 3            │
    │ a     ┆ 7.0      ┆ 2            │
    │ b     ┆ 1.5      ┆ 1            │
    └───────┴──────────┴──────────────┘
    """
    tables = asked_tables(by)
    named = _Named(value, count, contributors, holdings, weight, waived, requested, record)
    _refuse_keys(named, secret)
    columns = list(dict.fromkeys(c for table in tables for chain in table for c in chain.columns))
    _refuse(data.codebook, columns, named, tables)
    records = _records(data, columns, named)
    trees = _trees(hierarchies, tables, data.codebook)
    axes, leaves, levels = _axes(records, tables, trees)
    sizes = [len(axis.codes) for axis in axes]
    given, grid = _contributions(records, named, keyed(leaves, sizes))
    upward = [_upward(axes, table, levels, margins) for table in tables]
    rolled = [roll_up(given, sizes, up, ranks if value else 0) for up in upward]
    built = _table(axes, _first_of(rolled), value, grid, named)
    origin = Origin(weighted=weight is not None, negative=bool((given.amount < 0).any()))
    built = replace(built, origin=origin, contributions=None if value is None else given)
    if record is None or secret is None:
        return built
    word = Draws(secret).words(units(records[record]), Purpose("cell_key"))[:, 0]
    return built.with_columns(
        **{CELL_KEY: _cell_keys(built.keys, [sum_keys(given.key, word, sizes, up) for up in upward])}
    )


def _refuse_keys(named: _Named, secret: bytes | None) -> None:
    """Refuse keys of cells that lack the records' ids, or a secret."""
    if named.record is None:
        if secret is not None:
            raise DataError("A secret draws the keys of cells: name the column of the records' ids (`record`).")
        return
    if secret is None:
        raise SecretError(
            "Keys of cells are drawn with a secret, the same for all tables of the data. Make one once "
            f"({MAKE_SECRET}), keep it like the data, and give it every time: --secret-file key, or secret= in Python."
        )
    if named.count is not None:
        raise DataError("A row that stands for several records has no key of its own. Give one row for each record.")


def _cell_keys(cells: Ints, found: Sequence[tuple[Ints, NDArray[np.uint64]]]) -> Floats:
    """The key of each cell, from those of all tables; a cell of several tables has one key."""
    number, key = (np.concatenate(part) for part in zip(*found, strict=True))
    number, first = np.unique(number, return_index=True)
    return written_keys(key[first][np.searchsorted(number, cells)])


@dataclass(frozen=True)
class _Named:
    """The columns that say whose what is."""

    value: str | None
    count: str | None
    contributors: str | None
    holdings: str | None
    weight: str | None
    waived: str | None
    requested: str | None
    record: str | None

    @property
    def columns(self) -> list[str]:
        return list(dict.fromkeys(n for n in vars(self).values() if n))


def _refuse(codebook: Codebook, columns: Sequence[str], named: _Named, tables: Sequence[Sequence[Chain]]) -> None:
    for name in (*columns, *named.columns):
        codebook[name]  # refuses a column that is not there
    if both := [name for name in columns if name in named.columns and name != named.contributors]:
        raise DataError(f"{both[0]!r} is a variable of the table and its value. A column has one part to play.")
    if named.value in RESERVED or named.value in {chain.variable for table in tables for chain in table}:
        raise DataError(f"{named.value!r} is a name that table files need for themselves. Rename the column.")
    if named.value is None and COUNT in {chain.variable for table in tables for chain in table}:
        raise DataError(f"{COUNT!r} is the name of the counts in a table. Rename the column.")
    if named.waived and named.requested:
        raise DataError("Either some gave up protection (`waived`), or some asked for it (`requested`): give one.")
    if named.count and named.weight:
        raise DataError("A row has a sampling weight, or stands for `count` records. Give one of both.")


def _records(data: Dataset, columns: Sequence[str], named: _Named) -> pl.DataFrame:
    """One line for each group of records that are the same in all that matters; codes as texts."""
    answer = data.ask(Counts((*columns, *(n for n in named.columns if n not in columns))))
    schema, book = answer.schema, data.codebook
    if named.value is not None:
        _refuse_texts(answer, named.value)
        answer = answer.filter(~book.missing(named.value, schema[named.value]))
    for name in (named.count, named.weight, named.waived, named.requested, named.contributors, named.record):
        if name and answer.select(book.missing(name, schema[name]).any()).item():
            raise DataError(f"Column {name!r} has missing values. Give each record one, or leave the record out.")
    for name in (named.count, named.weight):
        if name:
            _refuse_texts(answer, name)
            _refuse_odd(answer[name].cast(pl.Float64).to_numpy(), name, whole=name == named.count)
    if named.record:
        ids = answer[named.record]
        if (answer[RECORDS] > 1).any() or len(np.unique(units(ids))) < len(ids):
            raise DataError(f"Column {named.record!r} has an id in several rows. Each record needs an id of its own.")
    texts = [_code(n, schema[n]) for n in columns]
    texts += [book.missing(n, schema[n]).alias(f"sfumato:no code {n}") for n in columns]
    if named.holdings:
        texts.append(book.missing(named.holdings, schema[named.holdings]).alias("sfumato:no holding"))
    out = answer.with_columns(texts)
    return out.filter(pl.col(named.count) > 0) if named.count else out


def _code(name: str, dtype: pl.DataType) -> pl.Expr:
    """A column as codes; null where there is none."""
    text = as_texts(pl.col(name), dtype)
    if not dtype.is_float():
        return text.alias(f"sfumato:code {name}")
    # what stands for a reason why there is no value (.a to .z) is written so
    letters = {code: f".{letter}" for code, letter in LETTERS.items()}
    letter = pl.col(name).replace_strict(letters, default=None, return_dtype=pl.String)
    return pl.coalesce(letter, text).alias(f"sfumato:code {name}")


def _refuse_texts(frame: pl.DataFrame, name: str) -> None:
    dtype = frame.schema[name]
    if not (dtype.is_numeric() or dtype == pl.Boolean):
        raise DataError(f"Column {name!r} holds no numbers; a numeric column is needed here.")


def _refuse_odd(x: Floats, name: str, whole: bool) -> None:
    if np.any(x < 0) or not np.all(np.isfinite(x)):
        raise DataError(f"Column {name!r} has negative or infinite numbers, which neither counts nor weights are.")
    if whole and np.any(x != np.floor(x)):
        raise DataError(f"Column {name!r} has numbers that are not whole. Sampling weights go into `weight`.")


def _trees(given: Trees | None, tables: Sequence[Sequence[Chain]], book: Codebook) -> dict[str, tuple[Hierarchy, ...]]:
    """Hierarchies that were given, else those of the codebook, for variables of one column."""
    names = [chain.variable for table in tables for chain in table]
    out = given_trees(given, names)
    nested = {chain.variable for table in tables for chain in table if len(chain.columns) > 1}
    for name in names:
        if name not in out and name not in nested and (own := Hierarchy.of(book[name])) is not None:
            out[name] = (own,)
    return out


_Levels = Mapping[Chain, Sequence[Sequence[int]]]
"""For each chain the codes that each place is counted in, without `Total`."""


def _axes(
    records: pl.DataFrame, tables: Sequence[Sequence[Chain]], trees: Mapping[str, tuple[Hierarchy, ...]]
) -> tuple[list[Axis], Ints, _Levels]:
    """The variables, the place of each line's finest codes, and what these are counted in."""
    chains: dict[str, list[Chain]] = {}
    for chain in (chain for table in tables for chain in table):
        held = chains.setdefault(chain.variable, [])
        if chain not in held:
            held.append(chain)
    axes: list[Axis] = []
    places: list[Ints] = []
    levels: dict[Chain, list[list[int]]] = {}
    for name, own in chains.items():
        axis, place, targets = _axis(records, name, own, trees.get(name, ()))
        axes.append(axis)
        places.append(place)
        levels |= targets
    return axes, np.stack(places, axis=1), levels


def _axis(
    records: pl.DataFrame, name: str, chains: Sequence[Chain], trees: Sequence[Hierarchy]
) -> tuple[Axis, Ints, dict[Chain, list[list[int]]]]:
    columns = list(dict.fromkeys(c for chain in chains for c in chain.columns))
    texts = records.select(pl.col(f"sfumato:code {c}").alias(c) for c in columns)
    kinds = texts.unique().sort(columns, nulls_last=True)
    filled = kinds.select(pl.col(c).fill_null(MISSING) for c in columns)
    if _mixed(kinds, filled):
        raise DataError(f"{name!r} has records without a code, and the code {MISSING!r}. Rename that code.")
    longest = [c for c in chains if c.columns[-1] == name]
    named = {c: qualified(name, filled.select(c.columns).iter_rows()) for c in longest}
    paths = {c: [named[c][row] for row in filled.select(c.columns).iter_rows()] for c in longest}
    finest = [path[-1] for path in paths[longest[0]]]
    if any([path[-1] for path in rows] != finest for rows in paths.values()):
        raise DataError(f"A code of {name!r} lies under two parents in one of its groupings. Give it two codes.")
    odd = texts.filter(records[f"sfumato:no code {name}"])[name].fill_null(MISSING).unique().sort().to_list()
    axis = Axis(name, _groupings(name, list(paths.values()), trees, odd))
    unknown = [code for code in finest if code not in axis.place]
    if unknown:
        raise DataError(f"Column {name!r} holds codes that its hierarchy does not list. Add them to it.")
    leaf = np.array([axis.place[code] for code in finest], dtype=np.int64)
    if not np.isin(leaf, axis.finest).all():
        raise DataError(f"Column {name!r} holds codes that its hierarchy has as totals of others. Give the finest.")
    targets = {chain: _targets(axis, chain, longest, paths, leaf, bool(trees)) for chain in chains}
    at = texts.join(
        kinds.with_row_index("sfumato:kind"), on=columns, how="left", nulls_equal=True, maintain_order="left"
    )
    return axis, leaf[at["sfumato:kind"].to_numpy()], targets


def _mixed(kinds: pl.DataFrame, filled: pl.DataFrame) -> bool:
    return filled.n_unique() < kinds.height


def _groupings(
    name: str, chains: Sequence[Sequence[tuple[str, ...]]], trees: Sequence[Hierarchy], odd: Sequence[str]
) -> tuple[Hierarchy, ...]:
    """A tree for each chain of columns, beside those that were given; codes for no value are under `Total`."""
    nested = [rows for rows in chains if len(rows) and len(rows[0]) > 1]
    out = [Hierarchy(tuple(dict.fromkeys(_upwards(path) for path in rows))) for rows in nested]
    listed = {code for tree in trees for path in tree.paths for code in path}
    lone = tuple(Hierarchy(((code,),)) for code in odd if trees and code not in listed)
    if not out and not trees:
        return (Hierarchy(tuple(dict.fromkeys((path[-1],) for path in chains[0]))),) if chains[0] else _none(name)
    return (*out, *trees, *lone)


def _none(name: str) -> tuple[Hierarchy, ...]:
    raise DataError(f"No record has a value, so there is no table by {name!r}.")


def _upwards(path: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(reversed(path)))


def _targets(
    axis: Axis,
    chain: Chain,
    longest: Sequence[Chain],
    paths: Mapping[Chain, Sequence[tuple[str, ...]]],
    leaf: Ints,
    trees: bool,
) -> list[list[int]]:
    """Which codes each place is counted in where a table asks for this chain, without `Total`; finest first."""
    out: list[list[int]] = [[] for _ in axis.codes]
    if trees:
        for place in leaf:
            out[place] = [int(place), *(i for i in axis.above[place] if i not in (0, int(place)))]
        return out
    whole = next(c for c in longest if c.columns[: len(chain.columns)] == chain.columns)
    for place, path in zip(leaf, paths[whole], strict=True):
        codes = dict.fromkeys(reversed(path[: len(chain.columns)]))
        out[place] = [axis.place[code] for code in codes]
    return out


def _upward(
    axes: Sequence[Axis], table: Sequence[Chain], levels: _Levels, margins: bool | Sequence[str]
) -> list[Upward]:
    """For each variable the codes that each place is counted in; `Total` alone where the table does not have it."""
    chains = {chain.variable: chain for chain in table}
    if not isinstance(margins, bool) and (odd := [n for n in margins if n not in {axis.name for axis in axes}]):
        raise DataError(f"`margins` names {', '.join(map(repr, odd))}, which is no variable of the table.")
    out = []
    for axis in axes:
        if axis.name not in chains:
            out.append(Upward.of([[0]] * len(axis.codes)))
            continue
        wanted = margins if isinstance(margins, bool) else axis.name in margins
        own = levels[chains[axis.name]]
        out.append(Upward.of([sorted([0, *codes]) if wanted else codes[:1] for codes in own]))
    return out


def _contributions(records: pl.DataFrame, named: _Named, key: Ints) -> tuple[Contributions, int]:
    """What every line contributes, and the decimal places of the value."""
    many = records[RECORDS].to_numpy().astype(np.int64)
    value = records[named.value].cast(pl.Float64).to_numpy() if named.value else np.ones(len(key))
    if not np.all(np.isfinite(value)):
        raise DataError(f"Column {named.value!r} has infinite values. Leave these records out.")
    grid = decimals(value) if named.value else 0
    heads = many * records[named.count].cast(pl.Int64).to_numpy() if named.count else many
    units, factor = heads, heads.astype(np.float64)
    each = np.ones_like(many)
    if named.weight:
        weight = records[named.weight].cast(pl.Float64).to_numpy()
        each = np.maximum(np.floor(weight + 0.5), 1.0).astype(np.int64)
        units, factor = many * each, many * weight
        grid += decimals(weight)  # those of a product
        grid = grid if grid <= FINEST_PLACE else NO_GRID
    who, owned = _owners(records, named)
    return Contributions(
        key,
        who,
        value * factor,
        np.where(owned, value * heads, value),
        np.where(owned, 1, heads),
        np.where(owned, each, units),
        _asked(records, named),
    ), grid


def _owners(records: pl.DataFrame, named: _Named) -> tuple[Ints, NDArray[np.bool_]]:
    """A number for each contributor; whether a line has one, or its records are each of their own."""
    rows = np.arange(records.height)
    if named.contributors:
        own = _numbered(records[named.contributors]) - 1
        owned = np.ones(records.height, dtype=bool)
    else:
        own, owned = rows, np.zeros(records.height, dtype=bool)
    if named.holdings:
        held = ~records["sfumato:no holding"].to_numpy()
        holding = _numbered(records[named.holdings])
        own = np.where(held, holding, own + int(holding.max(initial=0)) + 1)
        owned |= held
    return own, owned


def _numbered(ids: pl.Series) -> Ints:
    """Numbers from 1 for different ids, in their order, which is that of whole numbers or else of texts; 0 for none."""
    ids = ids if ids.dtype.is_integer() else ids.cast(pl.String)
    return ids.rank("dense").fill_null(0).to_numpy().astype(np.int64)


def _asked(records: pl.DataFrame, named: _Named) -> NDArray[np.bool_]:
    """Whom rules on shares protect."""
    name = named.waived or named.requested
    if not name:
        return np.ones(records.height, dtype=bool)
    flags = records[name].cast(pl.Float64, strict=False)
    if flags.null_count() or not flags.is_in([0.0, 1.0]).all():
        raise DataError(f"Column {name!r} says who gave up protection or asked for it: it takes 0 and 1.")
    said: NDArray[np.bool_] = flags.to_numpy() == 1.0
    return ~said if named.waived else said


def _first_of(rolled: Sequence[Rolled]) -> Rolled:
    """The cells of all tables, each once."""
    every = {n: np.concatenate([getattr(one, n) for one in rolled]) for n in Rolled.__dataclass_fields__}
    _, first = np.unique(every["key"], return_index=True)
    return Rolled(**{n: part[first] for n, part in every.items()})


def _table(axes: Sequence[Axis], cells: Rolled, value: str | None, grid: int, named: _Named) -> Table:
    columns: dict[str, Any] = {}
    rest = cells.key
    for axis in reversed(axes):
        codes = pl.Series(axis.name, list(axis.codes))
        columns[axis.name] = codes.gather(rest % len(axis.codes))
        rest = rest // len(axis.codes)
    columns = {axis.name: columns[axis.name] for axis in axes}

    columns[value or COUNT] = on_grid(cells.value, grid)
    columns[CONTRIBUTORS] = cells.heads
    for rank in range(cells.largest.shape[1]):
        columns[largest_name(rank + 1)] = on_grid(cells.largest[:, rank], grid)
    if value and (named.weight or np.any(cells.total > cells.value + 1e-9 * np.abs(cells.value))):
        columns[SHADOW] = on_grid(cells.total, grid)
    if named.waived or named.requested:
        columns[ASKED] = on_grid(cells.asked, grid)
    single = pl.Series(SINGLE, cells.single)
    columns[SINGLE] = single.set(single < 0, None)
    return Table(tuple(axes), pl.DataFrame(columns), value or COUNT)
