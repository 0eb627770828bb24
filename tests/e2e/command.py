"""Run the command line as a process, as a user does."""

import json
import os
import signal
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path
from subprocess import PIPE, CompletedProcess, Popen

ROOT = Path(__file__).parents[2]
SFUMATO = Path(sys.executable).parent / "sfumato"


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
        asked["before"] = before
        try:
            warm.stdin.write(json.dumps(asked) + "\n")
            warm.stdin.flush()
            status = json.loads(warm.stdout.readline())["status"]
        except BaseException:  # the test's time is over, say: its answer must not be taken for that of the next command
            _warm.cache_clear()
            os.killpg(warm.pid, signal.SIGKILL)  # and the command with it
            warm.communicate()
            raise
        return CompletedProcess(command, status, *(Path(f.name).read_text() for f in (out, err)))


@cache
def _warm():
    """The process that commands are forked from; None where that would be unsafe: no fork, or threads in it."""
    if not hasattr(os, "fork"):
        return None
    alone = os.environ | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}  # BLAS starts threads when it is loaded
    asked = [sys.executable, "-m", "tests.e2e.warm"]
    started = Popen(asked, cwd=ROOT, env=alone, stdin=PIPE, stdout=PIPE, text=True, start_new_session=True)
    return None if json.loads(started.stdout.readline())["threads"] else started


def output(*arguments, cwd):
    """The JSON object that a command prints."""
    done = sfumato(*arguments, "--json", cwd=cwd)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
