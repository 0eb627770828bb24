"""What a custodian should be told of a release before anything else; it names columns and steps, never values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set

import polars as pl

from sfumato.data.roles import Kind, Role
from sfumato.draws import MAKE_SECRET
from sfumato.engines.polars import PolarsDataset
from sfumato.measures.risk.k_anonymity import k_anonymity
from sfumato.measures.saying import FEW_ALIKE, listed
from sfumato.plan.plan import Plan
from sfumato.release.classes import missing_rule
from sfumato.release.secret import Secret

__all__ = ["warnings_of"]

_CATEGORIES = (Kind.CATEGORICAL, Kind.ORDINAL, Kind.GEOGRAPHIC)
_MOST_NAMED = 10


def warnings_of(
    plan: Plan, after: PolarsDataset, keys: Sequence[str], secret: Secret, drawn: Set[str]
) -> Iterator[str]:
    """Give the warnings.

    Parameters
    ----------
    plan
        The plan as run.
    after
        The released table.
    keys
        Its keys that no step masks.
    secret
        What draws were keyed with.
    drawn
        Names of the methods that drew at random.
    """
    yield from _lost_secret(secret, drawn)
    yield from _real_number(plan, after)
    yield from _alone_by_others(plan, after, keys)


def _lost_secret(secret: Secret, drawn: Set[str]) -> Iterator[str]:
    """Say what comes of random protection whose secret is not kept."""
    if drawn and not secret.repeatable:
        yield (
            f"No secret was given, so one was drawn for this run alone, and {' and '.join(sorted(drawn))} cannot be "
            "repeated: another run would draw anew, and whoever gets both releases can average them and come closer to "
            f"the true values. Make a secret once ({MAKE_SECRET}), keep it like the data, and give it every time: "
            "--secret-file key, or secret= in Python."
        )


def _real_number(plan: Plan, after: PolarsDataset) -> Iterator[str]:
    """Say that the released ids may be numbers that others know."""
    record = after.codebook.the(Role.RECORD)
    replaced = {n for step in plan.steps if step.replaces for n in step.changes}
    if record in replaced:
        return
    if record is not None and record in after.columns and _looks_real(after.frame[record]):
        yield (
            f"The record column {record!r} is released and does not look like a mere running number. If it is a number "
            "from the real world (a hospital, pupil or insurance number), drop it before anybody receives the release."
        )


def _looks_real(ids: pl.Series) -> bool:
    """Whether ids are text, or numbers far above how many there are."""
    if not ids.dtype.is_numeric():
        return True
    return ids.len() > 0 and float(ids.max() or 0) > 100 * ids.len() + 10_000  # type: ignore[arg-type]


def _alone_by_others(plan: Plan, after: PolarsDataset, keys: Sequence[str]) -> Iterator[str]:
    """Say that categories of role other, which no figure counts, would tell people apart."""
    book, missing = after.codebook, missing_rule(plan)
    categories = [n for n in book.with_role(Role.OTHER) if book[n].kind in _CATEGORIES]
    others = [n for n in categories if n not in plan.masked and n not in keys]
    if not others or (k_anonymity(after, keys, missing=missing) or FEW_ALIKE) < FEW_ALIKE:
        return
    if (k_anonymity(after, (*keys, *others), missing=missing) or FEW_ALIKE) < FEW_ALIKE:
        named = others if len(others) <= _MOST_NAMED else [*others[:_MOST_NAMED], "others"]
        yield (
            f"Some people would be nearly alone if an intruder also knew {listed(named)} (role other: they leave as "
            "they are, and no figure counts them). Give role key to those that can be known of people."
        )
