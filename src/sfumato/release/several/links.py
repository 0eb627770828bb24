"""Links between released tables: those that the plan declares, and those that must not be there."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations, product

import polars as pl

from sfumato.data.links import Link, Links, links_between, same_columns, telling_counts
from sfumato.data.publishable import Publishable
from sfumato.data.roles import IDS
from sfumato.draws import written
from sfumato.engines.polars import PolarsDataset
from sfumato.errors import Problem
from sfumato.methods.base import Method
from sfumato.plan.plan import Plan
from sfumato.plan.tables import DeclaredLink, TablePlan
from sfumato.progress import Progress, quiet, split
from sfumato.release.package.datapackage import ForeignKey

__all__ = [
    "Scope",
    "declared",
    "foreign_keys",
    "in_file_order",
    "link_problems",
    "link_sentences",
    "released_problems",
    "scopes",
    "search",
    "undeclared",
    "warnings",
]


@dataclass(frozen=True)
class Scope:
    """Under which scope a column of a table was pseudonymised, and in which form.

    Parameters
    ----------
    name
        The scope, with the table's name where that is it.
    joins
        Whether equal ids have equal pseudonyms in other tables.
    """

    name: tuple[str, ...]
    joins: bool


def scopes(plan: Plan) -> dict[str, Scope]:
    """The columns of a table that were pseudonymised.

    Parameters
    ----------
    plan
        The table's own plan.
    """
    found: dict[str, Scope] = {}
    for step in plan.steps:
        if step.name == "pseudonymise":
            scope = str(getattr(step, "scope"))  # noqa: B009  of a method that may be another package's
            name = (scope, plan.table_name) if scope == "table" else (scope,)
            joins = getattr(step, "format", "code") == "code"
            for n in step.changes:  # pseudonyms of pseudonyms are the same where all scopes are
                earlier = found.get(n, Scope((), True))
                found[n] = Scope((*earlier.name, *name), earlier.joins and joins)
    return found


def link_problems(plan: Plan) -> Iterator[Problem]:
    """What keeps a declared link from linking anything, before any data are touched."""
    for i, link in enumerate(plan.links):
        one, two = (scopes(plan.table(name)) for name in (link.from_, link.to))
        for n in link.on:
            problem = _apart(n, one.get(n), two.get(n))
            if problem:
                yield Problem(problem, None, ("links", i), f"link {i + 1}")


def _apart(column: str, one: Scope | None, two: Scope | None) -> str | None:
    if one == two and (one is None or one.joins):
        return None
    if one is None or two is None:
        return f"{column!r} is pseudonymised in one of its tables only: do so in both, with one scope"
    if one.joins and two.joins:
        return (
            f"{column!r} is pseudonymised under different scopes, so that nothing belongs together: give both tables "
            "one scope (scope: project, or a name), or leave the link out"
        )
    return f"{column!r} becomes running numbers, which belong to one table: pseudonymise it with format: code"


def search(plan: Plan, tables: Mapping[str, PolarsDataset], progress: Progress = quiet) -> Links:
    """Look for links between every two released tables that the plan does not declare.

    Columns that are pseudonymised apart in two tables have their name in common and nothing else.

    Parameters
    ----------
    plan
        The plan of all tables.
    tables
        What is released of each.
    progress
        Called with what is being looked at.
    """
    pairs = list(combinations(tables, 2))
    found = Links()
    for (a, b), part in zip(pairs, split(progress, [1.0] * len(pairs)), strict=True):
        part(f"looking for links between {a} and {b}", 0)
        found += links_between(
            tables[a].frame,
            tables[b].frame,
            declared=declared(plan, a, b),
            unlinkable=_pseudonymised_apart(plan, a, b),
            tables=(a, b),
        )
    return found


def declared(plan: Plan, a: str, b: str) -> list[tuple[str, ...]]:
    """The sets of columns by which two tables are linked openly, be it through other tables with the same ids.

    Examples
    --------
    >>> links = [{"from": name, "to": "farmers", "on": ["farm"]} for name in ("visits", "loans")]
    >>> tables = {name: {"file": f"{name}.csv"} for name in ("farmers", "visits", "loans")}
    >>> declared(Plan.model_validate({"tables": tables, "links": links}), "visits", "loans")
    [('farm',)]
    """
    found = []
    for on in dict.fromkeys(tuple(sorted(link.on)) for link in plan.links):
        reached, links = {a}, [link.tables for link in plan.links if tuple(sorted(link.on)) == on]
        while more := [tables for tables in links if tables & reached and not tables <= reached]:
            reached = reached.union(*more)
        found += [on] if b in reached else []
    return found


def _pseudonymised_apart(plan: Plan, a: str, b: str) -> list[str]:
    """Columns of both tables whose pseudonyms have nothing to do with each other."""
    one, two = scopes(plan.table(a)), scopes(plan.table(b))
    return [n for n in one if n in two and not (one[n] == two[n] and one[n].joins)]


def in_file_order(plan: Plan, tables: Collection[str]) -> Iterator[str]:
    """A clause for each two tables of one file whose rows leave in that file's order; no column need show it."""
    for a, b in combinations(tables, 2):
        if plan.order == "input" and plan.tables[a].file == plan.tables[b].file:
            yield (
                f"rows of {a} and {b} both stand in the order of their file (order: input), and can be put together by "
                f"it: leave `order` out"
            )


def undeclared(links: Links) -> Iterator[str]:
    """A clause for each link that stops the release; it names tables and columns."""
    for link in links.links:
        a, b = link.tables
        if link.row_order:
            yield f"rows of {a} and {b} stand in one order, as {_listed(link)} show, and can be put together by it"
        else:
            yield (
                f"records of {a} and {b} can be put together by {_listed(link)}: declare the link (links), or coarsen, "
                "mask, pseudonymise apart or drop one of these columns in one of the tables"
            )


def _listed(link: Link) -> str:
    return ", ".join(link.columns)


def link_sentences(plan: Plan, names: Collection[str]) -> tuple[str, ...]:
    """How some of the tables belong to others, in words that may be published."""
    own = (link for link in plan.links if link.from_ in names)
    return tuple(f"Records of {link.from_} belong to records of {link.to} by {', '.join(link.on)}." for link in own)


def warnings(plan: Plan, tables: Mapping[str, PolarsDataset]) -> Iterator[str]:
    """What a custodian should know of links, declared ones and others; no figure of the data."""
    for link in plan.links:
        if all(name in tables for name in link.tables) and _orphans(link, tables):
            yield Publishable(
                f"Some records of {link.from_} belong to no released record of {link.to}: they, or the others, were "
                "left out by a step, or were never there."
            )
    for a, b in combinations(tables, 2):
        apart = set(_pseudonymised_apart(plan, a, b))
        one, two = tables[a].frame, tables[b].frame
        telling = [n for n in same_columns(one, two) if n in apart and telling_counts(one[n], two[n])]
        if telling:
            yield (
                f"How often a code of {', '.join(telling)} occurs can tell which code of {a} is which of {b}, although "
                "they are pseudonymised apart: some number of records is one code's alone in both. Leave the column "
                "out of one table, or release fewer records of each (sample)."
            )
        for n, m in _same_ids(plan, tables, a, b):
            yield (
                f"Records of {a} and {b} can be put together by {n} and {m}, which hold the same ids under two names; "
                f"links are searched by columns of one name only. Give each codes of its own (pseudonymise under two "
                f"scopes), or one name in both files, and declare the link."
            )
        for n in _masked_apart(plan, tables, a, b):
            yield Publishable(
                f"{n} of one file is masked in {a} by another step, or more strongly, than in {b}: whoever puts "
                "records of both together has two looks at each value, and gets nearer to it than either limit says.",
                "Mask it alike in both, or release it in one.",
            )


def _masked_apart(plan: Plan, tables: Mapping[str, PolarsDataset], a: str, b: str) -> list[str]:
    """Columns that two tables take from one file and mask in different ways."""
    one, two = plan.tables[a], plan.tables[b]
    if one.file != two.file:
        return []
    both = [n for n in tables[a].columns if n in tables[b].columns]
    return [n for n in both if _masks(one, n) != _masks(two, n)]


def _masks(table: TablePlan, column: str) -> list[Method]:
    """The steps that mask a column."""
    return [step for step in table.steps if step.masks and column in step.changes]


def _same_ids(plan: Plan, tables: Mapping[str, PolarsDataset], a: str, b: str) -> Iterator[tuple[str, str]]:
    """Columns of two tables that have other names and the same ids: as they are, or with the codes of one scope."""
    one, two = scopes(plan.table(a)), scopes(plan.table(b))
    for n, m in product(_ids(tables[a], one), _ids(tables[b], two)):
        scope = one.get(n)
        if n != m and scope == two.get(m) and (scope is None or scope.joins):
            ids, others = (
                _keys(tables[name].frame, (column,)).drop_nulls().unique().to_series().rename("id")
                for name, column in ((a, n), (b, m))
            )
            common = int(ids.is_in(others.implode()).sum())
            if common and (scope is not None or 2 * common >= min(len(ids), len(others))):
                yield n, m


def _ids(data: PolarsDataset, pseudonymised: Collection[str]) -> Iterator[str]:
    """Columns with ids: codes, and ids of records and households that are more than numbers in a row."""
    for n in data.columns:
        if n in pseudonymised:
            yield n
        elif data.codebook[n].role in IDS:
            ids = data.frame.get_column(n).drop_nulls()
            run = ids.dtype.is_integer() and len(ids) and int(ids.max()) - int(ids.min()) < ids.n_unique()  # type: ignore[arg-type]
            if not (run and int(ids.min()) in (0, 1)):  # type: ignore[arg-type]
                yield n


def _orphans(link: DeclaredLink, tables: Mapping[str, PolarsDataset]) -> bool:
    """Whether some record of the one table has nobody in the other."""
    one, two = (_keys(tables[name].frame, link.on) for name in (link.from_, link.to))
    return bool(one.drop_nulls().join(two, on=one.columns, how="anti").height)


def _keys(frame: pl.DataFrame, on: tuple[str, ...]) -> pl.DataFrame:
    return pl.DataFrame([written(frame.get_column(n)).cast(pl.String) for n in on])


def released_problems(plan: Plan, tables: Mapping[str, PolarsDataset]) -> Iterator[str]:
    """What declared links need of the released tables, and do not find."""
    for link in plan.links:
        for name in (link.from_, link.to):
            if gone := [n for n in link.on if n not in tables[name].columns]:
                yield f"the link from {link.from_} to {link.to} needs {', '.join(gone)}, which {name} does not release"
                break
        else:
            if _keys(tables[link.to].frame, link.on).drop_nulls().is_duplicated().any():
                yield (
                    f"the link from {link.from_} to {link.to} is by columns that several records of {link.to} share: "
                    "turn it round, or link by an id of these records"
                )


def foreign_keys(plan: Plan, name: str, together: Mapping[str, Mapping[str, str]]) -> tuple[ForeignKey, ...]:
    """Declared links of a table to others of the same folder, as Table Schema has them.

    Parameters
    ----------
    plan
        The plan of all tables.
    name
        The table.
    together
        The folder's tables, each with the names that columns have in its file where these are others.
    """
    own = (link for link in plan.links if link.from_ == name and link.to in together)
    return tuple(
        ForeignKey(
            tuple(together[name].get(n, n) for n in link.on),
            link.to,
            tuple(together[link.to].get(n, n) for n in link.on),
        )
        for link in own
    )
