"""Hide more until no union is unsafe: each unsafe one is put into the equations as a cell that must be protected."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from sfumato.kernels.tabular.goals import Insider
from sfumato.tables.equations import System
from sfumato.tables.suppress.result import Suppression
from sfumato.tables.unions.unions import Judged, Union

__all__ = ["Widened", "protected_against_unions", "widened"]

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Widened:
    """A suppression problem with a further cell for each union.

    Parameters
    ----------
    system
        The equations, and after them one for each union: the sum of its cells is the further cell.
    primary
        The primary cells; further cells are.
    given
        What else `suppress` takes for each cell.
    insiders
        For unions that only one contributor knows: it knows the cells that it is alone in.
    cells
        How many cells there are without the further ones.
    """

    system: System
    primary: Bools
    given: Mapping[str, NDArray[np.generic] | None]
    insiders: tuple[Insider, ...]
    cells: int

    def narrowed(self, found: Suppression) -> Suppression:
        """A pattern of this problem as one of the cells that there are."""
        own = found.unprotected < self.cells
        reason = tuple(word for word, mine in zip(found.reason, own.tolist(), strict=True) if mine)
        return replace(
            found, secondary=found.secondary[: self.cells], unprotected=found.unprotected[own], reason=reason
        )


def widened(
    system: System, primary: Bools, given: Mapping[str, NDArray[np.generic] | None], unions: Sequence[Union]
) -> Widened:
    """Put unions into a suppression problem.

    Parameters
    ----------
    system, primary
        As `suppress` takes them.
    given
        What else it takes for each cell, by name: `cost`, `lower`, `upper`, and what there is of `lower_level`,
        `upper_level`, `sliding_level`, `forbidden`, `preferred`, `forced`. Levels that are not there do not count.
    unions
        The unions: hidden whatever the pattern, they cost nothing, and must be as uncertain as their levels ask.

    Examples
    --------
    >>> system = System(sp.csr_array([[1, 1, 1, -1]]), np.array([2.0, 3.0, 4.0, 9.0]))
    >>> union = Union(np.array([0, 1]), 5.0, 1.0, 1.0, np.empty(0, dtype=np.int64))
    >>> wide = widened(system, np.array([1, 0, 0, 0]) > 0, {"cost": system.value, "lower": np.zeros(4)}, [union])
    >>> wide.system.matrix.toarray().tolist(), wide.system.value.tolist(), wide.primary.tolist()
    ([[1, 1, 1, -1, 0], [1, 1, 0, 0, -1]], [2.0, 3.0, 4.0, 9.0, 5.0], [True, False, False, False, True])
    >>> wide.given["cost"].tolist()
    [2.0, 3.0, 4.0, 9.0, 0.0]
    """
    size, many = system.size, len(unions)
    row = np.repeat(np.arange(many), [len(union.cells) for union in unions])
    cell = np.concatenate([np.empty(0, dtype=np.int64), *(union.cells for union in unions)])
    member = sp.csr_array((np.ones(len(cell)), (row, cell)), shape=(many, size))
    matrix = sp.block_array([[system.matrix, None], [member, -sp.eye_array(many)]], format="csr").astype(np.int8)
    value = np.append(system.value, np.asarray(member @ system.value))
    low, high = (np.array([getattr(union, name) for union in unions]) for name in ("lower_level", "upper_level"))
    told: dict[str, NDArray[np.generic]] = {
        "upper": np.full(many, np.inf),
        "lower_level": low,
        "upper_level": high,
        "sliding_level": low + high,
    }
    lower = given.get("lower")
    if lower is not None:
        told["lower"] = np.array([float(np.sum(np.asarray(lower)[union.cells])) for union in unions])
    if given.get("lower_level") is not None or given.get("upper_level") is not None:
        told["sliding_level"] = np.zeros(many)  # levels each way ask for more
    wide = {name: _longer(part, told.get(name), many) for name, part in given.items()}
    known = [Insider(size + at, union.known) for at, union in enumerate(unions) if len(union.known)]
    return Widened(
        System(sp.csr_array(matrix), value), np.append(primary, np.ones(many, dtype=bool)), wide, tuple(known), size
    )


def _longer(
    part: NDArray[np.generic] | None, more: NDArray[np.generic] | None, many: int
) -> NDArray[np.generic] | None:
    return None if part is None else np.append(part, np.zeros(many, dtype=part.dtype) if more is None else more)


def protected_against_unions(
    solve: Callable[[Sequence[Union]], Suppression],
    judge: Callable[[Suppression], Judged],
    begun: Sequence[Union] = (),
) -> tuple[Suppression, Judged, tuple[Union, ...]]:
    """Look for a pattern until none of its unions is unsafe; those that were stay asked for.

    Parameters
    ----------
    solve
        Finds a pattern under which some unions are protected.
    judge
        Judges the unions of a pattern.
    begun
        Unions that are asked for already.

    Returns
    -------
    tuple
        The pattern, what was judged of it, and the unions that were asked for. Unions that are still unsafe are those
        that no pattern protects, or for which the work did not suffice.
    """
    asked = {union.name: union for union in begun}
    while True:
        found = solve(tuple(asked.values()))
        told = judge(found)
        new = {union.name: union for union in told.unsafe if union.name not in asked}
        if not new or not found.enough:
            return found, told, tuple(asked.values())
        asked |= new
