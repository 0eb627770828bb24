"""The process that does long work, one piece after another, and the end of the pipe that it tells of it by."""

from __future__ import annotations

import contextlib
import errno
import signal
import time
from multiprocessing.connection import Connection
from pathlib import Path

from sfumato.errors import SfumatoError
from sfumato.web.server import end_with_parent, leave
from sfumato.web.studio.tasks import TASKS

__all__ = ["work"]

_OFTEN = 0.1
"""Seconds between two words on progress."""
_FULL = "The disk of temporary files is full. Make room, or name another folder by TMPDIR and start again."


def work(pipe: Connection) -> None:
    """Do what comes through a pipe, until it is closed: `("progress", what, share)`, then `("done", result)`.

    What is raised on purpose comes back as its sentence, anything else as its type alone: its text may hold data.
    """
    end_with_parent()
    with contextlib.suppress(OSError):  # where memory runs out this process goes, and the studio tells of it
        Path("/proc/self/oom_score_adj").write_text("900")
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN if number == signal.SIGINT else signal.SIG_DFL)
    import sfumato.api.protect  # noqa: F401 - while nobody waits yet

    while True:
        try:
            asked = pipe.recv()
        except EOFError:
            leave(0)
        pipe.send(_done(asked, pipe))


def _done(asked: object, pipe: Connection) -> tuple[str, object]:
    from sfumato.web.studio.tasks import Work

    assert isinstance(asked, Work)
    last = 0.0

    def progress(what: str, share: float, /) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last >= _OFTEN:
            last = now
            pipe.send(("progress", what, min(max(share, 0.0), 1.0)))

    try:
        return "done", TASKS[asked.task](asked, progress)
    except SfumatoError as error:
        return "failed", str(error)
    except MemoryError:
        return "failed", "The memory of this machine does not do for it. Take a smaller file, or fewer columns."
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        return "failed", _FULL if full else f"A fault of its own ({type(error).__name__})."
    except Exception as error:
        return "failed", f"A fault of its own ({type(error).__name__})."
