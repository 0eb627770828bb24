"""What a release holds: the part of a table that is shown, what protects it, and where the ledger stood."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import DataError
from sfumato.gate.margin import Margin, Node
from sfumato.gate.noise import largest_change, perturbed
from sfumato.gate.policy import Policy
from sfumato.gate.records import Records, Scope

__all__ = ["Where", "checked_where", "content", "figures", "rounded", "sentence", "whole"]

Ints = NDArray[np.int64]
Where = Mapping[Node, Sequence[str]]
_MOST_EMPTY = 10_000
"""Cells up to which those without anybody are listed too."""
_MOST_ROWS = 1_000_000


def whole(request: Margin, where: Where) -> Margin:
    """The margin that is decided about: by all that it is shown by, and all that picks what is shown."""
    return Margin.of([*request.nodes, *where], request.value, request.weight, request.version, request.noise)


def checked_where(where: Where, records: Records) -> dict[Node, tuple[str, ...]]:
    """Groups of each node, in rising order.

    Raises
    ------
    DataError
        Groups that there are not, or none; the message names the variable alone.
    """
    out = {}
    for node, groups in sorted(where.items()):
        known = set(records.structure.groups(node))
        if not groups or not set(groups) <= known:
            raise DataError(f"`where` names a group of {str(node)!r} that the codebook does not have, or none.")
        out[node] = tuple(sorted(set(groups)))
    return out


def refuse_unknown(request: Margin, where: Where, records: Records) -> None:
    """Refuse variables, levels and versions that there are not.

    Raises
    ------
    DataError
        With what there is.
    """
    structure = records.structure
    if request.version not in records.versions:
        raise DataError(f"There is no version {request.version!r}. Versions: {', '.join(records.versions)}.")
    for node in (*request.nodes, *where):
        if node.variable not in structure.variables:
            raise DataError(
                f"There is no variable {node.variable!r} with codes. Variables: {', '.join(structure.variables)}."
            )
        if node.level and (node.variable, node.level) not in structure.levels:
            own = [level for name, level in sorted(structure.levels) if name == node.variable]
            raise DataError(f"{node.variable!r} has no level {node.level!r}. Its levels: {', '.join(own) or 'none'}.")
    for name in (request.value, request.weight):
        if name and name not in records.numbers:
            raise DataError(f"{name!r} cannot be summed: it is no variable of numbers.")
    if request.weight and not (records.numbers[request.weight] > 0).all():
        raise DataError(f"{request.weight!r} is no weight: weights are numbers above 0, and none is missing.")


def rounded(value: float) -> str:
    """A sum to three significant digits, as a plain number.

    Examples
    --------
    >>> rounded(123456.0), rounded(0.012345), rounded(-5.0), rounded(0.0)
    ('123000', '0.0123', '-5', '0')
    """
    if value == 0 or not math.isfinite(value):
        return "0"
    digits = 2 - math.floor(math.log10(abs(value)))
    text = f"{round(value, digits):.{max(digits, 0)}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def content(
    dataset: str, records: Records, request: Margin, where: Where, policy: Policy, *, mean: bool = False
) -> dict[str, Any]:
    """A release, ready to be kept as canonical JSON, but for where the ledger stands.

    Parameters
    ----------
    dataset
        Its name.
    records
        The records.
    request
        What is shown by, and what is summed.
    where
        The groups that are shown.
    policy
        What it was decided by.
    mean
        Whether means stand beside the sums: of those who have a value, from the sum as it is before it is rounded.

    Raises
    ------
    DataError
        Too many rows.
    """
    columns = [*map(str, request.nodes), *figures(request, mean=mean)]
    return {
        "dataset": dataset,
        "version": request.version,
        "table": request.label,
        "by": [[node.variable, node.level] for node in request.nodes],
        "where": {str(node): list(groups) for node, groups in sorted(where.items())},
        "columns": columns,
        "rows": _rows(records, request, where, mean),
        "exact": not (request.value or request.weight or request.noise),
        "disclosure": sentence(request, policy, where),
    }


def figures(request: Margin, *, mean: bool = False) -> list[str]:
    """The columns of a table beside those that it is shown by.

    Examples
    --------
    >>> figures(Margin()), figures(Margin(value="cost"), mean=True)
    (['count'], ['count', 'n', 'sum', 'mean'])
    """
    out = ["count"]
    if request.weight:
        out.append("weighted")
    if request.value:
        out += ["n", "sum", *(["mean"] if mean else [])]
    return out


def sentence(request: Margin, policy: Policy, where: Where | None = None) -> str:
    """What protects a release, in words.

    Parameters
    ----------
    request
        What is shown by, and what is summed.
    policy
        What it was decided by.
    where
        The groups that are shown.
    """
    if request.noise:
        return _perturbed(request, where or {})
    parts = ["The counts are true."]
    if request.value or request.weight:
        parts.append("Sums have three significant digits.")
    if request.value:
        parts.append(
            f"n says of how many people the value is known: sums and means are theirs, and are null where it is 0. "
            f"Nobody makes up too much of a sum ({', '.join(policy.dominance)})."
        )
    parts.append("Combinations that are not listed hold nobody.")
    if policy.interval is not None:
        parts.append(
            f"Whoever may come to know this table cannot tell a group of 1 to {policy.interval.count} people closer "
            f"than {policy.interval.width}, from this and all other true answers that the gate gave them. Perturbed "
            "tables beside it can tell more."
        )
    if policy.attribution is not None:
        parts.append(f"What a group has stays open for {', '.join(policy.attribution.variables)}.")
    return " ".join(parts)


def _perturbed(request: Margin, where: Where) -> str:
    """What noise does, and what it does not: it is bounded, and zeros are true, which cuts what true tables leave."""
    variance = float(Fraction(request.noise))
    parts = [
        f"The counts are perturbed by noise of mean 0 and variance {variance:g}, which hangs on who is in a cell: the "
        f"same cell has the same noise in every table. No cell changes by more than {largest_change(variance)}."
    ]
    cells = math.prod(len(groups) for node, groups in where.items() if node not in request.nodes)
    if cells > 1:
        parts.append(f"A count here is the sum of {cells} such cells, each with noise of its own.")
    parts.append(
        "A cell of nobody stays 0, so that a count above 0 is of somebody; a small one may become 0. Combinations that "
        "are not listed are 0. Beside true tables, small cells can be told more closely than from these alone."
    )
    return " ".join(parts)


def _rows(records: Records, request: Margin, where: Where, mean: bool) -> list[list[Any]]:
    scope = records.scope([request.version])
    nodes = tuple(sorted({*request.nodes, *where}))
    counted = scope.joint(nodes)
    own = _places(scope, nodes, counted.cell, len(counted.count))
    shown = np.ones(len(own), dtype=bool)
    for node, groups in where.items():
        names = scope.structure.groups(node)
        shown &= np.isin(own[:, nodes.index(node)], [names.index(group) for group in groups])
    counts = counted.count
    if request.noise:  # cell by cell of the whole table: sums over other parts of it would be drawn anew, and averaged
        counts = perturbed(counts, _keys(scope, counted.cell, len(counts)), request.noise)
    own, counts = own[shown], counts[shown]
    sums = [one[shown] for one in _sums(scope, request, counted.cell, len(counted.count))]
    by = [nodes.index(node) for node in request.nodes]
    lines, number = np.unique(own[:, by], axis=0, return_inverse=True)
    number = number.ravel()
    if len(lines) > _MOST_ROWS:
        raise DataError(f"The table has more than {_MOST_ROWS:,} lines.")
    total = np.zeros(len(lines), dtype=np.int64)
    np.add.at(total, number, counts)
    added = _figures(request, [np.bincount(number, weights=one, minlength=len(lines)) for one in sums], mean)
    labels = [scope.structure.groups(node) for node in request.nodes]
    some = len(lines) < math.prod(map(len, labels))
    leave = len(lines) > _MOST_EMPTY or (some and bool(request.noise))  # a listed 0 among some would be of somebody
    rows: list[list[Any]] = []
    for i, line in enumerate(lines.tolist()):
        if not total[i] and leave:
            continue
        names_of = [label[place] for label, place in zip(labels, line, strict=True)]
        rows.append([*names_of, int(total[i]), *(one[i] for one in added)])
    return rows


def _figures(request: Margin, sums: Sequence[NDArray[Any]], mean: bool) -> list[list[Any]]:
    """Columns of what is told beside the count; null where nobody has a value."""
    told = list(sums)
    out: list[list[Any]] = [[rounded(float(one)) for one in told.pop(0)]] if request.weight else []
    if request.value:
        people, weight, total = told
        known = [round(float(one)) for one in people]
        out.append(list(known))
        out.append([rounded(float(one)) if n else None for one, n in zip(total, known, strict=True)])
        if mean:
            means = np.divide(total, weight, out=np.zeros_like(total), where=weight > 0)
            out.append([rounded(float(one)) if n else None for one, n in zip(means, known, strict=True)])
    return out


def _keys(scope: Scope, cell: NDArray[Any], cells: int) -> NDArray[np.uint64]:
    """The key of each cell: the sum of the keys of all who are in it."""
    if scope.words is None:
        raise DataError(
            "Perturbed tables need each person's key: name the column of record ids (`record`) and the secret's file."
        )
    out = np.zeros(cells, dtype=np.uint64)
    np.add.at(out, cell, scope.words)  # sums of 64 bits wrap, as they should
    return out


def _places(scope: Scope, nodes: Sequence[Node], cell: NDArray[Any], cells: int) -> Ints:
    """The number of each listed cell's group, a column for each node.

    Where they are few, cells without anybody are among them, as a margin lists them all.
    """
    sizes = [scope.structure.size(node) for node in nodes]
    if math.prod(sizes) == cells:
        return np.stack(np.unravel_index(np.arange(cells), sizes), axis=1).astype(np.int64) if nodes else _NOTHING
    first = np.full(cells, -1, dtype=np.int64)
    first[cell[::-1]] = np.arange(len(cell))[::-1]
    columns = [scope.column(node)[first] for node in nodes]
    return np.stack(columns, axis=1).astype(np.int64)


_NOTHING = np.zeros((1, 0), dtype=np.int64)


def _sums(scope: Scope, request: Margin, cell: NDArray[Any], cells: int) -> list[NDArray[Any]]:
    """Of each cell the weights, where it is weighted; of those who have a value how many, their weights, the sum."""
    people = np.ones(scope.rows) if scope.counts is None else scope.counts.astype(np.float64)
    weight = people * scope.numbers[request.weight] if request.weight else people
    out = [np.nan_to_num(weight)] if request.weight else []
    if request.value:
        value = weight * scope.numbers[request.value]
        known = np.isfinite(value)
        out += [np.where(known, people, 0.0), np.where(known, weight, 0.0), np.where(known, value, 0.0)]
    return [np.bincount(cell, weights=one, minlength=cells) for one in out]
