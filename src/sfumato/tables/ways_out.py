"""What a custodian can do where a table does not hold: what is wrong, then the ways out in the order to try them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sfumato.tables.protect import Protected

__all__ = ["ways_out"]

_COARSER = "Take coarser codes, or leave a variable out: fewer cells are unsafe then."


def ways_out(done: Protected) -> Iterator[str]:
    """Say what is wrong with a table, and what may help.

    Parameters
    ----------
    done
        A protected table that is not `ok`.
    """
    yield from _wrong(done)
    levels = done.audit.levels
    if not done.suppression.enough or (levels is not None and levels.unproved):
        yield "--work 4 (`work=4`) allows four times the work, for the search and for the proofs."
    if done.reader.letters:
        yield "Two letters tell more than one. Without --tell-unsafe (`tell_unsafe`) less must be hidden."
    yield _COARSER
    if done.levels is not None and not done.audit.exact and not done.reader.whole:
        yield (
            "--protect exact (`protect='exact'`) asks only that no unsafe value is known exactly, not how closely it "
            "is bounded. The documentation says so."
        )


def _wrong(done: Protected) -> Iterator[str]:
    audit, unions = done.audit, done.unions
    levels = None if done.levels is None and not done.reader.whole else audit.levels
    if audit.exact:
        yield f"{_many(audit.exact, 'unsafe cell')} can be worked out exactly."
    if levels is not None and levels.short:
        yield f"Of {levels.asked} goals {levels.short} fall short: an unsafe cell can be bounded too closely."
    if levels is not None and levels.unproved:
        yield f"Of {levels.asked} goals {levels.unproved} could not be proved within the work allowed."
    if done.reader.contributor and unions and unions["unsafe"]:
        yield f"{_many(unions['unsafe'], 'sum')} of hidden cells, which a published total tells, would be unsafe."
    if done.reader.contributor and audit.insider:
        yield f"A contributor who is alone in a hidden cell works out {_many(audit.insider, 'unsafe cell')} exactly."


def _many(count: int, what: str) -> str:
    return f"{count:,} {what}" if count == 1 else f"{count:,} {what}s"
