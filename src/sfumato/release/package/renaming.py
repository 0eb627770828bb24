"""Columns that a file format names otherwise: the papers speak of them as the file does, measures as the plan does."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from sfumato.data.codebook import Codebook
from sfumato.data.disclosure import Disclosed, Disclosure
from sfumato.data.roles import Role
from sfumato.engines.polars import PolarsDataset
from sfumato.plan.plan import Plan
from sfumato.release.package.papers import PLAN, Papers, papers_of

__all__ = ["as_planned", "as_released", "record_of_both", "renamed_disclosure", "renamed_table"]

_LISTS = frozenset({"columns", "by", "merged"})
_SINGLE = frozenset({"column", "weight", "indicators_of"})
_KEYED = frozenset({"values", "bounds", "rounded", "replaced", "restored", "grows", "where"})
"""Fields of a disclosure's parts that name columns: lists of names, one name, mappings by name."""


def renamed_disclosure(disclosure: Disclosure, names: Mapping[str, str]) -> Disclosure:
    """Say the same of columns under other names.

    Parameters
    ----------
    disclosure
        A disclosure.
    names
        New names by old ones; other columns keep theirs.

    Examples
    --------
    >>> from sfumato.data.disclosure import Imputed
    >>> renamed_disclosure(Disclosure([Imputed(columns=("a b",), method="median")]), {"a b": "a_b"}).parts[0].columns
    ('a_b',)
    """
    return Disclosure([_renamed(part, names) for part in disclosure])


def _renamed(part: Disclosed, names: Mapping[str, str]) -> Disclosed:
    changed: dict[str, Any] = {}
    for field in type(part).model_fields:
        value = getattr(part, field)
        if field in _LISTS:
            changed[field] = tuple(names.get(n, n) for n in value)
        elif field in _SINGLE and value is not None:
            changed[field] = names.get(value, value)
        elif field in _KEYED and isinstance(value, Mapping):
            changed[field] = {names.get(n, n): v for n, v in value.items()}
    return part.model_copy(update=changed)


def renamed_table(data: PolarsDataset, names: Mapping[str, str]) -> PolarsDataset:
    """Give a table's columns other names, in the codebook too.

    Parameters
    ----------
    data
        A table.
    names
        New names by old ones; other columns keep theirs.

    Examples
    --------
    >>> import polars as pl
    >>> renamed_table(PolarsDataset(pl.DataFrame({"a b": [1]}), Codebook(), ".sav"), {"a b": "a_b"}).columns
    ['a_b']
    """
    book = Codebook({names.get(n, n): variable for n, variable in data.codebook.items()})
    return replace(data, frame=data.frame.rename(dict(names), strict=False), codebook=book)


def as_planned(data: PolarsDataset, papers: Papers) -> tuple[PolarsDataset, Disclosure]:
    """A release's table and disclosure under the names that its plan has, in which attackers' measures think.

    Parameters
    ----------
    data
        The release's data file as read.
    papers
        What lies beside it.
    """
    there = [papers.names.get(n, n) for n in data.columns]
    if not papers.names or len(set(there)) < len(there):  # not the file that the papers describe
        return data, papers.disclosure
    return renamed_table(data, papers.names), renamed_disclosure(papers.disclosure, papers.names)


def as_released(data: PolarsDataset, plan: Plan | None) -> tuple[PolarsDataset, Plan | None, bool]:
    """A table of a release folder as its papers describe it, with its plan: it has been through all steps.

    Parameters
    ----------
    data
        A table as read.
    plan
        The plan that is given; by default the one that lies beside the table.

    Returns
    -------
    table, plan, released
        Both as they were, and False, of a table that lies in no release folder.
    """
    papers = papers_of(data)
    if papers is None:
        return data, plan, False
    beside = papers.data.parent / PLAN
    if plan is None and beside.is_file():
        plan = Plan.load(beside).the_table(papers.table or None)
    table, _ = as_planned(data, papers)
    book = {papers.names.get(n, n): variable for n, variable in papers.codebook.items()}
    return replace(table, codebook=Codebook({**table.codebook, **book})), plan, True


def record_of_both(papers: Papers, *tables: PolarsDataset) -> str | None:
    """The record's id as the papers name it, under the plan's name, where every table has it."""
    told = papers.codebook.the(Role.RECORD)
    name = None if told is None else papers.names.get(told, told)
    return name if all(name in table.columns for table in tables) else None
