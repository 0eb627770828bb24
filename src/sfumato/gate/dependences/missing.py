"""Whether it may be said of a number that it is no secret who has none, and where that would matter."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

import numpy as np

from sfumato.gate.dependences.found import Dependence
from sfumato.gate.dependences.words import KNOWN_SIGN, columns_in, joined
from sfumato.gate.records import Records

__all__ = ["few_missing", "missing_problems", "missing_tells"]

FEW = 0.1
"""Below this share of people without a value, most cells have a few of them, and sums by such cells are refused."""
_TELLS = ("tells", "tells_together", "never")


def missing_tells(number: str, found: Iterable[Dependence]) -> tuple[str, ...]:
    """Variables about which it tells something that a number is missing.

    Parameters
    ----------
    number
        Its name.
    found
        All that was found.

    Examples
    --------
    >>> missing_tells("cost", [Dependence("never", ("cost@(known)", "died"), None, 1, 40.0)])
    ('died',)
    """
    own = number + KNOWN_SIGN
    others = {
        other
        for one in found
        if one.kind in _TELLS and own in columns_in(one)
        for other in columns_in(one)
        if other != own
    }
    return tuple(sorted(others))


def missing_problems(
    numbers: Sequence[str], records: Records, found: Sequence[Dependence], sensitive: Collection[str]
) -> list[str]:
    """What is wrong with saying that it is no secret who has a number: it is none, or its absence tells a secret.

    Parameters
    ----------
    numbers
        Of which it is said.
    records
        Of all versions.
    found
        All that was found, whatever stewards say of it.
    sensitive
        Variables that must not be learned.
    """
    out = []
    for name in numbers:
        if name not in records.numbers:
            out.append(f"`missing_told` names {name!r}, which is no number of the data.")
            continue
        told = [one for one in missing_tells(name, found) if one.removesuffix(KNOWN_SIGN) in sensitive]
        if told:
            out.append(
                f"`missing_told` of {name!r}: that it is missing tells about {joined(told)}, which is sensitive."
            )
    return out


def few_missing(records: Records, told: Collection[str] = ()) -> tuple[str, ...]:
    """Numbers of which a few people have none, so that `missing_told` would let more sums be given.

    Parameters
    ----------
    records
        Of all versions.
    told
        Those of which it is said already.
    """
    out = []
    for name, values in records.numbers.items():
        if name in told or records.structure.known(name) is None:
            continue
        gone = np.isnan(values)
        many = gone.mean() if records.counts is None else records.counts[gone].sum() / max(records.counts.sum(), 1)
        if 0 < many < FEW:
            out.append(name)
    return tuple(out)
