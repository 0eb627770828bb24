"""Draft a plan for several tables: each as for it alone, with ids of its own."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath

import polars as pl

from sfumato.data.codebook import Codebook
from sfumato.data.entities import find
from sfumato.data.looking import telling
from sfumato.data.profile import Guess
from sfumato.data.roles import IDS, Role
from sfumato.data.unseen import seen
from sfumato.errors import FileError
from sfumato.plan.draft import head
from sfumato.plan.spelling import yaml_list
from sfumato.plan.wishes import Wishes
from sfumato.progress import Progress, quiet
from sfumato.tuning.drafting import try_groups

__all__ = ["Drafted", "draft_tables", "named_tables"]


@dataclass(frozen=True)
class Drafted:
    """What is known of one table.

    Parameters
    ----------
    file
        Name of its file.
    frame, codebook
        The table, and what its file says of it.
    guesses
        What `profile` proposes.
    """

    file: str
    frame: pl.DataFrame
    codebook: Codebook
    guesses: Sequence[Guess]


def named_tables(files: Sequence[PurePath]) -> dict[str, PurePath]:
    """Give each file's table a name, of what its file is called.

    Raises
    ------
    FileError
        Where files lie in several folders, or one is given twice: a plan names files of one folder.

    Examples
    --------
    >>> list(named_tables([PurePath("wave 1.csv"), PurePath("plan.csv")]))
    ['wave_1', 'plan_table']
    """
    from sfumato.plan.tables import TAKEN  # with all methods, which a draft of one table does not need

    if len({file.parent for file in files}) > 1 or len({file.name.lower() for file in files}) < len(files):
        raise FileError("A plan names files of one folder: put them into one, each under a name of its own.")
    names: dict[str, PurePath] = {}
    for file in files:
        told = telling([entity.kind for entity in find(file.stem)])  # a file may be named after somebody
        name = "" if told else re.sub(r"[^A-Za-z0-9_-]+", "_", file.stem).strip("_-")[:50]
        name = f"{name or 'table'}_table" if name.lower() in (*TAKEN, "") else name
        while name.lower() in {known.lower() for known in names}:
            name += "_2"
        names[name] = file
    return names


def draft_tables(tables: Mapping[str, Drafted], title: str, progress: Progress = quiet) -> str:
    """Write a commented plan of several tables as YAML.

    Ids are others in each table (`pseudonymise`, scope `table`), so that nobody can put the tables together by those
    that they share; a comment says what to write where they should be joined.

    Parameters
    ----------
    tables
        The tables by name.
    title
        Title of the plan.
    progress
        Called before each trial.
    """
    wishes = Wishes()
    shared = _shared_ids(tables)
    lines = [*head(title), "tables:"]
    for name, table in tables.items():
        own = [n for n in shared if n in table.frame.columns]
        guesses = _with_ids(table.guesses, {n: shared[n] for n in own})
        lines += [f"  {name}:", f"    file: {json.dumps(table.file, ensure_ascii=False)}"]
        tried = try_groups(table.frame, table.codebook, guesses, wishes, progress)
        lines += [f"    {line}" for line in tried.chosen.lines(tried.group, wishes.purpose, own)]
    lines += _links(shared, tables)
    return seen("\n".join(lines) + "\n", lines=True)


def _shared_ids(tables: Mapping[str, Drafted]) -> dict[str, Role]:
    """Columns that are an id in one table and stand in another one too, each with what it is of there."""
    ids: dict[str, Role] = {}
    for guess in (g for table in tables.values() for g in table.guesses if g.variable.role in IDS):
        ids.setdefault(guess.name, guess.variable.role)
    return {n: role for n, role in ids.items() if sum(n in table.frame.columns for table in tables.values()) > 1}


def _with_ids(guesses: Sequence[Guess], shared: Mapping[str, Role]) -> list[Guess]:
    """The guesses, with ids of another table's records as those of the persons or households that several are about."""
    taken = {g.variable.role for g in guesses}
    found = []
    for guess in guesses:
        if guess.name in shared and guess.variable.role not in IDS:
            role = Role.HOUSEHOLD if shared[guess.name] == Role.HOUSEHOLD else Role.PERSON
            if role not in taken:
                taken.add(role)
                variable = guess.variable.model_copy(update={"role": role, "range": None})
                guess = replace(guess, variable=variable, leaves=False, reason="an id of another table's records")
        found.append(guess)
    return found


def _links(shared: Iterable[str], tables: Mapping[str, Drafted]) -> Iterator[str]:
    """How the tables could be joined, as a comment."""
    for n in shared:
        having = {name: table for name, table in tables.items() if n in table.frame.columns}
        to = next((name for name, table in having.items() if table.frame[n].is_unique().all()), None)
        others = [name for name in having if name != to]
        if to is not None and others:
            joined = f"To join {others[0]} to {to} by {seen(n)}"
            yield f"# {joined}, write scope: project in both in place of scope: table, and:"
            yield f"# links: [{{from: {others[0]}, to: {to}, on: {yaml_list([n])}}}]"
