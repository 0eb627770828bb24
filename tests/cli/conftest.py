import gc
import sys
from types import SimpleNamespace

import pytest

from sfumato.cli import main
from sfumato.cli.stopping import Stopping
from tests.release.brief import sketched


@pytest.fixture
def own_process(monkeypatch):
    """Leaves signals and memory to pytest, and gives back the streams that the command line takes over."""
    for name in ("freeze", "set_threshold"):
        monkeypatch.setattr(gc, name, lambda *thresholds: None)
    for name in ("catch", "over"):
        monkeypatch.setattr(Stopping, name, lambda self: None)
    for name in ("stdout", "stderr"):
        monkeypatch.setattr(sys, name, getattr(sys, name))


@pytest.fixture
def sfumato(monkeypatch, capsys, own_process):
    """Runs the command line in this process."""

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["sfumato", *map(str, arguments)])
        with pytest.raises(SystemExit) as left:
            main()
        printed = capsys.readouterr()
        return SimpleNamespace(returncode=left.value.code, stdout=printed.out, stderr=printed.err)

    return run


@pytest.fixture(scope="module", autouse=True)
def sketches():
    """See `tests.release.brief`; the modules that look at pictures have them drawn."""
    with sketched():
        yield
