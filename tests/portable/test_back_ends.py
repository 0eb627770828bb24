import os
import subprocess
import sys

import pytest

from tests.portable.back_ends import BACK_ENDS, environment, taken

SHOW = """
import numpy, scipy.linalg, threadpoolctl
for library in threadpoolctl.threadpool_info():
    if library["internal_api"] == "openblas":
        print(library["architecture"], library["num_threads"])
"""
STANDS_FOR = {"Zen": {"Zen", "Haswell"}}
"""Builds of OpenBLAS that leave the code for a processor out take that of the like."""


@pytest.mark.few(2)
@pytest.mark.parametrize("name", BACK_ENDS)
def test_a_back_end_takes_effect(name):
    if name not in taken():
        pytest.skip("this processor cannot run it")
    under = {**os.environ, **environment(name)}
    done = subprocess.run([sys.executable, "-c", SHOW], env=under, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    if not done.stdout:
        pytest.skip("linear algebra is not from OpenBLAS here")
    wanted = BACK_ENDS[name]["OPENBLAS_CORETYPE"]
    for line in done.stdout.splitlines():
        kernels, threads = line.split()
        assert kernels in STANDS_FOR.get(wanted, {wanted})
        assert int(threads) <= int(BACK_ENDS[name]["threads"])
