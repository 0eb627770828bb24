"""Class sizes: how many records share each combination of key values."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from sfumato.data.finding import Finding, Findings
from sfumato.measures.risk.k_anonymity import NO_CLASS, class_sizes

__all__ = ["average_class_size", "findings"]


def average_class_size(frame: pl.DataFrame, by: Sequence[str]) -> float | None:
    """Number of records over the number of classes.

    Small classes are where people can be singled out; the average tells how far the table is from that as a whole, and
    is no protection of the smallest ones. An intruder who knows the keys of everybody, and guesses within the class,
    is right for one in this many.

    Parameters
    ----------
    frame, by
        As in `class_sizes`.

    Returns
    -------
    float or None
        None where there is no record or no key.

    Examples
    --------
    >>> average_class_size(pl.DataFrame({"sex": ["f", "m", "m"]}), ["sex"])
    1.5
    """
    if not by or not frame.height:
        return None
    return frame.height / class_sizes(frame, by).height


def findings(
    frame: pl.DataFrame,
    by: Sequence[str],
    *,
    before: pl.DataFrame | None = None,
    most: int = 200,
) -> Findings:
    """Give the lines `class_size`: the average first, then one for each class, smallest first.

    Parameters
    ----------
    frame
        The table as it is, or as it is to be released.
    by
        The keys.
    before
        The original table, where there is one; its figures are the baselines, and a class that it did not have has
        none. The two need not be joined.
    most
        Largest number of classes that get a line of their own.
    """
    if not by or not frame.height:
        return Findings((Finding("class_size"),), (NO_CLASS,))
    sizes = class_sizes(frame, by)
    first = sizes.head(most)
    baseline = None
    known: dict[str, float] = {}
    if before is not None and before.height and all(name in before.columns for name in by):
        original = class_sizes(before, by)
        baseline = before.height / original.height
        shown = original.filter(pl.col("class").is_in(first["class"].to_list()))
        known = {str(label): float(size) for label, size in shown.rows()}
    lines = [Finding("class_size", value=frame.height / sizes.height, baseline=baseline)]
    lines += [
        Finding("class_size", group=label, value=float(size), baseline=known.get(label)) for label, size in first.rows()
    ]
    notes = (f"Class sizes: only the {most} smallest classes have a line.",) if sizes.height > most else ()
    return Findings(tuple(lines), notes)
