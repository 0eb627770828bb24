"""What tables tell together that a declared link lets everybody join: classes of the keys of both.

Each table may keep its limit on k alone, and the two joined may leave people alone: a region that fifty farms share and
a month in which fifty farms were visited need have one farm in common.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import polars as pl

from sfumato.data.roles import Role
from sfumato.draws import written
from sfumato.engines.polars import PolarsDataset
from sfumato.plan.plan import Plan
from sfumato.plan.tables import DeclaredLink

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
    for link in plan.links:
        asked = max(map(_asked, (plan.table(link.from_), plan.table(link.to))))
        keys = {name: _keys(plan.table(name), tables[name]) for name in (link.from_, link.to)}
        found = joined_k(tables[link.from_].frame, tables[link.to].frame, link, keys)
        if asked and found is not None and found < asked:
            named = ", ".join(dict.fromkeys(n for names in keys.values() for n in names))
            yield (
                f"{link.from_} and {link.to} joined by {', '.join(link.on)} leave records of {link.to} that fewer than "
                f"{asked:g} share {named} with, although each table keeps its limit on k_anonymity: coarsen or drop "
                "keys in one of the tables, or break the link (pseudonymise under two scopes)"
            )


def joined_k(
    one: pl.DataFrame, two: pl.DataFrame, link: DeclaredLink, keys: Mapping[str, tuple[str, ...]]
) -> int | None:
    """Fewest records of the second table in a class of the keys of both; None where nothing joins or no key is there.

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
    right = _frame(two, link.on, theirs, "to").with_row_index("unit")
    both = left.drop_nulls(left.columns[: len(link.on)]).join(right, on=left.columns[: len(link.on)], how="inner")
    if not both.height:
        return None
    columns = [n for n in both.columns if n.startswith(("from:", "to:"))]
    return int(both.group_by(columns).agg(pl.col("unit").n_unique())["unit"].min())  # type: ignore[arg-type]


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
    known = dict.fromkeys((*data.codebook.with_role(Role.KEY), *plan.keys))
    return tuple(n for n in known if n in data.columns and n not in plan.masked)
