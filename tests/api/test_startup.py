"""What is loaded before anything is done: counted in modules, for time differs between machines."""

import subprocess
import sys
from importlib.metadata import entry_points

PLAN = "sfumato: 1\nsteps:\n  - {do: drop, columns: [name]}\n"
MOST = 230
"""Most modules of ours that `sf.protect` may load."""
LATER = {"duckdb", "llvmlite", "matplotlib", "numba", "pyarrow", "scipy.linalg", "scipy.special"}
"""What is loaded when something needs it: `protect` of a table in memory may not."""


def loaded(code):
    """The modules that a fresh process has loaded after `code`."""
    show = f"{code}\nimport sys\nprint(*sys.modules, sep='\\n')"
    done = subprocess.run([sys.executable, "-c", show], capture_output=True, text=True, check=True)
    return set(done.stdout.split("\n"))


def test_protect_is_at_hand_without_most_of_the_rest():
    modules = loaded("import sfumato as sf; sf.protect")
    assert len({name for name in modules if name.partition(".")[0] == "sfumato"}) <= MOST
    assert LATER & modules == set()


def test_a_plan_loads_the_methods_that_it_names_alone():
    modules = loaded(f"from sfumato.plan.plan import Plan; Plan.from_yaml({PLAN!r})")
    homes = {entry.module for entry in entry_points(group="sfumato.methods")}
    assert "sfumato.methods.noise" in homes
    assert modules & homes == {"sfumato.methods.drop"}
