"""Measure the risk of one table that is not in memory, and look at it so that a plan can be drafted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import polars as pl

from sfumato.data.codebook import Codebook
from sfumato.data.dataset import Parted, with_codebook
from sfumato.data.files.table import listed
from sfumato.data.finding import Findings
from sfumato.data.kinds import Columns
from sfumato.data.profile import profile
from sfumato.data.query import COUNT, Counts, Folded, Moments
from sfumato.data.roles import Role
from sfumato.data.sketch import Sketch, sketch_of
from sfumato.draws import PUBLIC
from sfumato.engines.polars import PolarsDataset, held
from sfumato.errors import DataError
from sfumato.measures.measuring import Measuring
from sfumato.measures.subject import Subject
from sfumato.plan.binding import plain_types, read_parts, refuse_several
from sfumato.plan.limits import apply_limits
from sfumato.plan.plan import Plan
from sfumato.progress import Progress, quiet
from sfumato.release.classes import classes_of, exposed
from sfumato.release.forms import by_forms, left_out_of_others
from sfumato.release.measure import measure, sensitive_categories
from sfumato.release.named import Named
from sfumato.release.prepared import GUESSED, NO_KEYS
from sfumato.release.run import run_steps

__all__ = ["SAMPLE_OF", "looked_at", "risk_parted", "sampled", "seen"]

SAMPLED = 50_000
"""Most records from which a plan is drafted."""
_PLACE, _TIMES = "sfumato:place", "sfumato:occurrence"


def looked_at(data: Parted) -> tuple[Parted, Sketch, int]:
    """The data as readers of files give them, what is known of the columns, and how many rows there are.

    Raises
    ------
    DataError
        No rows; infinite values; columns of lists, records or bytes.
    """
    data = plain_types(data)
    sketch, answers = sketch_of(data, data.schema, [Counts(())])
    if not answers[0].item(0, COUNT):
        raise DataError("The table has no rows. A table needs at least one row.")
    if sketch.infinite:
        infinite = [n for n in sketch.columns if n in sketch.infinite]
        raise DataError(f"Infinite values in {listed(infinite)}. Replace them by missing values or by finite ones.")
    return data, sketch, int(answers[0].item(0, COUNT))


SAMPLE_OF = (
    "roles and kinds were told from all records, and what must be broadened from a sample of {most:,}: combinations "
    "that are rare in it need not be rare in the table"
)


def seen(data: PolarsDataset | Parted) -> tuple[pl.DataFrame, Columns, Codebook, bool]:
    """What a plan is drafted from.

    Parameters
    ----------
    data
        The table.

    Returns
    -------
    frame, columns, codebook, whole
        Records, all or a sample; what tells roles and kinds; what the table says of them; whether these are all.
    """
    if held(data):
        return data.frame, data.frame, data.codebook, True
    data, sketch, many = looked_at(data)
    frame = sampled(data)
    whole = many == frame.height
    return frame, frame if whole else sketch, data.codebook, whole


def sampled(data: Parted, most: int = SAMPLED) -> pl.DataFrame:
    """A sample of the records, in an order of its own; all of them where there are no more.

    Records are chosen by a hash of their values, so that it is the same sample wherever they lie.

    Parameters
    ----------
    data
        The table.
    most
        Most records.
    """
    columns = list(data.schema)

    def f(batch: pl.DataFrame) -> pl.DataFrame:
        texts = batch.with_columns(pl.col(pl.Categorical).cast(pl.String))
        alike = pl.Series(_TIMES, texts.hash_rows(seed=0))
        alone = alike.to_frame().with_columns(pl.int_range(pl.len()).over(_TIMES).alias("time"))
        place = alone.hash_rows(seed=1)  # of equal records each has a place of its own
        return merge(batch.with_columns(place.reinterpret(signed=True).alias(_PLACE)))

    def merge(frames: pl.DataFrame) -> pl.DataFrame:
        return frames.bottom_k(most, by=_PLACE)

    return data.ask(Folded(tuple(columns), f, merge)).sort(_PLACE, maintain_order=True).drop(_PLACE)


def risk_parted(
    data: Parted,
    *,
    by: Sequence[str] | None = None,
    plan: Plan | None = None,
    named: Named | None = None,
    how: Measuring | None = None,
    progress: Progress = quiet,
) -> Findings:
    """Measure the risk of a table as it is: what its keys alone give away.

    Parameters
    ----------
    data
        The table.
    by
        Its keys; by default the plan's, else those that `init` would guess, which a note names.
    plan
        Roles, kinds, limits; its preparing steps are run first.
    named
        Roles over those of the plan and of what is guessed.
    how
        How things are measured.
    progress
        Called with what is being done, and the share of the work that is done.

    Raises
    ------
    DataError, PlanError
        As for a table in memory.
    """
    plan, named = plan or Plan(), named or Named()
    refuse_several(plan)
    progress("looking at the columns", 0)
    data, sketch, many = looked_at(read_parts(plan, plain_types(data)))
    book = plan.codebook(sketch, data.codebook)
    if plan.steps:
        plan.check(book, released=False)
    plan.check_kinds(sketch)
    data = with_codebook(data, book)
    data = run_steps(plan.preparing(), data, PUBLIC, table=plan.table_name, plan=plan.digest).after
    notes: tuple[str, ...] = ()
    if named:
        named.check(data.schema)
        data = with_codebook(data, named.on(data.codebook))
        _refuse_weights(data, named)
    if unknown := [n for n in by or () if n not in data.schema]:
        raise DataError(f"There is no column {', '.join(map(repr, unknown))} in the data.")
    if named.keys:
        classes = classes_of(named.keys, tuple(by or ()))
    elif by:
        classes = classes_of(tuple(by), ())
    else:
        if not (plan.steps or data.codebook.with_role(Role.KEY)):
            guessed = {g.name: g.variable for g in profile(sketch, data.codebook)}
            data = with_codebook(data, named.on(Codebook(guessed)))
            keys = data.codebook.with_role(Role.KEY)
            notes = (GUESSED.format(columns=", ".join(keys)) if keys else NO_KEYS,)
        classes = exposed(plan, data.codebook).classes
    sensitive = named.sensitive or sensitive_categories(data.codebook)
    how = replace(how or Measuring(), together=len(named.sensitive) > 1)
    asked = frozenset(limit.measure for limit in plan.limits)
    subject = Subject(data, classes=classes, sensitive=sensitive, how=how, asked=asked)
    if many > how.most:
        found = Findings(notes=left_out_of_others()) + by_forms({"folded": subject}, progress, "risk").findings
    else:
        found = measure(subject, progress, "risk")
    found = Findings(notes=notes) + found
    return apply_limits(found, plan.limits) if plan.limits else found


def _refuse_weights(data: Parted, named: Named) -> None:
    """Refuse weights that are not above 0."""
    if named.weight is None:
        return
    told = data.ask(Moments((named.weight,))).row(0, named=True)
    if not told["n"] or not told["low"] > 0 or not np.isfinite(told["high"]):
        raise DataError(
            f"Sampling weights must be finite and above 0, and column {named.weight!r} has others. Mend them, or say "
            "under `missing` in a plan which codes stand for missing."
        )
