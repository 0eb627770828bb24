"""`init --ask`: questions at a terminal, and the command that says the same."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
import typer

from sfumato.cli import asking
from sfumato.data.codebook import Codebook
from sfumato.data.profile import profile
from sfumato.plan.wishes import Wishes
from sfumato.tuning.drafts import draft_for

REASON = "given to us alone, and nobody else holds these answers"
RNG = np.random.default_rng(3)
FRAME = pl.DataFrame({f"v{i}": RNG.integers(0, 6 + 5 * i, 300) for i in range(6)})


def test_without_a_terminal_it_is_refused(sfumato, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    FRAME.write_csv("a.csv")
    done = sfumato("init", "a.csv", "--ask")
    assert done.returncode == 2
    assert "--unknown" in done.stderr


def test_answers_become_wishes_and_a_command(monkeypatch, capsys):
    answers = iter(["n", "o", "y", "y", "y", REASON])
    questions = []

    def prompt(text, **how):
        questions.append(text)
        return next(answers)

    monkeypatch.setattr(typer, "prompt", prompt)
    said = asking.command_of("a.csv", None, {"delimiter": ";"})
    told = asking.asked(FRAME, Codebook(), profile(FRAME, Codebook()), Wishes(), said)
    assert len(told.unknown) == len(told.leave_out) == 1
    assert told.because == REASON
    assert questions[0].startswith(f"Can anybody outside know {told.unknown[0]}? If not, ")
    told_command = capsys.readouterr().err
    assert f"--unknown {told.unknown[0]}" in told_command
    assert f"--leave-out {told.leave_out[0]}" in told_command
    drafted, _ = draft_for(FRAME, Codebook(), profile(FRAME, Codebook()), "t", told)
    assert told.leave_out[0] not in drafted.kept
    assert drafted.unknown == told.unknown


@pytest.mark.parametrize("answer", ["", "x"])
def test_other_answers_are_asked_again(answer):
    with pytest.raises(typer.BadParameter):
        asking._answer(answer)
