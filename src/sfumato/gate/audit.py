"""Looking back: which joint cells are narrow in what somebody knows, by every means there is."""

from __future__ import annotations

from collections.abc import Iterable

from sfumato.gate.case import Case
from sfumato.gate.margin import Margin
from sfumato.gate.policy import Interval
from sfumato.gate.records import Records
from sfumato.gate.stages.cover import narrow_cells
from sfumato.gate.stages.exchange import still_narrow

__all__ = ["narrow"]


def narrow(data: Records, knowledge: Iterable[Margin], interval: Interval) -> int:
    """How many joint cells of 1 to `count` people are narrower than `width`, given all that somebody knows.

    Exact where the joint table is small or bounds have a closed form; else cells that are not proved wide count as
    narrow.
    """
    held = sorted(set(map(data.structure.canonical, knowledge)))
    if not held:
        return 0
    case = Case.of(data, held)
    if case.lacking is None:
        return _narrow(case, interval)
    return _narrow(case, interval) + _narrow(case.untold, interval)


def _narrow(case: Case, interval: Interval) -> int:
    found = narrow_cells(case, interval.count, interval.width)
    if not len(found.records) or found.exact:
        return len(found.records)
    return still_narrow(case, found, interval.width)
