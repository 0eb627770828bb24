"""Compile a numerical loop with numba at its first call, and keep what was compiled for later processes.

It is kept in a folder of this user's (`SFUMATO_CACHE`, or what the system has for such things), apart for each version
of this package, of Python and of numba, and goes by what the loop, and those that it calls, say: a file that is written
anew with the same content is no other. What is kept is code that runs as whoever loads it; so nothing is read from a
folder that anybody else may write to.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import stat
import sys
import tempfile
import threading
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any, TypeVar, cast

from sfumato.errors import SfumatoWarning

__all__ = ["compiled", "folder"]

F = TypeVar("F", bound=Callable[..., Any])

_CONSTANTS = (bool, int, float, str, tuple)
_PATIENCE = 300.0
"""Seconds to wait for a loop that another process compiles; after that it is compiled here as well."""


@functools.cache
def folder() -> Path | None:
    """Where compiled loops are kept; None, and a warning, where no folder of this user's can be had.

    `SFUMATO_CACHE` names the folder above it.
    """
    from importlib.metadata import version

    import numba

    named = os.environ.get("SFUMATO_CACHE")
    above = Path(named) if named else _of_this_user()
    made = above / "compiled" / f"{version('sfumato')}-{sys.implementation.cache_tag}-{numba.__version__}"
    try:
        for one in (made.parent, made):
            one.mkdir(mode=0o700, parents=True, exist_ok=True)
            if not _own(one):
                raise PermissionError
        tempfile.TemporaryFile(dir=made).close()
    except OSError:
        warnings.warn(
            "There is no folder that compiled loops could be kept in, and that nobody else may write to: they are "
            "compiled anew by every process, which takes up to a minute. SFUMATO_CACHE names another folder.",
            SfumatoWarning,
            stacklevel=2,
        )
        return None
    return made


def _of_this_user() -> Path:
    import platformdirs

    return Path(platformdirs.user_cache_dir("sfumato"))


def _own(path: Path) -> bool:
    """Whether a folder is this user's, and nobody else may write to it; where systems tell such things."""
    if not hasattr(os, "getuid"):
        return True
    told = path.lstat()
    return stat.S_ISDIR(told.st_mode) and told.st_uid == os.getuid() and not told.st_mode & 0o022


def compiled(f: F) -> F:
    """Compile `f` at its first call (numba, nopython, kept, releases the interpreter lock).

    Two processes do not compile one loop at once: the second waits, and takes what the first has made.

    Examples
    --------
    >>> import numpy as np
    >>> from sfumato.kernels.compiled import compiled
    >>> @compiled
    ... def total(values):
    ...     out = 0.0
    ...     for value in values:
    ...         out += value
    ...     return out
    >>> total(np.array([1.5, 2.0]))
    3.5
    """
    return cast(F, Loop(cast(FunctionType, f)))


_MAKING = threading.RLock()


class Loop:
    """A loop that is to be compiled: numba is loaded when the first of them is called, and not before.

    Parameters
    ----------
    f
        The loop. Where it calls others, their compiled forms stand in their place in its module from then on.
    """

    def __init__(self, f: FunctionType) -> None:
        functools.update_wrapper(self, f)
        self.py_func = f
        self._made: Any = None

    def __call__(self, *arguments: Any) -> Any:
        """Call the compiled form."""
        return (self._made or self.made())(*arguments)

    def made(self) -> Any:
        """The compiled form."""
        with _MAKING:
            if self._made is None:
                made = _dispatcher(self.py_func)
                known = self.py_func.__globals__
                for name in _names(self.py_func.__code__):
                    called = known.get(name)
                    if isinstance(called, Loop):
                        known[name] = made if called is self else called.made()
                self._made = made
            return self._made


def _dispatcher(f: FunctionType) -> Any:
    """What numba makes of a loop, with a place of ours for what is kept."""
    import numba
    from numba.core.compiler_lock import global_compiler_lock

    loop = numba.njit(nogil=True)(f)
    compile_it = loop.compile
    kept: Any = None

    def compile_once(signature: Any) -> Any:
        nonlocal kept
        with global_compiler_lock:
            if kept is None and _in_a_file(f) and (where := folder()) is not None:
                kept = loop._cache = _keeping()(f, where / f.__module__)
            try:
                return compile_it(signature)
            finally:
                if kept is not None:
                    kept.let_go()

    loop.compile = compile_once
    return loop


def _in_a_file(f: FunctionType) -> bool:
    return Path(f.__code__.co_filename).is_file()


@functools.cache
def _keeping() -> Any:
    """The class of what keeps the compiled forms of a loop: numba's own, with a place and a stamp of ours."""
    from numba.core.caching import CompileResultCacheImpl, FunctionCache, _CacheLocator

    class Place(_CacheLocator):  # type: ignore[misc]
        def __init__(self, f: FunctionType, where: Path) -> None:
            self._f, self._where = f, where
            self._py_file = f.__code__.co_filename

        def get_cache_path(self) -> str:
            return str(self._where)

        def get_source_stamp(self) -> str:
            return _stamp(self._f)

        def get_disambiguator(self) -> str:
            return str(self._f.__code__.co_firstlineno)

    class Keeping(FunctionCache):  # type: ignore[misc]
        def __init__(self, f: FunctionType, where: Path) -> None:
            place = Place(f, where)

            class Here(CompileResultCacheImpl):  # type: ignore[misc]
                _locator_classes = (type("Here", (), {"from_function": staticmethod(lambda f, path: place)}),)

            self._impl_class = Here
            super().__init__(f)
            self._alone: Any = None
            self._file = where / f"{f.__qualname__}.lock"

        def load_overload(self, sig: Any, target_context: Any) -> Any:
            found = super().load_overload(sig, target_context)
            if found is None and self._alone is None:
                self._wait()
                found = super().load_overload(sig, target_context)
            return found

        def _wait(self) -> None:
            """Be the one that compiles it."""
            import filelock

            self._file.parent.mkdir(mode=0o700, exist_ok=True)
            self._alone = filelock.FileLock(self._file, timeout=_PATIENCE)
            try:
                self._alone.acquire()
            except (OSError, NotImplementedError):  # it takes too long, or the file system knows no locks
                self._alone = None

        def save_overload(self, sig: Any, data: Any) -> None:
            with contextlib.suppress(OSError):  # a full disk keeps nobody from working with what is compiled
                super().save_overload(sig, data)

        def let_go(self) -> None:
            if self._alone is not None:
                self._alone.release()
                self._alone = None

    return Keeping


def _stamp(f: FunctionType) -> str:
    """What a compiled form depends on: the files of a loop and of those that it calls, and the constants in them."""
    told = hashlib.sha256()
    for part in sorted(set(_parts(f, set()))):
        told.update(part.encode() + b"\0")
    return told.hexdigest()


def _parts(f: FunctionType, seen: set[FunctionType]) -> Iterator[str]:
    if f in seen:
        return
    seen.add(f)
    yield _content(f.__code__.co_filename)
    for name in _names(f.__code__):
        value = f.__globals__.get(name)
        if isinstance(value, _CONSTANTS):
            yield f"{name} = {value!r}"
        elif isinstance(called := getattr(value, "py_func", None), FunctionType):  # of ours, or of numba by now
            yield from _parts(called, seen)


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from _names(inner)


@functools.cache
def _content(path: str) -> str:
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()
