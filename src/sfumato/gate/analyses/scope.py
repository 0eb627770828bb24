"""The records that an analysis is about, and whether two analyses are about nearly the same."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from sfumato.gate.analyses.request import Request
from sfumato.gate.margin import Margin
from sfumato.gate.records import Records

__all__ = ["apart", "digest_of", "lines_of"]

Bools = NDArray[np.bool_]
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
    Records that were corrected between two versions stand on both sides. It speaks of pairs; what more than two scopes
    tell together is bounded by the budget of noise alone.
    """
    scopes: dict[tuple[str, str], Request] = {}
    for margin in fits:
        if margin.fit:
            request = Request.from_fit(margin)
            scopes.setdefault((request.version, request.scope_text), request)
    held = list(scopes.values())
    return all(_far_enough(records, one, other, count) for i, one in enumerate(held) for other in held[i + 1 :])


def _far_enough(records: Records, one: Request, other: Request, count: int) -> bool:
    key = frozenset(((one.version, one.scope_text), (other.version, other.scope_text)))
    pairs: dict[frozenset[tuple[str, str]], tuple[int, int]] = records.kept.setdefault("pairs of scopes", {})
    if key not in pairs:
        first, second = lines_of(records, one), lines_of(records, other)
        pairs[key] = _people(records, first & ~second), _people(records, second & ~first)
    return all(not 1 <= many <= count for many in pairs[key])


def _people(records: Records, lines: Bools) -> int:
    return int(np.count_nonzero(lines) if records.counts is None else records.counts[lines].sum())


def digest_of(records: Records, lines: Bools) -> str:
    """What names a set of people, however it was asked for: SHA-256 of their keys in rising order."""
    if records.words is None:
        return ""
    own = np.sort(records.words[lines])
    return hashlib.sha256(own.astype("<u8").tobytes()).hexdigest()
