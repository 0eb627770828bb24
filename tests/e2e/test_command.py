"""Commands are forked from one process: what happened to one says nothing of the next."""

import sys
from functools import cache
from types import SimpleNamespace

import pytest

from tests.e2e import command
from tests.e2e.command import sfumato

COLD = "from tests.e2e import warm; warm._load = lambda: None; warm.main()"
"""A process that commands are forked from, which has imported next to nothing: it is there at once."""


def test_the_answer_of_a_command_that_was_given_up_is_not_taken_for_that_of_the_next(tmp_path, monkeypatch):
    """Of processes of its own: the one that this test kills is not the one that others use."""
    monkeypatch.setattr(command, "WARM", (sys.executable, "-c", COLD))
    monkeypatch.setattr(command, "_warm", cache(command._warm.__wrapped__))

    def over(text):
        raise KeyboardInterrupt

    sfumato("--version", cwd=tmp_path)  # the warm process is there
    with monkeypatch.context() as here:
        here.setattr(command, "json", SimpleNamespace(loads=over, dumps=command.json.dumps))
        with pytest.raises(KeyboardInterrupt):
            sfumato("no-such-command", cwd=tmp_path)
    done = sfumato("--version", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("sfumato ")
    if last := command._warm():
        last.communicate()


def test_commands_leave_nothing_to_each_other(tmp_path):
    (tmp_path / "other").mkdir()
    sfumato("no-such-command", cwd=tmp_path / "other", env={"COLUMNS": "40", "SFUMATO_DEBUG": "1"})
    first = sfumato("protect", "--help", cwd=tmp_path, env={"COLUMNS": "100"})
    (tmp_path / "other").rmdir()
    assert first.stdout == sfumato("protect", "--help", cwd=tmp_path, env={"COLUMNS": "100"}).stdout
