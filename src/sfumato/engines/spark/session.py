"""Spark sessions of our own: where they may run, and what is asked of the cluster before any data go there."""

from __future__ import annotations

import ipaddress
import os
import re
import shutil
import subprocess
import sys
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import polars as pl

import sfumato
from sfumato.draws import Draws, Purpose, units
from sfumato.engines.claimed import Claimed
from sfumato.engines.spark.blobs import hashed
from sfumato.errors import DataError, FileError, MissingExtra

__all__ = ["Home", "asked", "known_draw", "local", "refuse_open", "refuse_open_session", "settings", "spark_size"]

_AUTHENTICATE = """spark.authenticate             true
spark.authenticate.secret      (a long random text, the same on all machines; not needed on yarn and Kubernetes)
spark.network.crypto.enabled   true"""
_ENCRYPTED = ("spark.network.crypto.enabled", "spark.ssl.rpc.enabled")
_LOCAL = re.compile(r"local(\[(\d+|\*)\])?")
_UNITS = {"B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12, "KIB": 2**10, "MIB": 2**20, "GIB": 2**30}


def local(master: str) -> bool:
    """Whether all of a cluster is reached on this machine alone.

    Examples
    --------
    >>> [local(m) for m in ("local[2]", "spark://127.0.0.1:7077", "spark://host:7077", "yarn")]
    [True, True, False, False]
    """
    if _LOCAL.fullmatch(master):
        return True
    if not master.startswith("spark://"):
        return False
    return all(_loopback(place.rpartition(":")[0].strip("[]")) for place in master[len("spark://") :].split(","))


def _loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def known_master(master: str) -> str:
    """Give a master's address back.

    Raises
    ------
    FileError
        Where it is none.
    """
    if _LOCAL.fullmatch(master) or master == "yarn" or re.fullmatch(r"(spark|k8s)://\S+", master):
        return master
    raise FileError("A Spark cluster is given as spark://HOST:PORT, local[N], yarn or k8s://ADDRESS.")


def refuse_open(master: str, set_to: Mapping[str, str]) -> None:
    """Refuse a cluster on the network whose connections are open to others.

    Parameters
    ----------
    master
        Its address.
    set_to
        Spark's settings as they are.

    Raises
    ------
    FileError
        With the lines to set.

    Examples
    --------
    >>> refuse_open("local[2]", {})
    >>> refuse_open("yarn", {"spark.authenticate": "true", "spark.network.crypto.enabled": "true"})
    """
    if local(master):
        return
    if _on(set_to, "spark.authenticate") and any(_on(set_to, name) for name in _ENCRYPTED):
        return
    raise FileError(
        "This cluster is not on this machine alone, and its connections are not authenticated and encrypted, so that "
        "others on the network could read data and secret. Set in spark-defaults.conf, here and on its machines:\n"
        + _AUTHENTICATE
    )


def refuse_open_session(session: Any) -> None:
    """Refuse somebody's session on such a cluster: what is drawn travels with our functions, whosever session it is.

    Raises
    ------
    FileError
        With the lines to set.
    """
    names = ("spark.authenticate", *_ENCRYPTED)
    refuse_open(session.conf.get("spark.master", ""), {name: session.conf.get(name, "false") for name in names})


def _on(set_to: Mapping[str, str], name: str) -> bool:
    return set_to.get(name, "false").strip().lower() == "true"


def spark_size(memory: str | int) -> str:
    """An amount of memory as Spark writes it, at least 512 MiB.

    Examples
    --------
    >>> [spark_size(m) for m in ("1GB", "2 GiB", 3 * 2**30)]
    ['953m', '2048m', '3072m']
    """
    return f"{max(size_of(memory) >> 20, 512)}m"


def size_of(memory: str | int) -> int:
    """Bytes of an amount of memory.

    Raises
    ------
    DataError
        Where it is none.
    """
    if isinstance(memory, int):
        return memory
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]?i?B)\s*", memory, re.IGNORECASE)
    if found is None or found[2].upper() not in _UNITS:
        raise DataError("An amount of memory is given as a number and a unit, for instance 1GB.")
    return int(float(found[1]) * _UNITS[found[2].upper()])


def settings(master: str, memory: str | int, folder: str) -> dict[str, str]:
    """Spark's settings for a session of our own. No secret of ours is in them."""
    size = spark_size(memory)
    one = dict.fromkeys(("POLARS_MAX_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")
    plain = {
        "spark.master": master,
        "spark.app.name": "sfumato",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.session.timeZone": "UTC",
        "spark.io.encryption.enabled": "true",
        "spark.sql.execution.arrow.maxRecordsPerBatch": "64",  # records are blobs of some MB
        "spark.sql.adaptive.coalescePartitions.parallelismFirst": "true",
        "spark.sql.warehouse.dir": str(Path(folder) / "warehouse"),
        "spark.executor.memory": size,
        "spark.driver.memory": size,
        "spark.local.dir": folder,
        **{f"spark.executorEnv.{name}": value for name, value in one.items()},
    }
    if local(master):
        plain |= {"spark.driver.bindAddress": "127.0.0.1", "spark.driver.host": "127.0.0.1"}
    return plain


class Home:
    """A session, and what was kept in it.

    Parameters
    ----------
    session
        The session.
    own
        Whether it is ours to stop.
    claimed
        The folder where it spills; removed at the end.
    """

    def __init__(self, session: Any, own: bool, claimed: Claimed | None = None) -> None:
        self.session, self.own, self.claimed = session, own, claimed
        self.kept: list[Any] = []
        self.closed = False

    def keep(self, frame: Any) -> Any:
        """Keep a frame's records on disk once they are made, until the end."""
        from pyspark import StorageLevel

        kept = frame.persist(StorageLevel.DISK_ONLY)
        self.kept.append(kept)
        return kept

    @property
    def cores(self) -> int:
        """How many tasks run at a time, as far as is known."""
        try:
            return max(int(self.session.sparkContext.defaultParallelism), 1)
        except Exception:  # a session that is reached through a server tells of no context
            return 4

    def close(self) -> None:
        """Leave nothing behind: what was kept goes, and a session of our own ends."""
        if self.closed:
            return
        self.closed = True
        for frame in self.kept:
            try:
                frame.unpersist()
            except Exception:  # the session ended before
                break
        if self.own:
            self.session.stop()
        if self.claimed is not None:
            self.claimed.remove()


def opened(master: str, memory: str | int, temp: str | None) -> Home:
    """Begin a session of our own.

    Raises
    ------
    MissingExtra
        Without the optional packages.
    FileError
        Without Java; where the cluster is not reached, or its connections are open to others.
    """
    known_master(master)
    try:
        import pandas  # noqa: F401
        from pyspark import SparkConf, SparkContext
        from pyspark.java_gateway import launch_gateway
        from pyspark.sql import SparkSession
    except ImportError:
        raise MissingExtra("Spark", "spark") from None
    java = Path(os.environ["JAVA_HOME"]) / "bin" / "java" if os.environ.get("JAVA_HOME") else shutil.which("java")
    if java is None or not Path(java).exists():
        raise FileError(
            "Spark needs Java 17, which is not here. Install it with: apt-get install openjdk-17-jre-headless"
        )
    if SparkContext._active_spark_context is not None:
        raise FileError("A Spark session runs in this process already. Read one of its frames instead of a folder.")
    claimed = Claimed("sfumato-spark-", temp)
    ready = False
    try:
        wanted = settings(master, memory, str(claimed.path))
        with _python(local(master)), asked():
            conf = SparkConf(loadDefaults=False)
            conf.setAll(list(wanted.items()))
            try:
                if SparkContext._gateway is None:
                    SparkContext._ensure_initialized(gateway=launch_gateway(conf, _unheard()), conf=conf)
                refuse_open(master, {**dict(SparkConf().getAll()), **wanted})
                session = SparkSession.builder.config(map=wanted).getOrCreate()
                session.sparkContext.setLogLevel("OFF")
            except FileError:
                raise
            except Exception:
                session = None
            if session is None:
                raise FileError(f"No session of Spark could begin at {master}. Look at whether the cluster runs.")
        ready = True
        return Home(session, True, claimed)
    finally:
        if not ready:
            claimed.remove()


def _unheard() -> dict[str, Any]:
    """How Java is started: what it prints, which may hold cells, is heard by nobody but those who look for a fault."""
    return {} if os.environ.get("SFUMATO_DEBUG") else {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}


@contextmanager
def _python(here: bool) -> Iterator[None]:
    """Have workers on this machine run the Python that runs here."""
    names = ("PYSPARK_PYTHON", "PYSPARK_DRIVER_PYTHON")
    before = {name: os.environ.get(name) for name in names}
    if here:
        os.environ.update(dict.fromkeys(names, sys.executable))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


@contextmanager
def asked() -> Iterator[None]:
    """Hear no warning of Spark's about the versions of libraries."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def known_draw() -> dict[str, str]:
    """What workers must have as the driver has it: versions, one known draw, and how keys are divided."""
    draw = Draws(bytes(32)).words(units([1, "a"]), Purpose("probe"))
    keys = pl.DataFrame({"a": ["a", None, "b"], "x": [-0.0, 1.5, None]})
    return {
        "sfumato": sfumato.__version__,
        "polars": pl.__version__,
        "python": ".".join(map(str, sys.version_info[:2])),
        "draws": str(draw.tolist()),
        "keys": str(hashed(keys, ["a", "x"], 1 << 20).to_list()),
    }
