"""A Spark cluster on this machine's loopback: a master and two workers of one core, ended when it is left."""

import os
import re
import subprocess
import sys
import time
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil

QUICK = {"JAVA_TOOL_OPTIONS": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"}
"""Java that is started sooner: what runs for minutes is not worth its second compiler."""


class Cluster:
    def __init__(self, folder):
        import pyspark

        self.folder = Path(folder)
        self.run = Path(pyspark.__file__).parent / "bin" / "spark-class"
        self.address = None
        self.started = []

    def start(self, name, *options):
        environment = {**os.environ, **QUICK, "SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable}
        with (self.folder / f"{name}.log").open("wb") as log:
            self.started.append(
                subprocess.Popen([self.run, *options], stdout=log, stderr=log, env=environment, cwd=self.folder)
            )

    def begin(self):
        """On ports that the system gives and nobody else can have taken meanwhile."""
        deploy, free = "org.apache.spark.deploy", ("--webui-port", "0")
        self.start("master", f"{deploy}.master.Master", "--host", "127.0.0.1", "--port", "0", *free)
        (self.address,) = self.told(r"Starting Spark master at (spark://127\.0\.0\.1:\d+)", 1)
        for i in (1, 2):
            place = ("--host", "127.0.0.1", "-c", "1", "-m", "1g", "-d", str(self.folder / f"work{i}"))
            self.start(f"worker{i}", f"{deploy}.worker.Worker", *place, *free, self.address)
        self.told("Registering worker", 2)

    def told(self, pattern, times):
        """What the master has logged so often; the limit of the test is the limit here."""
        while len(found := re.findall(pattern, (self.folder / "master.log").read_text())) < times:
            assert all(one.poll() is None for one in self.started), "the cluster did not begin"
            time.sleep(0.1)
        return found

    def executors(self):
        """Processes that run tasks."""
        found = []
        for worker in self.started[1:]:
            for child in psutil.Process(worker.pid).children(recursive=True):
                with suppress(psutil.Error):  # one that ended
                    if any("CoarseGrainedExecutorBackend" in part for part in child.cmdline()):
                        found.append(child)
        return found

    def said(self):
        """All that its machines wrote."""
        return [path for path in self.folder.rglob("*") if path.is_file()]

    def end(self):
        for process in reversed(self.started):
            process.terminate()
        for process in self.started:
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()


@contextmanager
def cluster(folder):
    made = Cluster(folder)
    try:
        made.begin()
        yield made
    finally:
        made.end()


@contextmanager
def error_output(path):
    """Have this process, and what it starts, write its errors into a file."""
    before = os.dup(2)
    with open(path, "ab") as file:
        os.dup2(file.fileno(), 2)
    try:
        yield
    finally:
        os.dup2(before, 2)
        os.close(before)
