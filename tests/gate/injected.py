"""Dependences that are said to have been found, for tests of what stewards see and say of them."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from sfumato.gate import reading
from sfumato.gate.dependences.found import Dependence

NEVER = Dependence("never", ("age", "sex"), None, 3, 41.5)
TELLS = Dependence("tells", ("region",), "sex", 4, 20.25)
TOGETHER = Dependence("tells_together", ("age", "sex"), "region", 9, 80.0)


def injected(monkeypatch, found: Callable[[Sequence[str]], Sequence[Dependence]]) -> list[Sequence[Sequence[str]]]:
    """Let dependences be found, by the names of the versions; give what was called chance at each reading."""
    heeded = []

    def records_of(*args, chance=(), **more):
        heeded.append(tuple(chance))
        records = reading.records_of(*args, **more, search=False)
        gone = [set(one) for one in chance]
        own = found(records.versions)
        soft = ("never", "tells_together")
        left = [one for one in own if one.kind not in soft or {*one.of, one.to} - {None} not in gone]
        return replace(records, found=tuple(left))

    monkeypatch.setattr("sfumato.gate.sources.records_of", records_of)
    return heeded
