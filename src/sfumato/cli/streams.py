"""Standard streams that never fail in the middle of the work: what cannot be printed is told at the end."""

from __future__ import annotations

import errno
import io
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TextIO

    from _typeshed import ReadableBuffer

__all__ = ["Streams", "set_apart"]

_ODD = "backslashreplace"
"""What becomes of characters that the encoding of a stream does not have."""


class _Sink(io.RawIOBase):
    """Writes to a descriptor until that fails, and from then on nowhere."""

    def __init__(self, descriptor: int | None) -> None:
        self._descriptor = descriptor
        self.failed: OSError | None = None

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        if self._descriptor is None:
            raise OSError(errno.EBADF, os.strerror(errno.EBADF))
        return self._descriptor

    def write(self, content: ReadableBuffer) -> int | None:
        size = memoryview(content).nbytes
        if self.failed is not None:
            return size
        try:
            return os.write(self.fileno(), content)
        except BlockingIOError:
            return None
        except OSError as error:
            self.failed = error
            return size


class Streams:
    """Stdout and stderr that a reader may close and a disk may refuse, while the work goes on.

    A reader that goes away (`| head`) is its own business. A full disk, or no stdout at all, is told when all is done.
    What their encoding does not have is written with backslashes. What a test puts in their place stays as it is.

    Parameters
    ----------
    out
        The descriptor of stdout, from `set_apart`.
    """

    def __init__(self, out: int = 1) -> None:
        self._out = _sink(sys.stdout, 1, out)
        self._err = _sink(sys.stderr, 2, 2)
        sys.stdout = _text(self._out, _at(sys.stdout, out))
        sys.stderr = _text(self._err, sys.stderr)

    def end(self, status: int) -> int:
        """Bring everything out, and give the exit status with which to leave."""
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        failed = None if self._out is None else self._out.failed
        if failed is None or isinstance(failed, BrokenPipeError):
            return status
        said = (
            f"sfumato: not all output could be written to stdout: {failed.strerror}. Files that were written are whole."
        )
        print(said, file=sys.stderr, flush=True)
        return status or 2


def set_apart() -> int:
    """Keep stdout for what is printed on purpose, and give its descriptor: what else is written to 1 goes to stderr.

    Libraries write there what they like, from C++ too: a banner before a JSON object makes it none. What stands in the
    place of stdout (a test's) stays.
    """
    try:
        if sys.stdout is None or sys.stdout.fileno() != 1:
            return 1
    except (OSError, ValueError):
        return 1
    while (nowhere := os.open(os.devnull, os.O_RDWR)) < 3:  # else a file of ours would stand in for what was closed
        pass
    os.close(nowhere)
    kept = os.dup(1)
    os.dup2(2, 1)
    return kept


def _at(stream: TextIO | None, descriptor: int) -> TextIO | None:
    """A stream of the same kind at another descriptor."""
    if stream is None or descriptor == 1:
        return stream
    stream.flush()
    return open(descriptor, "w", buffering=1, encoding=stream.encoding, errors=_ODD, closefd=False)


def _sink(stream: TextIO | None, descriptor: int, at: int) -> _Sink | None:
    """A sink in place of a stream, unless that is a terminal or no stream of the process."""
    if stream is None:  # the process was started with the descriptor closed
        return _Sink(None)
    try:
        return None if stream.isatty() or stream.fileno() != descriptor else _Sink(at)
    except (OSError, ValueError):
        return None


def _text(sink: _Sink | None, stream: TextIO | None) -> TextIO:
    if sink is None:
        assert stream is not None
        if isinstance(stream, io.TextIOWrapper) and stream.isatty():
            stream.reconfigure(errors=_ODD)
        return stream
    if not isinstance(stream, io.TextIOWrapper):
        return io.TextIOWrapper(io.BufferedWriter(sink), encoding="utf-8", line_buffering=True)
    stream.flush()
    ansi = os.name == "nt" and "PYTHONIOENCODING" not in os.environ  # which no program expects JSON or YAML to be in
    return io.TextIOWrapper(
        io.BufferedWriter(sink),
        encoding="utf-8" if ansi else stream.encoding,
        errors=_ODD,
        newline="\n",
        line_buffering=stream.line_buffering or stream.write_through,  # stderr, where nothing waits for its end
    )
