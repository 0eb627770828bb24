"""Where programs are out of reach exchanges alone prove: the auditor's programs agree with all that they prove."""

import numpy as np
import pytest

from sfumato.gate.decision import judge
from sfumato.gate.policy import Policy
from sfumato.gate.stages import exchange
from tests.gate.auditor import Joint
from tests.gate.small_worlds import asked, coded, ringed_world, some_pair


@pytest.mark.slow
def test_what_exchanges_prove_is_so(monkeypatch):
    monkeypatch.setattr(exchange, "LARGEST", 0)
    proved = left = 0
    for seed in range(200, 225):
        rng = np.random.default_rng(seed)
        world = ringed_world(rng)
        records = coded(world)
        count = int(rng.integers(1, 4))
        policy = Policy(interval={"count": count, "width": count + int(rng.integers(1, 4))})
        known = []
        for _ in range(8):
            one = some_pair(rng, world)
            answer = judge(records, [asked(records, told) for told in known], asked(records, one), policy)
            left += answer.decision == "undecided"
            if answer.granted:
                known.append(one)
            if answer.granted and answer.stage == "exchange":
                assert Joint(world, known).interval_holds(count, policy.interval.width), seed
                proved += 1
    assert proved > 10
    assert left < proved
