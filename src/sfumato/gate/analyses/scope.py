"""The records that an analysis is about, and whether two analyses are about nearly the same."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.gate.analyses.request import Request
from sfumato.gate.margin import Margin, Node
from sfumato.gate.records import Records

__all__ = ["apart", "digest_of", "lines_of"]

Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]
_MOST_CELLS = 1_000_000
_KEPT = 64
"""Scopes of a data set that are kept for the next decision."""


def lines_of(records: Records, request: Request) -> Bools:
    """Which lines of the data an analysis is about: of its version, in its groups, with every value that it needs.

    Returns
    -------
    ndarray of bool, shape (lines,)
    """
    key = request.version, request.scope_text
    scopes: dict[tuple[str, str], Bools] = records.kept.setdefault("scopes", {})
    if key not in scopes:
        while len(scopes) >= _KEPT:
            scopes.pop(next(iter(scopes)))
        scopes[key] = _lines(records, request)
    return scopes[key]


def _lines(records: Records, request: Request) -> Bools:
    structure = records.structure
    many = len(next(iter(records.codes.values()))) if records.codes else 0
    held = np.ones(many, dtype=bool)
    if records.life is not None:
        held &= (records.life >> records.versions.index(request.version) & 1).astype(bool)
    for node, groups in request.where.items():
        wanted = np.isin(structure.groups(node), groups)
        held &= wanted[structure.place(node)][records.codes[node.variable]]
    for name in request.complete:
        if name in records.codes:
            gone = structure.missing.get(name, frozenset())
            if gone:
                held &= ~np.isin(structure.codes[name], list(gone))[records.codes[name]]
        else:
            held &= ~np.isnan(records.numbers[name])
    return held


def apart(records: Records, fits: Iterable[Margin], count: int) -> bool:
    """Whether any two protected fits are about the same records, or about so different ones that none can be told.

    Parameters
    ----------
    records
        The data.
    fits
        All that somebody would know; tables among them are passed over.
    count
        A group up to this size is protected: as many records, or fewer, on either side only are too few.

    Notes
    -----
    Which groups two requests picked is not looked at, but what they pick by: every slice that could be picked has the
    same answer, else refusals would find the slices of few. So cells of both requests' `where` together must hold
    nobody or more than `count`, and so must those in a cell whom one of them leaves out for want of a value. Records
    that were corrected between two versions stand on both sides. It speaks of pairs; what more than two scopes tell
    together is bounded by the budget of noise alone.
    """
    scopes: dict[tuple[str, str], Request] = {}
    for margin in fits:
        if margin.fit:
            request = Request.from_fit(margin)
            scopes.setdefault((request.version, request.scope_text), request)
    held = list(scopes.values())
    return all(_far_enough(records, one, other, count) for i, one in enumerate(held) for other in held[i + 1 :])


def _far_enough(records: Records, one: Request, other: Request, count: int) -> bool:
    same = one.where == other.where
    nodes = sorted({*one.where, *other.where})
    key = same, tuple(nodes), frozenset(((one.version, one.complete), (other.version, other.complete)))
    pairs: dict[Any, Ints | None] = records.kept.setdefault("pairs of scopes", {})
    if key not in pairs:
        pairs[key] = _small_counts(records, one, other, nodes, same)
    found = pairs[key]
    return found is not None and not ((found >= 1) & (found <= count)).any()


def _small_counts(records: Records, one: Request, other: Request, nodes: Sequence[Node], same: bool) -> Ints | None:
    """How many people stand in a cell in one scope and not in the other, and in either where they pick differently."""
    cell, cells = np.zeros(len(lines_of(records, one)), dtype=np.int64), 1
    for node in nodes:
        size = records.structure.size(node)
        cell, cells = cell * size + records.structure.place(node)[records.codes[node.variable]], cells * size
        if cells > _MOST_CELLS:
            return None
    first, second = (lines_of(records, replace(request, where={})) for request in (one, other))
    looked = [first & ~second, second & ~first, *([] if same else [first, second])]
    weights = None if records.counts is None else records.counts
    counted = [np.bincount(cell[lines], None if weights is None else weights[lines], cells) for lines in looked]
    return np.unique(np.rint(np.concatenate(counted)).astype(np.int64))


def digest_of(records: Records, lines: Bools) -> str:
    """What names a set of people, however it was asked for: SHA-256 of their keys in rising order."""
    if records.words is None:
        return ""
    own = np.sort(records.words[lines])
    return hashlib.sha256(own.astype("<u8").tobytes()).hexdigest()
