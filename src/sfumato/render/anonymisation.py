"""What `anonymise` found, in a terminal: for the custodian, who may see counts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Console
from rich.table import Table

from sfumato.methods.anonymise.method import NOT_PROVEN, Anonymised
from sfumato.release.anonymising import Anonymisation

__all__ = ["show"]

_FEW = 5
"""Values of a key of which more could be told in broader categories."""
_MOST = 0.5
"""More records than this share left out: then it is said which key to coarsen."""


def show(found: Anonymisation, others: Sequence[tuple[str, Anonymised | None]], console: Console) -> None:
    """Print the level of each key, what is left out and why, and what other demands would give.

    Parameters
    ----------
    found
        What was found.
    others
        What each other demand would give; None where nothing meets it.
    console
        Where to.

    Examples
    --------
    >>> import io, polars as pl
    >>> from sfumato.api.anonymise import anonymise
    >>> console = Console(file=io.StringIO(), width=100)
    >>> show(anonymise(pl.DataFrame({"sex": list("mfmfmfmf")}), ["sex"], k=2), [], console)
    >>> "nothing is left out" in console.file.getvalue()
    True
    """
    console.print(_levels(found))
    for sentence in _sentences(found):
        console.print(sentence, markup=False)
    if others:
        console.print(_others(found, others))


def _levels(found: Anonymisation) -> Table:
    level = "Levels up to" if found.step.local else "Level"
    table = Table("Key", level, "Of", "Categories now", "Before", title="Levels of the keys", title_justify="left")
    for key in found.key_levels():
        table.add_row(key.name, str(key.level), str(key.height), f"{key.now:,}", f"{key.before:,}")
    return table


def _sentences(found: Anonymisation) -> Iterator[str]:
    share = found.suppressed / found.records
    asked = found.step.said(found.found.secret)
    if found.suppressed:
        yield (
            f"{found.suppressed:,} of {found.records:,} records ({share:.2%}) are left out: their class does not meet "
            f"{asked}."
        )
    else:
        yield f"Every class meets {asked}; nothing is left out."
    if found.step.local:
        yield f"Loss (loss-arithmetic, cell by cell): {found.score:.6g}, the better of two ways; less may be possible."
    elif found.optimal:
        yield f"Loss ({found.step.loss}): {found.score:.6g}; nothing loses less."
    else:
        yield f"Loss ({found.step.loss}): {found.score:.6g}; nothing loses less than {found.bound:.6g}. {NOT_PROVEN}"
    if bare := [key.name for key in found.key_levels() if key.level == key.height == 1 and key.before > _FEW]:
        yield f"Nothing but * is left of {', '.join(bare)}, which has no hierarchy: give one (--hierarchies)."
    if share > _MOST:
        widest = max(found.key_levels(), key=lambda key: key.now)
        yield f"Most records are left out. Coarsen {widest.name}, whose categories are the most, or leave it out."


def _others(found: Anonymisation, others: Sequence[tuple[str, Anonymised | None]]) -> Table:
    title = "What else could be had"
    table = Table("With", "Loss", "Left out", "Levels that change", title=title, title_justify="left")
    for said, other in others:
        if other is None:
            table.add_row(said, "none", "", "no levels meet it")
            continue
        local = found.step.local
        moved = (
            [] if local else [f"{n} {other.levels[n]}" for n, level in found.levels.items() if other.levels[n] != level]
        )
        table.add_row(
            said, f"{other.score:.6g}", f"{other.suppressed:,}", ", ".join(moved) or ("" if local else "none")
        )
    return table
