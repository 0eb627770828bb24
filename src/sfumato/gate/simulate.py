"""`simulate`: a year of requests at the gate, before it is opened: what would be given under each policy?"""

from __future__ import annotations

import itertools
import random
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sfumato.gate.audit import narrow
from sfumato.gate.decision import is_known
from sfumato.gate.margin import Margin, Node
from sfumato.gate.policy import Policy
from sfumato.gate.records import Records
from sfumato.gate.structure import Structure
from sfumato.gate.world import PUBLIC, Principal, World
from sfumato.progress import Progress, quiet

__all__ = ["QUARTERS", "Quarter", "simulate"]

QUARTERS = 4
_USERS = 8
_TOGETHER = 2
"""Users of one organisation, who share all that they get."""
_WIDEST = 12
"""Variables that requests are drawn from, those with fewest codes."""
_MOST_CODES = 50
_ASKED = 40
"""Tables that are asked for to learn how many could still be had; drawn at random where there are more."""


@dataclass(frozen=True)
class Quarter:
    """What came of a quarter's requests under one policy.

    Parameters
    ----------
    policy, quarter
        Name of the policy, and the quarter from 1.
    requests
        How many there were.
    granted, repeated, refused, undecided
        Of these: given anew, known already, not given, and neither proved safe nor unsafe.
    possible
        By number of variables (2 and 3), the share of tables that somebody could still be given or has.
    mu
        What all noisy releases together tell: none is simulated.
    p50, p95
        Seconds a decision took, in the middle and for nineteen of twenty.
    narrow
        Joint cells of few people that are known too closely in the end: none, if all is right.
    """

    policy: str
    quarter: int
    requests: int
    granted: int
    repeated: int
    refused: int
    undecided: int
    possible: Mapping[int, float]
    mu: float
    p50: float
    p95: float
    narrow: int

    def to_plain(self) -> dict[str, Any]:
        """For JSON."""
        return {
            **{key: getattr(self, key) for key in ("policy", "quarter", "requests", "granted", "repeated")},
            **{key: getattr(self, key) for key in ("refused", "undecided", "mu", "p50", "p95", "narrow")},
            "possible": {str(many): share for many, share in self.possible.items()},
        }


def simulate(
    data: Records,
    policies: Mapping[str, Policy],
    requests: int = 800,
    *,
    seed: int = 1,
    progress: Progress = quiet,
) -> tuple[Quarter, ...]:
    """Let users ask for tables for a year, under each policy by itself.

    Eight users, two to an organisation, each with a topic of four to six variables, ask for tables of one to three of
    them, by a level now and then. Of data with many variables the twelve with fewest codes are asked for.

    Parameters
    ----------
    data
        The records.
    policies
        By name. That of the public is tried too, as that of users.
    requests
        How many in the year, under each policy.
    seed
        Of the requests.
    progress
        Told how far it is.

    Examples
    --------
    >>> import polars as pl
    >>> from sfumato.gate.reading import records_of
    >>> rows = pl.DataFrame({name: [i // size % 2 for i in range(400)] for name, size in zip("ABCD", (1, 2, 4, 8))})
    >>> year = simulate(records_of(rows), {"research": Policy(preset="research")}, 40)
    >>> len(year), sum(quarter.requests for quarter in year), year[-1].narrow
    (4, 40, 0)
    """
    out: list[Quarter] = []
    for i, (name, policy) in enumerate(sorted(policies.items())):
        for j, quarter in enumerate(_year(data, name, policy, requests, seed)):
            progress(f"policy {name}", (i + (j + 1) / QUARTERS) / len(policies))
            out.append(quarter)
    return tuple(out)


def _year(data: Records, name: str, policy: Policy, requests: int, seed: int) -> Iterator[Quarter]:
    world = World({"data": data}, {name: policy, PUBLIC: policy})
    draw = random.Random(seed)
    variables = _variables(data.structure)
    topics = _people(world, name, variables, draw)
    for quarter in range(QUARTERS):
        many = requests * (quarter + 1) // QUARTERS - requests * quarter // QUARTERS
        told = {"granted": 0, "repeated": 0, "refused": 0, "undecided": 0}
        seconds = []
        for _ in range(many):
            who = draw.choice(sorted(topics))
            request = _request(data, topics[who], draw)
            start = time.process_time()
            outcome = world.ask(who, "data", request)
            seconds.append(time.process_time() - start)
            world.carry_out(outcome)
            told["repeated" if outcome.reasons == ("known",) else outcome.decision] += 1
        seconds.sort()
        p50, p95 = (seconds[min(int(share * many), many - 1)] if many else 0.0 for share in (0.5, 0.95))
        yield Quarter(
            name, quarter + 1, many, **told, possible=_possible(world, topics, variables, draw), mu=0.0,
            p50=p50, p95=p95, narrow=_narrow(world, policy),
        )  # fmt: skip


def _variables(structure: Structure) -> list[str]:
    few = [name for name in structure.variables if 2 <= len(structure.codes[name]) <= _MOST_CODES]
    return sorted(few, key=lambda name: (len(structure.codes[name]), name))[:_WIDEST]


def _people(world: World, policy: str, variables: Sequence[str], draw: random.Random) -> dict[str, list[str]]:
    topics = {}
    for i in range(_USERS):
        who, where = f"user{i}", f"organisation{i // _TOGETHER}"
        if where not in world.principals:
            world.add(Principal(where, "organisation", policy))
        world.add(Principal(who, "user", policy))
        world.carry_out(world.join(who, where))
        topics[who] = draw.sample(list(variables), min(len(variables), draw.randint(4, 6)))
    return topics


def _request(data: Records, topic: Sequence[str], draw: random.Random) -> Margin:
    chosen = draw.sample(list(topic), min(len(topic), draw.randint(1, 3)))
    nodes = []
    for variable in chosen:
        levels = sorted(level for name, level in data.structure.levels if name == variable)
        nodes.append(Node(variable, draw.choice(levels) if levels and draw.random() < 0.3 else ""))
    return Margin.of(nodes, version=data.versions[-1])


def _possible(
    world: World, topics: Mapping[str, Sequence[str]], variables: Sequence[str], draw: random.Random
) -> dict[int, float]:
    """The share of tables of two and of three variables that a user drawn at random has or could be given."""
    out = {}
    for many in (2, 3):
        tables = list(itertools.combinations(variables, many))
        asked = draw.sample(tables, min(len(tables), _ASKED))
        who = draw.choice(sorted(topics))
        data = world.datasets["data"]
        had = 0
        for table in asked:
            request = Margin.of((Node(name) for name in table), version=data.versions[-1])
            had += is_known(data, world.knows(who, "data"), request) or world.ask(who, "data", request).granted
        out[many] = had / len(asked) if asked else 0.0
    return out


def _narrow(world: World, policy: Policy) -> int:
    if policy.interval is None:
        return 0
    data = world.datasets["data"]
    return sum(narrow(data, held, policy.interval) for held in set(world.knowledge.values()))
