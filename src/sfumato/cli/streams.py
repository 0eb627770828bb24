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

__all__ = ["Streams"]


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
    A terminal, and what a test puts in their place, stays as it is.
    """

    def __init__(self) -> None:
        self._out = _sink(sys.stdout, 1)
        self._err = _sink(sys.stderr, 2)
        sys.stdout = _text(self._out, sys.stdout)
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


def _sink(stream: TextIO | None, descriptor: int) -> _Sink | None:
    """A sink in place of a stream, unless that is a terminal or no stream of the process."""
    if stream is None:  # the process was started with the descriptor closed
        return _Sink(None)
    try:
        return None if stream.isatty() or stream.fileno() != descriptor else _Sink(descriptor)
    except (OSError, ValueError):
        return None


def _text(sink: _Sink | None, stream: TextIO | None) -> TextIO:
    if sink is None:
        assert stream is not None
        return stream
    if not isinstance(stream, io.TextIOWrapper):
        return io.TextIOWrapper(io.BufferedWriter(sink), encoding="utf-8", line_buffering=True)
    stream.flush()
    return io.TextIOWrapper(
        io.BufferedWriter(sink),
        encoding=stream.encoding,
        errors=stream.errors,
        line_buffering=stream.line_buffering or stream.write_through,  # stderr, where nothing waits for its end
    )
