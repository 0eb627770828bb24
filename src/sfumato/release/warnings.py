"""What a custodian should be told of a release before anything else; it names columns and steps, never values.

What states an assumption leaves with the release, without its advice (`Publishable`). What names columns by which
people are found, or values come back, is for the custodian alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set

import polars as pl

from sfumato.data.dataset import Parted, rows
from sfumato.data.hidden import leaving
from sfumato.data.publishable import Publishable
from sfumato.data.query import COUNT, Counts
from sfumato.data.roles import Role
from sfumato.draws import MAKE_SECRET
from sfumato.engines.polars import PolarsDataset
from sfumato.measures.saying import listed
from sfumato.methods.base import Method
from sfumato.methods.coarsen_date import CoarsenDate
from sfumato.methods.swap_households import SwapHouseholds
from sfumato.methods.top_code import TopCode
from sfumato.plan.plan import Plan
from sfumato.release.places import told_places
from sfumato.release.secret import Secret

__all__ = ["warnings_of"]

_MOST_NAMED = 10
Table = PolarsDataset | Parted


def warnings_of(plan: Plan, before: Table, after: Table, secret: Secret, drawn: Set[str]) -> Iterator[str]:
    """Give the warnings.

    Parameters
    ----------
    plan
        The plan as run.
    before
        The table as it enters.
    after
        The released table.
    secret
        What draws were keyed with.
    drawn
        Names of the methods that drew at random.
    """
    yield from _lost_secret(secret, drawn - {step.name for step in plan.steps if step.replaces})
    yield from _lost_pseudonyms(secret, [step for step in plan.steps if step.replaces and step.name in drawn])
    yield from _told_places(plan, before, after)
    yield from _told_by_dates(plan, after)
    yield from _told_by_derived(plan, after)
    yield from _rows_apart(plan, before)
    yield from _without_consent(plan, after)


def _lost_secret(secret: Secret, drawn: Set[str]) -> Iterator[str]:
    """Say what comes of random protection whose secret is not kept."""
    if drawn and not secret.repeatable:
        yield Publishable(
            f"No secret was given, so one was drawn for this run alone, and {' and '.join(sorted(drawn))} cannot be "
            "repeated: another run would draw anew, and whoever gets both releases can average them and come closer to "
            "the true values.",
            f"Make a secret once ({MAKE_SECRET}), keep it like the data, and give it every time: --secret-file key, or "
            "secret= in Python.",
        )


def _lost_pseudonyms(secret: Secret, steps: Sequence[Method]) -> Iterator[str]:
    """Say what comes of pseudonyms whose secret is not kept."""
    if steps and not secret.repeatable:
        columns = listed([*dict.fromkeys(n for step in steps for n in step.changes)])
        yield Publishable(
            f"No secret was given, so the pseudonyms of {columns} cannot be made again: no other table and no later "
            "release joins with them.",
            f"Make a secret once ({MAKE_SECRET}), keep it like the data, and give it every time: --secret-file key, or "
            "secret= in Python.",
        )


def _told_places(plan: Plan, before: Table, after: Table) -> Iterator[str]:
    """As `told_places`; a step that exchanges households sees a whole table, so that it is small enough to be read."""
    if not any(isinstance(step, SwapHouseholds) for step in plan.steps):
        return
    yield from told_places(plan, *(PolarsDataset(rows(data), data.codebook) for data in (before, after)))


def _told_by_dates(plan: Plan, after: Table) -> Iterator[str]:
    """Say that dates leave beside what is left of others of the same people, which gives some of these back."""
    steps = [step for step in plan.steps if isinstance(step, CoarsenDate)]
    coarse = dict.fromkeys(n for step in steps for n in step.columns if n in after.codebook)
    types = after.schema
    fine = [n for n in leaving(after.codebook) if n not in coarse and types[n] in (pl.Date, pl.Datetime)]
    ages = {step.beside: step.columns for step in steps if step.beside in fine}
    for reference, columns in ages.items():
        yield (
            f"The age in {listed([n for n in columns if n in coarse])} leaves beside the date in {reference} at "
            f"which it was reached, which tells the date of birth to a year, and closer where somebody has several. "
            f"Coarsen that date too, or drop it."
        )
    others = [n for n in fine if n not in ages]
    if coarse and others:
        yield (
            f"{listed([*coarse])} was made coarser, but {listed(others)} leaves as exact dates: whoever knows how "
            f"far two dates of a person are apart reads one from the other. Coarsen all dates alike (coarsen_date), "
            f"or drop them."
        )


def _told_by_derived(plan: Plan, after: Table) -> Iterator[str]:
    """Say that columns leave which were computed from exact values of others that were coarsened afterwards."""
    for i, step in enumerate(plan.steps):
        if not isinstance(step, CoarsenDate | TopCode):
            continue
        made = [s for s in plan.steps[:i] if s.name == "derive" and set(s.reads) & set(step.columns)]
        later = {n for s in plan.steps[i:] if s.masks or s.coarsens for n in s.changes}
        told = [n for s in made for n in s.changes if n in after.codebook and n not in later]
        if told:
            yield (
                f"{listed(told)} was computed from {listed(step.columns)} before {step.name} changed it, and leaves "
                f"as it is: it may give exact values back. Compute it afterwards, or protect it too."
            )


def _rows_apart(plan: Plan, before: Table) -> Iterator[str]:
    """Say that rows of one person were drawn as if they were of several, as the person's id had gone before."""
    person = before.codebook.the(Role.PERSON)
    kinds = [(step.name, person in step.changes) for step in plan.steps]
    for i, step in enumerate(plan.steps):
        whole = Role.PERSON in step.keyed_on
        if step.name != "synthesise" or not step.masks or whole or ("drop", True) not in kinds[:i]:
            continue
        if person is not None and (before.ask(Counts((person,)))[COUNT] > 1).any():
            yield (
                f"Several rows are of one person, and {person} was dropped before synthesise, so that they were drawn "
                "apart: what is the same in all rows of a person, or follows in time, is not so in the copies. To draw "
                f"whole persons leave {person} in, and say persons: true and time: COLUMN."
            )


def _without_consent(plan: Plan, after: Table) -> Iterator[str]:
    """Say that what people may want kept private is open to everybody, and nobody said that they agreed."""
    sensitive = after.codebook.private
    if plan.access == "open" and not plan.consent and sensitive:
        named = sensitive if len(sensitive) <= _MOST_NAMED else [*sensitive[:_MOST_NAMED], "others"]
        yield Publishable(
            f"The release is open to everybody (access: open) and holds {listed(named)} (sensitive), and the plan "
            "does not say what people agreed to.",
            "Say it under consent, restrict access (safeguarded or controlled), or leave these out.",
        )
