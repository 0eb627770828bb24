"""Run many commands in one process, one after another: a fraction of the time that a process for each would take.

stdout and stderr are caught below Python, so that what compiled libraries print is caught too, and warnings are shown
as a user would see them. The process is one of `tests.e2e.command`, of which `run_all` makes the process of many.
"""

import json
import os
import sys
import tempfile
import traceback
import warnings
from dataclasses import asdict, dataclass, field
from pathlib import Path

from sfumato.render import plots
from tests.e2e.command import sfumato
from tests.e2e.sketching import sketch

ROOT = Path(__file__).parents[2]
SECRETIVE = ("SFUMATO_SECRET", "SFUMATO_DEBUG")


@dataclass
class Command:
    """A command, the folder it runs in, and, when it has run, what came of it."""

    folder: str
    arguments: tuple[str, ...]
    environment: dict[str, str] = field(default_factory=dict)
    fault: str | None = None  # what a fault of sfumato's own, in the middle of `centroids`, would say
    drawn: bool = True  # whether pictures are drawn, or are sketches
    status: int | None = None
    out: str = ""
    err: str = ""


def run_many(commands):
    """Run commands in order; each then has its status and what it printed."""
    with tempfile.TemporaryDirectory() as folder:
        given, came = Path(folder, "given.json"), Path(folder, "came.json")
        given.write_text(json.dumps([asdict(c) for c in commands]))
        done = sfumato(given, came, cwd=ROOT, env={"COLUMNS": "200"}, before="tests.e2e.many:run_all")
        assert done.returncode == 0, done.stderr
        results = json.loads(came.read_text())
    for command, result in zip(commands, results, strict=True):
        command.status, command.out, command.err = result


def run_all():
    """Run the commands of one file, write what came of them into the other, and leave."""
    given, came = map(Path, sys.argv[1:])
    warnings.simplefilter("always")
    results = [_caught(Command(**case)) for case in json.loads(given.read_text())]
    came.write_text(json.dumps(results))
    sys.exit(0)


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
    sound, draw = stages.nearest_groups, plots.draw
    try:
        if command.fault:
            stages.nearest_groups = broken
        if not command.drawn:
            sketch()
        main()
    except SystemExit as left:
        return left.code or 0
    except BaseException:
        traceback.print_exc()
        return 99
    finally:
        stages.nearest_groups, plots.draw = sound, draw
    return 0


def _caught(command):
    """Run a command with file descriptors 1 and 2 turned away into files."""
    kept = os.dup(1), os.dup(2)
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        os.dup2(out.fileno(), 1)
        os.dup2(err.fileno(), 2)
        for descriptor, name in ((1, "stdout"), (2, "stderr")):  # as at the start of a process
            setattr(sys, name, os.fdopen(descriptor, "w", 1, "utf-8", closefd=False))
        status = _run(command)
        sys.stdout.flush()
        sys.stderr.flush()
        for descriptor, back in enumerate(kept, start=1):
            os.dup2(back, descriptor)
            os.close(back)
        out.seek(0)
        err.seek(0)
        return status, out.read().decode(), err.read().decode()
