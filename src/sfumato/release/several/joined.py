"""What tables tell together that a declared link lets everybody join: classes of the keys of both.

Each table may keep its limit on k alone, and the two joined may leave people alone: a region that fifty farms share and
a month in which fifty farms were visited need have one farm in common.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import combinations

import polars as pl

from sfumato.data.roles import Role
from sfumato.draws import written
from sfumato.engines.polars import PolarsDataset
from sfumato.plan.plan import Plan
from sfumato.plan.tables import DeclaredLink
from sfumato.release.several.links import declared

__all__ = ["joined_k", "joined_refusals"]


def joined_refusals(plan: Plan, tables: Mapping[str, PolarsDataset]) -> Iterator[str]:
    """Give a clause for each declared link whose joined tables break the limit on k that one of them has.

    Parameters
    ----------
    plan
        The plan of all tables.
    tables
        What is released of each.
    """
    for link in (*plan.links, *_through_others(plan)):
        asked = max(map(_asked, (plan.table(link.from_), plan.table(link.to))))
        keys = {name: _keys(plan.table(name), tables[name]) for name in (link.from_, link.to)}
        found = joined_k(tables[link.from_].frame, tables[link.to].frame, link, keys)
        if asked and found is not None and found < asked:
            named = ", ".join(dict.fromkeys(n for names in keys.values() for n in names))
            yield (
                f"{link.from_} and {link.to} joined by {', '.join(link.on)} leave fewer than {asked:g} of "
                f"{', '.join(link.on)} that share {named}, although each table keeps its limit on k_anonymity: coarsen "
                "or drop keys in one of the tables, or break the link (pseudonymise under two scopes)"
            )


def joined_k(
    one: pl.DataFrame, two: pl.DataFrame, link: DeclaredLink, keys: Mapping[str, tuple[str, ...]]
) -> int | None:
    """Fewest ids in a class of the keys of both tables; None where nothing joins or no key is there.

    Of a declared link these are records of the second table, where each id stands once.

    Parameters
    ----------
    one, two
        The released tables, from and to.
    link
        How they are joined.
    keys
        Keys of each table, by its name.

    Examples
    --------
    >>> visits = pl.DataFrame({"farm": [1, 2, 2], "month": [5, 5, 6]})
    >>> farmers = pl.DataFrame({"farm": [1, 2], "region": ["n", "n"]})
    >>> link = DeclaredLink(from_="visits", to="farmers", on=("farm",))
    >>> joined_k(visits, farmers, link, {"visits": ("month",), "farmers": ("region",)})
    1
    """
    own, theirs = (tuple(n for n in keys[name] if n not in link.on) for name in (link.from_, link.to))
    if not own and not theirs:
        return None
    left = _frame(one, link.on, own, "from")
    right = _frame(two, link.on, theirs, "to").unique()
    ids = left.columns[: len(link.on)]
    both = left.unique().drop_nulls(ids).join(right, on=ids, how="inner")
    if not both.height:
        return None
    columns = [n for n in both.columns if n.startswith(("from:", "to:"))]
    return int(both.group_by(columns).agg(pl.struct(ids).n_unique().alias("ids"))["ids"].min())  # type: ignore[arg-type]


def _through_others(plan: Plan) -> Iterator[DeclaredLink]:
    """Links between tables that both belong to others by the same ids."""
    for a, b in combinations(plan.tables, 2):
        own = {tuple(sorted(link.on)) for link in plan.links if link.tables == {a, b}}
        yield from (DeclaredLink(from_=a, to=b, on=on) for on in declared(plan, a, b) if on not in own)


def _frame(frame: pl.DataFrame, on: tuple[str, ...], keys: tuple[str, ...], side: str) -> pl.DataFrame:
    """The columns that are joined on, as text, and the keys under names of their own."""
    ids = [written(frame.get_column(n)).cast(pl.String).alias(f"on:{i}") for i, n in enumerate(on)]
    return pl.DataFrame([*ids, *(frame.get_column(n).alias(f"{side}:{n}") for n in keys)])


def _asked(plan: Plan) -> float:
    """The largest k that a limit of a table asks for; 0 where none does."""
    limits = (limit for limit in plan.limits if limit.measure == "k_anonymity" and limit.at_least is not None)
    return max((limit.bound for limit in limits), default=0)


def _keys(plan: Plan, data: PolarsDataset) -> tuple[str, ...]:
    """Released keys that no step masks."""
    traces = plan.traces
    known = dict.fromkeys((*data.codebook.with_role(Role.KEY), *traces.keys))
    return tuple(n for n in known if n in data.columns and n not in traces.masked)
