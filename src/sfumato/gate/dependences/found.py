"""What a dependence between columns is, as stewards see it; analysts see nothing of it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from sfumato.gate.margin import canonical_json

__all__ = ["Dependence", "Kind", "digest_of", "digests"]

Kind = Literal["tells", "tells_together", "never", "band", "adds"]


@dataclass(frozen=True, order=True)
class Dependence:
    """A dependence that was found in the data, and counts as known to everybody who asks.

    Parameters
    ----------
    kind
        `tells`: one column tells another; `tells_together`: two tell a third; `never`: combinations of two that are
        empty where many people were expected; `band`: a number tells a column; `adds`: numbers that add up.
    of
        The columns that tell; both of `never`; the parts of a sum that adds up.
    to
        The column that is told; None of `never`.
    combinations
        Of how many combinations of codes it says that they cannot be; of `adds`, how many columns it joins.
    expected
        How many people would be in these combinations were the columns independent of one another; of `adds`, the rows
        that it was confirmed on.
    version
        The version that alone has it; empty where all have it together.
    digest
        SHA-256 of which combinations cannot be, by the texts of their codes; empty of what is arithmetic.
    """

    kind: Kind
    of: tuple[str, ...]
    to: str | None
    combinations: int
    expected: float
    version: str = ""
    digest: str = field(default="", compare=False, repr=False)

    def to_plain(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "kind": self.kind,
            "from": list(self.of),
            "to": self.to,
            "combinations": self.combinations,
            "expected": round(self.expected, 1),
        }


def digest_of(columns: Sequence[str], texts: Sequence[Sequence[str]], combinations: NDArray[np.int64]) -> str:
    """SHA-256 of combinations of codes, equal for every order of rows, columns and codes.

    Parameters
    ----------
    columns
        Their names.
    texts
        Of each column its codes.
    combinations : ndarray of int64, shape (m, columns)
        Numbers of codes.

    Examples
    --------
    >>> one = digest_of(["a", "b"], [["x", "y"], ["z"]], np.array([[1, 0]]))
    >>> one == digest_of(["b", "a"], [["z"], ["y"]], np.array([[0, 0]]))
    True
    """
    named, places = [], []
    for i in sorted(range(len(columns)), key=lambda i: columns[i]):
        used, at = np.unique(combinations[:, i], return_inverse=True)
        own = [texts[i][code] for code in used.tolist()]
        rank = np.empty(len(used), dtype="<i8")
        rank[sorted(range(len(own)), key=own.__getitem__)] = np.arange(len(own))
        named.append([columns[i], sorted(own)])
        places.append(rank[at.reshape(-1)])
    rows = np.stack(places, axis=1)
    rows = np.ascontiguousarray(rows[np.lexsort(rows.T[::-1])])
    return hashlib.sha256(canonical_json(named) + b"\n" + rows.tobytes()).hexdigest()


def digests(found: Iterable[Dependence]) -> Mapping[tuple[str, ...], str]:
    """By columns in rising order, SHA-256 of all that was found between exactly these, in all versions.

    Examples
    --------
    >>> list(digests([Dependence("never", ("b", "a"), None, 3, 41.5)]))
    [('a', 'b')]
    """
    own: dict[tuple[str, ...], list[list[Any]]] = {}
    for one in found:
        columns = tuple(sorted({*one.of, *(() if one.to is None else (one.to,))}))
        line = [one.kind, sorted(one.of), one.to or "", one.version, one.combinations, one.digest]
        own.setdefault(columns, []).append(line)
    return {columns: hashlib.sha256(canonical_json(sorted(lines))).hexdigest() for columns, lines in own.items()}
