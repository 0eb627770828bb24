"""Run many commands in one process, one after another: a fraction of the time that a process for each would take.

stdout and stderr are caught below Python, so that what compiled libraries print is caught too, and warnings are shown
as a user would see them. `python -m tests.e2e.many` reads commands as JSON and prints what came of them.
"""

import json
import os
import subprocess
import sys
import tempfile
import traceback
import warnings
from dataclasses import asdict, dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[2]
SECRETIVE = ("SFUMATO_SECRET", "SFUMATO_DEBUG")


@dataclass
class Command:
    """A command, the folder it runs in, and, when it has run, what came of it."""

    folder: str
    arguments: tuple[str, ...]
    environment: dict[str, str] = field(default_factory=dict)
    fault: str | None = None  # what a fault of sfumato's own, in the middle of `centroids`, would say
    status: int | None = None
    out: str = ""
    err: str = ""


def run_many(commands):
    """Run commands in order; each then has its status and what it printed."""
    environment = {k: v for k, v in os.environ.items() if k not in SECRETIVE} | {"COLUMNS": "200"}
    done = subprocess.run(
        [sys.executable, "-m", "tests.e2e.many"],
        input=json.dumps([asdict(c) for c in commands]),
        env=environment,
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    for command, result in zip(commands, json.loads(done.stdout), strict=True):
        command.status, command.out, command.err = result


def _run(command):
    """One command as the command line runs it; its exit status, 99 where an exception came through."""
    import sfumato.methods.centroids.stages as stages
    from sfumato.cli import main

    def broken(*given, **named):
        raise ValueError(command.fault)

    os.chdir(command.folder)
    for name in SECRETIVE:
        os.environ.pop(name, None)
    os.environ.update(command.environment)
    sys.argv = ["sfumato", *command.arguments]
    sound = stages.nearest_groups
    try:
        if command.fault:
            stages.nearest_groups = broken
        main()
    except SystemExit as left:
        return left.code or 0
    except BaseException:
        traceback.print_exc()
        return 99
    finally:
        stages.nearest_groups = sound
    return 0


def _caught(command):
    """Run a command with file descriptors 1 and 2 turned away into files."""
    kept = os.dup(1), os.dup(2)
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        os.dup2(out.fileno(), 1)
        os.dup2(err.fileno(), 2)
        status = _run(command)
        sys.stdout.flush()
        sys.stderr.flush()
        for descriptor, back in enumerate(kept, start=1):
            os.dup2(back, descriptor)
            os.close(back)
        out.seek(0)
        err.seek(0)
        return status, out.read().decode(), err.read().decode()


if __name__ == "__main__":
    warnings.simplefilter("always")
    given = [Command(**case) for case in json.load(sys.stdin)]
    print(json.dumps([_caught(command) for command in given]))
