import os
import subprocess
import sys

import pytest

SCRIPT = """
import os
real = os.access
os.access = lambda path, mode, **k: False if mode == os.W_OK else real(path, mode, **k)
import numpy as np
from sfumato.kernels.neighbours.mdav import mdav
print(mdav(np.array([[0.0], [0.1], [5.0], [5.1]]), 2).tolist())
print(os.environ["NUMBA_CACHE_DIR"])
"""


@pytest.mark.slow
def test_an_unwritable_package_folder_is_no_hindrance(tmp_path):
    environment = {k: v for k, v in os.environ.items() if k != "NUMBA_CACHE_DIR"} | {"TMPDIR": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    groups, folder = done.stdout.splitlines()
    assert groups == "[0, 0, 1, 1]"
    assert folder.startswith(str(tmp_path))
