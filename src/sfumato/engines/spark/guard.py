"""What fails on a worker is told in our own words or not at all: libraries quote cells, and Spark copies their words.

A worker's error goes to the driver's output, to the worker's files and to the event log. So an error there is caught,
and one is raised afresh that holds a sentence of ours, or the bare class of the error.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator
from typing import TypeVar

from sfumato import errors
from sfumato.errors import DataError, SfumatoError

__all__ = ["StoppedOnWorker", "guarded", "silenced", "told"]

T = TypeVar("T")
_MARK = "sfumato-worker-says"
_SAID = re.compile(_MARK + r"(\{.*?\})" + _MARK, re.DOTALL)
_KNOWN = ("DataError", "EmptyRelease", "FileError", "FormulaError", "SecretError")


class StoppedOnWorker(RuntimeError):
    """What a worker raises; it has no cause, and nothing of the data in its text."""


def guarded(work: Callable[[], Iterator[T]]) -> Iterator[T]:
    """Run what makes records on a worker, and tell of an error only what may be told.

    Parameters
    ----------
    work
        Makes the records.

    Raises
    ------
    StoppedOnWorker
        In place of any error. Its text is read by `told`.

    Examples
    --------
    >>> def fails():
    ...     yield int("a cell")
    >>> try:
    ...     list(guarded(fails))
    ... except StoppedOnWorker as error:
    ...     print(told(error))
    Spark's workers stopped with ValueError. What it said is not shown, as it may hold values of the data.
    """
    silenced()
    said: tuple[str, str]
    try:
        yield from work()
        return
    except (GeneratorExit, KeyboardInterrupt, SystemExit):
        raise
    except SfumatoError as error:
        said = type(error).__name__, str(error)
    except BaseException as error:  # a panic of Polars is no Exception
        said = type(error).__name__, ""
    # outside of the handler, so that the error has neither cause nor context
    raise StoppedOnWorker(_MARK + json.dumps({"error": said[0], "says": said[1]}) + _MARK)


def silenced() -> None:
    """Close the error output of a worker: what libraries print there goes to its files, and may hold cells.

    Only in a process of Spark's, never in the driver's.
    """
    if os.environ.get("SPARK_PYTHON_RUNTIME") != "PYTHON_WORKER":
        return
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    os.close(nowhere)


def told(error: BaseException) -> SfumatoError | None:
    """The error of a worker, from what Spark made of it; None where no worker of ours said anything.

    Examples
    --------
    >>> told(RuntimeError("the network")) is None
    True
    """
    found = _SAID.search(str(error))
    if found is None:
        return None
    try:
        plain = json.loads(found.group(1))
    except ValueError:
        return None
    if plain["says"]:
        kind: type[SfumatoError] = getattr(errors, plain["error"]) if plain["error"] in _KNOWN else DataError
        return kind(plain["says"])
    return DataError(
        f"Spark's workers stopped with {plain['error']}. What it said is not shown, as it may hold values of the data."
    )
