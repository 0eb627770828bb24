"""What a stage came to."""

from sfumato.gate.stages.verdict import HOLDS, NOTHING


def test_proved_and_nothing_shown():
    assert HOLDS.holds is True
    assert NOTHING.holds is None
    assert HOLDS.work == NOTHING.work == 0
