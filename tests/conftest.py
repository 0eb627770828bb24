import gc
import hashlib
import os
import shutil
from functools import cache
from pathlib import Path

import pytest
from hypothesis import settings

from tests.hashing import cheap_hasher, nobodys_hash
from tests.parts import need
from tests.postgresql import Server
from tests.real_data import real_data

pytest_plugins = ["tests.running.plugin"]

MEMORY = Path("/dev/shm")
if os.access(MEMORY, os.W_OK) and shutil.disk_usage(MEMORY).free > 4 << 30:
    # stores wait for the disk at every commit, as they should: in memory tests need not wait with them
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(MEMORY))

settings.register_profile("sfumato", deadline=None)  # a run of all gives its seed: the same examples everywhere
settings.register_profile("few", settings.get_profile("sfumato"), max_examples=25)  # `make test`, other arithmetic
settings.load_profile("sfumato")


@pytest.fixture(scope="session", autouse=True)
def quick_fingerprints():
    """The fingerprint of a secret is slow by design, and nearly every release has the same secret here."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(hashlib, "scrypt", cache(hashlib.scrypt))
        yield


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Folder with real data sets; tests that need one are skipped where it is absent."""
    need("data")
    return real_data()


@pytest.fixture(scope="session")
def server():
    """A PostgreSQL for tests, the same for all; tests that need one are skipped where it is absent."""
    need("postgresql")
    made = Server()
    yield made
    made.remove()


@pytest.fixture
def cheap_argon2(monkeypatch):
    """Passwords are hashed as in earnest but for the work, which is dear on purpose (64 MiB and three rounds each)."""
    from sfumato.gate.serving import passwords

    monkeypatch.setattr(passwords, "_hasher", cheap_hasher)
    monkeypatch.setattr(passwords, "_nobody", nobodys_hash)


@pytest.fixture(scope="session", autouse=True)
def nobody_leaves_unasked():
    """Steps are run again without one person only where a test asks for that: nearly every test protects something."""
    from sfumato.release import leaving

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(leaving, "UNASKED", False)
        yield


@pytest.fixture
def one_draw(monkeypatch):
    """A draft of a small file is tried once, and not ten times: for tests that need a draft, but not a sure one."""
    from sfumato.tuning import drafting

    monkeypatch.setattr(drafting, "_FURTHER", ())


def pytest_collection_finish(session):
    """What the collected tests have imported stays to the end: no search for garbage need walk through it."""
    gc.freeze()


def pytest_sessionfinish(session):
    gc.unfreeze()
