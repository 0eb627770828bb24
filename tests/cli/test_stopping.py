import os
import signal
import subprocess
import sys

import pytest

from sfumato.cli import STOPPED

SCRIPT = """
import signal, sys, time
from pathlib import Path
from sfumato.cli.stopping import Stopping
from sfumato.data.files.atomic import replacing

for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):  # whatever the tests were started to ignore
    signal.signal(number, signal.SIG_DFL)
how, target = sys.argv[1], Path(sys.argv[2])
stopping = Stopping()
stopping.catch()

def work():
    print("ready", flush=True)
    for _ in range(600):  # a signal that comes just before a sleep begins is looked at when it ends
        time.sleep(0.1)

if how == "computing":
    work()
elif how == "writing":
    try:
        with replacing(target) as temporary:
            temporary.write_text("half")
            work()
    except KeyboardInterrupt:
        assert stopping.asked
    time.sleep(60)
elif how == "losing it while computing":
    while True:
        try:
            work()
        except BaseException:
            pass
elif how == "losing it while writing":
    with replacing(target) as temporary:
        try:
            work()
        except BaseException:
            temporary.write_text("whole")
    time.sleep(60)
elif how == "over":
    stopping.over()
    print("ready", flush=True)
    sys.stdin.read()
"""


@pytest.mark.few(2)
@pytest.mark.parametrize(
    ("how", "number", "status", "left"),
    [
        ("computing", signal.SIGTERM, 130, []),
        ("writing", signal.SIGINT, 130, []),
        ("writing", signal.SIGTERM, 130, []),
        ("writing", signal.SIGHUP, 130, []),
        ("losing it while computing", signal.SIGTERM, 130, []),
        ("losing it while writing", signal.SIGTERM, 130, ["a.csv"]),
        ("over", signal.SIGTERM, 0, []),
    ],
)
def test_a_stopped_process_says_one_line_and_leaves_nothing_half_written(tmp_path, how, number, status, left):
    command = [sys.executable, "-c", SCRIPT, how, str(tmp_path / "a.csv")]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout.readline() == "ready\n"
        process.send_signal(number)
        try:
            _, told = process.communicate(timeout=50)
        finally:
            process.kill()
    assert process.returncode == status
    assert told == (f"{STOPPED}\n" if status else "")
    assert os.listdir(tmp_path) == left


def test_signals_that_were_ignored_before_stay_so():
    """As `nohup` does, and shells for what they run in the background."""
    script = """
import signal
signal.signal(signal.SIGHUP, signal.SIG_IGN)
from sfumato.cli.stopping import Stopping
Stopping().catch()
assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
signal.raise_signal(signal.SIGHUP)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
