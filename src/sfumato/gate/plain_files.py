"""YAML files that a gate is told things by."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sfumato.data.yaml import Lines, load_yaml
from sfumato.errors import DataError, FileError, PlanError

__all__ = ["read_plain"]


def read_plain(path: Path, what: str) -> tuple[Any, Lines]:
    """The plain value in a YAML file, and the line of each key.

    Parameters
    ----------
    path
        The file.
    what
        What it holds, for the message: `policies`.

    Raises
    ------
    FileError
        It cannot be read.
    DataError
        It is no YAML, or more than plain values; with the file's name.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        raise FileError(f"Cannot read the {what} in {path.name!r}.") from None
    try:
        return load_yaml(text)
    except PlanError as error:
        raise DataError(f"{path.name}: {'; '.join(map(str, error.problems))}") from None
