import sys
from types import SimpleNamespace

import pytest

from sfumato.cli import main


@pytest.fixture
def sfumato(monkeypatch, capsys):
    """Runs the command line in this process."""

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["sfumato", *map(str, arguments)])
        with pytest.raises(SystemExit) as left:
            main()
        printed = capsys.readouterr()
        return SimpleNamespace(returncode=left.value.code, stdout=printed.out, stderr=printed.err)

    return run
