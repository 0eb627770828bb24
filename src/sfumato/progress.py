"""Telling how far long work is: what is being done, and the share of the whole that is done.

Whoever starts long work gives a function, and whoever does the work calls it. Work that consists of parts gives each
part a function of its own, which knows where in the whole the part lies::

    steps, measures = split(progress, [20, 80])
    steps("step 1 of 2: noise", 0.5)  # a tenth of the whole is done

No text may hold a value of the data.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

__all__ = ["Progress", "quiet", "split", "within"]


class Progress(Protocol):
    """Called with what is being done now, and the share of the work that is done before it, from 0 to 1."""

    def __call__(self, what: str, share: float, /) -> None:
        """Tell it."""


def quiet(what: str, share: float, /) -> None:
    """Tell nothing."""


def split(progress: Progress, efforts: Sequence[float]) -> list[Progress]:
    """Give the progress of each part of a work, done one after another.

    Parameters
    ----------
    progress
        That of the whole.
    efforts
        How long each part is expected to take, in any unit.

    Examples
    --------
    >>> long, short = split(lambda what, share: print(what, share), [3, 1])
    >>> long("half of the long part", 0.5)
    half of the long part 0.375
    >>> short("the short part", 0)
    the short part 0.75
    """
    whole = sum(efforts) or 1.0
    return [_part(progress, sum(efforts[:i]) / whole, effort / whole) for i, effort in enumerate(efforts)]


def _part(progress: Progress, start: float, length: float) -> Progress:
    def tell(what: str, share: float, /) -> None:
        progress(what, start + length * share)

    return tell


def within(progress: Progress, where: str) -> Progress:
    """Give the progress of work whose every message says where it belongs.

    Examples
    --------
    >>> within(print, "run 2")("measuring linkage", 0.5)
    run 2: measuring linkage 0.5
    """

    def tell(what: str, share: float, /) -> None:
        progress(f"{where}: {what}", share)

    return tell
