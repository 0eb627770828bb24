"""The example of a plug-in, as somebody would begin with it: copied, installed, tested."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parents[2] / "examples" / "plugin"
PIP = ["pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "--no-build-isolation", "--no-index"]


def run(*command, cwd, **env):
    done = subprocess.run(
        [sys.executable, "-m", *command], cwd=cwd, env=os.environ | env, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.slow
def test_the_example_is_installed_and_keeps_the_laws(tmp_path):
    copied = shutil.copytree(EXAMPLE, tmp_path / "plugin")
    run(*PIP, "--target", str(tmp_path / "site"), ".", cwd=copied)
    own = {"PYTHONPATH": str(tmp_path / "site")}
    printed = run("pytest", "-q", "-p", "no:randomly", "-p", "no:cacheprovider", "--doctest-modules", cwd=copied, **own)
    assert "passed" in printed
    named = {one["name"] for one in json.loads(run("sfumato", "methods", "--json", cwd=tmp_path, **own))["methods"]}
    assert "round_to" in named
    listed = json.loads(run("sfumato", "measures", "--json", cwd=tmp_path, **own))
    assert "values_left" in {one["name"] for one in listed["measures"]}
    assert listed["failed"] == []
