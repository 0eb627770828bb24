"""Being stopped: Ctrl-C, and what a system or a scheduler sends, end in one line and exit status 130.

Where nothing is being written the process leaves at once, from a thread of its own: neither a long computation nor a
library that loses a `KeyboardInterrupt` keeps it. While something is being written, the main thread gets the
`KeyboardInterrupt`, removes what it has written so far, and only then the process leaves.
"""

from __future__ import annotations

import _thread
import os
import signal
import sys
import time

from sfumato.cli import EXIT, STOPPED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType

__all__ = ["Stopping"]

_SIGNALS = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
_BLANK_LINE = b"\r\x1b[2K\x1b[?25h"
"""Takes a half-drawn line of progress off a terminal, and shows its cursor again."""


class Stopping:
    """Takes over the signals that stop the process; those that it was started to ignore stay ignored.

    Attributes
    ----------
    asked
        Whether the process was asked to stop while it wrote something.
    """

    drawing = False
    """Whether progress is being drawn on a terminal."""

    def __init__(self) -> None:
        self.asked = False
        self._leaving = _thread.allocate_lock()

    def catch(self) -> None:
        """Take over the signals; on Windows nothing but Ctrl-C comes, and stays a `KeyboardInterrupt`."""
        if os.name == "nt":
            return
        source, told = os.pipe()
        os.set_blocking(told, False)
        signal.set_wakeup_fd(told, warn_on_full_buffer=False)
        for number in _SIGNALS:
            if signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, self._undo)
        sys.unraisablehook = _unraisable
        _thread.start_new_thread(self._leave, (source,))

    def over(self) -> None:
        """All is done, or undone: what remains is to leave, which is not worth a word."""
        for number in _SIGNALS:
            signal.signal(number, signal.SIG_IGN)
        if not self._leaving.acquire(blocking=False):
            time.sleep(60)  # the other thread is leaving

    def _undo(self, number: int, frame: FrameType | None) -> None:
        """In the main thread: break off what is being written, once, so that its removal is not broken off too."""
        if _unfinished() and not self.asked:
            self.asked = True
            raise KeyboardInterrupt

    def _leave(self, source: int) -> None:
        """In a thread of its own: wait for a signal, then until nothing is left half-written, and leave."""
        while os.read(source, 1)[0] not in _SIGNALS:
            pass
        while _unfinished():
            time.sleep(0.02)
        if self._leaving.acquire(blocking=False):
            os.write(2, (_BLANK_LINE if self.drawing else b"") + f"{STOPPED}\n".encode())
            os._exit(EXIT)


def _unfinished() -> bool:
    """Whether a file or folder is being written."""
    atomic = sys.modules.get("sfumato.data.files.atomic")
    return bool(getattr(atomic, "UNFINISHED", ()))


def _unraisable(unraisable: sys.UnraisableHookArgs) -> None:
    """Say nothing of an interruption that came where it cannot be passed on, such as the end of an object."""
    if not issubclass(unraisable.exc_type, KeyboardInterrupt):
        sys.__unraisablehook__(unraisable)
