"""Run the command line as a process, as a user does."""

import json
import os
import signal
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path
from subprocess import DEVNULL, PIPE, CompletedProcess, Popen

ROOT = Path(__file__).parents[2]
SFUMATO = Path(sys.executable).parent / "sfumato"
WARM = (sys.executable, "-m", "tests.e2e.warm")


def sfumato(*arguments, cwd, env=None, before=None):
    """Run `sfumato` and return the finished process; forked from one that is warm, where that is safe.

    `before` names a function (`module:function`) that the process calls first: it puts a fault somewhere.
    """
    environment = {k: v for k, v in os.environ.items() if k != "SFUMATO_SECRET"} | (env or {})
    command = [str(SFUMATO), *map(str, arguments)]
    warm = _warm()
    if warm is None and before is not None:
        faulty = [sys.executable, "-m", "tests.e2e.warm", before, *command[1:]]
        path = os.pathsep.join(filter(None, (str(ROOT), environment.get("PYTHONPATH"))))
        return subprocess.run(faulty, cwd=cwd, env=environment | {"PYTHONPATH": path}, capture_output=True, text=True)
    if warm is None:
        return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True)
    with tempfile.NamedTemporaryFile() as out, tempfile.NamedTemporaryFile() as err:
        asked = {"arguments": command[1:], "cwd": str(cwd), "env": environment, "out": out.name, "err": err.name}
        status = _answer(warm, asked | {"before": before})["status"]
        return CompletedProcess(command, status, *(Path(f.name).read_text() for f in (out, err)))


class Forked:
    """A server that was forked from a process that is warm, with what these tests use of `Popen`."""

    def __init__(self, warm, asked, heard):
        self.folder = tempfile.TemporaryDirectory()
        pipes = [str(Path(self.folder.name) / name) for name in ("out", "err")[: 1 + heard]]
        for pipe in pipes:
            os.mkfifo(pipe)
        self.warm, self.returncode = warm, None
        out, err = [*pipes, os.devnull][:2]
        self.pid = _answer(warm, asked | {"out": out, "err": err, "serves": True})["pid"]
        self.stdout, self.stderr = [*(os.fdopen(os.open(pipe, os.O_RDONLY), "rb") for pipe in pipes), None][:2]

    def send_signal(self, number):
        if self.returncode is None:
            os.kill(self.pid, number)

    def terminate(self):
        self.send_signal(signal.SIGTERM)

    def kill(self):
        self.send_signal(signal.SIGKILL)

    def poll(self):
        return self.returncode

    def wait(self, timeout=None):
        """Its exit status; it has the test's own time for its end."""
        if self.returncode is None:
            self.returncode = _answer(self.warm, {"ended": self.pid})["status"]
            self.folder.cleanup()
        return self.returncode


def begun(*arguments, cwd, env=None, heard=False):
    """A process of `sfumato` that runs; what it complains of is `heard` by a pipe."""
    environment = {k: v for k, v in os.environ.items() if k != "SFUMATO_SECRET"} | (env or {})
    stderr = PIPE if heard else DEVNULL
    command = [SFUMATO, *map(str, arguments)]
    return Popen(command, cwd=cwd, env=environment, stdin=DEVNULL, stdout=PIPE, stderr=stderr)


def serving(*arguments, cwd, env=None, heard=False):
    """The same forked from a process that is warm, as are its workers, where that is safe.

    Tests that look at the processes themselves, or at how they start, take `begun`.
    """
    warm = _warm()
    if warm is None:
        return begun(*arguments, cwd=cwd, env=env, heard=heard)
    environment = {k: v for k, v in os.environ.items() if k != "SFUMATO_SECRET"} | (env or {})
    asked = {"arguments": [*map(str, arguments)], "cwd": str(cwd), "env": environment}
    return Forked(warm, asked, heard)


def _answer(warm, asked):
    """What the process that commands are forked from says to one line."""
    try:
        warm.stdin.write(json.dumps(asked) + "\n")
        warm.stdin.flush()
        return json.loads(warm.stdout.readline())
    except BaseException:  # the test's time is over, say: its answer must not be taken for that of the next command
        _warm.cache_clear()
        os.killpg(warm.pid, signal.SIGKILL)  # and the command with it
        warm.communicate()
        raise


@cache
def _warm():
    """The process that commands are forked from; None where that would be unsafe: no fork, or threads in it."""
    if not hasattr(os, "fork"):
        return None
    alone = os.environ | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}  # BLAS starts threads when it is loaded
    started = Popen(WARM, cwd=ROOT, env=alone, stdin=PIPE, stdout=PIPE, text=True, start_new_session=True)
    return None if json.loads(started.stdout.readline())["threads"] else started


def output(*arguments, cwd):
    """The JSON object that a command prints."""
    done = sfumato(*arguments, "--json", cwd=cwd)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
