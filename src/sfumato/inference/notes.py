"""Notes on a model and what the disclosure says of its columns."""

from __future__ import annotations

from sfumato.data.disclosure import (
    Averaged,
    Coarsened,
    Disclosure,
    Exchanged,
    Imputed,
    Shuffled,
    Suppressed,
    Swapped,
)
from sfumato.data.formula import Formula
from sfumato.inference.covariates.known import blurred_later, error_parts
from sfumato.inference.problem import Problem

__all__ = ["told_notes", "unspoken"]


def unspoken(disclosure: Disclosure, model: Formula) -> tuple[str, ...]:
    """A warning where nothing is disclosed of a column, which may be an oversight.

    Parameters
    ----------
    disclosure
        What the release says of its noise.
    model
        The formula.
    """
    if not disclosure.parts:
        return ("No disclosure was given: every value is taken for the true one.",)
    silent = [n for n in model.columns if not disclosure.of(n)]
    if not silent:
        return ()
    return (f"The disclosure does not speak of {', '.join(silent)}: values there are taken for the true ones.",)


def told_notes(
    disclosure: Disclosure, model: Formula, problem: Problem, left_out: bool, cluster: str | None, group: str | None
) -> tuple[str, ...]:
    """What a reader should know before looking at the figures.

    Parameters
    ----------
    disclosure, model, problem
        What is fitted.
    left_out
        Whether rows were.
    cluster, group
        Their columns.
    """
    notes = []
    if left_out:
        notes.append("Rows without a response, weight, cluster or group were left out.")
    kept = {name for parts in problem.columns.parts for name, _ in parts}
    absent = [name for name in problem.covariates if name not in kept]
    if absent:
        notes.append(f"All records have the same category of {', '.join(absent)}: it has no coefficient.")
    for part in disclosure:
        used = [n for n in part.columns if n in model.columns]
        if used and isinstance(part, Suppressed) and part.cells:
            notes.append(
                f"Values of {', '.join(used)} were taken out where too few people were like somebody: such gaps are "
                "not random, and estimates take them for missing at random."
            )
        if used and isinstance(part, Averaged | Exchanged | Imputed | Shuffled | Swapped):
            notes.append(f"{part.sentence()} This has no likelihood and was not taken out.")
    for unit in ("household", "person"):
        drawn = {n for n in model.columns for p in error_parts(disclosure, n) if getattr(p, "draw_by", None) == unit}
        if drawn and not cluster:
            remedy = f"give the {unit} as `cluster`, or standard errors are too small."
            if group:
                remedy = (
                    "a model with `group` takes it for independent between records, even where the group is the "
                    f"{unit}, so that variances between groups and standard errors may be wrong. Leave out `group` "
                    f"and give the {unit} as `cluster`; coefficients are then averages over groups."
                )
            notes.append(f"The noise on {', '.join(sorted(drawn))} is shared within {unit}s: {remedy}")
    cut = [n for n in model.columns if blurred_later(disclosure, n)]
    if cut:
        notes.append(
            f"{', '.join(cut)} was cut off or rounded before it was protected: coefficients are those of the number so "
            "made."
        )
    banded = [n for n, c in problem.covariates.items() if any(isinstance(p, Coarsened) for p, _ in c.parts)]
    if banded:
        notes.append(
            f"Of {', '.join(banded)} a band was released: its coefficient is that of the value within. What lies in "
            "open bands is extrapolated from the others; where possible values end, say so in the plan (`range`) or in "
            f"a disclosure of your own. {', '.join(f'C({n})' for n in banded)} in the formula gives a coefficient for "
            "each band."
        )
    return tuple(notes)
