"""Run the command line as a process, as a user does."""

import json
import os
import subprocess
import sys
from pathlib import Path

SFUMATO = Path(sys.executable).parent / "sfumato"


def sfumato(*arguments, cwd, env=None):
    """Run `sfumato` and return the finished process."""
    environment = {k: v for k, v in os.environ.items() if k != "SFUMATO_SECRET"} | (env or {})
    command = [str(SFUMATO), *map(str, arguments)]
    return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True)


def output(*arguments, cwd):
    """The JSON object that a command prints."""
    done = sfumato(*arguments, "--json", cwd=cwd)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
