"""`replay`: what would have been decided, from a file of policies and a file of events, without a server."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from sfumato.data.codebook import Codebook
from sfumato.data.files import read_table
from sfumato.engines.polars import PolarsDataset
from sfumato.errors import DataError
from sfumato.gate.audit import narrow
from sfumato.gate.decide import Dependences, margin_of, refuse_unknown, searching
from sfumato.gate.events import Event
from sfumato.gate.margin import FIRST
from sfumato.gate.policy import Policy
from sfumato.gate.reading import Levels, records_of
from sfumato.gate.records import Records
from sfumato.gate.world import PUBLIC, Outcome, Principal, World

__all__ = ["Replayed", "replay", "too_near"]

_DATA = "data"


@dataclass(frozen=True)
class Replayed:
    """What came of events.

    Parameters
    ----------
    outcomes
        One for each event: declarations and `leave` are granted.
    world
        Who is there in the end, and who knows what; confidential in part.
    narrow
        Joint cells that fail in any knowledge set in the end.
    """

    outcomes: tuple[Outcome, ...]
    world: World
    narrow: int

    @property
    def decisions(self) -> tuple[str, ...]:
        """In words."""
        return tuple(outcome.decision for outcome in self.outcomes)


def replay(
    data: PolarsDataset,
    policies: Mapping[str, Policy],
    events: Sequence[Event],
    *,
    count: str | None = None,
    record: str | None = None,
    levels: Levels | None = None,
    never: Sequence[Mapping[str, str]] = (),
    folder: Path = Path(),
    chance: Sequence[Sequence[str]] = (),
    dependences: Dependences = "found",
) -> Replayed:
    """Go through events, and look in the end whether anybody knows too much.

    Parameters
    ----------
    data
        What `sf.read` gives: the first version, `v1`.
    policies
        By name; requests of the public need one named `public`.
    events
        What happens, in order.
    count, levels, never, chance, dependences
        As for `decide`.
    record
        The column of record ids, by which versions are paired.
    folder
        From where files of versions are named.

    Raises
    ------
    DataError
        With the line of the event.

    Examples
    --------
    >>> import polars as pl, sfumato as sf
    >>> from sfumato.gate.events import parsed_events
    >>> data = sf.read(pl.DataFrame({"A": [1, 1, 2, 2], "B": [1, 2, 1, 2], "n": [2, 3, 3, 0]}))
    >>> policies = {"research": Policy(interval={"count": 2, "width": 4})}
    >>> lines = ["organisation north research", "user ann research", "join ann north", "ask ann A", "ask north B"]
    >>> replay(data, policies, parsed_events(lines), count="n").decisions
    ('granted', 'granted', 'granted', 'granted', 'refused')
    """
    search = searching(dependences, chance)
    day = _Day(data, policies, count, record, levels, never, folder, chance, search)
    outcomes = tuple(day.happens(event) for event in events)
    return Replayed(outcomes, day.world, _narrow(day.world))


def _narrow(world: World) -> int:
    """Joint cells that fail, over all distinct knowledge sets."""
    found: dict[Any, int] = {}
    for (who, dataset), held in world.knowledge.items():
        interval = world.policy(who).interval
        if interval is not None and (dataset, held, interval) not in found:
            found[dataset, held, interval] = narrow(world.datasets[dataset], held, interval)
    return sum(found.values())


class _Day:
    """The world of one data set, and the files of its versions."""

    def __init__(
        self,
        data: PolarsDataset,
        policies: Mapping[str, Policy],
        count: str | None,
        record: str | None,
        levels: Levels | None,
        never: Sequence[Mapping[str, str]],
        folder: Path,
        chance: Sequence[Sequence[str]],
        search: bool,
    ) -> None:
        self.chance, self.search = chance, search
        self.frames: list[tuple[str, pl.DataFrame]] = [(FIRST, data.frame)]
        self.book: Codebook = data.codebook
        self.count, self.record, self.levels, self.never, self.folder = count, record, levels, never, folder
        if record is not None and record not in data.frame.columns:
            raise DataError(f"There is no column {record!r} of record ids.")
        self.world = World({_DATA: self._records(self.frames)}, _with_public(policies))
        for policy in policies.values():
            refuse_unknown(policy, self.world.datasets[_DATA])

    def happens(self, event: Event) -> Outcome:
        """Decide one event and carry it out."""
        try:
            outcome = self._decided(event)
        except DataError as error:
            raise DataError(f"Events, line {event.line}: {error}") from None
        self.world.carry_out(outcome)
        return outcome

    def _decided(self, event: Event) -> Outcome:
        world = self.world
        match event.word, event.arguments:
            case ("organisation" | "group" | "user") as kind, (name, policy):
                world.add(Principal(name, kind, policy))
                return Outcome("granted")
            case "join", (who, where):
                return world.join(who, where)
            case "leave", (who, where):
                return world.leave(who, where)
            case "share", (giver, taker):
                return world.share(giver, taker)
            case "withdraw", (giver, taker):
                return world.withdraw(giver, taker)
            case "version", (name, file):
                return self._version(name, self.folder / file)
            case _, (who, table, *version):
                names = [name for name, _ in self.frames]
                if version and version[0] not in names:
                    raise DataError(f"There is no version {version[0]!r}. Versions: {', '.join(names)}.")
                asked = version[0] if version else FIRST
                return world.ask(who, _DATA, margin_of(table, world.datasets[_DATA], asked))
        raise AssertionError

    def _version(self, name: str, path: Path) -> Outcome:
        if name in [known for known, _ in self.frames]:
            raise DataError(f"There is a version {name!r} already.")
        frame = read_table(path).frame
        records = self._records([*self.frames, (name, frame)])
        if too_near(records, self.world.policies):
            return Outcome("refused", ("version",), "released")
        self.frames.append((name, frame))
        self.world.datasets = {_DATA: records}
        return Outcome("granted")

    def _records(self, frames: Sequence[tuple[str, pl.DataFrame]]) -> Records:
        return records_of(
            frames[0][1],
            self.book,
            count=self.count,
            record=self.record,
            levels=self.levels,
            never=self.never,
            versions=frames[1:],
            chance=self.chance,
            search=self.search,
        )


def too_near(records: Records, policies: Mapping[str, Policy]) -> bool:
    """Whether the newest version has only a few records more, or fewer, than an earlier one."""
    counts = [policy.interval.count for policy in policies.values() if policy.interval is not None]
    largest = max(counts, default=0)
    if records.arrivals is None:
        return False
    newest = len(records.versions) - 1
    for earlier in range(newest):
        for gone in (records.arrivals[earlier, newest], records.arrivals[newest, earlier]):
            if 1 <= int(gone) <= largest:
                return True
    return False


def _with_public(policies: Mapping[str, Policy]) -> dict[str, Policy]:
    """Policies with one for the public: that of the notes where none is given."""
    return {PUBLIC: Policy(preset=PUBLIC), **policies}
