"""A process that has imported everything and used what is slow at first; of it a child becomes each command line.

What a test sees is a process of its own, with its own folder, environment, streams and exit status. What it does not
pay for is importing the libraries anew and loading compiled loops, which takes longer than most commands. Nothing here
may start threads, for they do not survive a fork; so no table is made, and the caller looks whether any are there.

`python -m tests.e2e.warm` reads one JSON object a line (`arguments`, `cwd`, `env`, `out`, `err`, `before`), prints its
status. Where it has `serves` as well it prints the child's `pid` at once; `{"ended": pid}` waits for its status.
`python -m tests.e2e.warm module:function ARGUMENTS` is one such command line, after the function.
"""

import gc
import importlib
import json
import multiprocessing
import os
import pkgutil
import signal
import sys
import tempfile
import traceback
import warnings
from itertools import pairwise
from multiprocessing import forkserver
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import patch

import sfumato

MODULES = (
    "sfumato.cli.app",
    "jinja2",
    "matplotlib.backends.backend_svg",
    "pyarrow.csv",
    "rich.progress",
    "ruamel.yaml",
    "scipy.optimize",
    "scipy.stats",
)
"""What is imported beside every module of sfumato."""


HARMLESS = {"jemalloc_bg_thd", "polars-ooc-clea"}
"""Threads that give memory back: allocators start their own again after a fork."""


def _threads():
    """Names of the threads beside the main one, as far as the system tells."""
    tasks = Path("/proc/self/task")
    found = tasks.iterdir() if tasks.is_dir() else ()
    return {(task / "comm").read_text().strip() for task in found if task.name != str(os.getpid())}


def _load():
    """Import everything, and use what is slow at first."""
    for name in (*MODULES, *(found.name for found in pkgutil.walk_packages(sfumato.__path__, "sfumato."))):
        importlib.import_module(name)
    _use()


def _use():
    """Draw a picture and load the compiled loops that every release, or many a table, needs."""
    import numpy as np
    import scipy.sparse as sp

    from sfumato.cli.app import command_line
    from sfumato.kernels.boosted_trees import boosted_scores
    from sfumato.kernels.inversion.invert import Kept, invert
    from sfumato.kernels.tabular.attacker import propagated
    from sfumato.kernels.tabular.determined import motions
    from sfumato.kernels.tabular.elimination import eliminate, inner_sums
    from sfumato.measures.risk.linkage import linkage_nearest, linkage_one_to_one
    from sfumato.render.plots import draw
    from sfumato.report.picture import Distribution

    x = np.linspace(0.0, 1.0, 80).reshape(40, 2)
    for values in (x, x[:, :1]):
        invert(values, np.zeros(40, dtype=np.int64), 3, Kept())
    linkage_nearest(x, x + 0.01)
    linkage_one_to_one(x, x + 0.01)
    boosted_scores(x, np.arange(40) % 2.0, np.arange(40) < 30, [False, False], rounds=1)
    row, first = sp.csr_array([[-1, 1, 1, 1]]), np.array([False, True, False, False])
    eliminate(inner_sums(row), first, np.array([0, 2, 3]))
    motions(row, first)
    propagated(row, np.array([-0.5]), np.array([0.5]), np.zeros(4), np.full(4, 9.0))
    command_line()
    draw(Distribution("age", (0.0, 10.0, 20.0), (12.0, 11.0), (11.0, 12.0)), "p1")


def main():
    """Serve commands until stdin ends."""
    warnings.simplefilter("default")
    _load()
    gc.freeze()  # no child searches these for garbage, and so copies them
    print(json.dumps({"threads": sorted(_threads() - HARMLESS)}), flush=True)
    for line in sys.stdin:
        asked = json.loads(line)
        if "ended" in asked:
            print(json.dumps({"status": _status(asked["ended"])}), flush=True)
            continue
        if serves := asked.pop("serves", False):
            with patch("multiprocessing.util.spawnv_passfds", _forked):
                forkserver.ensure_running()
        child = os.fork()
        if child == 0:
            _become(**asked, serves=serves)
        print(json.dumps({"pid": child} if serves else {"status": _status(child)}), flush=True)


def _status(child):
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def _at(cwd, env, out, err):
    """Be in a folder and an environment, with streams of one's own."""
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(env)
    tempfile.tempdir = None  # it depends on the environment
    for descriptor, path in ((0, os.devnull), (1, out), (2, err)):
        opened = os.open(path, os.O_RDWR)
        os.dup2(opened, descriptor)
        os.close(opened)


def _forked(python, command, kept):
    """A child that runs the code of a command line of Python, with these descriptors."""
    if child := os.fork():
        return child
    try:
        for begin, end in pairwise([2, *sorted(kept), os.sysconf("SC_OPEN_MAX")]):
            os.closerange(begin + 1, end)
        exec(command[-1])  # noqa: S102 - of the standard library
    finally:
        os._exit(0)


def _fork_workers(err):
    """Let processes that a server would spawn be forked from one that is warm as well."""
    forkserver._forkserver.ensure_running = lambda: None  # its parent looks after it
    forking = multiprocessing.get_context("forkserver")

    def process(*, target, args, **more):
        place = (str(Path.cwd()), dict(os.environ), os.devnull, err)
        return forking.Process(target=_elsewhere, args=(place, target, args), **more)

    multiprocessing.get_context = lambda _: SimpleNamespace(Pipe=forking.Pipe, Process=process)


def _elsewhere(place, target, arguments):
    _at(*place)
    target(*arguments)


def _become(arguments, cwd, env, out, err, before=None, serves=False):
    """Be the command line: never returns."""
    status = 99
    try:
        _at(cwd, env, out, err)
        if serves:
            _fork_workers(err)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        sys.argv = ["sfumato", *arguments]
        sys.modules["__main__"].__spec__ = None  # or usage would name this module
        _run(before)
        status = 0
    except SystemExit as left:
        status = left.code or 0
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


def _run(before):
    if before is not None:
        module, _, function = before.partition(":")
        getattr(importlib.import_module(module), function)()
    from sfumato.cli import main as command_line

    command_line()


if __name__ == "__main__" and len(sys.argv) > 1:
    named, sys.argv = sys.argv[1], ["sfumato", *sys.argv[2:]]
    _run(named)
elif __name__ == "__main__":
    main()
    os._exit(0)
