"""Run as a process: this system without what Windows lacks, and in it all modules and the commands in a row.

It takes away names; how Windows treats files that are open, signals and paths is not to be seen here.
"""

import importlib
import multiprocessing.connection  # noqa: F401
import os
import pkgutil
import subprocess  # noqa: F401
import sys
import tempfile  # noqa: F401

import filelock  # noqa: F401 - the libraries that have a part of their own for Windows take this system's here
import platformdirs.unix  # noqa: F401

MODULES = ("fcntl", "resource", "pwd", "grp", "termios", "pty")
NAMES = ("fork", "forkpty", "getuid", "geteuid", "O_NOFOLLOW")


class Finder:
    """Refuses to find the modules, ahead of all other finders."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        if name in MODULES:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


def take_away():
    sys.meta_path.insert(0, Finder)
    for name in MODULES:
        sys.modules.pop(name, None)
    for name in NAMES:
        if hasattr(os, name):
            delattr(os, name)


def import_all(package):
    """Import every module; those may be missing that need a library which is not installed."""
    for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        try:
            importlib.import_module(found.name)
        except ModuleNotFoundError as error:
            top = (error.name or "").partition(".")[0]
            if top in (*MODULES, package.__name__) or top in sys.stdlib_module_names:
                raise
            print("left out:", found.name, error.name)


def run(*arguments):
    """The command line in this process; the streams are its own again afterwards."""
    from sfumato.cli import main

    streams, descriptor = (sys.stdout, sys.stderr), os.dup(1)
    sys.argv = ["sfumato", *arguments]
    try:
        main()
    except SystemExit as left:
        if left.code != 0:
            raise RuntimeError(arguments, left.code) from None
    finally:
        sys.stdout.flush()
        sys.stdout, sys.stderr = streams
        os.dup2(descriptor, 1)
        os.close(descriptor)


if __name__ == "__main__":
    take_away()
    import sfumato

    import_all(sfumato)
    for command in sys.argv[1:]:
        run(*command.split())
