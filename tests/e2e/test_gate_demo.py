"""The demo over a million patients stays within a gigabyte."""

import json
import re
import signal
import subprocess
from pathlib import Path

import pytest

from tests.e2e.command import SFUMATO

pytestmark = pytest.mark.slow
STATUS = Path("/proc/self/status")


@pytest.mark.skipif(not STATUS.exists(), reason="the most memory a process had is told by Linux alone")
def test_a_million_patients_fit_into_a_gigabyte():
    command = [SFUMATO, "serve", "--demo", "--records", "1000000", "--port", "0", "--json"]
    started = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    told = json.loads(started.stdout.readline())
    most = re.search(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{started.pid}/status").read_text())
    started.send_signal(signal.SIGTERM)
    assert started.wait(20) == 0
    started.stdout.close()
    assert told["dataset"] == "warehouse"
    assert int(most[1]) <= 1 << 20
