"""Faults that a process of a test puts into itself before it is the command line."""

import os
import signal
from functools import wraps

import sfumato.release.large
import sfumato.release.package.folder
from sfumato.data.files.address import Place
from sfumato.engines.parts import Parts, PartsWriter
from tests.e2e.sketching import sketch


def _killed(*_, **__):
    os.kill(os.getpid(), signal.SIGKILL)


def _spilled(writer):
    return "sfumato-spill-" in str(writer.folder)


def reading():
    """Killed at the second part."""
    of = Parts._of

    @wraps(of)
    def first(self, file, *more):
        if file is self.files[1]:
            _killed()
        return of(self, file, *more)

    Parts._of = first


def _after(where):
    """Killed when rows lie in a file that is not whole."""
    flush = PartsWriter.flush

    def flushed(self):
        flush(self)
        if self._rows and where(self):
            _killed()

    PartsWriter.flush = flushed


def spilling():
    """Killed when rows of strata were spilled."""
    _after(_spilled)


def measuring():
    """Killed when all steps ran."""
    sfumato.release.large.measure_few = _killed


def writing():
    """Killed when rows of a part were written."""
    _after(lambda writer: not _spilled(writer))


def renaming():
    """Killed when everything is written, and has not its name yet."""
    sketch()
    sfumato.release.package.folder._settle = _killed


def papers():
    """Killed when parts at an address are written, and the first of their papers has not its name yet."""
    sketch()
    Place.rename = _killed
